"""Whose memory time goes to, where allocations should lie, and programs that run with them there."""

import json
import os
import unittest
from pathlib import Path
from xml.etree import ElementTree

from ..support import hardware, pictures, tools

FLAGS = ("-O1", "-g", "-fno-omit-frame-pointer")
STEPS = 6_000_000
HOT_BYTES = 4 << 22
COLD_BLOCKS = 64
COLD_BYTES = 1 << 18
TIERS = ("--tier", f"dram:capacity={HOT_BYTES + 4096}", "--tier", "cxl")


def can_sample():
    return hardware.failure("page-faults") == 0


def recorded(folder, name, *arguments):
    """A program of tests/programs, compiled without the pass, and its trace of samples and allocations."""
    source = tools.PROGRAMS / name
    program = tools.compile_plain(folder / source.stem, [source], *FLAGS, "-pthread")
    trace = folder / f"{source.stem}.trackway"
    tools.trackway("record", "-q", "--sample", "--allocations", "-o", trace, "--", program, *arguments)
    return program, trace


def report(*arguments):
    whole = json.loads(tools.trackway(*arguments, "--json", "--top", "0").stdout)
    return {table["name"]: table["rows"] for table in whole["tables"]}


def named(rows, name):
    return [row for row in rows if row["name"] == name]


def placement():
    """The program, its trace, advice for it, and what it prints if it walks little."""
    folder = tools.folder()
    path = Path(folder.name)
    program, trace = recorded(path, "placement.c", str(STEPS))
    advice = path / "advice"
    tools.trackway("place", *TIERS, "--advice", advice, trace)
    return folder, program, trace, advice, tools.run(program, "100000").stdout.strip()


class Recorded(unittest.TestCase):
    def setUp(self):
        _, self.program, self.trace, self.advice, self.result = tools.once("placement", placement)
        own = tools.folder()
        self.addCleanup(own.cleanup)
        self.path = Path(own.name)


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Objects(Recorded):
    def test_time_goes_to_the_block_that_is_walked(self):
        tables = report("objects", self.trace)
        (hot,) = named(tables["objects"], "make_hot")
        self.assertEqual((hot["kind"], hot["allocations"], hot["peak_bytes"]), ("allocation", 1, HOT_BYTES))
        self.assertEqual(hot["data_type"], "uint32_t")
        self.assertGreater(hot["share"], 0.6)
        self.assertLessEqual(hot["weight_low"], hot["weight"])
        self.assertGreaterEqual(hot["weight_high"], hot["weight"])
        # Blocks go from the call of malloc to that of realloc.
        cold = named(tables["objects"], "make_cold")
        self.assertEqual([row["allocations"] for row in cold], [COLD_BLOCKS] * 2)
        self.assertEqual(max(row["peak_bytes"] for row in cold), COLD_BLOCKS * COLD_BYTES)
        self.assertEqual(sum(row["weight"] for row in tables["objects"]), tables["sampled"][0]["weight"])
        phases = named(tables["object_phases"], "make_hot")
        self.assertEqual(sum(row["weight"] for row in phases), hot["weight"])

    def test_accesses_say_how_far_they_can_be_relied_on(self):
        rows = report("objects", self.trace)["object_accesses"]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(row["accesses"], row["reads"] + row["writes"])
            self.assertLessEqual(row["access_share_low"], row["access_share"])
            self.assertIn(row["confidence"], ("low", "medium", "high"))

    def test_pictures_show_the_samples(self):
        svg, png = self.path / "memory.svg", self.path / "memory.png"
        tools.trackway("objects", "--svg", svg, "--png", png, self.trace)
        self.assertEqual(ElementTree.parse(svg).getroot().tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("make_hot", svg.read_text())
        self.assertTrue(pictures.pixels(png))
        tools.trackway("objects", "--svg", svg, "--name", "make_cold", self.trace, check=False)
        nothing = tools.trackway("objects", "--svg", svg, "--thread", "1", self.trace, check=False)
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("there is no thread 1", nothing.stderr)

    def test_two_runs_are_compared_by_call_site(self):
        other = self.path / "shorter.trackway"
        tools.trackway("record", "-q", "--sample", "--allocations", "-o", other, "--", self.program, str(STEPS // 4))
        changed = report("diff", "--analysis", "objects", self.trace, other)
        (hot,) = named(changed["objects_weight"], "make_hot")
        self.assertLess(hot["after"], hot["before"])
        self.assertTrue(named(changed["object_tenths_weight"], "make_hot"))
        self.assertIn("samples", changed["exactness"][0])

    def test_tables_are_csv_too(self):
        rows = tools.trackway("objects", "--csv", "--top", "0", self.trace).stdout.splitlines()
        self.assertIn("peak_bytes", rows[0].split(","))
        self.assertTrue(any("make_hot" in row for row in rows))

    def test_traces_without_samples_are_refused(self):
        trace = self.path / "unsampled.trackway"
        tools.trackway("record", "-q", "--allocations", "-o", trace, "--", self.program, "1000")
        refused = tools.trackway("objects", trace, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("record --sample --allocations", refused.stderr)


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Advice(Recorded):
    def test_what_is_walked_goes_into_fast_memory(self):
        tables = report("place", *TIERS, self.trace)
        tiers = {(row["name"], row["bytes"]): row["tier"] for row in tables["placement"]}
        self.assertEqual(tiers["make_hot", HOT_BYTES], "dram")
        self.assertEqual(tiers["make_cold", COLD_BLOCKS * COLD_BYTES], "cxl")
        (prediction,) = tables["prediction"]
        self.assertLessEqual(prediction["all_first"], prediction["bound"])
        self.assertLessEqual(prediction["bound"], prediction["predicted"])
        self.assertLess(prediction["predicted"], prediction["all_last"])
        self.assertEqual(prediction["all_first"], prediction["measured"])
        curve = tables["placement_curve"]
        self.assertEqual((curve[0]["capacity"], curve[0]["predicted"]), (0, prediction["all_last"]))
        self.assertEqual([row["predicted"] for row in curve], sorted((row["predicted"] for row in curve), reverse=True))

    def test_faster_memory_than_the_measured_gains(self):
        (prediction,) = report("place", "--tier", "hbm", "--tier", "dram", "--measured-in", "dram", self.trace)["prediction"]
        self.assertEqual(prediction["all_last"], prediction["measured"])

    def test_wrong_tiers_are_told_of(self):
        for arguments, part in (
            (("--tier", "far"), "needs latency="),
            (("--tier", "dram"), "at least two different tiers"),
            (("--measured-in", "hbm"), "there is no tier"),
        ):
            refused = tools.trackway("place", *arguments, self.trace, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(part, refused.stderr)


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Applied(Recorded):
    def place(self, *arguments, check=True, **settings):
        return tools.trackway("place", "--advice", self.advice, *arguments, check=check, **settings)

    def test_advised_blocks_lie_in_the_file(self):
        file = self.path / "far"
        placed = self.place("--far-file", file, "--far-size", "1G", "--", self.program, "100000", "maps")
        *mapped, result = placed.stdout.splitlines()
        self.assertEqual(result, self.result)
        self.assertEqual(mapped, ["hot anonymous", f"cold {file.resolve()}"])
        self.assertFalse(file.exists(), "it goes with the program")
        # The blocks of malloc and of realloc, and the buffers of standard output and of /proc/self/maps.
        buffers = 3
        self.assertIn(f"trackway: {2 * COLD_BLOCKS + buffers} allocations of ", placed.stderr)
        most = int(placed.stderr.split("at most ")[1].split()[0].replace(",", ""))
        self.assertGreaterEqual(most, COLD_BLOCKS * COLD_BYTES)
        self.assertLess(most, COLD_BLOCKS * COLD_BYTES + COLD_BYTES)

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the system knows no NUMA nodes")
    def test_advised_blocks_lie_on_the_node(self):
        placed = self.place("--far-node", "0", "--far-size", "1G", "--", self.program, "100000")
        self.assertEqual(placed.stdout.strip(), self.result)
        self.assertIn("in NUMA node 0", placed.stderr)
        refused = self.place("--far-node", "900", "--", self.program, "1", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr, r"there is no NUMA node 900 with memory; there are 0 \([\d,]{6,} bytes free\)")

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the system knows no NUMA nodes")
    def test_nodes_are_named_as_libnuma_does(self):
        placed = self.place("--far-node", "+0", "--far-size", "1G", "--", self.program, "100000")
        self.assertEqual(placed.stdout.strip(), self.result)
        self.assertIn("in NUMA node 0", placed.stderr)
        libraries = self.path / "libraries"
        libraries.mkdir()
        (libraries / "libnuma.so.1").write_bytes(b"")
        missing = tools.environment(LD_LIBRARY_PATH=str(libraries))
        for nodes, settings, part in (
            ("netdev:nonexistent", {}, 'libnuma knows no NUMA nodes by "netdev:nonexistent"'),
            ("all", {"env": missing}, "--far-node all needs libnuma, which can't be loaded: .*package libnuma1"),
        ):
            refused = self.place("--far-node", nodes, "--", self.program, "1", check=False, **settings)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertRegex(refused.stderr, part)
        by_number = self.place("--far-node", "0-0", "--far-size", "1G", "--", self.program, "100000", env=missing)
        self.assertEqual(by_number.stdout.strip(), self.result)

    def test_what_finds_no_room_stays(self):
        placed = self.place("--far-file", self.path / "small", "--far-size", "1M", "--", self.program, "100000")
        self.assertEqual(placed.stdout.strip(), self.result)
        self.assertIn("found no room there", placed.stderr)

    def test_a_tracer_sees_the_same_calls(self):
        trace = self.path / "placed.trackway"
        inner = ("place", "--advice", self.advice, "--far-file", self.path / "seen", "--far-size", "1G", "--")
        program = (tools.TRACKWAY, *inner, self.program, "100000")
        placed = tools.trackway("record", "-q", "--allocations", "-o", trace, "--", *program)
        self.assertEqual(placed.stdout.strip(), self.result)
        self.assertIn(f"trackway: {2 * COLD_BLOCKS + 1} allocations of ", placed.stderr)
        rows = report("allocations", trace)["call_sites"]
        cold = [row for row in rows if row["function"] == "make_cold"]
        self.assertEqual(max(row["peak_bytes"] for row in cold), COLD_BLOCKS * COLD_BYTES)

    def test_a_program_that_was_built_anew_is_refused(self):
        folder = self.path / "again"
        folder.mkdir()
        program, trace = recorded(folder, "placement.c", "100000")
        advice = folder / "advice"
        tools.trackway("place", "--advice", advice, trace)
        tools.compile_plain(program, [tools.PROGRAMS / "placement.c"], "-O2", "-g", "-Wl,--build-id")
        changed = advice.read_text().replace('"build_id":"', '"build_id":"00')
        advice.write_text(changed)
        refused = tools.trackway("place", "--advice", advice, "--far-file", folder / "far", "--", program, "1", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("was built anew since it was recorded", refused.stderr)

    def test_existing_files_stay(self):
        kept = self.path / "kept"
        kept.write_text("mine")
        refused = self.place("--far-file", kept, "--", self.program, "1", check=False)
        self.assertEqual((refused.returncode, kept.read_text()), (2, "mine"))
        again = tools.trackway("place", "--advice", self.advice, self.trace, check=False)
        self.assertIn("exists already", again.stderr)

    def test_damaged_advice_is_told_of_by_line(self):
        damaged = self.path / "damaged"
        damaged.write_text(self.advice.read_text() + "{\n")
        refused = tools.trackway("place", "--advice", damaged, "--far-node", "0", "--", self.program, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"line {len(self.advice.read_text().splitlines()) + 1}, column", refused.stderr)

    def test_the_programs_status_is_passed_on(self):
        ended = self.place("--far-node", "0", "--", "sh", "-c", "exit 7", check=False)
        self.assertEqual(ended.returncode, 7)
        killed = self.place("--far-node", "0", "--", "sh", "-c", "kill -9 $$", check=False)
        self.assertEqual(killed.returncode, 128 + 9)


def placed_blocks():
    folder = tools.folder()
    path = Path(folder.name)
    program, trace = recorded(path, "placed_blocks.cpp")
    advice = path / "advice"
    tools.trackway("place", "--tier", "dram:capacity=1K", "--tier", "cxl", "--advice", advice, trace)
    return folder, program, advice, tools.run(program).stdout


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Forks(unittest.TestCase):
    def setUp(self):
        own = tools.folder()
        self.addCleanup(own.cleanup)
        self.path = Path(own.name)
        self.program, trace = recorded(self.path, "placed_forks.c")
        self.advice = self.path / "advice"
        tools.trackway("place", "--tier", "dram:capacity=1", "--tier", "cxl", "--advice", self.advice, trace)

    def check(self, *far):
        placed = tools.trackway("place", "--advice", self.advice, *far, "--", self.program, time_limit_s=120)
        self.assertEqual(placed.stdout, "bad 0\n")
        self.assertNotIn("found no room", placed.stderr)

    def test_children_have_far_blocks_of_their_own(self):
        self.check("--far-file", self.path / "far", "--far-size", "64M")
        self.check("--far-memkind", "/dev/shm", "--far-size", "256M")


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Blocks(unittest.TestCase):
    """Threads, a fork, aligned blocks, operator new, reallocation: with all of it placed the result is the same."""

    def setUp(self):
        _, self.program, self.advice, self.result = tools.once("placed blocks", placed_blocks)
        own = tools.folder()
        self.addCleanup(own.cleanup)
        self.far = Path(own.name) / "far"

    def check(self, *memory):
        placed = tools.trackway("place", "--advice", self.advice, *memory, "--", self.program)
        self.assertEqual(placed.stdout, self.result)
        self.assertGreater(int(placed.stderr.split("trackway: ")[1].split()[0].replace(",", "")), 1000)
        leftover = [file.name for file in self.far.parent.iterdir() if file.name.startswith("far")]
        self.assertEqual(leftover, [])

    def test_in_a_file(self):
        self.check("--far-file", self.far, "--far-size", "2G")

    def test_in_a_file_without_room(self):
        self.check("--far-file", self.far, "--far-size", "1M")

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the system knows no NUMA nodes")
    def test_on_a_node(self):
        self.check("--far-node", "0")
