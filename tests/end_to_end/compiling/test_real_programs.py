"""Programs that none of us wrote, at several optimisation levels: SQLite with a speed test, and bzip2 by its own Makefile."""

import os
import unittest

from ..support import tools
from ..support.real_programs import make_bzip2, sqlite_flags, sqlite_sources

ROWS = 120


class Sqlite(unittest.TestCase):
    def check(self, level):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/sqlite", sqlite_sources(), level, *sqlite_flags())
            trace = f"{folder}/trace"
            tools.record(trace, program, ROWS)
            self.assertGreater(tools.verified_accesses(trace), 100_000)
            self.assertIn("sqlite3", tools.trackway("report", trace).stdout)


class Bzip2(unittest.TestCase):
    def check(self, level):
        with tools.folder() as folder:
            source = make_bzip2(folder, f"{tools.TRACKWAY} cc --oracle", level)
            plain = lambda: make_bzip2(f"{folder}/plain", f"clang-{tools.LLVM_VERSION}", level) / "bzip2"
            tools.has_plain(source / "bzip2", lambda: tools.once(("plain bzip2", folder), plain))
            for arguments, known in ((("-1", "-k", "-c", "sample1.ref"), "sample1.bz2"),
                                     (("-d", "-k", "-c", "sample2.bz2"), "sample2.ref")):
                self.check_run(folder, source, arguments, known)

    def check_run(self, folder, source, arguments, known):
        trace = f"{folder}/trace"
        # What it prints isn't text.
        script = f'"$@" > out; status=$?; cksum out; cmp out {known} && exit $status'
        tools.record(trace, "bash", "-c", script, "bash", source / "bzip2", *arguments, cwd=source)
        self.assertGreater(tools.verified_accesses(trace), 100_000)
        self.assertIn("blocksort.c" if arguments[0] == "-1" else "decompress", tools.trackway("report", trace).stdout)

    def test_its_own_test(self):
        """bzip2's own `make test`, of the traced build, without a recorder."""
        with tools.folder() as folder:
            source = make_bzip2(folder, f"{tools.TRACKWAY} cc", "-O2")
            tools.run("make", "-s", "-C", source, f"CC={tools.TRACKWAY} cc", "test")


def add_tests():
    # Optimised, SQLite takes minutes to compile.
    of_sqlite, of_bzip2 = (("-O0", "-O2"), tools.LEVELS) if "TRACKWAY_LONG" in os.environ else (("-O0",), ("-O0", "-O2"))
    for case, levels in ((Sqlite, of_sqlite), (Bzip2, of_bzip2)):
        for level in levels:
            setattr(case, f"test_{level.lstrip('-')}", lambda self, level=level: self.check(level))


add_tests()
