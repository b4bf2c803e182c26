"""The data source `trackway`: the tables of a trace.

Options:

- `table`: `accesses` by default, or another one of `trackway tables`;
- `columns`: which ones, separated by commas, all by default. The decoder builds no others, and Spark doesn't tell a source
  which columns a query needs: naming them is worth it;
- `partitions`: into how many tasks a scan of accesses is divided at most;
- `damaged`: `fail` (the default) ends the query at a damaged chunk with an error that names it, `skip` leaves it out and
  names it in the executor's log.

A folder is all its traces (`*.trackway`) as one table, with the columns `trace`, `program`, `host` and `build_id` before the others.
"""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from trackway import TraceError
from trackway._native import Rows, table_schema

from .columns import known_batch, known_schema, spark_schema
from .filters import Selection, push

FORMAT = "trackway"
_OPTIONS = {"table", "columns", "partitions", "damaged", "path"}
_FILTERS = "spark.sql.python.filterPushdown.enabled"
_DEFAULT_PARTITIONS = 64
# Before the columns of the table where several traces are read.
_OF_TRACE = [pa.field(name, pa.string(), name != "trace") for name in ("trace", "program", "host", "build_id")]
_log = logging.getLogger("trackway.spark")


def register(spark: SparkSession) -> None:
    """Makes the format `trackway` known to a session, and lets it hand filters to it."""
    spark.dataSource.register(TrackwaySource)
    try:
        spark.conf.set(_FILTERS, "true")
    except Exception as error:  # An engine that isn't Spark need not know the setting: it filters by itself.
        _log.info("no filters are pushed down: %s", error)


class TrackwaySource(DataSource):
    """The tables of a trace, or of all traces of a folder."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def _table(self) -> str:
        unknown = sorted(set(self.options) - _OPTIONS)
        if unknown:
            raise ValueError(f"format trackway: unknown option {unknown[0]!r}; there are {', '.join(sorted(_OPTIONS))}")
        return str(self.options.get("table", "accesses"))

    def _path(self) -> Path:
        if "path" not in self.options:
            raise ValueError("format trackway: name a trace, or a folder of traces, as the path")
        return Path(self.options["path"])

    def schema(self) -> StructType:
        fields = list(pa.schema(table_schema(self._table())))
        if self._path().is_dir():
            fields = _OF_TRACE + fields
        schema = known_schema(pa.schema(fields))
        if "columns" in self.options:
            schema = pa.schema([_field(schema, name.strip()) for name in self.options["columns"].split(",")])
        return spark_schema(schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        damaged = self.options.get("damaged", "fail")
        if damaged not in ("fail", "skip"):
            raise ValueError(f"format trackway: damaged={damaged!r}; expected fail or skip")
        partitions = int(self.options.get("partitions", _DEFAULT_PARTITIONS))
        return _Reader(self._path(), self._table(), schema.fieldNames(), partitions, damaged == "skip")


def _field(schema: pa.Schema, name: str) -> pa.Field:
    if schema.get_field_index(name) < 0:
        raise ValueError(f"format trackway: there is no column {name!r}; there are {', '.join(schema.names)}")
    return schema.field(name)


class _Partition(InputPartition):
    def __init__(self, path: str, part: bytes):
        super().__init__(path)
        self.path = path
        self.part = part


class _Reader(DataSourceReader):
    def __init__(self, path: Path, table: str, columns: list[str], partitions: int, skips: bool):
        self.path = path
        self.table = table
        self.columns = columns
        self.count = partitions
        self.skips = skips
        self.selection = Selection()

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        return push(self.selection, filters)

    def _rows(self, path: str) -> Rows:
        of_trace = {field.name for field in _OF_TRACE}
        own = [name for name in self.columns if name not in of_trace]
        chosen = self.selection
        return Rows(path, self.table, own, chosen.threads, chosen.sites, chosen.addresses, chosen.times_ns)

    def partitions(self) -> list[InputPartition]:
        if self.selection.is_empty():
            return []
        paths = sorted(self.path.glob("*.trackway")) if self.path.is_dir() else [self.path]
        each = max(1, self.count // max(1, len(paths)))
        found = ((str(path), self._rows(str(path)).partitions(each)) for path in paths)
        return [_Partition(path, part) for path, parts in found for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Partition)
        rows = self._rows(partition.path)
        reader = rows.read(partition.part)
        schema = known_schema(pa.schema(rows.schema()))
        about = rows.about()
        while True:
            try:
                batch = next(reader)
            except StopIteration:
                return
            except TraceError as error:
                if not self.skips:
                    raise
                _log.warning("left out: %s", error)
                continue
            yield self._with_trace(known_batch(pa.record_batch(batch), schema), about)

    def _with_trace(self, batch: pa.RecordBatch, about: dict[str, Any]) -> pa.RecordBatch:
        """All wanted columns in their order, those that are the same in all rows of a trace among them."""
        if self.columns == batch.schema.names:
            return batch
        fields = {field.name: field for field in _OF_TRACE}
        columns, schema = [], []
        for name in self.columns:
            if name in fields:
                columns.append(pa.repeat(pa.scalar(about[name], pa.string()), batch.num_rows))
                schema.append(fields[name])
            else:
                columns.append(batch.column(name))
                schema.append(batch.schema.field(name))
        return pa.record_batch(columns, schema=pa.schema(schema))
