"""Programs of other processors, cross-compiled and run by an emulator: the known answer, a trace equal to the oracle's,
and of each object as many reads and writes as on this one."""

import json
import os
import shutil
import time
import unittest

from ..support import counting, tools, torture_programs
from ..support.workloads import known_answers

EMULATORS = {
    "x86_64": None,  # this machine's
    "aarch64": "qemu-aarch64",
    "riscv64": "qemu-riscv64",
    "powerpc64le": "qemu-ppc64le",
}
FOREIGN = [processor for processor, emulator in EMULATORS.items() if emulator]
LINKER = f"ld.lld-{tools.LLVM_VERSION}"
LIBRARY = tools.BUILD / "lib" / "trackway"
SURVIVAL = tools.ROOT / "tests" / "survival"
# The smallest buffers: programs leave their code for the runtime often.
SMALL_BUFFERS = ("--buffer-size", "16K")

# As wide as their types: processors differ in how the compiler widens accesses.
SCALAR = "-O2 -fno-vectorize -fno-slp-vectorize"
SEQUENTIAL = ("stream", "chase", "hash", "tree", "quicksort", "matrix", "simplex", "fluid")
THREADED = ("threads",)
COUNTING = ("hash", "quicksort", "fluid")


def triple(processor):
    return f"{processor}-linux-gnu"


def flags_for(processor):
    return (f"--target={triple(processor)}", f"--ld-path={shutil.which(LINKER)}")


def command(processor, program, *arguments):
    emulator = EMULATORS[processor]
    through = (emulator, "-L", f"/usr/{triple(processor)}") if emulator else ()
    return (*through, program, *arguments)


def build_workload(folder, processor, name, flags=SCALAR, **variables):
    """The oracle build of a workload."""
    options = " ".join((flags, *flags_for(processor)))
    make = lambda variant: tools.run("make", "-s", "-C", tools.ROOT / "workloads", variant, f"W={name}", f"OPT={options}",
                                     f"OUT={folder}", env=tools.environment(**variables))
    make("oracle")
    tools.has_plain(f"{folder}/oracle/{name}", lambda: make("plain") and f"{folder}/plain/{name}")
    return f"{folder}/oracle/{name}"


def record_small(trace, processor, program):
    recorded = tools.record(trace, *command(processor, program, "small"), options=SMALL_BUFFERS)
    return tools.program_output(recorded).strip()


def table(output, name):
    return next(table["rows"] for table in json.loads(output)["tables"] if table["name"] == name)


def counts_by_object(trace):
    """Accesses and bytes, read and written, of each allocation site and static variable."""
    counts = {}
    for measure in ("accesses", "bytes"):
        output = tools.trackway("map", "--json", "--top", "0", "--measure", measure, trace).stdout
        for row in table(output, "owners"):
            if row["kind"] != "stack":
                key = (measure, row["kind"], row["name"])
                reads, writes = counts.get(key, (0, 0))
                counts[key] = (reads + row["reads"], writes + row["writes"])
    return counts


def counts_by_variable(trace):
    """Of each variable, as the source names them; these need no order between threads."""
    output = tools.trackway("report", "--json", "--cache", "none", "--top", "0", "--by", "variable", "--by", "kind", trace).stdout
    rows = [*table(output, "variables"), *table(output, "kinds")]
    return {tuple(row.get(column) for column in ("variable", "function", "kind")): (row["accesses"], row["bytes"]) for row in rows}


class Recording:
    def __init__(self, processor, name):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            self.answer = record_small(trace, processor, build_workload(folder, processor, name))
            self.accesses = tools.verified_accesses(trace)
            self.counts = counts_by_object(trace) if name in SEQUENTIAL else counts_by_variable(trace)


def recording(processor, name):
    return tools.once(("portability", processor, name), lambda: Recording(processor, name))


class Workloads(unittest.TestCase):
    def check(self, processor, name):
        here = recording(processor, name)
        self.assertEqual(here.answer, known_answers()[name])
        self.assertGreater(here.accesses, 1000)


class SameCounts(unittest.TestCase):
    def check(self, name):
        expected = recording("x86_64", name).counts
        self.assertGreater(len(expected), 1)
        for processor in FOREIGN:
            self.assertEqual(recording(processor, name).counts, expected, processor)


class Counting(unittest.TestCase):
    """Programs that count do so alike on all processors: entries of regions, and accesses and bytes in them."""

    def counts(self, processor, name):
        source = next((tools.ROOT / "workloads").glob(f"{name}.c*"))
        with tools.folder() as folder:
            flags = (*SCALAR.split(), "-g", *flags_for(processor))
            program = counting.compile_counting(f"{folder}/program", [source], *flags)
            self.assertEqual(record_small(f"{folder}/trace", processor, program), known_answers()[name])
            regions = counting.regions(f"{folder}/trace")
            columns = ("entries", "counted_entries", "reads", "writes", "bytes_read", "bytes_written")
            variables = counting.table(f"{folder}/trace", "region_variables")
            self.assertGreater(counting.counts(f"{folder}/trace")["time_ns"], 0)
            return ({region: [row[column] for column in columns] for region, row in regions.items()},
                    {(row["region"], row["field"]): (row["accesses"], row["bytes"]) for row in variables})

    def check(self, name):
        here = self.counts("x86_64", name)
        self.assertGreater(max(read + written for *_, read, written in here[0].values()), 10_000)
        for processor in FOREIGN:
            self.assertEqual(self.counts(processor, name), here, processor)


class Vectors(unittest.TestCase):
    """What the vectoriser makes of them on each processor."""

    def check(self, processor):
        for name in ("stream", "matrix"):
            with tools.folder() as folder:
                program = build_workload(folder, processor, name, "-O3")
                self.assertEqual(record_small(f"{folder}/trace", processor, program), known_answers()[name])
                self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 1000)


class OldestCompiler(unittest.TestCase):
    def check(self, processor):
        with tools.folder() as folder:
            program = build_workload(folder, processor, "hash", TRACKWAY_CLANG="clang-19", CLANG="clang-19")
            self.assertEqual(record_small(f"{folder}/trace", processor, program), known_answers()["hash"])
            self.assertEqual(tools.verified_accesses(f"{folder}/trace"), recording("x86_64", "hash").accesses)


class Static(unittest.TestCase):
    def check(self, processor):
        with tools.folder() as folder:
            program = build_workload(folder, processor, "tree", f"{SCALAR} -static")
            self.assertEqual(record_small(f"{folder}/trace", processor, program), known_answers()["tree"])
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 1000)


class SharedObject(unittest.TestCase):
    """Whose first call of the runtime comes where much is in registers."""

    def check(self, processor):
        for oracle in (False, True):
            with tools.folder() as folder:
                flags = ("-O2", "-Wl,-z,lazy", *flags_for(processor))
                build = lambda output, *words, flags=flags, oracle=oracle: tools.compile_traced(output, words, *flags, oracle=oracle)
                shared = build(f"{folder}/object.so", SURVIVAL / "bound_lazily_object.c", "-shared", "-fPIC")
                program = command(processor, build(f"{folder}/program", SURVIVAL / "bound_lazily.c", shared))
                expected = tools.run(*program).stdout
                recorded = tools.record(f"{folder}/trace", *program, options=SMALL_BUFFERS)
                self.assertEqual(tools.program_output(recorded), expected)
                if oracle:
                    self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 40000)


class Survival(unittest.TestCase):
    """Signal handlers, edited contexts, forks and many threads."""

    PROGRAMS = {
        "edited_context.c": ("--oracle-dump",),
        "nested_handlers.c": (),
        "fork_storm.c": (),
        "thread_ends.cpp": (),
    }

    def check(self, processor):
        for name, options in self.PROGRAMS.items():
            with self.subTest(name), tools.folder() as folder:
                flags = ("-O2", "-pthread", *flags_for(processor))
                traced = tools.compile_traced(f"{folder}/traced", [SURVIVAL / name], *flags)
                trace = f"{folder}/trace"
                tools.record(trace, *command(processor, traced), options=(*SMALL_BUFFERS, *options))
                self.assertGreater(tools.verified_accesses(trace), 100)


class Torture(unittest.TestCase):
    """Unnamed arguments, structures by value, jumps, exceptions and coroutines, as each processor passes them."""

    PROGRAMS = ("varargs", "structs", "jumps", "exceptions", "coroutine")

    def check(self, processor):
        known = torture_programs.programs()
        for name in self.PROGRAMS:
            for level in torture_programs.LEVELS:
                with self.subTest(f"{name} {level}"), tools.folder() as folder:
                    flags = (level, *known[name].flags, *flags_for(processor))
                    traced = tools.compile_traced(f"{folder}/traced", known[name].sources, *flags)
                    tools.record(f"{folder}/trace", *command(processor, traced), options=SMALL_BUFFERS)
                    self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 0)


class SharedLabels(unittest.TestCase):
    """Interpreters that hand labels out, to both copies of their function."""

    def check(self, processor):
        for level in ("-O0", "-O2"):
            with self.subTest(level), tools.folder() as folder:
                flags = (level, *flags_for(processor), "-Wl,-z,text")
                traced = tools.compile_traced(f"{folder}/traced", [tools.PROGRAMS / "label_escape.c"], *flags)
                for interpreter in ("own", "distances"):
                    program = command(processor, traced, "500", interpreter)
                    recorded = tools.record(f"{folder}/trace", *program, options=SMALL_BUFFERS)
                    self.assertEqual(tools.run(*program).stdout, tools.program_output(recorded))
                    self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 10_000)


class Clock(unittest.TestCase):
    """Programs of all processors in one recording, one after the other."""

    def test_times_are_those_of_the_recording(self):
        with tools.folder() as folder:
            script, trace = [], f"{folder}/trace"
            for processor in EMULATORS:
                program = build_workload(f"{folder}/{processor}", processor, "chase")
                script.append(" ".join(command(processor, program, "small")))
            started = time.monotonic()
            tools.record(trace, "sh", "-c", "; ".join(script), options=SMALL_BUFFERS)
            took_us = (time.monotonic() - started) * 1e6
            objects = table(tools.trackway("map", "--json", "--top", "0", trace).stdout, "owners")
            first_us = {}
            for row in objects:
                first_us[row["process"]] = min(row["first_us"], first_us.get(row["process"], took_us))
            starts = [first_us[process] for process in range(len(EMULATORS))]
            self.assertEqual(starts, sorted(starts))
            self.assertGreater(starts[-1] - starts[0], 1000)
            self.assertLess(max(row["last_us"] for row in objects), took_us)

    def check(self, processor):
        """A limit: what orders threads is stamped on x86-64 only."""
        with tools.folder() as folder:
            source = tools.PROGRAMS / "order" / "hand_over.c"
            program = tools.compile_traced(f"{folder}/program", [source], "-O1", "-pthread", *flags_for(processor))
            tools.record(f"{folder}/trace", *command(processor, program, "mutex"))
            order = table(tools.trackway("sharing", "--json", f"{folder}/trace").stdout, "order")[0]
            self.assertEqual((order["order_points"], order["modules_without_order"]), (0, 1))


class Wrapper(unittest.TestCase):
    def link(self, home, target):
        return tools.trackway("cc", f"--target={target}", tools.PROGRAMS / "control_flow.c", "-o", f"{home}/program",
                              check=False, env=tools.environment(TRACKWAY_HOME=home))

    def test_a_missing_runtime_comes_with_the_remedy(self):
        with tools.folder() as home:
            os.makedirs(f"{home}/lib/trackway")
            parts = (f"TrackwayPass{tools.LLVM_VERSION}.so", f"TrackwayPragma{tools.LLVM_VERSION}.so", "libtrackway.a")
            for part in parts:
                os.symlink(LIBRARY / part, f"{home}/lib/trackway/{part}")
            done = self.link(home, "riscv64-linux-gnu")
            self.assertEqual(done.returncode, 2)
            for part in ("riscv64-linux-gnu/libtrackway.a", "libstdc++-12-dev-riscv64-cross", "make runtime"):
                self.assertIn(part, done.stderr)
            self.assertEqual(self.link(home, "x86_64-linux-gnu").returncode, 0)

    def test_processors_without_a_runtime_are_named_with_those_that_have_one(self):
        with tools.folder() as home:
            os.symlink(tools.BUILD / "lib", f"{home}/lib")
            done = self.link(home, "s390x-linux-gnu")
            self.assertEqual(done.returncode, 2)
            for part in ("s390x-linux-gnu", *map(triple, EMULATORS)):
                self.assertIn(part, done.stderr)


def add_tests():
    for name in (*SEQUENTIAL, *THREADED):
        setattr(SameCounts, f"test_{name}", lambda self, name=name: self.check(name))
        for processor in EMULATORS:
            setattr(Workloads, f"test_{name}_{processor}", lambda self, p=processor, name=name: self.check(p, name))
    for name in COUNTING:
        setattr(Counting, f"test_{name}", lambda self, name=name: self.check(name))
    for case in (Vectors, OldestCompiler, Static, SharedObject, Survival, Torture, SharedLabels, Clock):
        for processor in FOREIGN:
            setattr(case, f"test_{processor}", lambda self, p=processor: self.check(p))


add_tests()
