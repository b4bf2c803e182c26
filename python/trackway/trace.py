"""An opened trace."""

from __future__ import annotations

import os
from pathlib import Path

from . import _native


class Trace:
    """A trace; `trackway.open` makes it. Its records are decoded when something asks for them."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = _native.open(path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._native.path

    @property
    def info(self) -> _native.TraceInfo:
        """What is known without decoding: program, host, threads, counts, clock, gaps, damage."""
        return self._native.info

    def __repr__(self) -> str:
        return f"trackway.open({str(self.path)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.path),)


def open(path: str | os.PathLike[str]) -> Trace:
    """Opens a trace and reads all of it but the records.

    Damaged parts are left out and listed in `info.damage`.

    Raises:
        TraceError: the file can't be read, or is no trace.
    """
    return Trace(path)
