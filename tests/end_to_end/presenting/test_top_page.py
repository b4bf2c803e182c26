"""`trackway top --page` in headless Chromium: the page's numbers are those of the series and of the report."""

import csv
import math
import os
import re
import signal
import subprocess
import time
import unittest

from ..support import counting, tools
from ..support.pages.counts_page import CountsPage, components, environment, part_of, rows_of
from ..support.tools import table
from . import test_top


class TopPage(CountsPage):
    def setUp(self):
        super().setUp()
        self.page, self.csv = self.folder / "top.html", self.folder / "top.csv"

    def top(self, *arguments, **settings):
        return tools.trackway("top", "-q", "--page", self.page, "--csv", self.csv, *arguments, **settings)

    def rows(self):
        with self.csv.open(newline="") as file:
            return list(csv.DictReader(file))

    def sums(self, rows, *keys):
        found = {}
        for row in rows:
            counting.add(found, tuple(str(row[key]) for key in keys), [int(row[name]) for name in test_top.BY_THREAD])
        return found

    def series(self):
        """Of regions, and of their threads."""
        return [rows_of(one) for one in part_of(self.page, "series")["tables"][:2]]

    def test_threads_are_as_uneven_as_series_and_report_say(self):
        trace = self.folder / "trace"
        self.top("--interval", "20ms", "-o", trace, "--", components(), env=environment())
        regions, threads = self.series()
        self.assertEqual(self.sums(threads, "region", "stream"), self.sums(self.rows(), "region", "stream"))
        self.assertEqual(self.sums(regions, "region"), self.sums(self.rows(), "region"))
        # The same as in the trace, by thread.
        part, report = part_of(self.page, "regions"), tools.report(trace, "--top", "200")
        for name in ("regions", "regions_by_thread", "region_instructions", "counts"):
            self.assertEqual(rows_of(table(part, name)), table(report, name)["rows"], name)
        self.open(self.page)
        self.assertEqual(self.texts("main h2"), ["Overview", "Regions over time", "Regions", "Source", "Paths of calls", "Audit", "Terms"])
        self.choose("#part-series label:nth-of-type(2) select", "threads of components hook")
        self.check_readouts([row for row in threads if row["region"] == "components hook"])
        factors = [row["bytes_imbalance"] for row in regions if row["region"] == "components hook"]
        self.assertGreater(max(factor for factor in factors if factor), 1.3)

    def check_readouts(self, rows):
        """At each bin the plot says what its threads read per second."""
        bins = sorted({row["time_s"] for row in self.series()[0]})
        self.browser.evaluate("document.querySelector('#part-series .steps').focus()")
        for end in bins:
            self.browser.press("ArrowRight")
            readout = self.texts("#part-series .readout")[0]
            for row in rows:
                if row["time_s"] == end:
                    found = re.search(rf"thread {row['thread']} ([\d.,]+)", readout)
                    shown = float(found.group(1).rstrip(",").replace(",", ""))
                    self.assertTrue(
                        math.isclose(shown, row["read_mb_per_s"], rel_tol=0.006, abs_tol=0.001), (readout, row)
                    )

    def test_a_program_that_ends_at_once_has_a_page(self):
        self.top("--", test_top.program(), 1, 0, check=False)
        self.open(self.page)
        self.assertEqual(self.texts("main h2")[:3], ["Overview", "Regions over time", "Regions"])
        self.assertEqual(len(self.series()[0]), 1)

    def test_a_program_that_counts_nothing_has_a_page(self):
        self.top("--", "/bin/true")
        self.open(self.page)
        self.assertEqual(self.texts("#overview .answer"), ["Nothing was counted."])
        self.assertIn("Regions over time, by thread: none.", self.texts("#part-series .status"))

    def test_many_rows_are_merged_and_the_page_says_so(self):
        many = tools.environment(OMP_NUM_THREADS="300")
        self.top("--interval", "10ms", "--", components(), 8000000, env=many)
        regions, threads = self.series()
        part = part_of(self.page, "series")
        facts = rows_of(table(part, "samples"))[0]
        self.assertGreater(facts["samples_per_bin"], 1)
        self.assertLessEqual(len(regions) + len(threads), 12000)
        self.assertRegex(part["answer"], rf"{facts['samples']:,} samples were merged to {facts['bins']} bins")
        self.assertEqual(self.sums(regions, "region"), self.sums(self.rows(), "region"))
        self.assertEqual(self.sums(threads, "region", "stream"), self.sums(self.rows(), "region", "stream"))
        for row in regions:
            self.assertAlmostEqual(row["read_mb_per_s"], row["bytes_read"] / row["interval_s"] / 1e6, places=3)
        self.open(self.page)

    def test_attached_and_interrupted_it_leaves_its_page(self):
        command = [
            tools.TRACKWAY,
            "record",
            "-q",
            "-o",
            self.folder / "trace",
            "--",
            test_top.program(),
            *test_top.LONG,
        ]
        recorder = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        time.sleep(0.5)
        command = [
            tools.TRACKWAY,
            "top",
            "-q",
            "--interval",
            "100ms",
            "--page",
            self.page,
            "--csv",
            self.csv,
            recorder.pid,
        ]
        with subprocess.Popen([str(word) for word in command]) as top:
            time.sleep(1)
            top.send_signal(signal.SIGINT)
            self.assertEqual(top.wait(timeout=10), 0)
        self.assertEqual(self.page.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.sums(self.series()[1], "stream"), self.sums(self.rows(), "stream"))
        self.open(self.page)
        self.assertEqual(self.texts("main h2"), ["Overview", "Regions over time", "Terms"])

    def test_interrupted_with_its_program_it_leaves_both(self):
        command = [
            tools.TRACKWAY,
            "top",
            "-q",
            "--interval",
            "100ms",
            "--page",
            self.page,
            "--",
            test_top.program(),
            *test_top.LONG,
        ]
        with subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.DEVNULL, start_new_session=True
        ) as top:
            time.sleep(1)
            os.killpg(top.pid, signal.SIGINT)
            top.wait(timeout=20)
        self.open(self.page)
        self.assertEqual(self.texts("main h2")[:3], ["Overview", "Regions over time", "Regions"])

    def test_pages_are_replaced_only_by_force(self):
        self.page.write_text("mine")
        refused = self.top("--", test_top.program(), 1, 0, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("with -f", refused.stderr)
        self.assertEqual(self.page.read_text(), "mine")
        self.top("-f", "--", test_top.program(), 1, 0, check=False)
        self.assertTrue(self.page.read_text().startswith("<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
