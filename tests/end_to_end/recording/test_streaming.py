"""Traces to a collector: over good and bad connections, to collectors that die, from several programs at once."""

import os
import random
import signal
import socket
import stat
import subprocess
import time
import unittest
from pathlib import Path

from ..support import tools
from ..support.collecting import Collector
from ..support.wire import Proxy

LIMIT_S = 60
# What a collector takes at once.
MOST_CONNECTIONS = 256
SMALL_BUFFERS = ("--buffer-size", "16K", "--buffers", "8")


def program():
    def build():
        output = tools.BUILD / "tests" / "scattered"
        output.parent.mkdir(parents=True, exist_ok=True)
        return tools.compile_traced(output, [tools.PROGRAMS / "scattered.c"], "-O2", "-pthread")

    return tools.once("scattered", build)


def a_hello(test):
    """The first message of a recorder, to a collector that takes nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [tools.TRACKWAY, "record", "-q", "--to", f"tcp://127.0.0.1:{listener.getsockname()[1]}", "--", "true"]
        recorder = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
        test.addCleanup(recorder.wait)
        test.addCleanup(recorder.kill)
        connection, _ = listener.accept()
        with connection:
            head = connection.recv(40, socket.MSG_WAITALL)
            name = int.from_bytes(head[10:12], "little")
            return head + connection.recv(name + 8, socket.MSG_WAITALL)


def at_fixed_addresses(*command):
    return ["setarch", "-R", *(str(word) for word in command)]


def dump(trace):
    return tools.trackway("dump", "--count", 20_000, trace).stdout


class Streaming(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.traces = self.folder / "traces"
        self.arguments = {}  # of programs, by their recorders

    def collector(self, output, *options, **settings):
        collector = Collector("-o", output, *options, **settings)
        self.addCleanup(collector.kill)
        return collector

    def start_recorder(self, address, *arguments, options=()):
        """Returns when the program runs."""
        command = [tools.TRACKWAY, "record", "--to", address, *SMALL_BUFFERS, *options, "--", program(), *arguments]
        recorder = subprocess.Popen(
            at_fixed_addresses(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.kill)
        self.assertEqual(tools.read_line(recorder.stdout), "running\n")
        self.arguments[recorder.pid] = arguments
        return recorder

    def finish(self, recorder, status=0, shown=""):
        output, said = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, status, said)
        done = subprocess.CompletedProcess(recorder.args, status, "running\n" + shown + output, said)
        self.compare_with_plain(done, self.arguments[recorder.pid])
        return output, said

    @staticmethod
    def compare_with_plain(done, arguments):
        if done.returncode == 0:
            tools.compare_with_plain(done, (program(), *arguments), {})

    @staticmethod
    def verified_accesses(trace):
        return tools.verified_accesses(trace, compared_by="finish and record_to")

    def record_to(self, address, *arguments, options=(), **settings):
        command = [tools.TRACKWAY, "record", "--to", address, *SMALL_BUFFERS, *options, "--", program(), *arguments]
        done = tools.run(*at_fixed_addresses(*command), **settings)
        self.compare_with_plain(done, arguments)
        return done

    def only_trace(self):
        (trace,) = self.traces.iterdir()
        return trace

    def check_same_as_file(self, trace, *arguments, options=()):
        """The trace must hold what a recording to a file holds."""
        file = self.folder / "direct.trackway"
        command = [tools.TRACKWAY, "record", "-f", "-o", file, *SMALL_BUFFERS, *options, "--", program(), *arguments]
        self.compare_with_plain(tools.run(*at_fixed_addresses(*command)), arguments)
        self.assertEqual(self.verified_accesses(trace), self.verified_accesses(file))
        self.assertEqual(dump(trace), dump(file))


class GoodConnections(Streaming):
    def test_a_trace_over_tcp_is_that_of_a_file(self):
        collector = self.collector(f"{self.traces}/", "--once")
        self.record_to(collector.address, 30)
        self.assertIn("1 trace complete", collector.end())
        trace = self.only_trace()
        self.assertRegex(trace.name, r"^scattered-[0-9a-f]{16}\.trackway$")
        self.assertEqual(stat.S_IMODE(trace.stat().st_mode), 0o600)
        self.check_same_as_file(trace, 30)

    def test_a_trace_over_a_unix_socket_goes_to_the_named_file(self):
        path = self.folder / "socket"
        trace = self.folder / "run.trackway"
        collector = self.collector(trace, listen=f"unix:{path}")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.record_to(f"unix:{path}", 30)
        collector.end()
        self.assertFalse(path.exists())
        self.check_same_as_file(trace, 30)

    def test_a_dead_collectors_socket_is_replaced(self):
        path = self.folder / "socket"
        self.collector(f"{self.traces}/", listen=f"unix:{path}").kill()
        self.assertTrue(path.exists())
        collector = self.collector(f"{self.traces}/", "--once", listen=f"unix:{path}")
        refused = tools.trackway("collect", "-l", f"unix:{path}", "-o", self.traces, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("another process listens there", refused.stderr)
        self.record_to(f"unix:{path}", 1)
        collector.end()

    def test_several_programs_at_once(self):
        collector = self.collector(f"{self.traces}/", "--count", 3)
        recorders = [self.start_recorder(collector.address, rounds, 5) for rounds in (10, 20, 30)]
        for recorder in recorders:
            self.finish(recorder)
        self.assertIn("3 traces complete", collector.end())
        traces = sorted(self.traces.iterdir(), key=lambda trace: trace.stat().st_size)
        accesses = [self.verified_accesses(trace) for trace in traces]
        self.assertEqual([accesses[i + 1] - accesses[i] for i in (0, 1)], [accesses[1] - accesses[0]] * 2)
        self.assertGreaterEqual(accesses[1] - accesses[0], 10 * 10_000)

    def test_oracle_records_and_zstd(self):
        options = ("--oracle-dump", "--codec", "zstd")
        collector = self.collector(f"{self.traces}/", "--once", "--sync")
        self.record_to(collector.address, 5, options=options)
        collector.end()
        self.check_same_as_file(self.only_trace(), 5, options=options)


class BadConnections(Streaming):
    def test_cut_connections_lose_and_repeat_nothing(self):
        choices = random.Random(7)
        # The first connection must succeed: it tells whether there is a collector at all.
        cuts = [5000, 0, 3, 40, 70, 100] + [choices.randrange(100, 60_000) for _ in range(20)]
        collector = self.collector(f"{self.traces}/", "--once")
        with Proxy(collector.target, cuts) as proxy:
            # Uncompressed: then there are always bytes enough for all cuts.
            self.record_to(proxy.address, 250, options=("--codec", "none"))
        self.assertGreater(proxy.connections, 20)
        said = collector.end()
        self.assertIn("goes on after", said)
        self.check_same_as_file(self.only_trace(), 250)

    def test_damaged_bytes_are_sent_again(self):
        for damage in (50, 90, 130, 1000, 30_000):
            collector = self.collector(f"{self.traces}/", "--once")
            with Proxy(collector.target, damage=damage) as proxy:
                recorded = self.record_to(proxy.address, 5, check=False)
            if damage < 56:  # the hello itself
                self.assertEqual(recorded.returncode, 2)
                self.assertIn("record to a file with --output", recorded.stderr)
                self.assertFalse(list(self.traces.iterdir()))
                collector.interrupt()
                continue
            self.assertEqual(recorded.returncode, 0)
            self.assertEqual(proxy.connections, 2, damage)
            collector.end()
            trace = self.only_trace()
            self.assertGreaterEqual(self.verified_accesses(trace), 50_000)
            trace.unlink()

    def test_a_slow_reader_makes_the_program_wait(self):
        options = ("--window", "64K", "--codec", "none")
        collector = self.collector(f"{self.traces}/", "--once")
        with Proxy(collector.target) as proxy:
            recorder = self.start_recorder(proxy.address, 100, 1, options=options)
            proxy.stop_reading()
            began = time.monotonic()
            time.sleep(2)
            self.assertIsNone(recorder.poll())
            proxy.go_on_reading()
            self.finish(recorder)
            self.assertGreater(time.monotonic() - began, 2)
            self.assertEqual(proxy.connections, 1)
        collector.end()
        self.assertGreaterEqual(self.verified_accesses(self.only_trace()), 100 * 10_000)

    def test_a_slow_reader_leaves_a_gap_on_request(self):
        options = ("--window", "64K", "--codec", "none", "--on-full", "drop")
        collector = self.collector(f"{self.traces}/", "--once")
        with Proxy(collector.target) as proxy:
            recorder = self.start_recorder(proxy.address, 1000, 0, options=options)
            proxy.stop_reading()
            line = tools.read_line(recorder.stdout)
            self.assertTrue(line.startswith("sum"))  # it did not wait
            proxy.go_on_reading()
            _, said = self.finish(recorder, shown=line)
        self.assertIn("dropped", said)
        collector.end()
        info = tools.trackway("info", self.only_trace()).stdout
        self.assertIn("the ring was full", info)


class DyingCollectors(Streaming):
    def test_a_killed_collector_is_replaced_by_another_one(self):
        collector = self.collector(f"{self.traces}/", "--once")
        recorder = self.start_recorder(collector.address, 60, 20)
        choices = random.Random(3)
        for torn in (b"", b"\x00" * 7, b"TWCK" + b"\x01" * 200):
            time.sleep(choices.uniform(0.1, 0.3))
            collector.kill()
            time.sleep(0.1)
            with open(self.only_trace(), "ab") as file:
                file.write(torn)
            collector = self.collector(f"{self.traces}/", "--once", listen=collector.address)
        self.finish(recorder)
        self.assertIn("goes on after", collector.end())
        self.check_same_as_file(self.only_trace(), 60, 20)

    def test_an_interrupted_collector_leaves_valid_traces(self):
        collector = self.collector(f"{self.traces}/")
        recorder = self.start_recorder(collector.address, 60, 20)
        time.sleep(0.3)
        self.assertIn("unfinished", collector.interrupt())
        partial = tools.trackway("info", self.only_trace())
        self.assertIn("the recording has no end", partial.stdout)
        self.assertNotIn("torn", partial.stdout)
        collector = self.collector(f"{self.traces}/", "--once", listen=collector.address)
        self.finish(recorder)
        collector.end()
        self.assertGreaterEqual(self.verified_accesses(self.only_trace()), 60 * 10_000)

    def test_a_lost_collector_ends_the_recording_but_not_the_program(self):
        collector = self.collector(f"{self.traces}/")
        recorder = self.start_recorder(collector.address, 60, 30, options=("--reconnect-timeout", "500ms"))
        time.sleep(0.2)
        collector.kill()
        output, said = self.finish(recorder)
        self.assertRegex(output, r"^sum \d+\n$")
        self.assertIn("out of reach for 0.5 s", said)
        self.assertIn("are lost", said)
        self.assertIn("the recording has no end", tools.trackway("info", self.only_trace()).stdout)

    def test_a_collector_that_comes_back_late_learns_of_the_gap(self):
        collector = self.collector(f"{self.traces}/")
        recorder = self.start_recorder(collector.address, 60, 40, options=("--reconnect-timeout", "500ms"))
        time.sleep(0.3)
        collector.kill()
        self.assertIn("out of reach", tools.read_line(recorder.stderr))
        collector = self.collector(f"{self.traces}/", "--once", listen=collector.address)
        self.finish(recorder)
        collector.end()
        info = tools.trackway("info", self.only_trace()).stdout
        self.assertIn("ended with status 0", info)
        self.assertIn("because the trace could not be written", info)
        tools.trackway("dump", "--count", 1, self.only_trace())

    def test_a_removed_trace_is_not_begun_anew(self):
        collector = self.collector(f"{self.traces}/")
        recorder = self.start_recorder(collector.address, 60, 30)
        time.sleep(0.3)
        collector.kill()
        self.only_trace().unlink()
        collector = self.collector(f"{self.traces}/", listen=collector.address)
        _, said = self.finish(recorder)
        self.assertIn("only 0 bytes of it are at the collector", said)
        collector.interrupt()
        self.assertEqual(list(self.traces.iterdir()), [])


class Recorders(Streaming):
    def test_an_interrupted_program_has_a_whole_trace(self):
        collector = self.collector(f"{self.traces}/", "--once")
        recorder = self.start_recorder(collector.address, 1000, 20)
        time.sleep(0.3)
        recorder.send_signal(signal.SIGINT)
        self.finish(recorder, status=128 + signal.SIGINT)
        collector.end()
        info = tools.trackway("info", self.only_trace()).stdout
        self.assertIn("signal 2", info)
        tools.trackway("verify", self.only_trace(), check=False)

    def test_a_second_interrupt_ends_the_wait_for_the_collector(self):
        collector = self.collector(f"{self.traces}/")
        with Proxy(collector.target) as proxy:
            recorder = self.start_recorder(proxy.address, 1000, 20)
            proxy.stop_reading()
            time.sleep(0.3)
            recorder.send_signal(signal.SIGINT)
            time.sleep(0.5)
            self.assertIsNone(recorder.poll())
            recorder.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, said = self.finish(recorder, status=128 + signal.SIGINT)
            self.assertLess(time.monotonic() - began, 10)
            self.assertIn("interrupted while", said)
            proxy.go_on_reading()
        collector.interrupt()

    def test_a_killed_recorder_leaves_a_valid_trace(self):
        collector = self.collector(f"{self.traces}/")
        recorder = self.start_recorder(collector.address, 30, 20)
        time.sleep(0.3)
        recorder.kill()
        time.sleep(0.2)
        self.assertIn("the connection broke after", collector.interrupt())
        self.assertNotIn("torn", tools.trackway("info", self.only_trace()).stdout)

    def test_without_a_collector_nothing_starts(self):
        with socket.create_server(("127.0.0.1", 0)) as unused:
            address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        refused = self.record_to(address, 1, check=False)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn(f"start one with `trackway collect --listen {address}`", refused.stderr)

    def test_a_program_that_cannot_start_leaves_no_trace(self):
        collector = self.collector(f"{self.traces}/", "--once")
        failed = tools.trackway("record", "--to", collector.address, "--", "./missing", check=False)
        self.assertEqual(failed.returncode, 127)
        self.assertEqual(list(self.traces.iterdir()), [])
        self.record_to(collector.address, 1)
        collector.end()
        self.only_trace()


class Collectors(Streaming):
    def test_strangers_are_turned_away(self):
        collector = self.collector(f"{self.traces}/", "--once")
        for stranger in (b"", b"GET / HTTP/1.0\r\n\r\n" * 5, b"TWSTREAM" + b"\xff" * 400, os.urandom(100_000)):
            with socket.create_connection(collector.target) as connection:
                try:
                    connection.sendall(stranger)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(4096):
                        pass
                except ConnectionError:
                    pass
        self.record_to(collector.address, 1)
        self.assertIn("turned a connection away", collector.end())
        self.only_trace()

    def test_a_full_collector_refuses_by_name(self):
        collector = self.collector(self.folder / "one.trackway")
        recorder = self.start_recorder(collector.address, 20, 20)
        refused = self.record_to(collector.address, 1, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("takes no more traces", refused.stderr)
        self.finish(recorder)
        collector.end()

    def test_a_hello_alone_keeps_no_recorder_out(self):
        """A client that says hello, with the identity of no trace, and is silent; others say nothing, or something else."""
        collector = self.collector(self.folder / "one.trackway")
        idle = socket.create_connection(collector.target, timeout=LIMIT_S)
        self.addCleanup(idle.close)
        idle.sendall(a_hello(self))
        self.assertEqual(idle.recv(4, socket.MSG_WAITALL), b"TWRP")
        garbage = socket.create_connection(collector.target, timeout=LIMIT_S)
        self.addCleanup(garbage.close)
        garbage.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        silent = [socket.create_connection(collector.target, timeout=LIMIT_S) for _ in range(2 * MOST_CONNECTIONS)]
        for connection in silent:
            self.addCleanup(connection.close)
        self.record_to(collector.address, 1)
        collector.end()
        self.assertGreaterEqual(self.verified_accesses(self.folder / "one.trackway"), 10_000)

    def test_an_existing_file_is_replaced_only_by_force(self):
        file = self.folder / "one.trackway"
        file.write_text("mine")
        collector = self.collector(file)
        refused = self.record_to(collector.address, 1, check=False)
        self.assertIn("exists already", refused.stderr)
        collector.interrupt()
        self.assertEqual(file.read_text(), "mine")
        collector = self.collector(file, "--force")
        self.record_to(collector.address, 1)
        collector.end()
        self.assertGreaterEqual(self.verified_accesses(file), 10_000)

    def test_other_machines_are_invited_only_explicitly(self):
        refused = tools.trackway("collect", "-l", "tcp://0.0.0.0:0", "-o", f"{self.traces}/", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--allow-remote", refused.stderr)
        self.collector(f"{self.traces}/", "--allow-remote", listen="tcp://0.0.0.0:0").interrupt()
