"""One choice of time and threads for all parts of the page: each has the numbers of the verbs that read that part of the trace
alone, or says what it shows."""

import itertools
from pathlib import Path

from ..support import tools
from ..support.pages.shared_browser import with_data
from ..support.pages.view_pages import Investigation, objects, page_data, shared_page
from ..support.tools import table


class Choice(Investigation):
    def setUp(self):
        super().setUp()
        self.trace = shared_page()

    def accesses(self):
        self.browser.evaluate("document.querySelector('#misses .more').click()")
        rows = next(iter(self.tables("#misses").values()))
        return {row[0]: int(row[rows[0].index("accesses")].replace(",", "")) for row in rows[1:]}

    def test_a_thread_is_chosen_for_all_parts(self):
        self.open(self.trace, "#misses&threads=2")
        report = table(tools.report(self.trace, "--top", "0", "--by", "field", "--thread", "2"), "fields")["rows"]
        self.assertEqual(self.accesses(), {row["field"]: row["accesses"] for row in report})
        self.assertIn("thread 2", self.texts(".selection summary")[0])
        notes = self.texts("#part-layout .whole-note")
        self.assertIn(f"trackway layout --thread 2 {shared_page()}", notes[0])

    def test_a_choice_without_accesses_says_so(self):
        moments = objects(table(page_data(self.trace)["places"], "place_moments"))
        active = {(row["stream"], row["bin"]) for row in moments}
        streams, bins = ({moment[at] for moment in active} for at in (0, 1))
        stream, bin_ = next(found for found in itertools.product(sorted(streams), sorted(bins)) if found not in active)
        self.open(self.trace, f"#misses&time={bin_}-{bin_}&threads={stream}")
        summed = [f"{part} .redrawn > .status" for part in ("#overview", "#part-layout", "#part-reuse")]
        for part in ("#misses", "#source", ".selection summary", "#flame figcaption", *summed):
            self.assertRegex(self.texts(part)[0], "(hold|holds) no accesses", part)
        self.assertEqual(self.texts("#misses table, #source table"), [])
        self.browser.evaluate("document.querySelector('.selection > button').click()")
        self.assertEqual(len(self.texts("#misses table, #source table")), 2)

    def test_each_part_obeys_the_choice_or_says_what_it_shows(self):
        self.open(self.trace, "#misses&time=3-9&threads=2")
        self.assertIn("of the chosen time and threads", self.texts("#part-map > .whole-note")[0])
        self.assertEqual(self.texts("#activity svg .end"), ["thread 2"])
        axis = objects(table(page_data(self.trace)["places"], "moment_axis"))[0]
        marked, whole = self.browser.evaluate(
            "[document.querySelector('#activity .chosen').width.baseVal.value,"
            " document.querySelector('#activity svg').viewBox.baseVal.width - 76]"
        )
        activity = objects(table(page_data(self.trace)["activity"], "activity_axis"))[0]
        length = activity["bins"] * activity["bin_ns"]
        self.assertAlmostEqual(marked / whole, 7 * axis["bin_ns"] / length, delta=0.01)
        summed = {"misses", "source", "flame", "audit", "terms"}
        silent = self.browser.evaluate(
            "[...document.querySelectorAll('main > section:not(#entity)')]"
            ".filter(part => ![...part.querySelectorAll('.whole-note')].some(note => note.checkVisibility())).map(part => part.id)"
        )
        self.assertEqual(set(silent), summed)
        self.browser.evaluate("document.querySelector('.selection > button').click()")
        self.assertGreater(len(self.texts("#activity svg .end")), 1)
        self.assertEqual(self.texts("#activity .chosen"), [])

    def test_places_that_the_page_has_no_room_for_are_told(self):
        def cut(data):
            for part in data["parts"]:
                for each in part["tables"]:
                    if each["name"] == "place_moments":
                        each["total_rows"] = each["row_count"] + 1
            return data

        with tools.folder() as folder:
            path = Path(folder) / "cut.html"
            path.write_text(with_data(Path(f"{self.trace}.html").read_text(), cut))
            self.browser.open(f"file://{path}#misses&threads=2")
            self.frame()
            self.assertIn("lack the least accessed places", self.texts(".selection summary")[0])

    def test_a_range_of_time_is_chosen_by_keys_and_kept_in_the_address(self):
        self.open(self.trace)
        before = sum(self.accesses().values())
        self.browser.evaluate("document.querySelector('.selection').open = true")
        self.browser.evaluate("document.querySelector('.selection .time-bars').focus()")
        self.browser.press("ArrowRight")
        for _ in range(11):
            self.browser.call(
                "Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39, modifiers=8
            )
        self.assertEqual(self.browser.evaluate("location.hash"), "#time=0-11")
        moments = objects(table(page_data(self.trace)["places"], "place_moments"))
        early = sum(row["accesses"] for row in moments if row["bin"] <= 11)
        shown = sum(self.accesses().values())
        self.assertEqual(shown, early)
        self.assertLess(shown, before)
        self.browser.evaluate("document.querySelector('#misses tbody a').click()")
        self.frame()
        self.assertRegex(self.browser.evaluate("location.hash"), r"^#field=.*&time=0-11$")
        self.browser.press("Escape")
        self.browser.evaluate("document.querySelector('.selection button').click()")
        self.assertNotIn("time", self.browser.evaluate("location.hash"))
