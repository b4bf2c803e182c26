"""Spark over programs that are running: chunks come by Kafka, or from a collector's folder. See docs/streaming.md."""

from .progress import LiveSourceError
from .queries import access_counts, result, shared_details, shared_granules, start, stream, touched_granules
from .source import LiveDataSource

__all__ = [
    "LiveDataSource",
    "LiveSourceError",
    "access_counts",
    "result",
    "shared_details",
    "shared_granules",
    "start",
    "stream",
    "touched_granules",
]
