"""Starts a live query on Sail: a process of its own, since Spark Connect and Spark don't go into one. Prints JSON."""

import json
import sys

from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

from trackway.spark import live


def main() -> None:
    traces, folder = sys.argv[1:]
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    try:
        query = live.start(live.access_counts(spark, path=traces), folder, availableNow=True)
        query.awaitTermination(60)
        said = "answers"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps(said))
    spark.stop()
    server.stop()


if __name__ == "__main__":
    main()
