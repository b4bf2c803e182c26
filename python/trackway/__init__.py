"""Traces of every load and store of a program: accesses as Arrow tables, and what analyses find in them.

>>> import trackway
>>> trace = trackway.open("prog.trackway")
>>> trace.misses(by=["field"])["fields"].to_pandas()
>>> trace.accesses(columns=["variable", "address"]).to_polars()
"""

from ._native import GapInfo, LiveTrace, Partition, TraceInfo
from .analysis import Analysis, run
from .batches import Batches
from .errors import QuestionError, TraceError, TrackwayError
from .questions import check, diff
from .tables import CheckReport, Report, Table
from .trace import TABLES, Trace, describe, open

__all__ = [
    "TABLES",
    "Analysis",
    "Batches",
    "CheckReport",
    "GapInfo",
    "LiveTrace",
    "Partition",
    "QuestionError",
    "Report",
    "Table",
    "Trace",
    "TraceError",
    "TraceInfo",
    "TrackwayError",
    "check",
    "describe",
    "diff",
    "open",
    "run",
]
