"""Counts the accesses that come to a Kafka topic: says so whenever as many have come as a line of standard input says."""

import os
import sys
import threading
import time

from pyspark.sql import SparkSession

from trackway.spark import live


def main():
    topic, folder = sys.argv[1:]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.memory", "1g")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    query = live.start(live.access_counts(spark, kafka=topic), folder)
    threading.Event().wait(3)  # the first micro-batch is empty, but starts the workers
    print("ready", flush=True)
    for line in sys.stdin:
        while counted(spark, folder) < int(line):
            if query.exception() is not None:
                raise query.exception()
            time.sleep(0.1)
        print("counted", flush=True)
    query.stop()
    spark.stop()


def counted(spark, folder):
    try:
        return live.result(spark, folder).groupBy().sum("accesses").first()[0] or 0
    except FileNotFoundError:  # there is no result yet
        return 0


if __name__ == "__main__":
    main()
