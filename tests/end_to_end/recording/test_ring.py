"""What a program does to its ring, or the machine to the recorder, harms nothing else."""

import collections
import os
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..support import tools
from ..support.random_programs import ring_fuzz

PROGRAMS = tools.ROOT / "tests" / "survival"
LIMIT_S = 120


def program(name, *flags):
    def make():
        folder = tools.folder()
        path = f"{folder.name}/{name}"
        tools.compile_traced(path, [PROGRAMS / f"{name}.c"], "-O1", *flags, oracle=False)
        return folder, path

    return tools.once(("ring", name), make)[1]


class Scribbled(unittest.TestCase):
    def test_programs_that_overwrite_the_ring(self):
        with tools.folder() as folder:
            fuzzer = ring_fuzz.Fuzzer(folder)
            with ThreadPoolExecutor(4) as pool:  # they wait most of the time
                ends = collections.Counter(pool.map(fuzzer.run, range(100)))
            self.assertGreater(ends["damaged"], 10, ends)


class Limits(unittest.TestCase):
    """A process's limits hold for the ring, too."""

    def record_under(self, limit):
        with tools.folder() as folder:
            traced, trace = program("outlasting"), f"{folder}/trace"
            plain = tools.run(traced, "0", "20000", check=False)
            command = f"ulimit {limit}; exec {tools.TRACKWAY} record -o {trace} -- {traced} 0 20000"
            recorded = tools.run("bash", "-c", command, check=False)
            self.assertEqual((recorded.returncode, recorded.stdout), (plain.returncode, plain.stdout), recorded.stderr)
            self.assertNotIn("unrecorded", recorded.stderr)
            tools.trackway("verify", trace)

    def test_address_space(self):
        self.record_under("-v 200000")

    def test_address_space_of_the_program_alone(self):
        with tools.folder() as folder:
            traced, trace = program("outlasting"), f"{folder}/trace"
            limited = ("bash", "-c", f"ulimit -v 50000; exec {traced} 0")
            recorded = tools.record(trace, *limited, check=False)
            self.assertEqual((recorded.returncode, recorded.stdout), (7, "finished\n"), recorded.stderr)
            self.assertNotIn("cannot map", recorded.stderr)
            tools.trackway("verify", trace)

    def test_size_of_files(self):
        self.record_under("-f 1000")


class Outlasting(unittest.TestCase):
    """Whatever happens to the recorder or its output, the program goes on, with its own output and status."""

    def start(self, *options, count=200_000):
        recorder = subprocess.Popen(
            [tools.TRACKWAY, "record", *options, "--buffer-size", "16K", "--", program("outlasting"), "1", str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        self.assertEqual(tools.read_line(recorder.stdout), "ready\n")
        return recorder

    def finish(self, recorder, status=7):
        output, said = recorder.communicate("go\n", timeout=LIMIT_S)
        self.assertEqual((recorder.returncode, output), (status, "finished\n"), said)
        return said

    def test_output_is_removed(self):
        with tools.folder() as folder:
            recorder = self.start("-o", f"{folder}/trace")
            os.unlink(f"{folder}/trace")
            self.finish(recorder)

    def test_reader_of_the_output_leaves(self):
        with tools.folder() as folder:
            fifo = f"{folder}/fifo"
            os.mkfifo(fifo)
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            recorder = self.start("-f", "-o", fifo, count=1000)  # less than a pipe holds
            os.close(reader)
            self.assertIn("are lost", self.finish(recorder))

    def test_disk_is_full(self):
        with tools.folder() as folder:
            limited = ("bash", "-c", f"ulimit -S -f 64; exec {tools.TRACKWAY} record --codec none -o {folder}/trace -- "
                                     f"{program('outlasting')} 0")
            done = tools.run(*limited, check=False)
            self.assertEqual((done.returncode, done.stdout), (7, "finished\n"), done.stderr)
            self.assertIn("are lost", done.stderr)

    def test_recorder_is_killed(self):
        for blow in (signal.SIGKILL, signal.SIGABRT):
            with tools.folder() as folder:
                recorder = self.start("-o", f"{folder}/trace")
                recorder.send_signal(blow)
                # The program has the pipe, so its output ends with it.
                self.finish(recorder, status=-blow)
                tools.trackway("info", f"{folder}/trace")

    def test_recorder_is_stopped_for_a_while(self):
        with tools.folder() as folder:
            recorder = self.start("-o", f"{folder}/trace")
            recorder.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
            recorder.send_signal(signal.SIGCONT)
            self.finish(recorder)
            tools.trackway("verify", f"{folder}/trace")

    def test_recorder_cannot_have_more_memory(self):
        with tools.folder() as folder:
            recorder = self.start("-o", f"{folder}/trace")
            subprocess.run(["prlimit", f"--pid={recorder.pid}", "--as=1000000"], check=True)
            output, said = recorder.communicate("go\n", timeout=LIMIT_S)
            self.assertEqual(output, "finished\n", said)

    def test_collector_leaves(self):
        with tools.folder() as folder:
            address = f"unix:{folder}/socket"
            collector = subprocess.Popen(
                [tools.TRACKWAY, "collect", "--listen", address, "-o", f"{folder}/traces/"], stderr=subprocess.PIPE
            )
            self.addCleanup(collector.communicate)
            self.addCleanup(collector.kill)
            while not Path(f"{folder}/socket").exists():
                time.sleep(0.01)
            recorder = self.start("--to", address, "--reconnect-timeout", "300ms")
            collector.send_signal(signal.SIGSTOP)
            said = self.finish(recorder)
            self.assertIn("out of reach for 0.3 s", said)


class SignalsToTheGroup(unittest.TestCase):
    """A program that ends well at the first signal and at once at the second."""

    def record(self, how, send):
        with tools.folder() as folder:
            recorder = subprocess.Popen(
                [tools.TRACKWAY, "record", "-o", f"{folder}/trace", "--", program("twice"), how],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            self.addCleanup(recorder.communicate)
            self.addCleanup(recorder.kill)
            self.assertEqual(tools.read_line(recorder.stdout), "ready\n")
            send(recorder.pid)
            output, said = recorder.communicate(timeout=LIMIT_S)
            self.assertEqual((recorder.returncode, output), (0, "one signal\n"), said)

    def test_sent_to_the_group(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.record("here", lambda pid, number=number: os.killpg(pid, number))

    def test_sent_to_the_recorder(self):
        self.record("here", lambda pid: os.kill(pid, signal.SIGINT))

    def test_sent_to_the_group_that_the_program_left(self):
        self.record("session", lambda pid: os.killpg(pid, signal.SIGINT))
