"""Rows of a trace's tables: a stream of Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import arro3.core

from . import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Batches:
    """Record batches that are decoded as they are asked for, once.

    Iterate over it, or hand it over to what speaks Arrow's C stream interface: `pyarrow.RecordBatchReader.from_stream`,
    `polars.DataFrame`, `arro3.core.RecordBatchReader.from_stream`. Batches are decoded in the thread that asks for
    them, while other threads of Python run.

    Raises:
        TraceError: a chunk can't be decoded, unless `damage="skip"` was asked for. Iteration may go on behind it.
    """

    def __init__(self, native: _native.NativeBatches) -> None:
        self._native = native

    @property
    def schema(self) -> arro3.core.Schema:
        """Columns with their types; the metadata of a field has its `meaning` and `unit`."""
        return self._native.schema

    @property
    def damage(self) -> list[str]:
        """With `damage="skip"`, a sentence for each part that was left out so far."""
        return self._native.damage

    def read_all(self) -> arro3.core.Table:
        """All that is left, as a table of arro3, which is always installed."""
        return self._native.read_all()

    def to_pyarrow(self) -> pyarrow.RecordBatchReader:
        """All that is left, as a reader of pyarrow; DuckDB and others take it."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def to_pandas(self) -> pandas.DataFrame:
        """All that is left, as a data frame of pandas, by way of pyarrow; names are categories."""
        import pyarrow

        batches = [_with_categories(batch) for batch in self.to_pyarrow()]
        return pyarrow.Table.from_batches(batches, pyarrow.schema(self.schema)).to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """All that is left, as a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def __iter__(self) -> Iterator[arro3.core.RecordBatch]:
        return self._native

    def __next__(self) -> arro3.core.RecordBatch:
        return next(self._native)

    def __repr__(self) -> str:
        return f"<trackway batches of {', '.join(self.schema.names)}>"

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)


def _with_categories(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """With each name once in a dictionary, as pandas wants it: those of the trace have one for each site."""
    import pyarrow

    arrays = [_unique(array) if pyarrow.types.is_dictionary(array.type) else array for array in batch.columns]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=batch.schema)


def _unique(array: pyarrow.DictionaryArray) -> pyarrow.DictionaryArray:
    import pyarrow
    import pyarrow.compute

    names = array.dictionary.unique().drop_null()
    numbers = pyarrow.compute.index_in(array.dictionary, names, skip_nulls=True).cast(array.indices.type)
    return pyarrow.DictionaryArray.from_arrays(numbers.take(array.indices), names)
