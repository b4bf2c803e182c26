"""How fast a Spark cluster of one executor with one core counts the accesses of a trace by variable.

Run with the Python of build/python: spark_session.py TRACE ROUNDS. Prints JSON: `accesses`, and for each round `wall_s`
and `cpu_s`, the processor time of executor, workers, master and driver together. The first rounds aren't printed: Java compiles
itself in them, which takes as long as all the rest.
"""

import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from pyspark.sql import SparkSession  # noqa: E402

import trackway.spark  # noqa: E402
from tests.spark_cluster import Cluster  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
WARMING = 5


def stat(pid):
    """The fields of /proc/PID/stat behind the name; none if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def cpu_seconds(sessions):
    """Processor time of all processes of these sessions, and of children that they have waited for."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fields = stat(pid)
        if fields and int(fields[3]) in sessions:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS


def session_for(cluster):
    os.environ.update(cluster.environment())
    builder = SparkSession.builder.master(cluster.url)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def main():
    trace, rounds = sys.argv[1], int(sys.argv[2])
    # A session of its own, so that what else runs in the terminal's isn't counted.
    if os.getpid() != os.getsid(0):
        os.setsid()
    found = []
    with Cluster(workers=1, cores=1, memory="1g") as cluster:
        sessions = {os.getsid(0), *(process.pid for process in cluster.processes)}
        spark = session_for(cluster)
        for _ in range(WARMING + rounds):
            cpu, wall = cpu_seconds(sessions), time.monotonic()
            rows = trackway.spark.counts(spark, trace, ["variable"]).collect()
            found.append({"wall_s": time.monotonic() - wall, "cpu_s": cpu_seconds(sessions) - cpu})
        spark.stop()
    print(json.dumps({"accesses": sum(row.accesses for row in rows), "rounds": found[WARMING:]}))


if __name__ == "__main__":
    main()
