"""The examples run, and draw what they say."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import matplotlib.image

from . import traces

EXAMPLES = traces.ROOT / "examples" / "python"


def run(example: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / example), *map(str, arguments)]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Examples(unittest.TestCase):
    def test_pictures_of_a_structure_and_of_memory(self) -> None:
        folder = traces.folder() / "pictures"
        trace = traces.recorded("particles.c")
        said = run("structure_splitting.py", trace, folder)
        self.assertRegex(said, "particle: 64 of 80 bytes are cold; the change saves [0-9.]+ % of the L1 misses")
        for name in ("structure.png", "map.png"):
            picture = matplotlib.image.imread(Path(folder, name))
            self.assertGreater(picture.shape[0] * picture.shape[1], 300_000)
            dark = (picture[..., :3].sum(axis=2) < 1.5).mean()
            self.assertTrue(0.005 < dark < 0.6, f"{name}: {dark:.3f} of it is dark")

    def test_strides(self) -> None:
        said = run("strides.py", traces.recorded("particles.c"))
        self.assertEqual(len(said.splitlines()), 10)
        self.assertRegex(said, r"59,999 +chase:")
        self.assertIn("+80 ", said)
