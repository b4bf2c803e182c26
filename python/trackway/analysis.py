"""Analyses of your own, over batches of accesses.

An analysis is the same here as in the engine: it starts shards, gives each its batches in turn, merges the shards and
finishes the last one. Parts of the trace are decoded at once, and may be taken by threads or by other processes.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

import arro3.core

from ._native import Partition

if TYPE_CHECKING:
    from .trace import Trace

Shard = TypeVar("Shard")
Result = TypeVar("Result")

_PARTS_PER_WORKER = 4
"""So that the workers end at about the same time."""


class Analysis(ABC, Generic[Shard, Result]):
    """A computation over all accesses of a trace; `run` runs it.

    Attributes:
        columns: the columns of `accesses` that a batch has, in this order. What isn't named isn't built.
        order: `any`: a shard takes batches of any threads, each chunk's in program order; `thread`: a shard takes all
            batches of one thread, in program order, and no others.
    """

    columns: ClassVar[Sequence[str]]
    order: ClassVar[Literal["any", "thread"]] = "any"

    @abstractmethod
    def start(self) -> Shard:
        """The state of a part of the work, before its first batch."""

    @abstractmethod
    def take_batch(self, shard: Shard, batch: arro3.core.RecordBatch) -> None:
        """Adds the next accesses to the shard; `batch["address"].to_numpy()` is a column."""

    @abstractmethod
    def merge(self, into: Shard, other: Shard) -> Shard:
        """Both together; the result must not depend on the order of merges. May change and return `into`."""

    @abstractmethod
    def finish(self, shard: Shard, trace: Trace) -> Result:
        """What was found; names of sites are in `trace.table("sites")`."""


def run(
    analysis: Analysis[Shard, Result],
    trace: Trace,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Result:
    """Runs an analysis over all accesses of a trace.

    Batches are decoded while other threads of Python run, and NumPy lets them run, too, in its longer operations. With
    a `ProcessPoolExecutor` the analysis and its shards are pickled.

    Args:
        workers: how many parts are worked on at once; by default as many as there are processors.
        executor: who works, instead of threads of this process.
        progress: called after each part with the number of chunks done and in all.

    Raises:
        TraceError: a chunk can't be decoded.
    """
    workers = workers or len(os.sched_getaffinity(0))
    parts = _parts(analysis, trace, workers)
    if executor is not None:
        shard = _merged(analysis, trace, parts, executor, progress)
    else:
        with ThreadPoolExecutor(workers) as threads:
            shard = _merged(analysis, trace, parts, threads, progress)
    return analysis.finish(shard, trace)


def _parts(analysis: Analysis[Shard, Result], trace: Trace, workers: int) -> list[Partition]:
    if analysis.order == "any":
        return trace.partitions(workers * _PARTS_PER_WORKER)
    return [part for thread in trace.info.threads for part in trace.partitions(1, threads=[thread])]


def _shard(analysis: Analysis[Shard, Result], trace: Trace, part: Partition) -> tuple[int, Shard]:
    """A part's chunks and shard."""
    shard = analysis.start()
    batches: Iterable[arro3.core.RecordBatch] = trace.accesses(columns=analysis.columns, partition=part)
    for batch in batches:
        analysis.take_batch(shard, batch)
    return part.chunks, shard


def _merged(
    analysis: Analysis[Shard, Result],
    trace: Trace,
    parts: list[Partition],
    executor: Executor,
    progress: Callable[[int, int], object] | None,
) -> Shard:
    futures = [executor.submit(_shard, analysis, trace, part) for part in parts]
    merged, done, total = analysis.start(), 0, sum(part.chunks for part in parts)
    try:
        for future in as_completed(futures):
            chunks, shard = future.result()
            merged = analysis.merge(merged, shard)
            done += chunks
            if progress is not None:
                progress(done, total)
    finally:
        for future in futures:
            future.cancel()
    return merged
