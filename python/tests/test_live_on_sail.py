"""Live queries on Sail, an engine that speaks Spark Connect: whether there are any that it answers."""

import json
import subprocess
import sys
import tempfile
import unittest

from . import traces


class Sail(unittest.TestCase):
    def test_sail_refuses_python_sources_instead_of_answering_wrongly(self) -> None:
        with tempfile.TemporaryDirectory(dir=traces.folder()) as folder:
            command = [sys.executable, "-m", "tests.sail_live", str(traces.GOLDEN.parent), folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=traces.ROOT / "python")
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        self.assertIn("unsupported PySpark version", json.loads(done.stdout.strip().splitlines()[-1]))
