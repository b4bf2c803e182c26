"""Traces of every load and store of a program: accesses as Arrow tables, and what analyses find in them.

>>> import trackway
>>> trace = trackway.open("prog.trackway")
>>> trace.info.program
'/home/me/prog'
"""

from ._native import GapInfo, TraceInfo
from .errors import QuestionError, TraceError, TrackwayError
from .trace import Trace, open

__all__ = ["GapInfo", "QuestionError", "Trace", "TraceError", "TraceInfo", "TrackwayError", "open"]
