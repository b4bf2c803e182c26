"""Opening traces: what is known of them, and what goes wrong."""

import json
import pickle
import tempfile
import unittest
from pathlib import Path

import trackway

from . import traces


class Opening(unittest.TestCase):
    def test_what_is_known_equals_what_the_command_line_says(self) -> None:
        info = trackway.open(traces.GOLDEN).info
        said = {table["name"]: table["rows"] for table in json.loads(traces.trackway("info", "--json", traces.GOLDEN))["tables"]}
        recording = said["recording"][0]
        self.assertEqual(info.host, recording["host"])
        self.assertEqual(info.identity, recording["identity"])
        self.assertEqual(info.file_bytes, recording["file_bytes"])
        self.assertEqual(len(info.gaps), recording["gaps"])
        self.assertEqual(len(info.damage), recording["damaged_parts"])
        self.assertEqual(info.threads, [stream["stream"] for stream in said["streams"]])
        self.assertEqual(info.chunks, sum(stream["chunks"] for stream in said["streams"]))
        self.assertEqual(info.record_bytes, sum(stream["raw_bytes"] for stream in said["streams"]))
        self.assertEqual(sum(gap.dropped_buffers for gap in info.gaps), sum(s["dropped_buffers"] for s in said["streams"]))
        self.assertTrue(info.has_accesses)
        self.assertFalse(info.has_samples)

    def test_counts_are_no_accesses(self) -> None:
        info = trackway.open(traces.COUNTS).info
        self.assertTrue(info.has_counts)
        self.assertFalse(info.has_accesses)

    def test_traces_travel_by_their_path(self) -> None:
        trace = trackway.open(traces.GOLDEN)
        again = pickle.loads(pickle.dumps(trace))
        self.assertEqual(again.info.identity, trace.info.identity)
        self.assertEqual(repr(again), f"trackway.open({str(traces.GOLDEN)!r})")


class Errors(unittest.TestCase):
    def test_what_is_no_trace_is_named_with_a_remedy(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"something else, but long enough for a header of a trace" * 4)
            file.flush()
            with self.assertRaises(trackway.TraceError) as raised:
                trackway.open(file.name)
        self.assertEqual(raised.exception.file, file.name)
        self.assertEqual(raised.exception.remedy, "record one with `trackway record`")
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((type(again), str(again), again.file), (trackway.TraceError, str(raised.exception), file.name))

    def test_what_is_missing_is_named(self) -> None:
        with self.assertRaises(trackway.TraceError) as raised:
            trackway.open("/nowhere/prog.trackway")
        self.assertEqual((raised.exception.file, raised.exception.remedy), ("/nowhere/prog.trackway", None))
        self.assertIn("cannot open the file", str(raised.exception))

    def test_damage_is_listed_and_the_rest_is_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            cut = Path(folder, "cut.trackway")
            whole = traces.GOLDEN.read_bytes()
            cut.write_bytes(whole[: len(whole) * 3 // 4])
            info = trackway.open(cut).info
        self.assertEqual(len(info.damage), 1)
        self.assertIn(str(cut), info.damage[0])
        self.assertIsNone(info.ending)
        self.assertGreater(info.chunks, 0)


if __name__ == "__main__":
    unittest.main()
