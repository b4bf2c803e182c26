"""What the tests of live queries share: a broker, a collector that feeds it, programs, and the truth by the embedded
engine."""

import functools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from trackway.spark.live.kafka_topics import Topics

from . import traces

sys.path.append(str(traces.ROOT / "tests"))
from end_to_end.support import tools  # noqa: E402
from end_to_end.support.collecting import LIMIT_S, Collector  # noqa: E402
from end_to_end.support.kafka_broker import PASSWORD, USER, Broker  # noqa: E402

SMALL_BUFFERS = ("--buffer-size", "16K", "--buffers", "16")
WRITES = ("store", "library write")  # of those that the recorded program has
RELAY = Path(__file__).parent / "relay.c"


@functools.cache
def relay() -> Path:
    """The program that is recorded."""
    program = traces.folder() / "relay"
    traces.trackway("cc", "-O1", "-g", RELAY, "-o", program, "-pthread")
    return program


def start_recorder(address: str, *arguments: object, options: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Records the program to a collector; returns when the program runs."""
    command = [traces.TRACKWAY, "record", "-q", "--to", address, *SMALL_BUFFERS, *options, "--", relay(), *arguments]
    recorder = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert recorder.stdout is not None
    line = tools.read_line(recorder.stdout)
    if line != "running\n":
        raise AssertionError(f"{line}{recorder.communicate()}")
    return recorder


def finish(recorder: subprocess.Popen[str]) -> None:
    output, said = recorder.communicate(timeout=LIMIT_S)
    if recorder.returncode != 0 or "sum" not in output:
        raise AssertionError(f"status {recorder.returncode}: {output}{said}")


def repeat_entries(broker: Broker, topic: str) -> int:
    """Writes the second half of a topic's index again, as a collector does that was killed before it could acknowledge
    it. Returns how many entries these are."""
    with Topics.of_options({"kafka": topic}) as topics:
        first, end = topics.index_range()
        messages = list(topics.messages(topics.index_topic, 0, (first + end) // 2, end))
    producer = Producer({"bootstrap.servers": broker.address})
    for message in messages:
        producer.produce(topics.index_topic, message.value(), message.key(), headers=message.headers())
    if producer.flush(LIMIT_S) > 0:
        raise AssertionError("the broker takes no messages")
    return len(messages)


def only_trace(folder: Path) -> Path:
    (trace,) = folder.glob("*.trackway")
    return trace


def accesses_by(trace: Path, grouping: str) -> dict[str, tuple[int, int]]:
    """Accesses and bytes of each name by `trackway report`."""
    answered = traces.answer("report", trace, "--by", grouping, "--cache", "none", "--top", "0")
    sums: dict[str, tuple[int, int]] = {}
    for row in answered["tables"][0]["rows"]:
        name = f"{row[grouping]} in {row['function']}" if row.get("function") else row[grouping]
        accesses, length = sums.get(name, (0, 0))
        sums[name] = (accesses + row["accesses"], length + row["bytes"])
    return sums


def member_weights(trace: Path) -> dict[str, int]:
    """Accesses of structures' members by `trackway layout`."""
    answered = traces.answer("layout", trace, "--cache", "none", "--top", "1000")
    weights: Counter[str] = Counter()
    for table in answered["tables"]:
        if table["name"] == "members":
            for row in table["rows"]:
                if row["accesses"]:
                    weights[f"{row['type']}.{row['member']}"] += row["accesses"]
    return dict(weights)


def layout_tables(trace: Path, window: int) -> dict[str, list[Any]]:
    """By name, the rows of all tables of `trackway layout` that are about structures."""
    answered = traces.answer("layout", trace, "--cache", "none", "--top", "0", "--window", str(window))
    return by_name((table["name"], table["rows"]) for table in answered["tables"] if table["name"] != "trace")


def by_name(tables: Iterable[tuple[str, list[Any]]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, rows in tables:
        found.setdefault(name, []).append(rows)
    return found


def shared_truth(trace: Path, granule_bytes: int) -> tuple[set[Any], dict[tuple[int, str], int]]:
    """Of the dumped accesses: the granules that several threads touch and some write, with their names, accesses and
    writes; and each thread's accesses to them by variable."""
    names = accesses_by(trace, "variable")
    accesses = []
    threads: dict[int, set[int]] = {}
    for line in traces.trackway("dump", "--json", trace).splitlines():
        event = json.loads(line)
        if "site" in event:
            variable = event.get("variable", "(unknown)")
            local = f"{variable} in {event['function']}"
            name = local if local in names else variable
            first = int(event["address"], 16)
            granules = range(first // granule_bytes, (first + event["size"] - 1) // granule_bytes + 1)
            accesses.append((event["stream"], name, event["kind"] in WRITES, granules))
            for granule in granules:
                threads.setdefault(granule, set()).add(event["stream"])
    found: dict[int, list[Any]] = {}
    for _, name, writes, granules in accesses:
        for granule in granules:
            if len(threads[granule]) > 1:
                of_granule = found.setdefault(granule, [set(), 0, 0])
                of_granule[0].add(name)
                of_granule[1] += 1
                of_granule[2] += writes
    shared = {
        (granule * granule_bytes, tuple(sorted(of_names)), count, writes)
        for granule, (of_names, count, writes) in found.items()
        if writes > 0
    }
    addresses = {granule // granule_bytes for granule, *_ in shared}
    details: Counter[tuple[int, str]] = Counter()
    for thread, name, _, granules in accesses:
        details[thread, name] += any(granule in addresses for granule in granules)
    return shared, {key: count for key, count in details.items() if count > 0}


__all__ = ["LIMIT_S", "PASSWORD", "USER", "Broker", "Collector"]
