"""Estimated cycles: on a machine of round figures, by counts that follow from the source."""

import json
import unittest
from collections import Counter
from pathlib import Path

from ..support import tools

SOURCE = tools.ROOT / "tests" / "programs" / "time_known.c"
STEPS = 4 << 16
COUNTS = 1 << 16
# From a store to a load of its word.
FORWARD_NS = 6
MEMORY_NS = 100
MOST_MISSES = 10
# Its last cache has an eighth of what the program walks through. Translations and new pages cost nothing.
MACHINE = f"""
processor = "one of round figures"
ghz = 1.0
width = 4.0
window = 400
most_misses = {MOST_MISSES}
fault_ns = 0.0
forward_ns = {FORWARD_NS}.0
transfer_ns = 50.0
[tlb]
second_level_ns = 0.0
walk_ns = 0.0
[[level]]
name = "L1"
size_bytes = 32768
latency_ns = 1.0
line_ns = 0.1
[[level]]
name = "L2"
size_bytes = 524288
latency_ns = 10.0
line_ns = 0.1
[[level]]
name = "memory"
latency_ns = {MEMORY_NS}.0
line_ns = 1.0
"""
CACHES = "L1=32K,8,64:L2=512K,8,64"


def record():
    folder = tools.BUILD / "tests" / "time"
    folder.mkdir(parents=True, exist_ok=True)
    program, trace = folder / "known", folder / "known.trackway"
    tools.trackway("cc", "-O2", "-g", SOURCE, "-o", program)
    tools.run("clang-22", "-O2", SOURCE, "-o", folder / "plain")
    tools.has_plain(program, lambda: folder / "plain")
    tools.record(trace, program)
    machine = folder / "machine.toml"
    machine.write_text(MACHINE)
    return trace, machine


def tables(verb, trace, machine, *options):
    report = tools.trackway(verb, "--json", "--machine", machine, *options, trace).stdout
    return {table["name"]: table["rows"] for table in json.loads(report)["tables"]}


class Time(unittest.TestCase):
    def setUp(self):
        self.trace, self.machine = tools.once("time", record)

    def report(self, *options):
        return tables("report", self.trace, self.machine, "--time", "--top", "0", "--cache", CACHES, *options)

    def functions(self, *options):
        return {row["function"]: row for row in self.report("--by", "function", *options)["functions"]}

    def test_a_chain_takes_a_latency_for_each_step(self):
        cycles = self.functions()["chase"]["cycles"]
        # Less than an eighth of the lines may be found.
        self.assertTrue(0.85 * STEPS * MEMORY_NS <= cycles <= 1.02 * STEPS * MEMORY_NS, cycles)

    def test_independent_loads_overlap_as_far_as_there_are_buffers(self):
        cycles, least = self.functions()["gather"]["cycles"], STEPS * MEMORY_NS / MOST_MISSES
        self.assertTrue(0.85 * least <= cycles <= 1.1 * least, cycles)

    def test_a_counter_in_memory_takes_a_store_and_a_load_for_each_turn(self):
        functions = self.functions()
        one, many = (functions[f"count_in_{of}"]["cycles"] / COUNTS for of in ("one", "many"))
        # The addition takes a cycle.
        self.assertAlmostEqual(one, FORWARD_NS + 1, delta=0.2)
        self.assertLess(many, 3)

    def test_rows_are_ranked_by_cycles_and_add_up(self):
        found = self.report("--by", "line,function,thread")
        whole = found["time"][0]
        for name in ("lines", "functions", "threads"):
            cycles = [row["cycles"] for row in found[name]]
            self.assertEqual(cycles, sorted(cycles, reverse=True))
            self.assertAlmostEqual(sum(cycles) / whole["cycles"], 1, delta=0.001)
        self.assertEqual(whole["cycles"], whole["nanoseconds"])  # 1 GHz
        self.assertLess(whole["work_cycles"], whole["cycles"] / 5)
        self.assertGreater(whole["known_work"], 0.99)

    def test_misses_are_those_without_time(self):
        plain = tools.trackway("report", "--json", "--by", "line", "--top", "0", "--cache", CACHES, self.trace).stdout
        plain = next(table for table in json.loads(plain)["tables"] if table["name"] == "lines")["rows"]
        misses = lambda rows: sorted((row["line"], row["l1_misses"], row["l2_misses"]) for row in rows)
        self.assertEqual(misses(self.report("--by", "line")["lines"]), misses(plain))

    def test_what_if_says_cycles_before_and_after(self):
        options = ("--time", "--cache-before", CACHES, "--cache", "L1=32K,8,64:L2=32M,8,64")
        rows = {row["what"]: row for row in tables("whatif", self.trace, self.machine, *options)["levels"]}
        before = self.report()["time"][0]["cycles"]
        self.assertEqual(rows["estimated cycles"]["before"], before)
        self.assertLess(rows["estimated cycles"]["after"], before / 2)

    def test_diff_says_cycles_before_and_after(self):
        options = ("--time", "--machine", self.machine, "--cache", CACHES, "--by", "function")
        with tools.folder() as folder:
            before = Path(folder, "before.json")
            before.write_text(tools.trackway("report", "--json", "--top", "0", *options, self.trace).stdout)
            sliced = ("--function", "chase")
            found = json.loads(tools.trackway("diff", "--json", *options, *sliced, self.trace, self.trace).stdout)
            self.assertNotIn("changed", {row["state"] for row in found["tables"][0]["rows"]})
            other = tools.trackway("diff", "--json", *options, "--measure", "cycles", before, self.trace).stdout
        self.assertEqual(json.loads(other)["tables"][0]["rows"], [])
        tables_found = {table["name"] for table in json.loads(other)["tables"]}
        self.assertIn("functions_cycles", tables_found)
        refused = tools.trackway("diff", "--time", "--analysis", "sharing", self.trace, self.trace, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("only the analyses", refused.stderr)

    def test_stacks_have_the_cycles_of_their_functions(self):
        with tools.folder() as folder:
            for form, options in (("folded", ("--measure", "cycles")), ("callgrind", ())):
                chosen = ("--time", "--machine", self.machine, "--cache", CACHES, *options)
                tools.trackway("export", self.trace, "--to", form, *chosen, "-o", f"{folder}/{form}")
            stacks, callgrind = Path(folder, "folded").read_text(), Path(folder, "callgrind").read_text()
        sums = Counter()
        for line in stacks.splitlines():
            stack, cycles = line.rsplit(" ", 1)
            sums[stack.split(";")[-1]] += int(cycles)
        reported = {name: row["cycles"] for name, row in self.functions().items()}
        for name, cycles in reported.items():
            self.assertAlmostEqual(sums[name], cycles, delta=0.001 * sum(reported.values()))
        lines = dict(line.split(": ", 1) for line in callgrind.splitlines() if line.startswith(("events", "summary")))
        totals = dict(zip(lines["events"].split(), map(int, lines["summary"].split()), strict=True))
        self.assertAlmostEqual(totals["cycles"] / sum(reported.values()), 1, delta=0.001)

    def test_advice_is_ranked_and_each_card_says_when_it_is_wrong(self):
        found = tables("advise", self.trace, self.machine)
        saved = [row["saves"] for row in found["cards"]]
        self.assertEqual(saved, sorted(saved, reverse=True))
        self.assertTrue(all(saves >= 0.02 for saves in saved), saved)
        # Pages cost nothing on this machine.
        self.assertIn("huge pages", [row["change"] for row in found["not_advised"]])

    def test_what_waits_for_nothing_is_told_so(self):
        with tools.folder() as folder:
            source = Path(folder, "near.c")
            source.write_text("int near[64]; int main(int n, char **v) { for (int i = 0; i < 1000000; i++)"
                              " near[(i * n) & 63] += i * 3; return near[5] & 0; }")
            tools.trackway("cc", "-O1", "-g", source, "-o", f"{folder}/near")
            tools.run("clang-22", "-O1", source, "-o", f"{folder}/plain")
            tools.has_plain(Path(folder, "near"), lambda: Path(folder, "plain"))
            tools.record(f"{folder}/trace", f"{folder}/near")
            answer = tools.trackway("advise", "--machine", self.machine, f"{folder}/trace").stdout
            self.assertIn("Nothing is to be gained in memory here", answer)

    def test_errors_say_what_to_do(self):
        for options, words in (
            (["report", "--sort", "cycles"], "--time"),
            (["report", "--machine", self.machine], "add --time"),
            (["report", "--time", "--machine", "pentium"], "zen3"),
            (["report", "--time", "--machine", "nowhere.toml"], "nowhere.toml"),
            (["report", "--time", "--cache", "none", "--machine", self.machine], "drop --cache none"),
        ):
            with self.subTest(options=options):
                done = tools.trackway(*options, self.trace, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
