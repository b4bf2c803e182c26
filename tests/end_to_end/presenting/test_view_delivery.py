"""How the page of `trackway view` reaches its reader: as a file of the user alone, or served on loopback and nothing else."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import unittest
from pathlib import Path

from ..support import tools
from ..support.pages.chromium import Chromium
from ..support.pages.view_pages import recorded


class Files(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace = recorded(self.folder, "chase", "small")

    def test_the_page_is_the_users_and_is_not_replaced_unasked(self):
        tools.trackway("view", "-q", self.trace)
        page = Path(f"{self.trace}.html")
        self.assertEqual(page.stat().st_mode & 0o777, 0o600)
        again = tools.trackway("view", "-q", self.trace, check=False)
        self.assertEqual(again.returncode, 2)
        self.assertIn("with -f", again.stderr)
        tools.trackway("view", "-q", "-f", self.trace)
        self.assertEqual(os.listdir(self.folder).count(page.name), 1)

    def test_source_is_left_out_on_request(self):
        with_source = json.loads(tools.trackway("view", "-q", "--json", self.trace).stdout)
        without = json.loads(tools.trackway("view", "-q", "--json", "--no-source", self.trace).stdout)
        self.assertTrue(any(source["file"].endswith("chase.c") for source in with_source["sources"]))
        self.assertEqual(without["sources"], [])
        texts = {False: [], True: []}
        for data in (with_source, without):
            for table in (table for part in data["parts"] if part["name"] == "misses" for table in part["tables"]):
                columns = [index for index, column in enumerate(table["columns"]) if column["name"] == "source"]
                texts[data is without] += [row[index] for row in table["rows"] for index in columns if row[index]]
        self.assertTrue(texts[False])
        self.assertEqual(texts[True], [])

    def test_the_page_of_a_single_thread_has_no_sharing(self):
        data = json.loads(tools.trackway("view", "-q", "--json", self.trace).stdout)
        expected = ["advice", "misses", "places", "layout", "reuse", "map", "missed_map", "memory", "activity", "info"]
        self.assertEqual([part["name"] for part in data["parts"]], expected)


class Served(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        trace = recorded(folder.name, "chase", "small")
        command = [tools.TRACKWAY, "view", "-q", "--serve", trace]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.address = self.server.stdout.readline().strip()
        port, self.path = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.address).groups()
        self.port = int(port)

    def stop(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait(10)
        self.server.stdout.close()

    def ask(self, method, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def test_only_the_page_is_served(self):
        answer, page = self.ask("GET", self.path)
        self.assertEqual((answer.status, len(page)), (200, int(answer.headers["Content-Length"])))
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        head, nothing = self.ask("HEAD", self.path)
        self.assertEqual((head.status, head.headers["Content-Length"], nothing), (200, answer.headers["Content-Length"], b""))
        guessed = f"/{'0' * 32}/"
        above = (f"{self.path}../", f"{self.path}../../etc/passwd", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd")
        for path in ("/", guessed, self.path[:-1], "/etc/passwd", "//etc/passwd", *above):
            self.assertEqual(self.ask("GET", path)[0].status, 404, path)
        self.assertEqual(self.ask("PUT", self.path)[0].status, 405)
        self.assertEqual(self.ask("GET", self.path, Host="evil.example")[0].status, 421)

    def test_who_holds_connections_open_keeps_nobody_out(self):
        held = []
        for number in range(3 * 32):
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
            self.addCleanup(connection.close)
            connection.sendall(b"GET /"[: number % 6])
            held.append(connection)
        self.assertEqual(self.ask("GET", self.path)[0].status, 200)
        # The oldest one made room; nothing was answered.
        self.assertEqual(held[0].recv(1), b"")

    def test_long_heads_are_cut_off(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(connection.close)
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\n")
            for _ in range(1 << 10):
                connection.sendall(b"X: " + b"x" * 1021 + b"\r\n")
            self.assertEqual(connection.recv(1), b"")
        self.assertEqual(self.ask("GET", self.path)[0].status, 200)

    def test_a_browser_shows_it_and_asks_for_nothing_else(self):
        with Chromium() as browser:
            browser.open(self.address)
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.requests(), [self.address])
            self.assertIn("Overview", browser.evaluate("document.querySelector('main').textContent"))

    def test_other_addresses_need_a_word(self):
        done = tools.trackway("view", "-q", "--serve=0.0.0.0:0", "/dev/null", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--allow-remote", done.stderr)
