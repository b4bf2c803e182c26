"""Programs that count: as many accesses and bytes, by line and function, as a trace of the same source holds; and how
they begin and end. Regions have tests of their own."""

import os
import signal
import subprocess
import unittest

from ..compiling import test_library_calls as library_calls
from ..support import counting, tools
from ..support.random_programs.corpora import CCorpus, CxxCorpus
from ..support.real_programs import make_bzip2
from ..support.workloads import known_answers

WORKLOADS = tools.ROOT / "workloads"
PARALLEL = ("bfs", "betweenness", "components", "pagerank", "paths", "triangles")
THREADED = ("kvstore", "threads")
SEQUENTIAL = ("stream", "chase", "hash", "tree", "quicksort", "matrix", "simplex", "interpreter", "fluid")
AT_ALL_LEVELS = ("hash", "quicksort", "matrix", "kvstore", "fluid")
# Who of several threads does what differs from run to run.
ONE_THREAD = tools.environment(OMP_NUM_THREADS="1")


def sources_of(name):
    folder = WORKLOADS / name
    return sorted(folder.glob("*.c")) if folder.is_dir() else [next(WORKLOADS.glob(f"{name}.c*"))]


def flags_of(name):
    return ("-fopenmp",) if name in PARALLEL else ("-pthread",) if name in THREADED else ()


class SameAsTrace(unittest.TestCase):
    def check_runs(self, folder, plain, counting_command, tracing_command, **settings):
        """Records both, which must do what the plain program did; returns what they printed."""
        traces = f"{folder}/counts", f"{folder}/accesses"
        for trace, command in zip(traces, (counting_command, tracing_command), strict=True):
            recorded = tools.record(trace, *command, check=False, **settings)
            output = tools.program_output(recorded)
            self.assertEqual((recorded.returncode, output), (tools.shell_status(plain), plain.stdout), recorded.stderr)
        counted = counting.accesses_counted(traces[0])
        self.assertEqual(counted, counting.accesses_traced(traces[1]))
        self.assertEqual(counting.counts(traces[0])["below_zero"], 0)
        return plain.stdout, counted

    def check_builds(self, folder, sources, flags, *arguments, **settings):
        flags = ("-g", counting.WITHOUT_REGIONS, *flags)
        counts = counting.compile_counting(f"{folder}/counting", sources, *flags)
        traces = counting.compile_tracing(f"{folder}/tracing", sources, *flags)
        header = f"-I{tools.BUILD / 'include'}"
        plain = tools.compile_plain(f"{folder}/plain", sources, *flags, header)
        plain = tools.run(plain, *arguments, check=False, **settings)
        return self.check_runs(folder, plain, (counts, *arguments), (traces, *arguments), **settings)


class Workloads(SameAsTrace):
    def check(self, name, level):
        with tools.folder() as folder:
            flags = (level, *flags_of(name))
            output, counted = self.check_builds(folder, sources_of(name), flags, "small", env=ONE_THREAD)
            self.assertEqual(output.strip(), known_answers()[name])
            self.assertGreater(len(counted), 3)


class RealPrograms(SameAsTrace):
    def test_bzip2(self):
        with tools.folder() as folder:
            built = []
            compilers = f"clang-{tools.LLVM_VERSION}", f"{tools.TRACKWAY} cc --count", f"{tools.TRACKWAY} cc"
            for compiler in compilers:
                os.mkdir(home := f"{folder}/{len(built)}")
                built.append(f"{make_bzip2(home, compiler, '-O2')}")
            sample = f"{built[0]}/sample1.bz2"
            plain, *commands = ((f"{source}/bzip2", "-d", "-k", "-c", sample) for source in built)
            _, counted = self.check_runs(folder, tools.run(*plain), *commands)
            self.assertIn("decompress.c", {file for file, _, _ in counted})


class SharedLabels(SameAsTrace):
    """Interpreters that translate their program into labels, which both copies of the function share."""

    def test_label_escape(self):
        for level in ("-O0", "-O2"):
            for interpreter in ("own", "distances"):
                with self.subTest(level=level, interpreter=interpreter), tools.folder() as folder:
                    _, counted = self.check_builds(folder, [tools.PROGRAMS / "label_escape.c"], (level,), "500", interpreter)
                    function = "run" if interpreter == "own" else "run_by_distances"
                    self.assertIn(function, {name for _, _, name in counted})


class RandomPrograms(SameAsTrace):
    def check(self, corpus, seed, level):
        with tools.folder() as folder:
            corpus.write(seed, folder)
            self.check_builds(folder, [f"{folder}/{corpus.source}"], (level, f"-I{folder}", *corpus.flags))


class LibraryCalls(unittest.TestCase):
    """What library functions access, as the cases of library_calls.c say and as the same program records it."""

    def count(self, folder, *flags):
        program = counting.compile_counting(f"{folder}/counting", [library_calls.SOURCE], *flags, "-g")
        tools.record(f"{folder}/counts", program, check=False)  # its status is a result
        return f"{folder}/counts"

    def cases(self, folder, *flags):
        """Reads, writes, bytes read and written of each case."""
        numbers = ("reads", "writes", "bytes_read", "bytes_written")
        regions = counting.regions(self.count(folder, "--region=case_*", *flags))
        return {name.removeprefix("case_"): [row[number] for number in numbers] for name, row in regions.items()}

    def check_by_hand(self, *flags):
        with tools.folder() as folder:
            own, both = self.cases(folder, "--library=0", *flags), self.cases(folder, *flags)
        for case, ranges in library_calls.EXPECTED.items():
            sizes = [[size for kind, _, size in ranges if kind == verb] for verb in ("read", "write")]
            expected = [*map(len, sizes), *map(sum, sizes)]
            self.assertEqual([a - b for a, b in zip(both[case], own[case], strict=True)], expected, case)

    def test_by_hand_unoptimised(self):
        self.check_by_hand("-O0", "-fno-builtin")

    def test_by_hand_optimised(self):
        self.check_by_hand("-O2", "-fno-builtin")

    def test_as_recorded(self):
        for flags in library_calls.BUILDS:
            with self.subTest(flags), tools.folder() as folder:
                counted = counting.accesses_counted(self.count(folder, *flags))
                program = counting.compile_tracing(f"{folder}/tracing", [library_calls.SOURCE], *flags, "-g")
                tools.record(f"{folder}/accesses", program, check=False)
                self.assertEqual(counted, counting.accesses_traced(f"{folder}/accesses"))


def built_once(source, level, *flags):
    """A program of tests/programs that counts."""
    output = tools.BUILD / "tests" / f"{source.stem}_counting_{level.lstrip('-')}"

    def build():
        output.parent.mkdir(parents=True, exist_ok=True)
        return counting.compile_counting(output, [source], level, *flags)

    return tools.once(("counting", source, level), build)


def endings():
    return built_once(tools.PROGRAMS / "endings.c", "-O1")


def numbers_written(trace):
    """Of the array that the programs fill."""
    return sum(row["writes"] for row in counting.table(trace, "region_variables") if "numbers" in row["field"])


class Endings(unittest.TestCase):
    """What was counted until the program ended is in the trace, however it did."""

    WRITES = 100_000  # of each ending in programs/endings.c

    def check(self, ending, status):
        self.assertEqual(self.written_until(ending, status), self.WRITES)

    def written_until(self, ending, status):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded = tools.record(trace, endings(), ending, check=False)
            self.assertEqual(recorded.returncode, status)
            return numbers_written(trace)

    def test_return(self):
        self.check("return", 0)

    def test_exit(self):
        self.check("exit", 9)

    def test_exit_without_clean_up(self):
        self.check("_exit", 7)

    def test_kill(self):
        self.check("kill", 128 + signal.SIGKILL)

    def test_crash(self):
        self.check("crash", 128 + signal.SIGSEGV)

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT)

    def test_exec(self):
        """exec may return: what leans on the blocks behind it is one behind in the first image."""
        self.assertAlmostEqual(self.written_until("exec", 0), 2 * self.WRITES, delta=1)

    def test_interrupt(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            command = [tools.TRACKWAY, "record", "-f", "-o", trace, "--", endings(), "hang"]
            recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(tools.read_line(recorder.stdout), "hanging\n")
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=60)
            self.assertEqual(numbers_written(trace), self.WRITES)

    def test_without_recorder(self):
        self.assertEqual(tools.run(endings()).stdout, "last 299997\n")


class Processes(unittest.TestCase):
    def test_a_child_counts_for_itself(self):
        filled = 10_000  # at a time
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, built_once(tools.PROGRAMS / "fork.c", "-O0"))
            self.assertEqual(numbers_written(trace), 3 * filled)
            parent, child = counting.table(trace, "regions_by_thread")
            self.assertEqual((parent["process"], child["process"]), (0, 1))
            self.assertAlmostEqual(parent["writes"], 2 * child["writes"], delta=20)

    def test_a_child_counts_from_the_fork_on(self):
        filled = 10_000
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, built_once(tools.PROGRAMS / "fork.c", "-O2"))
            self.assertEqual(numbers_written(trace), 3 * filled)
            parent, child = counting.table(trace, "regions_by_thread")
            # Each loads `stdout` once, and printf reads a format for each line.
            self.assertEqual((parent["reads"], parent["writes"]), (2 * filled + 1 + 2, 2 * filled))
            self.assertEqual((child["reads"], child["writes"]), (filled + 1 + 1, filled))


class Capacity(unittest.TestCase):
    def test_hundreds_of_threads(self):
        program = built_once(counting.REGIONS / "crowd.c", "-O2", "-pthread")
        for options in ((), ("--buffer-size", "16K", "--buffers", "8")):
            with tools.folder() as folder:
                recorded = tools.record(f"{folder}/trace", program, options=options)
                threads, writes = map(int, recorded.stdout.split())
                row = counting.regions(f"{folder}/trace")["crowd"]
                self.assertEqual((row["threads"], row["entries"], row["writes"]), (threads, threads, writes))

    def test_more_counters_than_a_buffer_holds(self):
        functions = 2100  # 16 KiB hold 2016 counters
        with tools.folder() as folder:
            source = f"{folder}/many.c"
            with open(source, "w") as file:
                file.write("volatile int written;\n")
                file.writelines(f"void write_{i}(void) {{ written = {i}; }}\n" for i in range(functions))
                calls = "".join(f"write_{i}();" for i in range(functions))
                file.write(f"int puts(const char *);\nint main(void) {{ {calls} return puts(\"done\") < 0; }}\n")
            program = counting.compile_counting(f"{folder}/many", [source], "-O0")
            trace = f"{folder}/trace"
            self.check_recording(trace, program, ("--buffer-size", "16K"), "a buffer is too small for the counters")
            self.check_recording(trace, program, ("--buffer-size", "32K"), "counts of the whole program")
            self.assertEqual(counting.regions(trace)["(whole program)"]["writes"], functions + 1)

    def check_recording(self, trace, program, options, message):
        recorded = tools.record(trace, program, options=options)
        self.assertEqual(tools.program_output(recorded), "done\n")
        self.assertIn(message, recorded.stderr)


def add_tests():
    for name in (*SEQUENTIAL, *THREADED, *PARALLEL):
        for level in tools.LEVELS if name in AT_ALL_LEVELS else ("-O2",):
            method = f"test_{name}_{level.lstrip('-')}"
            setattr(Workloads, method, lambda self, name=name, level=level: self.check(name, level))
    for corpus, seeds in ((CCorpus, 8), (CxxCorpus, 4)):
        for seed in range(1, seeds + 1):
            level = tools.LEVELS[seed % len(tools.LEVELS)]
            method = f"test_{corpus.source.split('.')[-1]}_seed_{seed}"
            setattr(RandomPrograms, method, lambda self, corpus=corpus, seed=seed, level=level: self.check(corpus, seed, level))


add_tests()
