"""What `report` answers: the field behind the misses, shares with a line and a variable, counts as computed by hand."""

import unittest
from pathlib import Path

from ..support import tools
from ..support.tools import table
from ..support.workloads import build, names

# The full size on every machine would be slow; a cache in which nothing fits gives the same answer for a small one.
SMALL_CACHES = "L1=4K,8,64:L2=16K,8,64"

ROWS = """
#include <stdlib.h>
struct line { long first; long rest[7]; };
int main(void) {
    struct line *lines = aligned_alloc(64, 4096 * sizeof *lines);
    long sum = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4096; i++)
            lines[i].first = round;
    for (int i = 0; i < 4096; i++)
        sum += lines[i].first;
    return sum == 8192 ? 0 : 1;
}
"""


def rows_of(report, grouping):
    return next(table["rows"] for table in report["tables"] if any(c["name"] == grouping for c in table["columns"]))


class Answers(unittest.TestCase):
    def test_simplex_blames_the_pricing_loop(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, build("traced", "simplex", "-O2"), "1100")
            report = tools.report(trace, "--cache", "L1=32K,8,64:L2=256K,8,64")
            self.assertIn("arc.ident", report["answer"])
            self.assertIn("pricing.c", report["answer"])
            first_field, first_line = (rows_of(report, grouping)[0] for grouping in ("field", "line"))
            self.assertEqual(first_field["field"], "arc.ident")
            self.assertTrue(first_line["file"].endswith("simplex/pricing.c"), first_line)
            source = first_line["file"], first_line["line"]
            self.assertIn("arc->ident > BASIC", Path(source[0]).read_text().splitlines()[source[1] - 1])

    def test_fluid_blames_next(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, build("traced", "fluid", "-O2"), "600")
            fields = [row["field"] for row in rows_of(tools.report(trace, "--cache", SMALL_CACHES), "field")]
            self.assertTrue(fields[0].endswith("Cell.next"), fields)

    def test_counts_as_by_hand(self):
        """16,384 accesses to 4096 lines, one after the other, in a cache of 64 lines: each one misses."""
        with tools.folder() as folder:
            source = f"{folder}/rows.c"
            with open(source, "w") as file:
                file.write(ROWS)
            program = tools.compile_traced(f"{folder}/rows", [source], "-O1", "-fno-unroll-loops")
            tools.record(f"{folder}/trace", program)
            self.assertEqual(tools.verified_accesses(f"{folder}/trace"), 4 * 4096)
            report = tools.report(f"{folder}/trace", "--cache", "L1=4K,8,64", "--sort", "L1")
            row = rows_of(report, "field")[0]
            self.assertEqual((row["field"], row["accesses"], row["bytes"]), ("line.first", 4 * 4096, 8 * 4 * 4096))
            self.assertEqual(table(report, "caches")["rows"][0]["misses"], 4 * 4096)
            large = tools.report(f"{folder}/trace", "--cache", "L1=512K,8,64", "--sort", "L1")
            self.assertEqual(table(large, "caches")["rows"][0]["misses"], 4096)


class Columns(unittest.TestCase):
    """What stands beside the numbers, on a trace of the network simplex."""

    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.trace = f"{folder.name}/trace"
        tools.record(self.trace, build("traced", "simplex", "-O2"), "small")
        self.report = tools.report(self.trace, "--cache", SMALL_CACHES, "--by", "field,line,site", "--top", "0")

    def test_shares_of_levels_add_up(self):
        misses = {row["level"]: row["misses"] for row in table(self.report, "caches")["rows"]}
        for name in ("fields", "lines", "sites"):
            rows = table(self.report, name)["rows"]
            for row in rows:
                self.assertAlmostEqual(row["l1_share"], row["l1_misses"] / misses[1])
                self.assertNotIn("l2_share", row, "the ranking is by L2")
                self.assertAlmostEqual(row["share"], row["l2_misses"] / misses[2])
            self.assertAlmostEqual(sum(row["l1_share"] for row in rows), 1)
        by_accesses = tools.report(self.trace, "--cache", SMALL_CACHES, "--by", "field", "--sort", "accesses")
        self.assertIn("l2_share", table(by_accesses, "fields")["rows"][0])

    def test_fields_have_the_line_of_their_main_site(self):
        main = {}
        for site in table(self.report, "sites")["rows"]:
            main.setdefault(site["field"], site)  # the largest comes first
        rows = table(self.report, "fields")["rows"]
        self.assertGreater(len(rows), 10)
        for row in rows:
            site = main[row["field"]]
            with open(site["file"]) as file:
                self.assertEqual(row["source"], file.read().splitlines()[site["line"] - 1].strip(), row["field"])


class Coverage(unittest.TestCase):
    """Over all workloads at -O2: 99 % of the accesses carry a line, 95 % a variable or field."""

    def test_attribution(self):
        total = {"accesses": 0, "with_line": 0.0, "with_variable_or_field": 0.0}
        with tools.folder() as folder:
            for name in names():
                trace = f"{folder}/{name}"
                tools.record(trace, build("traced", name, "-O2"), "small")
                row = table(tools.report(trace), "attribution")["rows"][0]
                total["accesses"] += row["accesses"]
                for share in ("with_line", "with_variable_or_field"):
                    total[share] += row[share] * row["accesses"]
        self.assertGreater(total["accesses"], 1_000_000)
        self.assertGreaterEqual(total["with_line"] / total["accesses"], 0.99)
        self.assertGreaterEqual(total["with_variable_or_field"] / total["accesses"], 0.95)
