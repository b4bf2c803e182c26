"""Readers of the streams of the data source `trackway`: chunks of running programs, decoded and added up in the executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow

from . import aggregates, definitions
from .kafka_topics import Topics
from .progress import KIND_RECORDS, Entry, LiveSourceError, Progress, shares
from .trace_folder import TraceFolder

USUAL_TASKS = 4
# Of chunks that are decoded together.
DECODED_AT_ONCE_BYTES = 32 << 20


@dataclass
class ChunkPartition(InputPartition):
    """What one task reads: chunks of one partition of the topic, or of a folder."""

    entries: list[Entry]
    begin: int = 0
    """Where the index begins with the oldest of their traces."""
    end: int = 0
    """Up to where the index must be known."""
    positions: dict[str, int] = field(default_factory=dict)
    """Of files: up to where their definitions must be known."""

    def __post_init__(self) -> None:
        super().__init__(None)


class LiveReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """What both kinds of sources share: how much to read at once, and what to make of it."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        self.aggregate = aggregates.of_options(options)
        self.tasks = _number(options, "tasks", USUAL_TASKS)
        self.loses = options.get("failondataloss", "true").lower() == "false"
        self.target: dict[str, Any] | None = None

    def getDefaultReadLimit(self) -> ReadLimit:
        """Option maxchunkspertrigger."""
        if "maxchunkspertrigger" in self.options:
            return ReadMaxFiles(_number(self.options, "maxchunkspertrigger", 0))
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self.target = self.present_end()

    def present_end(self) -> dict[str, Any]:
        """Whatever the subclass needs to stop there."""
        raise NotImplementedError

    def accepts(self, progress: Progress, entry: Entry) -> bool:
        try:
            return progress.accepts(entry)
        except LiveSourceError:
            if self.loses:
                return False
            raise

    def partial(self, trace: Any, program: str, chunks: list[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
        return self.aggregate.batches(trace, program, chunks)


def _number(options: dict[str, str], name: str, usual: int) -> int:
    text = options.get(name, str(usual))
    if not text.isdigit() or int(text) < 1:
        raise LiveSourceError(f"option {name} is {text!r}, but must be a positive number")
    return int(text)


def _most_chunks(limit: ReadLimit) -> float:
    return limit.max_files if isinstance(limit, ReadMaxFiles) else float("inf")


class KafkaReader(LiveReader):
    """Offsets: the next entry of the index, and how far each trace has come by then."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.topics = Topics.of_options(options)
        # New chunks by begin and end in the index, so that they needn't be read again.
        self.planned: dict[tuple[int, int], list[Entry]] = {}

    def initialOffset(self) -> dict[str, Any]:
        low, high = self.topics.index_range()
        starting = self.options.get("startingoffsets", "earliest")
        if starting not in ("earliest", "latest"):
            raise LiveSourceError(f"option startingoffsets is {starting!r}, but must be earliest or latest")
        return {"index": low if starting == "earliest" else high, "traces": {}}

    def present_end(self) -> dict[str, Any]:
        return {"index": self.topics.index_range()[1]}

    def reportLatestOffset(self) -> dict[str, Any]:
        return self.present_end()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        end = (self.target or self.present_end())["index"]
        if end <= start["index"]:
            return start
        progress = Progress(start["traces"])
        following, room = start["index"], _most_chunks(limit)
        accepted: list[Entry] = []
        for entry, _ in self.topics.entries(start["index"], end):
            if room <= 0:
                break
            following = entry.index + 1
            if self.accepts(progress, entry):
                accepted.append(entry)
                room -= entry.kind == KIND_RECORDS
        progress.forget_old()
        self.planned[start["index"], following] = accepted
        return {"index": following, "traces": progress.traces}

    def _entries(self, start: dict[str, Any], end: dict[str, Any]) -> list[Entry]:
        """The new chunks between; after a restart they are found in the index again."""
        planned = self.planned.get((start["index"], end["index"]))
        if planned is not None:
            return planned
        progress = Progress(start["traces"])
        found = [entry for entry, _ in self.topics.entries(start["index"], end["index"])]
        return [entry for entry in found if self.accepts(progress, entry)]

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        entries = self._entries(start, end)
        first = {entry.trace: entry.index for entry in reversed(entries)}
        first |= {name: known["first"] for name, known in start["traces"].items()}
        by_partition: dict[int, list[Entry]] = {}
        for entry in entries:
            if entry.kind == KIND_RECORDS:
                by_partition.setdefault(entry.places[0][0], []).append(entry)
        total = sum(entry.length for group in by_partition.values() for entry in group)
        result: list[InputPartition] = []
        for group in by_partition.values():
            share = sum(entry.length for entry in group)
            for part in shares(group, max(1, round(self.tasks * share / total))):
                begin = min(first[entry.trace] for entry in part)
                result.append(ChunkPartition(part, begin, end["index"]))
        return result

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ChunkPartition)
        traces = definitions.of_topics(self.topics, partition.begin, partition.end)
        yield from _decoded(self, traces, self.topics.placed(partition.entries))

    def commit(self, end: dict[str, Any]) -> None:
        self.planned = {key: entries for key, entries in self.planned.items() if key[1] > end["index"]}

    def stop(self) -> None:
        self.topics.close()


class FolderReader(LiveReader):
    """Offsets: the next position of each file."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.folder = TraceFolder(options["path"])

    def initialOffset(self) -> dict[str, Any]:
        return {"traces": {}}

    def present_end(self) -> dict[str, Any]:
        ends: dict[str, int] = {}
        for name in self.folder.names():
            for entry in self.folder.entries(name, 0):
                ends[name] = entry.end
        return ends

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        positions = {name: known["next"] for name, known in start["traces"].items()}
        room = _most_chunks(limit)
        for name in self.folder.names():
            end = None if self.target is None else self.target.get(name, 0)
            for entry in self.folder.entries(name, positions.get(name, 0), end):
                if room <= 0:
                    break
                positions[name] = entry.end
                room -= entry.kind == KIND_RECORDS
        return {"traces": {name: {"next": position} for name, position in sorted(positions.items())}}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        entries: list[Entry] = []
        for name, known in end["traces"].items():
            begin = start["traces"].get(name, {"next": 0})["next"]
            found = self.folder.entries(name, begin, known["next"])
            entries += [entry for entry in found if entry.kind == KIND_RECORDS]
        positions = {name: known["next"] for name, known in end["traces"].items()}
        return [
            ChunkPartition(part, positions={entry.trace: positions[entry.trace] for entry in part})
            for part in shares(entries, self.tasks)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ChunkPartition)
        traces = {
            name: definitions.of_file(self.folder, name, position) for name, position in partition.positions.items()
        }
        chunks = ((entry, self.folder.chunk(entry)) for entry in partition.entries)
        yield from _decoded(self, traces, chunks)


def _decoded(
    reader: LiveReader, traces: dict[str, Any], chunks: Iterator[tuple[Entry, bytes]]
) -> Iterator[pa.RecordBatch]:
    """What is made of chunks, as many of a trace together as may be."""
    together: list[tuple[int, bytes]] = []
    size, last = 0, None
    for entry, chunk in chunks:
        if last is not None and (entry.trace != last.trace or size > DECODED_AT_ONCE_BYTES):
            yield from reader.partial(traces[last.trace], last.program, together)
            together, size = [], 0
        together.append((entry.position, chunk))
        size += len(chunk)
        last = entry
    if last is not None:
        yield from reader.partial(traces[last.trace], last.program, together)


def of_options(options: dict[str, str]) -> DataSourceStreamReader:
    """Of a broker, or of a folder; options' names are in lower case."""
    if "kafka" in options:
        return KafkaReader(options)
    if "path" in options:
        return FolderReader(options)
    raise LiveSourceError("neither option kafka nor path says where the chunks are")
