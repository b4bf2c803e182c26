"""Parts of the page of `trackway view` that are summed anew for the chosen time and threads, against the verbs that read that part of
the trace alone. Where verbs begin with empty caches or without owners, the parts are compared from the beginning on."""

import collections

from ..support import tools
from ..support.pages.chosen_pages import ChosenPage, answer, number, rows_of
from ..support.pages.view_pages import OPTIONS, objects, page_data, page_of_accounts, page_without_sharing
from ..support.tools import table


class ChosenParts(ChosenPage):
    def tiles(self):
        cells = zip(self.texts("#overview .tiles dt"), self.texts("#overview .tiles dd strong"), strict=True)
        return dict(cells)

    def test_the_overview_counts_what_is_chosen(self):
        trace = page_without_sharing()
        report = tools.report(trace, "--thread", "2", "--by", "field", "--by", "thread")
        thread = table(report, "threads")["rows"][0]
        fields = table(report, "fields")["rows"]
        self.choose("overview", "threads=2", trace)
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
        self.assertIn(tools.report(trace)["answer"], self.texts("#overview .answer"))

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
        trace = page_without_sharing()
        said = answer("layout", "--thread", "2", "--type", "slot", trace=trace)
        members = {row["member"]: row for row in table(said, "members")["rows"] if row["accesses"]}
        structure = table(said, "structures")["rows"][0]
        self.choose("part-layout", "threads=2", trace)
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
        trace = page_without_sharing()
        report = tools.report(trace, "--thread", "2", "--by", "thread")
        expected = table(report, "threads")["rows"]
        self.open(trace, "#misses&threads=2")
        self.browser.evaluate("document.querySelector('#tab-threads').click()")
        heads, *rows = self.shown("panel-threads", "Threads")
        shown = [[number(row[heads.index(head)]) for head in ("accesses", "L1 misses")] for row in rows]
        self.assertEqual(shown, [[row["accesses"], row["l1_misses"]] for row in expected])

    def test_the_sites_among_the_offenders_are_those_of_report(self):
        trace = page_without_sharing()
        report = tools.report(trace, "--thread", "2", "--by", "site", "--top", "0")
        expected = collections.Counter()
        for row in table(report, "sites")["rows"]:
            key = (row["kind"], row["field"], row["file"], str(row["line"]), row["function"])
            for head, column in (("accesses", "accesses"), ("L1 misses", "l1_misses")):
                expected[key, head] += row[column]
        self.open(trace, "#misses&threads=2")
        self.browser.evaluate("document.querySelector('#tab-sites').click()")
        self.browser.evaluate("document.querySelectorAll('#panel-sites .more').forEach(found => found.click())")
        heads, *rows = self.shown("panel-sites", "Sites")
        shown = collections.Counter()
        for row in rows:
            cells = dict(zip(heads, row, strict=True))
            key = (cells["kind"], cells["field"], cells["file"], cells["line"], cells["function"])
            for head in ("accesses", "L1 misses"):
                self.assertNotIn((key, head), shown)
                shown[key, head] = number(cells[head])
        self.assertGreater(len(rows), 5)
        self.assertEqual(shown, expected)
        self.assertIn("sites of the same line, function, field and kind are one row", self.texts("#panel-sites p")[0])
