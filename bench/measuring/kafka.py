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
from end_to_end.kafka_broker import Broker  # noqa: E402

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
# On what the others leave of the processors, as executors of a cluster take nothing from the traced program's machine.
APART = "Kafka, counted by Spark"
BESIDE = "the same, at equal priority"


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

    def __init__(self, topic, folder, is_apart):
        self.process = subprocess.Popen(
            [PYTHON, QUERY, topic, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=only_when_idle if is_apart else None,
        )
        if self.process.stdout.readline() != "ready\n":
            sys.exit("bench: Spark does not start")

    def end(self, accesses):
        """Seconds until all accesses are counted."""
        started = time.monotonic()
        self.process.stdin.write(f"{accesses}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "counted\n":
            sys.exit("bench: Spark does not count all accesses")
        lag = time.monotonic() - started
        self.process.communicate()
        return lag


def only_when_idle():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def over_socket(program, arguments, collector):
    """Seconds of a program whose recorder sends to a collector."""
    own = OUT / "own_time"
    command = [TRACKWAY, "record", "-q", "--to", collector.address, "--", MEASURE, own, program, *arguments]
    result = timing.apart(timing.timed(command), own)
    collector.end()
    return {"time_s": result["program_wall_s"]}


def accesses_of(trace):
    return int(programs.call(programs.DECODE, trace).split()[0])


def once(program, arguments, broker, folder, number, accesses):
    """All ways, one after the other."""
    trace = folder / "trace"
    rows = {"/dev/shm": {"time_s": timing.recorded(program, arguments, [], trace)["program_wall_s"]}}
    trace.unlink()
    rows["collector"] = over_socket(program, arguments, Collector(trace))
    trace.unlink()
    topic = f"kafka://{broker.address}/plain-{number}"
    rows["Kafka"] = over_socket(program, arguments, Collector(topic))
    for row, is_apart in ((APART, True), (BESIDE, False)):
        topic = f"kafka://{broker.address}/counted-{number}-{is_apart}"
        collector = Collector(topic)
        query = Query(topic, folder / f"query-{number}-{is_apart}", is_apart)
        rows[row] = over_socket(program, arguments, collector)
        rows[row]["lag_s"] = query.end(accesses)
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
    return rows[BESIDE]["ratio"]


def missing():
    """Why this can't be measured; none: it can."""
    return None if PYTHON.exists() and os.access(PYTHON, os.X_OK) else f"{PYTHON} is not there: `make python` makes it"
