"""Accesses and bytes by names, counted natively."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from trackway._native import Counting, counted_columns

from .columns import known_batch, known_schema, spark_schema
from .parallelism import tasks

FORMAT = "trackway.counts"


def counts(spark: SparkSession, path: str, by: Sequence[str], partitions: int | None = None) -> DataFrame:
    """Accesses and bytes of a trace by some columns of the table `sites`, or by `thread`: columns `by`, `accesses`, `bytes`.

    Executors count natively while they decode, and hand on a row for each group of a range of chunks; the engine adds those
    up. A damaged chunk ends the query with an error that names it.
    """
    known = pa.schema(counted_columns()).names[:-2]
    if not by or set(by) - set(known):
        raise ValueError(f"by={list(by)!r}: expected some of {', '.join(known)}")
    spark.dataSource.register(CountsSource)
    options = {"by": ",".join(by), "tasks": str(partitions or tasks(spark, path))}
    partial = spark.read.format(FORMAT).options(**options).load(path)
    return partial.groupBy(*by).agg(*(F.sum(name).alias(name) for name in _COUNTED))


_COUNTED = ("accesses", "bytes")


class _Range(InputPartition):
    def __init__(self, stream: int, first: int, end: int):
        super().__init__((stream, first, end))
        self.range = (stream, first, end)


class CountsSource(DataSource):
    """The counts of ranges of chunks."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def _by(self) -> list[str]:
        return str(self.options["by"]).split(",")

    def schema(self) -> Any:
        return spark_schema(_schema(self._by()))

    def reader(self, schema: Any) -> DataSourceReader:
        return _CountsReader(self.options["path"], self._by(), int(self.options["tasks"]))


def _schema(by: list[str]) -> pa.Schema:
    columns = pa.schema(counted_columns())
    return known_schema(pa.schema([columns.field(name) for name in (*by, *_COUNTED)]))


class _CountsReader(DataSourceReader):
    def __init__(self, path: str, by: list[str], wanted: int):
        self.path = path
        self.by = by
        self.wanted = wanted

    def partitions(self) -> list[InputPartition]:
        return [_Range(*found) for found in Counting(self.path, self.by).ranges(self.wanted)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Range)
        counted = pa.record_batch(Counting(self.path, self.by).count(*partition.range))
        schema = _schema(self.by)
        table = pa.Table.from_batches([known_batch(counted, schema)])
        grouped = table.group_by(self.by).aggregate([(name, "sum") for name in _COUNTED])
        columns = [grouped.column(name) for name in self.by] + [grouped.column(f"{name}_sum") for name in _COUNTED]
        yield from pa.table(columns, schema=schema).to_batches()
