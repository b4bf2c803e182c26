"""Into how many tasks work is divided where nobody says."""

import os

from pyspark.sql import SparkSession

# Tasks for each that the cluster runs at once, so that those which end sooner have more to do.
_WAVES = 3
# Where the engine doesn't say what it can do: bytes of the file for each task, and limits.
_TASK_BYTES = 16 << 20
_FEWEST, _MOST = 8, 1024


def tasks(spark: SparkSession, path: str) -> int:
    """A number of tasks for a trace: three for each that the cluster runs at once, or one for 16 MiB of the file."""
    # Spark Connect has no such context.
    context = getattr(spark, "_sc", None)
    if context is not None:
        return int(context.defaultParallelism) * _WAVES
    return min(max(os.path.getsize(path) // _TASK_BYTES, _FEWEST), _MOST)
