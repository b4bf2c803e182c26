"""Pages of programs that count, in headless Chromium: `trackway view` of their traces, and `trackway top --page`. Every number
of a chart is that of the report or of the series."""

import atexit
import csv
import json
import math
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from . import counted_samples, counting, test_top, tools
from .test_view import READ_TABLES, _turn, shared_browser, table, with_data

COMPONENTS = tools.ROOT / "workloads" / "components.c"
THREADS = 4
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">\u202e"
# A region whose name is markup, and one whose name is very long.
HOSTILE_SOURCE = r"""
#include <trackway.h>
static volatile long sum;
int main(void) {
    for (int entry = 0; entry < 100; entry++) {
        TRACKWAY_REGION_BEGIN("</script><img src=x onerror=\"document.title='taken'\">\u202e");
        for (int i = 0; i < 1000; i++) sum += i;
        TRACKWAY_REGION_END("</script><img src=x onerror=\"document.title='taken'\">\u202e");
    }
    return 0;
}
"""
WIDTHS_AND_SCHEMES = ((360, "light"), (360, "dark"), (1400, "dark"))


def components():
    def make():
        program = tools.BUILD / "tests" / "components-counting"
        program.parent.mkdir(parents=True, exist_ok=True)
        return counting.compile_counting(program, [COMPONENTS], "-g", "-O2", "-fopenmp")

    return tools.once("components that count", make)


def environment():
    return tools.environment(OMP_NUM_THREADS=str(THREADS))


def shared_trace():
    """A trace of counts of several threads, and its page."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        trace = Path(folder.name) / "components.trackway"
        tools.record(trace, components(), env=environment())
        tools.trackway("view", "-q", trace)
        return trace

    return tools.once("page of counts", make)


def data_of(page):
    text = Path(page).read_text().split('<script type="application/json" id="data">', 1)[1]
    return json.loads(text.split("</script>", 1)[0])


def rows_of(found):
    """Rows of a page's table as objects."""
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


def part_of(page, name):
    return next(part for part in data_of(page)["parts"] if part["name"] == name)


class CountsPage(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.browser = shared_browser()
        _turn.acquire()
        self.addCleanup(_turn.release)
        self.browser.appear(1400, 1000, "light")

    def open(self, page):
        self.browser.open(f"file://{page}")
        self.assertEqual(self.browser.complaints(), [])

    def open_with(self, *parts):
        """The page of a trace of counts with these parts instead of those of the same names."""

        def change(data):
            names = [part["name"] for part in parts]
            data["parts"] = [*parts, *(part for part in data["parts"] if part["name"] not in names)]
            return data

        page = self.folder / "samples.html"
        page.write_text(with_data(Path(f"{shared_trace()}.html").read_text(), change))
        self.open(page)

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(found => found.textContent)")

    def tables(self, selector):
        return self.browser.evaluate(READ_TABLES % selector)

    def press_on(self, selector, *keys):
        self.browser.evaluate(f"document.querySelector({selector!r}).focus()")
        for key in keys:
            self.browser.press(key)

    def choose(self, selector, label):
        """The option of that text of a list."""
        self.browser.evaluate(
            f"(() => {{ const list = document.querySelector({selector!r});"
            f" list.value = [...list.options].find(option => option.text === {label!r}).value;"
            " list.dispatchEvent(new Event('change')); })()"
        )


class Counted(CountsPage):
    def page(self):
        return f"{shared_trace()}.html"

    def report(self, *arguments):
        return tools.report(shared_trace(), "--top", "1000", *arguments)

    def test_sections_are_those_that_counts_have_something_for(self):
        self.open(self.page())
        self.assertEqual(self.texts("main h2"), ["Overview", "Regions", "Source", "Audit"])
        self.assertEqual(self.browser.requests(), [f"file://{self.page()}"])
        answer = self.report()["answer"]
        self.assertEqual(self.texts("#overview .answer"), [answer])
        self.assertIn("✓ yesThe recording was ended in order.", self.texts(".checks li"))
        self.assertNotIn("simulated cache", self.texts("#audit")[0])

    def test_every_table_of_the_report_is_there(self):
        page, report = part_of(self.page(), "regions"), self.report()
        self.assertEqual([one["name"] for one in page["tables"]], [one["name"] for one in report["tables"]])
        for shown, expected in zip(page["tables"], report["tables"]):
            rows = rows_of(shown)
            for row in rows:
                row.pop("share", None)
            self.assertEqual(rows, expected["rows"], expected["name"])

    def test_regions_have_the_numbers_of_the_report(self):
        self.open(self.page())
        head, *rows = self.tables("#part-regions")["Regions"]
        for cells, expected in zip(rows, table(self.report(), "regions")["rows"], strict=True):
            shown = dict(zip(head, cells))
            self.assertEqual(shown["region"], expected["region"])
            self.assertEqual(shown["entries"], f"{expected['entries']:,}")
            self.assertEqual(shown["raw MB/s read"], f"{expected['raw_read_mb_per_s']:.1f}")
            self.assertNotIn("MB/s read", shown, "all were counted")
            self.assertEqual(shown["imbalance of time"], f"×{expected['time_imbalance']:.2f}")
            milliseconds = {"s": 1000, "ms": 1, "µs": 0.001}[shown["time"].split()[1]] * float(shown["time"].split()[0])
            self.assertTrue(math.isclose(milliseconds, expected["time_ns"] / 1e6, rel_tol=0.001), shown)
        self.browser.evaluate("document.querySelector('#part-regions details').open = true")
        self.browser.evaluate("new Promise(requestAnimationFrame)")
        texts = self.texts("#part-regions details td")
        self.assertIn(f"{table(self.report(), 'regions')['rows'][0]['own_time_ns']:,}", texts)

    def test_bars_of_threads_are_as_high_as_their_numbers(self):
        report = self.report()
        by_region = {row["region"]: [] for row in table(report, "regions")["rows"]}
        for row in table(report, "regions_by_thread")["rows"]:
            by_region[row["region"]].append(row)
        self.open(self.page())
        self.assertEqual(self.texts(".region-bars h4"), list(by_region))
        heights = self.browser.evaluate(
            "[...document.querySelectorAll('.region-bars')].map(region => [...region.querySelectorAll('svg')].map(svg => "
            "[...svg.querySelectorAll('.part')].map(bar => Number(bar.getAttribute('height')))))"
        )
        for (times, bytes_), rows in zip(heights, by_region.values()):
            self.check_proportional(times, [row["time_ns"] for row in rows])
            self.check_proportional(bytes_, [number for row in rows for number in (row["bytes_read"], row["bytes_written"])])

    def check_proportional(self, heights, numbers):
        self.assertEqual(len(heights), len(numbers))
        for height, number in zip(heights, numbers):
            self.assertAlmostEqual(height / max(heights), number / max(numbers), delta=0.001)

    def test_imbalances_are_those_of_the_report(self):
        hook = next(row for row in table(self.report(), "regions")["rows"] if row["region"] == "components hook")
        self.assertGreater(hook["bytes_imbalance"], 1.3)
        self.open(self.page())
        titles = self.browser.evaluate(
            "[...[...document.querySelectorAll('.region-bars')].find(region => region.getAttribute('aria-label') === 'components hook')"
            ".querySelectorAll('.bars-title')].map(title => title.textContent)"
        )
        expected = [("time", hook["time_imbalance"]), ("bytes read and written", hook["bytes_imbalance"])]
        self.assertEqual(titles, [f"{name}, max/mean ×{factor:.2f}" for name, factor in expected])

    def test_threads_are_read_out_by_keyboard(self):
        first = table(self.report(), "regions_by_thread")["rows"][0]
        self.open(self.page())
        self.press_on(".pair", "ArrowRight")
        expected = f"{first['bytes_read']:,} bytes read, {first['bytes_written']:,} written"
        self.assertIn(f"Thread {first['thread']} (stream 0): ", self.texts(".region-bars .readout")[0])
        self.assertIn(expected, self.texts(".region-bars .readout")[0])

    def test_instructions_are_drawn_by_kind(self):
        (first, *_), titles = table(self.report(), "region_instructions")["rows"], "loads stores atomics integer"
        self.open(self.page())
        parts = self.browser.evaluate(
            "[...document.querySelector('.chart[aria-label=Instructions] .stack').children].map(part => part.style.getPropertyValue('--part'))"
        )
        numbers = [number for name, number in first.items() if name != "region" and number]
        self.assertEqual(len(parts), len(numbers))
        for part, number in zip(parts, numbers):
            self.assertAlmostEqual(float(part), number / sum(numbers), places=6)
        self.press_on(".chart[aria-label=Instructions] .stacks", "ArrowRight")
        self.assertIn(f"{titles.split()[0]}: {first['loads']:,}", self.texts(".chart[aria-label=Instructions] .readout")[0])

    def test_source_lines_stand_beside_their_counts(self):
        rows = [row for row in table(self.report("--by", "line"), "region_lines")["rows"] if row["line"] == 11]
        self.assertEqual({row["region"] for row in rows}, {"components hook", "components compress"})
        self.open(self.page())
        shown = self.source_line("11")
        self.assertEqual(shown["accesses"], f"{sum(row['accesses'] for row in rows):,}")
        self.assertEqual(shown["bytes"], f"{sum(row['bytes'] for row in rows):,}")
        self.assertEqual(shown["source"].strip(), rows[0]["source"].strip())
        self.choose("#source select", "region components compress")
        one = next(row for row in rows if row["region"] == "components compress")
        self.assertEqual(self.source_line("11")["bytes"], f"{one['bytes']:,}")

    def source_line(self, number):
        head, *rows = next(iter(self.tables("#source").values()))
        return next(dict(zip(head, cells)) for cells in rows if cells[0].lstrip("▶") == number)

    def test_source_is_left_out_on_request(self):
        data = json.loads(tools.trackway("view", "-q", "--json", "--no-source", shared_trace()).stdout)
        self.assertEqual(data["sources"], [])
        lines = next(one for part in data["parts"] for one in part["tables"] if one["name"] == "region_lines")
        self.assertEqual({row["source"] for row in rows_of(lines)}, {None})

    def test_misses_are_refused_as_in_reports(self):
        refused = tools.trackway("view", "--json", "--sort", "L2", shared_trace(), check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("nothing of misses", refused.stderr)

    def test_a_program_without_regions_and_threads_is_one_region(self):
        trace = self.folder / "whole.trackway"
        tools.record(trace, test_top.program(with_regions=False), 1, 0, check=False)
        tools.trackway("view", "-q", trace)
        self.open(f"{trace}.html")
        self.assertEqual(self.tables("#part-regions")["Regions"][1][0], "(whole program)")

    def test_hostile_names_are_inert(self):
        source = self.folder / "hostile.c"
        source.write_text(HOSTILE_SOURCE)
        program = counting.compile_counting(self.folder / "hostile", [source], "-g", "-O1")
        page = self.folder / "hostile.html"
        tools.trackway("top", "-q", "--page", page, "--", program)
        self.assertIn(HOSTILE, {row["region"] for row in rows_of(part_of(page, "regions")["tables"][0])})
        self.open(page)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img, script').length"), 2)
        self.assertEqual(self.browser.evaluate("document.title"), "hostile – Trackway")
        self.assertNotIn("\u202e", self.browser.evaluate("document.body.innerText"))


class Samples(CountsPage):
    """Parts that no test would wait for."""

    def test_hundreds_of_regions_and_many_threads_fit(self):
        parts = counted_samples.regions(300, 64), counted_samples.series(50, 8, 40)
        for width, scheme in WIDTHS_AND_SCHEMES:
            self.browser.appear(width, 800, scheme)
            self.open_with(*parts)
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width, (width, scheme))
        drawn = self.browser.evaluate("performance.getEntriesByName('trackway-drawn')[0].startTime")
        self.assertLess(drawn, 2000)
        self.assertEqual(len(self.texts(".region-bars")), 6)
        self.browser.evaluate("document.querySelector('.region-list + button').click()")
        self.assertEqual(len(self.texts(".region-bars")), 30)
        self.assertEqual(len(self.texts("#part-series .curve-label")), 12, "six regions in each of two plots")

    def test_tables_of_other_analyses_stand_between(self):
        self.open_with(counted_samples.regions(2, 2))
        self.assertEqual(self.tables("#part-regions")["Hardware counters"][1], ["region 0", "12,345"])

    def test_one_thread_needs_no_bars(self):
        self.open_with(counted_samples.regions(3, 1), counted_samples.series(3, 1, 5))
        self.assertEqual(self.texts(".region-bars"), [])
        self.assertIn("Threads in regions", self.tables("#part-regions"))
        self.assertEqual(len(self.texts("#part-series .steps")), 1, "no plot of imbalance")

    def test_nothing_is_said_to_be_nothing(self):
        self.open_with(counted_samples.regions(0, 0), counted_samples.series(0, 0, 0))
        self.assertEqual(self.texts("#part-series svg"), [])
        self.assertIn("Regions over time: none.", self.texts("#part-series .status"))
        self.assertIn("Instructions: none.", self.texts("#part-regions .status"))

    def test_lines_are_chosen(self):
        self.open_with(counted_samples.series(10, 3, 20))
        of_main = "#part-series .steps:first-child"
        self.assertEqual(len(self.texts(f"{of_main} .curve")), 6)
        self.browser.evaluate("document.querySelectorAll('#part-series .choices input')[7].click()")
        self.assertEqual(len(self.texts(f"{of_main} .curve")), 7)
        self.choose("#part-series label:nth-of-type(2) select", "threads of region 3")
        self.assertEqual(self.texts("#part-series .choices label"), ["thread 4000", "thread 4001", "thread 4002"])
        self.assertEqual(len(self.texts(f"{of_main} .curve")), 3)
        self.choose("#part-series label:nth-of-type(1) select", "entries/s")
        self.press_on(of_main, "ArrowRight", "ArrowRight")
        # The second half of a second has twice the entries of the first: 20 of each thread.
        expected = "0.5 to 1 s, entries/s: thread 4000 40, thread 4001 40, thread 4002 40; max/mean: region 3 ×"
        self.assertTrue(self.texts("#part-series .readout")[0].startswith(expected), self.texts("#part-series .readout"))

    def test_bytes_that_are_not_known_are_no_choice(self):
        part = counted_samples.series(2, 2, 5)
        for one in part["tables"]:
            unknown = [at for at, column in enumerate(one["columns"]) if "byte" in column["name"] or "_mb_" in column["name"]]
            for row in one["rows"]:
                for at in unknown:
                    row[at] = None
        self.open_with(part)
        self.assertEqual(self.texts("#part-series label:nth-of-type(1) option"), ["entries/s", "share of the threads’ time"])

    def test_everything_has_a_name_and_shows_its_focus(self):
        self.open_with(counted_samples.regions(3, 4), counted_samples.series(3, 4, 5))
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = {"button", "link", "searchbox", "combobox", "image", "img", "region", "table", "checkbox"}
        seen = [node for node in nodes if not node["ignored"] and node["role"]["value"] in named]
        nameless = [node["role"]["value"] for node in seen if not node["name"]["value"].strip()]
        self.assertEqual(nameless, [])
        self.assertEqual(self.texts("th:not([scope])"), [])
        levels = [int(tag[1]) for tag in self.browser.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => h.tagName)")]
        self.assertTrue(all(after - before <= 1 for before, after in zip(levels, levels[1:])), levels)
        for selector in (".steps", ".pair", ".stacks"):
            self.press_on(selector, "Tab")
            self.assertNotEqual(self.browser.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none")


class Topped(CountsPage):
    """Of `trackway top`."""

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
        self.assertEqual(self.texts("main h2"), ["Overview", "Regions over time", "Regions", "Source", "Audit"])
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
                    self.assertTrue(math.isclose(shown, row["read_mb_per_s"], rel_tol=0.006, abs_tol=0.001), (readout, row))

    def test_a_program_that_ends_at_once_has_a_page(self):
        self.top("--", test_top.program(), 1, 0, check=False)
        self.open(self.page)
        self.assertEqual(self.texts("main h2")[:3], ["Overview", "Regions over time", "Regions"])
        self.assertEqual(len(self.series()[0]), 1)

    def test_a_program_that_counts_nothing_has_a_page(self):
        self.top("--", "/bin/true")
        self.open(self.page)
        self.assertEqual(self.texts("#overview .answer"), ["Nothing was counted."])
        self.assertIn("Regions over time: none.", self.texts("#part-series .status"))

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
        command = [tools.TRACKWAY, "record", "-q", "-o", self.folder / "trace", "--", test_top.program(), *test_top.LONG]
        recorder = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        time.sleep(0.5)
        command = [tools.TRACKWAY, "top", "-q", "--interval", "100ms", "--page", self.page, "--csv", self.csv, recorder.pid]
        with subprocess.Popen([str(word) for word in command]) as top:
            time.sleep(1)
            top.send_signal(signal.SIGINT)
            self.assertEqual(top.wait(timeout=10), 0)
        self.assertEqual(self.page.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.sums(self.series()[1], "stream"), self.sums(self.rows(), "stream"))
        self.open(self.page)
        self.assertEqual(self.texts("main h2"), ["Overview", "Regions over time"])

    def test_interrupted_with_its_program_it_leaves_both(self):
        command = [tools.TRACKWAY, "top", "-q", "--interval", "100ms", "--page", self.page, "--", test_top.program(), *test_top.LONG]
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, start_new_session=True) as top:
            time.sleep(1)
            os.killpg(top.pid, signal.SIGINT)
            top.wait(timeout=20)
        self.open(self.page)
        self.assertEqual(self.texts("main h2")[:3], ["Overview", "Regions over time", "Regions"])

    def test_pages_are_replaced_only_by_force(self):
        self.page.write_text("mine")
        refused = self.top("--", test_top.program(), 1, 0, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--force", refused.stderr)
        self.assertEqual(self.page.read_text(), "mine")
        self.top("-f", "--", test_top.program(), 1, 0, check=False)
        self.assertTrue(self.page.read_text().startswith("<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
