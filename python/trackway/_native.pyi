"""Types of the native module."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict, final

import arro3.core

class Filters(TypedDict):
    """Which columns and rows are wanted; None for all, bounds belong to what is wanted."""

    columns: list[str] | None
    threads: list[int] | None
    sites: list[int] | None
    addresses: tuple[int, int] | None
    times_ns: tuple[int, int] | None
    limit: int | None

class ArrowArrayExportable(Protocol):
    """What has the columns of a record batch for any library that speaks Arrow's C data interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class GapInfo:
    """A place where records of a thread are missing."""

    thread: Final[int]
    """The thread's number in the trace."""
    process: Final[int]
    """The number of the thread's process in the trace."""
    before_chunk: Final[int]
    """Records are missing before the thread's chunk of this sequence number."""
    dropped_buffers: Final[int]
    """Buffers of the ring that were dropped."""
    reason: Final[str]
    """`ring full`, `write failed`, `recording stopped` or `other`."""
    first_ns: Final[int]
    """Begin, CLOCK_MONOTONIC nanoseconds; 0 if unknown."""
    last_ns: Final[int]
    """End, CLOCK_MONOTONIC nanoseconds; 0 if unknown."""

@final
class TraceInfo:
    """What is known of a trace without decoding its records."""

    path: Final[str]
    """The file."""
    identity: Final[str]
    """Random identity of the trace, 32 hexadecimal digits."""
    program: Final[str]
    """Path of the program as it was started."""
    arguments: Final[list[str]]
    """The program's arguments, without its own name."""
    working_directory: Final[str]
    host: Final[str]
    """Name of the machine that recorded."""
    build_id: Final[str | None]
    """Of the program's file if it is known, else a hash of the tables that the compiler embedded in the program."""
    processor: Final[str]
    """Its processor, as the system calls it."""
    trackway_version: Final[str]
    """Version of the recorder."""
    start_unix_ns: Final[int]
    """Begin of the recording, nanoseconds since 1970-01-01 UTC; 0 if unknown."""
    start_monotonic_ns: Final[int]
    """The same moment on the clock of all other times, CLOCK_MONOTONIC nanoseconds."""
    duration_ns: Final[int | None]
    """Nanoseconds of recording; None if the recording has no end."""
    clock: Final[str]
    """The clock of the program's time stamps."""
    exit_status: Final[int | None]
    """The program's exit status, unless a signal ended it."""
    signal: Final[int | None]
    """Number of the signal that ended the program."""
    ending: Final[str | None]
    """Why recording ended; None if it has no end: the recorder was killed, or the file was cut."""
    threads: Final[list[int]]
    """Numbers of the threads that have records."""
    processes: Final[int]
    """How many processes began."""
    chunks: Final[int]
    """Chunks of records."""
    file_bytes: Final[int]
    record_bytes: Final[int]
    """Bytes of the records before compression."""
    functions: Final[int]
    """Functions that are known, executed or not."""
    sites: Final[int]
    """Places in the program that access memory, executed or not."""
    has_accesses: Final[bool]
    has_samples: Final[bool]
    has_allocations: Final[bool]
    """Whether calls of allocators were recorded by `trackway record --allocations`."""
    has_counts: Final[bool]
    gaps: Final[list[GapInfo]]
    damage: Final[list[str]]
    """A sentence for each part of the file that can't be read."""

@final
class NativeTrace:
    """An opened trace."""

    path: Final[Path]
    info: Final[TraceInfo]

@final
class NativeTable:
    """A table that an analysis yields."""

    name: Final[str]
    title: Final[str]
    total_rows: Final[int]
    ranked_by: Final[str | None]
    columns: Final[list[tuple[str, str, str]]]
    """Name, title and unit of each column."""
    def __len__(self) -> int: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def text(self, width: int | None) -> str: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class NativeReport:
    """What an analysis found."""

    answer: Final[str]
    warnings: Final[list[str]]
    tables: Final[list[NativeTable]]
    def text(self, width: int | None) -> str: ...

@final
class NativeBatches:
    """Record batches that are read once."""

    schema: Final[arro3.core.Schema]
    damage: Final[list[str]]
    def __iter__(self) -> Iterator[arro3.core.RecordBatch]: ...
    def __next__(self) -> arro3.core.RecordBatch: ...
    def read_all(self) -> arro3.core.Table: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Partition:
    """A part of the work on a table.

    It can be pickled, and is used in any process that opens the same trace: `trace.table(name, partition=...)`.
    """

    chunks: Final[int]
    """How many chunks of records are read for it."""
    def to_json(self) -> str:
        """As a text from which `from_json` makes the same partition."""
    @staticmethod
    def from_json(text: str) -> Partition: ...

def open(path: str | os.PathLike[str]) -> NativeTrace: ...
def tables() -> list[tuple[str, str]]: ...
def columns(table: str) -> list[tuple[str, str, str]]: ...
def scan(
    trace: NativeTrace,
    table: str,
    filters: Filters,
    partition: Partition | None,
    batch_rows: int | None,
    skips_damage: bool,
) -> NativeBatches: ...
def divide(trace: NativeTrace, table: str, filters: Filters, count: int) -> list[Partition]: ...
def ask(
    trace: NativeTrace, name: str, words: list[str], progress: Callable[[int, int], object] | None = None
) -> NativeReport: ...
def check(
    path: str | os.PathLike[str], words: list[str], progress: Callable[[int, int], object] | None = None
) -> NativeReport: ...
def view(
    trace: NativeTrace,
    path: str | os.PathLike[str] | None,
    words: list[str],
    progress: Callable[[int, int], object] | None = None,
) -> Path: ...
def diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    words: list[str],
    progress: Callable[[int, int], object] | None = None,
) -> NativeReport: ...
def options(name: str) -> list[str] | None: ...
def about(name: str) -> str | None: ...
def questions() -> list[str]: ...

class Divided:
    """A question to a trace, whose work other processes share. Partial results are bytes."""

    def __init__(self, path: str, name: str, words: Sequence[str]) -> None: ...
    def plan(self, count: int) -> tuple[list[bytes], int]:
        """About so many tasks, and the number of parts into which lines are dealt out."""

    def run(self, task: bytes, parts: int) -> TaskRun: ...
    def lines(self, number: int, parts: int) -> Lines: ...
    def merge(self, partials: Sequence[bytes]) -> bytes: ...
    def finish(self, partials: Sequence[bytes]) -> NativeReport: ...

class TaskRun:
    """Yields part, stream, number and block of the accesses that a task deals out."""

    def __iter__(self) -> TaskRun: ...
    def __next__(self) -> tuple[int, int, int, bytes]: ...
    def found(self) -> bytes:
        """The partial result, when all blocks have been taken."""

class Lines:
    """The accesses of one part."""

    def take(self, stream: int, number: int, block: bytes) -> None: ...
    def finish(self) -> bytes: ...

@final
class LiveTrace:
    """What is known of a trace whose chunks come one by one."""

    def __new__(cls, name: str) -> LiveTrace: ...
    name: Final[str]
    position: Final[int]
    """All definitions before this offset of the trace's file are known."""
    def define(self, position: int, chunk: bytes) -> None:
        """Takes the next chunk that defines something; one that was taken before changes nothing."""
    def pass_over(self, position: int) -> None:
        """Says that up to this offset nothing is defined but what was taken."""
    def counts(self, chunks: list[tuple[int, bytes]], by: str) -> ArrowArrayExportable:
        """Accesses, writes and bytes of chunks of records by process, thread and name. Chunks are given by their offset,
        with their header and payload."""
    def touches(self, chunks: list[tuple[int, bytes]], by: str, granule_bytes: int) -> ArrowArrayExportable:
        """Which threads touch which pieces of memory, under which name."""
    def details(
        self, chunks: list[tuple[int, bytes]], by: str, granule_bytes: int, shared: list[tuple[int, int]]
    ) -> ArrowArrayExportable:
        """Accesses to pieces of memory that are shared, each given by its process and its address."""
    def layouts(self, chunks: list[tuple[int, bytes]], window: int) -> ArrowArrayExportable:
        """Which fields of structures are accessed, and which together: for each stream a piece, to be joined."""
    def layout_report(self, pieces: list[bytes], window: int, top: int) -> NativeReport:
        """What `trackway layout --cache none` says of these pieces, one for each stream from its beginning."""
    def rows(self, chunk: tuple[int, bytes], first: int, most: int) -> ArrowArrayExportable:
        """The accesses of a chunk from number `first` on, so many at most."""

def join_layouts(pieces: list[bytes]) -> bytes:
    """One piece of a stream's layouts, of those that follow each other."""
