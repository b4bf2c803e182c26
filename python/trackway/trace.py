"""An opened trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from . import _native
from .batches import Batches
from .questions import Option, Progress, Questions, words_of

Range = tuple[int, int]
"""The first and the last number that are wanted."""


class Trace(Questions):
    """A trace; `trackway.open` makes it. Its records are decoded when something asks for them.

    Its tables (`TABLES`) are streams of Arrow batches: `accesses` and `table`. Its analyses are methods that return
    reports: `misses`, `layout`, `sharing`, ...
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = _native.open(path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._native.path

    @property
    def info(self) -> _native.TraceInfo:
        """What is known without decoding: program, host, threads, counts, clock, gaps, damage."""
        return self._native.info

    def accesses(
        self,
        *,
        columns: Sequence[str] | None = None,
        threads: Sequence[int] | None = None,
        sites: Sequence[int] | None = None,
        addresses: Range | None = None,
        times_ns: Range | None = None,
        limit: int | None = None,
        batch_rows: int | None = None,
        partition: _native.Partition | None = None,
        damage: Literal["raise", "skip"] = "raise",
    ) -> Batches:
        """Every load and store, thread by thread in program order.

        All filters must fit. What isn't asked for costs nothing: columns are not built, chunks of other threads and
        times are not decoded.

        Args:
            columns: names of columns in the wanted order; by default all but `level` and `cycles`, which caches and a
                machine are simulated for. Names of variables, functions and the like are dictionary columns, which
                cost little more than the site.
            threads: numbers of threads.
            sites: numbers of sites.
            addresses: the first and the last address.
            times_ns: the first and the last time, CLOCK_MONOTONIC nanoseconds.
            limit: rows at most, of the whole table or of the partition.
            batch_rows: how many rows a batch has at most; by default about 65,536.
            partition: only this part of the table; see `partitions`.
            damage: whether a chunk that can't be decoded raises TraceError, or is left out and listed in
                `Batches.damage`.

        Raises:
            ValueError: there is no such column.
        """
        filters = _filters(columns, threads, sites, addresses, times_ns, limit)
        return self._scan("accesses", filters, partition, batch_rows, damage)

    def table(
        self,
        name: str,
        *,
        columns: Sequence[str] | None = None,
        threads: Sequence[int] | None = None,
        sites: Sequence[int] | None = None,
        addresses: Range | None = None,
        times_ns: Range | None = None,
        limit: int | None = None,
        batch_rows: int | None = None,
        partition: _native.Partition | None = None,
        damage: Literal["raise", "skip"] = "raise",
    ) -> Batches:
        """Any table of the trace by its name, with the options of `accesses`.

        Filters on what a table has no column for don't restrict it.

        Raises:
            ValueError: there is no such table or column.
        """
        filters = _filters(columns, threads, sites, addresses, times_ns, limit)
        return self._scan(name, filters, partition, batch_rows, damage)

    def partitions(
        self,
        count: int,
        *,
        table: str = "accesses",
        threads: Sequence[int] | None = None,
        times_ns: Range | None = None,
    ) -> list[_native.Partition]:
        """Divides a table into parts of about the same work, at least one and at most `count`.

        A part is a set of chunks, can be pickled, and is read with `accesses(partition=...)`. Chunks that can't hold
        rows of these threads and times are in no part. Small tables are one part.
        """
        return _native.divide(self._native, table, _filters(None, threads, None, None, times_ns, None), count)

    def view(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        force: bool = False,
        sort: str | None = None,
        cache: str | None = None,
        source_root: str | os.PathLike[str] | None = None,
        no_source: bool = False,
        top: int | None = None,
        machine: str | os.PathLike[str] | None = None,
        look: int | str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Path:
        """Writes what the trace says as one HTML page, which needs nothing else: `trackway view`.

        Only the user can read the file (mode 0600). It is there in full or not at all. It holds text of the program's
        source files, as far as they are as they were compiled.

        Args:
            path: the file; by default the trace's name with `.html` after it.
            force: replace an existing file.
            sort: what to rank by: accesses, bytes, or misses in L1, L2, ...
            cache: caches to simulate, as for `misses`.
            source_root: a folder in which to look for source files, too.
            no_source: leave out the text of source files.
            top: rows of each table; by default 200, 0 for as many as a page shows, 2000.
            machine: whose time is estimated for the cards: a preset, or a file of `trackway calibrate`.
            look: bytes of the trace, in its middle, in which changes are looked for; by default 8M, 0 for none.
            threads: how many threads work; by default as many as there are processors.
            progress: as for the analyses. If it raises an exception, or Ctrl-C comes, no page is written.

        Returns:
            The path of the page.

        Raises:
            QuestionError: the file exists and `force` isn't set, it can't be written, or an option is wrong.
        """
        options: dict[str, Option] = {"force": force, "sort": sort, "cache": cache, "source_root": source_root}
        options |= {"no_source": no_source, "top": top, "machine": machine, "look": look, "threads": threads}
        return _native.view(self._native, path, ["--quiet", *words_of(options)], progress)

    def _scan(
        self,
        table: str,
        filters: _native.Filters,
        partition: _native.Partition | None,
        batch_rows: int | None,
        damage: Literal["raise", "skip"],
    ) -> Batches:
        if damage not in ("raise", "skip"):
            raise ValueError(f"damage={damage!r}: expected 'raise' or 'skip'")
        return Batches(_native.scan(self._native, table, filters, partition, batch_rows, damage == "skip"))

    def __repr__(self) -> str:
        return f"trackway.open({str(self.path)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.path),)


def open(path: str | os.PathLike[str]) -> Trace:
    """Opens a trace and reads all of it but the records.

    Damaged parts are left out and listed in `info.damage`.

    Raises:
        TraceError: the file can't be read, or is no trace.
    """
    return Trace(path)


def describe(table: str) -> list[tuple[str, str, str]]:
    """Name, unit and meaning of each column of a table.

    Raises:
        ValueError: there is no such table.
    """
    return _native.columns(table)


TABLES: dict[str, str] = dict(_native.tables())
"""The tables that a trace has, and what a row of each is."""


def _filters(
    columns: Sequence[str] | None,
    threads: Sequence[int] | None,
    sites: Sequence[int] | None,
    addresses: Range | None,
    times_ns: Range | None,
    limit: int | None,
) -> _native.Filters:
    return {
        "columns": None if columns is None else list(columns),
        "threads": None if threads is None else list(threads),
        "sites": None if sites is None else list(sites),
        "addresses": addresses,
        "times_ns": times_ns,
        "limit": limit,
    }
