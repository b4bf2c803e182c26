"""Spark over programs that are running: chunks come by Kafka, or from a collector's folder. See docs/streaming.md."""

from .layouts import STREAM, layout_reports, layouts
from .progress import LiveSourceError
from .queries import access_counts, result, shared_details, shared_granules, start, stream, touched_granules

__all__ = [
    "STREAM",
    "LiveSourceError",
    "access_counts",
    "layout_reports",
    "layouts",
    "result",
    "shared_details",
    "shared_granules",
    "start",
    "stream",
    "touched_granules",
]
