"""Allocations in constructors and the standard library go by the user's code that led to them."""

import json
import unittest

from . import tools

SOURCE = tools.PROGRAMS / "vectors.cpp"
ROUNDS = 10
BYTES = 8 * 100


def line_of(text):
    """Where the only line with the text stands."""
    [number] = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return number


def allocations(trace):
    """Blocks and bytes by function and line of this source; the line is None if it is unknown."""
    report = json.loads(tools.trackway("memory", "--json", "--top", "0", trace).stdout)
    rows = next(table["rows"] for table in report["tables"] if table["name"] == "allocations")
    sums = {}
    for row in rows:
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

    def found(self, *flags):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/vectors", [SOURCE], "-g", *flags)
            trace = f"{folder}/vectors.trackway"
            tools.record(trace, program)
            tools.verified_accesses(trace)
            return allocations(trace)

    def test_each_call_of_a_constructor_that_is_known_has_a_row(self):
        for level in tools.LEVELS:
            with self.subTest(level):
                found = self.found(level, "-DINTERNAL")
                if level == "-O0":  # the growth of std::vector passes functions that other files may have, too
                    self.assertEqual(found.pop(("grow", None)), self.expected[("grow", line_of("list.push_back"))])
                    expected = {key: sums for key, sums in self.expected.items() if key[0] != "grow"}
                else:
                    expected = self.expected
                self.assertEqual(found, expected)

    def test_functions_that_other_files_may_have_go_by_the_calling_function(self):
        for level in tools.LEVELS:
            with self.subTest(level):
                found = self.found(level)
                self.assertEqual(by_function(found), by_function(self.expected))
                lines = {key: sums for key, sums in found.items() if key[1] is not None}
                self.assertEqual(lines, {key: self.expected[key] for key in lines})
                self.assertTrue(lines)


def by_function(rows):
    sums = {}
    for (function, _), (blocks, size) in rows.items():
        before = sums.get(function, (0, 0))
        sums[function] = before[0] + blocks, before[1] + size
    return sums
