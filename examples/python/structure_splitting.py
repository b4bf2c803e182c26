"""Which fields of a structure belong together, and when its memory is used: two pictures of a trace.

Run it cell by cell in an editor that knows `# %%`, or as a whole:

    build/python/bin/python examples/python/structure_splitting.py prog.trackway pictures/
"""

# %% The trace, and what is asked of it
import math
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import LinearLocator

import trackway

TRACE = Path(sys.argv[1] if len(sys.argv) > 1 else "prog.trackway")
PICTURES = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
LINE_BYTES = 64
HEAT = "YlOrRd"
BLANK = "#f2f2f2"

trace = trackway.open(TRACE)
layout = trace.layout(sort="L1")  # small programs hardly miss in L2
print(layout.answer)

# %% The structure with the most accesses: its members, and how often which were accessed together
structure = layout["structures"].to_pandas().iloc[0]
members = next(
    frame for frame in (table.to_pandas() for table in layout.all("members")) if frame["type"].iloc[0] == structure["type"]
)
affinity = pd.concat(table.to_pandas() for table in layout.all("affinity"))
affinity = affinity[affinity["type"] == structure["type"]]
names = members.loc[members["accesses"] > 0, "member"].tolist()


def affinity_matrix(pairs: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Of two fields, the share of the rarer one's accesses that have the other one nearby; nan for a field itself."""
    places = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    np.fill_diagonal(matrix, np.nan)
    for pair in pairs.itertuples():
        if pair.field in places and pair.other in places:
            one, other = places[pair.field], places[pair.other]
            matrix[one, other] = matrix[other, one] = pair.affinity
    return matrix


# %% Picture 1: the members in their cache lines, and their affinity


def draw_members(axes: Axes, members: pd.DataFrame) -> None:
    """A row for each cache line of an object; the darker a member, the more accesses it has."""
    most = max(members["accesses"].max(), 1)
    colours = plt.get_cmap(HEAT)
    for member in members.itertuples():
        heat = member.accesses / most
        row, first = divmod(int(member.offset_bytes), LINE_BYTES)
        left = int(member.size_bytes)
        named = False
        while left > 0:  # a member may reach into the next line
            width = min(left, LINE_BYTES - first)
            colour = colours(0.15 + 0.75 * heat) if member.accesses else BLANK
            axes.barh(row, width, left=first, height=0.8, color=colour, edgecolor="white", linewidth=1.5)
            if not named and width >= 4:
                label = f"{member.member}\n{member.accesses:,}" if member.accesses else member.member
                ink = "white" if heat > 0.6 else "#333333"
                axes.text(first + width / 2, row, label, ha="center", va="center", fontsize=8, color=ink)
                named = True
            left, row, first = left - width, row + 1, 0
    lines = math.ceil(int((members["offset_bytes"] + members["size_bytes"]).max()) / LINE_BYTES)
    axes.set(xlim=(0, LINE_BYTES), ylim=(lines - 0.5, -0.5), xlabel="byte of the cache line", ylabel="cache line")
    axes.set_xticks(range(0, LINE_BYTES + 1, 8))
    axes.set_yticks(range(lines))
    axes.spines[["top", "right"]].set_visible(False)


def draw_affinity(axes: Axes, matrix: np.ndarray, names: list[str]) -> None:
    """Dark squares are fields that belong on one cache line."""
    image = axes.imshow(matrix, cmap=HEAT, vmin=0, vmax=1, aspect="auto")
    axes.set_facecolor(BLANK)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    for (row, column), share in np.ndenumerate(matrix):
        if not np.isnan(share):
            ink = "white" if share > 0.75 else "#333333"
            axes.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=8, color=ink)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.figure.colorbar(image, ax=axes, label="affinity", format="{x:.0%}", shrink=0.8)


def draw_structure() -> Figure:
    lines = math.ceil(int(structure["size_bytes"]) / LINE_BYTES)
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 3 + 0.7 * lines + 0.55 * len(names)), layout="constrained",
        height_ratios=[1 + 0.7 * lines, 2 + 0.55 * len(names)],
    )  # fmt: skip
    figure.suptitle(f"struct {structure['type']}, {structure['size_bytes']} bytes: {structure['accesses']:,} accesses")
    draw_members(above, members)
    above.set_title("Members by accesses", loc="left", fontsize=10)
    draw_affinity(below, affinity_matrix(affinity, names), names)
    below.set_title("Which are accessed together", loc="left", fontsize=10)
    proposals = layout["proposals"].to_pandas() if "proposals" in layout else pd.DataFrame(columns=["type", "reason"])
    for proposal in proposals[proposals["type"] == structure["type"]].head(1).itertuples():
        figure.supxlabel(f"{proposal.change}: {proposal.reason}; {proposal.options}", fontsize=9)
    return figure


PICTURES.mkdir(parents=True, exist_ok=True)
draw_structure().savefig(PICTURES / "structure.png", dpi=120)

# %% Picture 2: which memory was accessed when
mapped = trace.map()
cells = mapped["cells"].to_pandas()
cells = cells[cells["level"] == cells["level"].min()]
owners = mapped["owners"].to_pandas().head(6)


def grid(cells: pd.DataFrame, first_ns: int) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """Accesses by address and time of one owner's cells, and the extent in milliseconds and bytes."""
    width, granule = int(cells["width_ns"].iloc[0]), int(cells["granule_bytes"].iloc[0])
    columns = ((cells["from_ns"] - first_ns) // width).astype(int)
    low = int(cells["address"].min())
    rows = ((cells["address"] - low) // granule).astype(int)
    counts = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(counts, (rows, columns), cells["reads"] + cells["writes"])
    extent = (0, counts.shape[1] * width / 1e6, counts.shape[0] * granule, 0)
    return np.ma.masked_equal(counts, 0), extent


def draw_map() -> Figure:
    shown = [name for name in owners["name"] if (cells["name"] == name).any()]
    heights = [np.log2(cells[cells["name"] == name]["address"].nunique() + 4) for name in shown]
    figure, every = plt.subplots(
        len(shown), 1, figsize=(10, 1.2 + 0.3 * sum(heights)), sharex=True, squeeze=False, layout="constrained",
        height_ratios=heights,
    )  # fmt: skip
    first_ns = int(cells["from_ns"].min())
    last_ms = float((cells["from_ns"] + cells["width_ns"]).max() - first_ns) / 1e6
    norm = LogNorm(1, max(float((cells["reads"] + cells["writes"]).max()), 2))
    for axes, name in zip(every[:, 0], shown, strict=True):
        counts, extent = grid(cells[cells["name"] == name], first_ns)
        image = axes.imshow(counts, extent=extent, aspect="auto", norm=norm, cmap=HEAT, interpolation="nearest")
        axes.set_facecolor(BLANK)
        short = name.rsplit("/", 1)[-1] if "/" in name else name
        kind = name.split(" at ")[0]
        axes.set_title(kind if short in kind else f"{kind}, {short}", loc="left", fontsize=9)
        axes.set(xlim=(0, last_ms))
        axes.yaxis.set_major_locator(LinearLocator(3))
        axes.yaxis.set_major_formatter(lambda place, _: f"{place / 1024:.3g} KiB" if place >= 1024 else f"{place:.0f} B")
        axes.spines[:].set_visible(False)
    every[-1, 0].set_xlabel("milliseconds since the first access")
    figure.colorbar(image, ax=every[:, 0], label="accesses", shrink=0.6)
    figure.suptitle(f"Memory of {Path(trace.info.program).name} over time")
    return figure


draw_map().savefig(PICTURES / "map.png", dpi=120)
print(f"{PICTURES}/structure.png and {PICTURES}/map.png")
