"""Recorders that come to a program that runs, and leave it again: it goes on as if nobody had been there."""

import contextlib
import os
import re
import signal
import subprocess
import time
import unittest

from ..support import tools

SUM_OF_A_THREAD = sum(i * 2654435761 % 2**32 for i in range(500))
MODES = ("rest", "crunch", "threads", "fork", "load", "alarms", "windows")


def program(level="-O2", oracle=False):
    name = f"served{level}{'-oracle' * oracle}"
    flags = ("-g", level, "-pthread", f"-I{tools.BUILD}/include", "-ldl")
    return tools.once(
        name, lambda: tools.compile_traced(tools.BUILD / "tests" / name, [tools.PROGRAMS / "served.c"], *flags, oracle=oracle)
    )


def library():
    output = tools.BUILD / "tests" / "served_library.so"
    return tools.once(
        "served-library",
        lambda: tools.compile_traced(output, [tools.PROGRAMS / "served_library.c"], "-g", "-O2", "-fPIC", "-shared", oracle=False),
    )


def valid_accesses(trace):
    """How many accesses of a trace are what its tables say; fails if one isn't."""
    verified = tools.trackway("verify", trace).stdout
    return int(re.search(r"invariants: hold for ([\d,]+) access", verified).group(1).replace(",", ""))


class Attach(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        self.number = 0

    @contextlib.contextmanager
    def served(self, threads=2, mode="rest", executable=None, environment=None, **settings):
        """The pid of the program, which was told to stop when the context ends, and did so as it always does."""
        self.number += 1
        stop = f"{self.folder.name}/stop{self.number}"
        command = [executable or program(), stop, str(threads), mode, *([library()] if mode == "load" else [])]
        environment = {**os.environ, **(environment or {})}
        running = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **settings
        )
        try:
            self.assertEqual(running.stdout.readline(), "ready\n")
            yield running
            if running.poll() is None:
                open(stop, "w").close()
                output, errors = running.communicate(timeout=60)
                self.assertEqual((output, errors, running.returncode), (f"sum {threads * SUM_OF_A_THREAD}\n", "", 3))
        finally:
            running.kill()
            running.communicate()

    def trace(self, name="t"):
        return f"{self.folder.name}/{name}.trackway"

    def record(self, pid, *options, output=None, **settings):
        where = ("--discard",) if output is None else ("-f", "-o", output)
        return tools.run(tools.TRACKWAY, "record", "--pid", str(pid), *where, *options, **settings)

    @contextlib.contextmanager
    def recorder(self, pid, *options, output):
        """One that was told nothing of an end; interrupted when the context ends, if it still runs."""
        command = [tools.TRACKWAY, "record", "-f", "--pid", str(pid), "-o", output, *options]
        recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            self.wait_for(lambda: "recording" in self.control(pid, "status").stdout)
            yield recorder
            if recorder.poll() is None:
                recorder.send_signal(signal.SIGINT)
                self.assertEqual(recorder.wait(30), 0)
            recorder.said = recorder.stderr.read()
        finally:
            recorder.kill()
            recorder.communicate()

    def control(self, pid, *words):
        return tools.run(tools.TRACKWAY, "control", str(pid), *words, check=False)

    def wait_for(self, condition):
        deadline = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    # ---- Coming and going ----

    def test_a_trace_of_a_moment_is_one_like_others(self):
        with self.served() as running:
            recorded = self.record(running.pid, "--duration", "50ms", output=self.trace())
            self.assertEqual(recorded.returncode, 0)
            self.assertIn(" in 1 window, ", recorded.stderr)
        self.assertGreater(valid_accesses(self.trace()), 1000)
        report = tools.trackway("report", self.trace()).stdout
        self.assertRegex(report, r"node\.key +sum \+= list->key;")
        info = tools.trackway("info", self.trace()).stdout
        self.assertIn("ended: the program runs on", info)
        self.assertRegex(info, rf"command +{re.escape(str(program()))} ")

    def test_a_thread_in_an_endless_loop_without_calls_joins(self):
        with self.served(mode="crunch") as running:
            self.record(running.pid, "--duration", "100ms", output=self.trace())
        fields = tools.trackway("report", "--by", "variable", "--csv", self.trace()).stdout
        self.assertRegex(fields, r"(?m)^numbers,")

    def test_recorders_come_and_go_and_are_killed(self):
        for mode in MODES:
            with self.subTest(mode=mode), self.served(mode=mode) as running:
                for cycle in range(8):
                    if cycle % 3 == 2:
                        with self.recorder(running.pid, output=self.trace()) as recorder:
                            recorder.kill()
                            recorder.wait()
                        continue
                    recorded = self.record(running.pid, "--duration", "20ms", output=self.trace())
                    self.assertNotRegex(recorded.stderr, "DAMAGED|gaps")
                    valid_accesses(self.trace())

    def test_again_and_again(self):
        with self.served(mode="threads") as running:
            for _ in range(1000 if os.environ.get("TRACKWAY_LONG") else 100):
                self.assertEqual(self.record(running.pid, "-q", "--duration", "1ms").returncode, 0)

    def test_the_end_of_the_program_ends_the_recording(self):
        """Nothing is lost then: the oracle, which counts from the moment on in which a thread joins, agrees."""
        for level in tools.LEVELS:
            with self.subTest(level=level), self.served(mode="fork", executable=program(level, oracle=True)) as running:
                command = [tools.TRACKWAY, "record", "-f", "--pid", str(running.pid), "-o", self.trace()]
                recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
                self.wait_for(lambda: "recording" in self.control(running.pid, "status").stdout)
                time.sleep(0.05)
                open(f"{self.folder.name}/stop{self.number}", "w").close()
                running.wait(60)
                _, errors = recorder.communicate(timeout=60)
                self.assertEqual(recorder.returncode, 0, errors)
                verified = tools.trackway("verify", self.trace()).stdout
                self.assertRegex(verified, r"oracle: [\d,]+ accesses equal")
                self.assertIn("program ended", tools.trackway("info", self.trace()).stdout)

    def test_a_program_that_executes_another_one(self):
        """The recording ends there, with all that was recorded, and the process goes on."""
        executable = tools.compile_traced(f"{self.folder.name}/replaced", [tools.PROGRAMS / "replaced.c"], "-g", "-O2", oracle=False)
        for options, name in (((), "t"), (("--max-size", "16K", "--on-max", "flight"), "t")):
            file = f"{self.folder.name}/now{len(options)}"
            command = [executable, file]
            running = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
            with self.subTest(options=options):
                try:
                    self.assertEqual(running.stdout.readline(), "ready\n")
                    with self.recorder(running.pid, *options, output=self.trace()) as recorder:
                        time.sleep(0.05)
                        open(file, "w").close()
                        self.assertEqual(recorder.wait(30), 0)
                    self.assertIsNone(running.poll())
                finally:
                    running.kill()
                    running.communicate()
                self.assertGreater(valid_accesses(self.trace(name)), 1000)
                info = tools.trackway("info", self.trace(name)).stdout
                self.assertIn("in 1 window", info)
                if not options:
                    self.assertIn("ended: the process executes another program", info)

    def test_a_program_that_is_killed_while_it_is_recorded(self):
        with self.served() as running, self.recorder(running.pid, output=self.trace()) as recorder:
            time.sleep(0.05)
            running.kill()
            running.wait()
            self.assertEqual(recorder.wait(30), 0)
        self.assertGreater(valid_accesses(self.trace()), 1000)

    def test_a_program_whose_recorder_was_killed_is_as_quick_as_before(self):
        """Nobody closes the window: the first thread that notices does."""
        with self.served(threads=1) as running:
            with self.recorder(running.pid, output=self.trace()) as recorder:
                recorder.kill()
                recorder.wait()
            time.sleep(1.5)  # a thread that waited for a buffer has noticed by then
            page = f"/proc/{running.pid}/fd/512"
            with open(page, "rb") as file:
                file.seek(8 * 64)  # where `window` stands, whatever else does
                words = file.read(64)
            self.assertEqual(words[:4], bytes(4))

    # ---- Windows, marks, snapshots ----

    def test_a_window_of_the_program_holds_what_the_text_says(self):
        with (
            self.served(threads=0, mode="windows") as running,
            self.recorder(running.pid, "--paused", output=self.trace()) as recorder,
        ):
            time.sleep(0.1)
        # Its own count: of so many marks in so short a time, the trace may lack some.
        windows = int(re.search(r" in ([\d,]+) windows?, ", recorder.said).group(1).replace(",", ""))
        dumped = tools.trackway("dump", self.trace()).stdout
        stores = len(re.findall(r" store .*node\.visits", dumped))
        # The first and the last one may have been cut.
        self.assertIn(stores, range(10 * (windows - 2), 10 * windows + 1))
        self.assertGreater(windows, 3)

    def test_a_region_alone_holds_what_the_text_says(self):
        """Whichever recorder it is: of the function that has the marks, and of what that calls."""
        with self.served(threads=0, mode="regions") as running:
            for cycle in range(5):
                options = ("--only-region", "vis*", "--duration", "150ms")
                if cycle == 2:
                    with self.recorder(running.pid, *options, output=self.trace()) as recorder:
                        recorder.kill()
                        recorder.wait()
                    continue
                recorded = self.record(running.pid, *options, output=self.trace())
                windows = int(re.search(r" in ([\d,]+) windows?, ", recorded.stderr).group(1).replace(",", ""))
                dumped = tools.trackway("dump", self.trace()).stdout
                own, called = (len(re.findall(rf" store .*{name}", dumped)) for name in ("of_region", r"node\.visits"))
                # The first one may have begun before the function could follow, the last one may have been cut.
                self.assertIn(own, range(windows - 2, windows + 1))
                self.assertIn(called, range(10 * (windows - 2), 10 * windows + 1))
                self.assertGreater(windows, 10)

    def test_regions_are_known_to_recorders_that_come_later(self):
        with self.served(threads=0, mode="regions") as running:
            for _ in range(2):
                self.record(running.pid, "--duration", "50ms", output=self.trace())
                dumps = [tools.trackway("dump", *options, self.trace()).stdout for options in ((), ("--region", "vis*"))]
                whole, inside = (len(re.findall(r" store .*of_region", dumped)) for dumped in dumps)
                self.assertGreater(inside, 10)
                # One of two in each round; the first and the last round may have been cut.
                self.assertIn(whole - 2 * inside, (-1, 0, 1))
                self.assertGreater(len(re.findall(r" store .*node\.visits", dumps[1])), 10)

    def test_control_reaches_it(self):
        with self.served() as running:
            with self.recorder(running.pid, "--paused", output=self.trace()):
                self.assertIn("not recording", self.control(running.pid, "status").stdout)
                self.assertEqual(self.control(running.pid, "start").returncode, 0)
                self.assertEqual(self.control(running.pid, "mark", "now").returncode, 0)
                time.sleep(0.05)
                self.assertEqual(self.control(running.pid, "stop").returncode, 0)
            self.assertNotEqual(self.control(running.pid, "status").returncode, 0)
        self.assertRegex(tools.trackway("info", self.trace()).stdout, r"mark +now +control")
        self.assertGreater(valid_accesses(self.trace()), 1000)

    def test_a_flight_recorder_may_come_later(self):
        with self.served() as running, self.recorder(running.pid, "--flight", "1M", output=self.trace()):
            time.sleep(0.05)
            written = self.control(running.pid, "snapshot")
            self.assertEqual(written.returncode, 0, written.stderr)
        self.assertGreater(valid_accesses(self.trace("t-1")), 1000)

    # ---- What can't be ----

    def test_control_names_the_way_to_a_program_without_a_recorder(self):
        with self.served() as running:
            refused = self.control(running.pid, "start")
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"trackway record --pid {running.pid}", refused.stderr)

    def test_one_recorder_at_a_time(self):
        with self.served() as running, self.recorder(running.pid, output=self.trace()) as recorder:
            second = self.record(running.pid, "--duration", "1s", check=False)
            self.assertEqual(second.returncode, 2)
            self.assertIn(f"is being recorded by process {recorder.pid}", second.stderr)

    def test_programs_that_cannot_be_recorded_are_named(self):
        plain = tools.BUILD / "tests" / "served-plain"
        tools.compile_plain(plain, [tools.PROGRAMS / "served.c"], "-O2", "-pthread", f"-I{tools.BUILD}/include", "-ldl")
        for settings in ({"executable": plain}, {"environment": {"TRACKWAY_ATTACH": "0"}}):
            with self.subTest(settings=settings), self.served(**settings) as running:
                refused = self.record(running.pid, "--duration", "1s", check=False)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("can't be recorded while it runs", refused.stderr)
        self.assertIn("there is no process", self.record(2**22 + 1, check=False).stderr)

    def test_options_that_make_no_sense_are_refused(self):
        refusals = {
            ("--binary",): "'--binary'",
            ("--allocations",): "'--allocations'",
            ("--buffer-size", "1M"): "'--buffer-size <SIZE>'",
            ("--live", "misses"): "'--live <ANALYSIS>'",
            ("--buffers", "65"): "at most 64 for a process that runs already",
            ("--hardware",): "'--hardware[=<EVENTS>]'",
            ("--overhead", "1%"): "programs that count are recorded from their start only",
        }
        with self.served() as running:
            for options, refusal in refusals.items():
                with self.subTest(options=options):
                    command = [tools.TRACKWAY, "record", "--pid", str(running.pid), "--duration", "1ms", *options]
                    refused = tools.run(*command, check=False, cwd=self.folder.name)
                    self.assertEqual(refused.returncode, 2, refused.stderr)
                    self.assertIn(refusal, refused.stderr)

    def test_a_program_with_few_descriptors_or_small_files(self):
        for limit in ("ulimit -n 100", "ulimit -n 21", "ulimit -f 0"):
            with self.subTest(limit=limit):
                stop = f"{self.folder.name}/never-{limit.split()[-1]}"
                open(stop, "w").close() if "-f" not in limit else os.mkdir(stop)
                done = subprocess.run(
                    ["bash", "-c", f'{limit}; exec "$0" "$1" 0', program(), stop], capture_output=True, text=True, check=False
                )
                self.assertEqual((done.stdout, done.stderr, done.returncode), ("ready\nsum 0\n", "", 3))
