"""The share of the accesses that functions of libraries make, counted by hand, and answers without them."""

import json
import unittest

from ..support import counting, tools

PROGRAM = """
#include <stdlib.h>
#include <string.h>
struct pair { long length, unused; };
volatile struct pair pair;
char *volatile text = "library";
void *volatile block;
int main(void) {
    block = malloc(100);
    for (int i = 0; i < 10; i++)
        pair.length += (long)strlen(text);
    free(block);
    return 0;
}
"""
CALLS = 10
# In each iteration the pointer, the length's load and store; and the pointer to the block twice.
OWN = 3 * CALLS + 2
VERBS = (
    ("report",),
    ("reuse",),
    ("patterns",),
    ("sharing",),
    ("map",),
    ("memory",),
    ("layout",),
    ("whatif", "--huge-pages"),
)


class Share(unittest.TestCase):
    def build(self, folder, compile_program):
        with open(f"{folder}/prog.c", "w") as file:
            file.write(PROGRAM)
        program = compile_program(f"{folder}/prog", [f"{folder}/prog.c"], "-O1", "-g")
        tools.record(f"{folder}/trace", program)
        return f"{folder}/trace"

    def accesses_and_share(self, trace, *words):
        report = json.loads(tools.trackway(*words, "--json", trace).stdout)
        row = tools.table(report, "trace")["rows"][0]
        return row["accesses"], row["by_library"]

    def test_each_report_says_it_and_leaves_them_out(self):
        with tools.folder() as folder:
            trace = self.build(folder, tools.compile_traced)
            for words in VERBS:
                with self.subTest(words):
                    self.assertEqual(self.accesses_and_share(trace, *words), (OWN + CALLS, CALLS / (OWN + CALLS)))
                    self.assertEqual(self.accesses_and_share(trace, *words, "--without-library"), (OWN, 0))

    def test_exports_say_it_and_leave_them_out(self):
        said = f"trackway: {100 * CALLS / (OWN + CALLS):.1f} % of the accesses are by library functions; --without-library leaves them out"
        with tools.folder() as folder:
            trace = self.build(folder, tools.compile_traced)
            for form in ("din", "lackey", "libcachesim", "drmemtrace", "folded", "callgrind", "pprof", "perfetto"):
                with self.subTest(form):
                    words = ("export", trace, "--to", form, "--force", "-o", f"{folder}/{form}")
                    self.assertIn(said, tools.trackway(*words).stderr.splitlines())
                    self.assertNotIn("library", tools.trackway(*words, "--without-library").stderr)
            tools.trackway("export", trace, "--to", "lackey", "--force", "--without-library", "-o", f"{folder}/lackey")
            with open(f"{folder}/lackey") as file:
                self.assertEqual(sum(line[:2] in (" L", " S", " M") for line in file), OWN)

    def test_queries_have_it_by_kind(self):
        share = "SELECT avg(CAST(kind LIKE 'library %' AS DOUBLE)) AS share, count(*) AS accesses FROM accesses"
        with tools.folder() as folder:
            trace = self.build(folder, tools.compile_traced)
            ask = lambda *options: json.loads(tools.trackway("query", "--json", *options, trace, share).stdout)
            self.assertEqual(ask(), {"share": CALLS / (OWN + CALLS), "accesses": OWN + CALLS})
            self.assertEqual(ask("--without-library"), {"share": 0, "accesses": OWN})

    def test_branches_have_none(self):
        with tools.folder() as folder:
            trace = self.build(folder, tools.compile_traced)
            refused = tools.trackway("branches", "--without-library", trace, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("only --thread", refused.stderr)

    def test_of_a_slice_it_is_the_slices(self):
        with tools.folder() as folder:
            trace = self.build(folder, tools.compile_traced)
            of_main = self.accesses_and_share(trace, "report", "--function", "main")
            self.assertEqual(of_main, (OWN + CALLS, CALLS / (OWN + CALLS)))

    def test_counts(self):
        with tools.folder() as folder:
            trace = self.build(folder, counting.compile_counting)
            self.assertEqual(counting.counts(trace)["by_library"], CALLS / (OWN + CALLS))

    def test_without_calls_of_libraries_nothing_is_said(self):
        with tools.folder() as folder:
            trace = self.build(folder, lambda *words: tools.compile_traced(*words[:2], "--library=0", *words[2:]))
            row = tools.table(tools.report(trace), "trace")["rows"][0]
            self.assertNotIn("by_library", row)
