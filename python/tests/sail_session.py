"""Asks Sail what test_sail.py asks, in a process of its own: Spark Connect and Spark don't go into one. Prints JSON."""

import json
import sys
from typing import Any

from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

import trackway
import trackway.spark

CACHES = "L1=2K,2,64:L2=16K,4,64"


def said(report: trackway.Report) -> list[Any]:
    return [report.answer, report.warnings, [(table.name, table.rows()) for table in report.tables]]


def is_right(ask: Any, trace: str) -> str:
    """`right`, `wrong`, or what went wrong."""
    try:
        return "right" if ask() else "wrong"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:2000]}"


def main() -> None:
    trace = sys.argv[1]
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    trackway.spark.register(spark)
    here, there = trackway.open(trace), trackway.spark.open(spark, trace, 3)
    questions: dict[str, dict[str, Any]] = {
        "report": {"cache": CACHES},
        "layout": {"cache": CACHES, "no_simulate": True},
        "sharing": {},
        "reuse": {},
    }
    found = {}
    for verb, options in questions.items():
        found[verb] = is_right(lambda v=verb, o=options: said(there.ask(v, **o)) == said(here.ask(v, **o)), trace)

    def counts() -> bool:
        rows = trackway.spark.counts(spark, trace, ["variable"], 3).collect()
        table = here.misses(cache="none", by=["variable"])["variables"].rows()
        return bool(sum(row.accesses for row in rows) == sum(row["accesses"] for row in table))

    def rows() -> bool:
        read = spark.read.format("trackway").option("columns", "thread,address").load(trace)
        rows_here = here.accesses(columns=["thread"]).to_pyarrow().read_all().num_rows
        return bool(read.where("thread >= 0").count() == rows_here)

    found["counts"] = is_right(counts, trace)
    found["rows"] = is_right(rows, trace)
    print(json.dumps(found))
    spark.stop()
    server.stop()


if __name__ == "__main__":
    main()
