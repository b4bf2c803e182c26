"""Pages of traces of counts in headless Chromium: every number of a chart is that of the report."""

import itertools
import json
import math
import unittest

from ..support import counting, tools
from ..support.pages import counted_samples
from ..support.pages.counts_page import CountsPage, components, environment, part_of, rows_of, shared_trace
from ..support.pages.shared_browser import cut_rankings, unexplained
from ..support.tools import table
from . import test_top

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">\u202e"
# A region whose name is markup.
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
# Traces itself, and runs a program that counts.
PARENT_SOURCE = r"""
#include <stdlib.h>
static int data[1000];
int main(int count, char **arguments) {
    volatile long sum = 0;
    for (int i = 0; i < 1000; i++) sum += data[i];
    return count == 2 ? system(arguments[1]) : 2;
}
"""
WIDTHS_AND_SCHEMES = ((360, "light"), (360, "dark"), (1400, "dark"))


class Counted(CountsPage):
    def page(self):
        return f"{shared_trace()}.html"

    def report(self, *arguments):
        return tools.report(shared_trace(), "--top", "1000", *arguments)

    def test_sections_are_those_that_counts_have_something_for(self):
        self.open(self.page())
        self.assertEqual(self.texts("main h2"), ["Overview", "Regions", "Source", "Paths of calls", "Audit", "Terms"])
        self.assertEqual(self.browser.requests(), [f"file://{self.page()}"])
        answer = self.report()["answer"]
        self.assertEqual(self.texts("#overview .answer"), [answer])
        self.assertIn("✓ yesThe recording was ended in order.", self.texts(".checks li"))
        self.assertNotIn("simulated cache", self.texts("#audit")[0])

    def test_every_table_of_the_report_is_there(self):
        page, report = part_of(self.page(), "regions"), self.report()
        self.assertEqual([one["name"] for one in page["tables"]], [one["name"] for one in report["tables"]])
        for shown, expected in zip(page["tables"], report["tables"], strict=True):
            rows = rows_of(shown)
            for row in rows:
                row.pop("share", None)
            self.assertEqual(rows, expected["rows"], expected["name"])

    def test_regions_have_the_numbers_of_the_report(self):
        self.open(self.page())
        head, *rows = self.tables("#part-regions")["Regions"]
        for cells, expected in zip(rows, table(self.report(), "regions")["rows"], strict=True):
            shown = dict(zip(head, cells, strict=True))
            self.assertEqual(shown["region"], expected["region"])
            self.assertEqual(shown["entries"], f"{expected['entries']:,}")
            self.assertEqual(shown["raw MB/s read"], f"{expected['raw_read_mb_per_s']:,.1f}")
            self.assertEqual(shown["MB/s read"], f"{expected['read_mb_per_s']:,.1f}")
            self.assertEqual(shown["MB/s by"], "calibrated", "all were counted")
            self.assertEqual(shown["imbalance of time"], f"×{expected['time_imbalance']:.2f}")
            number, unit = shown["time"].split()
            milliseconds = {"s": 1000, "ms": 1, "µs": 0.001}[unit] * float(number)
            self.assertTrue(math.isclose(milliseconds, expected["time_ns"] / 1e6, rel_tol=0.001), shown)
        self.browser.evaluate("document.querySelector('#part-regions details').open = true")
        self.browser.evaluate("new Promise(requestAnimationFrame)")
        texts = self.texts("#part-regions details td")
        own_time_ns = table(self.report(), "regions")["rows"][0]["own_time_ns"]
        units = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
        shown = [text.split() for text in texts if text.partition(" ")[2] in units]
        times = [float(number) * units[unit] for number, unit in shown]
        self.assertTrue(any(math.isclose(time, own_time_ns, rel_tol=0.001) for time in times), (own_time_ns, texts))

    def test_bars_of_threads_are_as_high_as_their_numbers(self):
        report = self.report()
        by_region = {row["region"]: [] for row in table(report, "regions")["rows"]}
        for row in table(report, "regions_by_thread")["rows"]:
            by_region[row["region"]].append(row)
        self.open(self.page())
        self.assertEqual(self.texts(".region-bars h4"), list(by_region))
        heights = self.browser.evaluate(
            "[...document.querySelectorAll('.region-bars')].map(region => "
            "[...region.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('.part')]"
            ".map(bar => Number(bar.getAttribute('height')))))"
        )
        for (times, bytes_), rows in zip(heights, by_region.values(), strict=True):
            self.check_proportional(times, [row["time_ns"] for row in rows])
            self.check_proportional(
                bytes_, [number for row in rows for number in (row["bytes_read"], row["bytes_written"])]
            )

    def check_proportional(self, heights, numbers):
        self.assertEqual(len(heights), len(numbers))
        for height, number in zip(heights, numbers, strict=True):
            self.assertAlmostEqual(height / max(heights), number / max(numbers), delta=0.001)

    def test_imbalances_are_those_of_the_report(self):
        hook = next(row for row in table(self.report(), "regions")["rows"] if row["region"] == "components hook")
        self.assertGreater(hook["bytes_imbalance"], 1.3)
        self.open(self.page())
        titles = self.browser.evaluate(
            "[...document.querySelector('.region-bars[aria-label=\"components hook\"]')"
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
            "[...document.querySelector('.chart[aria-label=Instructions] .stack').children]"
            ".map(part => part.style.getPropertyValue('--part'))"
        )
        numbers = [number for name, number in first.items() if name != "region" and number]
        self.assertEqual(len(parts), len(numbers))
        for part, number in zip(parts, numbers, strict=True):
            self.assertAlmostEqual(float(part), number / sum(numbers), places=6)
        self.press_on(".chart[aria-label=Instructions] .stacks", "ArrowRight")
        self.assertIn(
            f"{titles.split()[0]}: {first['loads']:,}", self.texts(".chart[aria-label=Instructions] .readout")[0]
        )

    def test_axes_have_titles_with_units(self):
        self.open(self.page())
        self.assertEqual(
            self.texts(".chart[aria-label=Instructions] .axis-titles span"),
            ["region", "share of its instructions, %", "instructions"],
        )
        self.assertEqual(set(self.texts(".region-bars svg .axis-title")), {"thread"})
        edges = self.browser.evaluate(
            "[...document.querySelectorAll('.chart .stack-total')].map(found => found.getBoundingClientRect().right)"
        )
        self.assertEqual(len(set(edges)), 1, "a head stands above its numbers")

    def test_every_head_of_numbers_is_explained(self):
        self.open(self.page())
        self.assertEqual(unexplained(self.browser), [])

    def test_no_column_of_the_regions_is_cut(self):
        self.open(self.page())
        room = self.browser.evaluate(
            "(() => { const region = document.querySelector('#part-regions .scroll'); return region.clientWidth - region.scrollWidth; })()"
        )
        self.assertGreaterEqual(room, 0)

    def test_what_tables_are_ranked_by_is_in_sight(self):
        for width in (1400, 1000):
            self.browser.appear(width, 900, "light")
            self.open(self.page())
            self.assertEqual(cut_rankings(self.browser), [], width)

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
        # A row that stands for folded lines has a single cell.
        return next(dict(zip(head, cells, strict=False)) for cells in rows if cells[0].lstrip("▶") == number)

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

    def test_a_trace_of_both_has_accesses_and_counts(self):
        source = self.folder / "parent.c"
        source.write_text(PARENT_SOURCE)
        parent = counting.compile_tracing(self.folder / "parent", [source], "-g", "-O1")
        trace = self.folder / "both.trackway"
        tools.record(trace, parent, f"{components()} small", env=environment())
        tools.trackway("view", "-q", trace)
        self.open(f"{trace}.html")
        own = ["Layout of structures", "Reuse of memory", "Memory over time", "Allocations"]
        expected = ["Overview", "Offenders", "Regions", "Source", "Paths of calls", *own, "Threads over time", "Audit", "Terms"]
        self.assertEqual(self.texts("main h2"), expected)
        report = tools.report(trace)
        changes, *answers = self.texts("#overview .answer")
        self.assertRegex(changes, "estimated time|No changes were looked for")
        self.assertEqual("; ".join(answers), report["answer"])
        self.assertEqual(self.texts("#source label:first-child option")[:2], ["Misses", "Regions, all"])
        self.choose("#source select", "Regions, all")
        text = (tools.ROOT / "workloads" / "components.c").read_text().splitlines()
        number = next(number for number, line in enumerate(text, 1) if "changed |= hook" in line)
        self.assertEqual(self.source_line(str(number))["source"].strip(), text[number - 1].strip())

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
        self.assertIn("Regions over time, by thread: none.", self.texts("#part-series .status"))
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
        self.assertTrue(
            self.texts("#part-series .readout")[0].startswith(expected), self.texts("#part-series .readout")
        )

    def test_bytes_that_are_not_known_are_no_choice(self):
        part = counted_samples.series(2, 2, 5)
        for one in part["tables"]:
            unknown = [
                at for at, column in enumerate(one["columns"]) if "byte" in column["name"] or "_mb_" in column["name"]
            ]
            for row in one["rows"]:
                for at in unknown:
                    row[at] = None
        self.open_with(part)
        self.assertEqual(
            self.texts("#part-series label:nth-of-type(1) option"), ["entries/s", "share of the threads’ time"]
        )

    def test_everything_has_a_name_and_shows_its_focus(self):
        self.open_with(counted_samples.regions(3, 4), counted_samples.series(3, 4, 5))
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = {"button", "link", "searchbox", "combobox", "image", "img", "region", "table", "checkbox"}
        seen = [node for node in nodes if not node["ignored"] and node["role"]["value"] in named]
        nameless = [node["role"]["value"] for node in seen if not node["name"]["value"].strip()]
        self.assertEqual(nameless, [])
        self.assertEqual(self.texts("th:not([scope])"), [])
        levels = [
            int(tag[1])
            for tag in self.browser.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => h.tagName)")
        ]
        self.assertTrue(all(after - before <= 1 for before, after in itertools.pairwise(levels)), levels)
        for selector in (".steps", ".pair", ".stacks"):
            self.press_on(selector, "Tab")
            self.assertNotEqual(self.browser.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none")


if __name__ == "__main__":
    unittest.main()
