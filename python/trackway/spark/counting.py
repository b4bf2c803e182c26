"""Accesses and bytes by names, counted natively."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from trackway._native import Partition, count_accesses

from . import opened
from .columns import known_batch, known_schema, spark_schema
from .parallelism import tasks

FORMAT = "trackway.counts"


# Of each range of chunks: the thread and site, and what was counted.
_COUNTED = ("accesses", "bytes")


def counts(spark: SparkSession, path: str, by: Sequence[str], partitions: int | None = None) -> DataFrame:
    """Accesses and bytes of a trace by some columns of the table `sites`, or by `thread`: columns `by`, `accesses`, `bytes`.

    Executors count natively while they decode, and hand on a row for each group that a part of the trace has; the engine adds
    those up. A damaged chunk ends the query with an error that names it.

    Raises:
        ValueError: there is no such column.
    """
    _schema(path, by)
    spark.dataSource.register(CountsSource)
    options = {"by": ",".join(by), "tasks": str(partitions or tasks(spark, path))}
    partial = spark.read.format(FORMAT).options(**options).load(path)
    return partial.groupBy(*by).agg(*(F.sum(name).alias(name) for name in _COUNTED))


class _Part(InputPartition):
    def __init__(self, part: Partition):
        super().__init__(part.to_json())
        self.part = part


class CountsSource(DataSource):
    """What the parts of a trace count."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def _by(self) -> list[str]:
        return str(self.options["by"]).split(",")

    def schema(self) -> Any:
        return spark_schema(_schema(self.options["path"], self._by()))

    def reader(self, schema: Any) -> DataSourceReader:
        return _CountsReader(self.options["path"], self._by(), int(self.options["tasks"]))


def _schema(path: str, by: Sequence[str]) -> pa.Schema:
    sites = pa.schema(opened.trace(path).table("sites", limit=0).schema)
    known = {"thread": pa.field("thread", pa.int64(), nullable=False), **{field.name: field for field in sites}}
    if not by or set(by) - set(known):
        raise ValueError(f"by={list(by)!r}: expected some of {', '.join(known)}")
    counted = [pa.field(name, pa.int64(), nullable=False) for name in _COUNTED]
    return known_schema(pa.schema([*(known[name] for name in by), *counted]))


class _CountsReader(DataSourceReader):
    def __init__(self, path: str, by: list[str], wanted: int):
        self.path = path
        self.by = by
        self.wanted = wanted

    def partitions(self) -> list[InputPartition]:
        return [_Part(part) for part in opened.trace(self.path).partitions(self.wanted)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        trace = opened.trace(self.path)
        counted = pa.record_batch(count_accesses(trace._native, partition.part))
        named = [name for name in self.by if name != "thread"]
        columns = {name: counted.column(name) for name in ("thread", *_COUNTED)}
        if named:
            sites = trace.table("sites", columns=named).to_pyarrow().read_all().combine_chunks()
            chosen = sites.take(counted.column("site"))
            columns.update({name: chosen.column(name).combine_chunks() for name in named})
        schema = _schema(self.path, self.by)
        batch = pa.record_batch([columns[name] for name in schema.names], names=schema.names)
        yield from _grouped(pa.Table.from_batches([known_batch(batch, schema)]), self.by).to_batches()


def _grouped(table: pa.Table, by: list[str]) -> pa.Table:
    grouped = table.group_by(by).aggregate([(name, "sum") for name in _COUNTED])
    columns = [grouped.column(name) for name in by] + [grouped.column(f"{name}_sum") for name in _COUNTED]
    return pa.table(columns, schema=table.schema)
