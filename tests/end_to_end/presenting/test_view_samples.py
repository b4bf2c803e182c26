"""Pages of sampled programs in headless Chromium: every sample of the picture is one of the report's, and whatever is
chosen is shown with its names."""

import json
import unittest
from pathlib import Path

from ..support import hardware, tools
from ..support.pages.counts_page import CountsPage, part_of, rows_of
from ..support.pages.shared_browser import cut_rankings, unexplained, with_data
from ..support.pages.view_samples import part, table

WIDTHS_AND_SCHEMES = ((360, "light"), (360, "dark"), (1400, "dark"))
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">\u202e"


def can_sample():
    return hardware.failure("task-clock") == 0


def recorded():
    """A trace of two threads that go over a block and a table, and its page."""

    def make():
        folder = tools.folder()
        path = Path(folder.name)
        program = tools.compile_plain(path / "spots", [tools.PROGRAMS / "samples" / "spots.c"], "-O1", "-g", "-pthread")
        trace = path / "spots.trackway"
        tools.trackway("record", "-q", "--sample=2000Hz", "--allocations", "-o", trace, "--", program, 100)
        tools.trackway("view", "-q", trace)
        return folder, trace

    return tools.once("page of samples", make)[1]


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Sampled(CountsPage):
    def setUp(self):
        self.trace = recorded()
        super().setUp()

    def page(self):
        return f"{self.trace}.html"

    def objects(self):
        return json.loads(tools.trackway("objects", "--json", "--top", "0", self.trace).stdout)["tables"]

    def spots(self):
        tables = {one["name"]: rows_of(one) for one in part_of(self.page(), "objects")["tables"]}
        return tables["spots"], tables["spot_memory"]

    def test_sections_are_those_that_samples_have_something_for(self):
        self.open(self.page())
        expected = ["Overview", "Source", "Paths of calls", "Sampled memory", "Sampled code", "Audit", "Terms"]
        self.assertEqual(self.texts("main h2"), expected)
        self.assertEqual(self.browser.requests(), [f"file://{self.page()}"])
        self.assertIn("No sample was lost", " ".join(self.texts(".checks li")))
        self.assertNotIn("simulated cache", self.texts("#audit")[0])

    def test_every_sample_is_in_the_picture(self):
        spots, memories = self.spots()
        rows = next(one["rows"] for one in self.objects() if one["name"] == "objects")
        sampled = [row for row in rows if row["samples"] > 0]
        self.assertEqual(len(memories), len(sampled))
        for memory in memories:
            own = [spot for spot in spots if spot["memory"] == memory["memory"]]
            self.assertEqual(sum(spot["loads"] + spot["stores"] for spot in own), memory["samples"])
            alike = [row for row in sampled if row["kind"] == memory["kind"] and row["samples"] == memory["samples"]]
            self.assertIn(sum(spot["weight"] for spot in own), [row["weight"] for row in alike])
            known = {spot["address"] is not None for spot in own}
            self.assertEqual(known, {memory["kind"] not in ("no address", "no access")}, memory)

    def test_one_thread_is_no_threads(self):
        def alone(data):
            sampling = next(one for part in data["parts"] for one in part["tables"] if one["name"] == "sampling")
            sampling["rows"][0][[column["name"] for column in sampling["columns"]].index("threads")] = 1
            return data

        with tools.folder() as folder:
            path = Path(folder) / "alone.html"
            path.write_text(with_data(Path(self.page()).read_text(), alone))
            self.open(path)
            self.assertIn("of 1 thread", self.texts("#overview .tiles span"))

    def test_samples_lie_where_and_when_the_program_was(self):
        spots, memories = self.spots()
        block = next(row for row in memories if row["label"].startswith("make_block at "))
        own = [spot for spot in spots if spot["memory"] == block["memory"]]
        addresses = [spot["address"] for spot in own]
        self.assertLessEqual(max(addresses) - min(addresses), block["peak_bytes"])
        self.assertGreater(max(addresses) - min(addresses), block["peak_bytes"] / 2, "all of it was gone over")
        # The main thread goes over the block in the first half, the other one over the table in the second.
        table_ = next(row for row in memories if row["kind"] == "global" and row["label"].endswith("/spots"))
        others = [spot for spot in spots if spot["memory"] == table_["memory"]]
        self.assertLessEqual(max(spot["time_bin"] for spot in own), min(spot["time_bin"] for spot in others))
        self.assertEqual(len({spot["thread"] for spot in own + others}), 2)

    def test_memory_and_thread_are_chosen(self):
        spots, memories = self.spots()
        self.open(self.page())
        self.assertIn(" of 2 threads at ", self.readout())
        self.choose_memory("make_block")
        block = next(row for row in memories if row["label"].startswith("make_block at "))
        self.assertEqual(self.readout(), f"{block['samples']:,} samples of 1 thread at 1 name")
        self.press_on("#part-objects canvas", "ArrowRight")
        told = self.readout()
        self.assertIn("make_block at spots.c:", told)
        self.assertIn("(allocation of 4 MiB", told)
        first = min((spot for spot in spots if spot["memory"] == block["memory"]), key=lambda spot: (spot["time_bin"], spot["address"]))
        self.assertIn(f"0x{first['address']:x}", told)
        self.assertIn(f"thread {first['thread']}:", told)
        other = next(spot["thread"] for spot in spots if spot["thread"] != first["thread"])
        self.choose("#part-objects .tools label:nth-of-type(2) select", f"thread {other}")
        self.assertIn("0 samples of 0 threads", self.readout())

    def test_what_tables_are_ranked_by_is_in_sight(self):
        for width in (1400, 1000):
            self.browser.appear(width, 900, "light")
            self.open(self.page())
            self.assertEqual(cut_rankings(self.browser), [], width)

    def test_every_head_of_numbers_is_explained(self):
        self.open(self.page())
        self.assertEqual(unexplained(self.browser), [])

    def test_axes_have_titles(self):
        self.open(self.page())
        self.browser.evaluate(
            "(() => { window.drawn = []; const draw = CanvasRenderingContext2D.prototype.fillText;"
            " CanvasRenderingContext2D.prototype.fillText = function (text, ...rest)"
            " { window.drawn.push(text); return draw.call(this, text, ...rest); }; })()"
        )
        self.press_on("#part-objects canvas", "ArrowRight")
        self.readout()
        drawn = self.browser.evaluate("window.drawn")
        self.assertIn("time since the beginning", drawn)
        self.assertIn("address", drawn)

    def choose_memory(self, name):
        self.browser.evaluate(
            "(() => { const list = document.querySelector('#part-objects .tools select');"
            f" list.value = [...list.options].find(option => option.text.includes({name!r})).value;"
            " list.dispatchEvent(new Event('change')); })()"
        )

    def readout(self):
        self.browser.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(setTimeout))")
        return self.texts("#part-objects .readout")[0]

    def test_pages_fit_and_controls_have_names(self):
        for width, scheme in WIDTHS_AND_SCHEMES:
            self.browser.appear(width, 800, scheme)
            self.open(self.page())
            # Other fonts, and sources in deeper folders, have longer names.
            for size in ("14px", "20px"):
                self.browser.evaluate(f"document.documentElement.style.fontSize = {size!r}")
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width, (width, scheme, size))
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = {"button", "link", "searchbox", "combobox", "image", "img", "region", "table"}
        seen = [node for node in nodes if not node["ignored"] and node["role"]["value"] in named]
        self.assertEqual([node["role"]["value"] for node in seen if not node["name"]["value"].strip()], [])


def spots_part(spots, memories, time_bins=8):
    """A part as `trackway view` makes it; `spots`: [(bin, process, thread, memory, address, loads, stores)]."""
    numbers = ("time_bin", "process", "thread", "memory", "address", "loads", "stores", "weight")
    rows = [[*spot, 1000 * (spot[5] + spot[6])] for spot in spots]
    scale = {"time_bins": "count", "first_ns": "count", "bin_ns": "count", "granule_bytes": "bytes", "weight_unit": "text"}
    kinds = {"memory": "number", "kind": "text", "label": "text", "data_type": "text"}
    kinds |= {"peak_bytes": "bytes", "samples": "count", "share": "share"}
    return part(
        "objects",
        "Sampled memory",
        table("spots", "Spots", dict.fromkeys(numbers, "number"), rows),
        table("spot_scale", "Scales", scale, [[time_bins, 0, 1_000_000, 64, "ns"]], "record"),
        table("spot_memory", "Memory", kinds, memories),
    )


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Drawn(CountsPage):
    """Samples that no program would have."""

    def open_spots(self, spots, memories):
        def change(data):
            data["parts"] = [spots_part(spots, memories), *(one for one in data["parts"] if one["name"] == "info")]
            return data

        page = self.folder / "spots.html"
        page.write_text(with_data(Path(f"{recorded()}.html").read_text(), change))
        self.open(page)
        self.browser.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(setTimeout))")

    def label(self):
        return self.browser.evaluate("document.querySelector('#part-objects canvas').getAttribute('aria-label')")

    def memory(self, number, label, kind="allocation"):
        return [number, kind, label, "", 4096, 1, 0.5]

    def test_gaps_between_addresses_are_folded(self):
        far = 0x7F00_0000_0000
        memories = [self.memory(0, "heap at a.c:1"), self.memory(1, "far at a.c:2")]
        # Dense blocks of 1 MiB each: two of one process with a gap of terabytes, and one of another process.
        blocks = [(7, 0x10000, 0), (7, far, 1), (8, 0x10000, 0)]
        spots = [(0, pid, 1, memory, start + at, 1, 0) for pid, start, memory in blocks for at in range(0, 1 << 20, 4096)]
        self.open_spots(spots, memories)
        self.assertIn("768 in 3 stretches of addresses", self.label())
        # Without a gap worth folding, one stretch.
        self.open_spots([spot for spot in spots if spot[4] < far and spot[1] == 7], memories)
        self.assertIn("256 in 1 stretches of addresses", self.label())

    def test_a_part_of_time_is_shown_by_keyboard(self):
        spots = [(bin_, 1, 1, 0, 4096 * bin_, 1, 0) for bin_ in range(8)]
        self.open_spots(spots, [self.memory(0, "heap at a.c:1")])
        self.press_on("#part-objects canvas", *["ArrowRight"] * 8)
        self.assertIn("7 ms, thread 1: A heap at a.c:1", self.texts("#part-objects .readout")[0])
        self.press_on("#part-objects canvas", "+")
        self.assertIn("4 in 1", self.label())
        self.press_on("#part-objects canvas", "0")
        self.assertIn("8 in 1", self.label())

    def test_a_pointer_is_told_the_nearest_sample(self):
        memories = [self.memory(0, "low at a.c:1"), self.memory(1, "high at a.c:2")]
        self.open_spots([(0, 1, 5, 0, 0, 1, 0), (7, 1, 6, 1, 1 << 20, 0, 1)], memories)
        box = self.browser.evaluate(
            "(() => { const box = document.querySelector('#part-objects canvas').getBoundingClientRect();"
            " return [box.left, box.top, box.width]; })()"
        )
        scale = box[2] / 896
        # The later one has the higher address: on the right at the top.
        self.browser.evaluate(
            "document.querySelector('#part-objects canvas').dispatchEvent(new PointerEvent('pointermove',"
            f" {{ clientX: {box[0] + 850 * scale}, clientY: {box[1] + 15 * scale} }}))"
        )
        self.assertIn("thread 6: B high at a.c:2", self.texts("#part-objects .readout")[0])
        self.assertIn("0 at loads, 1 at stores, 1 µs", self.texts("#part-objects .readout")[0])

    def test_hostile_names_are_inert_and_nothing_is_drawn_of_nothing(self):
        self.open_spots([(0, 1, 1, 0, 4096, 1, 0)], [self.memory(0, HOSTILE)])
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img, script').length"), 2)
        self.assertNotIn("\u202e", self.browser.evaluate("document.body.innerText"))
        self.open_spots([], [])
        self.assertEqual(self.texts("#part-objects canvas"), [])
        self.open_spots([(0, 1, 1, 0, None, 1, 0)], [self.memory(0, "no address", "no address")])
        self.assertIn("no addresses", self.label())

    def test_many_samples_open_at_once(self):
        memories = [self.memory(number, f"site{number} at a.c:{number}") for number in range(40)]
        spots = [(at % 8, 1, at % 16, at % 40, 4096 * (at * 7919 % 100_000), 1, at % 2) for at in range(40_000)]
        self.open_spots(spots, memories)
        drawn = self.browser.evaluate("performance.getEntriesByName('trackway-drawn')[0].startTime")
        self.assertLess(drawn, 2000)
        self.assertIn("32 more, in grey", " ".join(self.texts(".spot-legend li")))


if __name__ == "__main__":
    unittest.main()
