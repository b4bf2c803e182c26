"""Queries over running programs, with state that survives a restart.

Each takes the stream of partial aggregates and gives a streaming DataFrame whose state Spark keeps in its checkpoint.
Results go to a folder, one file set a micro-batch, complete each time: a batch that is run again after a restart replaces
its own earlier result, so nothing is lost and nothing is counted twice.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from ..source import FORMAT, register

KEPT_RESULTS = 2
# A micro-batch costs Spark about half a second of a core, however little has come.
USUAL_TRIGGER = {"processingTime": "2 seconds"}


def stream(spark: SparkSession, **options: str | int) -> DataFrame:
    """The partial aggregates of running programs. Options: docs/streaming.md, "Spark"."""
    register(spark)
    return spark.readStream.format(FORMAT).options(**options).load()


def access_counts(spark: SparkSession, by: str = "variable", **options: str | int) -> DataFrame:
    """Accesses, writes and bytes of each program's names. With by="member", the weights of structures' members."""
    partial = stream(spark, aggregate="counts", by=by, **options)
    sums = [f.sum(column).alias(column) for column in ("accesses", "writes", "bytes")]
    return partial.groupBy("trace", "program", "name").agg(*sums)


def touched_granules(spark: SparkSession, by: str = "variable", **options: str | int) -> DataFrame:
    """The first step of finding what threads share: each piece of memory that was touched, with the least and the
    greatest thread that did, and whether under one name or several."""
    partial = stream(spark, aggregate="touches", by=by, **options)
    return partial.groupBy("trace", "program", "process", "granule", "name").agg(
        f.min("first_thread").alias("first_thread"),
        f.max("last_thread").alias("last_thread"),
        f.sum("accesses").alias("accesses"),
        f.sum("writes").alias("writes"),
    )


def shared_granules(touched: DataFrame) -> DataFrame:
    """Of results of `touched_granules`: the pieces that several threads touched, and at least one of them wrote."""
    keys = ["trace", "program", "process", "granule"]
    granules = touched.groupBy(*keys).agg(
        f.min("first_thread").alias("least"),
        f.max("last_thread").alias("greatest"),
        f.sum("accesses").alias("accesses"),
        f.sum("writes").alias("writes"),
        f.array_sort(f.collect_set("name")).alias("names"),
    )
    return granules.where("least < greatest and writes > 0").drop("least", "greatest")


def shared_details(spark: SparkSession, shared: str, by: str = "variable", **options: str | int) -> DataFrame:
    """The second step: which threads access what is shared, under which name, at which line, and how often. `shared` is
    a Parquet folder of `shared_granules` that all executors can read."""
    partial = stream(spark, aggregate="details", by=by, shared=shared, **options)
    sums = [f.sum(column).alias(column) for column in ("accesses", "writes")]
    return partial.groupBy("trace", "program", "process", "thread", "name", "line").agg(*sums)


def start(aggregated: DataFrame, folder: str, keys: Sequence[str] = (), **trigger: Any) -> StreamingQuery:
    """Starts a query whose checkpoint and results are in `folder`; the same call goes on with it after a stop.

    `keys` are for queries that say only which rows are new or changed: these replace earlier ones with the same keys.
    `trigger`: see pyspark's DataStreamWriter.trigger; a micro-batch begins every 2 seconds otherwise, and
    `processingTime="0 seconds"` lets one follow the other."""
    results = f"{folder}/results"

    def keep(result: DataFrame, number: int) -> None:
        before = _before(Path(results.removeprefix("file://")), number) if keys else None
        if before is None:
            result.write.mode("overwrite").parquet(f"{results}/batch={number}")
        else:
            earlier = result.sparkSession.read.schema(result.schema).parquet(f"{results}/batch={before}")
            result.persist()  # Two readers of it would each change the query's state.
            whole = earlier.join(result, list(keys), "left_anti").unionByName(result)
            whole.write.mode("overwrite").parquet(f"{results}/batch={number}")
            result.unpersist()
        _publish(Path(results.removeprefix("file://")), number)

    mode = "update" if keys else "complete"
    writer = aggregated.writeStream.outputMode(mode).option("checkpointLocation", f"{folder}/checkpoint")
    return writer.trigger(**(trigger or USUAL_TRIGGER)).foreachBatch(keep).start()


def _before(results: Path, number: int) -> int | None:
    """The last batch before this one, which may run again after a restart."""
    written = (int(path.name.partition("=")[2]) for path in results.glob("batch=*") if (path / "_SUCCESS").exists())
    return max((batch for batch in written if batch < number), default=None)


def _publish(results: Path, number: int) -> None:
    """Names the newest result, and forgets old ones."""
    latest = results / "latest.json"
    written = results / "latest.json.new"
    written.write_text(json.dumps({"batch": number}))
    written.replace(latest)
    for old in results.glob("batch=*"):
        if int(old.name.partition("=")[2]) <= number - KEPT_RESULTS:
            shutil.rmtree(old, ignore_errors=True)


def result(spark: SparkSession, folder: str) -> DataFrame:
    """The newest complete result of a query that was started with this folder."""
    results = Path(folder.removeprefix("file://")) / "results"
    number = json.loads((results / "latest.json").read_text())["batch"]
    return spark.read.parquet(f"{results}/batch={number}")
