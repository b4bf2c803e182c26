"""The merged order of threads: what a thread passed on comes before what another one did with it."""

import json
import unittest
from pathlib import Path

from ..support import tools

PROGRAMS = tools.PROGRAMS / "order"
WAYS = ("mutex", "spinning", "ring", "condition", "semaphore", "barrier", "creation")
SMALL_BUFFERS = ("--buffer-size", "16K", "--buffers", "64")
RUNS = 4
READS = ("load", "atomic load", "copy read", "library read")
WRITES = ("store", "atomic store", "atomic read-modify-write", "atomic compare-exchange", "copy write", "fill",
          "library write")


def contradictions(trace):
    """Reads of a slot that stand before the write that they must see, and all reads by other threads."""
    writers, early, reads = {}, 0, 0
    awaited = {}
    for line in tools.trackway("dump", "--merged", "--json", trace).stdout.splitlines():
        event = json.loads(line)
        if event.get("variable") not in ("slots", "own"):
            continue
        address, stream = event["address"], event["stream"]
        if event["kind"] == "store":
            writers[address] = stream
            early += awaited.pop(address, 0)
        elif address not in writers:
            awaited[address] = awaited.get(address, 0) + 1
        elif writers[address] != stream:
            reads += 1
    return early, reads


class Order(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compile(self, source, *flags, oracle=True):
        return tools.compile_traced(self.folder / "program", [PROGRAMS / source], "-O1", "-pthread", *flags, oracle=oracle)

    def check(self, program, *arguments, runs=RUNS):
        trace = self.folder / "trace"
        for _ in range(runs):
            tools.record(trace, program, *arguments, options=SMALL_BUFFERS)
            early, reads = contradictions(trace)
            self.assertEqual(early, 0, f"{arguments}: reads before their writes, beside {reads} behind")
            self.assertGreater(reads, 50, arguments)
        self.assertGreater(tools.verified_accesses(trace), reads)

    def test_posix_threads(self):
        program = self.compile("hand_over.c")
        for way in WAYS:
            with self.subTest(way):
                self.check(program, way)

    def test_without_order_points_reads_come_too_early(self):
        program = self.compile("hand_over.c", oracle=False)
        plain = tools.trackway("cc", "--order=0", "-O1", "-pthread", PROGRAMS / "hand_over.c", "-o", program)
        self.assertEqual(plain.stderr, "")
        trace = self.folder / "trace"
        tools.record(trace, program, "mutex")
        self.assertGreater(contradictions(trace)[0], 0)
        order = self.order_of(trace)
        self.assertEqual((order["order_points"], order["modules_without_order"]), (0, 1))

    def test_cxx_threads(self):
        self.check(self.compile("hand_over.cpp"))

    def test_waits_are_one_record(self):
        """However long a thread waits in a loop, by whatever way, its trace has all loads and stays small."""
        for level in ("-O1", "-O2"):
            program = self.compile("spin_waits.c", "-fopenmp=libomp", level)
            trace = self.folder / "waits"
            recorded = tools.record(trace, program)
            self.assertEqual(tools.program_output(recorded), tools.run(program).stdout)
            accesses = tools.verified_accesses(trace)
            self.assertLess(trace.stat().st_size, 64 << 10)
            attribution = json.loads(tools.trackway("report", "--json", "--cache", "none", trace).stdout)["tables"]
            (row,) = next(table["rows"] for table in attribution if table["name"] == "attribution")
            self.assertGreater(row["waiting"], accesses / 2)
            self.assertLess(row["waiting"], accesses)

    def test_a_wait_that_never_ends(self):
        """The program ends while a thread waits: what is recorded is whole."""
        trace = self.folder / "waits"
        tools.record(trace, self.compile("waits_for_ever.c"))
        self.assertGreater(tools.verified_accesses(trace), 0)

    def test_openmp(self):
        self.check(self.compile("hand_over_openmp.c", "-fopenmp=libomp"), runs=2)

    def order_of(self, trace):
        tables = json.loads(tools.trackway("sharing", "--json", trace).stdout)["tables"]
        return next(table for table in tables if table["name"] == "order")["rows"][0]

    def test_the_order_says_how_exact_it_is(self):
        program = self.compile("hand_over.c", oracle=False)
        trace = self.folder / "trace"
        tools.record(trace, program, "mutex")
        order = self.order_of(trace)
        points = tools.trackway("dump", "--json", trace).stdout
        points = sum(json.loads(line)["kind"] in ("release", "acquire") for line in points.splitlines())
        self.assertEqual((order["order_points"], order["backward_points"]), (points, 0))
        self.assertGreater(order["within_1_ms"], 0.5)

    def test_all_lines_of_a_merged_dump_are_those_of_the_streams(self):
        trace = self.folder / "trace"
        tools.record(trace, self.compile("hand_over.c", oracle=False), "mutex", options=SMALL_BUFFERS)
        apart = tools.trackway("dump", trace).stdout.splitlines()
        merged = tools.trackway("dump", "--merged", trace).stdout.splitlines()
        self.assertNotEqual(apart, merged)
        # Sorting is stable: each stream's lines must be in their order.
        self.assertEqual(apart, sorted(merged, key=lambda line: int(line.split()[1])))


def hand_overs(events, line_bytes=64):
    """(reads, writes) handed over by (from, to), and by (address of the line, to)."""
    writers, holders = {}, {}
    pairs, lines = {}, {}
    for event in events:
        if event["kind"] not in READS + WRITES:
            continue
        address, thread, writes = int(event["address"], 16), event["stream"], event["kind"] in WRITES
        for number in range(address // line_bytes, (address + max(event["size"], 1) - 1) // line_bytes + 1):
            held = holders.setdefault(number, [])
            others = [other for other in held if other != thread]
            writer = writers.get(number)
            giver = None
            if writes:
                giver = others[-1] if others else None
                writers[number], holders[number] = thread, [thread]
            else:
                if thread not in held and writer not in (None, thread):
                    giver = writer
                holders[number] = [*others, thread]
            if giver is not None:
                for counts, key in ((pairs, (giver, thread)), (lines, (number * line_bytes, thread))):
                    reads, written = counts.get(key, (0, 0))
                    counts[key] = (reads + (not writes), written + writes)
    return pairs, lines


class Sharing(unittest.TestCase):
    def tables(self, *flags):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        program, trace = Path(folder.name) / "kvstore", Path(folder.name) / "trace"
        sources = [tools.ROOT / "workloads" / "kvstore.c"]
        tools.compile_traced(program, sources, "-O2", "-pthread", *flags, oracle=False)
        tools.record(trace, program, 1_000_000)  # so long that threads take turns on any number of processors
        tables = json.loads(tools.trackway("sharing", "--json", trace).stdout)["tables"]
        return {table["name"]: table["rows"] for table in tables}

    def test_pairs_and_lines_are_those_of_the_merged_order(self):
        """Against the definitions, followed access by access over the dump."""
        with tools.folder() as folder:
            trace = Path(folder) / "trace"
            sources = [tools.ROOT / "workloads" / "kvstore.c"]
            program = tools.compile_traced(Path(folder) / "kvstore", sources, "-O2", "-pthread", oracle=False)
            tools.record(trace, program, 4000)
            events = tools.trackway("dump", "--merged", "--json", trace).stdout.splitlines()
            pairs, lines = hand_overs(json.loads(event) for event in events)
            tables = json.loads(tools.trackway("sharing", "--json", "--top", "0", trace).stdout)["tables"]
            groups = ("field", "variable", "type", "line", "function", "file")
            grouped = json.loads(tools.trackway("sharing", "--json", "--top", "0", "--by", ",".join(groups), trace).stdout)
            wrong = tools.trackway("sharing", "--by", "site", trace, check=False)
        self.assertEqual([table["name"] for table in grouped["tables"][:6]], [f"{group}s" for group in groups])
        for table in grouped["tables"][:6]:
            self.assertEqual(sum(row["read_hand_overs"] for row in table["rows"]), sum(reads for reads, _ in pairs.values()))
            self.assertEqual(sum(row["write_hand_overs"] for row in table["rows"]), sum(writes for _, writes in pairs.values()))
        self.assertEqual(wrong.returncode, 2)
        rows = {table["name"]: table["rows"] for table in tables}
        taken = lambda row: (row["read_hand_overs"], row["write_hand_overs"])
        self.assertGreater(len(pairs), 4)
        self.assertEqual({(row["from_stream"], row["to_stream"]): taken(row) for row in rows["thread_pairs"]}, pairs)
        takers = [row for row in rows["shared_lines"] if sum(taken(row)) > 0]
        self.assertEqual({(int(row["line_address"], 16), row["to_stream"]): taken(row) for row in takers}, lines)

    def test_the_statistics_of_the_key_value_store_come_first(self):
        tables = self.tables()
        first = tables["fields"][0]
        self.assertTrue(first["field"].startswith("counters."), first)
        self.assertGreater(first["false_sharing"], 0.9)
        self.check_places(tables["pairs"][0])
        self.check_sharers(tables["cache_lines"][0], tables["shared_lines"])
        padded = self.tables("-DPADDED")["fields"]
        shared = self.write_hand_overs(tables["fields"])
        self.assertGreater(shared, 100)
        self.assertEqual(self.write_hand_overs(padded), 0)
        self.assertFalse(padded[0]["field"].startswith("counters."), padded[0])

    @staticmethod
    def write_hand_overs(fields):
        return sum(row["write_hand_overs"] for row in fields if row["field"].startswith("counters."))

    def check_places(self, pair):
        """Both sides count."""
        source = (tools.ROOT / "workloads" / "kvstore.c").read_text().splitlines()
        for side in ("from", "to"):
            file, line = pair[side].rsplit(":", 1)
            self.assertTrue(file.endswith("kvstore.c"))
            self.assertIn("__atomic_fetch_add(&statistics", source[int(line) - 1])

    def check_sharers(self, line, sharers):
        """Each worker counts each of its operations."""
        counts = sorted((row["reads"] + row["writes"] for row in sharers if row["line_address"] == line["line_address"]), reverse=True)
        self.assertEqual(counts[:2], [line["most_accesses"], line["second_most"]])
        self.assertEqual(line["uniform"], "yes")
        self.assertEqual(len(counts), line["sharers"])
