"""Filters of a query that the decoder takes over."""

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

_LARGEST = 2**64 - 1
# Spark sees larger numbers as negative ones, so that its comparisons mean something else there.
_LARGEST_OF_SPARK = 2**63 - 1
_LARGEST_NUMBER = 2**32 - 1
# Columns of accesses of which the decoder takes sets, or a range, of values.
_SETS = {"thread": "threads", "site": "sites"}
_RANGES = {"address": "addresses", "time_ns": "times_ns"}


@dataclass
class Selection:
    """A conjunction: which threads and sites (none: all), addresses and times (both ends belong to it) are wanted."""

    threads: list[int] | None = None
    sites: list[int] | None = None
    addresses: tuple[int, int] = (0, _LARGEST)
    times_ns: tuple[int, int] = (0, _LARGEST)

    def take(self, wanted: Filter) -> bool:
        """Narrows the selection by a filter; false if it can't, so that the engine must look at each row."""
        match wanted:
            case EqualTo(attribute=(column,), value=int(value)):
                return self._take_values(column, [value])
            case In(attribute=(column,), value=values) if all(isinstance(value, int) for value in values):
                return self._take_values(column, list(values))
            case GreaterThan(attribute=(column,), value=int(value)):
                return self._take_range(column, value + 1, _LARGEST_OF_SPARK)
            case GreaterThanOrEqual(attribute=(column,), value=int(value)):
                return self._take_range(column, value, _LARGEST_OF_SPARK)
            case LessThan(attribute=(column,), value=int(value)):
                return value > 0 and self._take_range(column, 0, value - 1)
            case LessThanOrEqual(attribute=(column,), value=int(value)):
                return self._take_range(column, 0, value)
        return False

    def _take_values(self, column: str, values: list[int]) -> bool:
        if column in _SETS:
            values = [value for value in values if 0 <= value <= _LARGEST_NUMBER]
            known = getattr(self, _SETS[column])
            setattr(self, _SETS[column], sorted(set(values) if known is None else set(values) & set(known)))
            return True
        return len(values) == 1 and self._take_range(column, values[0], values[0])

    def _take_range(self, column: str, first: int, last: int) -> bool:
        if column not in _RANGES or first < 0 or last < 0:
            return False
        least, most = getattr(self, _RANGES[column])
        setattr(self, _RANGES[column], (max(least, first), min(most, last)))
        return True

    def is_empty(self) -> bool:
        """Whether nothing can match, so that nothing needs to be read."""
        ranges = (self.addresses, self.times_ns)
        return self.threads == [] or self.sites == [] or any(first > last for first, last in ranges)


def push(selection: Selection, filters: Iterable[Filter]) -> Iterable[Filter]:
    """Takes over what the decoder can select; yields the filters that are left to the engine."""
    for wanted in filters:
        if not selection.take(wanted):
            yield wanted
