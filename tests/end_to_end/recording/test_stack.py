"""The stack: how much frames grow by recording, and what deep recursion does within the limits."""

import re
import resource
import signal
import unittest

from ..support import tools
from ..support.real_programs import SQLITE_FLAGS, vendored
from ..support.torture_programs import programs

MOST_GROWTH_BYTES = 48
DEFAULT_STACK_BYTES = 8 << 20


def frame_sizes(source, folder, *flags, traced):
    """The size of each function's frame in bytes, by the section that the compiler writes for that."""
    compiler = tools.plain_compiler(source)
    plugin = (f"-fpass-plugin={tools.BUILD}/lib/trackway/TrackwayPass{tools.LLVM_VERSION}.so",) if traced else ()
    # A red zone is stack too, but not told.
    tools.run(compiler, "-g", "-w", "-O0", "-mno-red-zone", "-fstack-size-section", *plugin, *flags, "-c", source,
              "-o", f"{folder}/object")
    told = tools.run("llvm-readobj-22", "--stack-sizes", f"{folder}/object").stdout
    entries = re.findall(r"Functions: \[(.*?)\]\s*Size: 0x(\w+)", told)
    return {name: int(size, 16) for names, size in entries for name in names.split(", ")}


class Frames(unittest.TestCase):
    def growth(self, source, *flags):
        with tools.folder() as folder:
            plain = frame_sizes(source, folder, *flags, traced=False)
            traced = frame_sizes(source, folder, *flags, traced=True)
        suffix = ".traced"
        recording = [name.removesuffix(suffix) for name in traced if name.endswith(suffix)]
        return {name: traced[name + suffix] - plain[name] for name in recording if name in plain}

    def check(self, source, *flags):
        growth = self.growth(source, *flags)
        self.assertTrue(growth)
        large = {name: bytes for name, bytes in growth.items() if bytes > MOST_GROWTH_BYTES}
        self.assertEqual(large, {}, source)

    def test_small_functions(self):
        growth = self.growth(tools.ROOT / "tests" / "survival" / "recursion.c")
        self.assertLessEqual(max(growth[name] for name in ("is_even", "is_odd")), 16)

    def test_hard_programs(self):
        for name, program in programs().items():
            flags = [flag for flag in program.flags if not flag.startswith("-l")]
            with self.subTest(program=name):
                self.check(program.sources[0], *flags)

    def test_large_vector_registers(self):
        self.check(tools.ROOT / "tests" / "torture" / "oddities.c", "-mavx2")

    def test_standard_library(self):
        self.check(tools.PROGRAMS / "containers.cpp")

    def test_sqlite(self):
        self.check(vendored("libsqlite3-sys") / "sqlite3" / "sqlite3.c", *SQLITE_FLAGS)

    def test_zstd(self):
        library = vendored("zstd-sys") / "zstd" / "lib"
        self.check(library / "compress" / "zstd_compress.c", f"-I{library}", f"-I{library}/common")


def within(hard_limit, soft_limit=DEFAULT_STACK_BYTES):
    """What a process does to itself to have these limits of the stack, and leave no core."""
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (soft_limit, hard_limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


class Recursion(unittest.TestCase):
    # 32 bytes for each call as the plain program is compiled.
    DEPTH = 160_000

    def run_within(self, hard_limit, *command):
        return tools.run(*command, check=False, preexec_fn=within(hard_limit))

    def test_within_the_default_stack(self):
        with tools.folder() as folder:
            source = tools.ROOT / "tests" / "survival" / "recursion.c"
            plain = tools.compile_plain(f"{folder}/plain", [source], "-O0")
            traced = tools.compile_traced(f"{folder}/traced", [source], "-O0", oracle=False)
            expected = self.run_within(DEFAULT_STACK_BYTES, plain, self.DEPTH)
            self.assertEqual((expected.returncode, expected.stdout), (3, "1\n"))
            record = (tools.TRACKWAY, "record", "-q", "--discard", "--")
            for command in ((traced,), (*record, traced)):
                done = self.run_within(DEFAULT_STACK_BYTES, *command, self.DEPTH)
                self.assertEqual((done.returncode, done.stdout), (expected.returncode, expected.stdout), done.stderr)

    def test_record_gives_room(self):
        for hard_limit, soft_limit in ((8 * DEFAULT_STACK_BYTES, 4 * DEFAULT_STACK_BYTES),
                                       (2 * DEFAULT_STACK_BYTES, 2 * DEFAULT_STACK_BYTES)):
            command = (tools.TRACKWAY, "record", "-q", "--discard", "--", "sh", "-c", "ulimit -s")
            done = self.run_within(hard_limit, *command)
            self.assertEqual(done.stdout, f"{soft_limit >> 10}\n")


class Overflow(unittest.TestCase):
    FOR_EVER = 1_000_000_000
    SURE = re.compile(r"trackway: warning: the program overflowed its stack \((.*?) MiB\): it was (.*?) MiB below its first "
                      r"frame, in (.+) at (\w+\.\w+):\d+\. Raise the limit with `ulimit -s`")
    LIKELY = re.compile(r"trackway: warning: the program died ([\d,]+) calls deep in (\w+), most likely of a stack overflow: "
                        r"(\d+) MiB is (\d+) bytes for each call\. Raise the limit with `ulimit -s`")
    UNKNOWN = re.compile(r"trackway: warning: the program died by SIGSEGV, and (.*): whether its stack overflowed is not known\. "
                         r"If it did: Raise the limit with `ulimit -s`, for threads with .*\.\n")
    UNSEEN = r"trackway: warning: the program died [\d,]+ calls deep in descend, on a thread whose stack may have another size"
    SEGMENTATION_FAULT = 128 + signal.SIGSEGV

    def record(self, source, level, *arguments, options=(), compiled=(), hard_limit=4 * DEFAULT_STACK_BYTES):
        """The status of the recorder, and what it says when it is to be quiet."""
        with tools.folder() as folder:
            source = tools.ROOT / "tests" / "survival" / source
            traced = tools.compile_traced(f"{folder}/traced", [source], *compiled, level, "-g", "-pthread", oracle=False)
            done = tools.record(f"{folder}/trace", traced, *arguments, options=("-q", *options), check=False,
                                preexec_fn=within(hard_limit))
            return done.returncode, done.stderr

    def check_sure(self, limit_mib, function, file, *recorded, **settings):
        status, said = self.record(*recorded, **settings)
        self.assertEqual(status, self.SEGMENTATION_FAULT)
        told = self.SURE.fullmatch(said.partition(", for threads")[0])
        self.assertTrue(told, said)
        self.assertEqual((told[1], told[4]), (str(limit_mib), file))
        self.assertRegex(told[3], f"^{function}$")
        self.assertGreater(float(told[2]), limit_mib * 15 / 16)
        self.assertLessEqual(float(told[2]), limit_mib)

    def check_likely(self, *recorded, **settings):
        status, said = self.record(*recorded, **settings)
        self.assertEqual(status, self.SEGMENTATION_FAULT)
        told = self.LIKELY.fullmatch(said.partition(", for threads")[0])
        self.assertTrue(told, said)
        self.assertEqual((told[2], told[3]), ("descend", "32"))
        calls, bytes_per_call = int(told[1].replace(",", "")), int(told[4])
        self.assertLess(abs((32 << 20) / calls - bytes_per_call), 1)
        self.assertIn(bytes_per_call, range(16, 100))

    def check_silent(self, expected_status, *recorded, **settings):
        status, said = self.record(*recorded, **settings)
        self.assertEqual((status, said), (expected_status, ""))

    def test_of_the_main_thread(self):
        self.check_sure(32, "is_(even|odd)", "recursion.c", "recursion.c", "-O0", self.FOR_EVER)

    def test_within_a_limit_that_record_cannot_raise(self):
        self.check_sure(8, "is_(even|odd)", "recursion.c", "recursion.c", "-O0", self.FOR_EVER,
                        hard_limit=DEFAULT_STACK_BYTES)

    def test_of_a_thread(self):
        self.check_sure(32, "descend", "overflow.c", "overflow.c", "-O0", "thread", self.FOR_EVER)

    def test_of_a_thread_with_a_stack_of_its_own_size(self):
        self.check_sure(2, "descend", "overflow.c", "overflow.c", "-O0", "later", self.FOR_EVER)

    def test_of_a_thread_whose_stack_was_not_seen(self):
        """It died within the milliseconds that the recorder takes to look, or not."""
        for depth, seen in ((20_000, "^$"), (self.FOR_EVER, self.SURE.pattern)):
            with self.subTest(depth=depth):
                status, said = self.record("overflow.c", "-O0", "small", depth)
                self.assertEqual(status, self.SEGMENTATION_FAULT)
                self.assertRegex(said, f"{seen}|{self.UNSEEN}")

    def test_of_optimised_code_that_accesses_its_frames(self):
        self.check_sure(32, r"overflow\(unsigned long\)", "crashes.cpp", "crashes.cpp", "-O2", "overflow")

    def test_of_optimised_code(self):
        for where in ("main", "thread"):
            with self.subTest(where=where):
                self.check_likely("overflow.c", "-O2", where, self.FOR_EVER)

    def record_script(self, script, *arguments):
        """Standard error of `record` of a script that ends with status 0; its first argument is the traced program."""
        with tools.folder() as folder:
            source = tools.ROOT / "tests" / "survival" / "recursion.c"
            traced = tools.compile_traced(f"{folder}/traced", [source], "-O0", "-g", oracle=False)
            done = tools.record(f"{folder}/trace", "sh", "-c", script, "sh", traced, *arguments, options=("-q",),
                                preexec_fn=within(4 * DEFAULT_STACK_BYTES))
        return done.stderr

    def test_of_a_program_that_a_shell_started(self):
        for script in ("$1 $2; exit 0", "$1 $2 & wait; exit 0", "sh -c \"$1 $2; exit 0\"; exit 0"):
            with self.subTest(script=script):
                said = self.record_script(script, self.FOR_EVER)
                self.assertRegex(said, self.SURE.pattern.replace("the program", "a process that the program started"))

    def test_of_a_program_whose_shell_ends_as_it_did(self):
        with tools.folder() as folder:
            source = tools.ROOT / "tests" / "survival" / "recursion.c"
            traced = tools.compile_traced(f"{folder}/traced", [source], "-O0", "-g", oracle=False)
            done = tools.record(f"{folder}/trace", "sh", "-c", f"{traced} {self.FOR_EVER}; exit $?", options=("-q",),
                                check=False, preexec_fn=within(4 * DEFAULT_STACK_BYTES))
        self.assertEqual(done.returncode, self.SEGMENTATION_FAULT)
        self.assertIn("started overflowed its stack", done.stderr)

    def test_children_that_end_otherwise_have_none(self):
        for script in ("$1 1000; exit 0", "$1 1000 & kill -KILL $!; wait; exit 0"):
            with self.subTest(script=script):
                self.assertNotIn("overflowed", self.record_script(script))

    def test_with_a_handler_that_ends_the_program(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level=level):
                self.check_silent(3, "overflow.c", level, "handled", self.FOR_EVER)

    def test_wild_pointer_is_none(self):
        for level in ("-O0", "-O2"):
            for where in ("main", "thread"):
                for depth in (3, 500) if where == "thread" else (3, 500, 20_000):
                    with self.subTest(level=level, where=where, depth=depth):
                        self.check_silent(self.SEGMENTATION_FAULT, "overflow.c", level, where, depth)

    def test_other_ends_are_none(self):
        self.check_silent(3, "recursion.c", "-O0", 1000)

    def test_what_cannot_be_known_is_said(self):
        cases = {
            "its calls were not recorded (--calls=0)": {"compiled": ("--calls=0",)},
            "it only counted": {"compiled": ("--count",)},
        }
        for reason, settings in cases.items():
            with self.subTest(reason=reason):
                status, said = self.record("recursion.c", "-O0", self.FOR_EVER, **settings)
                self.assertEqual(status, self.SEGMENTATION_FAULT)
                self.check_unknown(reason, said)

    def test_of_a_trace_that_is_not_stored(self):
        with tools.folder() as folder:
            source = tools.ROOT / "tests" / "survival" / "recursion.c"
            traced = tools.compile_traced(f"{folder}/traced", [source], "-O0", "-g", oracle=False)
            done = tools.trackway("record", "-q", "--discard", "--", traced, self.FOR_EVER, check=False,
                                  preexec_fn=within(4 * DEFAULT_STACK_BYTES))
        self.assertEqual(done.returncode, self.SEGMENTATION_FAULT)
        self.check_unknown("there is no trace here", done.stderr)

    def check_unknown(self, reason, said):
        told = self.UNKNOWN.fullmatch(said)
        self.assertTrue(told, said)
        self.assertEqual(told[1], reason)
