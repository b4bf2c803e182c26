"""Traces that a process of the engine keeps open from task to task."""

import functools
import os

import trackway
from trackway import _native


def trace(path: str) -> trackway.Trace:
    """The trace of that path, as it is now."""
    return _trace(path, *_version(path))


def divided(path: str, verb: str, words: tuple[str, ...]) -> _native.Divided:
    """A question whose work is divided, to the trace of that path."""
    return _divided(path, verb, words, *_version(path))


def _version(path: str) -> tuple[int, int]:
    """Tells a file from another one that takes its place."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0  # opening says what is wrong
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=4)
def _trace(path: str, _modified: int, _size: int) -> trackway.Trace:
    return trackway.open(path)


@functools.lru_cache(maxsize=4)
def _divided(path: str, verb: str, words: tuple[str, ...], _modified: int, _size: int) -> _native.Divided:
    return _native.Divided(path, verb, list(words))
