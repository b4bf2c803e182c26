"""Reuse distances, miss ratios, patterns, working sets: known ones of a program, and naive counts of what `dump` prints."""

import json
import math
import unittest
from collections import Counter
from pathlib import Path

from ..support import tools
from ..support.workloads import build

LINE_BYTES = 64
LINES, ROUNDS, NODES, TURNS = 1000, 7, 5000, 4
READS = ("load", "atomic load", "copy read", "library read")


def table(report, name):
    return next(table["rows"] for table in report["tables"] if table["name"] == name)


def analyse(verb, trace, *arguments):
    return json.loads(tools.trackway(verb, "--json", "--line-size", LINE_BYTES, *arguments, trace).stdout)


def accesses(trace):
    """Kind, field or variable, first and last line of each access."""
    for text in tools.trackway("dump", "--json", trace).stdout.splitlines():
        event = json.loads(text)
        if "size" in event and "site" in event:
            address = int(event["address"], 16)
            last = address + max(event["size"], 1) - 1
            yield event["kind"], event.get("field"), address // LINE_BYTES, last // LINE_BYTES


def naive_distances(trace):
    """Of reads and of writes: how often each distance occurs, None for first references."""
    stack, known = [], set()
    reads, writes = Counter(), Counter()
    for kind, _, first, last in accesses(trace):
        for line in range(first, last + 1):
            distance = None
            if line in known:
                position = next(i for i in range(len(stack) - 1, -1, -1) if stack[i] == line)
                distance = len(stack) - 1 - position
                del stack[position]
            known.add(line)
            stack.append(line)
            (reads if kind in READS else writes)[distance] += 1
    return reads, writes


def in_row(distances, row):
    if row["from_lines"] is None:
        return distances[None]
    inside = (d for d in distances if d is not None and row["from_lines"] <= d < row["below_lines"])
    return sum(distances[d] for d in inside)


def record_program():
    folder = tools.BUILD / "tests" / "reuse"
    folder.mkdir(parents=True, exist_ok=True)
    program = tools.compile_traced(folder / "program", [tools.PROGRAMS / "reuse.c"], "-O1", "-fno-unroll-loops")
    tools.record(folder / "trace", program)
    return folder / "trace"


class KnownProgram(unittest.TestCase):
    def setUp(self):
        self.trace = tools.once("reuse", record_program)

    def test_a_cyclic_walk_has_the_distance_of_its_lines(self):
        report = analyse("reuse", self.trace)
        curve = {p["cache_lines"]: p for p in table(report, "group_curves") if p["name"] == "line.first"}
        references = LINES * (ROUNDS + 1)
        self.assertEqual(curve[960]["misses"], references)
        self.assertEqual(curve[1024]["misses"], LINES)
        row = next(row for row in table(report, "fields") if row["field"] == "line.first")
        self.assertEqual((row["references"], row["median_distance"], row["p90_distance"]), (references, 960, 960))
        self.assertAlmostEqual(row["cold"], 1 / (ROUNDS + 1))

    def test_allocation_sites_have_their_memory(self):
        rows = table(analyse("reuse", self.trace, "--by", "allocation"), "allocations")
        found = {row["allocation"]: row["accesses"] for row in rows}
        lines = next(count for name, count in found.items() if "line" in name.split(" at ")[0])
        nodes = next(count for name, count in found.items() if "node" in name.split(" at ")[0])
        self.assertEqual(lines, LINES * (ROUNDS + 1), found)
        self.assertEqual(nodes, 2 * NODES + 2 * TURNS * NODES, found)

    def test_patterns_of_known_kind(self):
        rows = table(analyse("patterns", self.trace, "--top", "0"), "sites")
        pattern = {}
        for row in rows:
            pattern.setdefault((row["field"], row["kind"]), set()).add(row["pattern"])
        self.assertEqual(pattern["line.first", "load"], {"stride"})
        self.assertEqual(pattern["node.value", "load"], {"pointer chase"})
        self.assertEqual(pattern["node.next", "load"], {"pointer chase"})
        self.assertEqual(pattern["table", "load"], {"random"})
        self.assertEqual(pattern["counter", "store"], {"constant"})
        walk = next(row for row in rows if (row["field"], row["kind"]) == ("line.first", "load"))
        self.assertEqual(walk["main_stride"], "64")

    def test_a_sample_is_near(self):
        exact, sample = (
            {row["cache_lines"]: row["miss_ratio"] for row in table(analyse("reuse", self.trace, *options), "miss_ratio_curve")}
            for options in ([], ["--sample", "0.2"])
        )
        errors = [abs(ratio - sample[lines]) for lines, ratio in exact.items() if lines in sample]
        self.assertGreater(len(errors), len(exact) // 2)
        self.assertLess(sum(errors) / len(errors), 0.03)

    def test_text_has_a_drawing(self):
        plain = tools.trackway("reuse", self.trace, env=tools.environment(LC_ALL="C")).stdout
        self.assertIn("|##", plain)
        self.assertIn("█", tools.trackway("reuse", self.trace, env=tools.environment(LC_ALL="C.UTF-8")).stdout)

    def test_csv(self):
        curve = tools.trackway("reuse", "--csv", self.trace).stdout.splitlines()
        self.assertTrue(curve[0].startswith("cache_lines,cache_bytes,misses,miss_ratio"), curve[0])
        groups = tools.trackway("reuse", "--csv", "--by", "field", self.trace).stdout.splitlines()
        self.assertTrue(groups[0].startswith("grouping,name,cache_lines"), groups[0])
        sizes = tools.trackway("patterns", "--csv", "--table", "working-set", self.trace).stdout.splitlines()
        self.assertTrue(sizes[0].startswith("stream,from_access,accesses"), sizes[0])


class NaiveCounts(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.trace = Path(folder.name) / "trace"

    def test_distances(self):
        for workload in ("chase", "hash"):
            with self.subTest(workload):
                tools.record(self.trace, build("traced", workload, "-O2"), "small")
                reads, writes = naive_distances(self.trace)
                rows = table(analyse("reuse", self.trace), "reuse_distances")
                for row in rows:
                    self.assertEqual((row["reads"], row["writes"]), (in_row(reads, row), in_row(writes, row)), row)
                self.assertEqual(sum(row["references"] for row in rows), (reads + writes).total())

    def test_working_sets_and_entropy(self):
        tools.record(self.trace, build("traced", "hash", "-O2"), "small")
        report = analyse("patterns", self.trace)
        all_accesses = [(first, last) for _, _, first, last in accesses(self.trace)]
        windows = table(report, "working_set")
        for window in windows:
            inside = all_accesses[window["from_access"] : window["from_access"] + window["accesses"]]
            lines = {line for first, last in inside for line in range(first, last + 1)}
            pages = {line * LINE_BYTES // 4096 for line in lines}
            self.assertEqual((window["cache_lines"], window["pages"]), (len(lines), len(pages)), window)
        self.assertEqual(sum(window["accesses"] for window in windows), len(all_accesses))
        counts = Counter(line for first, last in all_accesses for line in range(first, last + 1))
        total = counts.total()
        entropy = -sum(count / total * math.log2(count / total) for count in counts.values())
        self.assertAlmostEqual(table(report, "entropy")[0]["entropy_bits"], entropy, places=6)

    def test_threads_share_lines_only_if_merged(self):
        tools.record(self.trace, build("traced", "kvstore", "-O2"), "small")
        apart, merged = (table(analyse("reuse", self.trace, *options), "reuse")[0] for options in ([], ["--merged"]))
        self.assertEqual(apart["accesses"], merged["accesses"])
        self.assertLess(merged["footprint_bytes"], apart["footprint_bytes"])
        lines = {line for _, _, first, last in accesses(self.trace) for line in range(first, last + 1)}
        self.assertEqual(merged["footprint_bytes"], len(lines) * LINE_BYTES)
