"""The live path: what it costs the traced program that its chunks go through a Kafka broker, to Spark or to nobody."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import programs, timing
from .programs import BUILD, MEASURE, OUT, ROOT, TRACKWAY
from .results import Column

sys.path.append(str(ROOT / "tests"))
from end_to_end.support.kafka_broker import Broker  # noqa: E402

MEMORY = Path("/dev/shm")
PYTHON = BUILD / "python" / "bin" / "python"
QUERY = Path(__file__).with_name("live_query.py")
# As Kafka's own script starts a broker, with regions in which chunks aren't humongous.
HEAP = ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=16m")
START_LIMIT_S = 120
COLUMNS = (
    Column("time_s", "time, s"),
    Column("ratio", "x /dev/shm"),
    Column("macc_per_s", "Macc/s", "{:.1f}"),
    Column("lag_s", "lag, s", "{:.1f}"),
)
COUNTED = "Kafka, counted by Spark"
# Recordings that a query counts before it is measured: a Java program that has just started interprets its code.
WARMING = 3


class Collector:
    """`trackway collect` of one trace."""

    def __init__(self, output, *options):
        command = [TRACKWAY, "collect", "--once", "-o", output, *options]
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        self.address = self.process.stderr.readline().split(";")[0].rpartition(" ")[2]

    def end(self):
        said = self.process.communicate(timeout=START_LIMIT_S)[1]
        if self.process.returncode != 0:
            sys.exit(f"bench: the collector failed: {said}")


class Query:
    """Spark with one core that counts accesses by variable as they come."""

    def __init__(self, topic, folder):
        command = [PYTHON, QUERY, topic, folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("bench: Spark does not start")

    def wait_for(self, accesses):
        """Seconds until so many accesses in all are counted."""
        started = time.monotonic()
        self.process.stdin.write(f"{accesses}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "counted\n":
            sys.exit("bench: Spark does not count all accesses")
        return time.monotonic() - started

    def end(self):
        self.process.communicate()


def over_socket(program, arguments, collector):
    """Seconds of a program whose recorder sends to a collector."""
    own = OUT / "own_time"
    command = [TRACKWAY, "record", "-q", "--to", collector.address, "--", MEASURE, own, program, *arguments]
    result = timing.apart(timing.timed(command), own)
    collector.end()
    return {"time_s": result["program_wall_s"]}


def accesses_of(trace):
    return int(programs.call(programs.DECODE, trace).split()[0])


def counted(program, arguments, topic, folder, accesses):
    """Of a recording that a query counts which has counted others before; the lag is from the program's end on."""
    collector = Collector(topic)
    query = Query(topic, folder)  # behind what makes the topic
    for number in range(WARMING):
        over_socket(program, arguments, collector)
        query.wait_for((number + 1) * accesses)
        collector = Collector(topic)
    row = over_socket(program, arguments, collector)
    row["lag_s"] = query.wait_for((WARMING + 1) * accesses)
    query.end()
    return row


def once(program, arguments, broker, folder, number, accesses):
    """All ways, one after the other."""
    trace = folder / "trace"
    rows = {"/dev/shm": {"time_s": timing.recorded(program, arguments, [], trace)["program_wall_s"]}}
    trace.unlink()
    rows["collector"] = over_socket(program, arguments, Collector(trace))
    trace.unlink()
    topic = f"kafka://{broker.address}/plain-{number}"
    rows["Kafka"] = over_socket(program, arguments, Collector(topic))
    topic = f"kafka://{broker.address}/counted-{number}"
    rows[COUNTED] = counted(program, arguments, topic, folder / f"query-{number}", accesses)
    for row in rows.values():
        row["ratio"] = row["time_s"] / rows["/dev/shm"]["time_s"]
        row["macc_per_s"] = accesses / 1e6 / row["time_s"]
    return rows


def measure(name, arguments, rounds):
    """Rows of the table by way, medians of the rounds."""
    program = programs.workload("traced", name)
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        folder = Path(made)
        trace = folder / "trace"
        timing.recorded(program, arguments, [], trace)
        accesses = accesses_of(trace)
        trace.unlink()
        broker = Broker(folder / "broker", heap=HEAP)
        try:
            measured = []
            # A broker that has just started interprets its code.
            over_socket(program, arguments, Collector(f"kafka://{broker.address}/warm"))
            for number in range(rounds):
                timing.progress("round", number + 1)
                measured.append(once(program, arguments, broker, folder, number, accesses))
        finally:
            broker.stop()
    return timing.medians(measured)


def slowdown(rows):
    """Of the traced program, through Kafka to Spark on the same processors, over recording to /dev/shm."""
    return rows[COUNTED]["ratio"]


def missing():
    """Why this can't be measured; none: it can."""
    return None if PYTHON.exists() and os.access(PYTHON, os.X_OK) else f"{PYTHON} is not there: `make python` makes it"
