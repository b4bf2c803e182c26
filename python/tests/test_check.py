"""Budgets: each result is that of `trackway check` with the same options."""

import json
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

import trackway

from . import traces
from .test_questions import tables_of, tables_said

GENEROUS = '[[budget]]\nmeasure = "accesses"\nmax-share = 1.0\n'
BROKEN = GENEROUS + '[[budget]]\nmeasure = "bytes"\nmax = 1\n'


def said(*words: object) -> tuple[int, dict[str, Any]]:
    """Exit status and answer of `trackway check`."""
    command = [str(traces.TRACKWAY), "check", "--json", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.returncode, json.loads(done.stdout)


class Checks(unittest.TestCase):
    maxDiff = 4000

    def setUp(self) -> None:
        self.path = traces.recorded("particles.c")
        self.trace = trackway.open(self.path)
        self.folder = traces.folder() / self._testMethodName
        self.folder.mkdir()

    def budget(self, text: str) -> Path:
        path = self.folder / "budget.toml"
        path.write_text(text)
        return path

    def same(self, report: trackway.CheckReport, *words: object) -> int:
        """Compares with the command line, and returns its exit status."""
        status, answer = said(*words)
        self.assertEqual((report.answer, report.warnings), (answer["answer"], answer["warnings"]))
        self.assertEqual(tables_of(report), tables_said(answer))
        self.assertEqual(report.holds, status == 0)
        return status

    def test_budgets_that_hold(self) -> None:
        budget = self.budget(GENEROUS)
        report = self.trace.check(budget)
        self.assertEqual(self.same(report, self.path, "--budget", budget), 0)
        self.assertEqual(report.broken, [])

    def test_broken_budgets(self) -> None:
        budget = self.budget(BROKEN)
        report = self.trace.check(budget)
        self.assertEqual(self.same(report, self.path, "--budget", budget), 3)
        self.assertEqual([(row["measure"], row["limit"]) for row in report.broken], [("bytes", 1)])
        self.assertEqual(report["budgets"].to_pyarrow().to_pylist(), report["budgets"].rows())

    def test_options(self) -> None:
        text = '[[budget]]\nmeasure = "hand_overs"\nmax = 0\n[[budget]]\nmeasure = "l1_misses"\nmax-ratio = 1.0\n'
        budget, cache = self.budget(text), "L1=4K,4,64"
        report = self.trace.check(budget, baseline=self.path, cache=cache, line_size=128)
        words = ("--budget", budget, "--baseline", self.path, "--cache", cache, "--line-size", "128")
        self.same(report, self.path, *words)

    def test_saved_reports(self) -> None:
        saved, budget = self.folder / "saved.json", self.budget(GENEROUS)
        saved.write_text(traces.trackway("report", "--json", "--top", "0", self.path))
        self.same(trackway.check(saved, budget), saved, "--budget", budget)

    def test_folders(self) -> None:
        runs = self.folder / "runs"
        runs.mkdir()
        shutil.copy(self.path, runs / "good.trackway")
        budget = self.budget(GENEROUS)
        self.assertEqual(self.same(trackway.check(runs, budget), runs, "--budget", budget), 0)
        self.assertEqual(self.same(trackway.check(runs, self.budget(BROKEN)), runs, "--budget", budget), 3)
        shutil.copy(traces.COUNTS, runs / "counts.trackway")
        unchecked = trackway.check(runs, self.budget(GENEROUS))
        self.assertEqual(self.same(unchecked, runs, "--budget", budget), 2)
        self.assertEqual(unchecked.broken, [])

    def test_errors(self) -> None:
        nothing = GENEROUS.replace("[[budget]]", '[[budget]]\nfield = "no.such"')
        for text, message in ((nothing, "no no.such among the fields"), ("", "no [[budget]]")):
            budget = self.budget(text)
            with self.assertRaises(trackway.QuestionError) as raised:
                self.trace.check(budget)
            self.assertIn(message, str(raised.exception))
        with self.assertRaises(trackway.QuestionError) as raised:
            trackway.open(traces.COUNTS).check(self.budget(GENEROUS))
        self.assertIn("holds counts, no accesses", str(raised.exception))
        with self.assertRaises(trackway.TraceError):
            trackway.check(self.folder / "nowhere", self.budget(GENEROUS))


if __name__ == "__main__":
    unittest.main()
