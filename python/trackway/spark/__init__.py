"""Traces on Apache Spark: their tables as data frames, and analyses whose work is divided between executors.

    import trackway.spark

    trackway.spark.register(spark)
    accesses = spark.read.format("trackway").load("/data/prog.trackway")
    trackway.spark.counts(spark, "/data/prog.trackway", by=["variable"]).orderBy("accesses").show()
    print(trackway.spark.open(spark, "/data/prog.trackway").misses())

Executors decode natively. The trace must have the same path on all machines. What the analyses find is what the engine
of one machine finds, to the last digit; docs/spark.md says how, and what it costs.
"""

from .counting import counts
from .source import TrackwaySource, register
from .trace import SparkTrace, open

__all__ = ["SparkTrace", "TrackwaySource", "counts", "open", "register"]
