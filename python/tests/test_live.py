"""Spark over running programs: their chunks by a Kafka broker, and from a collector's folder, against the embedded engine
on the complete traces."""

import json
import os
import shutil
import tempfile
import time
import unittest
import unittest.mock
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import trackway
from trackway.spark import live

from . import live_stage, traces
from .live_stage import PASSWORD, USER, Broker, Collector
from .spark_cluster import Cluster

STAGE: dict[str, Any] = {}


def setUpModule() -> None:
    folder = Path(tempfile.mkdtemp(prefix="live-", dir=traces.folder()))
    STAGE["folder"] = folder
    STAGE["broker"] = Broker(folder / "broker")
    STAGE["cluster"] = Cluster()
    os.environ.update(STAGE["cluster"].environment())
    STAGE["spark"] = session(STAGE["cluster"].url, folder)


def tearDownModule() -> None:
    STAGE["spark"].stop()
    STAGE["cluster"].stop()
    STAGE["broker"].stop()
    shutil.rmtree(STAGE["folder"])


def session(master: str, folder: Path) -> SparkSession:
    builder = SparkSession.builder.master(master).appName("live")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.spark: SparkSession = STAGE["spark"]
        self.broker: Broker = STAGE["broker"]
        self.folder = Path(tempfile.mkdtemp(dir=STAGE["folder"]))
        self.topic = f"kafka://{self.broker.address}/{self.id().rpartition('.')[2]}"
        self.files = self.folder / "traces"

    def collector(self, *options: object, **settings: str) -> Collector:
        collector = Collector(*options, **settings)
        self.addCleanup(collector.kill)
        return collector

    def record(self, *arguments: object, kafka: str = "") -> Path:
        """The complete trace, which is in Kafka as well."""
        options = ["--kafka", kafka] if kafka else []
        collector = self.collector("-o", f"{self.files}/", "--once", *options)
        live_stage.finish(live_stage.start_recorder(collector.address, *arguments))
        collector.end()
        return live_stage.only_trace(self.files)

    def available(self, query: DataFrame, name: str) -> DataFrame:
        """The result when everything that is there now was read."""
        folder = str(self.folder / name)
        started = live.start(query, folder, availableNow=True)
        if not started.awaitTermination(live_stage.LIMIT_S):
            started.stop()
            raise AssertionError("the query does not end")
        return live.result(self.spark, folder)

    def stop_in_the_middle(self, query: StreamingQuery, folder: str, last: int) -> int:
        """Stops a query after a batch that comes behind `last`, as if it had been killed after that batch's result was
        written, but before it was committed. Returns its number."""
        wait_for(lambda: query.lastProgress is not None and query.lastProgress.batchId > last + 1, query)
        query.stop()
        batch = int(json.loads((Path(folder) / "results" / "latest.json").read_text())["batch"])
        commits = Path(folder) / "checkpoint" / "commits"
        for committed in (commits / str(batch), commits / f".{batch}.crc"):
            committed.unlink(missing_ok=True)
        return batch

    def record_with_stops(self, rounds: int, stops: int, folder: str, start: Callable[[], StreamingQuery]) -> Path:
        """The complete trace, during which a query was stopped in the middle so many times."""
        collector = self.collector("-o", f"{self.files}/", "--once", "--kafka", self.topic)
        recorder = live_stage.start_recorder(collector.address, rounds, 5)
        last = -1
        for _ in range(stops):
            last = self.stop_in_the_middle(start(), folder, last)
        live_stage.finish(recorder)
        collector.end()
        return live_stage.only_trace(self.files)

    def check_layout(self, trace: Path, window: int, **options: Any) -> None:
        """The query over everything that is there says what the embedded engine says of the complete trace."""
        folder = str(self.folder / "layouts")
        query = live.start(live.layouts(self.spark, window, **options), folder, live.STREAM, availableNow=True)
        self.assertTrue(query.awaitTermination(live_stage.LIMIT_S))
        ((name, report),) = live.layout_reports(self.spark, folder, window, **options).items()
        self.assertIn(name[:16], trace.name)
        found = live_stage.by_name((table.name, table.rows()) for table in report.tables)
        expected = live_stage.layout_tables(trace, window)
        self.assertGreater(len(expected["affinity"]), 0)
        self.assertEqual(found, expected)
        self.assertEqual(report.warnings, [])

    def check_counts(self, result: DataFrame, trace: Path, by: str = "variable") -> None:
        found = {row["name"]: (row["accesses"], row["bytes"]) for row in result.collect()}
        self.assertEqual(found, live_stage.accesses_by(trace, by))


class Kafka(Live):
    def test_counts_and_weights_are_those_of_the_embedded_engine(self) -> None:
        trace = self.record(200, kafka=self.topic)
        for by in ("variable", "field"):
            counted = live.access_counts(self.spark, by, kafka=self.topic)
            self.check_counts(self.available(counted, by), trace, by)
        weights = self.available(live.access_counts(self.spark, "member", kafka=self.topic), "member")
        self.assertEqual(
            {row["name"]: row["accesses"] for row in weights.collect()}, live_stage.member_weights(trace)
        )

    def test_a_query_that_is_stopped_in_the_middle_loses_and_repeats_nothing(self) -> None:
        folder = str(self.folder / "counts")
        counted = live.access_counts(self.spark, kafka=self.topic, maxchunkspertrigger=5)
        trace = self.record_with_stops(300, 3, folder, lambda: live.start(counted, folder))
        result = self.available(live.access_counts(self.spark, kafka=self.topic), "counts")
        self.check_counts(result, trace)

    def test_layouts_of_a_query_that_is_stopped_in_the_middle_are_those_of_the_embedded_engine(self) -> None:
        folder = str(self.folder / "layouts")
        found = live.layouts(self.spark, kafka=self.topic, maxchunkspertrigger=5)
        trace = self.record_with_stops(100, 2, folder, lambda: live.start(found, folder, live.STREAM))
        self.assertGreater(live_stage.repeat_entries(self.broker, self.topic), 10)
        self.check_layout(trace, 100, kafka=self.topic)

    def test_rows_are_the_accesses(self) -> None:
        trace = self.record(1, kafka=self.topic)
        rows = live.stream(self.spark, aggregate="rows", kafka=self.topic)
        counted = rows.groupBy("thread", "address", "size", "kind").count()
        found = self.available(counted, "rows").collect()
        columns = ["thread", "address", "size", "kind"]
        accesses = trackway.open(trace).accesses(columns=columns).to_pyarrow().read_all().to_pylist()
        expected = Counter(tuple(row[name] for name in columns) for row in accesses)
        self.assertEqual({(*(row[name] for name in columns),): row["count"] for row in found}, expected)

    def test_entries_that_come_twice_are_counted_once(self) -> None:
        trace = self.record(50, kafka=self.topic)
        self.assertGreater(live_stage.repeat_entries(self.broker, self.topic), 10)
        counted = live.access_counts(self.spark, kafka=self.topic, maxchunkspertrigger=30)
        self.check_counts(self.available(counted, "counts"), trace)

    def test_brokers_may_ask_who_it_is(self) -> None:
        signed = self.topic.replace(self.broker.address, self.broker.signed_address)
        with unittest.mock.patch.dict(os.environ, TRACKWAY_KAFKA_PASSWORD=PASSWORD):
            trace = self.record(5, kafka=f"{signed}?user={USER}")
            self.assertIn("no broker let user stranger in", self.collector_fails("-o", f"{signed}?user=stranger"))
        self.assertIn("TRACKWAY_KAFKA_PASSWORD", self.collector_fails("-o", f"{signed}?user={USER}"))
        options = {
            "kafka": signed,
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "SCRAM-SHA-256",
            "kafka.sasl.username": USER,
            "kafka.sasl.password": PASSWORD,
        }
        self.check_counts(self.available(live.access_counts(self.spark, **options), "counts"), trace)

    def test_collectors_without_files_may_be_killed(self) -> None:
        listen = f"unix:{self.folder}/socket"
        collector = self.collector("-o", self.topic, listen=listen)
        recorder = live_stage.start_recorder(listen, 200, 15)  # three seconds at least
        for _ in range(2):
            time.sleep(0.5)
            self.assertIsNone(recorder.poll())
            collector.kill()
            collector = self.collector("-o", self.topic, "--once", listen=listen)
        live_stage.finish(recorder)
        self.assertIn("1 trace complete", collector.end())
        plain = self.folder / "plain.trackway"
        traces.trackway("record", "-q", "-o", plain, *live_stage.SMALL_BUFFERS, "--", live_stage.relay(), 200, "05")
        result = self.available(live.access_counts(self.spark, kafka=self.topic), "counts")
        self.check_counts(result, plain)

    def test_a_broker_that_stops_makes_the_program_wait(self) -> None:
        collector = self.collector("-o", f"{self.files}/", "--once", "--kafka", self.topic)
        recorder = live_stage.start_recorder(
            collector.address, 400, options=("--window", "64K", "--codec", "none")
        )
        self.broker.pause()
        try:
            time.sleep(3)
            waits = recorder.poll() is None
        finally:
            self.broker.go_on()
        self.assertTrue(waits)
        live_stage.finish(recorder)
        collector.end()
        trace = live_stage.only_trace(self.files)
        self.check_counts(self.available(live.access_counts(self.spark, kafka=self.topic), "counts"), trace)
        (recording,) = (
            table["rows"][0] for table in traces.answer("info", trace)["tables"] if table["name"] == "recording"
        )
        self.assertEqual(recording["gaps"], 0)

    def test_shared_variables_in_two_steps(self) -> None:
        trace = self.record(5, kafka=self.topic)
        touched = self.available(live.touched_granules(self.spark, kafka=self.topic), "touched")
        shared = self.folder / "shared"
        live.shared_granules(touched).write.parquet(str(shared))
        granules, counts = live_stage.shared_truth(trace, 8)
        found = self.spark.read.parquet(str(shared)).collect()
        self.assertEqual(
            {(row["granule"] % 2**64, tuple(row["names"]), row["accesses"], row["writes"]) for row in found}, granules
        )
        self.assertTrue(any("shared_sum" in row["names"] for row in found))
        self.assertFalse(any("own_sums" in row["names"] for row in found))
        details = self.available(live.shared_details(self.spark, str(shared), kafka=self.topic), "details")
        self.assertEqual({(row["thread"], row["name"]): row["accesses"] for row in sums(details)}, counts)

    def test_what_is_wrong_is_said(self) -> None:
        refused = self.collector_fails("--kafka", "kafka://127.0.0.1:1/topic", "-o", f"{self.files}/")
        self.assertIn("no broker answers", refused)
        refused = self.collector_fails("-o", "kafka://nowhere/topic")
        self.assertIn("expected kafka://HOST:PORT", refused)
        with self.assertRaisesRegex(Exception, "trackway collect --kafka"):
            self.available(live.access_counts(self.spark, kafka=self.topic), "nothing")
        with self.assertRaisesRegex(Exception, "a window has 0 accesses"):
            self.record(1, kafka=self.topic)
            live.start(live.layouts(self.spark, 0, kafka=self.topic), f"{self.folder}/none", live.STREAM).awaitTermination()
        with self.assertRaisesRegex(Exception, "needs option aggregate"):
            nameless = self.spark.readStream.format("trackway").load(str(traces.GOLDEN.parent))
            live.start(nameless, f"{self.folder}/nameless", live.STREAM).awaitTermination()
        with self.assertRaisesRegex(Exception, "are for spark.readStream"):
            self.spark.read.format("trackway").option("kafka", self.topic).load().collect()
        with self.assertRaisesRegex(Exception, "must be one of variable, field"):
            live.access_counts(self.spark, "colour", kafka=self.topic)

    def collector_fails(self, *options: object) -> str:
        with self.assertRaises(AssertionError) as raised:
            traces.trackway("collect", *options)
        return str(raised.exception)


class Folder(Live):
    def test_a_growing_folder_is_counted_without_kafka(self) -> None:
        self.files.mkdir()
        collector = self.collector("-o", f"{self.files}/", "--once")
        recorder = live_stage.start_recorder(collector.address, 200, 5)
        folder = str(self.folder / "counts")
        query = live.start(live.access_counts(self.spark, path=str(self.files), maxchunkspertrigger=20), folder)
        wait_for(lambda: query.lastProgress is not None and query.lastProgress.numInputRows > 0, query)
        query.stop()
        live_stage.finish(recorder)
        collector.end()
        result = self.available(live.access_counts(self.spark, path=str(self.files)), "counts")
        self.check_counts(result, live_stage.only_trace(self.files))

    def test_layouts_of_a_growing_folder(self) -> None:
        self.files.mkdir()
        collector = self.collector("-o", f"{self.files}/", "--once")
        recorder = live_stage.start_recorder(collector.address, 50, 5)
        folder = str(self.folder / "layouts")
        # Wider than a chunk has accesses to members, so that more than two pieces touch each other.
        found = live.layouts(self.spark, 10_000, path=str(self.files), maxchunkspertrigger=3)
        self.stop_in_the_middle(live.start(found, folder, live.STREAM), folder, -1)
        live_stage.finish(recorder)
        collector.end()
        self.check_layout(live_stage.only_trace(self.files), 10_000, path=str(self.files))

    def test_damage_is_named(self) -> None:
        trace = self.record(20)
        content = bytearray(trace.read_bytes())
        content[len(content) // 2] ^= 1
        trace.write_bytes(content)
        with self.assertRaisesRegex(Exception, r"relay-.*offset \d+"):
            self.available(live.access_counts(self.spark, path=str(self.files)), "damaged")


def wait_for(condition: Any, query: Any) -> None:
    deadline = time.monotonic() + live_stage.LIMIT_S
    while not condition():
        if query.exception() is not None:
            raise query.exception()
        if time.monotonic() > deadline:
            raise AssertionError("nothing happens")
        time.sleep(0.05)


def sums(details: DataFrame) -> list[Any]:
    return details.groupBy("thread", "name").sum("accesses").withColumnRenamed("sum(accesses)", "accesses").collect()


if __name__ == "__main__":
    unittest.main()
