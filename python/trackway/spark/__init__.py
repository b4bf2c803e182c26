"""Traces on Apache Spark: their relations as tables, and analyses whose work is divided between executors.

    import trackway.spark

    trackway.spark.register(spark)
    accesses = spark.read.format("trackway").load("/data/prog.trackway")
    trackway.spark.counts(spark, "/data/prog.trackway", by=["variable"]).orderBy("accesses").show()
    print(trackway.spark.report(spark, "/data/prog.trackway").answer)

Executors decode natively. The trace must have the same path on all machines. What the functions find is what the engine of
one machine finds, to the last digit; docs/spark.md says how, and what it costs.
"""

from .analyses import layout, report, reuse, sharing
from .counting import counts
from .source import TrackwaySource, register

__all__ = ["TrackwaySource", "counts", "layout", "register", "report", "reuse", "sharing"]
