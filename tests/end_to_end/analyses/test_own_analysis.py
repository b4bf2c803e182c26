"""An analysis outside the workspace, examples/never_read: it builds against the crates, and its numbers are right."""

import unittest
from pathlib import Path

from ..support import tools

MANIFEST = tools.ROOT / "examples" / "never_read" / "Cargo.toml"
PROGRAM = """
struct pair { int read, unread; } pairs[100];
int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        pairs[i].read = i;
        pairs[i].unread = i;
    }
    for (int i = 0; i < 100; i++)
        sum += pairs[i].read;
    return sum != 4950;
}
"""


class OwnAnalysis(unittest.TestCase):
    def test_fields_that_are_never_read(self):
        with tools.folder() as folder:
            source = Path(folder, "pairs.c")
            source.write_text(PROGRAM)
            tools.record(f"{folder}/trace", tools.compile_traced(f"{folder}/pairs", [source], "-O0", oracle=False))
            environment = tools.environment(CARGO_TARGET_DIR=str(tools.ROOT / "target"), CARGO_PROFILE_DEV_DEBUG="0")
            command = ("cargo", "run", "--quiet", "--locked", "--manifest-path", MANIFEST, "--")
            # It compiles, perhaps beside other tests.
            done = tools.run(*command, f"{folder}/trace", env=environment, time_limit_s=1800)
            self.assertEqual(done.stdout.splitlines(), ["1 fields are never read", "field,writes", "pair.unread,100"])
