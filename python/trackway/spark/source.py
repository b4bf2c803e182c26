"""The data source `trackway`: the tables of a trace.

Options:

- `table`: `accesses` by default, or another one of `trackway.TABLES`;
- `columns`: which ones, separated by commas, all by default. The decoder builds no others, and Spark doesn't tell a
  source which columns a query needs: naming them is worth it;
- `partitions`: into how many tasks a scan of accesses is divided at most;
- `damaged`: `fail` (the default) ends the query at a damaged chunk with an error that names it, `skip` leaves it out
  and names it in the executor's log.

A folder is all traces in it and in the folders within (`*.trackway`) as one table, with the columns `trace` (its identity),
`program`, `host` and `build_id` before the others.

`spark.readStream` reads the chunks of running programs instead: docs/streaming.md, "Spark", has the options.
"""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.types import StructType

import trackway
from trackway._native import Partition

from . import opened
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
        path = str(self.options["path"]).removeprefix("file://")
        if "://" in path:
            raise ValueError(f"format trackway: {path}: executors map files; mount the store, and name the folder (docs/spark.md)")
        return Path(path).absolute()

    def _streams(self) -> dict[str, str] | None:
        """The options, if they are those of a stream."""
        options = {name.lower(): text for name, text in self.options.items()}
        return options if "kafka" in options or "aggregate" in options else None

    def schema(self) -> StructType:
        streams = self._streams()
        if streams is not None:
            from .live import aggregates

            return aggregates.of_options(streams).schema
        path = self._path()
        traces = _traces(path)
        if not traces:
            raise ValueError(f"format trackway: {path} holds no *.trackway")
        fields = list(pa.schema(opened.trace(str(traces[0])).table(self._table(), limit=0).schema))
        if path.is_dir():
            fields = _OF_TRACE + fields
        schema = known_schema(pa.schema(fields))
        if "columns" in self.options:
            schema = pa.schema([_field(schema, name.strip()) for name in self.options["columns"].split(",")])
        return spark_schema(schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        if self._streams() is not None:
            raise ValueError("format trackway: options kafka and aggregate are for spark.readStream")
        # Sail hands over an Arrow schema, which has names, too.
        damaged = self.options.get("damaged", "fail")
        if damaged not in ("fail", "skip"):
            raise ValueError(f"format trackway: damaged={damaged!r}; expected fail or skip")
        partitions = int(self.options.get("partitions", _DEFAULT_PARTITIONS))
        return _Reader(self._path(), self._table(), list(schema.names), partitions, damaged == "skip")


    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        from .live import stream_readers

        streams = self._streams()
        if streams is None:
            raise ValueError("format trackway: a stream of a folder needs option aggregate: counts, rows, ...")
        return stream_readers.of_options(streams)


def _traces(path: Path) -> list[Path]:
    return sorted(path.rglob("*.trackway")) if path.is_dir() else [path]


def _field(schema: pa.Schema, name: str) -> pa.Field:
    if schema.get_field_index(name) < 0:
        raise ValueError(f"format trackway: there is no column {name!r}; there are {', '.join(schema.names)}")
    return schema.field(name)


class _Part(InputPartition):
    def __init__(self, path: str, part: Partition):
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

    def partitions(self) -> list[InputPartition]:
        if self.selection.is_empty():
            return []
        traces = [str(path) for path in _traces(self.path)]
        each = max(1, self.count // len(traces))
        found: list[InputPartition] = []
        for path in traces:
            chosen = self.selection
            parts = opened.trace(path).partitions(
                each, table=self.table, threads=chosen.threads, times_ns=chosen.times_ns
            )
            found.extend(_Part(path, part) for part in parts)
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, _Part):
            return  # Spark asks once where there is nothing to read.
        trace = opened.trace(partition.path)
        of_trace = {field.name for field in _OF_TRACE}
        batches = trace.table(
            self.table,
            columns=[name for name in self.columns if name not in of_trace],
            partition=partition.part,
            damage="skip" if self.skips else "raise",
            **vars(self.selection),
        )
        schema = known_schema(pa.schema(batches.schema))
        about = _about(trace)
        for batch in batches:
            yield self._with_trace(known_batch(pa.record_batch(batch), schema), about)
        for damage in batches.damage:
            _log.warning("left out: %s", damage)

    def _with_trace(self, batch: pa.RecordBatch, about: dict[str, str | None]) -> pa.RecordBatch:
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


def _about(trace: trackway.Trace) -> dict[str, str | None]:
    info = trace.info
    return {"trace": info.identity, "program": info.program, "host": info.host, "build_id": info.build_id}
