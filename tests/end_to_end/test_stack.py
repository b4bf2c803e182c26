"""The stack: how much frames grow by recording, and what deep recursion does within the limits."""

import re
import resource
import unittest

from . import tools
from .test_real_programs import SQLITE_FLAGS, vendored
from .test_torture import programs

MOST_GROWTH_BYTES = 48
DEFAULT_STACK_BYTES = 8 << 20
# Functions that must leave vector registers as they were: what a recording function calls doesn't, so it saves them.
OTHER_CONVENTIONS = re.compile(r"foreign|windows|in_registers|slower_path")
# In each function at once: two 16-byte values of an atomic operation, while the clock is read.
WIDE_ATOMICS = {("atomics", "main"), ("oddities", "copies")}


def frame_sizes(source, folder, *flags, traced):
    """The size of each function's frame in bytes, by the section that the compiler writes for that."""
    compiler = tools.plain_compiler(source)
    plugin = (f"-fpass-plugin={tools.BUILD}/lib/trackway/TrackwayPass{tools.LLVM_VERSION}.so",) if traced else ()
    # A red zone is stack too, but not told.
    tools.run(compiler, "-g", "-w", "-O0", "-mno-red-zone", "-fstack-size-section", *plugin, *flags, "-c", source,
              "-o", f"{folder}/object")
    told = tools.run("llvm-readobj-19", "--stack-sizes", f"{folder}/object").stdout
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

    def check(self, source, *flags, allowed=()):
        growth = self.growth(source, *flags)
        self.assertTrue(growth)
        large = {name: bytes for name, bytes in growth.items() if bytes > MOST_GROWTH_BYTES and name not in allowed}
        self.assertEqual({name for name in large if not OTHER_CONVENTIONS.search(name)}, set(), f"{source}: {large}")

    def test_small_functions(self):
        growth = self.growth(tools.ROOT / "tests" / "survival" / "recursion.c")
        self.assertLessEqual(max(growth[name] for name in ("is_even", "is_odd")), 16)

    def test_hard_programs(self):
        for name, program in programs().items():
            allowed = {function for source, function in WIDE_ATOMICS if source == name}
            flags = [flag for flag in program.flags if not flag.startswith("-l")]
            with self.subTest(program=name):
                self.check(program.sources[0], *flags, allowed=allowed)

    def test_standard_library(self):
        self.check(tools.PROGRAMS / "containers.cpp")

    def test_sqlite(self):
        folder = vendored("libsqlite3-sys") / "sqlite3"
        # The compiler saves three more registers of the caller there.
        self.check(folder / "sqlite3.c", *SQLITE_FLAGS, allowed={"sqlite3DeleteFrom"})


class Recursion(unittest.TestCase):
    # 32 bytes for each call as the plain program is compiled.
    DEPTH = 160_000

    def run_within(self, hard_limit, *command):
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (DEFAULT_STACK_BYTES, hard_limit))

        return tools.run(*command, check=False, preexec_fn=limit)

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
