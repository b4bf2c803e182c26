"""Analyses whose work is divided between executors.

Each takes the options of the verb of the same name and finds exactly what the verb prints; `partitions` says into about how
many tasks the work is divided.
"""

import json
from typing import Any

from pyspark.sql import SparkSession

from trackway import Report

from .division import divide


def report(
    spark: SparkSession,
    path: str,
    *,
    by: list[str] | None = None,
    cache: str | None = None,
    sort: str | None = None,
    top: int = 10,
    partitions: int | None = None,
) -> Report:
    """What accesses memory most, and misses the caches: `trackway report`."""
    return _find(spark, path, partitions, analysis="report", by=by, cache=cache, sort=sort, top=top)


def layout(
    spark: SparkSession,
    path: str,
    *,
    structure: str | None = None,
    window: int = 100,
    cache: str | None = None,
    sort: str | None = None,
    top: int = 5,
    partitions: int | None = None,
) -> Report:
    """How structures are laid out, and how they might be split: `trackway layout`."""
    options = {"type": structure, "window": window, "cache": cache, "sort": sort, "top": top}
    return _find(spark, path, partitions, analysis="layout", **options)


def sharing(
    spark: SparkSession, path: str, *, line_size: int | None = None, top: int = 10, partitions: int | None = None
) -> Report:
    """Which cache lines threads take from each other: `trackway sharing`."""
    return _find(spark, path, partitions, analysis="sharing", line_size=line_size, top=top)


def reuse(
    spark: SparkSession,
    path: str,
    *,
    sample: float | None = None,
    sample_lines: int | None = None,
    merged: bool = False,
    by: list[str] | None = None,
    line_size: int | None = None,
    top: int = 10,
    partitions: int | None = None,
) -> Report:
    """How soon lines are used again: `trackway reuse`. A thread's stack of lines is one task's work."""
    options = {"sample": sample, "sample_lines": sample_lines, "merged": merged, "by": by}
    return _find(spark, path, partitions, analysis="reuse", line_size=line_size, top=top, **options)


def _find(spark: SparkSession, path: str, partitions: int | None, **options: Any) -> Report:
    chosen = {name: value for name, value in options.items() if value is not None}
    return divide(spark, path, json.dumps(chosen, sort_keys=True), partitions)
