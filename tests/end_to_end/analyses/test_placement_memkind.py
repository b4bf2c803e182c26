"""Programs whose advised blocks memkind allocates, in a folder and from kinds of memory of its own."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from ..support import tools
from . import test_placement

PLACE_BUFFERS = 3  # of standard output, and of /proc/self/maps
FAR_FUNCTIONS = {"far_block", "far_zero", "far_aligned", "to_far"}
MOVES = ("allocated near:", "moved far:", "grown:", "shrunk:", "moved near:", "aligned:")


def advised_moves():
    """The program, advice for those of its functions that are called far, and what it prints by itself."""
    folder = tools.folder()
    path = Path(folder.name)
    program, trace = test_placement.recorded(path, "placed_moves.c")
    every = path / "every"
    tools.trackway("place", "--tier", "dram:capacity=1", "--tier", "cxl", "--advice", every, trace)
    header, *sites = every.read_text().splitlines()
    far = [site for site in sites if json.loads(site)["function"] in FAR_FUNCTIONS]
    advice = path / "advice"
    advice.write_text("\n".join([header, *far, ""]))
    assert {json.loads(site)["function"] for site in far} == FAR_FUNCTIONS
    return folder, program, advice, tools.run(program).stdout.splitlines()


class Addresses(unittest.TestCase):
    def test_free_addresses_are_those_that_nobody_holds(self):
        with tools.folder() as folder:
            place = tools.ROOT / "collectors" / "place"
            sources = [tools.PROGRAMS / "address_spans.c", place / "spans.c"]
            flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover", f"-I{place}")
            program = tools.compile_plain(Path(folder) / "address_spans", sources, *flags)
            self.assertEqual(tools.run(program).stdout, "as the map has it\n")


class InFolder:
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(self.folder.cleanup)

    def assert_nothing_is_left(self):
        self.assertEqual(os.listdir(self.folder.name), [])


@unittest.skipUnless(test_placement.can_sample(), "the kernel lets nobody sample here")
class Placed(InFolder, test_placement.Recorded):
    def place(self, *arguments, **settings):
        return tools.trackway("place", "--advice", self.advice, *arguments, "--", self.program, "100000", "maps", **settings)

    def test_advised_blocks_lie_in_files_of_the_folder(self):
        placed = self.place("--far-memkind", self.folder.name)
        hot, cold, result = placed.stdout.splitlines()
        self.assertEqual((hot, result), ("hot anonymous", self.result))
        self.assertRegex(cold, rf"^cold {self.folder.name}/memkind\.\w+ \(deleted\)$")
        count = 2 * test_placement.COLD_BLOCKS + PLACE_BUFFERS
        self.assertIn(f"trackway: {count} allocations of ", placed.stderr)
        self.assertIn(f" bytes in memkind's files in {self.folder.name}, at most ", placed.stderr)
        # Bytes that were asked for: of malloc half a block, of realloc a whole one, and the buffers.
        total, most = (int(placed.stderr.split(word)[1].split()[0].replace(",", "")) for word in (" of ", "at most "))
        cold_bytes = test_placement.COLD_BLOCKS * test_placement.COLD_BYTES
        self.assertGreater(total, cold_bytes * 3 // 2)
        self.assertLess(total, cold_bytes * 3 // 2 + (1 << 16))
        # Bytes that blocks hold: memkind rounds up to its sizes, of which there are four to each power of two.
        self.assertGreaterEqual(most, cold_bytes)
        self.assertLess(most, cold_bytes * 5 // 4 + (1 << 16))
        self.assertNotIn("found no room", placed.stderr)
        self.assert_nothing_is_left()

    def test_what_finds_no_room_stays(self):
        self.assertLess(14 << 20, test_placement.COLD_BLOCKS * test_placement.COLD_BYTES)
        placed = self.place("--far-memkind", self.folder.name, "--far-size", "16M")
        self.assertEqual(placed.stdout.splitlines()[-1], self.result)
        self.assertIn("found no room there", placed.stderr)

    def test_a_tracer_sees_the_same_calls(self):
        trace = self.path / "placed.trackway"
        inner = ("place", "--advice", self.advice, "--far-memkind", self.folder.name, "--")
        program = (tools.TRACKWAY, *inner, self.program, "100000")
        placed = tools.trackway("record", "-q", "--allocations", "-o", trace, "--", *program)
        self.assertEqual(placed.stdout.strip(), self.result)
        self.assertIn(f"trackway: {2 * test_placement.COLD_BLOCKS + 1} allocations of ", placed.stderr)
        rows = test_placement.report("allocations", trace)["call_sites"]
        cold = [row for row in rows if row["function"] == "make_cold"]
        cold_bytes = test_placement.COLD_BLOCKS * test_placement.COLD_BYTES
        self.assertEqual(max(row["peak_bytes"] for row in cold), cold_bytes)

    def test_what_is_missing_is_told_before_the_program_starts(self):
        no_library = self.path / "libraries"
        no_library.mkdir()
        (no_library / "libmemkind.so.0").write_bytes(b"")
        file = self.path / "file"
        file.write_text("")
        cases = (
            (self.folder.name, {"LD_LIBRARY_PATH": str(no_library)}, "memkind can't be loaded: .*package libmemkind0"),
            ("hbw", {}, "has no memory of memkind's kind hbw: .*; it has .*regular"),
            ("nonsense", {}, "expected a folder .* or one of dax-kmem"),
            ("/nonexistent/folder", {}, "/nonexistent/folder: No such file"),
            (f"{file}/", {}, "Not a directory"),
            ("/proc", {}, "/proc: memkind can't make files there"),
        )
        for kind, changes, part in cases:
            with self.subTest(kind=kind):
                refused = self.place("--far-memkind", kind, check=False, env=tools.environment(**changes))
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertRegex(refused.stderr, part)
        small = self.place("--far-memkind", self.folder.name, "--far-size", "1M", check=False)
        self.assertEqual(small.returncode, 2)
        self.assertIn("16M", small.stderr)


@unittest.skipUnless(test_placement.can_sample(), "the kernel lets nobody sample here")
class Moves(InFolder, unittest.TestCase):
    """Reallocation between near and far, alignment, calloc, threads, the end of the program."""

    def setUp(self):
        super().setUp()
        _, self.program, self.advice, self.result = tools.once("placed moves", advised_moves)

    def check(self, far, *arguments, place, **changes):
        command = ("place", "--advice", self.advice, "--far-memkind", far, "--", self.program, *arguments)
        placed = tools.trackway(*command, env=tools.environment(**changes))
        near = "default"
        expected = [f"{name} {near if name.endswith('near:') else place}" for name in MOVES]
        self.assertEqual(placed.stdout.splitlines(), [*expected, "done", "at the end: as it was"])
        return placed.stderr

    def test_unplaced_all_is_near(self):
        self.assertEqual(self.result, [*(f"{name} default" for name in MOVES), "done", "at the end: as it was"])

    def test_in_a_folder(self):
        told = self.check(self.folder.name, place="memkind's file")
        self.assertNotIn("found no room", told)
        self.assert_nothing_is_left()

    def test_a_program_that_closes_all_files(self):
        with tools.folder() as folder:
            own = Path(folder) / "own"
            command = ("place", "--advice", self.advice, "--far-memkind", self.folder.name, "--", self.program, own)
            placed = tools.trackway(*command)
            self.assertEqual(placed.stdout.splitlines()[-2:], ["done", "at the end: as it was"])
            self.assertEqual(own.stat().st_size, 0)

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the system knows no NUMA nodes")
    def test_of_a_kind_with_little_room(self):
        size = ("--far-memkind", "regular", "--far-size", "2M")
        placed = tools.trackway("place", "--advice", self.advice, *size, "--", self.program)
        self.assertEqual(placed.stdout.splitlines()[-2:], ["done", "at the end: as it was"])
        self.assertIn("found no room there", placed.stderr)
        self.assertLess(int(placed.stderr.split("at most ")[1].split()[0].replace(",", "")), 2 << 20)

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the system knows no NUMA nodes")
    def test_of_kinds_of_its_own(self):
        self.check("regular", place="bind:0")
        self.check("interleave", place="interleave:0")
        # Which nodes have such memory may be said by the environment.
        self.check("hbw", place="bind:0", MEMKIND_HBW_NODES="0")
        self.check("dax-kmem", place="bind:0", MEMKIND_DAX_KMEM_NODES="0")


@unittest.skipUnless(test_placement.can_sample(), "the kernel lets nobody sample here")
class Blocks(InFolder, unittest.TestCase):
    """Threads, a fork, aligned blocks, operator new, reallocation: with all of it placed the result is the same."""

    def check(self, far, **changes):
        _, program, advice, result = tools.once("placed blocks", test_placement.placed_blocks)
        command = ("place", "--advice", advice, "--far-memkind", far, "--far-size", "2G", "--", program)
        placed = tools.trackway(*command, env=tools.environment(**changes))
        self.assertEqual(placed.stdout, result)
        self.assertGreater(int(placed.stderr.split("trackway: ")[1].split()[0].replace(",", "")), 1000)
        self.assertNotIn("found no room", placed.stderr)

    def test_in_a_folder(self):
        self.check(self.folder.name)
        self.assert_nothing_is_left()

    @unittest.skipUnless(os.path.isdir("/sys/devices/system/node/node0"), "the system knows no NUMA nodes")
    def test_of_a_kind_of_its_own(self):
        self.check("interleave")
