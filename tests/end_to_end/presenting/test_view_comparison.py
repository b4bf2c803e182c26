"""`trackway view BEFORE AFTER`: cards, paths of calls, structures, curves and maps of both traces, with the numbers of each."""

import atexit
import json
import re
from pathlib import Path

from ..support import tools
from ..support.pages.shared_browser import cut_rankings, unexplained, with_data
from ..support.pages.view_pages import ACCOUNTS, OPTIONS, Investigation, objects, page_data
from ..support.tools import table


def traces():
    """A program before and after the split of a structure, and the page that compares both."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        made = []
        for name, options in (("before", ()), ("after", ("-DSPLIT",))):
            program = tools.compile_traced(Path(folder.name) / name, [ACCOUNTS], "-O2", "-g", *options, oracle=False)
            made.append(Path(folder.name) / f"{name}.trackway")
            tools.record(made[-1], program, "6000")
        tools.trackway("view", "-q", *OPTIONS, *made)
        return made

    return tools.once("traces before and after a split", make)


def compared_data():
    return tools.once("data of a comparison", lambda: json.loads(tools.trackway("view", "--json", "-q", *OPTIONS, *traces()).stdout))


def misses(trace, key, name):
    """L2 misses of a trace by what `report` groups them by."""
    report = tools.report(trace, "--cache", OPTIONS[-1], "--top", "0", "--by", key)
    return {row[key]: row["l2_misses"] for row in table(report, name)["rows"]}


def shown_number(text):
    return int(text.replace(",", "").replace("−", "-").replace("+", ""))


class BothTraces(Investigation):
    def setUp(self):
        super().setUp()
        self.before, self.after = traces()
        self.open(self.after)

    def choose(self, selector, value):
        self.browser.evaluate(
            f"(() => {{ const box = document.querySelector({selector!r}); box.value = {value!r};"
            " box.dispatchEvent(new Event('change')); })()"
        )

    def test_each_chart_of_the_comparison_has_its_heading(self):
        expected = [
            "What to change, in both traces",
            "Numbers that changed",
            "Paths of calls that changed",
            "Structures of both traces",
            "Miss ratio of both traces, by the size of the cache",
            "Memory over time, of both traces",
        ]
        self.assertEqual(self.texts("#comparison h3"), expected)

    def test_cards_of_both_traces_stand_beside_each_other(self):
        columns = [self.texts(f"#comparison .compared > div:nth-child({column}) li") for column in (1, 2)]
        for trace, shown in zip((self.before, self.after), columns, strict=True):
            advice = json.loads(tools.trackway("advise", "--json", "--top", "10", *OPTIONS, trace).stdout)
            cards = table(advice, "cards")["rows"]
            self.assertEqual(len(shown), len(cards))
            for text, card in zip(shown, cards, strict=True):
                self.assertIn(f"{card['change'].capitalize()} of {card['of']}", text)
                self.assertIn(f"{card['saves'] * 100:.1f} %", text)
        gain = next(card["saves"] for card in cards if card["change"] == "split")
        self.assertIn(f"still advised in the second trace, for {gain * 100:.1f} %", columns[0][0])

    def test_a_card_that_vanished_says_so(self):
        """The data with the second trace's split left out."""
        def lose(data):
            part = next(part for part in data["parts"] if part["name"] == "advice")
            cards = table(part, "cards")
            cards["rows"] = [row for row in cards["rows"] if "split" not in row]
            return data

        with tools.folder() as folder:
            path = Path(folder) / "vanished.html"
            path.write_text(with_data(Path(f"{self.after}.html").read_text(), lose))
            self.browser.open(f"file://{path}")
            first = self.texts("#comparison .compared > div:nth-child(1) li")
        self.assertIn("Split of account", first[0])
        self.assertIn("not advised in the second trace", first[0])

    def test_frames_say_what_they_cost_in_both_traces(self):
        before, after = (misses(trace, "function", "functions") for trace in (self.before, self.after))
        frames = self.browser.evaluate(
            "[...document.querySelectorAll('#comparison .frame')].map(frame => [frame.className, frame.title, frame.textContent])"
        )
        found = {title.split(":")[0].removesuffix(" (inlined)"): (kind, title, text) for kind, title, text in frames}
        kind, title, _ = found["open_accounts"]
        numbers = f"{after['open_accounts']:,} L2 misses in the second trace, {before['open_accounts']:,} in the first: +"
        self.assertTrue(title.startswith(f"open_accounts (inlined): {numbers}"), title)
        self.assertIn(" more", kind)
        # The search for a group was inlined into it, and costs much less now.
        self.assertIn(" fewer", found["transfer"][0])
        whole = [sum(of.values()) for of in (before, after)]
        self.assertIn(f"all: {whole[1]:,} L2 misses in the second trace, {whole[0]:,} in the first: −", found["all"][1])
        change = 100 * (whole[0] - whole[1]) / whole[0]
        self.assertIn(f"−{change:.1f} %", found["all"][2])

    def test_frames_may_be_as_wide_as_in_the_first_trace(self):
        width = "parseFloat([...document.querySelectorAll('#comparison .frame')].find(frame => frame.title.startsWith('group_of'))" \
            ".style.getPropertyValue('--part'))"
        after = self.browser.evaluate(width)
        self.choose("#comparison figure .tools select", "before")
        before = self.browser.evaluate(width)
        self.assertGreater(before, 0.8)
        self.assertLess(after, 0.1)
        self.assertIn("in the first trace", self.texts("#comparison figure figcaption")[0])

    def test_functions_on_the_paths_are_ranked_by_their_change(self):
        self.browser.evaluate("document.querySelectorAll('#comparison figure details').forEach(found => { found.open = true; })")
        self.frame()
        rows = next(rows for title, rows in self.tables("#comparison").items() if title.startswith("Functions on the paths"))
        self.assertEqual(rows[0][:4], ["function", "before", "after", "change"])
        for row in rows[1:]:
            before, after, change = map(shown_number, row[1:4])
            self.assertEqual(after - before, change)
        changes = [abs(shown_number(row[3])) for row in rows[1:]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertEqual([row[0] for row in rows[1:3]], ["group_of", "main"])

    def test_members_have_the_misses_of_both_traces(self):
        before, after = (misses(trace, "field", "fields") for trace in (self.before, self.after))
        rows = self.tables("#comparison")["Members of structures, by change of L2 misses"]
        shown = {row[0]: row for row in rows[1:]}
        for field in ("account.parent", "account.balance", "account.number"):
            numbers = list(map(shown_number, shown[field][1:4]))
            self.assertEqual(numbers, [before[field], after.get(field, 0), after.get(field, 0) - before[field]], field)
        self.assertEqual(shown["account.parent"][-1], "gone")
        self.assertEqual(shown["account.number"][4:6], ["124", "120"])
        drawn = self.browser.evaluate(
            "[...document.querySelectorAll('#comparison .before-after svg')].map(found => found.getAttribute('aria-label'))"
        )
        self.assertRegex(drawn[0], r"^first: 128 bytes in use, .*parent")
        self.assertRegex(drawn[1], r"^second: 124 bytes in use, ")
        self.assertNotIn("parent", drawn[1])

    def test_curves_of_both_traces_are_in_one_chart(self):
        self.assertEqual(sorted(self.texts("#comparison .curve-label")), ["first: all accesses", "second: all accesses"])
        for trace, name in ((self.before, "first"), (self.after, "second")):
            reuse = page_data(*OPTIONS, trace)["reuse"]
            expected = [row["miss_ratio"] for row in objects(table(reuse, "curves")) if row["group"] == "all accesses"]
            own = self.curve(f"{name}: all accesses")
            self.assertEqual(own, expected)
        styles = self.browser.evaluate("[...document.querySelectorAll('#comparison path.curve')].map(path => path.classList.value)")
        self.assertEqual(styles, ["curve curve-0 earlier", "curve curve-0 later"])

    def curve(self, name):
        """The miss ratios of that curve, as its table has them."""
        part, group = ("first", "parts")[name.startswith("second")], name.split(": ")[1]
        found = next(part for part in compared_data()[part] if part["name"] == "reuse")
        return [row["miss_ratio"] for row in objects(table(found, "curves")) if row["group"] == group]

    def test_maps_of_both_traces_have_one_scale_of_time(self):
        self.assertEqual(len(self.texts("#comparison .map")), 2)
        lengths = [max(row["time_bins"] * row["bin_ns"] for row in self.times_of_map(part)) for part in ("first", "parts")]
        self.assertNotEqual(*lengths, "the runs differ in time")
        # The middle of both drawings is the same time, before and after the first one is zoomed into and moved.
        for part, keys in ((0.5, []), (0.375, ["{key: '+'}", "{key: 'ArrowLeft', shiftKey: true}"])):
            for key in keys:
                self.press_on_map(0, key)
            for number, length in enumerate(lengths):
                self.press_on_map(number, "{key: 'ArrowUp'}")
                shown = self.texts("#comparison .map .readout")[number]
                expected = min(part * max(lengths), length)
                self.assertAlmostEqual(self.milliseconds(shown) * 1e6 / max(lengths), expected / max(lengths), delta=0.03, msg=shown)

    def press_on_map(self, number, event):
        self.browser.evaluate(
            f"document.querySelectorAll('#comparison .map canvas')[{number}].dispatchEvent(new KeyboardEvent('keydown', {event}))"
        )

    def milliseconds(self, readout):
        number, unit = re.match(r"([\d.]+) (ms|µs|s),", readout).groups()
        return float(number) * {"s": 1e3, "ms": 1, "µs": 1e-3}[unit]

    def times_of_map(self, part):
        found = next(found for found in compared_data()[part] if found["name"] == "map")
        return objects(table(found, "map_times"))

    def test_tables_are_explained_and_show_what_they_rank_by(self):
        self.assertEqual(unexplained(self.browser), [])
        for width in (1400, 1000):
            self.browser.appear(width, 900, "light")
            self.open(self.after)
            self.assertEqual(cut_rankings(self.browser), [], width)
        self.browser.appear(390, 900, "light")
        self.open(self.after)
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 390)

    def test_axe_finds_nothing_serious(self):
        for width, scheme in ((1400, "light"), (1400, "dark"), (390, "light")):
            self.browser.appear(width, 1000, scheme)
            self.open(self.after)
            self.assertEqual(self.serious_findings("#comparison"), [], (width, scheme))


class Size(Investigation):
    def test_the_first_trace_adds_less_than_a_page_of_its_own(self):
        before, after = traces()
        with tools.folder() as folder:
            alone = Path(folder) / "alone.html"
            tools.trackway("view", "-q", *OPTIONS, "-o", alone, after)
            both = Path(f"{after}.html").stat().st_size
            self.assertLess(both, 1.6 * alone.stat().st_size)

    def test_of_samples_counts_and_saved_reports_the_numbers_alone_are_compared(self):
        before, after = traces()
        with tools.folder() as folder:
            counting = Path(folder) / "counting"
            tools.trackway("cc", "--count", "-O2", "-g", ACCOUNTS, "-o", counting)
            for name, options, program in (("counts", (), counting), ("samples", ("--sample",), after.with_name("after"))):
                pair = [Path(folder) / f"{name}{number}.trackway" for number in (1, 2)]
                for number, trace in enumerate(pair, 1):
                    tools.trackway("record", "-q", *options, "-o", trace, "--", program, str(3000 * number))
                data = json.loads(tools.trackway("view", "--json", "-q", *pair).stdout)
                self.assertEqual(data["first"], [], name)
                compared = next(part for part in data["parts"] if part["name"] == "comparison")
                self.assertGreater(len(compared["tables"]), 2, name)
                tools.trackway("view", "-q", *pair)
                self.open(pair[1])
                self.assertEqual(self.texts("#comparison h3"), ["Numbers that changed"], name)
            saved = Path(folder) / "before.json"
            saved.write_text(tools.trackway("report", "--json", "--top", "0", *OPTIONS[-2:], before).stdout)
            data = json.loads(tools.trackway("view", "--json", "-q", "--look", "0", *OPTIONS, saved, after).stdout)
            self.assertEqual(data["first"], [])
            self.assertIn("comparison", [part["name"] for part in data["parts"]])
