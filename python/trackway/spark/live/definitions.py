"""What executors know of traces: each process keeps it from one micro-batch to the next."""

from __future__ import annotations

from typing import Any

from .kafka_topics import Topics
from .progress import Entry, LiveSourceError, Progress
from .trace_folder import TraceFolder

# (topics or folder, trace): what is known of it.
_traces: dict[tuple[str, str], Any] = {}
# Topics: the next entry of the index, and how far the traces have come by then.
_read: dict[str, tuple[int, int, Progress]] = {}
MOST_TRACES = 200


def _make_room() -> None:
    """Forgets everything before it gets too much: it can be read again."""
    if len(_traces) >= MOST_TRACES:
        _traces.clear()
        _read.clear()


def _trace(source: str, name: str) -> Any:
    from trackway import LiveTrace

    known = _traces.get((source, name))
    if known is None:
        known = _traces[(source, name)] = LiveTrace(name)
    return known


def of_topics(topics: Topics, first: int, end: int) -> dict[str, Any]:
    """All traces with their definitions by the index from `first`, where the oldest of them begins, to before `end`."""
    source = f"{topics.settings['bootstrap.servers']}/{topics.topic}"
    _make_room()
    began, following, progress = _read.get(source, (first, first, Progress()))
    if first < began:
        for key in [key for key in _traces if key[0] == source]:
            del _traces[key]
        began, following, progress = first, first, Progress()
    # All of them first: reading a chunk in between would turn the consumer to another topic.
    for entry, value in list(topics.entries(following, end)):
        if _accepts(progress, entry):
            _define(_trace(source, entry.trace), topics, entry, value)
    _read[source] = (began, max(following, end), progress)
    return {name: trace for (of, name), trace in _traces.items() if of == source}


def _accepts(progress: Progress, entry: Entry) -> bool:
    """What misses chunks the driver has left out, or it would have failed."""
    try:
        return progress.accepts(entry)
    except LiveSourceError:
        return False


def _define(trace: Any, topics: Topics, entry: Entry, value: bytes) -> None:
    if entry.is_definition:
        if entry.places:
            ((_, value),) = topics.placed([entry])
        trace.define(entry.position, value)
    trace.pass_over(entry.end)


def of_file(folder: TraceFolder, name: str, end: int) -> Any:
    """The trace with its definitions up to offset `end`."""
    _make_room()
    trace = _trace(str(folder.path), name)
    for entry in folder.entries(name, trace.position, end):
        if entry.is_definition:
            trace.define(entry.position, folder.chunk(entry))
        trace.pass_over(entry.end)
    return trace
