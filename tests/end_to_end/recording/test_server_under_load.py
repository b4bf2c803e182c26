"""Recorders come to a server under load and leave it, again and again: what clients see is what the plain server says, and each
trace has the requests of its time."""

import contextlib
import csv
import io
import os
import re
import signal
import socket
import struct
import subprocess
import time
import unittest

from ..support import tools

WORKERS, CONNECTIONS, CHAIN = 2, 8, 8
HOW_MANY, END = 2**64 - 1, 2**64 - 2
REPLY = struct.Struct("<QQ48s")
MOMENTS, STAYS = 20, 6  # how often recorders come
# So many requests are answered while a recorder is there, however busy the machine is.
SOME = 500


def server(level="-O2"):
    output = tools.BUILD / "tests" / f"requests-server{level}"
    sources = [tools.PROGRAMS / "requests_server.c"]
    return tools.once(("requests", level), lambda: tools.compile_traced(output, sources, "-g", level, "-pthread", oracle=False))


def plain(name):
    output = tools.BUILD / "tests" / f"{name}-plain"
    sources = [tools.PROGRAMS / f"{name}.c"]
    return tools.once(("plain", name), lambda: tools.compile_plain(output, sources, "-O2", "-pthread"))


class Server:
    """It runs until it is told to end."""

    def __init__(self, program):
        self.running = subprocess.Popen([str(program), str(WORKERS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self.running.pid
        self.port = int(self.running.stdout.readline())
        self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def requests(self):
        """How many it has counted itself."""
        self.connection.send(struct.pack("<Q", HOW_MANY))
        return REPLY.unpack(self.connection.recv(REPLY.size, socket.MSG_WAITALL))[1]

    def wait_for(self, requests):
        deadline = time.monotonic() + 60
        while self.requests() < requests:
            if time.monotonic() > deadline:
                raise AssertionError("it answers no more")
            time.sleep(0.002)

    def end(self):
        """What it printed, and its status."""
        self.connection.send(struct.pack("<Q", END))
        output, errors = self.running.communicate(timeout=60)
        return output, errors, self.running.returncode

    def kill(self):
        self.connection.close()
        self.running.kill()
        self.running.communicate()


class ServerUnderLoad(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        self.replies = f"{self.folder.name}/replies"
        reference = Server(plain("requests_server"))
        self.addCleanup(reference.kill)
        tools.run(plain("requests_client"), reference.port, 1, self.replies)
        self.assertEqual(reference.end(), ("ended\n", "", 3))

    def path(self, name):
        return f"{self.folder.name}/{name}.trackway"

    @contextlib.contextmanager
    def loaded(self, program):
        """A server that clients ask all the time. In the end all replies were the plain server's, and it ends as that does."""
        served = Server(program)
        stop = f"{self.folder.name}/stop"
        words = [plain("requests_client"), served.port, CONNECTIONS, self.replies, stop]
        clients = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            served.wait_for(SOME)
            yield served
            open(stop, "w").close()
            asked, errors = clients.communicate(timeout=60)
            self.assertEqual((errors, clients.returncode), ("", 0))
            self.assertEqual(served.requests(), int(asked))
            self.assertEqual(served.end(), ("ended\n", "", 3))
        finally:
            clients.kill()
            clients.communicate()
            served.kill()

    @contextlib.contextmanager
    def recorder(self, served, trace, *options):
        """One that records, and is interrupted when the context ends."""
        command = [tools.TRACKWAY, "record", "-f", "--pid", served.pid, "-o", trace, *options]
        recorder = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            deadline = time.monotonic() + 60
            while "recording;" not in tools.trackway("control", served.pid, "status", check=False).stdout:
                self.assertLess(time.monotonic(), deadline)
            yield recorder
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate(timeout=60)
            self.assertEqual(recorder.returncode, 0, said)
            self.assertNotRegex(said, "DAMAGED|gaps|missing")
        finally:
            recorder.kill()
            recorder.communicate()

    def accesses_of(self, trace, *options):
        text = tools.trackway("report", "--by", "field", "--csv", "--top", "0", "--cache", "none", *options, trace).stdout
        return {row["field"]: int(row["accesses"]) for row in csv.DictReader(io.StringIO(text))}

    def requests_in(self, trace):
        """How many requests the trace has, by what each one does; all of it is there, but for those that were cut."""
        self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)
        accesses = self.accesses_of(trace)
        requests = accesses.get("reply.key", 0)
        for field, each in (("node.value", CHAIN), ("node.next", CHAIN), ("buckets", 1), ("reply.text", 1)):
            # A worker joins and leaves within one request.
            self.assertLessEqual(abs(accesses.get(field, 0) - each * requests), 2 * WORKERS * each, (field, accesses))
        return requests

    def test_recorders_that_come_for_a_moment(self):
        with self.loaded(server()) as served:
            for cycle in range(MOMENTS):
                before = served.requests()
                tools.run(tools.TRACKWAY, "record", "-q", "-f", "--pid", served.pid, "--duration", "10ms", "-o", self.path("t"))
                self.assertLessEqual(self.requests_in(self.path("t")), served.requests() - before, cycle)

    def test_each_trace_has_the_requests_of_its_time(self):
        with self.loaded(server()) as served:
            for cycle in range(STAYS):
                before = served.requests()
                with self.recorder(served, self.path("t")):
                    first = served.requests()
                    served.wait_for(first + SOME)
                    last = served.requests()
                found, after = self.requests_in(self.path("t")), served.requests()
                self.assertGreaterEqual(found, last - first - WORKERS, cycle)
                self.assertLessEqual(found, after - before, cycle)

    def test_marks_part_what_is_recorded(self):
        with self.loaded(server()) as served, self.recorder(served, self.path("t")):
            for text in ("one", "two"):
                served.wait_for(served.requests() + SOME)
                self.assertEqual(tools.trackway("control", served.pid, "mark", text).returncode, 0)
            served.wait_for(served.requests() + SOME)
        self.assertRegex(tools.trackway("info", self.path("t")).stdout, r"(?s)mark +one +control.*mark +two +control")
        slices = (("--to", "mark:one"), ("--from", "mark:one", "--to", "mark:two"), ("--from", "mark:two"))
        parts = [self.accesses_of(self.path("t"), *words).get("reply.key", 0) for words in slices]
        self.assertEqual(sum(parts), self.requests_in(self.path("t")))
        self.assertGreater(min(parts), 0)

    def test_snapshots_of_a_flight(self):
        """With room for all of it, a snapshot has every request since the recorder came."""
        with self.loaded(server()) as served:
            before = served.requests()
            with self.recorder(served, self.path("t"), "--flight", "256M"):
                first = served.requests()
                for number in range(1, 4):
                    served.wait_for(served.requests() + SOME)
                    last = served.requests()
                    written = tools.trackway("control", served.pid, "snapshot").stdout.strip()
                    self.assertEqual(os.path.realpath(written), os.path.realpath(self.path(f"t-{number}")))
                    found, after = self.requests_in(written), served.requests()
                    self.assertGreaterEqual(found, last - first - WORKERS, number)
                    self.assertLessEqual(found, after - before, number)

    def test_a_small_flight_has_the_newest(self):
        """The limit holds while clients go on."""
        limit = 64 << 10
        with self.loaded(server()) as served, self.recorder(served, self.path("t"), "--flight", f"{limit >> 10}K"):
            for _ in range(3):
                served.wait_for(served.requests() + 20 * SOME)
                written = tools.trackway("control", served.pid, "snapshot").stdout.strip()
                self.requests_in(written)
                status = tools.trackway("control", served.pid, "status").stdout
                held = re.search(r"held in (\d+) bytes of memory, and what they need in (\d+), of (\d+) bytes", status)
                newest, needed, most = map(int, held.groups())
                self.assertEqual(most, limit)
                # A chunk may come on top, of 256 KiB before it is compressed.
                self.assertLess(newest + needed, limit + (256 << 10))
