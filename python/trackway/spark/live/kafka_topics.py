"""The two topics that `trackway collect` fills (docs/streaming.md, "Messages")."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Self

from .progress import Entry, LiveSourceError, chunk_kind_and_length

CONSUMED_AT_ONCE = 100
SILENCE_LIMIT_S = 60.0
_consumers: dict[tuple[tuple[str, str], ...], Any] = {}


class Topics:
    """Reads messages by their offsets; nothing is committed at the brokers."""

    def __init__(self, topic: str, settings: dict[str, str]) -> None:
        self.topic = topic
        self.index_topic = f"{topic}.index"
        self.settings = settings

    @classmethod
    def of_options(cls, options: dict[str, str]) -> Topics:
        """`kafka` is the address that `trackway collect` was given; options `kafka.…` go to the client library."""
        address = options["kafka"].removeprefix("kafka://").split("?")[0]
        brokers, slash, topic = address.partition("/")
        if not (brokers and slash and topic):
            raise LiveSourceError(f"option kafka is {options['kafka']!r}, but must be kafka://HOST:PORT[,HOST:PORT]/TOPIC")
        settings = {
            "bootstrap.servers": brokers,
            "group.id": "trackway",
            "enable.auto.commit": "false",
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": "20",
            # Else a second passes whenever the queue was full, and it always is where chunks come fast.
            "fetch.queue.backoff.ms": "5",
            "queued.min.messages": "100",
            "queued.max.messages.kbytes": "32768",
            "max.partition.fetch.bytes": "8388608",
            "log_level": "3",
        }
        settings |= {name.removeprefix("kafka."): text for name, text in options.items() if name.startswith("kafka.")}
        return cls(topic, settings)

    def consumer(self) -> Any:
        """One for each process: connecting takes time, and Spark's workers live on."""
        from confluent_kafka import Consumer

        key = tuple(sorted(self.settings.items()))
        if key not in _consumers:
            _consumers[key] = Consumer(self.settings)
        return _consumers[key]

    def close(self) -> None:
        """Leaves the brokers; the next question connects again."""
        consumer = _consumers.pop(tuple(sorted(self.settings.items())), None)
        if consumer is not None:
            consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def index_range(self) -> tuple[int, int]:
        """Offsets of the first entry of the index, and behind the last one."""
        from confluent_kafka import KafkaException, TopicPartition

        try:
            low, high = self.consumer().get_watermark_offsets(TopicPartition(self.index_topic, 0), timeout=30)
        except KafkaException as error:
            raise LiveSourceError(
                f"topic {self.index_topic} at {self.settings['bootstrap.servers']}: {error}; `trackway collect --kafka` "
                "creates and fills it"
            ) from error
        return int(low), int(high)

    def messages(self, topic: str, partition: int, start: int, end: int) -> Iterator[Any]:
        """Those with the offsets from `start` to before `end`, as many as there are."""
        from confluent_kafka import TopicPartition

        if start >= end:
            return
        consumer = self.consumer()
        consumer.assign([TopicPartition(topic, partition, start)])
        following = start
        heard = time.monotonic()
        while following < end:
            for message in consumer.consume(min(CONSUMED_AT_ONCE, end - following), timeout=1.0):
                self._check(message, topic, partition, following)
                heard = time.monotonic()
                if message.offset() >= end:
                    return
                following = message.offset() + 1
                yield message
            if time.monotonic() - heard > SILENCE_LIMIT_S:
                raise LiveSourceError(
                    f"topic {topic}, partition {partition}: no message came for {SILENCE_LIMIT_S:.0f} s, though offset "
                    f"{following} should be there; is the broker away?"
                )

    @staticmethod
    def _check(message: Any, topic: str, partition: int, following: int) -> None:
        if message.error() is not None:
            raise LiveSourceError(
                f"topic {topic}, partition {partition}, offset {following}: {message.error().str()}; if the messages were "
                "deleted before they were read, keep them for longer (retention.ms)"
            )

    def entries(self, start: int, end: int) -> Iterator[tuple[Entry, bytes]]:
        """Entries of the index, with what it has of the chunk: all of it, or its header."""
        for message in self.messages(self.index_topic, 0, start, end):
            value = message.value()
            headers = {name: text.decode() for name, text in message.headers() or []}
            kind, length = chunk_kind_and_length(value)
            places = tuple(
                (int(partition), int(offset))
                for partition, _, offset in (place.partition(":") for place in headers.get("places", "").split(",") if place)
            )
            yield (
                Entry(
                    trace=headers["trace"],
                    program=headers["program"],
                    position=int(headers["position"]),
                    kind=kind,
                    length=length,
                    index=message.offset(),
                    places=places,
                ),
                value,
            )

    def placed(self, entries: list[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """The chunks of entries of the same partition, each joined from its parts."""
        owners = {offset: entry for entry in entries for _, offset in entry.places}
        if not owners:
            return
        partition = entries[0].places[0][0]
        parts: list[bytes] = []
        for message in self.messages(self.topic, partition, min(owners), max(owners) + 1):
            entry = owners.get(message.offset())
            if entry is None:
                continue
            parts.append(message.value())
            if message.offset() == entry.places[-1][1]:
                yield entry, b"".join(parts)
                parts = []
