"""Tables of a trace: rows, filters and partitions, against what `trackway dump` prints, and who takes them."""

import collections
import functools
import json
import pickle
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arro3.core
import duckdb
import numpy
import pandas
import polars
import pyarrow

import trackway

from . import traces

OWN = ["thread", "chunk", "position", "site", "address", "size", "kind", "variable", "function"]


@functools.cache
def trace() -> trackway.Trace:
    return trackway.open(traces.recorded("particles.c"))


@functools.cache
def dumped() -> list[dict[str, Any]]:
    """Accesses as `trackway dump` prints them."""
    events = map(json.loads, traces.trackway("dump", "--json", trace().path).splitlines())
    return [event for event in events if "address" in event and "site" in event]


def rows(batches: trackway.Batches) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = batches.to_pyarrow().read_all().to_pylist()
    return read


def number(value: Any) -> int:
    return int(value, 0) if isinstance(value, str) else int(value)


class Accesses(unittest.TestCase):
    def test_rows_are_those_of_dump(self) -> None:
        read = [(row["thread"], row["site"], row["address"], row["size"]) for row in rows(trace().accesses(columns=OWN))]
        said = [(row["stream"], row["site"], number(row["address"]), row["size"]) for row in dumped()]
        self.assertGreater(len(said), 100_000)
        self.assertEqual(read, said)

    def test_filters_keep_what_fits_all_of_them(self) -> None:
        addresses = sorted(number(row["address"]) for row in dumped())
        span = (addresses[len(addresses) // 3], addresses[len(addresses) // 2])
        sites = sorted({row["site"] for row in dumped()})[::2]
        kept = trace().accesses(columns=["address", "site", "thread"], addresses=span, sites=sites, threads=[0])
        said = collections.Counter(
            (number(row["address"]), row["site"])
            for row in dumped()
            if span[0] <= number(row["address"]) <= span[1] and row["site"] in sites and row["stream"] == 0
        )
        self.assertGreater(len(said), 0)
        self.assertEqual(collections.Counter((row["address"], row["site"]) for row in rows(kept)), said)

    def test_times_divide_the_rows(self) -> None:
        times = trace().accesses(columns=["time_ns"]).to_polars()["time_ns"]
        middle = sorted(times.to_list())[len(times) // 2]
        before = trace().accesses(columns=["time_ns"], times_ns=(0, middle)).read_all().num_rows
        after = trace().accesses(columns=["time_ns"], times_ns=(middle + 1, 2**64 - 1)).read_all().num_rows
        self.assertEqual((before, before + after), (int((times <= middle).sum()), len(dumped())))

    def test_levels_are_those_of_the_misses(self) -> None:
        read = trackway.open(traces.recorded("particles.c"))
        levels = [row["level"] for row in rows(read.accesses(columns=["level"]))]
        self.assertEqual(len(levels), len(dumped()))
        self.assertGreater(min(levels), 0)
        self.assertNotIn("level", rows(read.accesses(limit=1))[0])

    def test_limits_and_batches(self) -> None:
        batches = list(trace().accesses(columns=["site"], limit=10_000, batch_rows=1000))
        self.assertEqual(sum(batch.num_rows for batch in batches), 10_000)
        self.assertEqual(max(batch.num_rows for batch in batches), 1000)
        said = [row["site"] for row in dumped()[:10_000]]
        self.assertEqual([site for batch in batches for site in batch["site"].to_pylist()], said)
        self.assertEqual(batches[0].schema.names, ["site"])

    def test_batches_are_read_once(self) -> None:
        batches = trace().accesses(limit=1)
        batches.read_all()
        with self.assertRaisesRegex(ValueError, "have been read"):
            batches.read_all()
        with self.assertRaisesRegex(ValueError, "have been read"):
            next(batches)

    def test_columns_have_units_and_meanings(self) -> None:
        said = {name: (unit, meaning) for name, unit, meaning in trackway.describe("accesses")}
        self.assertEqual(said["size"][0], "bytes")
        field = trace().accesses().schema.field("time_ns")
        self.assertIn("estimated", field.metadata_str["meaning"])

    def test_wrong_names_are_told_with_what_there_is(self) -> None:
        with self.assertRaisesRegex(ValueError, 'no column "adress"; it has .*address'):
            trace().accesses(columns=["adress"])
        with self.assertRaisesRegex(ValueError, 'no table "access"; there are accesses, '):
            trace().table("access")
        with self.assertRaisesRegex(ValueError, "expected 'raise' or 'skip'"):
            trace().accesses(damage="ignore")  # type: ignore[arg-type]


class Partitions(unittest.TestCase):
    def test_partitions_are_the_whole(self) -> None:
        whole = collections.Counter(row["site"] for row in dumped())
        for count in (1, 3, 7):
            parts = trace().partitions(count)
            self.assertLessEqual(len(parts), count)
            parts = pickle.loads(pickle.dumps(parts))
            found: collections.Counter[int] = collections.Counter()
            for part in parts:
                read = trace().accesses(columns=["site"], partition=part)
                found.update(row["site"] for row in rows(read))
            self.assertEqual(found, whole, count)
            self.assertEqual(sum(part.chunks for part in parts), trace().info.chunks)

    def test_partitions_of_a_thread(self) -> None:
        [part] = trace().partitions(1, threads=[1])
        threads = {row["thread"] for row in rows(trace().accesses(columns=["thread"], partition=part))}
        self.assertEqual(threads, {1})
        self.assertEqual(trackway.Partition.from_json(part.to_json()), part)
        with self.assertRaisesRegex(ValueError, "not a partition"):
            trackway.Partition.from_json("{}")


class Tables(unittest.TestCase):
    def test_each_table_can_be_read(self) -> None:
        self.assertIn("sites", trackway.TABLES)
        for name in trackway.TABLES:
            table = trace().table(name)
            # What caches are simulated for is there only where it is named.
            simulated = ("level", "cycles") if name == "accesses" else ()
            expected = [column for column, _, _ in trackway.describe(name) if column not in simulated]
            self.assertEqual(table.schema.names, expected)
            self.assertEqual(table.read_all().schema.names, table.schema.names)

    def test_sites_name_accesses(self) -> None:
        joined = {row["site"]: row["variable"] for row in rows(trace().table("sites"))}
        named = rows(trace().accesses(columns=["site", "variable"], limit=50_000))
        self.assertTrue(all(joined[row["site"]] == row["variable"] for row in named))


class Takers(unittest.TestCase):
    """Other libraries see the same rows."""

    def columns(self) -> trackway.Batches:
        return trace().accesses(columns=["address", "variable"], limit=30_000, batch_rows=4096)

    def expected(self) -> collections.Counter[str | None]:
        return collections.Counter(row["variable"] for row in rows(self.columns()))

    def test_pandas(self) -> None:
        frame = self.columns().to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        counts = dict(frame["variable"].value_counts())
        self.assertEqual({name: n for name, n in counts.items() if n}, dict(self.expected()))
        self.assertEqual(len(trace().accesses(columns=["variable"], limit=0).to_pandas()), 0)

    def test_polars(self) -> None:
        for frame in (self.columns().to_polars(), polars.DataFrame(self.columns())):
            counts = dict(frame["variable"].cast(polars.String).value_counts().iter_rows())
            self.assertEqual(counts, dict(self.expected()))

    def test_duckdb(self) -> None:
        accesses = self.columns().to_pyarrow()
        counts = duckdb.sql("select variable::varchar, count(*) from accesses group by all")
        assert counts is not None
        self.assertEqual(dict(counts.fetchall()), dict(self.expected()))
        del accesses

    def test_pyarrow_and_arro3(self) -> None:
        self.assertEqual(pyarrow.table(self.columns()).num_rows, 30_000)
        self.assertEqual(arro3.core.Table.from_arrow(self.columns()).num_rows, 30_000)

    def test_numpy(self) -> None:
        batch = next(trace().accesses(columns=["address"], limit=5000))
        addresses = batch["address"].to_numpy()
        self.assertEqual(addresses.dtype, numpy.uint64)
        shared = pyarrow.array(batch["address"]).to_numpy(zero_copy_only=True)
        self.assertFalse(shared.flags.owndata)
        self.assertEqual(addresses.tolist(), shared.tolist())
        self.assertEqual(addresses.tolist(), [number(row["address"]) for row in dumped()[: len(addresses)]])


class DamagedRecords(unittest.TestCase):
    def damaged(self) -> Iterator[trackway.Trace]:
        """The trace with a byte of a chunk of records turned over."""
        content = bytearray(traces.GOLDEN.read_bytes())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "damaged.trackway")
            for offset in range(len(content) // 3, len(content)):
                content[offset] ^= 0xFF
                path.write_bytes(content)
                content[offset] ^= 0xFF
                opened = trackway.open(path)
                lost = opened.accesses(damage="skip")
                whole = lost.read_all().num_rows
                if lost.damage and whole and not opened.info.damage:
                    yield opened
                    return

    def test_damage_is_raised_or_listed(self) -> None:
        trace = next(self.damaged())
        with self.assertRaises(trackway.TraceError) as raised:
            trace.accesses().read_all()
        self.assertEqual(raised.exception.file, str(trace.path))
        self.assertIsNotNone(raised.exception.offset)
        with self.assertRaisesRegex(pyarrow.ArrowInvalid, "damaged"):
            trace.accesses().to_pyarrow().read_all()
        skipping = trace.accesses(damage="skip")
        whole = trackway.open(traces.GOLDEN).accesses().read_all().num_rows
        self.assertLess(skipping.read_all().num_rows, whole)
        self.assertEqual(skipping.damage, [str(raised.exception)])
