"""Answers that are kept: the same output as without, at once, in a folder of the user's alone."""

import os
import subprocess
import unittest
from pathlib import Path

from ..support import tools
from ..support.tools import TRACKWAY
from ..support.workloads import build

VERBS = (
    ["report"],
    ["report", "--json"],
    ["report", "--by", "line", "--csv"],
    ["layout"],
    ["sharing"],
    ["reuse", "--json"],
    ["patterns"],
    ["map"],
    ["memory"],
    ["view", "--json"],
)


class KeptAnswers(unittest.TestCase):
    def setUp(self):
        place = tools.folder()
        self.place = Path(place.__enter__())
        self.addCleanup(place.__exit__, None, None, None)
        self.trace = self.place / "trace"
        tools.record(self.trace, build("traced", "fluid", "-O2"), "60")
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.place / "caches"), "TRACKWAY_FRESH": ""}
        self.folder = self.place / "caches/trackway/answers"

    def ask(self, *words, **changes):
        environment = {**self.environment, **changes}
        done = tools.run(TRACKWAY, *words, self.trace, env=environment, cwd=self.place)
        return done.stdout, done.stderr

    def entries(self):
        return sorted(self.folder.iterdir()) if self.folder.exists() else []

    def test_kept_answers_are_the_same_bytes(self):
        for words in VERBS:
            with self.subTest(" ".join(words)):
                fresh = self.ask(*words, "--fresh")
                first = self.ask(*words)
                before = len(self.entries())
                self.assertEqual(self.ask(*words), fresh)
                self.assertEqual(first, fresh)
                self.assertEqual(len(self.entries()), before)
        self.assertEqual(len(self.entries()), len(VERBS))

    def test_a_page_is_kept_as_it_is(self):
        pages = []
        for name in ("a.html", "b.html"):
            self.ask("view", "-q", "-o", self.place / name)
            pages.append((self.place / name).read_bytes())
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(len(self.entries()), 1)

    def test_option_and_variable_keep_nothing(self):
        self.ask("report", "--fresh")
        self.ask("report", TRACKWAY_FRESH="1")
        self.assertEqual(self.entries(), [])

    def processor_seconds(self, *words):
        child = subprocess.Popen([TRACKWAY, *words, self.trace], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_utime

    def test_a_kept_answer_comes_at_once(self):
        # The page's answers take a hundred times what the start of a process does, so that a kept one shows on any machine.
        first = self.processor_seconds("view", "--json")
        self.assertLess(self.processor_seconds("view", "--json"), first / 3)

    def test_they_are_listed_and_removed(self):
        self.ask("report")
        self.ask("sharing")
        listed = tools.run(TRACKWAY, "answers", env=self.environment).stdout
        for word in ("report", "sharing", str(self.trace), str(self.folder)):
            self.assertIn(word, listed)
        self.assertEqual([self.folder.stat().st_mode & 0o777, self.entries()[0].stat().st_mode & 0o777], [0o700, 0o600])
        tools.run(TRACKWAY, "answers", "--clear", env=self.environment)
        self.assertEqual(self.entries(), [])

    def test_a_changed_trace_is_read(self):
        before = self.ask("report", "--json")
        tools.run(TRACKWAY, "record", "-q", "-f", "-o", self.trace, "--", build("traced", "fluid", "-O2"), "90")
        self.assertNotEqual(self.ask("report", "--json"), before)

    def test_a_foreign_folder_is_not_used(self):
        self.ask("report")
        self.folder.chmod(0o755)
        fresh = self.ask("report", "--fresh")
        self.assertEqual(self.ask("report"), fresh)
        refused = tools.run(TRACKWAY, "answers", env=self.environment, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("0700", refused.stderr)

    def test_without_a_place_for_them_verbs_answer(self):
        environment = {name: value for name, value in self.environment.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        done = tools.run(TRACKWAY, "report", self.trace, env=environment, cwd=self.place)
        self.assertIn("Trace", done.stdout)
