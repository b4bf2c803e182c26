"""Recording survives what real programs do.

Each program prints and returns what its plain build does, and its trace equals the oracle's; where it cannot, the limit
stands in docs/collectors, and a test shows what is lost then.
"""

import contextlib
import functools
import os
import select
import signal
import subprocess
import time
import unittest

from ..support import tools

SOURCES = tools.ROOT / "tests" / "survival"
# The smallest buffers, so that they fill up in many places.
RECORD_OPTIONS = ("--buffer-size", "16K")
BUILT_AT = ("-O0", "-O2")

PROGRAMS = {
    "before_main.c": (),
    "children.c": ("-pthread",),
    "contexts.c": (),
    "edited_context.c": (),
    "exchanged_context.c": (),
    "fork_storm.c": (),
    "handlers.c": ("-pthread", "-Wno-deprecated-declarations"),
    "many_handlers.c": (),
    "many_threads.c": ("-pthread",),
    "nested_handlers.c": ("-pthread",),
    "signal_escape.c": (),
    "signal_storm.c": ("-pthread",),
    "stacks.c": ("-pthread",),
    "tables.c": (),
    "thread_ends.cpp": ("-pthread",),
    "throwing_handler.cpp": (),
    "unwinding.cpp": (),
    "waiting.c": ("-pthread",),
}
# Objects that a plain compiler builds.
UNTRACED = {
    "throwing_handler.cpp": "throwing_handler_untraced.cpp",
    "unwinding.cpp": "unwinding_untraced.cpp",
    "foreign_handler.c": "foreign_handler_untraced.c",
}

# Code that is left in the middle of a record: only a dump tells which of its accesses happened.
DUMPED = ("signal_escape.c", "edited_context.c")
DUMP = ("--oracle-dump",)


def build(folder, name, *flags):
    """The plain and the traced build of a program."""
    flags = [*flags, *PROGRAMS.get(name, ())]
    sources = [SOURCES / name]
    if name in UNTRACED:
        sources.append(f"{folder}/untraced.o")
        tools.compile_plain(sources[1], [SOURCES / UNTRACED[name]], "-c", "-fPIC", "-O1")
    traced = tools.compile_traced(f"{folder}/traced", sources, *flags)
    return tools.plain_of(traced), traced


class SameAsPlain(unittest.TestCase):
    def check(self, name, *flags, **settings):
        options = (*RECORD_OPTIONS, *(DUMP if name in DUMPED else ()))
        with tools.folder() as folder:
            _, traced = build(folder, name, *flags)
            self.check_recorded(folder, [traced], options, **settings)

    def check_recorded(self, folder, command, options=RECORD_OPTIONS, **settings):
        recorded = tools.record(f"{folder}/trace", *command, options=options, check=False, **settings)
        self.assertNotEqual(tools.program_output(recorded), "")
        self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)


class Survival(SameAsPlain):
    """The programs as they are."""

    def test_tasks_exchanged_on_an_alternate_stack(self):
        for level in BUILT_AT:
            with self.subTest(level=level), tools.folder() as folder:
                _, traced = build(folder, "exchanged_context.c", level)
                self.check_recorded(folder, [traced, "alternate"])


def add_tests():
    for name in PROGRAMS:
        for level in BUILT_AT:
            method = f"test_{name.split('.')[0]}_{level.lstrip('-')}"
            setattr(Survival, method, lambda self, name=name, level=level: self.check(name, level))


add_tests()


class Building(SameAsPlain):
    """Other ways to build. Signals show whether runtime and program agree."""

    EXAMPLES = ("thread_ends.cpp", "signal_storm.c", "handlers.c", "before_main.c")

    def check_all(self, *flags, **settings):
        for name in self.EXAMPLES:
            with self.subTest(name):
                self.check(name, "-O2", *flags, **settings)

    def test_static(self):
        self.check_all("-static")

    def test_static_position_independent(self):
        self.check_all("-static-pie")

    def test_position_dependent(self):
        self.check_all("-fno-pie", "-no-pie")

    def test_without_procedure_linkage_table(self):
        self.check_all("-fno-plt")

    def test_bound_at_start(self):
        self.check_all("-Wl,-z,now", "-fuse-ld=lld")

    def test_full_link_time_optimisation(self):
        self.check_all("-flto=full", "-fuse-ld=lld")

    def test_thin_link_time_optimisation(self):
        self.check_all("-flto=thin", "-fuse-ld=lld")

    def test_beside_address_sanitizer(self):
        # It takes the alternate stacks of threads for its own.
        self.check_all("-fsanitize=address", env=tools.environment(ASAN_OPTIONS="use_sigaltstack=0"))

    def test_beside_undefined_behaviour_sanitizer(self):
        self.check_all("-fsanitize=undefined")

    # What follows is checked with one program each, as it has little to do with signals.

    def test_checked_arithmetic(self):
        self.check("handlers.c", "-O2", "-ftrapv")

    def test_beside_profiles(self):
        for flag in ("-fprofile-instr-generate", "-pg"):
            with self.subTest(flag), tools.folder() as profile:
                settings = {"cwd": profile}  # they write there
                self.check("thread_ends.cpp", "-O2", flag, **settings)

    def test_protected_stacks(self):
        protections = ("-fcf-protection=full", "-fstack-protector-all", "-fstack-clash-protection")
        self.check("thread_ends.cpp", "-O2", *protections)
        self.check("handlers.c", "-O2", "-fsanitize=safe-stack")
        self.check("handlers.c", "-O2", "-fsplit-stack", "-fuse-ld=gold")

    def test_for_this_machine(self):
        self.check("unwinding.cpp", "-O3", "-march=native", "-flto=thin", "-fuse-ld=lld")


class Loading(unittest.TestCase):
    """Programs and shared objects, of which either may record."""

    def check(self, level, program_records, object_records):
        compilers = {True: tools.compile_traced, False: tools.compile_plain}
        with tools.folder() as folder:

            def build(folder_of, program_compiler, object_compiler):
                home = f"{folder}/{folder_of}"
                os.mkdir(home)
                program_flags = (level, "-rdynamic", "-pthread")
                program = program_compiler(f"{home}/program", [SOURCES / "loading.c"], *program_flags)
                for name in ("loaded.so", "other.so"):
                    object_compiler(f"{home}/{name}", [SOURCES / "loaded.cpp"], level, "-shared", "-fPIC")
                return program, f"{home}/loaded.so", f"{home}/other.so"

            traced = build("traced", compilers[program_records], compilers[object_records])
            recorded = tools.record(f"{folder}/trace", *traced, options=RECORD_OPTIONS)
            self.assertIn("moved: yes", tools.program_output(recorded))
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 1000)

    def test_both_record(self):
        for level in BUILT_AT:
            with self.subTest(level):
                self.check(level, program_records=True, object_records=True)

    def test_only_the_object_records(self):
        self.check("-O2", program_records=False, object_records=True)

    def test_only_the_program_records(self):
        self.check("-O2", program_records=True, object_records=False)


class BoundLazily(unittest.TestCase):
    """The runtime's function that preserves registers, called for the first time by a shared object."""

    def test_registers_are_preserved(self):
        for level in BUILT_AT:
            with self.subTest(level), tools.folder() as folder:
                self.check(folder, level)

    def check(self, folder, *flags):
        answers = []
        for compiler in (tools.compile_plain, functools.partial(tools.compile_traced, oracle=False)):
            shared = compiler(f"{folder}/object.so", [SOURCES / "bound_lazily_object.c"], "-shared", "-fPIC", *flags)
            program = compiler(f"{folder}/program", [SOURCES / "bound_lazily.c"], shared, "-Wl,-z,lazy", *flags)
            answers.append(tools.run(program).stdout)
        recorded = tools.record(f"{folder}/trace", program, options=RECORD_OPTIONS)
        self.assertEqual([*answers, tools.program_output(recorded)], answers[:1] * 3)


class Allocators(SameAsPlain):
    """Preloaded; the recorder itself is spared."""

    def check_preloaded(self, library, name):
        with tools.folder() as folder:
            _, traced = build(folder, name, "-O2")
            library = library(folder)
            self.check_recorded(folder, ["env", f"LD_PRELOAD={library}", traced])

    def test_jemalloc(self):
        for name in ("thread_ends.cpp", "many_threads.c"):
            with self.subTest(name):
                self.check_preloaded(lambda folder: "libjemalloc.so.2", name)

    def test_one_that_records_itself(self):
        def library(folder):
            flags = ("-O2", "-fPIC", "-shared", "-fno-builtin")
            return tools.compile_traced(f"{folder}/allocator.so", [SOURCES / "allocator.c"], *flags)

        for name in ("thread_ends.cpp", "many_threads.c"):
            with self.subTest(name):
                self.check_preloaded(library, name)


class Coverage(unittest.TestCase):
    def test_inline_assembly_is_a_gap(self):
        with tools.folder() as folder:
            _, traced = build(folder, "assembly.c", "-O2")
            tools.record(f"{folder}/trace", traced)
            # A store and a load; the exchange in between is not recorded, but counted. And printf reads its format.
            self.assertEqual(tools.verified_accesses(f"{folder}/trace"), 2 * 256 + 1)
            information = tools.trackway("info", traced).stdout
            self.assertRegex(information, r"(?m)^not recordable +1$")


def crashing():
    def make():
        folder = tools.BUILD / "tests" / "crashes"
        folder.mkdir(parents=True, exist_ok=True)
        return build(folder, "crashes.cpp", "-O2", "-pthread")

    return tools.once("crashes", make)


class Crashes(unittest.TestCase):
    COMPUTED = 40_000  # accesses before the end

    def check(self, how, expected_status, computed=COMPUTED):
        plain, traced = crashing()
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            expected = tools.run("sh", "-c", 'ulimit -c 0; "$0" "$1"', plain, how, check=False).returncode
            self.assertEqual(expected % 256 if expected > 0 else 128 - expected, expected_status)
            recorded = tools.record(trace, traced, how, options=DUMP, check=False)
            self.assertEqual(recorded.returncode, expected_status)
            self.assertGreaterEqual(tools.verified_accesses(trace), computed)

    def test_null_pointer(self):
        self.check("null", 128 + signal.SIGSEGV)

    def test_before_branch_with_link_time_optimisation(self):
        """No optimiser drops what one of the branches would replace. Without the oracle, whose calls would keep it."""
        with tools.folder() as folder:
            options = ("-O2", "-g", "-flto=full", "-fuse-ld=lld", "-pthread")
            traced = tools.compile_traced(f"{folder}/traced", [SOURCES / "crashes.cpp"], *options, oracle=False)
            recorded = tools.record(f"{folder}/trace", traced, "branch", check=False)
            self.assertEqual(recorded.returncode, 128 + signal.SIGSEGV)
            dumped = tools.trackway("dump", f"{folder}/trace").stdout.splitlines()
            self.assertEqual(sum("fault_before_branch" in line and "store" in line for line in dumped), 2)

    def test_stack_overflow(self):
        self.check("overflow", 128 + signal.SIGSEGV)

    def test_handled_null_pointer(self):
        self.check("handled null", 21, 2 * self.COMPUTED)

    def test_stack_overflow_handled_on_another_stack(self):
        self.check("handled overflow", 21, 2 * self.COMPUTED)

    def test_division_by_zero(self):
        self.check("division", 128 + signal.SIGFPE)

    def test_trap(self):
        self.check("trap", 128 + signal.SIGILL)

    def test_uncaught_exception(self):
        self.check("uncaught", 128 + signal.SIGABRT)

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT)

    def test_handled_abort(self):
        self.check("handled abort", 128 + signal.SIGABRT, 2 * self.COMPUTED)

    def test_quick_exit(self):
        self.check("quick_exit", 22)

    def test_exit_of_a_thread(self):
        self.check("thread", 23, 2 * self.COMPUTED)


@contextlib.contextmanager
def stopped(recorder):
    """In it all buffers are full and the recorded program waits."""
    recorder.send_signal(signal.SIGSTOP)
    try:
        time.sleep(1)
        yield
    finally:
        recorder.send_signal(signal.SIGCONT)


class Killed(unittest.TestCase):
    """SIGKILL at any time, while signals come and handlers run."""

    def test_program(self):
        with tools.folder() as folder:
            _, traced = build(folder, "signal_storm.c", "-O2")
            for delay_ms in (3, 10, 25, 60, 120):
                # The shell is recorded too, as it were: it becomes the program.
                script = f'"$0" & sleep {delay_ms / 1000}; kill -9 $!; wait $!'
                tools.record(f"{folder}/trace", "bash", "-c", script, traced, options=RECORD_OPTIONS, check=False,
                             differs="it is killed at any moment")
                self.check_whole(f"{folder}/trace")

    def check_whole(self, trace):
        verified = tools.trackway("verify", trace, check=False).stdout
        self.assertNotIn("the trace is not what the program did", verified)
        self.assertIn("invariants: hold", verified)

    def test_recorder(self):
        with tools.folder() as folder:
            plain, traced = build(folder, "signal_escape.c", "-O2")
            command = [tools.TRACKWAY, "record", "-f", "-o", f"{folder}/trace", "--", traced]
            with open(f"{folder}/output", "w+") as output:
                recorder = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
                time.sleep(0.3)
                recorder.kill()
                recorder.wait()
                expected = tools.run(plain).stdout
                self.wait_for(output, expected)
            verified = tools.trackway("verify", f"{folder}/trace", check=False)
            self.assertNotIn("panicked", verified.stderr)
            self.assertIn("without an end chunk", verified.stdout)

    def test_program_that_waits_for_its_recorder(self):
        """Signals still reach it."""
        with tools.folder() as folder:
            source = tools.ROOT / "workloads" / "quicksort.c"
            traced = tools.compile_traced(f"{folder}/traced", [source], "-O2", oracle=False)
            script = 'echo $$; exec "$0" 3000000'
            command = [tools.TRACKWAY, "record", "-f", "-o", f"{folder}/trace", "--", "bash", "-c", script, traced]
            recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            program = int(tools.read_line(recorder.stdout))
            with stopped(recorder):
                os.kill(program, signal.SIGTERM)
                self.wait_for_end(program)
            recorder.communicate(timeout=tools.TIME_LIMIT_S)
            self.assertEqual(recorder.returncode, 128 + signal.SIGTERM)

    def wait_for_end(self, program):
        """Until it is at most a zombie, since its recorder is stopped."""
        deadline = time.monotonic() + 60
        state = "R"
        while state not in "ZX" and time.monotonic() < deadline:
            time.sleep(0.1)
            with open(f"/proc/{program}/stat") as stat:
                state = stat.read().rpartition(")")[2].split()[0]
        self.assertEqual(state, "Z")

    def wait_for(self, output, expected):
        """The program goes on without its recorder, and prints what it should."""
        deadline = time.monotonic() + tools.TIME_LIMIT_S
        text = None
        while text != expected and time.monotonic() < deadline:
            time.sleep(0.1)
            output.seek(0)
            text = output.read()
        self.assertEqual(text, expected)


class Limits(unittest.TestCase):
    """What docs/collectors states as limits. The programs themselves run as ever."""

    def record_and_verify(self, folder, name, *arguments, options=RECORD_OPTIONS):
        _, traced = build(folder, name, "-O2", "-pthread")
        recorded = tools.record(f"{folder}/trace", traced, *arguments, options=options)
        verified = tools.trackway("verify", f"{folder}/trace", check=False)
        self.assertNotIn("panicked", verified.stderr)
        return recorded, verified

    def check_gaps(self, verified):
        self.assertIn("invariants: hold", verified.stdout)
        self.assertRegex(verified.stdout, r"stream \d+: it has gaps")

    def test_no_memory_for_the_streams_of_handlers(self):
        with tools.folder() as folder:
            recorded, verified = self.record_and_verify(folder, "nested_handlers.c", "limited")
            self.assertIn("no memory for the streams of so many signal handlers", recorded.stderr)
            self.check_gaps(verified)

    def test_more_threads_than_buffers(self):
        with tools.folder() as folder:
            options = (*RECORD_OPTIONS, "--buffers", "2")
            recorded, verified = self.record_and_verify(folder, "crowd.c", options=options)
            self.assertIn("than there are buffers", recorded.stderr)
            self.check_gaps(verified)

    def test_return_into_interrupted_code_from_fork_in_handler(self):
        with tools.folder() as folder:
            recorded, verified = self.record_and_verify(folder, "fork_in_handler.c")
            self.assertIn("the child runs on unrecorded", recorded.stderr)
            # The parent's streams are whole; the children's end in a gap.
            self.assertIn("invariants: hold", verified.stdout)
            self.assertRegex(verified.stdout, r"stream [1-9]\d*: it has gaps")

    def test_asynchronous_cancellation(self):
        with tools.folder() as folder:
            _, verified = self.record_and_verify(folder, "cancelled_anywhere.c")
            self.check_gaps(verified)

    def test_asynchronous_cancellation_while_waiting_for_the_recorder(self):
        with tools.folder() as folder:
            _, traced = build(folder, "cancelled_waiting.c", "-O2", "-pthread")
            command = [tools.TRACKWAY, "record", "-f", "-o", f"{folder}/trace", *RECORD_OPTIONS, "--", traced]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            recorder = subprocess.Popen(command, text=True, **pipes)
            self.assertEqual(tools.read_line(recorder.stdout), "computing\n")
            with stopped(recorder):
                recorder.stdin.write("x")
                recorder.stdin.flush()
                self.assertTrue(select.select([recorder.stdout], [], [], 60)[0])
            output, _ = recorder.communicate(timeout=tools.TIME_LIMIT_S)
            self.assertRegex(output, r"cleaned \d+")
            verified = tools.trackway("verify", f"{folder}/trace", check=False)
            self.check_gaps(verified)
            self.assertNotIn("not what the program did", verified.stdout)

    def test_asynchronous_cancellation_after_few_records(self):
        """What the clean-up records would cover them."""
        with tools.folder() as folder:
            _, verified = self.record_and_verify(folder, "cancelled_anywhere.c", "early")
            self.check_gaps(verified)
            self.assertNotIn("not what the program did", verified.stdout)
            self.assertIn("records are missing in 40 places", verified.stderr)

    def test_recording_handler_that_other_code_installs(self):
        with tools.folder() as folder:
            _, verified = self.record_and_verify(folder, "foreign_handler.c")
            self.assertNotEqual(verified.returncode, 0)
            said = verified.stdout + verified.stderr
            self.assertRegex(said, r"violation|not what the program did|is invalid")

    def check_programs_run(self, source, *flags):
        """Records may be mixed up, but output and status are the plain program's, run after run."""
        for level in BUILT_AT:
            with tools.folder() as folder:
                plain = tools.compile_plain(f"{folder}/plain", [SOURCES / source], level, *flags)
                traced = tools.compile_traced(f"{folder}/traced", [SOURCES / source], level, *flags, oracle=False)
                for where in ((), *[("alternate",)] * 5):
                    with self.subTest(level=level, where=where):
                        expected = tools.run(plain, *where).stdout
                        recorded = tools.record(f"{folder}/trace", traced, *where, options=RECORD_OPTIONS, time_limit_s=120)
                        self.assertEqual(recorded.stdout, expected)
                        self.assertIn("accesses in", tools.trackway("verify", f"{folder}/trace", check=False).stdout)

    def test_handler_that_injects_a_call(self):
        self.check_programs_run("injecting_handler.c")

    def test_more_tasks_exchanged_than_streams_are_kept(self):
        self.check_programs_run("exchanged_context.c", "-DTASKS=100")

    def test_as_many_tasks_exchanged_as_streams_are_kept(self):
        """The task that goes on is the one that has waited longest, when one more begins to wait."""
        self.check_programs_run("exchanged_context.c", "-DTASKS=65")

    def test_bare_fork(self):
        with tools.folder() as folder:
            _, verified = self.record_and_verify(folder, "bare_fork.c")
            self.assertNotEqual(verified.returncode, 0)

    def test_clone(self):
        with tools.folder() as folder:
            _, verified = self.record_and_verify(folder, "cloned.c")
            self.assertNotEqual(verified.returncode, 0)

    def stop_and_call(self, folder, call):
        """What `verify` says when a debugger calls a function in the midst of a loop; the program's sums show the call."""
        source = SOURCES / "injected.c"
        line = 1 + source.read_text().splitlines().index("        visits[at >> 22] += 1; // stop here")
        traced = tools.compile_traced(f"{folder}/traced", [source], "-O1", "-g")
        commands = (f"break {source.name}:{line}", "ignore 1 1000", "run", f"call {call}", "delete", "continue")
        debugger = ["gdb", "-q", "-batch", "-nx", *(word for command in commands for word in ("-ex", command)), traced]
        recorded = tools.record(f"{folder}/trace", *debugger, options=RECORD_OPTIONS,
                                differs="the debugger shows addresses, and lines that only the traced build has")
        self.assertIn("5000 6\n", recorded.stdout)
        return tools.trackway("verify", f"{folder}/trace", check=False)

    def test_debugger_calls_by_name(self):
        with tools.folder() as folder:
            verified = self.stop_and_call(folder, "poke(3)")
            self.assertIn("invariants: hold", verified.stdout)

    def test_debugger_calls_by_address(self):
        with tools.folder() as folder:
            verified = self.stop_and_call(folder, "entry(3)")
            self.assertNotEqual(verified.returncode, 0)
            self.assertIn("violation", verified.stdout)
