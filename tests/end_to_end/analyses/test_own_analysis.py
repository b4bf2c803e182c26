"""An analysis outside the workspace, examples/never_read: it builds against the crates, and its numbers are right.

As a package of its own it compiles all that it needs once more: so only the long tests compile that.
"""

import os
import unittest
from pathlib import Path

import own_crates

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
            done = tools.run(self.built(), f"{folder}/trace")
            self.assertEqual(done.stdout.splitlines(), ["1 fields are never read", "field,writes", "pair.unread,100"])

    def built(self):
        own = ("--manifest-path", MANIFEST)
        tools.run("cargo", "metadata", "--quiet", "--format-version", "1", "--locked", *own)
        target = tools.ROOT / "target"
        as_package = (*own, "--profile", "dev")
        in_workspace = ("--manifest-path", tools.ROOT / "Cargo.toml", "--release", "--workspace", "--example", "never_read")
        is_long = "TRACKWAY_LONG" in os.environ
        environment = own_crates.environment(CARGO_TARGET_DIR=str(target), CARGO_PROFILE_DEV_DEBUG="0")
        # It compiles, perhaps beside other tests.
        command = ("cargo", "build", "--quiet", "--locked", *(as_package if is_long else in_workspace))
        tools.run(*command, env=environment, time_limit_s=1800)
        return target / ("debug/never_read" if is_long else "release/examples/never_read")
