"""Windows: recording is switched on and off by the program, by the recorder's options, and by `trackway control`."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from ..counting import test_regions as counted
from ..support import counting, tools
from ..support.torture_programs import programs

LENGTH = 100  # of the arrays in windows.c


def accesses(trace, variable, *options):
    """Stores and loads of a variable in the dump."""
    dumped = tools.trackway("dump", *options, trace).stdout
    lines = [line for line in dumped.splitlines() if re.search(rf"\b{variable}\b", line)]
    return len(lines), sum(" store " in line for line in lines)


def program(level):
    output = tools.BUILD / "tests" / f"windows{level}"
    sources = [tools.PROGRAMS / "windows.c"]
    return tools.once(("windows", level), lambda: tools.compile_traced(output, sources, "-g", level, "-pthread",
                                                                    f"-I{tools.BUILD}/include"))


def windows_in(recorded):
    """How many windows the recorder's last line states; none: it states none."""
    stated = re.search(r" in (\d+) windows?,", recorded.stderr)
    return int(stated.group(1)) if stated else None


def fields_of(trace):
    return tools.table(tools.report(trace, "--by", "field", "--sort", "accesses", "--top", "0"), "fields")["rows"]


class Windows(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)

    def trace(self, name):
        return f"{self.folder.name}/{name}.trackway"

    def record(self, name, *arguments, level="-O2", options=()):
        trace = self.trace(name)
        return trace, tools.record(trace, program(level), *arguments, options=options)

    # ---- By the program ----

    def test_a_window_holds_what_the_text_puts_in_it(self):
        rounds = 7
        for level in tools.LEVELS:
            with self.subTest(level=level):
                trace, recorded = self.record(f"text{level}", "text", rounds, level=level, options=("--paused",))
                self.assertEqual(windows_in(recorded), rounds)
                # Each round stores one value, fills the array, and adds 1 to an element: a load and a store.
                self.assertEqual(accesses(trace, "inside"), (rounds * 3, rounds * 2))
                self.assertEqual(accesses(trace, "outside"), (0, 0))
                filled = accesses(trace, "array")[1]  # `fill` calls it so, and without optimisation stores its address
                self.assertIn(filled, (rounds * LENGTH, rounds * (LENGTH + 1)))
                self.assertGreater(tools.verified_accesses(trace), rounds * LENGTH)

    def test_a_whole_recording_has_what_the_windows_leave_out(self):
        trace, recorded = self.record("ends", "text", 1)
        # It begins recorded, and trackway_stop ends that.
        self.assertEqual(windows_in(recorded), 1)
        self.assertEqual(accesses(trace, "outside")[1], 1)
        self.assertEqual(accesses(trace, "inside")[1], 2)
        self.assertEqual(accesses(trace, "array")[1], 2 * LENGTH)

    def test_threads_forks_signals_jumps_and_recursion(self):
        for level in tools.LEVELS:
            for name, options in (("paused", ("--paused",)), ("whole", ()), ("bursts", ("--bursts", "1ms/2ms"))):
                with self.subTest(level=level, options=name):
                    trace = self.trace(f"mixed{level}-{name}")
                    tools.record(trace, program(level), "mixed", 60, options=options)
                    self.assertGreater(tools.verified_accesses(trace), 0)

    def test_exec_stays_in_the_window(self):
        for level in tools.LEVELS:
            with self.subTest(level=level):
                trace, recorded = self.record(f"exec{level}", "exec", level=level, options=("--paused",))
                self.assertEqual(windows_in(recorded), 1)
                # Before and after; without optimisation `fill` stores its argument, too.
                self.assertIn(accesses(trace, "array")[1], (2 * LENGTH, 2 * (LENGTH + 1)))
                self.assertGreater(tools.verified_accesses(trace), 2 * LENGTH)

    def test_threads_that_begin_while_windows_do(self):
        for level in tools.LEVELS:
            with self.subTest(level=level):
                trace = self.trace(f"starting{level}")
                rounds = 100
                tools.record(trace, program(level), "starting", rounds, options=("--paused",))
                # What the threads do may fall outside of all windows; main's stores are made in them.
                self.assertEqual(accesses(trace, "inside")[1], 2 * rounds)
                self.assertGreaterEqual(tools.verified_accesses(trace), 2 * rounds)

    # ---- By options ----

    def test_a_program_that_nobody_starts_is_not_recorded(self):
        trace, recorded = self.record("never", "loop", 100, options=("--paused",))
        self.assertIn("NO WINDOW WAS OPENED", recorded.stderr)
        self.assertEqual(tools.verified_accesses(trace), 0)
        self.assertRegex(tools.trackway("info", trace).stdout, r"recorded +in no window: nothing")

    def test_time_decides(self):
        trace, recorded = self.record("timed", "loop", 3_000_000, options=("--start-after", "50ms", "--duration", "50ms"))
        self.assertEqual(windows_in(recorded), 1)
        some = tools.verified_accesses(trace)
        # All of it would be 600 million. The loop is main's own, which was running when the window opened.
        self.assertGreater(some, 1000)
        self.assertLess(some, 500_000_000)
        stored = tools.trackway("dump", "--count", 10_000, trace).stdout.splitlines()
        self.assertTrue([line for line in stored if " store " in line], stored[:20])

    def test_accesses_decide(self):
        from . import test_flight as flying

        recording = [tools.TRACKWAY, "record", "-f", "--buffer-size", "16K"]
        quiet = ["--", flying.program(), "quiet", 50_000]
        whole, late = self.trace("whole"), self.trace("late")
        tools.run(*recording, "-o", whole, *quiet)
        # The moment at which the recorder notices differs from run to run.
        for _ in range(10):
            recorded = tools.run(*recording, "-o", late, "--start-after", "100Kacc", *quiet)
            self.assertEqual(windows_in(recorded), 1)
            # Each access is kept, or counts among those that came before.
            info = tools.trackway("info", late).stdout
            passed = int(re.search(r"after ([\d,]+) accesses", info).group(1).replace(",", ""))
            self.assertGreaterEqual(passed, 100_000)
            self.assertIn("in 1 window", info)
            self.assertEqual(passed + self.access_count(late), self.access_count(whole))
        kept, all_of_them = flying.accesses(late), flying.accesses(whole)
        self.assertGreater(len(kept), 1000)
        self.assertTrue(kept == all_of_them[-len(kept):], "what is kept isn't the end of the whole")

    def access_count(self, trace):
        verified = tools.trackway("verify", trace).stdout
        return int(re.search(r"invariants: hold for ([\d,]+) access", verified).group(1).replace(",", ""))

    def test_too_few_accesses_leave_nothing(self):
        trace, recorded = self.record("few", "loop", 100, options=("--start-after", "2Gacc"))
        self.assertIn("NO WINDOW WAS OPENED", recorded.stderr)
        self.assertIn("nothing is kept", tools.trackway("info", trace).stdout)
        self.assertEqual(self.access_count(trace), 0)

    def test_wrong_words_for_the_start(self):
        for words, expected in ((("--start-after", "10Xacc"), "10Macc"), (("--start-after", "0acc"), "10Macc"),
                                (("--start-after", "soon"), "10Macc"), (("--start-after", "10M"), "10Macc"),
                                (("--start-after", "1Macc", "--only-region", "x"), "name a time"),
                                (("--start-after", "1Macc", "--discard"), "name a time"),
                                (("--start-after", "1Macc", "--bursts", "1ms/2ms"), "name a time")):
            with self.subTest(words=words):
                refused = tools.trackway("record", *words, "--", "true", check=False)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(expected, refused.stderr)

    def test_reports_bound_the_shares_of_bursts(self):
        """Of a program that does the same all the time, and of caches that are warm soon."""
        whole, _ = self.record("whole", "loop", 100_000)
        trace, _ = self.record("bounded", "loop", 6_000_000, options=("--bursts", "1ms/20ms"))
        fields = {row["field"]: row for row in fields_of(trace)}
        for row in fields_of(whole):
            if row["share"] > 0.1:
                bounded = fields[row["field"]]
                self.assertLessEqual(bounded["share_low"], row["share"] + 0.002)
                self.assertGreaterEqual(bounded["share_high"], row["share"] - 0.002)
                self.assertLess(bounded["share_high"] - bounded["share_low"], 0.1)
        report = tools.trackway("report", "-v", "--sort", "accesses", trace).stdout
        self.assertRegex(report.splitlines()[0], r"takes \d+ % \(\d+ % to \d+ %\) of accesses")
        self.assertIn("perhaps cold", report)
        self.assertIn("share of what has no row, at most", report)
        self.assertIn("estimated of the whole run  only shares with bounds", report)
        self.assertNotIn("at least", tools.trackway("report", whole).stdout)

    def test_bursts_return(self):
        trace, recorded = self.record("bursts", "loop", 4_000_000, options=("--bursts", "2ms/40ms"))
        self.assertGreater(windows_in(recorded), 1)
        self.assertGreater(tools.verified_accesses(trace), 1000)

    def test_bursts_by_accesses(self):
        trace, recorded = self.record("by-accesses", "loop", 4_000_000, options=("--bursts", "200Kacc/2Macc"))
        windows = windows_in(recorded)
        self.assertGreater(windows, 1)
        # Each has them, but perhaps for the last one. All accesses would be 800 million.
        some = tools.verified_accesses(trace)
        self.assertGreaterEqual(some, (windows - 1) * 200_000)
        self.assertLess(some, 400_000_000)
        self.assertIn(" burst ", tools.trackway("info", trace).stdout)

    def test_even_bursts(self):
        for length in ("1ms/20ms", "200Kacc/4Macc"):
            with self.subTest(length=length):
                trace, recorded = self.record(f"even-{length[:3]}", "loop", 6_000_000, options=("--bursts", length, "--even"))
                self.assertGreater(windows_in(recorded), 1)
                self.assertGreater(tools.verified_accesses(trace), 1000)
                self.assertIn(" even burst ", tools.trackway("info", trace).stdout)
                report = tools.trackway("report", "-v", "--sort", "accesses", trace).stdout
                self.assertNotIn("at least", report)
                self.assertIn("bursts at even distances have no bounds", report)

    def test_size_decides(self):
        trace, recorded = self.record("small", "loop", 3_000_000, options=("--max-size", "200K", "--codec", "none"))
        self.assertGreater(os.path.getsize(trace), 200 << 10)
        # What was full when the limit was noticed comes on top.
        self.assertLess(os.path.getsize(trace), 64 << 20)
        self.assertEqual(windows_in(recorded), 1)

    def test_hard_programs_in_bursts(self):
        for name in ("exceptions", "coroutine", "jumps", "frames", "lanes", "loops", "structs"):
            hard = programs()[name]
            with self.subTest(program=name), tools.folder() as folder:
                built = tools.compile_traced(f"{folder}/program", hard.sources, "-g", "-O2", *hard.flags)
                tools.record(f"{folder}/t", built, options=("--bursts", "300us/700us"))
                tools.verified_accesses(f"{folder}/t")

    # ---- From outside ----

    def start(self, name, *arguments, environment=None):
        recorder = subprocess.Popen([tools.TRACKWAY, "record", "-f", "--paused", "-o", self.trace(name), "--",
                                     program("-O2"), *map(str, arguments)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        return recorder

    def control(self, pid, *words, check=True):
        return tools.trackway("control", pid, *words, check=check)

    def test_control(self):
        recorder = self.start("control", "loop", 30_000_000)
        status = self.until_it_answers(recorder.pid)
        self.assertIn("not recording", status)
        self.assertEqual(self.control(recorder.pid, "start").stdout, "recording\n")
        self.control(recorder.pid, "mark", "half way")
        time.sleep(.1)
        self.assertIn("recording; 1 window", self.control(recorder.pid, "status").stdout)
        self.control(recorder.pid, "stop")
        self.control(recorder.pid, "start")
        self.control(recorder.pid, "stop")
        output, said = recorder.communicate(timeout=tools.TIME_LIMIT_S)
        self.assertEqual(recorder.returncode, 0, said)
        plain = tools.run(tools.plain_of(program("-O2")), "loop", 30_000_000)
        self.assertEqual(output, plain.stdout)
        self.assertIn("in 2 windows", said)
        self.assertGreater(tools.verified_accesses(self.trace("control"), compared_by="the assertion above"), 1000)
        self.assertIn("half way", tools.trackway("info", self.trace("control")).stdout)

    def until_it_answers(self, pid):
        done = self.control(pid, "status", check=False)
        for _ in range(200):
            if done.returncode == 0:
                break
            time.sleep(.05)
            done = self.control(pid, "status", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_kill_in_a_window_loses_nothing(self):
        recorder = self.start("killed", "loop", 60_000_000)
        self.until_it_answers(recorder.pid)
        self.control(recorder.pid, "start")
        time.sleep(.1)
        os.kill(int(tools.run("pgrep", "-P", recorder.pid, "-x", "windows-O2").stdout), signal.SIGKILL)
        recorder.communicate(timeout=tools.TIME_LIMIT_S)
        self.assertEqual(recorder.returncode, 128 + signal.SIGKILL)
        self.assertGreater(tools.verified_accesses(self.trace("killed"), compared_by="it was killed"), 1000)

    def test_who_is_not_recorded_has_no_recorder(self):
        done = self.control(os.getpid(), "start", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("trackway record", done.stderr)

    def test_the_socket_is_the_users_alone(self):
        recorder = self.start("socket", "loop", 60_000_000)
        self.until_it_answers(recorder.pid)
        runtime = os.environ.get("XDG_RUNTIME_DIR")
        folder = f"{runtime}/trackway" if runtime else f"/tmp/trackway-{os.geteuid()}"
        socket = f"{folder}/{recorder.pid}.socket"
        self.assertEqual(os.stat(socket).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=tools.TIME_LIMIT_S)
        self.assertFalse(os.path.exists(socket))

    def test_control_reaches_recorders_of_another_environment(self):
        for folder in (f"{self.folder.name}/runtime", f"{self.folder.name}/absent"):
            with self.subTest(folder=folder):
                if folder.endswith("runtime"):
                    os.mkdir(folder, 0o700)
                recorder = self.start("elsewhere", "loop", 60_000_000, environment={"XDG_RUNTIME_DIR": folder})
                self.assertIn("not recording", self.until_it_answers(recorder.pid))
                self.assertEqual(os.path.exists(f"{folder}/trackway/{recorder.pid}.socket"), folder.endswith("runtime"))
                recorder.send_signal(signal.SIGTERM)
                _, said = recorder.communicate(timeout=tools.TIME_LIMIT_S)
                self.assertNotIn("cannot reach", said)

    def test_root_controls_recorders_of_others(self):
        if os.geteuid() != 0:
            self.skipTest("takes root")
        nobody = 65534
        built = program("-O2")
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, nobody, nobody)
            copy = shutil.copy(built, folder)
            command = [tools.TRACKWAY, "record", "--paused", "-o", f"{folder}/t", "--", copy, "loop", "60000000"]
            recorder = subprocess.Popen(command, user=nobody, group=nobody, extra_groups=(), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]})
            self.addCleanup(recorder.communicate)
            self.addCleanup(recorder.kill)
            self.until_it_answers(recorder.pid)
            self.assertEqual(self.control(recorder.pid, "start").stdout, "recording\n")
            recorder.send_signal(signal.SIGTERM)
            recorder.communicate(timeout=tools.TIME_LIMIT_S)

    def test_a_mark_has_all_of_its_text_or_none(self):
        recorder = self.start("marks", "loop", 60_000_000)
        self.until_it_answers(recorder.pid)
        self.assertEqual(self.control(recorder.pid, "mark", "ü" * 45 + "x").stdout, "marked\n")
        refused = self.control(recorder.pid, "mark", "ü" * 46, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("at most 91 bytes", refused.stderr)
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=tools.TIME_LIMIT_S)
        self.assertIn("ü" * 45 + "x", tools.trackway("info", self.trace("marks")).stdout)

    # ---- What can't be ----

    def test_wrong_words(self):
        for words, expected in ((("--bursts", "1s/10ms"), "two times"), (("--bursts", "x"), "two times"),
                                (("--bursts", "1Macc/1s"), "two numbers of accesses"),
                                (("--bursts", "2Macc/1Macc"), "two numbers of accesses"),
                                (("--bursts", "0acc/1Macc"), "two numbers of accesses"),
                                (("--bursts", "1Macc/1Gacc"), "name times"), # nothing counts them: --discard
                                (("--sample", "--bursts", "1Macc/1Gacc"), "name times"),
                                (("--even",), "--bursts"),
                                (("--max-size", "0"), "number of bytes"),
                                (("--paused", "--start-after", "1s"), "cannot be used with"),
                                (("--only-region", ""), "name of a region"),
                                (("--only-region", "x" * 252), "252 bytes"),
                                (("--only-region", "x", "--binary"), "cannot be used with")):
            with self.subTest(words=words):
                done = tools.trackway("record", *words, "--discard", "--", "true", check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)


def inclusive(regions, within):
    """Writes in each region, with those in the one within it."""
    own = {region: writes for region, (_, writes) in regions.items()}
    return {region: writes + own.get(within.get(region), 0) for region, writes in own.items()}


class RegionsByHand:
    """Programs of which the writes in each region are known by hand."""

    def test_c(self):
        within = {"outer": "inner", "all of it": "end of it", "jump outer": "jump inner", "object": "in object"}
        for level in ("-O0", "-O2"):
            with self.subTest(level=level):
                self.check(counted.build_c, level, inclusive(counted.REGIONS, within))

    def test_cxx(self):
        within = {"caught within": "middle", "guard in loop": "guard within"}
        for level in ("-O0", "-O2"):
            with self.subTest(level=level):
                self.check(counted.build_cxx, level, inclusive(counted.REGIONS_CXX, within))

    def test_functions_by_name(self):
        self.check(counted.build_c, "-O2", {"globbed_*": 2 + 6, "globbed_two": 6}, "--region=globbed_*")


class Regions(RegionsByHand, unittest.TestCase):
    """Windows that are open while the program is in a region: what lies in it is known by hand, as for programs that count."""

    def check(self, build, level, expected, *options):
        with tools.folder() as folder:
            program = build(folder, counting.compile_tracing, level, *options)
            plain = tools.run(tools.plain_of(program))
            wrong = {}
            for region, writes in expected.items():
                trace = f"{folder}/trace"
                done = tools.record(trace, program, options=("--only-region", region.replace("(", "?").replace(")", "?")))
                self.assertEqual(tools.program_output(done), plain.stdout)
                _, found = accesses(trace, "touched")
                if found != writes:
                    wrong[region] = (found, writes)
            self.assertEqual(wrong, {})

    def test_several_at_once(self):
        with tools.folder() as folder:
            program, trace = counted.build_c(folder, counting.compile_tracing, "-O2"), f"{folder}/trace"
            tools.record(trace, program, options=("--only-region", "brea?", "--only-region", "c*tinue", "--only-region", "absent"))
            self.assertEqual(accesses(trace, "touched"), (13 + 15, 13 + 15))
            self.assertIn("region continue", tools.trackway("info", trace).stdout)

    def test_a_region_that_is_nowhere(self):
        with tools.folder() as folder:
            program, trace = counted.build_c(folder, counting.compile_tracing, "-O2"), f"{folder}/trace"
            done = tools.record(trace, program, options=("--only-region", "nowhere"))
            self.assertIn("region of interest that matches nowhere", done.stderr)
            self.assertEqual(accesses(trace, "touched"), (0, 0))

    def test_threads_and_processes_that_enter_and_leave(self):
        source = tools.PROGRAMS / "window_regions.c"
        for level in tools.LEVELS:
            with self.subTest(level=level), tools.folder() as folder:
                flags = ("-g", level, "-pthread", f"-I{tools.BUILD}/include")
                program, trace = tools.compile_traced(f"{folder}/program", [source], *flags), f"{folder}/trace"
                # The window is open as long as any of them is in the region: what each does there is recorded.
                done = tools.record(trace, program, options=("--only-region", "own"))
                inside, outside = map(int, tools.program_output(done).split())
                self.assertEqual(accesses(trace, "inside")[1], inside)
                self.assertLess(accesses(trace, "outside")[1], outside)
                self.assertGreater(tools.verified_accesses(trace), inside)

    def test_regions_from_a_time_on(self):
        with tools.folder() as folder:
            flags = ("-g", "-O2", f"-I{tools.BUILD}/include")
            program = tools.compile_traced(f"{folder}/program", [tools.PROGRAMS / "window_late.c"], *flags)
            for options, early in ((("--start-after", "750ms"), 0), ((), 16)):
                done = tools.record(f"{folder}/trace", program, options=("--only-region", "own", *options))
                self.assertEqual(windows_in(done), 1 + (early > 0))
                self.assertEqual(accesses(f"{folder}/trace", "early")[1], early)
                self.assertEqual(accesses(f"{folder}/trace", "late")[1], 16)
                self.assertGreaterEqual(tools.verified_accesses(f"{folder}/trace"), 16 + early)

    def test_threads_that_end_within_a_region_leave_it(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level=level), tools.folder() as folder:
                flags = ("-g", level, "-pthread", f"-I{tools.BUILD}/include")
                program = tools.compile_traced(f"{folder}/program", [tools.PROGRAMS / "window_exits.c"], *flags)
                trace = f"{folder}/trace"
                done = tools.record(trace, program, options=("--only-region", "own"))
                inside = int(tools.program_output(done).split()[0])
                self.assertEqual(accesses(trace, "inside")[1], inside)
                self.assertEqual(accesses(trace, "outside"), (0, 0))
                self.assertGreaterEqual(tools.verified_accesses(trace), inside)


class EndsWithinRegions(unittest.TestCase):
    """Processes that end within a region without leaving it: for others the window closes."""

    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        self.trace = f"{self.folder.name}/trace"

    def program(self):
        flags = ("-g", "-O2", f"-I{tools.BUILD}/include")
        return tools.once(
            "window-ends",
            lambda: tools.compile_traced(tools.BUILD / "tests" / "window_ends", [tools.PROGRAMS / "window_ends.c"], *flags),
        )

    def start(self, *command):
        running = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def status(self, pid):
        return tools.trackway("control", pid, "status", check=False).stdout

    def wait_until(self, pid, words):
        deadline = time.monotonic() + tools.TIME_LIMIT_S
        while not self.status(pid).startswith(words):
            self.assertLess(time.monotonic(), deadline, self.status(pid))
            time.sleep(.02)

    def finish(self, running, how):
        """Lets the program go on once nobody is in the region, and gives its stores there."""
        running.stdin.write("b")
        running.stdin.flush()
        self.assertEqual(running.stdout.readline(), "gone\n")
        if how == "both":
            time.sleep(.5)  # the recorder has had time to do wrong
            self.assertTrue(self.status(self.control).startswith("recording"))
        else:
            self.wait_until(self.control, "not recording")
        output, _ = running.communicate(timeout=tools.TIME_LIMIT_S)
        return int(output)

    def check(self, inside):
        self.assertEqual(accesses(self.trace, "inside")[1], inside)
        self.assertEqual(accesses(self.trace, "outside"), (0, 0))

    WAYS = ("killed", "exits", "executes", "again", "both")

    def test_of_a_program_that_the_recorder_starts(self):
        for how in self.WAYS:
            with self.subTest(how=how):
                running = self.start(tools.TRACKWAY, "record", "-q", "-f", "-o", self.trace, "--only-region", "own", "--",
                                     self.program(), how)
                self.control = running.pid
                inside = self.finish(running, how)
                self.assertEqual(running.wait(tools.TIME_LIMIT_S), 0)
                self.check(inside)
                self.assertGreaterEqual(tools.verified_accesses(self.trace, compared_by="the stores above"), inside)

    def test_of_a_program_that_runs_already(self):
        for how in self.WAYS:
            with self.subTest(how=how):
                running = self.start(self.program(), how)
                recorder = self.start(tools.TRACKWAY, "record", "-q", "-f", "-o", self.trace, "--only-region", "own", "--pid",
                                      running.pid)
                self.control = recorder.pid
                self.wait_until(self.control, "not recording")
                inside = self.finish(running, how)
                self.assertEqual(running.wait(tools.TIME_LIMIT_S), 0)
                self.assertEqual(recorder.wait(tools.TIME_LIMIT_S), 0)
                self.check(inside)


class SlicesByRegion(RegionsByHand, unittest.TestCase):
    """--region of a trace of the whole run: what lies in each region is known by hand."""

    def check(self, build, level, expected, *options, recording=()):
        with tools.folder() as folder:
            program, trace = build(folder, counting.compile_tracing, level, *options), f"{folder}/trace"
            tools.record(trace, program, options=recording)
            found = {region: accesses(trace, "touched", "--region", region)[1] for region in expected}
            self.assertEqual(found, expected)

    def test_of_windows_of_other_regions(self):
        """Threads know their regions whether they were recorded when they entered them or not."""
        self.check(counted.build_c, "-O2", {"outer": counted.REGIONS["inner"][1], "inner": counted.REGIONS["inner"][1]},
                   recording=("--only-region", "inner"))

    def test_each_thread_has_its_own(self):
        source = tools.PROGRAMS / "window_regions.c"
        for level in tools.LEVELS:
            with self.subTest(level=level), tools.folder() as folder:
                flags = ("-g", level, "-pthread", f"-I{tools.BUILD}/include")
                program, trace = tools.compile_traced(f"{folder}/program", [source], *flags), f"{folder}/trace"
                # Small buffers, so that many of them begin within the region.
                done = tools.record(trace, program, options=("--buffer-size", "32K"))
                inside, outside = map(int, tools.program_output(done).split())
                self.assertEqual(accesses(trace, "inside", "--region", "own")[1], inside)
                self.assertEqual(accesses(trace, "outside", "--region", "own")[1], 0)
                self.assertEqual(accesses(trace, "outside")[1], outside)
                self.assertGreater(tools.verified_accesses(trace), inside + outside)

    def test_verbs_answer_about_it(self):
        with tools.folder() as folder:
            program, trace = counted.build_c(folder, counting.compile_tracing, "-O2"), f"{folder}/trace"
            tools.record(trace, program)
            dumped = tools.trackway("dump", "--region", "continue", trace).stdout.splitlines()
            count = sum(bool(re.search(r" (load|store|atomic\S*) ", line)) for line in dumped)
            fields = tools.table(tools.report(trace, "--by", "field", "--top", "0", "--region", "continue"), "fields")["rows"]
            self.assertEqual(sum(row["accesses"] for row in fields), count)
            self.assertIn("region continue", tools.trackway("report", "-v", "--region", "continue", trace).stdout)
            for verb in ("sharing", "layout", "reuse", "patterns", "map"):
                tools.trackway(verb, "--region", "continue", trace)
            self.assertIn(" region ", tools.trackway("dump", trace).stdout)

    def test_what_has_no_regions(self):
        of_windows = program("-O2")
        with tools.folder() as folder:
            marked, trace = counted.build_c(folder, counting.compile_tracing, "-O2"), f"{folder}/trace"
            tools.record(trace, marked)
            done = tools.trackway("report", "--region", "nowhere", trace, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("no region has such a name; there are", done.stderr)
            without = f"{folder}/without"
            tools.record(without, of_windows, "text", 1)
            done = tools.trackway("report", "--region", "any", without, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("TRACKWAY_REGION_BEGIN", done.stderr)
