"""Cut traces of a C++ program: every verb answers, or says what is wrong. That of all positions of smaller ones is asked by
`cli/tests/cut_traces.rs`."""

import unittest
from pathlib import Path

from ..support import tools

PROGRAM = """#include <memory>
#include <vector>
struct Node { int key; std::unique_ptr<Node> left, right; };
static std::vector<Node> nodes;
int main() {
    for (int key = 0; key < 100; ++key) nodes.push_back(Node{key, nullptr, std::make_unique<Node>()});
    int sum = 0;
    for (const Node &node : nodes) sum += node.key + node.right->key;
    return sum == 4950 ? 0 : 1;
}
"""
SMALL_CACHES = ("--cache", "L1=1K,2,64:L2=4K,4,64")
VERBS = (
    ("report", "-q"), ("whatif", "-q", *SMALL_CACHES), ("layout", "-q"), ("sharing", "-q"), ("reuse", "-q"), ("patterns", "-q"),
    ("map", "-q"), ("branches", "-q"), ("memory", "-q"), ("allocations",), ("objects",), ("samples",), ("place",), ("info",),
    ("dump",), ("verify",), ("view", "-q", "-f", "-o", "OUTPUT"), ("export", "-q", "-f", "--to", "folded", "-o", "OUTPUT"),
    ("query", "-q", "TRACE", "SELECT count(*), sum(size) FROM accesses"), ("query", "-q", "TRACE", "SELECT * FROM sites"),
    ("query", "--schema"),
)  # fmt: skip
CUTS = 6


class CutTraces(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def recorded(self):
        source, trace = self.folder / "tree.cpp", self.folder / "tree.trackway"
        source.write_text(PROGRAM)
        program = tools.compile_traced(self.folder / "tree", [source], "-O1", "-g", oracle=False)
        tools.trackway("record", "-q", "-o", trace, "--", program)
        return trace.read_bytes()

    def check(self, done, what):
        """Status 1 is a finding of `verify`, 2 a refusal with a message."""
        self.assertIn(done.returncode, (0, 2) if what[0] != "verify" else (0, 1, 2), (what, done.stderr))
        self.assertNotIn("panicked", done.stderr, what)
        if done.returncode == 2:
            self.assertRegex(done.stderr, r"(?m)^trackway: (?!warning)", what)

    def test_every_verb_of_a_trace_with_modules_and_few_records(self):
        whole = self.recorded()
        cut = self.folder / "cut.trackway"
        # Behind the header, behind the first of the modules' names, within them, and within the records.
        for length in [40, *(len(whole) * part // CUTS for part in range(1, CUTS))]:
            cut.write_bytes(whole[:length])
            for verb in VERBS:
                named = {"OUTPUT": self.folder / "output", "TRACE": cut}
                words = [named.get(word, word) for word in verb]
                words += [] if "TRACE" in verb else [cut]
                self.check(tools.trackway(*words, check=False), (*verb, length))
            tables = self.folder / f"tables-{length}"
            self.check(tools.trackway("export", "-q", "--parquet", tables, cut, check=False), ("export", length))


if __name__ == "__main__":
    unittest.main()
