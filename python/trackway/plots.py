"""Pictures of tables, by matplotlib: what a table is drawn as follows from its columns.

A table of cells of memory and time becomes a heat map, miss ratios by cache size a curve, numbers in the order of time
lines, and a ranked table bars.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .tables import Table

Rows: TypeAlias = list[dict[str, Any]]
Draw: TypeAlias = "Callable[[Table, Rows, Axes], None]"

MOST_BARS = 15
MOST_LINES = 8
"""Lines of a chart, and owners of memory in a heat map: more could not be told apart."""
_LEAST_PART = 20
"""The height of a heat map, divided by the least height of an owner."""
_NAME_CHARACTERS = 40
_MEASURES = ("count", "bytes", "share", "rate", "change")
_BAR, _GREY = "#3b6ea8", "#f2f2f2"
_HEAT = "inferno_r"


def plot(table: Table, axes: Axes | None = None) -> Axes:
    """Draws a table, into given axes or new ones.

    Raises:
        ModuleNotFoundError: matplotlib isn't installed.
        ValueError: there is no picture of such a table, or it has no rows.
    """
    require_matplotlib()
    draw = picture_of(table)
    if draw is None:
        raise ValueError(f"there is no picture of the table {table.name!r}: it is no ranking, curve, series or map")
    rows = table.rows()
    if not rows:
        raise ValueError(f"the table {table.name!r} has no rows to draw")
    if axes is None:
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    draw(table, rows, axes)
    axes.set_title(table.title, loc="left", fontsize=10)
    return axes


def require_matplotlib() -> None:
    """Says what to type if matplotlib isn't installed."""
    if importlib.util.find_spec("matplotlib") is None:
        message = "pictures need matplotlib; install it with: pip install 'trackway[plot]'"
        raise ModuleNotFoundError(message, name="matplotlib")


def picture_of(table: Table) -> Draw | None:
    """How a table is drawn; None if there is no picture of it."""
    units = table.units
    if {"address", "granule_bytes", "from_ns", "width_ns"} <= units.keys():
        return _heat_map
    if {"cache_bytes", "miss_ratio"} <= units.keys():
        return _miss_ratio_curve
    if "from_ns" in units or "from_access" in units:
        return _series
    label, measure = _label(table), _measure(table)
    # A name after the numbers names no row: such a table is a record.
    names = table.column_names
    is_ranking = label is not None and measure is not None and names.index(label) < names.index(measure)
    return _bars if is_ranking else None


def _label(table: Table) -> str | None:
    """The column that names the rows."""
    return next((name for name, unit in table.units.items() if unit in ("text", "path")), None)


def _measure(table: Table) -> str | None:
    """The number that ranks the rows, else the first one."""
    units = table.units
    if table.ranked_by and units.get(table.ranked_by) in _MEASURES:
        return table.ranked_by
    return next((name for name, unit in units.items() if unit in _MEASURES), None)


def _bars(table: Table, rows: Rows, axes: Axes) -> None:
    label, measure = _label(table), _measure(table)
    assert label is not None and measure is not None
    shown = rows[:MOST_BARS]
    places = range(len(shown))
    axes.barh(places, [row[measure] or 0 for row in shown], color=_BAR)
    axes.set_yticks(places, [_row_name(row, label) for row in shown])
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(table.titles[measure])
    axes.xaxis.set_major_formatter(_formatter(table.units[measure]))


def _row_name(row: dict[str, Any], label: str) -> str:
    """A line of a file is named by both."""
    name = str(row[label] or "(unknown)")
    if label == "file" and row.get("line"):
        name = f"{name}:{row['line']}"
    return _shortened(name)


def _shortened(name: str) -> str:
    """The ends of names say most. A dollar sign would begin a formula."""
    name = name.replace("$", r"\$")
    return name if len(name) <= _NAME_CHARACTERS else "…" + name[1 - _NAME_CHARACTERS :]


def _miss_ratio_curve(table: Table, rows: Rows, axes: Axes) -> None:
    curves: dict[str, Rows] = defaultdict(list)
    for row in rows:
        curves[str(row.get("name") or "")].append(row)
    for name, points in list(curves.items())[:MOST_LINES]:
        sizes = [point["cache_bytes"] for point in points]
        axes.step(sizes, [point["miss_ratio"] for point in points], where="post", label=_shortened(name))
    axes.set_xscale("log", base=2)
    axes.set(xlabel="cache size", ylabel=table.titles["miss_ratio"], ylim=(0, None))
    axes.xaxis.set_major_formatter(_formatter("bytes"))
    axes.yaxis.set_major_formatter(_formatter("share"))
    axes.grid(alpha=0.3)
    if len(curves) > 1:
        axes.legend(fontsize=8)


def _series(table: Table, rows: Rows, axes: Axes) -> None:
    """Lines of the numbers that share the first one's unit, for each thread where there are several."""
    time = "from_ns" if "from_ns" in table.units else "from_access"
    measures = _series_measures(table, time)
    streams: dict[Any, Rows] = defaultdict(list)
    for row in rows:
        streams[row.get("stream")].append(row)
    for stream, points in list(streams.items())[:MOST_LINES]:
        times = [point[time] / 1e6 if time == "from_ns" else point[time] for point in points]
        for measure in measures:
            thread = "" if len(streams) == 1 else f", thread {stream}"
            values = [point[measure] for point in points]
            axes.step(times, values, where="post", label=table.titles[measure] + thread)
    axes.set_xlabel("milliseconds" if time == "from_ns" else "accesses")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(_formatter(table.units[measures[0]]))
    axes.grid(alpha=0.3)
    if len(axes.get_lines()) > 1:
        axes.legend(fontsize=8)
    else:
        axes.set_ylabel(table.titles[measures[0]])


def _series_measures(table: Table, time: str) -> list[str]:
    numbers = {name: unit for name, unit in table.units.items() if unit in _MEASURES}
    for place in (time, "width_ns"):
        numbers.pop(place, None)
    if not numbers:
        raise ValueError(f"the table {table.name!r} has no numbers over time")
    # A number of bytes says more than a number of blocks.
    unit = "bytes" if "bytes" in numbers.values() else next(iter(numbers.values()))
    return [name for name, other in numbers.items() if other == unit][:MOST_LINES]


def _heat_map(table: Table, rows: Rows, axes: Axes) -> None:
    """Memory from top to bottom, owner by owner, over time. Gaps between owners are left out."""
    import numpy as np
    from matplotlib.colors import LogNorm

    finest = min(row["level"] for row in rows)
    cells = [row for row in rows if row["level"] == finest]
    owners = _largest_owners(cells)
    width, granule = cells[0]["width_ns"], cells[0]["granule_bytes"]
    first = min(cell["from_ns"] for cell in cells)
    columns = max((cell["from_ns"] - first) // width for cell in cells) + 1
    tops: dict[Any, int] = {}
    height = 0
    # A single variable would otherwise be too thin to be seen, and to have a name.
    least = sum(_granules(own, granule) for _, own in owners) // _LEAST_PART + 1
    for owner, own in owners:
        tops[owner] = height
        height += max(_granules(own, granule), least)
    counts = np.zeros((height, columns))
    for owner, own in owners:
        low = min(cell["address"] for cell in own)
        for cell in own:
            row = tops[owner] + (cell["address"] - low) // granule
            counts[row, (cell["from_ns"] - first) // width] += _accesses(cell)
    shown = np.ma.masked_equal(counts, 0)
    extent = (0, columns * width / 1e6, height, 0)
    norm = LogNorm(1, max(float(counts.max()), 2))
    image = axes.imshow(shown, aspect="auto", extent=extent, norm=norm, cmap=_HEAT, interpolation="nearest")
    axes.set_facecolor(_GREY)
    middles = [tops[owner] + max(_granules(own, granule), least) / 2 for owner, own in owners]
    axes.set_yticks(middles, [_shortened(own[0]["name"]) for _, own in owners])
    for top in list(tops.values())[1:]:
        axes.axhline(top, color="white", linewidth=1)
    axes.set_xlabel("milliseconds")
    colours = axes.figure.colorbar(image, ax=axes)
    colours.set_label(f"{' + '.join(_cell_numbers(cells[0]))} in {granule:,} bytes")


def _largest_owners(cells: Rows) -> Sequence[tuple[Any, Rows]]:
    """Owners of memory with their cells: those with the most accesses, in the order of addresses."""
    owners: dict[Any, Rows] = defaultdict(list)
    for cell in cells:
        owners[cell["process"], cell["owner"]].append(cell)
    largest = sorted(owners.items(), key=lambda item: -sum(map(_accesses, item[1])))[:MOST_LINES]
    return sorted(largest, key=lambda item: min(cell["address"] for cell in item[1]))


def _granules(cells: Rows, granule: int) -> int:
    addresses = [cell["address"] for cell in cells]
    return int((max(addresses) - min(addresses)) // granule + 1)


def _cell_numbers(cell: dict[str, Any]) -> list[str]:
    """Reads and writes, or whatever the map's measure is: the columns after the time."""
    names = list(cell)
    return names[names.index("width_ns") + 1 :]


def _accesses(cell: dict[str, Any]) -> int:
    return sum(cell[name] or 0 for name in _cell_numbers(cell))


def _formatter(unit: str) -> Any:
    from matplotlib.ticker import EngFormatter, FuncFormatter, PercentFormatter

    match unit:
        case "share":
            return PercentFormatter(1.0)
        case "bytes":
            return FuncFormatter(lambda size, _: _bytes(size))
        case _:
            return EngFormatter(sep="")


def _bytes(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"
