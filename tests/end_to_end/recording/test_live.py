"""Reports that are made while the program runs, and equal those of a trace."""

import re
import unittest
from pathlib import Path

from ..support import tools
from .test_streaming import SMALL_BUFFERS, at_fixed_addresses, program

# A live run can't merge threads, so that each has all levels for itself.
PRIVATE = ("--json", "--cache", "L1=32K,8,64:L2=1M,16,64")
SURVIVAL = tools.ROOT / "tests" / "survival"


class Live(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def check_same_as_report(self, *arguments, form=("--json",)):
        self.check_same(program(), *arguments, form=form)

    def check_same(self, *program, form=("--json",)):
        trace, report = self.folder / "trace", self.folder / "report"
        record = [tools.TRACKWAY, "record", *SMALL_BUFFERS]
        tools.run(*at_fixed_addresses(*record, "-f", "-o", trace, "--", *program))
        live = [*record, "--live", "misses", *form, "--report", report, "--", *program]
        recorded = tools.run(*at_fixed_addresses(*live))
        self.assertIn("not stored", recorded.stderr)
        # What to type next needs a trace, and a live analysis leaves none.
        reported = tools.trackway("report", *form, trace).stdout
        self.assertEqual(report.read_text(), re.sub(r"\nnext: .*\n\Z", "", reported))

    def test_one_thread(self):
        self.check_same_as_report(20)

    def test_threads(self):
        self.check_same_as_report(20, 0, 3, form=PRIVATE)

    def test_other_forms(self):
        self.check_same_as_report(5, form=("--by", "line", "--csv", "--cache", "L1=4K,2,64"))
        self.check_same_as_report(5, form=("--top", "1", "--sort", "L1"))

    def test_modules_that_are_loaded_while_it_runs(self):
        program, first, second = self.folder / "loading", self.folder / "loaded.so", self.folder / "other.so"
        tools.compile_traced(program, [SURVIVAL / "loading.c"], "-O1", "-rdynamic", "-pthread", oracle=False)
        for loaded in (first, second):
            tools.compile_traced(loaded, [SURVIVAL / "loaded.cpp"], "-O1", "-shared", "-fPIC", oracle=False)
        self.check_same(program, first, second, form=PRIVATE)

    def test_the_report_follows_the_program(self):
        command = [tools.TRACKWAY, "record", "--live", "misses", "-q", "--", program(), 3]
        lines = tools.run(*command, cwd=self.folder).stdout.splitlines()
        self.assertEqual(lines[0], "running")
        self.assertTrue(lines[1].startswith("sum"))
        self.assertIn("table", lines[2])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_wrong_form_is_named(self):
        for options, reason in (
            (("--live", "misses", "--sort", "L4", "--cache", "L1=4K,2,64"), "--sort"),
            (("--top", "3"), "--live"),
            (("--live", "misses", "--csv", "--by", "line,field"), "--csv"),
        ):
            refused = tools.trackway("record", *options, "--", program(), 1, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(reason, refused.stderr)
