"""Answers: a sentence, warnings, and tables that every Arrow library takes as they are."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import arro3.core

from . import _native, plots

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

_HTML_ROWS = 30
"""Rows that a notebook shows of a table."""


class Table:
    """A table of an answer, immutable.

    It speaks Arrow's C data interface: `pyarrow.table(table)`, `polars.DataFrame(table)`,
    `duckdb.sql("from table")` with `table.to_pyarrow()`, and `arro3.core.Table(table)` take it without copies. Unknown
    numbers are null. The metadata of the schema and its fields hold titles and units.
    """

    def __init__(self, native: _native.NativeTable) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """Name for programs, the same as in the JSON of the command line."""
        return self._native.name

    @property
    def title(self) -> str:
        """Title for people."""
        return self._native.title

    @property
    def total_rows(self) -> int:
        """How many rows there would be without `top`."""
        return self._native.total_rows

    @property
    def ranked_by(self) -> str | None:
        """The column by which the rows are ranked, if they are."""
        return self._native.ranked_by

    @property
    def column_names(self) -> list[str]:
        """Names for programs."""
        return [name for name, _, _ in self._native.columns]

    @property
    def titles(self) -> dict[str, str]:
        """Title of each column, for people."""
        return {name: title for name, title, _ in self._native.columns}

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column: count, bytes, share (a fraction of 1), rate, text, path, ..."""
        return {name: unit for name, _, unit in self._native.columns}

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; None where something is unknown."""
        return self._native.rows()

    def to_arro3(self) -> arro3.core.Table:
        """As a table of arro3, which is always installed."""
        return arro3.core.Table.from_arrow(self)

    def to_pyarrow(self) -> pyarrow.Table:
        """As a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas, by way of pyarrow."""
        return self.to_pyarrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """As a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the table with matplotlib: a ranking as bars, miss ratios as a curve, numbers over time as lines, and a map as
        a heat map.

        Raises:
            ModuleNotFoundError: matplotlib isn't installed; `pip install 'trackway[plot]'`.
            ValueError: there is no picture of such a table, or it has no rows.
        """
        return plots.plot(self, axes)

    def __len__(self) -> int:
        return len(self._native)

    def __str__(self) -> str:
        return self._native.text(None)

    def __repr__(self) -> str:
        return f"<trackway table {self.name}: {len(self)} rows of {', '.join(self.column_names)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th title={_quoted(unit)}>{html.escape(title)}</th>" for _, title, unit in self._native.columns)
        rows = "".join(_html_row(row) for row in self.rows()[:_HTML_ROWS])
        left = len(self) - _HTML_ROWS
        more = f"<p>{left} more rows</p>" if left > 0 else ""
        return f"<h4>{html.escape(self.title)}</h4><table><tr>{head}</tr>{rows}</table>{more}"

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._native.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)


class Report:
    """What an analysis found.

    Attributes:
        answer: the finding in a sentence.
        warnings: what makes the numbers incomplete or doubtful: gaps, damage, missing instrumentation.
        tables: the tables, in the order in which the command line prints them; several may have one name.
    """

    def __init__(self, native: _native.NativeReport) -> None:
        self._native = native
        self.answer = native.answer
        self.warnings = native.warnings
        self.tables = [Table(table) for table in native.tables]

    def __getitem__(self, name: str) -> Table:
        """The first table of that name."""
        for table in self.tables:
            if table.name == name:
                return table
        names = list(dict.fromkeys(table.name for table in self.tables))
        raise KeyError(f"there is no table {name!r}; there are {', '.join(names)}")

    def all(self, name: str) -> list[Table]:
        """All tables of that name, such as the members of each structure in `Trace.layout`."""
        return [table for table in self.tables if table.name == name]

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the first table that there is a picture of, with `Table.plot`.

        Raises:
            ModuleNotFoundError: matplotlib isn't installed; `pip install 'trackway[plot]'`.
            ValueError: there is no picture of any table.
        """
        plots.require_matplotlib()
        drawn = next((table for table in self.tables if len(table) > 0 and plots.picture_of(table)), None)
        if drawn is None:
            raise ValueError("there is no picture of this report: no table is a ranking, curve, series or map with rows")
        return drawn.plot(axes)

    def __contains__(self, name: object) -> bool:
        return any(table.name == name for table in self.tables)

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __str__(self) -> str:
        return self._native.text(None)

    def __repr__(self) -> str:
        return f"<trackway report: {self.answer}>"

    def _repr_html_(self) -> str:
        warnings = "".join(f"<p><b>Warning:</b> {html.escape(warning)}</p>" for warning in self.warnings)
        tables = "".join(table._repr_html_() for table in self.tables)
        return f"<p>{html.escape(self.answer)}</p>{warnings}{tables}"


class CheckReport(Report):
    """Which budgets hold.

    Its table `budgets` has a row for each limit, broken ones first: `subject`, `measure`, `value`, `limit` (shares and
    ratios as the largest whole number that they allow), `used` (`value` ÷ `limit`), `rule`, and `holds` (`yes` or `NO`).
    Of a folder there is a table `budgets` for each trace that could be checked, and a table `traces` before them.
    """

    @classmethod
    def of(cls, report: Report) -> CheckReport:
        """The same report, with what the budgets say."""
        return cls(report._native)

    @property
    def holds(self) -> bool:
        """Whether all budgets hold. Of a folder: whether each trace could be checked, and keeps to them."""
        if "traces" in self:
            return all(row["result"] == "all hold" for row in self["traces"].rows())
        return not self.broken

    @property
    def broken(self) -> list[dict[str, Any]]:
        """Rows of `budgets` whose limit is exceeded."""
        rows = (row for table in self.all("budgets") for row in table.rows())
        return [row for row in rows if row["holds"] != "yes"]


def _quoted(text: str) -> str:
    return f'"{html.escape(text)}"'


def _html_row(row: dict[str, Any]) -> str:
    return "<tr>" + "".join(f"<td>{_html_cell(value)}</td>" for value in row.values()) + "</tr>"


def _html_cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.4g}"
        case _:
            return html.escape(str(value))
