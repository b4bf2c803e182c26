"""The demo: its answer holds what it predicts, and all of it fits a screen of 80 columns and 24 lines."""

import os
import pty
import re
import subprocess
import unittest
from pathlib import Path

from ..support import tools
from ..support.documented import blocks

ACCOUNTS = "100000"
COLUMNS, LINES = 80, 24
FIGURE = re.compile(r"\d[\d,.]*")
# A `make` that builds nothing, as if all were built.
MAKES_NOTHING = '#!/bin/sh\necho "[ 50%] Building CXX object"\nsleep 1.5\n'
FAILS = '#!/bin/sh\necho "no such compiler"\nexit 3\n'


def answer():
    with tools.folder() as folder:
        return tools.run(tools.ROOT / "setup/demo-answer", tools.TRACKWAY, folder, ACCOUNTS).stdout


def figures(text, row):
    """The numbers of a row of the table: before, predicted and after, or before and after."""
    line = next(line for line in text.splitlines() if line.startswith(row))
    return [float(figure.replace(",", "")) for figure in FIGURE.findall(line.removeprefix(row))]


def without_figures(text):
    return [" ".join(FIGURE.sub("N", line).split()) for line in text.splitlines()]


def demo(folder, make):
    """The command, with a `make` of the test's own, and its environment."""
    Path(folder, "make").write_text(make)
    Path(folder, "make").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return [tools.ROOT / "setup/demo", ACCOUNTS], tools.environment(PATH=path, DEMO_FOLDER=f"{folder}/demo")


class Answer(unittest.TestCase):
    def setUp(self):
        self.said = tools.once("demo's answer", answer)

    def test_the_prediction_comes_true(self):
        before, predicted, after = figures(self.said, "L2 misses")[:3]
        self.assertLess(after, before / 2)
        self.assertLess(abs(predicted - after), after / 100)

    def test_the_change_saves_time(self):
        before, after, ratio = figures(self.said, "seconds")
        self.assertGreater(before / after, 1.2)
        self.assertAlmostEqual(before / after, ratio, delta=ratio / 10)

    def test_it_names_the_field_and_the_change(self):
        self.assertRegex(self.said, r"\Aaccount\.parent, .*read at accounts\.c:\d+, causes \d+ % of L2 misses\n")
        self.assertIn("--split 'account:parent' --link index", self.said)
        self.assertRegex(self.said, r'Both print "accounts 100000 groups \d+ together \d+"')

    def test_the_readme_shows_it(self):
        (block,) = [block for block in blocks("README.md") if block.text.startswith("account.parent")]
        shown = without_figures(block.text)
        self.assertEqual(shown, without_figures(self.said)[:len(shown)])


class Screen(unittest.TestCase):
    def check(self, lines):
        for line in lines:
            self.assertLessEqual(len(line), COLUMNS, line)

    def test_a_file_gets_a_line_for_each_step(self):
        with tools.folder() as folder:
            command, environment = demo(folder, MAKES_NOTHING)
            lines = tools.run(*command, env=environment).stdout.splitlines()
            self.assertIn("[ 50%]", Path(folder, "demo.log").read_text())
        self.check(lines)
        self.assertLessEqual(len(lines), LINES)
        self.assertEqual([line[:3] for line in lines[:6]], ["1/5", "2/5", "3/5", "4/5", "5/5", ""])
        self.assertRegex(lines[0], r"^1/5 packages +\d+ s +\d+ min \d+ s left$")

    def test_a_terminal_gets_progress(self):
        with tools.folder() as folder:
            command, environment = demo(folder, MAKES_NOTHING)
            ours, terminal = pty.openpty()
            with subprocess.Popen(command, env=environment, stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL):
                os.close(terminal)
                said = read_all(ours)
        shown = [line.rstrip() for line in re.split(r"[\r\n]+(?:\x1b\[K)?", said)]
        self.check(shown)
        self.assertTrue(any(re.match(r"2/5 compiler pass .* 50% .* left$", line) for line in shown), said)
        self.assertTrue(any(re.match(r"5/5 demo .* \d of 9 .* left$", line) for line in shown), said)

    def test_a_failure_names_the_log_and_its_end(self):
        with tools.folder() as folder:
            command, environment = demo(folder, FAILS)
            done = tools.run(*command, env=environment, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("2/5 compiler pass failed; ", done.stdout)
        self.assertIn("demo.log ends with:", done.stdout)
        self.assertIn("no such compiler", done.stdout)


def read_all(terminal):
    said = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so where a pipe would end
            piece = b""
        if not piece:
            os.close(terminal)
            return said.decode()
        said += piece
