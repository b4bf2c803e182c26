"""Work that is divided between executors, merged natively.

A table has a row for what each task found and, where the order of accesses to a line matters, rows with the accesses
that it dealt out to parts of the lines. One shuffle by part brings together what belongs together: there each part's
accesses are taken in their order, and what all of them found becomes one row, which the driver merges with the others.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from trackway._native import Divided, NativeReport

from . import opened
from .parallelism import tasks

FORMAT = "trackway.division"
# What a task found has one of the parts, and this stream: it needs no order.
_FOUND = -1
_SCHEMA = "part int not null, stream bigint not null, number bigint not null, data binary not null"
_ARROW = pa.schema(
    [
        pa.field("part", pa.int32(), nullable=False),
        pa.field("stream", pa.int64(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("data", pa.binary(), nullable=False),
    ]
)
# So much of a part's accesses stays in memory while it is brought into order; more goes to a file.
_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Question:
    """What an analysis is asked, as the verb of its name would be."""

    path: str
    verb: str
    words: tuple[str, ...]

    def open(self) -> Divided:
        """The analysis of the trace, on this machine."""
        return opened.divided(self.path, self.verb, self.words)


# So few tasks' findings the driver merges itself.
_FEW_TASKS = 16


def divide(spark: SparkSession, question: Question, partitions: int | None) -> NativeReport:
    """Answers a question on the executors."""
    wanted = partitions or tasks(spark, question.path)
    divided = question.open()
    parts = divided.plan(wanted)[1]
    spark.dataSource.register(DivisionSource)
    found = _found(spark, question, wanted)
    if parts > 1 or wanted > _FEW_TASKS:
        merging = max(parts, round(wanted**0.5))
        found = found.repartition(merging, "part").mapInArrow(_Merging(question, parts), _SCHEMA)
    data = [bytes(row.data) for row in found.select("data").collect()]
    return divided.finish(data)


def _found(spark: SparkSession, question: Question, wanted: int) -> DataFrame:
    options = {"verb": question.verb, "words": "\0".join(question.words), "tasks": str(wanted)}
    return spark.read.format(FORMAT).options(**options).load(question.path)


class _Partition(InputPartition):
    def __init__(self, number: int, task: bytes, parts: int):
        super().__init__(number)
        self.number = number
        self.task = task
        self.parts = parts


class DivisionSource(DataSource):
    """What the tasks of an analysis find."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return _SCHEMA

    def reader(self, schema: Any) -> DataSourceReader:
        words = self.options["words"]
        question = Question(self.options["path"], self.options["verb"], tuple(words.split("\0")) if words else ())
        return _Reader(question, int(self.options["tasks"]))


class _Reader(DataSourceReader):
    def __init__(self, question: Question, wanted: int):
        self.question = question
        self.wanted = wanted

    def partitions(self) -> list[InputPartition]:
        found, parts = self.question.open().plan(self.wanted)
        return [_Partition(number, task, parts) for number, task in enumerate(found)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Partition)
        run = self.question.open().run(partition.task, partition.parts)
        for part, stream, number, block in run:
            yield _row(part, stream, number, block)
        yield _row(partition.number % partition.parts, _FOUND, partition.number, run.found())


def _row(part: int, stream: int, number: int, data: bytes) -> pa.RecordBatch:
    return pa.record_batch([[part], [stream], [number], [data]], schema=_ARROW)


class _Merging:
    """Makes one row of all that arrives in a partition."""

    def __init__(self, question: Question, parts: int):
        self.question = question
        self.parts = parts

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        divided = self.question.open()
        found: list[bytes] = []
        with _Spool() as spool:
            for batch in batches:
                for part, stream, number, data in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    if stream == _FOUND:
                        found.append(data)
                    else:
                        spool.add((part, stream, number), data)
            if found:
                found = [divided.merge(found)]
            found.extend(_parts(divided, spool, self.parts))
        if found:
            yield _row(0, _FOUND, 0, divided.merge(found))


def _parts(divided: Divided, spool: "_Spool", parts: int) -> Iterator[bytes]:
    """What the accesses of each part come to, taken in the order of their keys."""
    lines = None
    present = _FOUND
    for (part, stream, number), block in spool.in_order():
        if lines is None or part != present:
            if lines is not None:
                yield lines.finish()
            lines, present = divided.lines(part, parts), part
        lines.take(stream, number, block)
    if lines is not None:
        yield lines.finish()


class _Spool:
    """Brings rows into the order of their keys: no engine has to be trusted with that. Large ones wait in a file of
    this user's, which has no name."""

    def __init__(self) -> None:
        self.file = tempfile.SpooledTemporaryFile(max_size=_MEMORY_BYTES)  # noqa: SIM115
        self.rows: list[tuple[tuple[int, int, int], int, int]] = []

    def add(self, key: tuple[int, int, int], data: bytes) -> None:
        self.rows.append((key, self.file.tell(), len(data)))
        self.file.write(data)

    def in_order(self) -> Iterator[tuple[tuple[int, int, int], bytes]]:
        for key, position, length in sorted(self.rows):
            self.file.seek(position)
            yield key, self.file.read(length)

    def __enter__(self) -> "_Spool":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
