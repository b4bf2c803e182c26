"""Reuse on the page of `trackway view` for the chosen time and threads, against `trackway reuse` of that part of the trace alone."""

from pathlib import Path

from ..support import tools
from ..support.pages.chosen_pages import ChosenPage, answer, number, rows_of
from ..support.pages.shared_browser import with_data
from ..support.pages.view_pages import OPTIONS, objects, page_data, page_of_accounts
from ..support.tools import table

CHOSEN = "chosen time and threads"


def share(text):
    """The table shows tenths of a percent."""
    return 0.0 if text.startswith("<") else float(text.strip("> %")) / 100


class ChosenReuse(ChosenPage):
    def curve(self, *options, trace=None):
        said = answer("reuse", *options, trace=trace)
        curve = table(said, "miss_ratio_curve")["rows"]
        return {row["cache_bytes"]: row["miss_ratio"] for row in curve if (row["cache_bytes"] & (row["cache_bytes"] - 1)) == 0}

    def shown_curve(self, group=CHOSEN, part="part-reuse"):
        heads, *rows = self.shown(part, "Miss ratio")
        own = [row for row in rows if row[heads.index("group")] == group]
        return {number(row[heads.index("size")]): share(row[heads.index("miss ratio")]) for row in own}

    def test_the_curve_is_that_of_reuse(self):
        self.choose("part-reuse", "threads=2")
        expected, shown = self.curve("--thread", "2"), self.shown_curve()
        self.assertGreater(len(expected), 5)
        self.assertEqual(shown.keys(), expected.keys())
        for size, ratio in expected.items():
            self.assertAlmostEqual(shown[size], ratio, delta=0.001, msg=size)
        # A cache catches half of the reuses if it misses the first references and at most half of the others.
        cold = min(expected.values())
        half = min(size for size, ratio in expected.items() if ratio <= cold + (1 - cold) / 2)
        sentence = self.texts("#part-reuse .redrawn > p")[0]
        self.assertIn(f"an LRU cache of {half} B catches half of the reuses", sentence)
        labels = self.texts("#part-reuse svg .curve-label")
        self.assertLessEqual({CHOSEN, "all accesses, whole trace"}, set(labels))
        self.assertIn("Curves and fields are of the chosen time and threads", self.texts("#part-reuse > .whole-note")[0])

    def half_of_accounts(self):
        """The page of one thread, and the bin in which half of its accesses are done."""
        trace = page_of_accounts()
        self.data = page_data(*OPTIONS, trace)
        self.axis = objects(table(self.data["places"], "moment_axis"))[0]
        return trace, self.last_bin()

    def test_the_curve_of_a_chosen_time_is_that_of_reuse_until_then(self):
        trace, last = self.half_of_accounts()
        expected = self.curve("--to", self.border(last), trace=trace)
        self.choose("part-reuse", f"time=0-{last}", trace)
        shown = self.shown_curve()
        whole = self.curve(trace=trace)
        self.assertTrue(any(abs(whole[size] - ratio) > 0.005 for size, ratio in expected.items() if size in whole), "time matters")
        for size in shown.keys() & expected.keys():
            self.assertAlmostEqual(shown[size], expected[size], delta=0.01, msg=size)

    def curves_of_fields(self, *options, trace=None):
        """{field: {bytes: miss ratio}} at powers of two."""
        curves = {}
        for row in table(answer("reuse", "--by", "field", *options, trace=trace), "group_curves")["rows"]:
            if row["cache_bytes"] & (row["cache_bytes"] - 1) == 0:
                curves.setdefault(row["name"], {})[row["cache_bytes"]] = row["miss_ratio"]
        return curves

    def test_the_table_of_fields_is_that_of_reuse(self):
        said = table(answer("reuse", "--thread", "2", "--by", "field", "--top", "0"), "fields")["rows"]
        expected = {row["field"]: row for row in said}
        self.choose("part-reuse", "threads=2")
        heads, *rows = self.shown("part-reuse", "Fields")
        self.assertGreater(len(rows), 3)
        sizes = [column for column in said[0] if column.startswith("miss_ratio_")]
        for field, shown in rows_of([heads, *rows]).items():
            row = expected[field]
            self.assertEqual([number(shown[head]) for head in ("accesses", "references")], [row["accesses"], row["references"]], field)
            self.assertAlmostEqual(share(shown["first"]), row["cold"], delta=0.001, msg=field)
            for head, column in (("median distance", "median_distance"), ("90th percentile", "p90_distance")):
                # Rounded down to a power of two.
                exact = row[column]
                floor = 1 << (exact.bit_length() - 1) if exact else exact
                self.assertEqual(shown[head], "–" if floor is None else f"{floor:,}", (field, head))
            for head, column in zip([head for head in heads if head.startswith("misses in")], sizes, strict=True):
                size = int(column.removeprefix("miss_ratio_"))
                is_estimated = size & (size - 1) != 0
                self.assertAlmostEqual(share(shown[head]), row[column], delta=0.1 if is_estimated else 0.0006, msg=(field, head))
        # The others of the first 24 fields are not accessed by that thread.
        whole = [row[0] for row in table(self.data["reuse"], "fields")["rows"]]
        self.assertEqual({row[0] for row in rows}, set(whole) & expected.keys())

    def test_curves_of_fields_are_those_of_reuse(self):
        expected = self.curves_of_fields("--thread", "2")
        self.choose("part-reuse", "threads=2")
        fields = [row[0] for row in self.shown("part-reuse", "Fields")[1:]]
        self.assertGreater(sum(len(curve) for curve in expected.values()), 20)
        for field in fields[:5]:
            shown = self.shown_curve(field)
            self.assertLessEqual(expected[field].keys(), shown.keys(), field)
            for size in shown.keys() & expected[field].keys():
                self.assertAlmostEqual(shown[size], expected[field][size], delta=0.001, msg=(field, size))
        self.assertIn(fields[0], self.texts("#part-reuse svg .curve-label"))

    def test_the_view_of_a_field_has_its_curve_of_the_choice(self):
        field = self.field_of_thread_2()
        expected = self.curves_of_fields("--thread", "2")[field]
        self.choose("entity", f"field={field}&threads=2")
        shown = self.shown_curve(f"{field}, {CHOSEN}", "entity")
        for size in shown.keys() & expected.keys():
            self.assertAlmostEqual(shown[size], expected[size], delta=0.001, msg=size)
        legends = self.texts("#entity .choices label")
        self.assertEqual(legends, [f"{field}, {CHOSEN}", "all accesses, whole trace", f"{field}, whole trace"])

    def field_of_thread_2(self):
        fields = [row[0] for row in table(self.data["reuse"], "fields")["rows"]]
        of_thread = table(answer("reuse", "--thread", "2", "--by", "field", "--top", "0"), "fields")["rows"]
        return next(row["field"] for row in of_thread if row["field"] in fields and row["field"].startswith("slot."))

    def test_fields_of_a_chosen_time_are_those_of_reuse_until_then(self):
        trace, last = self.half_of_accounts()
        until = self.curves_of_fields("--to", self.border(last), trace=trace)
        whole = self.curves_of_fields(trace=trace)
        self.choose("part-reuse", f"time=0-{last}", trace)
        fields = [row[0] for row in self.shown("part-reuse", "Fields")[1:]]
        differences = []
        for field in fields[:4]:
            shown = self.shown_curve(field)
            for size in shown.keys() & until[field].keys():
                self.assertAlmostEqual(shown[size], until[field][size], delta=0.01, msg=(field, size))
                differences.append(abs(until[field][size] - whole[field].get(size, 0)))
        self.assertGreater(max(differences), 0.02, "time matters")

    def test_fields_without_room_for_their_times_say_so(self):
        fields = [row[0] for row in table(self.data["reuse"], "fields")["rows"]]

        def cut(data):
            part = next(part for part in data["parts"] if part["name"] == "reuse")
            moments = table(part, "field_reuse_moments")
            moments["rows"] = [row for row in moments["rows"] if row[0] < 2]
            return data

        with tools.folder() as folder:
            trace = Path(folder) / "cut"
            Path(f"{trace}.html").write_text(with_data(Path(f"{self.trace}.html").read_text(), cut))
            self.choose("part-reuse", "threads=0,1,2,3,4", trace)
            note = self.texts("#part-reuse > .whole-note")[0]
            self.assertIn(f"For the times of {len(fields) - 2} fields the page has no room", note)
            self.assertEqual({row[0] for row in self.shown("part-reuse", "Fields")[1:]}, set(fields[:2]))
            curves = self.texts("#part-reuse .choices label")
            self.assertEqual(curves[2:4], fields[:2])
            self.assertIn(f"{fields[2]}, whole trace", curves)
            self.choose("entity", f"field={fields[2]}&threads=2", trace)
            notes = self.texts("#entity .whole-note")
            self.assertTrue(any("the page has no times of this field" in note for note in notes), notes)

    def test_the_part_is_accessible_while_something_is_chosen(self):
        self.choose("part-reuse", "threads=2")
        self.assertEqual(self.serious_findings("#part-reuse"), [])
