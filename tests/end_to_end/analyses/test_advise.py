"""Cards of `trackway advise`: each on a program that needs the change, with a gain near that of the changed program by the same
model, and not on the changed program."""

import json
import unittest
from dataclasses import dataclass

from ..support import tools

SOURCE = tools.ROOT / "tests" / "programs" / "advised.c"


@dataclass(frozen=True)
class Part:
    number: int
    change: str
    of: str
    options: tuple = ()
    # How far the predicted time may be from that of the changed program, as a part of the time before.
    near: float = 0.08


PARTS = (
    Part(1, "one for each thread", "total", near=0.12),  # a bound
    Part(2, "lines of its own", "own"),
    Part(3, "loops interchanged", "loops over table", near=0.1),
    Part(4, "loops in blocks", "loops over to"),
    Part(6, "order of visits", "node"),
    Part(10, "sort the indices", "values"),
    Part(7, "pool", "node"),
    Part(8, "leave out", "particle"),
    Part(9, "smaller type", "table", ("--values=variable:table",)),
)
# Translations and lines cost as much as on servers; the last cache has less than what the programs walk through.
MACHINE = """
processor = "one for tests"
ghz = 3.0
width = 4.0
window = 320
most_misses = 12
fault_ns = 0.0
transfer_ns = 60.0
[tlb]
second_level_ns = 2.0
walk_ns = 30.0
[[level]]
name = "L1"
size_bytes = 32768
latency_ns = 1.3
line_ns = 0.3
[[level]]
name = "L2"
size_bytes = 524288
latency_ns = 5.0
line_ns = 1.0
[[level]]
name = "memory"
latency_ns = 90.0
line_ns = 5.0
"""
CACHES = "L1=32K,8,64:L2=512K,8,64,shared"


def machine():
    path = tools.BUILD / "tests" / "advise" / "machine.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MACHINE)
    return path


def recorded(number, options=(), *defines):
    """The trace of a program; tests run side by side."""
    name = "-".join([str(number), *defines])

    def record():
        program = tools.BUILD / "tests" / "advise" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        flags = ["-O2", "-g", "-pthread", f"-DPART={number}", *(f"-D{define}" for define in defines)]
        tools.trackway("cc", *options, *flags, SOURCE, "-o", program)
        tools.run("clang-22", *flags, SOURCE, "-o", f"{program}.plain")
        tools.has_plain(program, lambda: f"{program}.plain")
        trace = program.with_suffix(".trackway")
        tools.record(trace, program)
        return trace

    return tools.once(f"advise-{name}", record)


def tables(verb, trace, *options):
    chosen = ("--machine", tools.once("advise-machine", machine), "--cache", CACHES)
    report = tools.trackway(verb, "--json", *chosen, *options, trace).stdout
    return {table["name"]: table["rows"] for table in json.loads(report)["tables"]}


class Advise(unittest.TestCase):
    def advise(self, trace):
        return tables("advise", trace, "--top", "0")

    def cards(self, trace):
        return {(row["change"], row["of"]): row for row in self.advise(trace)["cards"]}

    def test_each_change_is_advised_where_it_helps_and_not_after_it(self):
        for part in PARTS:
            with self.subTest(part=part):
                before = recorded(part.number, part.options)
                after = recorded(part.number, part.options, "AFTER")
                card = self.cards(before).get((part.change, part.of))
                self.assertIsNotNone(card, self.advise(before))
                cycles = tables("advise", after)["time"][0]["cycles"]
                difference = abs(card["cycles_after"] - cycles) / card["cycles_before"]
                self.assertLess(difference, part.near, (card, cycles))
                self.assertNotIn((part.change, part.of), self.cards(after))

    def test_sharing_ranks_by_the_cycles_of_its_fields(self):
        trace = recorded(1)
        chosen = ("--machine", tools.once("advise-machine", machine))
        found = json.loads(tools.trackway("sharing", "--json", "--time", *chosen, trace).stdout)
        fields = next(table for table in found["tables"] if table["name"] == "fields")["rows"]
        report = json.loads(tools.trackway("report", "--json", "--time", "--by", "field", *chosen, trace).stdout)
        reported = next(table for table in report["tables"] if table["name"] == "fields")["rows"]
        cycles = {row["field"]: row["cycles"] for row in reported}
        self.assertEqual(fields[0]["field"], "total")
        self.assertAlmostEqual(fields[0]["cycles"] / cycles["total"], 1, delta=0.02)

    def test_a_counter_of_several_threads_is_not_to_be_moved(self):
        changes = {change for change, _ in self.cards(recorded(1))}
        self.assertFalse(changes & {"align", "pad", "split", "lines of its own", "threads apart"}, changes)

    def changes_of_locks(self, which):
        program = tools.BUILD / "tests" / "advise" / f"locks-{which}"
        program.parent.mkdir(parents=True, exist_ok=True)
        tools.compile_traced(program, [tools.PROGRAMS / "lock_lines.c"], "-O1", "-g", "-pthread", oracle=False)
        trace = program.with_suffix(".trackway")
        tools.record(trace, program, which, "300")
        return {change for change, of in self.cards(trace) if "lock" in of}

    def test_locks_of_one_line_get_lines_of_their_own(self):
        self.assertIn("lines of its own", self.changes_of_locks("near"))

    def test_a_lock_of_several_threads_is_not_to_be_split(self):
        """Its word is written by all, so none can have its own; they can at most need it less."""
        self.assertEqual(self.changes_of_locks("same"), {"threads apart"})

    def test_loops_that_need_their_order_keep_it(self):
        changes = {change for change, _ in self.cards(recorded(5))}
        self.assertFalse(changes & {"loops interchanged", "loops in blocks"}, changes)

    def test_cards_are_complete(self):
        card = tables("advise", recorded(6), "--top", "1")["card"][0]
        self.assertTrue(all(card[column] for column in ("because", "unless", "next")), card)

    def test_look_ups_at_random_have_no_order(self):
        changes = {change for change, _ in self.cards(recorded(11))}
        self.assertFalse(changes & {"order of visits", "sort the indices", "pool"}, changes)


if __name__ == "__main__":
    unittest.main()
