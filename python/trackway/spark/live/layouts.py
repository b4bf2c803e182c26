"""Weights by which structures are split: which of their fields are accessed, and which together, while programs run.

A pair of accesses may lie on both sides of a border between micro-batches, or between tasks. So executors find pieces of
streams that know their first and last accesses, and the state of each stream is the piece to which those so far are
joined, in their order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from trackway._native import join_layouts
from trackway.tables import Report

from . import definitions
from .aggregates import USUAL_WINDOW
from .kafka_topics import Topics
from .queries import result, stream
from .trace_folder import TraceFolder

if TYPE_CHECKING:
    import pandas as pd

STREAM = ("trace", "program", "stream")
_ROW = "trace string, program string, stream int, data binary"


def layouts(spark: SparkSession, window: int = USUAL_WINDOW, **options: str | int) -> DataFrame:
    """What the accesses of each stream come to; `layout_reports` makes reports of it. Start it with `keys=live.STREAM`.
    `window`: fields are accessed together if no more accesses of their thread than this lie between."""
    pieces = stream(spark, aggregate="layouts", window=window, **options)
    grouped = pieces.groupBy(*STREAM)
    return grouped.applyInPandasWithState(_join, _ROW, "data binary", "update", GroupStateTimeout.NoTimeout)


def _join(key: Any, batches: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """Joins the new pieces of a stream with what it came to so far."""
    import pandas as pd

    new = [piece for batch in batches for piece in zip(batch["first"], batch["data"], strict=True)]
    pieces = [bytes(data) for _, data in sorted(new, key=lambda piece: int(piece[0]))]
    if state.exists:
        pieces.insert(0, bytes(state.get[0]))
    joined = join_layouts(pieces)
    state.update((joined,))
    yield pd.DataFrame({"trace": [key[0]], "program": [key[1]], "stream": [key[2]], "data": [joined]})


def layout_reports(
    spark: SparkSession, folder: str, window: int = USUAL_WINDOW, top: int | None = None, **options: str | int
) -> dict[str, Report]:
    """By trace, what `trackway layout --cache none` says of all that the query of `layouts` in this folder has taken.

    `window` and `options`, which say where the chunks are, must be those of the query; `top`: structures, and pairs of
    fields of each, at most."""
    pieces: dict[str, list[bytes]] = {}
    for row in result(spark, folder).orderBy("stream").collect():
        pieces.setdefault(row["trace"], []).append(bytes(row["data"]))
    known = _definitions({name.lower(): str(value) for name, value in options.items()}, list(pieces))
    most = sys.maxsize if top is None else top
    return {name: Report(known[name].layout_report(found, window, most)) for name, found in pieces.items()}


def _definitions(options: dict[str, str], names: list[str]) -> dict[str, Any]:
    if "kafka" in options:
        with Topics.of_options(options) as topics:
            return definitions.of_topics(topics, *topics.index_range())
    folder = TraceFolder(options["path"])
    return {name: definitions.of_file(folder, name, sys.maxsize) for name in names}
