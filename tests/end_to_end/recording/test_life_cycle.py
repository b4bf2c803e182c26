"""How programs begin and end, and what the trace says of it."""

import os
import signal
import subprocess
import unittest

from ..support import tools
from ..support.workloads import build

WRITES = 100_000  # of each ending in programs/endings.c


def endings():
    def build():
        output = tools.BUILD / "tests" / "endings"
        output.parent.mkdir(parents=True, exist_ok=True)
        return tools.compile_traced(output, [tools.PROGRAMS / "endings.c"], "-O1")

    return tools.once("endings", build)


class Endings(unittest.TestCase):
    def check(self, ending, status):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded = tools.record(trace, endings(), ending, check=False)
            self.assertEqual(recorded.returncode, status)
            self.assertGreaterEqual(tools.verified_accesses(trace), WRITES)

    def test_return(self):
        self.check("return", 0)

    def test_exit(self):
        self.check("exit", 9)

    def test_exit_without_clean_up(self):
        self.check("_exit", 7)

    def test_killed_loses_nothing(self):
        self.check("kill", 128 + signal.SIGKILL)

    def test_crash_loses_nothing(self):
        self.check("crash", 128 + signal.SIGSEGV)

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT)

    def test_exec_keeps_both_images(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded = tools.record(trace, endings(), "exec")
            self.assertEqual(tools.program_output(recorded), "last 299997\n")
            self.assertGreaterEqual(tools.verified_accesses(trace), 2 * WRITES)


class Recorder(unittest.TestCase):
    def start_hanging(self, trace):
        command = [tools.TRACKWAY, "record", "-f", "-o", trace, "--", endings(), "hang"]
        recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(tools.read_line(recorder.stdout), "hanging\n")
        return recorder

    def test_interrupt_leaves_a_valid_trace(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorder = self.start_hanging(trace)
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=60)
            interrupted = "its one line was read; when it is interrupted is up to this test"
            self.assertGreaterEqual(tools.verified_accesses(trace, compared_by=interrupted), WRITES)

    def test_without_recorder_prints_the_same(self):
        self.assertEqual(tools.run(endings()).stdout, "last 299997\n")

    def test_refuses_to_overwrite(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            with open(trace, "w") as file:
                file.write("mine")
            refused = tools.trackway("record", "-o", trace, "--", endings(), check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("trace", refused.stderr)
            with open(trace) as file:
                self.assertEqual(file.read(), "mine")

    def test_codecs_hold_the_same(self):
        program = build("oracle", "quicksort", "-O2")
        with tools.folder() as folder:
            sizes = {}
            for codec in ("none", "lz4", "zstd", "columns"):
                trace = f"{folder}/{codec}"
                tools.record(trace, program, 100_000, options=[f"--codec={codec}"])
                self.assertGreaterEqual(tools.verified_accesses(trace), WRITES)
                sizes[codec] = os.path.getsize(trace)
            self.assertLess(sizes["lz4"], sizes["none"])
            self.assertLess(sizes["zstd"], sizes["none"])
            self.assertLess(sizes["columns"], sizes["none"])

    def test_warns_loudly_of_a_program_without_instrumentation(self):
        with tools.folder() as folder:
            recorded = tools.record(f"{folder}/trace", "/bin/true")
            self.assertRegex(recorded.stderr, r"(?i)no instrumentation|not instrumented|trackway cc")

    def test_missing_program(self):
        with tools.folder() as folder:
            recorded = tools.record(f"{folder}/trace", f"{folder}/nothing-here", check=False)
            self.assertNotEqual(recorded.returncode, 0)
            self.assertIn("nothing-here", recorded.stderr)

    def test_full_disk_stops_the_recording_not_the_program(self):
        program = build("traced", "quicksort", "-O2")
        with tools.folder() as folder:
            # A limit on the size of files stands for the disk: it fails at the same place.
            record = f"{tools.TRACKWAY} record --codec=none -o {folder}/trace -- {program} 1000000"
            check = f"{tools.TRACKWAY} verify {folder}/trace >&2"
            script = f"(ulimit -S -f 4096; {record}); {check}"
            recorded = tools.run("bash", "-c", script, check=False)
            self.assertEqual(recorded.stdout, tools.run(program, 1_000_000).stdout)
            self.assertRegex(recorded.stderr, r"(?i)cannot write at offset \d+: file too large")
            self.assertRegex(recorded.stderr, r"invariants: 1 violation for [\d,]+ accesses")


class Torn(unittest.TestCase):
    """Files that are cut short or damaged give what can be read, and say so."""

    def test_cut_anywhere(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, endings())
            with open(trace, "rb") as file:
                whole = file.read()
            for part in (0, 10, 32, 100, len(whole) // 2, len(whole) - 1):
                with open(trace, "wb") as file:
                    file.write(whole[:part])
                done = tools.trackway("info", trace, check=False)
                self.assertNotIn("panicked", done.stderr, f"cut at {part}")
                self.assertTrue(done.stdout or done.stderr, f"cut at {part}")
                if part < 32:
                    self.assertNotEqual(done.returncode, 0, f"cut at {part}")

    def test_foreign_file(self):
        done = tools.trackway("info", tools.ROOT / "README.md", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("README.md", done.stderr)
        self.assertNotIn("panicked", done.stderr)


class Speed(unittest.TestCase):
    def test_untraced_costs_close_to_nothing(self):
        """Without a recorder: within 10 % in the benchmark, here within a bound that a busy machine keeps too."""
        with tools.folder() as folder:
            source = tools.ROOT / "workloads" / "quicksort.c"
            plain = tools.compile_plain(f"{folder}/plain", [source], "-O2")
            traced = tools.compile_traced(f"{folder}/traced", [source], "-O2", oracle=False)
            times = {plain: [], traced: []}
            for _ in range(7):
                for program in times:
                    times[program].append(cpu_seconds(program, "2000000"))
            self.assertLess(min(times[traced]), 1.25 * min(times[plain]) + 0.01)


def cpu_seconds(*command):
    """Processor time of a command; unlike wall time it hardly depends on what else runs."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise tools.CommandFailed(f"status {process.returncode}: {command}")
    return usage.ru_utime + usage.ru_stime
