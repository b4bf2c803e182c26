"""`bench/run time`: a run that is kept predicts again what it predicted."""

import unittest
from pathlib import Path

from ..support import tools

BENCH = tools.ROOT / "bench" / "run"
# The shortest of the pairs.
PAIR = "nothing_padded"


class Kept(unittest.TestCase):
    def test_a_kept_run_is_predicted_anew_from_the_same_data(self):
        with tools.folder() as folder:
            kept = Path(folder) / "kept"
            machine = ["--machine", "zen3"]
            first = tools.run(BENCH, "time", PAIR, "--rounds", "1", *machine, "--keep", kept).stdout.splitlines()
            again = tools.run(BENCH, "time", *machine, "--from", kept).stdout.splitlines()
            self.assertRegex(first[-1], r"^time: pairs 1 within 10 points (0|100) % rank 0.00$")
            size = [line for line in first if line.startswith(f"{kept} takes ")]
            self.assertEqual(len(size), 1, first)
            self.assertEqual([line for line in first if line not in size], again)
            refused = tools.run(BENCH, "time", PAIR, "--keep", kept, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("exists already", refused.stderr)

    def test_a_folder_without_a_run_is_refused(self):
        with tools.folder() as folder:
            refused = tools.run(BENCH, "time", "--from", folder, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("has no run that was kept", refused.stderr)
