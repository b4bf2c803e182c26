"""Allocations in constructors and the standard library go by the user's code that led to them."""

import json
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "vectors.cpp"
TWO = tools.PROGRAMS / "two_definitions.cpp"
ROUNDS = 10
BYTES = 8 * 100


def line_of(text):
    """Where the only line with the text stands."""
    [number] = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return number


def table(name, *question):
    report = json.loads(tools.trackway(*question, "--json", "--top", "0").stdout)
    return next(table["rows"] for table in report["tables"] if table["name"] == name)


def allocations(trace):
    """Blocks and bytes by function and line of this source; the line is None if it is unknown."""
    sums = {}
    for row in table("allocations", "memory", trace):
        key = row["function"].split("(")[0], row["line"]
        blocks, size = sums.get(key, (0, 0))
        sums[key] = blocks + row["allocations"], size + row["allocated_bytes"]
    return sums


class AllocationOrigins(unittest.TestCase):
    EXPECTED = {("five", f"Vec {name}("): (ROUNDS, ROUNDS * BYTES * times) for times, name in enumerate("abcde", 1)} | {
        ("two", "Vec x("): (ROUNDS, ROUNDS * BYTES),
        ("two", "Vec y("): (ROUNDS, ROUNDS * BYTES * 6),
        # 1, 2, 4, ... 1024 elements of 8 bytes
        ("grow", "list.push_back"): (11, 8 * 2047),
    }

    def setUp(self):
        self.expected = {(function, line_of(text)): sums for (function, text), sums in self.EXPECTED.items()}

    def trace(self, folder, *flags):
        program = tools.compile_traced(f"{folder}/vectors", [SOURCE], "-g", *flags)
        trace = f"{folder}/vectors.trackway"
        tools.record(trace, program)
        tools.verified_accesses(trace)
        return trace

    def test_each_call_of_a_constructor_has_a_row(self):
        for level in tools.LEVELS:
            for flags in ([level], [level, "-DINTERNAL"]):
                with self.subTest(flags=flags), tools.folder() as folder:
                    self.assertEqual(allocations(self.trace(folder, *flags)), self.expected)

    def test_maps_and_reuse_go_by_the_same_calls(self):
        lines = sorted(line for _, line in self.expected)
        with tools.folder() as folder:
            trace = self.trace(folder, "-O2")
            owners = table("owners", "map", trace)
            allocated = table("allocations", "reuse", "--by", "allocation", trace)
        for names in ([row["name"] for row in owners if row["kind"] == "allocation"], [row["allocation"] for row in allocated]):
            self.assertEqual(sorted(int(name.rsplit(":", 1)[1]) for name in names if ":" in name), lines)

    def test_calls_of_what_does_not_record_leave_the_line_open(self):
        """A definition that isn't traced may have called the constructors itself."""
        for level in tools.LEVELS:
            with self.subTest(level), tools.folder() as folder:
                other = f"{folder}/other.o"
                tools.run(tools.plain_compiler(TWO), level, "-DOTHER", "-c", TWO, "-o", other)
                program = tools.compile_traced(f"{folder}/two", [TWO], "-g", level, other)
                trace = f"{folder}/two.trackway"
                tools.record(trace, program)
                tools.verified_accesses(trace)
                self.assertEqual(allocations(trace), {("main", None): (20, 6000)})
