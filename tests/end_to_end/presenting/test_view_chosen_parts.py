"""Parts of the page of `trackway view` that are summed anew for the chosen time and threads, against the verbs that read that part of
the trace alone. Where verbs begin with empty caches or without owners, the parts are compared from the beginning on."""

import collections
import json

from ..support import tools
from ..support.pages.view_pages import OPTIONS, Investigation, objects, page_data, page_of_accounts, shared_page
from ..support.tools import table


def answer(verb, *options, trace=None):
    return json.loads(tools.trackway(verb, "--json", "-q", *options, trace or shared_page()).stdout)


def number(text):
    return int(text.replace(",", "").removesuffix(" B"))


def rows_of(shown, key=0):
    """{first cell: {head: cell}} of a table."""
    heads, *rows = shown
    return {row[key]: dict(zip(heads, row, strict=True)) for row in rows}


class ChosenParts(Investigation):
    def setUp(self):
        super().setUp()
        self.trace = shared_page()
        self.data = page_data(self.trace)
        self.axis = objects(table(self.data["places"], "moment_axis"))[0]

    def choose(self, part, choice, trace=None):
        self.open(trace or self.trace, f"#{part}&{choice}")
        self.browser.evaluate(f"document.querySelectorAll('#{part} details').forEach(found => {{ found.open = true; }})")
        self.settle()

    def shown(self, part, title):
        """The table of the part whose caption begins like this; it says that it is of what is chosen."""
        found = {caption: rows for caption, rows in self.tables(f"#{part}").items() if caption.startswith(title)}
        captions = [caption for caption in found if caption.endswith(", of the chosen time and threads")]
        self.assertEqual(len(captions), 1, list(found))
        return found[captions[0]]

    def border(self, last):
        """When a bin ends, as an option."""
        return f"{self.axis['first_ns'] + (last + 1) * self.axis['bin_ns']}ns"

    def last_bin(self, stream=None):
        """By its end a thread, or all, have done half of what they do."""
        counts = collections.Counter()
        for row in objects(table(self.data["places"], "place_moments")):
            if stream in (row["stream"], None):
                counts[row["bin"]] += row["accesses"]
        done = 0
        for at in sorted(counts):
            done += counts[at]
            if 2 * done >= counts.total():
                return at
        raise AssertionError("nothing is accessed")

    def tiles(self):
        cells = zip(self.texts("#overview .tiles dt"), self.texts("#overview .tiles dd strong"), strict=True)
        return dict(cells)

    def test_the_overview_counts_what_is_chosen(self):
        report = tools.report(self.trace, "--thread", "2", "--by", "field", "--by", "thread")
        thread = table(report, "threads")["rows"][0]
        fields = table(report, "fields")["rows"]
        self.choose("overview", "threads=2")
        short = {"accesses": thread["accesses"], "L1 misses": thread["l1_misses"], "L2 misses": thread["l2_misses"]}
        expected = {title: self.browser.evaluate(f"({count}).toPrecision(3) * 1") for title, count in short.items()}
        shown = {title: float(text.replace(" k", "e3").replace(" M", "e6").replace(",", "")) for title, text in self.tiles().items()}
        for title, count in expected.items():
            self.assertAlmostEqual(shown[title] / count, 1, delta=0.01, msg=title)
        self.assertEqual(shown["threads"], 1)
        names = self.texts("#overview .redrawn .suspects h3 code")
        self.assertEqual(names[0], fields[0]["field"])
        share = self.texts("#overview .redrawn .suspects .share strong")[0]
        self.assertEqual(share, f"{fields[0]['share'] * 100:.1f} %")
        sentence = self.texts("#overview .redrawn .suspects p")[0]
        self.assertTrue(sentence.startswith(f"{fields[0]['l2_misses']:,} L2 misses"), sentence)
        # Without a choice it is of the whole run again.
        self.browser.evaluate("document.querySelector('.selection > button').click()")
        self.assertIn(tools.report(self.trace)["answer"], self.texts("#overview .answer"))

    def test_changes_say_how_much_of_what_they_are_about_is_chosen(self):
        trace = page_of_accounts()
        part = page_data(*OPTIONS, trace)["places"]
        places = objects(table(part, "places"))
        of_type = {number for number, place in enumerate(places) if place["type"] in ("account", "struct account")}
        bins = objects(table(part, "moment_axis"))[0]["bins"]
        last = bins // 2
        sums = collections.Counter()
        for row in objects(table(part, "place_moments")):
            if row["place"] in of_type:
                sums["early" if row["bin"] <= last else "late"] += row["l2_misses"]
        self.assertGreater(min(sums["early"], sums["late"]), 0)
        self.open(trace, f"#overview&time=0-{last}")
        notes = dict(zip(self.texts("#overview .cards h3"), self.texts("#overview .cards .whole-note"), strict=True))
        note = notes["Split of account"]
        share = f"{sums['early'] / sums.total() * 100:.1f} % of its L2 misses"
        self.assertTrue(note.startswith(share), (note, share))
        self.assertIn(f"{sums['early']:,} of {sums.total():,}", note)
        self.assertIn("The gain is not of this choice: it is simulated for the whole run.", note)
        self.browser.evaluate("document.querySelector('.selection > button').click()")
        self.assertEqual(self.texts("#overview .cards .whole-note"), [])

    def test_members_have_the_numbers_of_layout(self):
        said = answer("layout", "--thread", "2", "--type", "slot")
        members = {row["member"]: row for row in table(said, "members")["rows"] if row["accesses"]}
        structure = table(said, "structures")["rows"][0]
        self.choose("part-layout", "threads=2")
        shown = {row["field"]: row for row in rows_of(self.shown("part-layout", "slot, fields"), 1).values()}
        for name, member in members.items():
            counts = [number(shown[name][head]) for head in ("accesses", "misses")]
            self.assertEqual(counts, [member["accesses"], member["l2_misses"]], name)
        row = rows_of(self.shown("part-layout", "Structures"))["slot"]
        found = [number(row[head]) for head in ("accesses", "bytes", "L1 misses")]
        self.assertEqual(found, [structure["accesses"], structure["bytes"], structure["l1_misses"]])
        sentence = self.texts("#part-layout .redrawn > p")[0]
        self.assertIn("slot has the most L2 misses of all structures", sentence)
        hot = self.texts("#part-layout .type-layout:first-of-type g.hot title")
        self.assertTrue(any(text.startswith("key, ") for text in hot), hot)

    def test_members_of_a_chosen_time_are_those_of_layout_until_then(self):
        last = self.last_bin(3)
        said = answer("layout", "--thread", "3", "--to", self.border(last), "--type", "slot")
        key = next(row for row in table(said, "members")["rows"] if row["member"] == "key")
        self.choose("part-layout", f"time=0-{last}&threads=3")
        shown = number(rows_of(self.shown("part-layout", "slot, fields"), 1)["key"]["accesses"])
        # A slice cuts at records.
        self.assertAlmostEqual(shown / key["accesses"], 1, delta=0.05)

    def test_allocations_are_those_of_the_chosen_thread(self):
        moments = objects(table(self.data["memory"], "allocation_moments"))
        # The first one.
        stream = moments[0]["stream"]
        expected = table(answer("memory", "--thread", str(stream), "--top", "0"), "allocations")["rows"]
        self.choose("part-memory", f"threads={stream}")
        heads, *rows = self.shown("part-memory", "Allocations")
        for head, column in (("blocks", "allocations"), ("bytes", "allocated_bytes"), ("never released", "never_released")):
            shown = sorted(number(row[heads.index(head)]) for row in rows)
            self.assertEqual(shown, sorted(row[column] for row in expected), column)
        blocks = sum(row["allocations"] for row in expected)
        allocated = f"allocated {blocks:,} block{'s' * (blocks != 1)} of {sum(row['allocated_bytes'] for row in expected):,} bytes"
        self.assertIn(allocated, self.texts("#part-memory .redrawn > p")[0])
        others = {0, 1, 2, 3, 4} - {row["stream"] for row in moments}
        self.choose("part-memory", f"threads={','.join(map(str, others))}")
        self.assertIn("Allocations, of the chosen time and threads: none.", self.texts("#part-memory p"))

    def test_live_memory_is_cut_to_the_chosen_time(self):
        self.choose("part-memory", "time=3-9")
        first = self.axis["first_ns"] + 3 * self.axis["bin_ns"]
        last = self.axis["first_ns"] + 10 * self.axis["bin_ns"]
        whole = objects(table(self.data["memory"], "memory_over_time"))
        expected = [row for row in whole if row["from_ns"] < last and row["from_ns"] + row["width_ns"] > first]
        self.assertLess(0, len(expected))
        self.assertLess(len(expected), len(whole))
        self.browser.evaluate("document.querySelectorAll('#part-memory .more').forEach(found => found.click())")
        heads, *rows = self.shown("part-memory", "Live memory by time")
        shown = [number(row[heads.index("most bytes")]) for row in rows]
        self.assertEqual(shown, [row["most_bytes"] for row in expected])
        self.assertIn(f"at most {max(shown):,} bytes were live at once", self.texts("#part-memory .redrawn > p")[0])

    def curve(self, *options, trace=None):
        said = answer("reuse", *options, trace=trace)
        curve = table(said, "miss_ratio_curve")["rows"]
        return {row["cache_bytes"]: row["miss_ratio"] for row in curve if (row["cache_bytes"] & (row["cache_bytes"] - 1)) == 0}

    def shown_curve(self):
        heads, *rows = self.shown("part-reuse", "Miss ratio")
        return {number(row[heads.index("size")]): float(row[heads.index("miss ratio")].strip("<> %")) / 100 for row in rows}

    def test_the_curve_is_that_of_reuse(self):
        self.choose("part-reuse", "threads=2")
        expected, shown = self.curve("--thread", "2"), self.shown_curve()
        self.assertGreater(len(expected), 5)
        self.assertEqual(shown.keys(), expected.keys())
        for size, ratio in expected.items():
            # The table shows tenths of a percent.
            self.assertAlmostEqual(shown[size], ratio, delta=0.0006, msg=size)
        # A cache catches half of the reuses if it misses the first references and at most half of the others.
        cold = min(expected.values())
        half = min(size for size, ratio in expected.items() if ratio <= cold + (1 - cold) / 2)
        sentence = self.texts("#part-reuse .redrawn > p")[0]
        self.assertIn(f"an LRU cache of {half} B catches half of the reuses", sentence)
        labels = self.texts("#part-reuse svg .curve-label")
        self.assertEqual(set(labels[0:2]), {"chosen time and threads", "all accesses, whole trace"})
        self.assertIn("The curves of fields", self.texts("#part-reuse > .whole-note")[0])

    def test_the_curve_of_a_chosen_time_is_that_of_reuse_until_then(self):
        trace = page_of_accounts()
        self.data = page_data(*OPTIONS, trace)
        self.axis = objects(table(self.data["places"], "moment_axis"))[0]
        last = self.last_bin()
        expected = self.curve("--to", self.border(last), trace=trace)
        self.choose("part-reuse", f"time=0-{last}", trace)
        shown = self.shown_curve()
        whole = self.curve(trace=trace)
        self.assertTrue(any(abs(whole[size] - ratio) > 0.005 for size, ratio in expected.items() if size in whole), "time matters")
        for size in shown.keys() & expected.keys():
            self.assertAlmostEqual(shown[size], expected[size], delta=0.01, msg=size)

    def test_transfers_are_those_to_the_chosen_threads(self):
        said = answer("sharing", "--top", "0")
        taken = [row for row in table(said, "thread_pairs")["rows"] if row["to_stream"] == 2]
        self.assertGreater(len(taken), 0)
        self.choose("sharing", "threads=2")
        heads, *rows = self.shown("sharing", "From thread to thread")
        shown = sorted([number(row[heads.index(head)]) for head in ("from stream", "to stream", "to read", "to write")] for row in rows)
        columns = ("from_stream", "to_stream", "read_hand_overs", "write_hand_overs")
        self.assertEqual(shown, sorted([row[column] for column in columns] for row in taken))
        whole = sum(row["read_hand_overs"] + row["write_hand_overs"] for row in taken)
        field = self.shown("sharing", "Fields")[1]
        self.assertTrue(self.texts("#sharing .redrawn > p")[0].startswith(f"{field[0]} is "))
        for title in ("Fields", "Lines"):
            heads, *rows = self.shown("sharing", title)
            counts = [number(row[heads.index(head)]) for row in rows for head in ("to read", "to write")]
            self.assertEqual(sum(counts), whole, title)
        heads, *rows = self.shown("sharing", "Cache lines (rows)")
        self.assertEqual(heads[2:], ["thread 2"])
        matrix = {row[0]: number(row[2]) for row in rows}
        lines = collections.Counter()
        for row in table(said, "shared_lines")["rows"]:
            if row["to_stream"] == 2:
                lines[row["line_address"]] += row["read_hand_overs"] + row["write_hand_overs"]
        self.assertEqual(matrix, {address: taken for address, taken in lines.most_common(20) if taken})
        heads, *rows = self.shown("sharing", "Who accessed")
        counts = [number(row[heads.index(head)]) for row in rows for head in ("to read", "to write")]
        self.assertEqual(sum(counts), whole)

    def test_transfers_of_a_chosen_time_are_those_of_sharing_until_then(self):
        last = self.last_bin(3)
        total = table(answer("sharing", "--to", self.border(last)), "sharing")["rows"][0]
        whole = table(answer("sharing"), "sharing")["rows"][0]
        self.choose("sharing", f"time=0-{last}")
        heads, *rows = self.shown("sharing", "From thread to thread")
        shown = sum(number(row[heads.index(head)]) for row in rows for head in ("to read", "to write"))
        expected, all_of_them = (found["read_hand_overs"] + found["write_hand_overs"] for found in (total, whole))
        self.assertLess(expected, all_of_them)
        # A slice cuts at records, and some lines go to and fro at the border.
        self.assertAlmostEqual(shown, expected, delta=max(3, all_of_them // 10))

    def test_tables_beside_drawings_are_of_what_is_chosen(self):
        last = self.last_bin()
        self.choose("activity", f"time=0-{last}&threads=1,2")
        self.browser.evaluate("document.querySelectorAll('#activity .more').forEach(found => found.click())")
        heads, *rows = self.shown("activity", "Accesses")
        steps = objects(table(self.data["activity"], "activity"))
        axis = objects(table(self.data["activity"], "activity_axis"))[0]
        end = self.axis["first_ns"] + (last + 1) * self.axis["bin_ns"]
        early = [row for row in steps if axis["first_us"] * 1000 + row["time_bin"] * axis["bin_ns"] < end]
        expected = [row for row in early if row["stream"] in (1, 2)]
        self.assertLess(len(early), len(steps))
        self.assertLess(len(expected), len(early))
        shown = [[number(row[heads.index(head)]) for head in ("stream", "time bin", "accesses")] for row in rows]
        self.assertEqual(shown, [[row["stream"], row["time_bin"], row["accesses"]] for row in expected])
        self.choose("part-map", f"time=0-{last}")
        self.browser.evaluate("document.querySelectorAll('#part-map .more').forEach(found => found.click())")
        heads, *rows = self.shown("part-map", "Accesses by time and address")
        level = objects(table(self.data["map"], "map_times"))[0]
        late = (end - level["first_ns"]) / level["bin_ns"]
        coarse = [number(row[heads.index("time")]) for row in rows if row[heads.index("level")] == "0"]
        self.assertGreater(len(coarse), 0)
        self.assertTrue(all(bin_ < late for bin_ in coarse))

    def test_the_threads_among_the_offenders_are_the_chosen_ones(self):
        report = tools.report(self.trace, "--thread", "2", "--by", "thread")
        expected = table(report, "threads")["rows"]
        self.open(self.trace, "#misses&threads=2")
        self.browser.evaluate("document.querySelector('#tab-threads').click()")
        heads, *rows = self.shown("panel-threads", "Threads")
        shown = [[number(row[heads.index(head)]) for head in ("accesses", "L1 misses")] for row in rows]
        self.assertEqual(shown, [[row["accesses"], row["l1_misses"]] for row in expected])
