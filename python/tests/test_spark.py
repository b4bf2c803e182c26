"""Spark, on a cluster of its own: what executors find is what one machine finds."""

import os
import shutil
import signal
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import trackway
import trackway.spark

from . import traces
from .spark_cluster import Cluster

PARTITIONS = (1, 3, 7)
CACHES = "L1=2K,2,64:L2=16K,4,64"
SHARED_CACHES = "L1=2K,2,64:L2=16K,4,64,shared"
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("report", {"cache": "none", "by": ["variable", "thread"]}),
    ("report", {"cache": CACHES}),
    ("report", {"cache": SHARED_CACHES}),
    ("report", {"cache": CACHES + ":TLB1=4,2"}),
    ("layout", {"cache": CACHES, "no_simulate": True}),
    ("sharing", {}),
    ("reuse", {"sample": 0.25}),
    ("reuse", {"merged": True}),
]
cluster: Cluster
spark: SparkSession


def setUpModule() -> None:  # noqa: N802
    global cluster, spark
    cluster = Cluster()
    os.environ.update(cluster.environment())
    spark = (
        SparkSession.builder.master(cluster.url)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "512m")
        .config("spark.executor.memory", "512m")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    trackway.spark.register(spark)


def tearDownModule() -> None:  # noqa: N802
    try:
        spark.stop()
    finally:
        cluster.stop()


def said(report: trackway.Report) -> list[Any]:
    """Everything that a report says."""
    tables = [(table.name, table.title, table.total_rows, table.rows()) for table in report.tables]
    return [report.answer, report.warnings, tables]


def workloads() -> list[Path]:
    """A thread with structures in several chunks, and threads that share lines."""
    return [traces.chunked("layouts.c"), traces.chunked("order/hand_over.c", "mutex")]


class Analyses(unittest.TestCase):
    def test_executors_find_what_one_machine_finds(self) -> None:
        for trace in workloads():
            here = trackway.open(trace)
            for verb, options in QUESTIONS:
                expected = said(here.ask(verb, **options))
                for partitions in PARTITIONS:
                    with self.subTest(trace=trace.name, verb=verb, options=options, partitions=partitions):
                        there = trackway.spark.open(spark, trace, partitions)
                        self.assertEqual(said(there.ask(verb, **options)), expected)

    def test_what_cannot_be_divided_is_refused(self) -> None:
        there = trackway.spark.open(spark, traces.GOLDEN)
        with self.assertRaisesRegex(trackway.QuestionError, "memory can't be divided; that of layout, report"):
            there.memory()
        with self.assertRaisesRegex(trackway.QuestionError, "invalid value 'wrong'"):
            there.misses(by=["wrong"])  # type: ignore[list-item]


class Executors(unittest.TestCase):
    def test_a_lost_executor_changes_nothing(self) -> None:
        trace = workloads()[0]
        expected = said(trackway.open(trace).misses(cache=CACHES))
        # The parent of the process that runs Python functions is the executor.
        executors = {row.pid for row in spark.range(0, 8, 1, 8).mapInArrow(_executors, "pid int").collect()}
        self.assertGreaterEqual(len(executors), 1)
        os.kill(executors.pop(), signal.SIGKILL)
        self.assertEqual(said(trackway.spark.open(spark, trace, 5).misses(cache=CACHES)), expected)

    def test_damaged_chunks_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            damaged = Path(folder, "damaged.trackway")
            traces.damage_a_chunk(workloads()[0], damaged)
            here = trackway.open(damaged).misses(cache=CACHES)
            self.assertTrue(any("is damaged" in warning for warning in here.warnings), here.warnings)
            there = trackway.spark.open(spark, damaged, 5).misses(cache=CACHES)
            self.assertEqual(said(there), said(here))
            rows = spark.read.format("trackway").option("columns", "site").load(str(damaged))
            with self.assertRaisesRegex(Exception, "payload of the chunk at offset [0-9]+ is damaged"):
                rows.count()
            with self.assertRaisesRegex(Exception, "payload of the chunk at offset [0-9]+ is damaged"):
                trackway.spark.counts(spark, str(damaged), ["variable"]).collect()
            skipping = spark.read.format("trackway").option("columns", "site").option("damaged", "skip")
            kept = trackway.open(damaged).accesses(columns=["site"], damage="skip").to_pyarrow().read_all().num_rows
            self.assertEqual(skipping.load(str(damaged)).count(), kept)
            self.assertGreater(kept, 0)


def _executors(batches: Any) -> Any:
    import os
    from pathlib import Path

    import pyarrow

    daemon = os.getppid()
    status = Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()
    for _ in batches:
        yield pyarrow.record_batch([pyarrow.array([int(status[1])], pyarrow.int32())], names=["pid"])


class Rows(unittest.TestCase):
    def test_rows_are_those_of_the_trace(self) -> None:
        for trace in workloads():
            columns = ["thread", "sequence", "address", "size", "variable"]
            expected = trackway.open(trace).accesses(columns=columns).to_pyarrow().read_all()
            read = spark.read.format("trackway").option("columns", ",".join(columns)).option("partitions", 5)
            rows = read.load(str(trace)).orderBy("thread", "sequence").toArrow()
            order = [("thread", "ascending"), ("sequence", "ascending")]
            expected = expected.take(pc.sort_indices(expected, order))
            self.assertEqual(rows.to_pylist(), expected.to_pylist())

    def test_filters_reach_the_decoder(self) -> None:
        trace = workloads()[1]
        accesses = trackway.open(trace).accesses(columns=["thread", "address"]).to_pyarrow().read_all().to_pylist()
        threads = sorted({row["thread"] for row in accesses})
        middle = sorted(row["address"] for row in accesses)[len(accesses) // 2]
        rows = spark.read.format("trackway").load(str(trace))
        wanted = rows.where(F.col("thread").isin(threads[1:]) & (F.col("address") >= middle))
        expected = sum(row["thread"] in threads[1:] and row["address"] >= middle for row in accesses)
        self.assertEqual(wanted.count(), expected)
        plan = wanted._jdf.queryExecution().executedPlan().toString()
        self.assertNotIn("Filter (", plan)
        self.assertEqual(rows.where("thread = -1").count(), 0)
        self.assertEqual(rows.where(F.col("thread") == 10**6).count(), 0)

    def test_a_folder_is_one_table(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for number, trace in enumerate(workloads()):
                shutil.copy(trace, Path(folder, f"{number}.trackway"))
            rows = spark.read.format("trackway").load(folder).groupBy("trace", "program", "host", "build_id").count().collect()
            infos = [trackway.open(trace).info for trace in workloads()]
            found = {(row.trace, row.program, row.host, row.build_id) for row in rows}
            self.assertEqual(found, {(info.identity, info.program, info.host, info.build_id) for info in infos})

    def test_object_stores_are_to_be_mounted(self) -> None:
        with self.assertRaisesRegex(Exception, "s3://runs/fleet: executors map files; mount the store"):
            _ = spark.read.format("trackway").load("s3://runs/fleet").schema

    def test_wrong_options_are_named(self) -> None:
        for options, message in [({"tables": "sites"}, "unknown option 'tables'"), ({"columns": "nothing"}, "no column 'nothing'")]:
            with self.assertRaisesRegex(Exception, message):
                _ = spark.read.format("trackway").options(**options).load(str(traces.GOLDEN)).schema


class Counts(unittest.TestCase):
    def test_counts_are_those_of_all_accesses(self) -> None:
        for trace in workloads():
            for by in (["variable"], ["thread", "kind"], ["file", "line"]):
                accesses = trackway.open(trace).accesses(columns=[*by, "size"]).to_pyarrow().read_all().to_pylist()
                expected: Counter[Any] = Counter()
                for row in accesses:
                    key = tuple(row[name] for name in by)
                    expected[key, "accesses"] += 1
                    expected[key, "bytes"] += row["size"]
                for partitions in PARTITIONS:
                    found: Counter[Any] = Counter()
                    for row in trackway.spark.counts(spark, str(trace), by, partitions).collect():
                        key = tuple(row[name] for name in by)
                        found[key, "accesses"] += row.accesses
                        found[key, "bytes"] += row.bytes
                    self.assertEqual(found, expected)

    def test_unknown_names_are_refused(self) -> None:
        with self.assertRaisesRegex(Exception, "there is no column 'colour'"):
            trackway.spark.counts(spark, str(traces.GOLDEN), ["colour"])
        with self.assertRaisesRegex(ValueError, "name a column"):
            trackway.spark.counts(spark, str(traces.GOLDEN), [])
