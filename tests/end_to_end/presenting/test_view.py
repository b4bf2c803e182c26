"""`trackway view` in headless Chromium: every part with the numbers of the other verbs, nothing from the network, nothing
that a hostile trace could do, and everything within reach of the keyboard."""

import collections
import itertools
import json
import re
import unittest
from pathlib import Path

from ..support import tools
from ..support.pages import view_samples
from ..support.pages.shared_browser import READ_TABLES, shared_browser, turn, with_data
from ..support.pages.view_pages import shared_page
from ..support.tools import table
from ..support.workloads import build

OPENING_LIMIT_MS = 2000  # of a loaded machine; `bench/run page` measures a quiet one

# Names that begin and end alike.
LIKE_NAMES = [
    f"block, calloc at size.h:{line}, from kvstore.c:{caller}" for line, caller in ((27, 81), (28, 81), (27, 181), (127, 81))
]

HOSTILE = r"""
int a;
/* Names that C does not allow reach a trace as labels of assembly. */
struct node { int value; } first __asm__("</script><script>alert(1)</script>"), second __asm__("\033[31m<!--\"'&amp;");
static volatile int sum;
int main(void) {
    for (volatile int i = 0; i < 1000; i++) { first.value += i; second.value += i; a += first.value; }
    sum = a; // </script><img src=x onerror=alert(1)>
    return 0;
}
"""


class Page(unittest.TestCase):
    """One page and one browser for all tests of the class."""

    def setUp(self):
        self.trace = shared_page()
        self.path = Path(f"{self.trace}.html")
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        self.browser = shared_browser()
        turn.acquire()
        self.addCleanup(turn.release)
        self.browser.appear(1400, 1000, "light")

    def open(self, path=None):
        self.browser.open(f"file://{path or self.path}")
        self.assertEqual(self.browser.complaints(), [])

    def open_with(self, *parts):
        """With these instead of the parts that are drawn by their columns."""

        def add(data):
            others = [part for part in data["parts"] if part["name"] not in ("layout", "reuse", "map", "memory")]
            data["parts"] = [*others, *parts]
            return data

        path = Path(self.folder.name) / "samples.html"
        path.write_text(with_data(self.path.read_text(), add))
        self.open(path)

    def tables(self, selector):
        return self.browser.evaluate(READ_TABLES % selector)

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(found => found.textContent)")

    def test_sections_are_those_that_have_something_to_show(self):
        self.open()
        own = ["Layout of structures", "Reuse of memory", "Memory over time", "Allocations"]
        expected = ["Overview", "Offenders", "Source", "Paths of calls", "Sharing", *own, "Threads over time", "Audit", "Terms"]
        self.assertEqual(self.texts("main h2"), expected)
        self.assertEqual(self.texts("nav a"), expected)

    def test_nothing_is_asked_from_the_network(self):
        self.open()
        self.assertEqual(self.browser.requests(), [f"file://{self.path}"])

    def test_offenders_have_the_numbers_of_the_report(self):
        report = tools.report(self.trace, "--top", "200", "--by", "field")
        expected = table(report, "fields")
        self.open()
        self.assertIn(report["answer"], self.texts("#overview .answer"))
        self.browser.evaluate("document.querySelector('#misses .more').click()")
        shown = self.tables("#misses")[expected["title"]]
        # The page leaves out what stands beside: it has the source itself, and a bar for the share.
        own = [column for column in expected["columns"] if not re.fullmatch(r"source|l\d_share", column["name"])]
        self.assertEqual(shown[0], [column["title"] for column in own])
        self.assertEqual(len(shown) - 1, len(expected["rows"]))
        for cells, row in zip(shown[1:], expected["rows"], strict=True):
            self.assertEqual(cells[0], row["field"])
            self.assertEqual(cells[1], f"{row['accesses']:,}")
            self.assertEqual(cells[4], f"{row['l2_misses']:,}")

    def test_source_lines_stand_beside_their_numbers(self):
        lines = table(tools.report(self.trace, "--top", "200", "--by", "line"), "lines")["rows"]
        hottest = next(row for row in lines if row["file"].endswith("kvstore.c"))
        self.open()
        rows = {cells[0].lstrip("▶"): cells for cells in self.tables("#source")[hottest["file"]][1:]}
        cells = rows[str(hottest["line"])]
        self.assertEqual(cells[1], f"{hottest['accesses']:,}")
        self.assertEqual(cells[-1], hottest["source"])

    def test_sharing_is_that_of_the_verb(self):
        report = json.loads(tools.trackway("sharing", "--json", "--top", "200", self.trace).stdout)
        pairs = table(report, "thread_pairs")["rows"]
        counts = {(row["from_stream"], row["to_stream"]): row["read_hand_overs"] + row["write_hand_overs"] for row in pairs}
        self.assertGreater(sum(counts.values()), 0)
        self.open()
        head, *rows = next(rows for title, rows in self.tables("#sharing").items() if title.startswith("From thread"))
        shown = {
            (int(row[0].split()[1]), int(column.split()[1])): int(cell.replace(",", ""))
            for row in rows
            for column, cell in zip(head[1:], row[1:], strict=True)
            if cell != "·"
        }
        self.assertEqual(shown, counts)

    def parts(self):
        data = json.loads(tools.trackway("view", "--json", "-q", self.trace).stdout)
        return {part["name"]: part for part in data["parts"]}

    def test_layouts_are_those_of_the_verb(self):
        report = json.loads(tools.trackway("layout", "--json", "--top", "12", self.trace).stdout)
        members = [row for one in report["tables"] if one["name"] == "members" for row in one["rows"]]
        expected = [
            [row["type"], row["member"], row["offset_bytes"], row["size_bytes"], row["accesses"], row["l2_misses"]]
            for row in members
            if not row["member"].startswith("(")
        ]
        self.assertGreater(len(expected), 3)
        self.assertEqual(table(self.parts()["layout"], "layouts")["rows"], expected)
        self.open()
        self.assertIn(expected[0][1], " ".join(self.texts("#part-layout svg .field-name")))

    def test_curves_are_those_of_the_verb(self):
        points = table(self.parts()["reuse"], "curves")["rows"]
        found = [(size, ratio) for group, size, ratio in points if group == "all accesses"]
        report = json.loads(tools.trackway("reuse", "--json", "--sample-lines", "32768", self.trace).stdout)
        expected = [(row["cache_bytes"], row["miss_ratio"]) for row in table(report, "miss_ratio_curve")["rows"]]
        self.assertEqual([size for size, _ in found], [size for size, _ in expected])
        for (_, one), (_, other) in zip(found, expected, strict=True):
            self.assertAlmostEqual(one, other, 8)

    def test_the_map_holds_every_access(self):
        part = self.parts()["map"]
        cells, places = table(part, "map_cells")["rows"], table(part, "map_addresses")["rows"]
        accesses = table(tools.report(self.trace, "--by", "kind"), "kinds")["rows"]
        levels = {level for level, *_ in cells}
        self.assertEqual(levels, set(range(len(levels))))
        finest = [first for level, _, first, *_ in places if level == max(levels)]
        self.assertEqual(finest, list(range(len(finest))))
        for wanted in levels:
            counts = [reads + writes for level, *_, reads, writes in cells if level == wanted]
            self.assertEqual(sum(counts), sum(row["accesses"] for row in accesses))
            of_level = [(place, first) for level, place, first, *_ in places if level == wanted]
            self.assertEqual({place for level, _, place, *_ in cells if level == wanted}, {place for place, _ in of_level})
            # Rows of coarse levels begin where rows of the finest do, in the same order.
            rows = [first for _, first in of_level]
            self.assertEqual(rows, sorted(set(rows)))
            self.assertEqual(rows[0], 0)
        self.open()
        self.assertEqual(len(self.texts("#part-map canvas")), 1)

    def test_activity_holds_every_access(self):
        data = json.loads(tools.trackway("view", "--json", "-q", self.trace).stdout)
        activity = next(part for part in data["parts"] if part["name"] == "activity")
        cells = table(activity, "activity")["rows"]
        axis_table = table(activity, "activity_axis")
        axis = dict(zip((column["name"] for column in axis_table["columns"]), axis_table["rows"][0], strict=True))
        by_stream = collections.Counter()
        for stream, time_bin, accesses in cells:
            self.assertLess(time_bin, axis["bins"])
            by_stream[stream] += accesses
        threads = table(tools.report(self.trace, "--by", "thread"), "threads")["rows"]
        self.assertEqual(by_stream, {row["stream"]: row["accesses"] for row in threads})
        self.assertEqual(axis["without_time"], 0)
        self.open()
        self.assertEqual(self.texts("#activity svg .end"), [f"thread {stream}" for stream in sorted(by_stream)])

    def test_gaps_are_seen(self):
        trace = Path(self.folder.name) / "gaps.trackway"
        options = ("--on-full", "drop", "--buffers", "3", "--buffer-size", "16K")
        tools.record(trace, build("traced", "kvstore", "-O2"), "400000", options=options)
        gaps = table(tools.report(trace), "trace")["rows"][0]["gaps"]
        self.assertGreater(gaps, 0)
        tools.trackway("view", "-q", trace)
        self.open(f"{trace}.html")
        self.assertEqual(len(self.texts("#activity .gap")), gaps)
        self.assertEqual(len(self.tables("#activity")), 0, "tables are made when they are opened")
        self.browser.evaluate("document.querySelectorAll('#activity details')[2].open = true")
        self.browser.evaluate("new Promise(requestAnimationFrame)")
        self.assertEqual(len(self.tables("#activity")["Gaps"]) - 1, gaps)
        self.assertIn("Warning: records are missing", self.texts(".warnings")[0])
        self.assertTrue(any(text.startswith("✗ noNo records are missing") for text in self.texts(".checks li")))

    def test_audit_says_what_the_numbers_rest_on(self):
        self.open()
        accesses = table(tools.report(self.trace), "trace")["rows"][0]["accesses"]
        self.assertIn(["accesses decoded", f"{accesses:,}"], self.tables("#audit")["Trace"])
        self.assertIn("✓ yesThe recording was ended in order.", self.texts(".checks li"))

    def test_it_opens_at_once(self):
        self.open()
        drawn = self.browser.evaluate("performance.getEntriesByName('trackway-drawn')[0].startTime")
        self.assertLess(drawn, OPENING_LIMIT_MS)

    def test_parts_of_other_analyses_are_drawn_by_their_columns(self):
        self.open_with(view_samples.layouts(), view_samples.curves(), view_samples.address_map())
        self.assertEqual(self.texts("#part-layout h3"), ["struct arc", "pair<a,b>"])
        self.assertIn("Hot: ident, cost, 12 of 80 bytes with 95.0 % of the type’s misses.", self.texts("#part-layout figcaption"))
        boxes = self.browser.evaluate(
            "[...document.querySelectorAll('#part-layout svg')[0].querySelectorAll('g')].map(g => "
            "[g.querySelector('title').textContent, Number(g.querySelector('rect').getAttribute('width'))])"
        )
        self.assertEqual(len(boxes), 6, "five fields, one of them over a border of cache lines")
        ident, cost = boxes[0][1], boxes[1][1]
        self.assertAlmostEqual((cost + 1) / (ident + 1), 2, delta=0.01)
        self.assertEqual(self.texts("#part-reuse svg .curve-label"), ["group 0", "group 1", "group 2"])
        self.assertEqual(len(self.texts("#part-map canvas")), 1)

    def test_curves_can_be_chosen(self):
        self.open_with(view_samples.curves(groups=30))
        self.assertEqual(len(self.texts("#part-reuse svg .curve")), 5)
        self.browser.evaluate("document.querySelectorAll('#part-reuse input')[7].click()")
        self.assertEqual(len(self.texts("#part-reuse svg .curve")), 6)

    def test_labels_of_curves_tell_names_apart_and_overlap_nothing(self):
        self.open_with(view_samples.curves(names=LIKE_NAMES))
        labels = self.texts("#part-reuse svg .curve-label")
        self.assertEqual(len(set(labels)), len(LIKE_NAMES), labels)
        overlaps = self.browser.evaluate(
            "(() => { const boxes = [...document.querySelectorAll('#part-reuse svg text')]"
            ".map(text => [text.textContent, text.getBoundingClientRect()]);"
            " return boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1"
            " && a.top < b.bottom - 4 && b.top < a.bottom - 4).map(([other]) => [one, other])); })()"
        )
        self.assertEqual(overlaps, [])

    def texts_of_map(self, *beginnings):
        """What the map of the open page writes, of the texts that begin so."""
        self.browser.evaluate(
            "(() => { window.drawn = []; const draw = CanvasRenderingContext2D.prototype.fillText;"
            " CanvasRenderingContext2D.prototype.fillText = function (text, ...rest)"
            " { window.drawn.push(text); return draw.call(this, text, ...rest); };"
            " document.querySelector('#part-map canvas').focus(); })()"
        )
        self.browser.press("ArrowRight")
        return {text for text in self.browser.evaluate("window.drawn") if text.startswith(beginnings)}

    def test_labels_of_the_map_tell_names_apart(self):
        self.open_with(view_samples.named_map(LIKE_NAMES))
        labels = self.texts_of_map("block")
        self.assertEqual(len(labels), len(LIKE_NAMES), labels)

    def test_stretches_of_the_same_name_are_numbered(self):
        self.open_with(view_samples.named_map(["heap", "stack", "heap", "heap"]))
        self.assertEqual(self.texts_of_map("heap", "stack"), {"heap 1/2", "stack", "heap 2/2"})

    def test_numbers_of_one_have_their_noun_in_the_singular(self):
        def change(data):
            activity = next(part for part in data["parts"] if part["name"] == "activity")
            activity["tables"][0]["rows"] = [[0, 0, 1], [0, 1, 2]]
            return data

        path = Path(self.folder.name) / "one.html"
        path.write_text(with_data(self.path.read_text(), change))
        self.open(path)
        self.browser.evaluate("document.querySelector('#activity svg').focus()")
        for key, words in (("ArrowLeft", "1 access"), ("ArrowRight", "2 accesses")):
            self.browser.press(key)
            self.assertTrue(self.texts("#activity .readout")[0].endswith(f": {words}"), self.texts("#activity .readout"))

    def test_colours_of_the_map_follow_the_counts(self):
        counts = (1, 100, 10_000)
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                self.browser.appear(1400, 1000, scheme)
                self.open_with(view_samples.cells_of(counts))
                low, high = (
                    self.browser.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--heat-{end}').trim()")
                    for end in ("low", "high")
                )
                low, high = ([int(colour[at:at + 2], 16) for at in (1, 3, 5)] for colour in (low, high))
                # The plot in the canvas, in parts of its own size: cells by column and row, then the ends of the scale.
                (left, top, width, height), scale = (190, 6, 896 - 190, 470 - 6 - 76), (470 - 26 + 5)
                cells = [(left + (column + 0.5) * width / 3, top + (row + 0.5) * height / 2) for row in (0, 1) for column in range(3)]
                places = [*cells, (left + 3, scale), (left + 240 - 3, scale)]
                pixels = self.browser.evaluate(
                    "(() => { const canvas = document.querySelector('#part-map canvas'); const part = canvas.width / 896;"
                    f" return {json.dumps(places)}.map(([x, y]) =>"
                    " [...canvas.getContext('2d').getImageData(Math.round(x * part), Math.round(y * part), 1, 1).data.slice(0, 3)]); })()"
                )
                few, some, many, *empty = pixels[:6]
                self.assertEqual((few, many), (low, high))
                # A hundred is half of the way from one to ten thousand, on a logarithmic scale of 24 colours.
                for channel, ends in enumerate(zip(low, high, strict=True)):
                    self.assertAlmostEqual(some[channel], sum(ends) / 2, delta=4)
                self.assertEqual(empty, [empty[0]] * 3)
                self.assertNotIn(empty[0], (few, some, many))
                self.assertEqual(pixels[6:], [low, high], "the scale has the colours of the cells")
        self.browser.appear(1400, 1000, "light")

    def test_the_map_zooms_by_keyboard(self):
        self.open_with(view_samples.address_map())
        self.browser.evaluate("document.querySelector('#part-map canvas').focus()")
        self.browser.press("ArrowLeft")
        before = self.texts("#part-map .readout")[0]
        self.assertRegex(before, r"^[\d.]+ ms, 0x7f00\w+, 1 KiB stack: [\d,]+ reads, [\d,]+ writes, [\d,]+ misses$")
        for _ in range(3):
            self.browser.press("+", text="+")
        self.browser.press("ArrowLeft")
        self.assertIn("256 B", self.texts("#part-map .readout")[0], "finer bins")
        self.browser.press("0", text="0")
        self.browser.press("ArrowLeft")
        self.assertEqual(self.texts("#part-map .readout")[0], before)

    def test_every_control_is_reached_by_tab_and_shows_it(self):
        self.open()
        wanted = self.browser.evaluate(
            "[...document.querySelectorAll('a, button, input, select, summary, [tabindex=\"0\"]')]"
            ".filter(found => found.tabIndex >= 0 && found.checkVisibility()).length"
        )
        seen = 0
        for _ in range(wanted):
            self.browser.press("Tab", code=9)
            found = self.browser.evaluate(
                "[document.activeElement !== document.body && !document.activeElement.dataset.seen"
                " && (document.activeElement.dataset.seen = 1),"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
            seen += bool(found[0])
            self.assertNotEqual(found[1], "none")
        self.assertEqual(seen, wanted)

    def test_everything_has_a_name_for_screen_readers(self):
        self.open()
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        roles = collections.Counter(node["role"]["value"] for node in nodes if not node["ignored"])
        for role in ("banner", "navigation", "main", "contentinfo", "heading", "table", "columnheader", "rowheader", "tablist"):
            self.assertGreater(roles[role], 0, role)
        named = {"button", "link", "textbox", "searchbox", "combobox", "image", "img", "region", "table", "tab", "navigation"}
        to_name = [node for node in nodes if not node["ignored"] and node["role"]["value"] in named]
        nameless = [node["role"] for node in to_name if not node["name"]["value"].strip()]
        self.assertEqual(nameless, [])
        self.assertEqual(self.texts("th:not([scope])"), [])
        levels = [int(tag[1]) for tag in self.browser.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => h.tagName)")]
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(after - before <= 1 for before, after in itertools.pairwise(levels)), levels)

    def test_tabs_move_by_arrows(self):
        self.open()
        self.browser.evaluate("document.querySelector('[role=tab]').focus()")
        self.browser.press("ArrowRight")
        self.assertEqual(self.browser.evaluate("document.activeElement.textContent"), "Variables")
        self.assertEqual(len(self.browser.evaluate("[...document.querySelectorAll('[role=tabpanel]:not([hidden])')].map(x => x.id)")), 1)

    def test_a_place_leads_to_its_source_line(self):
        self.open()
        self.browser.evaluate("document.querySelector('#overview .quote a').click()")
        self.assertRegex(self.browser.evaluate("document.activeElement.id"), r"^source-\d+-\d+$")

    def test_tables_are_sorted_and_filtered(self):
        self.open()
        self.browser.evaluate("document.querySelectorAll('#misses thead button')[1].click()")
        self.assertEqual(self.browser.evaluate("document.querySelector('#misses [aria-sort]').getAttribute('aria-sort')"), "descending")
        rows = next(iter(self.tables("#misses").values()))[1:]
        accesses = [int(row[1].replace(",", "")) for row in rows]
        self.assertEqual(accesses, sorted(accesses, reverse=True))

    def test_tables_fit_a_small_window_with_their_shares(self):
        self.browser.appear(1000, 1000, "light")
        self.open()
        room = self.browser.evaluate(
            "(() => { const region = document.querySelector('#misses .scroll'); return region.clientWidth - region.scrollWidth; })()"
        )
        self.assertGreaterEqual(room, 0, "no column is out of sight")

    def test_a_phone_shows_what_rows_are_ranked_by(self):
        self.browser.appear(400, 800, "light")
        self.open()
        self.assertEqual(next(iter(self.tables("#misses").values()))[0][:3], ["field", "L2 misses", "share"])
        right = self.browser.evaluate("document.querySelector('#misses thead th:nth-child(3)').getBoundingClientRect().right")
        self.assertLessEqual(right, 400)

    def test_columns_that_say_nothing_are_left_out(self):
        columns = {"variable": "text", "file": "path", "line": "number", "bytes": "bytes", "caller": "path"}
        rows = [["", "a.c", 7, 100, ""], ["", "b.c", 8, 90, ""]]
        self.open_with(view_samples.part("memory", "Allocations", view_samples.table("allocations", "Allocations", columns, rows)))
        self.assertEqual(self.tables("#part-memory")["Allocations"], [["file", "line", "bytes"], ["a.c", "7", "100"], ["b.c", "8", "90"]])

    def test_numbers_have_units_and_are_short(self):
        columns = {"name": "text", "first_us": "count", "mean_life_ns": "count", "lived": "rate", "change": "change"}
        columns |= {"footprint": "bytes", "bytes_read": "bytes"}
        rows = [["a", 13_799, 76_073_460, 9196.04, 0.000003996830135, 2048, 4096], ["b", 0, 1, 0.5, -0.25, 0, 0]]
        self.open_with(view_samples.part("memory", "Allocations", view_samples.table("allocations", "Allocations", columns, rows)))
        self.assertEqual(
            self.tables("#part-memory")["Allocations"],
            [
                ["name", "first", "mean life", "lived", "change", "footprint", "bytes read"],
                ["a", "13.8 ms", "76.07 ms", "9,196.0", "+0.000", "2,048 B", "4,096"],
                ["b", "0 ns", "1 ns", "0.5", "−0.250", "0 B", "0"],
            ],
        )

    def test_details_of_structures_are_opened_on_demand(self):
        columns = {"field": "text", "with": "text", "together": "count"}
        affinity = view_samples.table("affinity", "arc: fields accessed together", columns, [["cost", "ident", 7]])
        self.open_with(view_samples.part("layout", "Layout", affinity))
        self.assertEqual(self.tables("#part-layout"), {})
        self.browser.evaluate("document.querySelector('#part-layout summary').click()")
        self.browser.evaluate("new Promise(requestAnimationFrame)")
        self.assertEqual(list(self.tables("#part-layout")), ["arc: fields accessed together"])

    def test_narrow_and_dark_pages_fit(self):
        for width, scheme in ((360, "light"), (360, "dark"), (1400, "dark")):
            self.browser.appear(width, 800, scheme)
            self.open_with(view_samples.layouts(), view_samples.curves(), view_samples.address_map())
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width, (width, scheme))
            dark = self.browser.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            self.assertEqual(dark == "rgb(255, 255, 255)", scheme == "light")

    def test_hostile_names_are_inert(self):
        source = Path(self.folder.name) / "hostile.c"
        source.write_text(HOSTILE)
        program = tools.compile_traced(Path(self.folder.name) / "hostile", [source], "-O1", "-g", oracle=False)
        trace = Path(self.folder.name) / "hostile.trackway"
        tools.record(trace, program, "</script><script>document.title='taken'</script>")
        tools.trackway("view", "-q", trace)
        self.open(f"{trace}.html")
        self.assertIn("</script><img src=x onerror=alert(1)>", " ".join(self.texts("#source td.code")))
        self.assertEqual(self.browser.evaluate("document.title"), "hostile – Trackway")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('script, img').length"), 2)

    def test_hostile_tables_are_inert(self):
        bad = "</script><img src=x onerror=\"document.title='taken'\"><svg onload=alert(1)>\u0007\u202e\u2028"

        def poison(value):
            if isinstance(value, str):
                return value + bad
            if isinstance(value, list):
                return [poison(entry) for entry in value]
            return value

        def change(data):
            for part in data["parts"]:
                part["title"] = part["answer"] = bad
                for each in part["tables"]:
                    each["title"] += bad
                    each["rows"] = poison(each["rows"])
            return data

        path = Path(self.folder.name) / "poisoned.html"
        path.write_text(with_data(self.path.read_text(), change))
        self.open(path)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img, script').length"), 2)
        self.assertNotIn("taken", self.browser.evaluate("document.title"))
        self.assertNotRegex(self.browser.evaluate("document.body.innerText"), "[\u0007\u202e]")

    def test_the_policy_stops_what_is_put_into_the_page(self):
        path = Path(self.folder.name) / "injected.html"
        path.write_text(self.path.read_text().replace("<noscript>", "<script>document.title = 'taken'</script><noscript>", 1))
        self.browser.open(f"file://{path}")
        self.assertEqual(self.browser.evaluate("document.title"), "kvstore – Trackway")
        self.assertTrue(any("Content Security Policy" in text for text in self.browser.complaints()))
