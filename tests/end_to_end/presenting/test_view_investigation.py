"""The page of `trackway view` as an investigation: cards, views of single fields with addresses, search and paths of calls, each by
clicks and keys, with the numbers of the verbs."""

import collections
import itertools
import json
from pathlib import Path

from ..support import tools
from ..support.pages.shared_browser import unexplained, with_data
from ..support.pages.view_pages import OPTIONS, Investigation, objects, page_data, page_of_accounts, page_of_comparison, shared_page
from ..support.tools import table


class Cards(Investigation):
    def test_cards_are_those_of_advise(self):
        trace = page_of_accounts()
        advice = json.loads(tools.trackway("advise", "--json", *OPTIONS, trace).stdout)
        cards = table(advice, "cards")["rows"]
        self.assertIn("split", [card["change"] for card in cards])
        self.open(trace)
        self.assertEqual(self.texts("#overview .answer")[0], advice["answer"])
        shown = self.texts("#overview .cards h3")
        self.assertEqual(shown, [f"{card['change'].capitalize()} of {card['of']}" for card in cards])
        gains = self.texts("#overview .cards .share strong")
        self.assertEqual(gains, [f"{card['saves'] * 100:.1f} %" for card in cards])
        # Each has the line that costs most of those which access the members that it is about.
        quotes = dict(zip((card["change"] for card in cards), self.texts("#overview .cards .quote"), strict=True))
        self.assertIn("PARENT(account)", quotes["split"])
        self.assertIn(".number = i", quotes["leave out"])
        self.assertIn("the whole run", " ".join(self.texts("#overview .status")))

    def test_a_changed_layout_is_drawn_before_and_after(self):
        trace = page_of_accounts()
        moves = objects(table(page_data(*OPTIONS, trace)["advice"], "card_moves"))
        parent = next(move for move in moves if move["member"] == "parent")
        self.assertEqual((parent["part"], parent["offset"], parent["part_size"], parent["size"]), (0, 0, 4, 4))
        layout = json.loads(tools.trackway("layout", "--json", "--type", "account", trace).stdout)
        offsets = {row["member"]: row["offset_bytes"] for row in table(layout, "members")["rows"]}
        self.assertTrue(all(offsets[move["member"]] == move["old_offset"] for move in moves))
        self.open(trace)
        titles = self.texts(".before-after svg > .tick:first-child")
        self.assertEqual(titles[0], "before: 128 bytes each")
        self.assertIn("after, part 1: 4 bytes each", titles)

    def test_a_large_trace_is_looked_at_in_its_middle_and_none_on_request(self):
        trace = page_of_accounts()
        advice = page_data(*OPTIONS, "--look", "1M", trace)["advice"]
        self.assertRegex(objects(table(advice, "looked_at"))[0]["part"], r"in the middle of its records \(--look 1 MiB\)$")
        self.assertNotIn("advice", page_data("--look", "0", trace))

    def test_a_machine_that_is_unknown_is_no_reason_for_no_page(self):
        trace = page_of_accounts()
        advice = page_data("--cache", "none", trace)["advice"]
        self.assertIn("No changes were looked for", advice["answer"])


class Numbers(Investigation):
    """The joint counts against passes that count each by itself."""

    def setUp(self):
        super().setUp()
        self.trace = shared_page()
        self.part = page_data(self.trace)["places"]
        self.places = objects(table(self.part, "places"))

    def test_folded_stacks_of_a_thread_are_of_that_thread(self):
        target = self.trace.parent / "thread.folded"
        tools.trackway("export", "-q", "-f", "--to", "folded", "--thread", "2", "-o", target, self.trace)
        exported = sum(int(line.rpartition(" ")[2]) for line in target.read_text().splitlines())
        rows = objects(table(self.part, "path_moments"))
        self.assertEqual(exported, sum(row["accesses"] for row in rows if row["stream"] == 2))

    def test_places_are_sums_of_the_report(self):
        for key, name in (("field", "fields"), ("function", "functions"), ("type", "types")):
            report = table(tools.report(self.trace, "--top", "0", "--by", key), name)["rows"]
            for measure in ("accesses", "bytes", "l1_misses", "l2_misses", "l3_misses"):
                sums = collections.Counter()
                for place in self.places:
                    sums[place[key]] += place[measure]
                self.assertEqual(sums, collections.Counter({row[key]: row[measure] for row in report}), (key, measure))

    def test_times_threads_and_paths_hold_every_access(self):
        threads = table(tools.report(self.trace, "--by", "thread"), "threads")["rows"]
        moments, paths = (objects(table(self.part, name)) for name in ("place_moments", "place_paths"))
        for measure in ("accesses", "bytes", "l1_misses", "l2_misses"):
            by_stream, by_place, on_paths = (collections.Counter() for _ in range(3))
            for row in moments:
                by_stream[row["stream"]] += row[measure]
                by_place[row["place"]] += row[measure]
            for row in paths:
                on_paths[row["place"]] += row[measure]
            whole = collections.Counter({number: place[measure] for number, place in enumerate(self.places)})
            self.assertEqual(by_stream, collections.Counter({row["stream"]: row[measure] for row in threads}), measure)
            self.assertEqual((by_place, on_paths), (whole, whole), measure)

    def test_paths_by_thread_and_time_hold_every_access(self):
        moments, paths, by_both = (objects(table(self.part, name)) for name in ("place_moments", "place_paths", "path_moments"))
        self.assertEqual(objects(table(self.part, "moment_axis"))[0]["folded_share"], 0, "all paths of this program have room")

        def sums(rows, keys, measure):
            found = collections.Counter()
            for row in rows:
                found[tuple(row[key] for key in keys)] += row[measure]
            return found

        for measure in ("accesses", "bytes", "l1_misses", "l2_misses"):
            for keys, rows in ((("place", "stream", "bin"), moments), (("place", "node"), paths)):
                self.assertEqual(sums(by_both, keys, measure), sums(rows, keys, measure), (keys, measure))

    def test_bins_are_those_of_a_slice(self):
        axis = objects(table(self.part, "moment_axis"))[0]
        moments = objects(table(self.part, "place_moments"))
        half = axis["bins"] // 2
        border = axis["first_ns"] + half * axis["bin_ns"]
        early = sum(row["accesses"] for row in moments if row["bin"] < half)
        report = tools.report(self.trace, "--to", f"{border}ns", "--by", "kind")
        sliced = sum(row["accesses"] for row in table(report, "kinds")["rows"])
        # Both spread accesses evenly between known times; a slice cuts at records.
        self.assertAlmostEqual(early / sliced, 1, delta=0.05)

    def test_paths_are_those_of_the_export(self):
        nodes = {row["node"]: row for row in objects(table(self.part, "path_nodes"))}
        stacks = collections.Counter()
        for row in objects(table(self.part, "place_paths")):
            names, node = [], row["node"]
            while node in nodes:
                names.append(nodes[node]["function"])
                node = nodes[node]["parent"]
            stacks[";".join(reversed(names))] += row["accesses"]
        target = self.trace.parent / "kvstore.folded"
        tools.trackway("export", "-q", "-f", "--to", "folded", "--measure", "accesses", "-o", target, self.trace)
        expected = collections.Counter()
        for line in target.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            expected[stack.replace("_[i]", "")] += int(count)
        self.assertEqual(stacks, expected)


class Views(Investigation):
    def setUp(self):
        super().setUp()
        self.trace = shared_page()

    def test_a_click_on_a_field_opens_its_view_with_an_address(self):
        self.open(self.trace)
        # Which field comes first depends on how the threads ran.
        name = self.browser.evaluate("document.querySelector('#misses tbody a').textContent")
        self.assertRegex(name, r"^\w+\.\w+$")
        self.browser.evaluate("document.querySelector('#misses tbody a').click()")
        self.frame()
        self.assertEqual(self.browser.evaluate("location.hash"), f"#field={name}")
        self.assertEqual(self.texts("#entity h2"), [f"Field {name}"])
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "entity-title")
        self.assertFalse(self.browser.evaluate("document.querySelector('#audit').checkVisibility()"))
        self.browser.evaluate("history.back()")
        self.browser.evaluate("new Promise(done => setTimeout(done, 200))")
        self.assertTrue(self.browser.evaluate("document.querySelector('#audit').checkVisibility()"))

    def test_an_address_opens_the_view_with_the_numbers_of_the_report(self):
        self.open(self.trace, "#field=slot.key")
        lines = table(tools.report(self.trace, "--top", "0", "--by", "site"), "sites")["rows"]
        expected = collections.Counter()
        for row in lines:
            if row["field"] == "slot.key":
                expected[str(row["line"])] += row["accesses"]
        shown = self.tables("#entity")["By line"]
        accesses = shown[0].index("accesses")
        self.assertEqual({row[1]: int(row[accesses].replace(",", "")) for row in shown[1:]}, dict(expected))
        self.assertEqual(shown[0][-1], "source", "numbers stand before the source")
        tables = self.tables("#entity")
        self.assertEqual({row[0] for row in tables["By thread"][1:]}, {"1", "2", "3", "4"})
        self.assertIn("slot.key", self.texts("#entity svg .curve-label"))
        # The map's own count of the site's memory: all of it from one call of an allocator.
        memory = tables["By memory"][1:]
        self.assertTrue(all("calloc at" in row[0] for row in memory), memory)
        self.assertEqual(sum(int(row[2].replace(",", "")) for row in memory), sum(expected.values()))
        self.assertGreater(len(self.texts("#entity .flame .frame")), 2)

    def test_marked_memory_is_in_sight(self):
        self.open(page_of_accounts(), "#field=account.balance")
        self.browser.click("#entity button", "Mark its memory on the map")
        self.settle()
        self.assertEqual(self.browser.evaluate("location.hash"), "#part-map")
        self.assertTrue(0 <= self.top("#part-map") < 300, self.top("#part-map"))
        self.browser.evaluate("history.back()")
        self.settle()
        self.assertEqual(self.texts("#entity h2"), ["Field account.balance"])

    def test_a_line_leads_from_its_view_to_the_source(self):
        self.open(self.trace, "#field=slot.key&threads=2")
        self.browser.click("#entity td a")
        self.settle()
        self.assertRegex(self.browser.evaluate("document.activeElement.id"), r"^source-\d+-\d+$")
        self.assertTrue(0 <= self.top(":focus") < 1000, self.top(":focus"))

    def test_an_unknown_name_says_so(self):
        self.open(self.trace, "#field=nothing.like_it")
        self.assertIn("holds no accesses of that name", self.texts("#entity")[0])

    def test_search_by_keys_leads_to_a_function(self):
        self.open(self.trace)
        self.browser.press("/", text="/")
        self.assertEqual(self.browser.evaluate("document.activeElement.type"), "search")
        for letter in "slot_o":
            self.browser.press(letter, text=letter)
        found = self.texts("#search-list [role=option]")
        self.assertTrue(any("slot_of" in text and "function" in text for text in found), found)
        while "function" not in self.texts("#search-list [aria-selected=true]")[0]:
            self.browser.press("ArrowDown", code=40)
        self.browser.press("Enter", code=13)
        self.frame()
        self.assertEqual(self.browser.evaluate("location.hash"), "#function=slot_of")
        self.assertEqual(self.texts("#entity h2"), ["Function slot_of"])

    def test_search_finds_terms_sections_and_allocation_sites(self):
        self.open(self.trace)
        for word, kind in (("working", "term"), ("audit", "section"), ("size.h:27", "allocation site")):
            self.browser.evaluate(
                f"(() => {{ const box = document.querySelector('.search input'); box.value = {word!r};"
                " box.dispatchEvent(new Event('input')); })()"
            )
            self.assertTrue(any(text.startswith(kind) for text in self.texts("#search-list li")), word)

    def test_the_map_shows_misses(self):
        self.open(self.trace)
        choices = self.texts("#part-map select option")
        self.assertIn("L2 misses", choices)
        missed = page_data(self.trace)["missed_map"]
        cells = objects(table(missed, "map_cells"))
        finest = max(cell["level"] for cell in cells)
        whole = sum(cell["reads"] + cell["writes"] for cell in cells if cell["level"] == finest)
        kinds = table(tools.report(self.trace, "--by", "kind"), "kinds")["rows"]
        self.assertEqual(whole, sum(row["l2_misses"] for row in kinds))
        self.browser.evaluate(
            "(() => { const box = document.querySelector('#part-map select'); box.value = 'missed';"
            " box.dispatchEvent(new Event('change')); document.querySelector('#part-map canvas').focus(); })()"
        )
        self.browser.press("ArrowLeft")
        self.assertRegex(self.texts("#part-map .readout")[0], r"L2 misses$")

    def test_terms_are_explained_by_keyboard(self):
        self.open(self.trace)
        self.browser.evaluate("document.querySelector('#misses .explain').focus()")
        self.browser.press("Enter", code=13, text="\r")
        shown = self.browser.evaluate("document.querySelector('#misses .terms').checkVisibility()")
        self.assertTrue(shown)
        self.assertIn("L2 misses", self.texts("#misses .terms dt"))
        self.assertIn("working set", self.texts("#terms dt"))

    def test_every_head_of_numbers_is_explained(self):
        pages = [(self.trace, fragment) for fragment in ("", "#overview&time=0-40&threads=0,2", "#field=slot.key")]
        pages += [(page_of_accounts(), ""), (page_of_comparison(), "")]
        for trace, fragment in pages:
            self.open(trace, fragment)
            self.assertEqual(unexplained(self.browser), [], (trace, fragment))
        self.open(self.trace)
        for part in ("overview", "flame", "activity"):
            self.assertIn("accesses", self.texts(f"#{part} > .explained dt"), part)

    def test_bookkeeping_stands_in_the_audit_alone(self):
        self.open(self.trace)
        elsewhere = self.texts("main > section:not(#audit) caption")
        for title in ("Trace", "Attribution", "Order between threads"):
            self.assertNotIn(title, elsewhere)
            self.assertEqual(self.texts("#audit caption").count(title), 1)


class Flame(Investigation):
    def test_frames_zoom_by_keys_and_widths_are_shares(self):
        self.open(shared_page(), "#flame")
        self.browser.evaluate(
            "(() => { const box = document.querySelector('#flame select'); box.value = '0';"
            " box.dispatchEvent(new Event('change')); document.querySelector('#flame .flame').focus(); })()"
        )
        widths = (
            "[...document.querySelectorAll('#flame .frame.function')].map(f =>"
            " [f.textContent, Number(f.style.getPropertyValue('--part'))])"
        )
        before = dict(self.browser.evaluate(widths))
        self.browser.press("ArrowDown")
        self.browser.press("Enter", code=13)
        top = self.browser.evaluate("document.querySelector('#flame .frame').textContent")
        self.assertEqual(top, max(before, key=before.get))
        self.assertEqual(dict(self.browser.evaluate(widths))[top], 1)
        self.browser.press("Backspace", code=8)
        self.assertEqual(dict(self.browser.evaluate(widths)), before)
        self.assertRegex(self.texts("#flame .readout")[0], r"accesses, [\d.]+ %")

    def choose(self, fragment):
        self.open(shared_page(), "")
        self.browser.evaluate(f"location.hash = {fragment!r}")
        self.browser.evaluate("new Promise(done => setTimeout(done, 200))")
        self.browser.evaluate(
            "(() => { const box = document.querySelector('#flame select'); box.value = '0';"
            " box.dispatchEvent(new Event('change')); document.querySelector('#flame details').open = true; })()"
        )
        self.frame()

    def functions(self):
        """Own accesses of each function on the paths."""
        rows = next(iter(self.tables("#flame").values()))
        at = rows[0].index("own accesses")
        return {row[0]: int(row[at].replace(",", "")) for row in rows[1:] if row[at] != "0"}

    def reported(self, *options):
        """The same by the verb that reads that part of the trace alone."""
        report = tools.report(shared_page(), "--top", "0", "--by", "function", *options)
        return {row["function"]: row["accesses"] for row in table(report, "functions")["rows"]}

    def test_frames_are_those_of_a_chosen_thread(self):
        self.choose("#flame&threads=2")
        expected = self.reported("--thread", "2")
        self.assertEqual(self.functions(), expected)
        whole = self.reported()
        self.assertLess(max(expected.values()), max(whole.values()))
        self.assertEqual(self.texts("#flame .whole-note"), [])
        self.assertIn("sums of the chosen time and threads", self.texts("#flame figcaption")[0])
        # Without a choice they are those of the whole run again.
        self.browser.evaluate("document.querySelector('.selection button').click()")
        self.frame()
        self.browser.evaluate("document.querySelector('#flame details').open = true")
        self.frame()
        self.assertEqual(self.functions(), whole)

    def test_frames_are_those_of_a_chosen_time_and_thread(self):
        data = page_data(shared_page())["places"]
        axis = objects(table(data, "moment_axis"))[0]
        rows = objects(table(data, "place_moments"))
        # Half of what the thread does is done by then, whenever it was started.
        moments = collections.Counter()
        for row in rows:
            if row["stream"] == 3:
                moments[row["bin"]] += row["accesses"]
        done = itertools.accumulate(moments[at] for at in range(axis["bins"]))
        last = next(at for at, accesses in enumerate(done) if 2 * accesses >= moments.total())
        border = axis["first_ns"] + (last + 1) * axis["bin_ns"]
        expected = self.reported("--to", f"{border}ns", "--thread", "3")
        self.choose(f"#flame&time=0-{last}&threads=3")
        shown = self.functions()
        chosen = sum(row["accesses"] for row in rows if row["bin"] <= last and row["stream"] == 3)
        said = self.texts("#flame .readout")[0]
        self.assertTrue(said.startswith(f"all: {chosen:,} accesses, 100.0 %"), (said, chosen))
        # Both spread accesses evenly between known times; a slice cuts at records.
        total = sum(expected.values())
        self.assertGreater(total, 1000)
        self.assertAlmostEqual(sum(shown.values()) / total, 1, delta=0.05)
        for name in {*shown, *expected}:
            self.assertAlmostEqual(shown.get(name, 0) / total, expected.get(name, 0) / total, delta=0.05, msg=name)

    def test_the_frames_of_one_field_are_of_the_chosen_thread(self):
        report = table(tools.report(shared_page(), "--top", "0", "--by", "field", "--thread", "2"), "fields")["rows"]
        expected = next(row["accesses"] for row in report if row["field"] == "slot.key")
        self.open(shared_page(), "#field=slot.key&threads=2")
        self.browser.evaluate(
            "(() => { const box = document.querySelector('#entity select'); box.value = '0';"
            " box.dispatchEvent(new Event('change')); })()"
        )
        self.assertTrue(self.texts("#entity .readout")[-1].startswith(f"all: {expected:,} accesses"), self.texts("#entity .readout"))

    def test_what_is_not_told_apart_is_part_of_its_caller(self):
        """A page whose paths by time were summed up to their first functions."""

        def fold(data):
            part = next(part for part in data["parts"] if part["name"] == "places")
            found = {each["name"]: each for each in part["tables"]}
            names = [column["name"] for column in found["path_moments"]["columns"]]
            for row in found["path_moments"]["rows"]:
                row[names.index("place")] = None
            axis = found["moment_axis"]
            at = [column["name"] for column in axis["columns"]].index("folded_share")
            axis["rows"][0][at] = 0.01
            return data

        with tools.folder() as folder:
            path = Path(folder) / "folded.html"
            path.write_text(with_data(Path(f"{shared_page()}.html").read_text(), fold))
            self.browser.open(f"file://{path}#flame&threads=2")
            self.frame()
            self.assertEqual(self.texts("#flame .frame.line"), [])
            self.assertGreater(len(self.texts("#flame .frame.function, #flame .frame.inlined")), 1)
            self.assertIn("less than 1.0 % of what a thread costs", self.texts("#flame figcaption")[0])
            self.browser.open("about:blank")
            self.browser.open(f"file://{path}#field=slot.key&threads=2")
            self.frame()
            self.assertEqual(self.texts("#entity .flame .frame"), ["all"])
            self.assertIn("are in the first frame alone", " ".join(self.texts("#entity figcaption")))


class Comparison(Investigation):
    def test_two_traces_are_compared_as_by_diff(self):
        before, after = shared_page(), page_of_comparison()
        said = json.loads(tools.trackway("diff", "--json", "--by", "field", before, after).stdout)
        expected = table(said, "fields_l2_misses")["rows"]
        self.open(after)
        shown = next(rows for title, rows in self.tables("#comparison").items() if title.startswith("Fields"))
        self.assertEqual([row[0] for row in shown[1:]][:5], [row["field"] for row in expected][:5])
        first = shown[1][shown[0].index("after")].replace(",", "")
        self.assertEqual(int(first), expected[0]["after"])
        self.assertIn(said["answer"], self.texts("#comparison p"))
        self.assertIn(str(before), " ".join(self.texts("#comparison td")))
        bookkeeping = ("Attribution", "Trace")
        self.assertFalse([title for title in self.texts("#comparison caption") if title.startswith(bookkeeping)])
        self.assertTrue([title for title in self.texts("#audit caption") if title.startswith("Attribution: shares that changed")])


    def test_what_is_gone_in_the_second_trace_says_so(self):
        def lose(data):
            part = next(part for part in data["parts"] if part["name"] == "comparison")
            fields = table(part, "fields_l2_misses")
            row = {"field": "slot.lost", "before": 900_000, "after": 0, "change": -900_000, "ratio": 0.0, "state": "gone"}
            fields["rows"].insert(0, [row.get(column["name"]) for column in fields["columns"]])
            fields["row_count"] += 1
            return data

        with tools.folder() as folder:
            path = Path(folder) / "gone.html"
            path.write_text(with_data(Path(f"{page_of_comparison()}.html").read_text(), lose))
            self.browser.open(f"file://{path}")
            self.browser.click("#comparison a", "slot.lost")
            self.frame()
            self.assertEqual(self.texts("#entity h2"), ["Field slot.lost"])
            self.assertIn("gone in the second trace", self.texts("#entity > p")[1])
            self.assertIn("900,000", self.texts("#entity td"))
            self.browser.open("about:blank")
            self.browser.open(f"file://{path}#field=slot.nothing")
            self.frame()
            self.assertIn("holds no accesses of that name", self.texts("#entity > p")[1])
