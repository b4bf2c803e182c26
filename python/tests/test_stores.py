"""Traces in an object store: a server of S3's protocol on this machine, asked by the command line."""

import csv
import io
import logging
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from moto.server import ThreadedMotoServer

from . import traces

ACCOUNT = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
COUNT = "SELECT count(*) AS n FROM accesses"


class Stores(unittest.TestCase):
    server: ThreadedMotoServer
    endpoint: str

    @classmethod
    def setUpClass(cls) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        cls.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        host, port = cls.server.get_host_and_port()
        cls.endpoint = f"http://{host}:{port}"
        cls.put("runs")
        for name in ("monday/one.trackway", "tuesday/two.trackway"):
            cls.put(f"runs/fleet/{name}", traces.GOLDEN.read_bytes())
        cls.put("runs/fleet/notes.txt", b"no trace")
        cls.put("runs/other/three.trackway", b"no trace, whatever its name says, and longer than a header is")

    @classmethod
    def put(cls, name: str, content: bytes = b"") -> None:
        headers = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{cls.endpoint}/{name}", data=content, headers=headers, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()

    def run_trackway(self, *words: object, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | ACCOUNT | {"AWS_ENDPOINT_URL": self.endpoint} | settings
        command = [str(word) for word in (traces.TRACKWAY, *words)]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def rows(self, *words: object) -> list[dict[str, str]]:
        done = self.run_trackway("query", "-q", "--format", "csv", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_all_traces_below_a_prefix_are_one_table(self) -> None:
        (single,) = self.rows(traces.GOLDEN, COUNT)
        (both,) = self.rows("s3://runs/fleet", COUNT)
        self.assertEqual(int(both["n"]), 2 * int(single["n"]))
        paths = [row["path"] for row in self.rows("s3://runs/fleet/", "SELECT path FROM traces ORDER BY path")]
        self.assertEqual(paths, ["s3://runs/fleet/monday/one.trackway", "s3://runs/fleet/tuesday/two.trackway"])
        (one,) = self.rows("s3://runs/fleet/monday/one.trackway", COUNT)
        self.assertEqual(one, single)

    def test_folders_of_stores_are_compared_and_checked(self) -> None:
        done = self.run_trackway("diff", "s3://runs/fleet/monday", "s3://runs/fleet/tuesday")
        self.assertIn("1 pair of traces compared", done.stdout, done.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as budget:
            budget.write('[[budget]]\nmeasure = "accesses"\nmax = 1\n')
            budget.flush()
            done = self.run_trackway("check", "s3://runs/fleet", "--budget", budget.name)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("2 traces: 2 with broken budgets", done.stdout)

    def test_copies_go(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            words = ("query", "-q", "s3://runs/fleet", "SELECT count(*) FROM traces")
            done = self.run_trackway(*words, TMPDIR=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.listdir(folder), [])
            done = self.run_trackway(*words, TMPDIR=f"{folder}/nothing")
            self.assertEqual(done.returncode, 2)
            self.assertIn("TMPDIR", done.stderr)

    def test_an_interrupted_command_leaves_no_copies(self) -> None:
        endless = "SELECT count(*) FROM " + ", ".join(f"accesses a{number}" for number in range(12))
        environment = os.environ | ACCOUNT | {"AWS_ENDPOINT_URL": self.endpoint}
        with tempfile.TemporaryDirectory() as folder:
            command = [str(traces.TRACKWAY), "query", "-q", "s3://runs/fleet", endless]
            with subprocess.Popen(command, env=environment | {"TMPDIR": folder}, stderr=subprocess.DEVNULL) as asking:
                deadline = time.monotonic() + 60
                while len(list(Path(folder).rglob("*.trackway"))) < 2 and time.monotonic() < deadline:
                    time.sleep(0.01)
                asking.send_signal(signal.SIGINT)
                self.assertEqual(asking.wait(timeout=60), -signal.SIGINT)
            self.assertEqual(os.listdir(folder), [])

    def test_what_is_not_there_is_named(self) -> None:
        for place, message in [
            ("s3://runs/nothing", "s3://runs/nothing: there is no trace"),
            ("s3://nobodys/runs", "s3://nobodys/runs: "),
            ("s3://runs/fleet/three.trackway", "s3://runs/fleet/three.trackway: "),
            ("s3://runs/other", "no trace in this folder can be read"),
            ("ftp://host/runs", "ftp://host/runs: "),
        ]:
            done = self.run_trackway("query", "-q", place, COUNT)
            self.assertEqual(done.returncode, 2, place)
            self.assertIn(message, done.stderr)
            self.assertNotIn("panicked", done.stderr)
