"""Regions of interest of programs that count: entries and accesses known by hand, in whatever way a region is left; and
what is known of entries that were not counted."""

import subprocess
import time
import unittest
from pathlib import Path

from ..support import counting, tools

# Of each region the entries, and the writes of the variable `touched` that are its own.
REGIONS = {
    "break": (7, 7 + 6),
    "continue": (10, 10 + 5),
    "return": (4, 4 + 1),
    "goto": (4, 4 + 1),
    "outer": (5, 5 * 2),
    "inner": (5, 5 * 3),
    "all of it": (5, 0),
    "end of it": (5, 5 * 2),
    "recursive": (2, 2 * 5 + 2),
    "in one block": (1, 2),
    "jump": (3, 3 * (1 + 2)),
    "jump outer": (3, 3 * 4),
    "jump inner": (3, 3 * (1 + 2)),
    "elsewhere": (3, 3 * (1 + 2)),
    "object": (1, 5 + 6),
    "whole_function": (4, (0 + 1) + (1 + 1) + (2 + 1) + 3),
    "threads": (4, 100 + 200 + 300 + 400),
    "in object": (2, 2),
}
# Regions of sampled.c that are entered 10^5 times.
OFTEN = ("varying", "outer", "inner")
GLOBBED = {"globbed_one": (1, 2), "globbed_two": (2, 2 * 3)}
REGIONS_CXX = {
    "caught outside": (3, 3 * (1 + 1)),
    # To the handler leads no way on which the region isn't begun.
    "caught where only it leads": (3, 3 * (1 + 1 + 1)),
    "caught within": (3, 3 * (3 + 1)),
    "middle": (3, 3 * (1 + 1)),
    "middle with cleanup": (3, 3 * (1 + 1)),
    "thrown again": (3, 3 * (1 + 1)),
    "guard": (3, 2 + 1 + 2),
    "guard in loop": (6, 6),
    "guard within": (4, 4),
    "(anonymous namespace)::Worker::run(int)": (3, 1 + 2 + 3 + 1),
}


def touched(trace):
    """Entries and writes of `touched` of each region."""
    writes = {}
    for row in counting.table(trace, "region_variables"):
        if row["field"] == "touched":
            writes[row["region"]] = row["writes"]
    return {name: (row["entries"], writes.get(name, 0)) for name, row in counting.regions(trace).items()}


def build_c(folder, compile_program, level, *options, **settings):
    flags = ("-g", level, "-Wall", "-Wextra", "-Werror")
    shared = (f"{folder}/object.so", [counting.REGIONS / "object.c"], *flags, "-shared", "-fPIC")
    shared = compile_program(*shared, **settings)
    sources = [counting.REGIONS / "regions.c", counting.REGIONS / "elsewhere.c", shared]
    return compile_program(f"{folder}/program", sources, *options, *flags, "-pthread", **settings)


def build_cxx(folder, compile_program, level, **settings):
    flags = ("-g", level, "-Wall", "-Wextra", "-Werror")
    variable = compile_program(f"{folder}/elsewhere.o", [counting.REGIONS / "elsewhere.c"], *flags, "-c", **settings)
    return compile_program(f"{folder}/program", [counting.REGIONS / "regions.cpp", variable], *flags, **settings)


class Regions(unittest.TestCase):
    def check(self, build, expected, level, *options, **settings):
        with tools.folder() as folder:
            program = build(folder, counting.compile_counting, level, *options, **settings)
            trace = f"{folder}/trace"
            recorded = tools.record(trace, program)
            self.assertEqual(tools.program_output(recorded), tools.run(program).stdout)
            self.assertEqual(touched(trace), expected)
            self.assertEqual(counting.counts(trace)["open"], 0)
            return trace

    def check_c(self, level, **settings):
        self.check(build_c, REGIONS, level, **settings)

    def check_cxx(self, level, **settings):
        self.check(build_cxx, REGIONS_CXX, level, **settings)

    def test_functions_by_name(self):
        self.check(build_c, {**REGIONS, **GLOBBED}, "-O2", "--region=globbed_*")


class Windows(unittest.TestCase):
    """The program counts all the time, and the trace has what it counted in windows."""

    STEPS = (3, 100, 20, 7)
    LENGTH = 64

    def count(self, options, windows):
        """Entries and writes of each region; `windows` says before which steps recording is switched, and how."""
        with tools.folder() as folder:
            source = [counting.REGIONS / "waiting.c"]
            program, trace = counting.compile_counting(f"{folder}/program", source, "-O2", "-g"), f"{folder}/trace"
            command = [tools.TRACKWAY, "record", "-q", "-o", trace, *options, "--", program, *self.STEPS]
            recorder = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
            with recorder:
                for step in range(len(self.STEPS)):
                    self.assertEqual(recorder.stdout.readline(), "done\n")
                    for word in windows.get(step + 1, ()):
                        self.control(recorder.pid, word)
                    if step < len(self.STEPS) - 1:
                        recorder.stdin.write("\n")
                        recorder.stdin.flush()
                self.assertEqual(recorder.wait(60), 0, recorder.stderr.read())
            return touched(trace)

    def control(self, pid, word):
        """The recorder may not listen yet: the program runs beside it."""
        deadline = time.monotonic() + 20
        while tools.trackway("control", pid, "status", check=False).returncode != 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        tools.trackway("control", pid, word)

    def test_a_window_has_what_was_counted_in_it(self):
        # An entry that a window cuts is one of it.
        self.assertEqual(self.count(("--paused",), {1: ["start"], 2: ["stop"]}),
                         {"round": (100, 100 * self.LENGTH), "all": (1, 0)})

    def test_windows_add_up(self):
        counted = self.count(("--paused",), {1: ["start"], 2: ["stop"], 3: ["start"]})
        self.assertEqual(counted["round"], (107, 107 * self.LENGTH))
        self.assertEqual(counted["all"][0], 2)

    def test_the_end_of_a_window_and_none(self):
        counted = self.count(("--duration", "1h"), {2: ["stop"]})
        self.assertEqual(counted["round"], (103, 103 * self.LENGTH))
        self.assertEqual(self.count(("--start-after", "1h"), {}), {})

    def test_windows_of_records_are_refused(self):
        with tools.folder() as folder:
            program, trace = build_c(folder, counting.compile_counting, "-O2"), f"{folder}/trace"
            for words in (("--max-size", "1M"), ("--bursts", "1ms/2ms"), ("--start-after", "1Kacc"), ("--only-region", "x")):
                refused = tools.trackway("record", *words, "-o", trace, "--", program, check=False)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("Programs that count have --paused", refused.stderr)


class Threads(unittest.TestCase):
    def test_imbalance(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, build_c(folder, counting.compile_counting, "-O2"))
            threads = [row for row in counting.table(trace, "regions_by_thread") if row["region"] == "threads"]
            self.assertEqual(sorted(row["writes"] for row in threads), [100, 200, 300, 400])
            self.assertEqual(len({row["thread"] for row in threads}), 4)
            self.assertAlmostEqual(counting.regions(trace)["threads"]["bytes_imbalance"], 400 / 250)


class Many(unittest.TestCase):
    """More regions at once, or within each other, than have nodes of their own: what they access is counted still."""

    def writes(self, name):
        with tools.folder() as folder:
            program = counting.compile_counting(f"{folder}/program", [counting.REGIONS / name], "-O1")
            recorded = tools.record(f"{folder}/trace", program)
            return recorded, {region: writes for region, (_, writes) in touched(f"{folder}/trace").items()}

    def test_recursion_through_others(self):
        pings, pongs = 1 + 1 + 2 + 2 + 3 + 3 + 4 + 4, 0 + 1 + 1 + 2 + 2 + 3 + 3 + 4
        self.assertEqual(self.writes("mutual.c")[1], {"ping": 2 * pings, "pong": 2 * pongs})

    def test_more_than_nodes(self):
        recorded, writes = self.writes("within.c")
        self.assertIn("more than 1024 regions within each other", recorded.stderr)
        self.assertEqual(sum(writes.values()), int(recorded.stdout))


class Compiler(unittest.TestCase):
    """The pass reads no memory that it freed, and ends."""

    def test_freed_memory(self):
        filled = tools.environment(MALLOC_PERTURB_="165")
        for source in ("regions.c", "regions.cpp", "mutual.c", "sampled.c"):
            for level in tools.LEVELS:
                with self.subTest(f"{source} {level}"), tools.folder() as folder:
                    flags = ("--count", "-g", level, "-c", counting.REGIONS / source, "-o", f"{folder}/object")
                    tools.trackway(tools.compiler_for(source), *flags, env=filled)

    def check_same(self, source, *flags):
        """Every function is a region."""
        with tools.folder() as folder:
            source = tools.ROOT / "tests" / "torture" / source
            plain = tools.compile_plain(f"{folder}/plain", [source], "-w", *flags)
            program = counting.compile_counting(f"{folder}/program", [source], "--region=*", "-w", *flags)
            recorded = tools.record(f"{folder}/trace", program)
            self.assertEqual(tools.program_output(recorded), tools.run(plain).stdout)

    def test_loops(self):
        self.check_same("loops.c", "-O2")

    def test_naked_functions(self):
        self.check_same("frames.c", "-O0")

    def test_exceptions(self):
        self.check_same("exceptions.cpp", "-O2")


class OtherBuilds(unittest.TestCase):
    """To whom regions mean nothing."""

    def check_traced(self, build):
        with tools.folder() as folder:
            traces = []
            for flags in ((), (counting.WITHOUT_REGIONS,)):
                traces.append(trace := f"{folder}/{len(traces)}")
                program = build(folder, lambda *words, flags=flags: counting.compile_tracing(*words, *flags), "-O2")
                recorded = tools.record(trace, program)
                self.assertEqual(tools.program_output(recorded), "regions left\n")
            with_regions, without = (counting.accesses_traced(trace) for trace in traces)
            self.assertEqual(with_regions, without)
            self.assertTrue(without)

    def test_traced(self):
        self.check_traced(build_c)

    def test_traced_cxx(self):
        self.check_traced(build_cxx)

    def test_header_is_nothing_to_other_compilers(self):
        for compiler, source in (("gcc", "regions.c"), ("g++", "regions.cpp"), ("clang-22", "regions.c"),
                                 ("clang++-22", "regions.cpp")):
            with self.subTest(compiler), tools.folder() as folder:
                flags = ("-Wall", "-Wextra", "-Werror", "-O2", f"-I{tools.BUILD / 'include'}", "-c")
                tools.run(compiler, *flags, counting.REGIONS / source, "-o", f"{folder}/object")
                self.assertNotIn("trackway", tools.run("nm", f"{folder}/object").stdout)

    def test_names_are_literals(self):
        with tools.folder() as folder:
            source = f"{folder}/computed.c"
            with open(source, "w") as file:
                file.write("#include <trackway.h>\nint main(int argc, char **argv) {\n")
                file.write("    TRACKWAY_REGION_BEGIN(argv[argc - 1]);\n}\n")
            done = tools.trackway("cc", "--count", source, "-o", f"{folder}/program", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"computed\.c:3:5: error: .*string literal")


class OtherCode(unittest.TestCase):
    """Calls of functions that aren't instrumented: each is counted, and some are timed."""

    def check(self, level):
        with tools.folder() as folder:
            slow = tools.compile_plain(f"{folder}/slow.o", [counting.REGIONS / "slow.cpp"], "-O1", "-c")
            sources = [counting.REGIONS / "calls.cpp", slow]
            program = counting.compile_counting(f"{folder}/program", sources, "-g", level)
            trace = f"{folder}/trace"
            slow_ns, answer = map(int, tools.program_output(tools.record(trace, program)).split())
            self.assertEqual(answer, 50000 + 1000)
            calls = {row["function"].split("(")[0]: row for row in counting.table(trace, "external_calls")}
            region = counting.regions(trace)["calling"]
            return slow_ns, calls, region

    def check_all(self, level):
        slow_ns, calls, region = self.check(level)
        made = {"slow": 20, "quick": 100_000, "throws_if_odd": 30, "calls_back": 1}
        self.assertEqual({name: calls[name]["calls"] for name in made}, made)
        timed = {name: calls[name]["timed_calls"] for name in made}
        # Long ones are timed one by one. An exception takes the call's time with it.
        self.assertEqual((timed["slow"], timed["calls_back"], timed["throws_if_odd"]), (20, 1, 15))
        # One in 64 on the average, if they take no time at all.
        self.assertGreater(timed["quick"], 100_000 / 64 * 0.8)
        self.assertLess(timed["quick"], 100_000)
        self.assertGreaterEqual(calls["slow"]["time_ns"], 20 * 2_000_000)
        self.assertLessEqual(calls["slow"]["time_ns"], slow_ns)
        times = sum(row["time_ns"] or 0 for row in calls.values())
        self.assertEqual(region["external_time_ns"], times)
        self.assertGreater(calls["quick"]["time_ns"], 0)

    def test_unoptimised(self):
        self.check_all("-O0")

    def test_optimised(self):
        self.check_all("-O2")


class Sampling(unittest.TestCase):
    """Regions that are entered 10^5 times, of which some entries are counted."""

    @staticmethod
    def program():
        def build():
            output = tools.BUILD / "tests" / "sampled"
            output.parent.mkdir(parents=True, exist_ok=True)
            return counting.compile_counting(output, [counting.REGIONS / "sampled.c"], "-O2")

        return tools.once("sampled", build)

    def check(self, *options):
        with tools.folder() as folder:
            recorded = tools.record(f"{folder}/trace", self.program(), options=options)
            self.assertEqual(recorded.stdout, tools.run(self.program()).stdout)
            regions = counting.regions(f"{folder}/trace")
        for line in recorded.stdout.splitlines():
            name, entries, writes = line.split()
            self.check_region(regions[name], int(entries), 8 * int(writes))
        return regions

    def check_region(self, row, entries, written):
        self.assertEqual(row["entries"], entries)
        self.assertIsNotNone(row["bytes_uncertainty"], row["region"])
        allowed = 3 * row["bytes_uncertainty"] * counting.bytes_of(row)
        self.assertLessEqual(abs(counting.bytes_of(row) - written), allowed, row)

    def test_all(self):
        regions = self.check()
        for row in regions.values():
            self.assertEqual((row["counted_entries"], row["timed_entries"]), (row["entries"], 0))
        for name in OFTEN:
            row = regions[name]
            self.assertEqual(row["rate_by"], "calibrated", row)
            self.assertGreater(row["write_mb_per_s"], row["raw_write_mb_per_s"])
            self.assertLessEqual(row["write_mb_per_s"], 2 * row["raw_write_mb_per_s"])

    def test_timing_seemed_slow_at_first(self):
        """A machine that was busy as the program began: each entry would seem to take no time."""
        commands = ("break __trackway_begin_stay", "run", "set {unsigned long}&least_ticks = 1000000", "delete", "continue")
        debugger = ["gdb", "-q", "-batch", "-nx", *(word for command in commands for word in ("-ex", command))]
        with tools.folder() as folder:
            tools.record(f"{folder}/trace", *debugger, self.program(), differs="the debugger shows addresses")
            regions = counting.regions(f"{folder}/trace")
        for name in OFTEN:
            nanoseconds = regions[name]["time_ns"] / regions[name]["entries"]
            self.assertGreater(nanoseconds, 1, regions[name])
            self.assertEqual(regions[name]["rate_by"], "calibrated", regions[name])

    def test_costs_are_not_known(self):
        """What counting costs stands at the end of the trace, which is cut off."""
        with tools.folder() as folder:
            trace = Path(folder, "trace")
            tools.record(trace, self.program(), options=("--codec", "none"))
            whole = trace.read_bytes()
            trace.write_bytes(whole[: whole.rindex(b'"step_costs"')])
            for row in map(counting.regions(trace).get, OFTEN):
                self.assertEqual(row["rate_by"], "")
                self.assertIsNone(row["write_mb_per_s"])
                self.assertGreater(row["raw_write_mb_per_s"], 0)

    def test_one_in_ten(self):
        regions = self.check("--sample", "10")
        for name in ("varying", "outer"):
            for kind in ("counted_entries", "timed_entries"):
                self.assertAlmostEqual(regions[name][kind] / regions[name]["entries"], 1 / 10, delta=0.01)
            self.assertGreater(regions[name]["write_mb_per_s"], 0)
            self.assertEqual(regions[name]["rate_by"], "timed")
        self.assertEqual(regions["once"]["counted_entries"], 1)

    def test_overhead(self):
        regions = self.check("--overhead", "5%")
        for name in OFTEN:
            self.assertLess(regions[name]["counted_entries"], regions[name]["entries"] / 5)

    def test_one_slow_entry_does_not_thin_out_the_others(self):
        regions = self.check("--overhead", "5%")
        self.assertGreater(regions["stumbling"]["counted_entries"], 200)


def add_tests():
    for level in tools.LEVELS:
        setattr(Regions, f"test_{level.lstrip('-')}", lambda self, level=level: self.check_c(level))
        setattr(Regions, f"test_cxx_{level.lstrip('-')}", lambda self, level=level: self.check_cxx(level))
    for name, check in (("c", Regions.check_c), ("cxx", Regions.check_cxx)):
        setattr(Regions, f"test_{name}_llvm_19", lambda self, check=check: check(self, "-O2", version=19))


add_tests()
