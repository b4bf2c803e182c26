"""Sail, an engine that speaks Spark Connect: which functions give the right answer there."""

import json
import subprocess
import sys
import unittest

from . import traces

RIGHT = {"counts", "rows", "report", "layout", "sharing", "reuse"}


class Sail(unittest.TestCase):
    def test_what_sail_answers_is_right(self) -> None:
        trace = traces.chunked("layouts.c")
        command = [sys.executable, "-m", "tests.sail_session", str(trace)]
        python = traces.ROOT / "python"
        path = f"{traces.ROOT / 'build' / 'sail'}:{python}"
        environment = traces.environment(PYTHONPATH=path)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=python, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        found = json.loads(done.stdout.strip().splitlines()[-1])
        self.assertEqual(found, dict.fromkeys(RIGHT, "right"))
