"""The cache model against an independent simulator, cachegrind, on functions where both see the same accesses."""

import re
import unittest

from ..support import tools

# No inlining, so that each function has counts of its own; no prefix of the stack in the loops that are compared.
FLAGS = ("-O2", "-g", "-fno-inline", "-fno-vectorize", "-fno-slp-vectorize")
GEOMETRY = ("--D1=32768,8,64", "--LL=524288,8,64", "--I1=32768,8,64")
CACHES = "L1=32K,8,64:L2=512K,8,64"
# The stack and libc, which only cachegrind sees, take a few lines of the cache.
TOLERANCE = 0.02


def cachegrind_counts(output, function):
    """Data accesses, level 1 misses and last-level misses, reads and writes together, of a function."""
    events, inside, sums = [], False, {}
    with open(output) as file:
        lines = file.readlines()
    for line in lines:
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            inside = line.strip() == f"fn={function}"
        elif inside and line[0].isdigit():
            for event, count in zip(events, line.split()[1:], strict=False):  # zeros at the end are left out
                sums[event] = sums.get(event, 0) + int(count)
    pairs = (("Dr", "Dw"), ("D1mr", "D1mw"), ("DLmr", "DLmw"))
    return tuple(sums[read] + sums[write] for read, write in pairs)


class CacheModel(unittest.TestCase):
    def check(self, workload, size, function):
        source = tools.ROOT / "workloads" / f"{workload}.c"
        with tools.folder() as folder:
            plain = tools.compile_plain(f"{folder}/plain", [source], *FLAGS)
            output = f"{folder}/cachegrind"
            tools.run("valgrind", "--tool=cachegrind", "--cache-sim=yes", *GEOMETRY,
                      f"--cachegrind-out-file={output}", plain, size)
            traced = tools.compile_traced(f"{folder}/traced", [source], *FLAGS, oracle=False)
            tools.record(f"{folder}/trace", traced, size)
            report = tools.report(f"{folder}/trace", "--cache", CACHES, "--by", "function", "--top", "0")
            row = next(row for row in report["tables"][0]["rows"] if re.match(rf"{function}\b", row["function"]))
            ours = row["accesses"], row["l1_misses"], row["l2_misses"]
            for name, theirs, own in zip(("accesses", "L1", "LL"), cachegrind_counts(output, function), ours, strict=True):
                self.assertGreater(theirs, 1000, f"{function}: {name}")
                self.assertAlmostEqual(own / theirs, 1, delta=TOLERANCE, msg=f"{function}: {name} {own} vs {theirs}")

    def test_random_order(self):
        self.check("chase", 1 << 14, "chase")

    def test_sequential(self):
        self.check("quicksort", 300_000, "partition")

    def test_matrix(self):
        self.check("matrix", 300, "multiply")
