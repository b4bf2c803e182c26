"""Analyses of one's own: each agrees with the engine's, however the work is divided."""

import collections
import importlib.util
import sys
import unittest
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import ModuleType

import arro3.core
import numpy

import trackway

from . import traces

Counts = collections.Counter[int]


class Bytes(trackway.Analysis[Counts, Counts]):
    """Bytes by site."""

    columns = ("site", "size")

    def start(self) -> Counts:
        return Counts()

    def take_batch(self, shard: Counts, batch: arro3.core.RecordBatch) -> None:
        sums = numpy.bincount(batch["site"].to_numpy(), weights=batch["size"].to_numpy())
        for site in numpy.flatnonzero(sums).tolist():
            shard[site] += int(sums[site])

    def merge(self, into: Counts, other: Counts) -> Counts:
        into.update(other)
        return into

    def finish(self, shard: Counts, trace: trackway.Trace) -> Counts:
        return shard


class Tired(Bytes):
    def take_batch(self, shard: Counts, batch: arro3.core.RecordBatch) -> None:
        raise RuntimeError("enough")


def example(name: str) -> ModuleType:
    path = traces.ROOT / "examples" / "python" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class OwnAnalyses(unittest.TestCase):
    trace: trackway.Trace

    @classmethod
    def setUpClass(cls) -> None:
        cls.trace = trackway.open(traces.recorded("particles.c"))

    def test_bytes_are_those_of_the_report(self) -> None:
        said = {row["site"]: row["bytes"] for row in self.trace.misses(by=["site"])["sites"].rows()}
        self.assertGreater(len(said), 10)
        for workers in (1, 2, 5):
            self.assertEqual(trackway.run(Bytes(), self.trace, workers=workers), said)

    def test_other_processes_may_work(self) -> None:
        alone = trackway.run(Bytes(), self.trace, workers=1)
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
            self.assertEqual(trackway.run(Bytes(), self.trace, executor=processes), alone)

    def test_progress_counts_chunks(self) -> None:
        told: list[tuple[int, int]] = []
        trackway.run(Bytes(), self.trace, progress=lambda done, total: told.append((done, total)))
        chunks = self.trace.info.chunks
        self.assertEqual(told[-1], (chunks, chunks))
        self.assertEqual(sorted(told), told)

    def test_errors_of_an_analysis_end_the_run(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "enough"):
            trackway.run(Tired(), self.trace)

    def test_strides_are_those_of_the_engine(self) -> None:
        strides = trackway.run(example("strides").Strides(), self.trace)
        sites = {row["site"]: row for row in self.trace.patterns()["sites"].rows()}
        self.assertEqual(set(strides), {site for site, row in sites.items() if row["main_stride"]})
        certain = 0
        for site, counts in strides.items():
            row = sites[site]
            self.assertAlmostEqual(counts[0] / counts.total(), row["constant"], msg=str(row))
            stride, count = counts.most_common(1)[0]
            if count > counts.total() / 5:  # else the engine's main stride is an estimate
                certain += 1
                self.assertEqual(stride, int(row["main_stride"]), row)
        self.assertGreater(certain, 10)
