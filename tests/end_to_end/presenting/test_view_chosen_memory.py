"""Memory on the page of `trackway view` for the chosen time and threads: allocations, what was live when, and whose memory was
accessed. The verbs that read that part of the trace alone say the same."""

import collections
from pathlib import Path

from ..support import tools
from ..support.pages.chosen_pages import ChosenPage, answer, number
from ..support.pages.shared_browser import with_data
from ..support.pages.view_pages import objects
from ..support.tools import table


class ChosenMemory(ChosenPage):
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

    def live_at_the_ends(self, streams=None):
        """Bytes that are live at the end of each bin, by row of the table of allocations."""
        live = collections.defaultdict(lambda: [0] * self.axis["bins"])
        for row in objects(table(self.data["memory"], "allocation_moments")):
            if streams is None or row["stream"] in streams:
                for at in range(row["bin"], self.axis["bins"]):
                    live[row["row"]][at] += row["allocated_bytes"] - row["ended_bytes"]
        return live

    def test_live_memory_is_drawn_by_site(self):
        live = self.live_at_the_ends()
        never_released = [row["never_released_bytes"] for row in objects(table(self.data["memory"], "allocations"))]
        self.assertEqual([live[row][-1] for row in range(len(never_released))], never_released)
        # At the end of a step no more is live than the most within it.
        most_within = collections.Counter()
        for row in objects(table(self.data["memory"], "memory_over_time")):
            at = min((row["from_ns"] - self.axis["first_ns"]) // self.axis["bin_ns"], self.axis["bins"] - 1)
            most_within[at] = max(most_within[at], row["most_bytes"])
        at_the_ends = [sum(bins[at] for bins in live.values()) for at in range(self.axis["bins"])]
        self.assertTrue(all(bytes_ <= most_within[at] for at, bytes_ in enumerate(at_the_ends)), (at_the_ends, most_within))
        self.assertGreater(max(at_the_ends), 0)
        self.choose("part-memory", "")
        legends = self.texts("#part-memory figure .choices label")
        self.assertEqual(legends[0], "all, most at once")
        self.assertEqual(len(legends) - 1, sum(max(bins) > 0 for bins in live.values()))
        titles = self.texts("#part-memory svg .axis-title")
        self.assertEqual(titles, ["live memory, bytes", "time since the beginning, s"])
        found = self.tables("#part-memory").items()
        heads, *rows = next(rows for caption, rows in found if caption.startswith("Live memory by allocation site"))
        self.assertEqual(heads, ["allocation site", "from", "live bytes"])
        most = max(max(bins) for bins in live.values())
        self.assertEqual(max(number(row[2]) for row in rows), most)

    def test_live_memory_is_that_of_the_chosen_threads(self):
        stream = objects(table(self.data["memory"], "allocation_moments"))[0]["stream"]
        live = self.live_at_the_ends({stream})
        self.choose("part-memory", f"threads={stream}")
        self.assertEqual(self.texts("#part-memory figure .choices label")[0], "all sites, chosen threads")
        self.browser.evaluate("document.querySelector('#part-memory svg.steps').focus()")
        self.browser.press("ArrowRight")
        self.assertIn("all sites, chosen threads", self.texts("#part-memory .readout")[0])
        label = self.browser.evaluate("document.querySelector('#part-memory svg.steps').getAttribute('aria-label')")
        self.assertTrue(label.startswith("Live bytes over time, of all sites, chosen threads"), label)
        whole = table(answer("memory", "--thread", str(stream), "--top", "0"), "allocations")["rows"]
        ends = sum(bins[-1] for bins in live.values())
        self.assertEqual(ends, sum(row["never_released_bytes"] for row in whole))

    def test_owners_are_those_of_map(self):
        expected = table(answer("map", "--thread", "2", "--top", "0"), "owners")["rows"]
        self.choose("part-map", "threads=2")
        heads, *rows = self.shown("part-map", "Memory by accesses")
        shown = {(row[heads.index("memory")], row[heads.index("process")]): dict(zip(heads, row, strict=True)) for row in rows}
        self.assertEqual(len(shown), len(expected))
        for row in expected:
            found = shown[row["name"], str(row["process"])]
            counts = [number(found[head]) for head in ("by reads", "by writes", "threads")]
            self.assertEqual(counts, [row["reads"], row["writes"], 1], row["name"])
            self.assertAlmostEqual(float(found["share"].strip("<> %")) / 100, row["share"], delta=0.0006, msg=row["name"])
        sentence = self.texts("#part-map .redrawn > p")[0]
        self.assertIn(f"{expected[0]['name']} has {expected[0]['share'] * 100:.1f} % of the accesses", sentence)

    def test_cells_of_the_map_are_of_the_chosen_threads(self):
        expected = table(answer("map", "--thread", "2", "--top", "0"), "owners")["rows"]
        counts = collections.Counter()
        for cell in objects(table(self.data["map"], "map_cells")):
            counts[cell["level"]] += (cell["reads"] + cell["writes"]) * (cell["stream"] == 2)
        self.assertEqual(set(counts.values()), {sum(row["reads"] + row["writes"] for row in expected)})

    def test_the_map_is_drawn_anew_when_other_threads_are_chosen(self):
        picture = lambda: self.browser.evaluate("document.querySelector('#part-map canvas').toDataURL()")
        pictures = {}
        for choice in ("", "threads=2", "threads=1,2", "time=0-9&threads=1,2"):
            self.choose("part-map", choice)
            pictures[choice] = picture()
        self.assertEqual(len(set(pictures.values())), len(pictures), [*pictures])
        self.browser.evaluate("document.querySelector('.selection > button').click()")
        self.settle()
        self.assertEqual(picture(), pictures[""])

    def test_owners_of_a_chosen_time_are_those_of_map_until_then(self):
        last = self.last_bin()
        until = table(answer("map", "--to", self.border(last), "--top", "0"), "owners")["rows"]
        self.choose("part-map", f"time=0-{last}")
        heads, *rows = self.shown("part-map", "Memory by accesses")
        # Several allocations may have one name.
        shown, expected = collections.Counter(), collections.Counter()
        for row in rows:
            shown[row[0]] += sum(number(row[heads.index(head)]) for head in ("by reads", "by writes"))
        for row in until:
            expected[row["name"]] += row["reads"] + row["writes"]
        for name, accesses in expected.items():
            # A slice cuts at records.
            self.assertAlmostEqual(shown[name], accesses, delta=expected.total() / 50, msg=name)

    def test_the_view_of_a_field_has_its_memory_of_the_choice(self):
        own = tools.report(self.trace, "--thread", "2", "--by", "field", "--top", "0")
        fields = {row["field"]: row["accesses"] for row in table(own, "fields")["rows"]}
        owners = objects(table(self.data["map"], "site_owners"))
        for field in ("slot.key", "slot.value"):
            self.choose("entity", f"field={field}&threads=2")
            heads, *rows = next(rows for caption, rows in self.tables("#entity").items() if caption.startswith("By memory"))
            shown = {row[0]: number(row[heads.index("accesses")]) for row in rows}
            self.assertEqual(sum(shown.values()), fields[field])
            self.assertLessEqual(shown.keys(), {row["memory"] for row in owners if row["field"] == field})
            self.assertLess(sum(shown.values()), sum(row["accesses"] for row in owners if row["field"] == field))
            notes = self.texts("#entity .whole-note")
            self.assertTrue(any(note.startswith("The memory is that of the chosen time and threads.") for note in notes), notes)

    def test_memory_without_room_for_its_times_says_so(self):
        """Of a field whose memory is in two rows, the page has the times of one."""
        owners = objects(table(self.data["map"], "site_owners"))
        last = next(row for row in reversed(range(len(owners))) if sum(owner["field"] == owners[row]["field"] for owner in owners) > 1)
        field = owners[last]["field"]
        of_field = [(row, owner["accesses"]) for row, owner in enumerate(owners) if owner["field"] == field]

        def cut(data):
            part = next(part for part in data["parts"] if part["name"] == "map")
            for name, room in (("site_owner_moments", last), ("owner_moments", 1)):
                moments = table(part, name)
                moments["rows"] = [row for row in moments["rows"] if row[0] < room]
            return data

        with tools.folder() as folder:
            trace = Path(folder) / "cut"
            Path(f"{trace}.html").write_text(with_data(Path(f"{self.trace}.html").read_text(), cut))
            self.choose("entity", f"field={field}&threads=0,1,2,3,4", trace)
            without = sum(accesses for row, accesses in of_field if row >= last)
            share = without / sum(accesses for _, accesses in of_field)
            notes = " ".join(self.texts("#entity .whole-note"))
            self.assertIn(f"It lacks {'<0.1' if share < 0.001 else f'{share * 100:.1f}'} % of the accesses by that name", notes)
            self.choose("part-map", "threads=2", trace)
            self.assertIn("It lacks the least accessed memory", self.texts("#part-map > .whole-note")[0])

    def test_the_parts_are_accessible_while_something_is_chosen(self):
        for part in ("part-memory", "part-map"):
            self.choose(part, "threads=2&time=3-20")
            self.assertEqual(self.serious_findings(f"#{part}"), [])
