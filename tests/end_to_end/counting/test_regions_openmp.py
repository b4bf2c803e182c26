"""Regions around OpenMP's constructs: entries of the program, and what all threads of its teams did, by its own arithmetic."""

import re
import unittest

from ..support import counting, tools
from .test_regions import touched

OPENMP = "-fopenmp"
EXPECTED = re.compile(r"^ *(.*): (\d+) +(\d+)$", re.MULTILINE)


def expected(output):
    return {name: (int(entries), int(writes)) for name, entries, writes in EXPECTED.findall(output)}


def record(folder, program, threads, *options):
    environment = tools.environment(OMP_NUM_THREADS=str(threads))
    trace = f"{folder}/trace{threads}"
    return trace, tools.program_output(tools.record(trace, program, options=options, env=environment))


class Teams(unittest.TestCase):
    def check(self, name, level, *flags):
        with tools.folder() as folder:
            sources = [counting.REGIONS / name]
            program = counting.compile_counting(f"{folder}/program", sources, OPENMP, "-g", level, *flags)
            for threads in (1, 2, 4, 8):
                with self.subTest(threads=threads):
                    trace, output = record(folder, program, threads)
                    self.assertTrue(expected(output))
                    self.assertEqual(touched(trace), expected(output))
                    self.assertEqual(counting.counts(trace)["open"], 0)

    def test_c_unoptimised(self):
        self.check("openmp.c", "-O0")

    def test_c(self):
        self.check("openmp.c", "-O2")

    def test_cxx(self):
        self.check("openmp.cpp", "-O1")

    def test_fortran(self):
        """By line, in elements of 8 bytes: there is no name for the array."""
        with tools.folder() as folder:
            program = counting.compile_counting(f"{folder}/program", [counting.REGIONS / "openmp.f90"], OPENMP, "-O0")
            for threads in (1, 3):
                trace, output = record(folder, program, threads)
                writes = {}
                for row in counting.table(trace, "region_lines"):
                    if "touched(" in (row["source"] or ""):
                        counting.add(writes, row["region"], (row["bytes_written"] // 8,))
                found = {name: (row["entries"], *writes[name]) for name, row in counting.regions(trace).items()}
                self.assertEqual(found, expected(output))


class Tables(unittest.TestCase):
    SOURCE = "openmp_shares.c"

    def build(self, folder, *flags):
        return counting.compile_counting(f"{folder}/program", [counting.REGIONS / self.SOURCE], *flags, OPENMP, "-O1")

    def test_threads(self):
        """Each thread writes as often as its number says, in each of 5 entries."""
        with tools.folder() as folder:
            trace, output = record(folder, self.build(folder), 4)
            region = counting.regions(trace)["shares"]
            self.assertEqual((region["entries"], region["threads"]), (5, 4))
            self.assertEqual(region["inherited"], 5 * 3)
            threads = [row for row in counting.table(trace, "regions_by_thread") if row["region"] == "shares"]
            for writes, each in zip(sorted(row["writes"] for row in threads), (1, 2, 3, 4), strict=True):
                self.assertIn(writes - 5 * 1000 * each, range(100))  # OpenMP's own
            self.assertEqual(sorted(row["entries"] for row in threads), [0, 0, 0, 5])
            self.assertAlmostEqual(region["bytes_imbalance"], 4 / 2.5, delta=0.01)
            self.assertEqual(region["time_ns"], sum(row["time_ns"] for row in threads))
            entered = next(row for row in threads if row["entries"])
            self.assertEqual(region["entered_time_ns"], entered["time_ns"])
            rate = region["bytes_written"] * 1e3 / entered["own_time_ns"]
            self.assertAlmostEqual(region["raw_write_mb_per_s"] / rate, 1, places=3)

    def test_sampled_entries(self):
        """Of 2000 entries the first 64 and one in 10 of the others are counted, in all threads of the team alike."""
        with tools.folder() as folder:
            program = self.build(folder, "-DENTRIES=2000", "-DWRITES=300")
            trace, output = record(folder, program, 3, "--sample", "10")
            region = counting.regions(trace)["shares"]
            self.assertEqual((region["entries"], region["threads"]), (2000, 3))
            self.assertAlmostEqual(region["counted_entries"], 64 + 1936 / 10, delta=40)
            # All entries are alike, so that the estimates are exact, but for OpenMP's own writes.
            threads = [row for row in counting.table(trace, "regions_by_thread") if row["region"] == "shares"]
            writes = sorted(row["writes"] for row in threads)
            for known, each in zip(writes, (1, 2, 3), strict=True):
                self.assertAlmostEqual(known / (2000 * 300 * each), 1, delta=0.03)

    def names(self, *flags):
        with tools.folder() as folder:
            trace, _ = record(folder, self.build(folder, *flags), 2)
            lines = counting.table(trace, "region_lines")
            return counting.regions(trace), {row["function"] for row in lines if row["writes"]}

    def test_functions_by_name(self):
        """A function's constructs belong to it."""
        regions, functions = self.names("--region=share_*", "-DNO_MARKS")
        self.assertEqual(set(regions), {"share_out"})
        self.assertIn(regions["share_out"]["writes"] - 5 * 1000 * (1 + 2), range(200))
        self.assertIn("share_out, parallel for at openmp_shares.c:14", functions)

    def test_constructs_by_name(self):
        regions, _ = self.names("--region=*parallel for at*", "-DNO_MARKS")
        self.assertEqual(set(regions), {"share_out, parallel for at openmp_shares.c:14"})
        (region,) = regions.values()
        self.assertEqual((region["entries"], region["inherited"]), (5 * 2, 0))


if __name__ == "__main__":
    unittest.main()
