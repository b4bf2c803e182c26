"""The flight recorder: snapshots hold the newest accesses, all of them, and are written when something happens."""

import collections
import glob
import json
import os
import re
import signal
import subprocess
import time
import unittest

from ..support import tools

LONG = 50_000  # rounds; some four accesses each
LIMIT = 32 << 10


def program(level="-O2"):
    output = tools.BUILD / "tests" / f"flight{level}"
    flags = ("-g", level, "-pthread", f"-I{tools.BUILD}/include")
    return tools.once(("flight", level), lambda: tools.compile_traced(output, [tools.PROGRAMS / "flight.c"], *flags,
                                                                      oracle=False))


def accesses_of_streams(trace):
    """What each access of each stream is and where it stands in the text; no addresses, which differ from run to run."""
    streams = collections.defaultdict(list)
    for line in tools.trackway("dump", trace).stdout.splitlines():
        access = re.match(r"\s*\d+\s+(\d+) (load|store)\S*\s+0x[0-9a-f]+\s+(\d+ .*)", line)
        if access:
            streams[access.group(1)].append(access.group(2, 3))
    return list(streams.values())


def accesses(trace):
    """The same of the only stream."""
    [stream] = accesses_of_streams(trace)
    return stream


class Flight(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        self.output = f"{self.folder.name}/t.trackway"

    def snapshots(self):
        return sorted(glob.glob(f"{self.folder.name}/t-*.trackway"))

    def fly(self, *arguments, options=(), limit=LIMIT):
        limit = limit if isinstance(limit, str) else f"{limit >> 10}K"
        command = [tools.TRACKWAY, "record", "--flight", limit, "-o", self.output, *options, "--", program(), *arguments]
        done = tools.run(*command, check=False)
        plain = tools.run(tools.plain_of(program()), *arguments, check=False)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(done.returncode, tools.shell_status(plain))
        self.assertFalse(os.path.exists(self.output))
        return done.stderr

    def whole(self, *arguments):
        trace = f"{self.folder.name}/whole"
        tools.run(tools.TRACKWAY, "record", "-q", "-f", "-o", trace, "--", program(), *arguments, check=False)
        return trace

    # ---- What a snapshot holds ----

    def test_a_crash_leaves_the_last_accesses_of_the_whole_trace(self):
        for how, said in (("fault", "signal 11 ended"), ("abort", "signal 6 ended"), ("status", "status 7")):
            with self.subTest(how=how):
                self.assertIn(said, self.fly(how, LONG, options=("-f",)))
                [snapshot] = self.snapshots()
                newest, all_of_them = accesses(snapshot), accesses(self.whole(how, LONG))
                self.assertGreater(len(newest), 1000)
                self.assertLess(len(newest), len(all_of_them))
                self.assertEqual(newest, all_of_them[-len(newest):])

    def test_the_access_that_faulted_is_there(self):
        self.fly("fault", 1000)
        dumped = tools.trackway("dump", self.snapshots()[0]).stdout
        self.assertRegex(dumped, r"store\S* +0x10 +8 .*flight\.c")

    def test_where_it_stopped(self):
        source = (tools.PROGRAMS / "flight.c").read_text().splitlines()
        for how, words in (("fault", "nowhere[2] = 1"), ("freed", "block[1] = (uint64_t)rounds")):
            with self.subTest(how=how):
                self.fly(how, 1000, 2, options=("-f",))
                line = next(number for number, text in enumerate(source, 1) if words in text)
                answer = json.loads(tools.trackway("last", "--json", self.snapshots()[0]).stdout)["answer"]
                self.assertRegex(answer, rf"Signal 11 .*\bstore of .* at .*flight\.c:{line} \(end\)")
                if how == "freed":
                    self.assertRegex(answer, r"malloc at .*flight\.c:\d+, given back: free at .*flight\.c:\d+")
                else:
                    self.assertIn("0x10", answer)
        self.fly("abort", 1000, options=("-f",))
        self.assertIn("Signal 6", tools.trackway("last", self.snapshots()[0]).stdout)

    def test_threads(self):
        self.fly("status", LONG, 3)
        [snapshot] = self.snapshots()
        # Streams are numbered as threads begin to record; each has accesses of its own.
        whole = accesses_of_streams(self.whole("status", LONG, 3))
        newest = accesses_of_streams(snapshot)
        for stream in newest:
            self.assertTrue(any(stream == one[-len(stream):] for one in whole), stream[:3])
        self.assertGreater(sum(map(len, newest)), 1000)
        self.assertLess(sum(map(len, newest)), sum(map(len, whole)))

    def test_short_runs_are_whole(self):
        self.fly("abort", 100)
        self.assertEqual(accesses(self.snapshots()[0]), accesses(self.whole("abort", 100)))

    def test_its_size_is_limited(self):
        self.fly("abort", LONG * 50, options=("--buffer-size", "16K"))
        [snapshot] = self.snapshots()
        self.assertLess(os.path.getsize(snapshot), LIMIT + (32 << 10))  # what records need comes on top
        self.assertGreater(os.path.getsize(snapshot), LIMIT // 2)

    def most_memory(self, rounds, threads, limit):
        """The most private memory that the recorder had, bytes."""
        command = [tools.TRACKWAY, "record", "-q", "--flight", f"{limit >> 10}K", "--workers", "1", "-o", self.output, "--", program(),
                   "nothing", str(rounds), str(threads)]
        recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        most = 0
        while recorder.poll() is None:
            with open(f"/proc/{recorder.pid}/status", encoding="ascii") as status:
                private = re.search(r"RssAnon:\s+(\d+) kB", status.read())
            most = max(most, int(private.group(1)) << 10 if private else 0)
            time.sleep(.01)
        self.assertEqual(recorder.wait(), 0)
        return most

    def test_memory_depends_on_the_limit_alone(self):
        limit, mebibyte = 4 << 20, 1 << 20
        short, long = (self.most_memory(rounds, 1, limit) for rounds in (4_000_000, 16_000_000))
        threads = self.most_memory(4_000_000, 4, limit)
        twice = self.most_memory(4_000_000, 1, 2 * limit)
        for most in (short, long, threads):
            self.assertGreater(most, limit)
            self.assertLess(most, limit + 12 * mebibyte)
            self.assertLess(abs(most - short), mebibyte)
        self.assertLess(abs(twice - short - limit), mebibyte)

    def test_its_time_is_limited(self):
        said = self.fly("abort", LONG, 1, 1000, limit="100ms", options=("--buffer-size", "16K"))
        covered = float(re.search(r"complete for the last ([\d.]+) s", said).group(1))
        self.assertLessEqual(covered, .2)
        self.assertGreater(covered, .02)

    def test_it_is_a_trace_like_any_other(self):
        self.fly("abort", LONG)
        [snapshot] = self.snapshots()
        self.assertEqual(os.stat(snapshot).st_mode & 0o777, 0o600)
        self.assertIn("invariants: hold", tools.trackway("verify", snapshot).stdout)
        self.assertIn("part.one", tools.trackway("report", snapshot).stdout)
        recording = tools.trackway("info", snapshot).stdout
        self.assertIn("signal 6 ended the program", recording)
        self.assertIn("in 1 window", recording)

    # ---- After a part of which everything is stored ----

    def fly_on(self, *arguments, limit="16K", newest="16K"):
        options = ("--max-size", limit, "--on-max", "flight", "--flight", newest, "--buffer-size", "16K")
        command = [tools.TRACKWAY, "record", "-f", "-o", self.output, *options, "--", program(), *arguments]
        done = tools.run(*command, check=False)
        plain = tools.run(tools.plain_of(program()), *arguments, check=False)
        self.assertEqual((done.stdout, done.returncode), (plain.stdout, tools.shell_status(plain)))
        return done.stderr

    def test_the_first_and_the_newest(self):
        said = self.fly_on("abort", LONG * 4)
        self.assertIn("all of the first", said)
        [snapshot] = self.snapshots()
        first, newest, whole = accesses(self.output), accesses(snapshot), accesses(self.whole("abort", LONG * 4))
        self.assertGreater(min(len(first), len(newest)), 1000)
        self.assertLess(len(first) + len(newest), len(whole))
        self.assertEqual(first, whole[:len(first)])
        self.assertEqual(newest, whole[-len(newest):])
        for trace, cause in ((self.output, "start"), (snapshot, "flight")):
            self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)
            said = tools.trackway("info", trace).stdout
            self.assertIn("in 1 window", said)
            self.assertIn(cause, said)
        self.assertIn("a flight recorder went on", tools.trackway("info", self.output).stdout)

    def test_nothing_lies_between_the_first_and_the_newest(self):
        self.fly_on("abort", LONG, newest="16M")
        [snapshot] = self.snapshots()
        first, newest = accesses(self.output), accesses(snapshot)
        self.assertGreater(min(len(first), len(newest)), 1000)
        whole = accesses(self.whole("abort", LONG))
        self.assertTrue(first == whole[:len(first)] and newest == whole[-len(newest):])
        self.assertGreaterEqual(len(first) + len(newest), len(whole))  # a buffer may be in both

    def test_threads_have_a_first_part_and_a_newest_one(self):
        self.fly_on("status", LONG * 4, 3, limit="48K", newest="48K")
        [snapshot] = self.snapshots()
        whole = accesses_of_streams(self.whole("status", LONG * 4, 3))
        for stream in accesses_of_streams(self.output):
            self.assertTrue(any(stream == one[:len(stream)] for one in whole), stream[:3])
        for stream in accesses_of_streams(snapshot):
            self.assertTrue(any(stream == one[-len(stream):] for one in whole), stream[:3])

    def test_a_short_run_has_a_first_part_only(self):
        said = self.fly_on("abort", 100, limit="1M")
        self.assertNotIn("first", said)
        self.assertEqual(self.snapshots(), [])
        self.assertEqual(accesses(self.output), accesses(self.whole("abort", 100)))
        self.assertIn("program ended", tools.trackway("info", self.output).stdout)

    def test_a_long_run_that_ends_in_order_has_a_first_part_only(self):
        self.assertNotIn("NOTHING", self.fly_on("nothing", LONG * 4))
        self.assertEqual(self.snapshots(), [])
        first = accesses(self.output)
        self.assertEqual(first, accesses(self.whole("nothing", LONG * 4))[:len(first)])

    def test_which_options_go_together(self):
        for words, expected in ((("--on-max", "flight"), "--max-size"),
                                (("--max-size", "1M", "--flight", "1M"), "add --on-max flight"),
                                (("--max-size", "1M", "--on-max", "flight", "--bursts", "1ms/2ms"), "cannot be used with")):
            with self.subTest(words=words):
                done = tools.trackway("record", *words, "--", "true", check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)

    # ---- Who asks ----

    def test_nobody(self):
        said = self.fly("nothing", 1000)
        self.assertIn("NOTHING WAS STORED", said)
        self.assertEqual(self.snapshots(), [])

    def test_the_program(self):
        self.assertIn("the program asked for it", self.fly("ask", LONG))
        [snapshot] = self.snapshots()
        newest, all_of_them = accesses(snapshot), accesses(self.whole("ask", LONG))
        at = len(all_of_them) - len(newest)
        self.assertEqual(newest[:1000], all_of_them[at:at + 1000])

    def test_what_was_slow(self):
        said = self.fly("slow", 1000, options=("--slower-than", "5ms"))
        self.assertIn("the program took 8000 us", said)
        self.assertEqual(len(self.snapshots()), 1)
        for how, options in (("fast", ("--slower-than", "5ms")), ("slow", ())):
            with self.subTest(how=how):
                self.assertIn("NOTHING WAS STORED", self.fly(how, 1000, options=options))

    def start(self, *arguments, limit=LIMIT, output=None, options=()):
        command = [tools.TRACKWAY, "record", "--flight", f"{limit >> 10}K", "-o", output or self.output, *options, "--",
                   program(), *arguments]
        recorder = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        for _ in range(200):
            if tools.trackway("control", recorder.pid, "status", check=False).returncode == 0:
                break
            time.sleep(.05)
        return recorder

    def test_control(self):
        recorder = self.start("nothing", 4_000_000, 2, 1000)
        time.sleep(.3)
        paths = [tools.trackway("control", recorder.pid, "snapshot").stdout.strip() for _ in range(2)]
        self.assertIn("invariants: hold", tools.trackway("verify", paths[0]).stdout)
        for word in ("start", "stop"):
            refused = tools.trackway("control", recorder.pid, word, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("records all the time", refused.stderr)
        self.assertIsNone(recorder.poll())
        output, said = recorder.communicate(timeout=tools.TIME_LIMIT_S)
        self.assertEqual(recorder.returncode, 0, said)
        self.assertEqual(output, tools.run(tools.plain_of(program()), "nothing", 4_000_000, 2).stdout)
        self.assertIn("2 snapshots", said)
        for number, path in enumerate(paths, 1):
            self.assertEqual(os.path.realpath(path), os.path.realpath(f"{self.folder.name}/t-{number}.trackway"))
            self.assertGreater(sum(map(len, accesses_of_streams(path))), 1000)

    def test_control_waits_for_the_new_file(self):
        """Not for the one that --force replaces."""
        first = f"{self.folder.name}/t-1.trackway"
        with open(first, "w") as file:
            file.write("old")
        recorder = self.start("nothing", 6_000_000, 2, 1000, limit=64 << 20, options=("-f",))
        time.sleep(1)
        written = tools.trackway("control", recorder.pid, "snapshot").stdout.strip()
        with open(first, "rb") as file:
            self.assertNotEqual(file.read(3), b"old")
        self.assertEqual(os.path.realpath(written), os.path.realpath(first))

    def test_control_says_at_once_that_a_disk_is_full(self):
        recorder = self.start("nothing", 2_000_000, 2, 1000, output="/proc/self/t.trackway")
        begun = time.monotonic()
        refused = tools.trackway("control", recorder.pid, "snapshot", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the snapshot is lost", refused.stderr)
        self.assertLess(time.monotonic() - begun, 60)

    def test_what_a_thread_did_that_waits_is_there_once(self):
        command = [tools.TRACKWAY, "record", "--flight", "1M", "-o", self.output, "--", program(), "wait", "1000"]
        recorder = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.kill)
        recorder.stdout.readline()  # all is done but for waiting
        paths = [tools.trackway("control", recorder.pid, "snapshot").stdout.strip() for _ in range(2)]
        _, said = recorder.communicate("x", timeout=tools.TIME_LIMIT_S)
        self.assertEqual(recorder.returncode, 7, said)
        self.assertNotIn("missing", said)
        trace = f"{self.folder.name}/whole"
        tools.run(tools.TRACKWAY, "record", "-q", "-f", "-o", trace, "--", program(), "wait", 1000, check=False)
        whole = accesses(trace)
        for path in paths:
            self.assertIn("invariants: hold", tools.trackway("verify", path).stdout)
            newest = accesses(path)
            self.assertEqual(newest, whole[: len(newest)])
            self.assertGreater(len(newest), len(whole) - 20)
        self.assertEqual(accesses(f"{self.folder.name}/t-3.trackway"), whole)

    def test_a_kill(self):
        recorder = self.start("nothing", 20_000_000, 2, 1000)
        time.sleep(.2)
        os.kill(int(tools.run("pgrep", "-P", recorder.pid, "-x", "flight-O2").stdout), signal.SIGKILL)
        _, said = recorder.communicate(timeout=tools.TIME_LIMIT_S)
        self.assertEqual(recorder.returncode, 128 + signal.SIGKILL)
        self.assertIn("signal 9 ended the program", said)
        [snapshot] = self.snapshots()
        self.assertIn("invariants: hold", tools.trackway("verify", snapshot).stdout)
        self.assertGreater(sum(map(len, accesses_of_streams(snapshot))), 1000)

    def test_existing_files_stay(self):
        first = f"{self.folder.name}/t-1.trackway"
        with open(first, "w") as file:
            file.write("mine")
        self.fly("abort", 100)
        with open(first) as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(len(self.snapshots()), 2)

    def test_a_full_disk_is_said(self):
        done = tools.run(tools.TRACKWAY, "record", "--flight", "1M", "-o", "/proc/self/t.trackway", "--", program(),
                         "abort", 100, check=False)
        self.assertEqual(done.returncode, 128 + signal.SIGABRT)
        self.assertIn("a snapshot is lost", done.stderr)

    def test_wrong_words(self):
        for words, expected in ((("--flight", "x"), "--flight"), (("--flight", "512"), "512M"), (("--flight", "0M"), "number of bytes"),
                                (("--flight", "1M", "--paused"), "cannot be used with"),
                                (("--flight", "1M", "--discard"), "cannot be used with"),
                                (("--flight", "1M", "--allocations"), "cannot be used with"),
                                (("--slower-than", "1ms"), "--flight")):
            with self.subTest(words=words):
                done = tools.trackway("record", *words, "--", "true", check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)

    def test_others_take_no_snapshots(self):
        recorder = subprocess.Popen([tools.TRACKWAY, "record", "-q", "-o", self.output, "--", program(), "nothing",
                                     "2000000", "1", "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        for _ in range(200):
            refused = tools.trackway("control", recorder.pid, "snapshot", check=False)
            if "no flight recorder" in refused.stderr:
                return
            time.sleep(.05)
        self.fail(refused.stderr)


class FlightOfBinaries(unittest.TestCase):
    """The same of programs that weren't compiled for it."""

    # What the code means takes some 400 KiB of it.
    NEWEST = ("--flight", "600K", "--buffer-size", "16K")

    def record(self, folder, name, how, *options):
        command = [tools.TRACKWAY, "record", "-f", "--binary", *options, "-o", f"{folder}/{name}.trackway"]
        return tools.run(*command, "--", tools.plain_of(program()), how, 2 * LONG, check=False)

    def test_a_crash_leaves_the_last_accesses(self):
        for how, signal_number in (("fault", signal.SIGSEGV), ("abort", signal.SIGABRT)):
            with self.subTest(how=how), tools.folder() as folder:
                done = self.record(folder, "t", how, *self.NEWEST)
                self.assertEqual(done.returncode, 128 + signal_number)
                self.assertIn(f"signal {int(signal_number)} ended", done.stderr)
                self.record(folder, "whole", how)
                newest, whole = accesses(f"{folder}/t-1.trackway"), accesses(f"{folder}/whole.trackway")
                self.assertGreater(len(newest), 1000)
                self.assertLess(len(newest), len(whole))
                self.assertEqual(newest, whole[-len(newest):])

    def test_the_first_and_the_newest(self):
        with tools.folder() as folder:
            done = self.record(folder, "t", "abort", "--max-size", "400K", "--on-max", "flight", *self.NEWEST)
            self.assertIn("all of the first", done.stderr)
            self.record(folder, "whole", "abort")
            first, newest, whole = (accesses(f"{folder}/{name}.trackway") for name in ("t", "t-1", "whole"))
            self.assertGreater(min(len(first), len(newest)), 1000)
            self.assertEqual(newest, whole[-len(newest):])
            self.assertLess(len(first) + len(newest), len(whole))

    def test_who_ends_in_order_leaves_nothing(self):
        with tools.folder() as folder:
            done = self.record(folder, "t", "quiet", "--flight", "1M")
            self.assertEqual((done.returncode, glob.glob(f"{folder}/t*")), (0, []), done.stderr)
