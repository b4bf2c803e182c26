"""Regions that threads inherit when they are created (`--inherit=threads`): counts by the program's own arithmetic."""

import unittest

from ..support import counting, tools
from .test_regions import touched
from .test_regions_openmp import OPENMP, expected

INHERIT = "--inherit=threads"


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def build(self, source, *flags):
        flags = ("-g", "-Wall", "-Wextra", "-Werror", "-pthread", *flags)
        plain = tools.compile_plain(f"{self.folder}/plain", [counting.REGIONS / source], *flags, *self.include())
        program = counting.compile_counting(f"{self.folder}/program", [counting.REGIONS / source], INHERIT, *flags)
        return plain, program

    @staticmethod
    def include():
        return (f"-I{tools.BUILD / 'include'}",)

    def check(self, source, *flags, options=()):
        plain, program = self.build(source, *flags)
        trace = f"{self.folder}/trace"
        recorded = tools.record(trace, program, options=options, check=False)
        as_plain = tools.run(plain, check=False)
        self.assertEqual((recorded.stdout, recorded.returncode), (as_plain.stdout, as_plain.returncode))
        unrecorded = tools.run(program, check=False)
        self.assertEqual((unrecorded.stdout, unrecorded.returncode), (as_plain.stdout, as_plain.returncode))
        self.assertTrue(expected(as_plain.stdout))
        self.assertEqual(touched(trace), expected(as_plain.stdout))
        self.assertEqual(counting.counts(trace)["open"], 0)
        return trace

    def test_c(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level):
                self.check("threads.c", level)

    def test_c_static(self):
        self.check("threads.c", "-O1", "-static")

    def test_c_static_pie(self):
        self.check("threads.c", "-O1", "-static-pie")

    def test_c_by_lld(self):
        self.check("threads.c", "-O1", "-fuse-ld=lld")

    def test_cxx(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level):
                self.check("threads.cpp", level, "-std=c++20")

    def test_cxx_static(self):
        self.check("threads.cpp", "-O1", "-std=c++20", "-static")

    def test_sampled(self):
        """Of regions that are entered seldom, every entry is counted, by all threads."""
        self.check("threads.c", "-O1", options=("--sample", "10"))

    def test_imbalance(self):
        trace = self.check("threads.c", "-O2")
        threads = [row for row in counting.table(trace, "regions_by_thread") if row["region"] == "shares"]
        writes = [row["writes"] for row in threads]
        for known, own in zip(sorted(writes), (100, 200, 300, 400, 500), strict=True):
            self.assertIn(known - own, range(10))
        region = counting.regions(trace)["shares"]
        self.assertEqual((region["threads"], region["entries"], region["inherited"]), (5, 1, 4))
        own = [counting.bytes_of(row) for row in threads]
        self.assertAlmostEqual(region["bytes_imbalance"], max(own) * 5 / sum(own))
        self.assertEqual(region["time_ns"], sum(row["time_ns"] for row in threads))
        entered = next(row for row in threads if row["entries"])
        self.assertEqual(region["entered_time_ns"], entered["time_ns"])

    def test_without_the_option(self):
        """Threads begin outside of all regions."""
        program = counting.compile_counting(f"{self.folder}/program", [counting.REGIONS / "threads.c"], "-O1")
        self.assertNotIn("T pthread_create", tools.run("nm", program).stdout)
        tools.record(f"{self.folder}/trace", program, check=False)
        self.assertEqual(touched(f"{self.folder}/trace")["shares"], (1, 500))
        self.assertEqual(counting.regions(f"{self.folder}/trace")["shares"]["inherited"], 0)

    def test_shared_objects(self):
        """That create threads, with the function in the object, in the executable, and in both."""
        flags = ("-g", "-O1", "-pthread")
        own = lambda wanted: (INHERIT, *flags) if wanted else flags
        for in_object, in_program in ((True, False), (False, True), (True, True)):
            with self.subTest(in_object=in_object, in_program=in_program):
                library = f"{self.folder}/library.so"
                sources = [counting.REGIONS / "threads_object.cpp"]
                counting.compile_counting(library, sources, *own(in_object), "-shared", "-fPIC")
                sources = [counting.REGIONS / "threads_main.c", library]
                program = counting.compile_counting(f"{self.folder}/program", sources, *own(in_program))
                trace = f"{self.folder}/trace"
                self.assertEqual(touched(self.recorded(trace, program)), {"main": (1, 1 + 20 + 30)})
                self.assertEqual(counting.regions(trace)["main"]["inherited"], 2)

    @staticmethod
    def recorded(trace, program):
        tools.record(trace, program)
        return trace

    def test_openmp(self):
        """The threads that OpenMP creates are its teams', as without the option."""
        program = counting.compile_counting(f"{self.folder}/program", [counting.REGIONS / "openmp.c"], INHERIT, OPENMP, "-O1")
        trace = f"{self.folder}/trace"
        recorded = tools.record(trace, program, env=tools.environment(OMP_NUM_THREADS="4"))
        self.assertEqual(touched(trace), expected(recorded.stdout))
        self.assertEqual(counting.counts(trace)["open"], 0)

    def test_openmp_shares(self):
        """Each of a team's threads but the one that enters inherits anew in each of 5 entries, and then waits outside."""
        program = counting.compile_counting(f"{self.folder}/program", [counting.REGIONS / "openmp_shares.c"], INHERIT, OPENMP, "-O1")
        trace = f"{self.folder}/trace"
        tools.record(trace, program, env=tools.environment(OMP_NUM_THREADS="4"))
        region = counting.regions(trace)["shares"]
        self.assertEqual((region["entries"], region["inherited"], region["threads"]), (5, 5 * 3, 4))

    def test_address_sanitizer(self):
        """It has a pthread_create of its own, which must still be called."""
        program = counting.compile_counting(f"{self.folder}/program", [counting.REGIONS / "threads.cpp"], INHERIT,
                                            "-O1", "-std=c++20", "-fsanitize=address")
        trace = f"{self.folder}/trace"
        recorded = tools.record(trace, program, check=False)
        self.assertEqual((recorded.stderr.count("ERROR"), recorded.returncode), (0, 6), recorded.stderr)
        self.assertEqual(touched(trace), expected(recorded.stdout))

    def test_traced(self):
        """Programs that trace have no regions: the option changes nothing."""
        flags = (INHERIT, "-std=c++20", "-O1", *self.include())
        program = tools.compile_traced(f"{self.folder}/program", [counting.REGIONS / "threads.cpp"], *flags)
        trace = f"{self.folder}/trace"
        tools.record(trace, program, check=False)
        self.assertGreater(tools.verified_accesses(trace), 0)


if __name__ == "__main__":
    unittest.main()
