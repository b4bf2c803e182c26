"""What executors make of chunks: native partial aggregates, which Spark adds up or joins, or rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from .progress import LiveSourceError

_COLUMNS = {
    "counts": (
        ("process", IntegerType()),
        ("thread", IntegerType()),
        ("name", StringType()),
        ("accesses", LongType()),
        ("writes", LongType()),
        ("bytes", LongType()),
    ),
    "touches": (
        ("process", IntegerType()),
        ("granule", LongType()),
        ("name", StringType()),
        ("first_thread", IntegerType()),
        ("last_thread", IntegerType()),
        ("accesses", LongType()),
        ("writes", LongType()),
    ),
    "layouts": (
        ("stream", IntegerType()),
        ("first", LongType()),
        ("data", BinaryType()),
    ),
    "rows": (
        ("process", IntegerType()),
        ("thread", IntegerType()),
        ("chunk", LongType()),
        ("number", LongType()),
        ("address", LongType()),
        ("size", LongType()),
        ("kind", StringType()),
        ("variable", StringType()),
        ("function", StringType()),
        ("line", StringType()),
    ),
    "details": (
        ("process", IntegerType()),
        ("thread", IntegerType()),
        ("name", StringType()),
        ("line", StringType()),
        ("accesses", LongType()),
        ("writes", LongType()),
    ),
}
# Of the stream of rows: one batch holds so many.
_ROWS_AT_ONCE = 1 << 18
USUAL_WINDOW = 100
NAMES = ("variable", "field", "type", "line", "function", "file", "member")


@dataclass(frozen=True)
class Aggregate:
    """A kind of partial aggregate, by its options."""

    kind: str
    """One of _COLUMNS."""
    by: str
    """By which name of a site; one of NAMES."""
    granule_bytes: int
    shared: str | None
    """Parquet file or folder of the granules that are shared; for details only."""
    window: int
    """Fields are accessed together if no more accesses of their thread lie between; for layouts only."""

    @property
    def schema(self) -> StructType:
        columns = (("trace", StringType()), ("program", StringType()), *_COLUMNS[self.kind])
        return StructType([StructField(name, kind, nullable=False) for name, kind in columns])

    def batches(self, trace: Any, program: str, chunks: list[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
        """The aggregate of chunks of a trace, or their rows."""
        about = (trace.name, program)
        if self.kind != "rows":
            yield _about(about, self._aggregate(trace, chunks))
            return
        for chunk in chunks:
            first, rows = 0, _ROWS_AT_ONCE
            while rows == _ROWS_AT_ONCE:
                batch = pa.record_batch(trace.rows(chunk, first, _ROWS_AT_ONCE))
                yield _about(about, batch)
                rows = batch.num_rows
                first += rows

    def _aggregate(self, trace: Any, chunks: list[tuple[int, bytes]]) -> pa.RecordBatch:
        if self.kind == "counts":
            native = trace.counts(chunks, self.by)
        elif self.kind == "touches":
            native = trace.touches(chunks, self.by, self.granule_bytes)
        elif self.kind == "layouts":
            native = trace.layouts(chunks, self.window)
        else:
            assert self.shared is not None
            shared = _shared_granules(self.shared).get(trace.name, [])
            native = trace.details(chunks, self.by, self.granule_bytes, shared)
        return pa.record_batch(native)


def _about(texts: tuple[str, str], columns: pa.RecordBatch) -> pa.RecordBatch:
    """With the columns trace and program before the others."""
    constant = [pa.repeat(pa.scalar(text, pa.string()), columns.num_rows) for text in texts]
    about = [pa.field(name, pa.string(), nullable=False) for name in ("trace", "program")]
    return pa.RecordBatch.from_arrays([*constant, *columns.columns], schema=pa.schema([*about, *columns.schema]))


@cache
def _shared_granules(path: str) -> dict[str, list[tuple[int, int]]]:
    """Process and address of the granules of each trace."""
    import pyarrow.parquet as pq

    table = pq.read_table(path.removeprefix("file://"), columns=["trace", "process", "granule"])
    granules: dict[str, list[tuple[int, int]]] = {}
    columns = (table.column(name).to_pylist() for name in ("trace", "process", "granule"))
    for trace, process, granule in zip(*columns, strict=True):
        granules.setdefault(trace, []).append((process, granule & (2**64 - 1)))
    return granules


def of_options(options: dict[str, str]) -> Aggregate:
    """By the options aggregate, by, granulebytes, shared and window."""
    kind, by = options.get("aggregate", "counts"), options.get("by", "variable")
    if kind not in _COLUMNS:
        raise LiveSourceError(f"option aggregate is {kind!r}, but must be one of {', '.join(_COLUMNS)}")
    if by not in NAMES:
        raise LiveSourceError(f"option by is {by!r}, but must be one of {', '.join(NAMES)}")
    granule = options.get("granulebytes", "8")
    if not granule.isdigit():
        raise LiveSourceError(f"option granulebytes is {granule!r}, but must be a power of two from 1 to 4096")
    shared = options.get("shared")
    if (kind == "details") != (shared is not None):
        raise LiveSourceError("option shared, a Parquet file of granules, belongs to aggregate=details, and only to it")
    window = options.get("window", str(USUAL_WINDOW))
    if not window.isdigit():
        raise LiveSourceError(f"option window is {window!r}, but must be a number of accesses from 1 to 10000")
    return Aggregate(kind, by, int(granule), shared, int(window))
