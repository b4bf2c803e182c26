"""Accesses and bytes by names, counted natively."""

import os
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from .parallelism import tasks
from .source import FORMAT, register

_COUNTED = ("accesses", "bytes")


def counts(spark: SparkSession, path: str, by: Sequence[str], partitions: int | None = None) -> DataFrame:
    """Accesses and bytes of a trace by names of sites (`function`, `file`, `line`, `variable`, `field`, `type`, `kind`,
    ...), `thread` or `process`: columns `by`, `accesses`, `bytes`.

    Executors count natively while they decode, and hand on a row for each site that a part of the trace has; the engine
    adds those up. A damaged chunk ends the query with an error that names it.

    Raises:
        ValueError: `by` is empty.
    """
    if not by:
        raise ValueError("by=[]: name a column of the table site_counts, such as variable")
    register(spark)
    partial = spark.read.format(FORMAT).options(
        table="site_counts", columns=",".join([*by, *_COUNTED]), partitions=str(partitions or tasks(spark, path))
    )
    return partial.load(os.path.abspath(path)).groupBy(*by).agg(*(F.sum(name).alias(name) for name in _COUNTED))
