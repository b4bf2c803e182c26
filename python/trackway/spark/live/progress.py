"""How far traces were read, so that no chunk is counted twice or left out."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

FILE_HEADER_BYTES = 32
CHUNK_HEADER_BYTES = 64
KIND_RECORDS = 3
KIND_END = 8
KIND_INDEX = 9
# These define nothing, so that decoding needs them not. (docs/format.md, section 1.2)
BULK_KINDS = frozenset({KIND_RECORDS, 5, 10, 13, 14})
# Of traces that have ended so many are remembered, in case that chunks of them come again.
REMEMBERED_ENDED = 1000


class LiveSourceError(Exception):
    """Why a stream of chunks can't be read; says what to do."""


@dataclass(frozen=True)
class Entry:
    """A chunk of a trace, and where it is."""

    trace: str
    """The trace's identity, hexadecimal; of a folder, the file's name."""
    program: str
    position: int
    """Offset of the chunk in the trace's file, bytes."""
    kind: int
    length: int
    """Bytes of the whole chunk."""
    index: int
    """Offset of the chunk's entry in the topic of the index; of a folder 0."""
    places: tuple[tuple[int, int], ...]
    """Partition and offset of each message that has a part of the chunk; none if the index has all of it."""

    @property
    def end(self) -> int:
        return self.position + self.length

    @property
    def is_definition(self) -> bool:
        return self.kind not in BULK_KINDS


def chunk_kind_and_length(header: bytes) -> tuple[int, int]:
    """Kind and whole length of a chunk by its header."""
    (magic,) = struct.unpack_from("<I", header)
    if magic != 0x4B435754:
        raise LiveSourceError("what stands where a chunk should begin is none; the trace is damaged")
    (stored,) = struct.unpack_from("<I", header, 44)
    return header[4], CHUNK_HEADER_BYTES + int(stored)


class Progress:
    """Of each trace: the next position, and the entry of the index that began it. A part of Spark's offsets."""

    def __init__(self, traces: dict[str, Any] | None = None) -> None:
        self.traces: dict[str, Any] = {name: dict(known) for name, known in (traces or {}).items()}

    def accepts(self, entry: Entry) -> bool:
        """Takes the next chunk of a trace. False if it was taken before; an error if one is missing before it."""
        known = self.traces.get(entry.trace)
        if known is None:
            known = {"next": FILE_HEADER_BYTES, "first": entry.index, "ended": False}
        if entry.position < known["next"]:
            return False
        if entry.position > known["next"]:
            raise LiveSourceError(
                f"trace {entry.trace} ({entry.program}): the chunks from offset {known['next']} to {entry.position} are "
                "missing: they were deleted, or the stream began behind them. Keep both topics for longer "
                "(retention.ms), or pass option failondataloss=false to leave such traces out"
            )
        known["next"] = entry.end
        known["ended"] = entry.kind == KIND_END
        self.traces[entry.trace] = known
        return True

    def first(self, trace: str) -> int:
        return int(self.traces[trace]["first"])

    def forget_old(self) -> None:
        """Keeps the offsets short."""
        ended = [name for name, known in self.traces.items() if known["ended"]]
        for name in ended[: max(0, len(ended) - REMEMBERED_ENDED)]:
            del self.traces[name]

    def copy(self) -> Progress:
        return Progress(self.traces)


def shares(entries: Iterable[Entry], count: int) -> list[list[Entry]]:
    """Divides entries, in their order, into at most `count` lists of about the same number of bytes."""
    entries = list(entries)
    total = sum(entry.length for entry in entries)
    result: list[list[Entry]] = []
    before = 0
    for entry in entries:
        number = before * count // max(1, total)
        if number >= len(result):
            result.append([])
        result[-1].append(entry)
        before += entry.length
    return result
