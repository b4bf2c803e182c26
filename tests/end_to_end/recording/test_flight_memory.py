"""What a flight recorder takes of memory, measured from outside, in runs that make more and more of what records need."""

import csv
import io
import json
import re
import subprocess
import time
import unittest

from ..support import tools

MEBIBYTE = 1 << 20
LASTING, WORDS, TOUCHED = 1000, 256, 4  # as in growing.c


def program(name):
    output = tools.BUILD / "tests" / f"{name}-memory"
    flags = ("-g", "-O2", "-pthread", f"-I{tools.BUILD}/include", "-ldl")
    return tools.once(("memory", name),
                      lambda: tools.compile_traced(output, [tools.PROGRAMS / f"{name}.c"], *flags, oracle=False))


def library():
    output = tools.BUILD / "tests" / "growing_library.so"
    sources = [tools.PROGRAMS / "served_library.c"]
    return tools.once("growing-library",
                      lambda: tools.compile_traced(output, sources, "-g", "-O2", "-fPIC", "-shared", oracle=False))


def private_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        private = re.search(r"RssAnon:\s+(\d+) kB", status.read())
    return int(private.group(1)) << 10 if private else 0


def accesses_by_the_text(times):
    """Those of growing.c's last `times` blocks and its end, in their order: kind, variable and which element."""
    expected, seed = [], 1
    for round_ in range(times):
        for _ in range(TOUCHED):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            expected += [("load", "words", seed >> 56), ("store", "words", seed >> 56)]
        expected.append(("store", "block", 64 + round_ % 64))
        if round_ % 1024 == 0:
            expected += [(kind, "lasting", round_ // 1024 % LASTING) for kind in ("load", "store")]
        expected += [("load", "count", 0), ("store", "count", 0)]
    return expected + [("load", "lasting", i) for i in range(LASTING)] + [("load", "count", 0)]


def accesses_of(trace):
    """The same of a trace. Of a block it is its size, which stands with its allocation."""
    line = re.compile(r"\s*\d+\s+\d+ (load|store|allocate)\s+(0x[0-9a-f]+)\s+(\d+) (words|block|lasting|count)\b")
    found = [match.groups() for match in map(line.match, tools.trackway("dump", trace).stdout.splitlines()) if match]
    first = {name: min(int(address, 16) for _, address, _, of in found if of == name) for name in ("words", "lasting", "count")}
    accesses, size = [], None
    for kind, address, length, name in found:
        if kind == "allocate":
            size = int(length)
        elif name == "block":
            accesses.append((kind, name, size))
        else:
            accesses.append((kind, name, (int(address, 16) - first[name]) // 8))
    return accesses


class FlightMemory(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        self.output = f"{self.folder.name}/t.trackway"
        self.snapshot = f"{self.folder.name}/t-1.trackway"

    def most_memory(self, limit, *words, status=7):
        """The most private memory that the recorder had, bytes."""
        command = [tools.TRACKWAY, "record", "-q", "-f", "--flight", f"{limit >> 10}K", "--workers", "1", "-o", self.output, "--", *words]
        recorder = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        most = 0
        while recorder.poll() is None:
            most = max(most, private_bytes(recorder.pid))
            time.sleep(.005)
        self.assertEqual(recorder.wait(), status)
        return most

    def grown(self, limit, *words):
        return self.most_memory(limit, program("growing"), *words)

    def chunks(self):
        """How many the snapshot has, by kind."""
        info = json.loads(tools.trackway("info", "--json", self.snapshot).stdout)
        return {row["kind"]: row["chunks"] for row in tools.table(info, "chunks")["rows"]}

    def verify(self):
        self.assertIn("invariants: hold", tools.trackway("verify", self.snapshot).stdout)

    def test_memory_depends_on_the_limit_alone(self):
        def most(rounds, threads, limit):
            return self.most_memory(limit, program("flight"), "nothing", rounds, threads, status=0)

        limit = 4 * MEBIBYTE
        short, long = (most(rounds, 1, limit) for rounds in (4_000_000, 16_000_000))
        threads = most(4_000_000, 4, limit)
        twice = most(4_000_000, 1, 2 * limit)
        for found in (short, long, threads):
            self.assertGreater(found, limit)
            self.assertLess(found, limit + 12 * MEBIBYTE)
            self.assertLess(abs(found - short), MEBIBYTE)
        self.assertLess(abs(twice - short - limit), MEBIBYTE)

    def test_blocks_that_are_allocated_and_freed(self):
        """Of millions, with 8 MiB: they take what they may, and a chunk."""
        limit, least = 8 * MEBIBYTE, 64 << 10
        without = self.grown(least, "blocks", 1_000_000)
        for times in (3_000_000, 9_000_000):
            most = self.grown(limit, "blocks", times)
            self.assertGreater(most - without, limit // 2)
            self.assertLess(most - without, limit + MEBIBYTE)
        self.verify()
        # Each time once: what the snapshot has of the blocks is what it has of the count.
        text = tools.trackway("report", "--by", "variable", "--csv", "--top", "0", "--cache", "none", self.snapshot).stdout
        accesses = {row["variable"]: int(row["accesses"]) for row in csv.DictReader(io.StringIO(text)) if row["variable"] != "lasting"}
        self.assertGreater(accesses["block"], 100_000)
        self.assertLessEqual(abs(accesses["count"] - 1 - 2 * accesses["block"]), 2, accesses)
        self.assertLessEqual(abs(accesses["words"] - 2 * TOUCHED * accesses["block"]), 2 * TOUCHED, accesses)

    def test_accesses_are_those_of_the_text(self):
        times = 100_000
        self.grown(64 << 10, "blocks", times)
        newest, expected = accesses_of(self.snapshot), accesses_by_the_text(times)
        self.assertGreater(len(newest), 5000)
        self.assertLess(len(newest), len(expected))
        self.assertEqual(newest, expected[-len(newest):])

    def test_threads_that_have_ended(self):
        few, many = (self.grown(MEBIBYTE // 2, "threads", times) for times in (4000, 24_000))
        self.assertLess(many - few, MEBIBYTE // 2 + 20_000 * 100)
        self.verify()
        self.assertGreater(self.chunks()["records"], 100)

    def test_processes_that_have_ended(self):
        few, many = (self.grown(MEBIBYTE // 2, "processes", times) for times in (600, 3600))
        self.assertLess(many - few, MEBIBYTE // 2 + 3000 * 300)
        self.verify()
        chunks = self.chunks()
        # A start and an end of each process that has records, and of a few that ended just now.
        self.assertLess(chunks["process"], 2 * chunks["records"] + 600)

    def test_libraries_that_are_loaded_again(self):
        few, many = (self.grown(MEBIBYTE // 2, "libraries", times, library()) for times in (2000, 20_000))
        self.assertGreater(few, MEBIBYTE)  # it was seen
        self.assertLess(many - few, MEBIBYTE)
        self.verify()
        self.assertEqual(self.chunks()["module"], 2)  # the program's and the library's
        report = tools.trackway("report", "--by", "variable", "--csv", "--top", "0", "--cache", "none", self.snapshot).stdout
        self.assertRegex(report, r"(?m)^numbers,")

    def test_what_is_large_is_said(self):
        done = tools.run(tools.TRACKWAY, "record", "-f", "--flight", "4K", "-o", self.output, "--", program("growing"), "work", 1000,
                         check=False)
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"what all records need \(modules, processes\) takes \d+ bytes of the 4096")
        self.assertRegex(tools.trackway("info", self.snapshot).stdout, r"what records need .* took \d+ of the 4096 bytes")
