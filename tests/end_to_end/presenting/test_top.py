"""trackway top: what a program does in its regions while it runs."""

import csv
import os
import pty
import select
import signal
import subprocess
import time
import unittest
from pathlib import Path

from ..support import tools

SOURCE = tools.PROGRAMS / "unequal.c"
STATUS = 7
# About 1.2 s.
SHORT = (200, 5000)
LONG = (500, 5000)
BY_THREAD = ("entries", "bytes_read", "bytes_written", "time_ns", "own_time_ns")


def program(with_regions=True):
    def make():
        path = tools.BUILD / "tests" / ("unequal" if with_regions else "unequal-whole")
        path.parent.mkdir(parents=True, exist_ok=True)
        regions = ["-DWITH_REGIONS"] if with_regions else []
        tools.trackway("cc", "--count", "-O2", "-pthread", *regions, SOURCE, "-o", path)
        return path

    return tools.once(("unequal", with_regions), make)


def table(report, name):
    return next(table for table in report["tables"] if table["name"] == name)["rows"]


def sums(rows, column, key="thread"):
    found = {}
    for row in rows:
        found[int(row[key])] = found.get(int(row[key]), 0) + int(row[column])
    return found


def children(pid):
    """Of a recorder: what it runs, not the process of its own that stands by for signals."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found if Path(f"/proc/{child}/exe").resolve() != tools.TRACKWAY.resolve()]


class Top(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace, self.series = self.folder / "trace", self.folder / "series.csv"

    def top(self, *arguments, status=STATUS):
        done = tools.trackway("top", "--interval", "200ms", "--csv", self.series, *arguments, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self):
        with self.series.open(newline="") as file:
            return list(csv.DictReader(file))

    def start_recording(self, *options, arguments=LONG):
        """A recorder and its program's number, once that is counting."""
        command = [tools.TRACKWAY, "record", "-q", *options, "--", program(), *arguments]
        recorder = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stdout.close)
        self.addCleanup(recorder.wait)
        deadline = time.monotonic() + 30
        while not children(recorder.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        return recorder, children(recorder.pid)[0]

    def check_against_report(self):
        by_thread = table(tools.report(self.trace), "regions_by_thread")
        for column in BY_THREAD:
            self.assertEqual(sums(self.rows(), column), sums(by_thread, column), column)

    def test_the_series_adds_up_to_the_report(self):
        done = self.top("-o", self.trace, "--", program(), *SHORT)
        self.assertEqual(done.stdout, "all is done\n")
        self.assertIn("solve", done.stderr)
        self.check_against_report()
        rows = self.rows()
        self.assertGreater(len({row["time_s"] for row in rows}), 3)
        self.assertEqual({row["region"] for row in rows}, {"solve"})
        # While it runs, each interval has its part.
        for row in rows[2:6]:
            self.assertGreater(float(row["read_mb_per_s"]), 0)
            self.assertGreater(float(row["time_share"]), 0)

    def test_unequal_threads_are_seen(self):
        done = self.top("--", program(), *SHORT)
        read = sorted(sums(self.rows(), "bytes_read").values())
        self.assertEqual(len(read), 2)
        self.assertAlmostEqual(read[1] / read[0], 4, places=2)
        # 1.6 is the most over the mean.
        imbalances = [word for line in done.stderr.splitlines() if line.startswith("solve") for word in line.split()]
        self.assertTrue(any(word.startswith(("x1.5", "x1.6")) for word in imbalances), done.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["series.csv"])

    def test_entries_that_are_not_counted_are_estimated(self):
        done = self.top("--sample", 4, "-o", self.trace, "--", program(), 2000, 500)
        self.assertIn("estimated", done.stderr)
        rows, report = self.rows(), tools.report(self.trace)
        (region,) = table(report, "regions")
        self.assertEqual(sum(int(row["entries"]) for row in rows), region["entries"])
        read = sum(int(row["bytes_read"]) for row in rows)
        self.assertAlmostEqual(read / region["bytes_read"], 1, delta=0.1)

    def test_a_program_without_regions_is_one(self):
        done = self.top("-o", self.trace, "--", program(with_regions=False), *SHORT)
        self.assertIn("(whole program)", done.stderr)
        self.check_against_report()

    def test_attached_it_leaves_the_recording_alone(self):
        alone = self.folder / "alone"
        tools.record(alone, program(), *LONG, check=False)
        recorder, pid = self.start_recording("-o", self.trace)
        watched = self.top(pid, status=0)
        self.assertEqual(recorder.wait(), STATUS)
        self.assertIn("solve", watched.stdout)
        expected, found = (table(tools.report(trace), "regions") for trace in (alone, self.trace))
        for column in ("entries", "counted_entries", "bytes_read", "bytes_written", "reads", "writes"):
            self.assertEqual(found[0][column], expected[0][column], column)
        # It came later, and saw the end.
        read = sum(int(row["bytes_read"]) for row in self.rows())
        self.assertGreater(read, found[0]["bytes_read"] // 4)
        self.assertLess(read, found[0]["bytes_read"])

    def test_a_recorder_stands_for_its_program(self):
        recorder, _ = self.start_recording("-o", self.trace)
        once = self.top("--once", recorder.pid, status=0)
        self.assertEqual(once.stdout.count("solve"), 1)
        self.assertIsNone(recorder.poll())

    def test_interrupted_it_leaves_the_program_alone(self):
        recorder, pid = self.start_recording("-o", self.trace)
        command = [tools.TRACKWAY, "top", "--interval", "10s", "--csv", self.series, pid]
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as top:
            time.sleep(0.5)
            top.send_signal(signal.SIGINT)
            self.assertEqual(top.wait(timeout=5), 0)
        self.assertIsNone(recorder.poll())
        self.assertTrue(self.rows())
        self.assertEqual(recorder.wait(), STATUS)

    def test_without_a_trace_there_are_times(self):
        _, pid = self.start_recording("--discard")
        watched = self.top("--once", pid, status=0)
        self.assertIn("no bytes", watched.stderr)
        rows = self.rows()
        self.assertTrue(rows)
        for row in rows:
            self.assertGreater(int(row["time_ns"]), 0)
            self.assertEqual((row["bytes_read"], row["read_mb_per_s"]), ("", ""))

    def test_what_is_not_recorded_is_refused(self):
        refused = self.top(os.getpid(), status=2)
        self.assertIn("trackway record", refused.stderr)

    def test_files_are_replaced_only_by_force(self):
        self.series.write_text("mine")
        self.assertIn("with -f", self.top("--", program(), 1, 0, status=2).stderr)
        parquet = self.folder / "series.parquet"
        self.top("-f", "--parquet", parquet, "--", program(), 1, 0)
        self.assertTrue(self.rows())
        self.assertEqual(parquet.read_bytes()[:4], b"PAR1")

    def test_the_status_of_a_program_that_is_missing(self):
        self.assertIn("no such program", self.top("--", self.folder / "missing", status=127).stderr)

    def test_a_terminal_shows_the_view_and_then_what_was_printed(self):
        command = [tools.TRACKWAY, "top", "--interval", "100ms", "--", program(), *SHORT]
        status, shown = in_terminal([str(word) for word in command])
        self.assertEqual(os.waitstatus_to_exitcode(status), STATUS)
        entered, left = shown.index("\x1b[?1049h"), shown.index("\x1b[?1049l")
        view = shown[entered:left]
        self.assertIn("solve", view)
        self.assertIn("█", view)
        self.assertNotIn("all is done", view)
        self.assertIn("all is done", shown[left:])


def in_terminal(command):
    """Runs it in a terminal of its own; returns its status and what it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["LC_ALL"] = "C.UTF-8"
        os.execv(command[0], command)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end was closed
            break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return status, shown.decode(errors="replace")


if __name__ == "__main__":
    unittest.main()
