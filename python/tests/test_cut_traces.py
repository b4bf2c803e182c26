"""Traces that were cut: whatever is left is read, or refused by an error that says why."""

import tempfile
import unittest
from pathlib import Path

import trackway

VECTORS = Path(__file__).parents[2] / "trace/vectors"
CUTS = 12
QUESTIONS = ("misses", "memory", "layout", "patterns", "reuse", "sharing")


class CutTraces(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "cut.trackway"

    def read_all(self) -> int:
        """How many tables and questions were answered."""
        try:
            trace = trackway.open(self.path)
        except trackway.TrackwayError as error:
            self.assertIn(str(self.path), str(error))
            return 0
        answered = 0
        for table in trackway.TABLES:
            try:
                trace.table(table).to_pyarrow().read_all()
                answered += 1
            except trackway.TrackwayError as error:
                self.assertTrue(str(error))
        for question in QUESTIONS:
            try:
                getattr(trace, question)()
                answered += 1
            except trackway.TrackwayError as error:
                self.assertTrue(str(error))
        return answered

    def test_what_is_left_is_read(self) -> None:
        for name in ("golden-v1.trackway", "counts-v1.trackway"):
            whole = (VECTORS / name).read_bytes()
            answered = []
            for part in range(CUTS + 1):
                with self.subTest(name=name, part=part):
                    self.path.write_bytes(whole[: len(whole) * part // CUTS])
                    answered.append(self.read_all())
            self.assertEqual(answered[0], 0, "nothing can be asked of nothing")
            self.assertGreater(answered[-1], len(trackway.TABLES) // 2)


if __name__ == "__main__":
    unittest.main()
