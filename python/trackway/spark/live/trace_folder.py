"""A collector's folder: traces that grow chunk by chunk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .progress import (
    CHUNK_HEADER_BYTES,
    FILE_HEADER_BYTES,
    KIND_INDEX,
    Entry,
    LiveSourceError,
    chunk_kind_and_length,
)

SUFFIX = ".trackway"


class TraceFolder:
    """Reads the chunks of all traces in a folder, as far as they are complete."""

    def __init__(self, path: str) -> None:
        self.path = Path(path.removeprefix("file://"))

    def names(self) -> list[str]:
        try:
            return sorted(file.name for file in self.path.iterdir() if file.name.endswith(SUFFIX))
        except OSError as error:
            raise LiveSourceError(f"{self.path}: {error.strerror}; name the folder that `trackway collect` writes") from error

    def entries(self, name: str, start: int, end: int | None = None) -> Iterator[Entry]:
        """The whole chunks of a trace from offset `start` to `end`, or to its present end, without its index."""
        program = name.removesuffix(SUFFIX).rpartition("-")[0] or name
        with open(self.path / name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            position = max(start, FILE_HEADER_BYTES)
            end = size if end is None else end
            while position < end and position + CHUNK_HEADER_BYTES <= size:
                try:
                    kind, length = chunk_kind_and_length(os.pread(file.fileno(), CHUNK_HEADER_BYTES, position))
                except LiveSourceError as error:
                    raise LiveSourceError(f"{self.path / name}, offset {position}: {error}") from error
                if kind == KIND_INDEX or position + length > size:
                    return
                yield Entry(name, program, position, kind, length, 0, ())
                position += length

    def chunk(self, entry: Entry) -> bytes:
        with open(self.path / entry.trace, "rb") as file:
            return os.pread(file.fileno(), entry.length, entry.position)
