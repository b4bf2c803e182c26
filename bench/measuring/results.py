"""Results as tables, as JSON, and against earlier ones."""

import json
import math
import os
import platform
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from .programs import OUT, ROOT, TRACKWAY, call
from .timing import progress

# Other work on the machine stretches every time, and not evenly.
LOAD_BEFORE = os.getloadavg()[0]


@dataclass(frozen=True)
class Column:
    """A column of a suite's table: a key of its rows, a title, and how a number is written."""

    key: str
    title: str
    form: str = "{:.2f}"

    def show(self, row):
        value = row.get(self.key)
        return "-" if value is None else self.form.format(value)


def print_table(first, columns, rows):
    """Rows: {name: {key: number}}; a row {"why": text} says why it has no numbers."""
    lines = [[first, *(column.title for column in columns)]]
    for name, row in rows.items():
        lines.append([name, row["why"]] if "why" in row else [name, *(column.show(row) for column in columns)])
    whole = [line for line in lines if len(line) == len(columns) + 1]
    widths = [max(len(line[i]) for line in whole) for i in range(len(columns) + 1)]
    widths[0] = max(widths[0], *(len(line[0]) for line in lines))
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)] if line in whole else line[1:]
        print(line[0].ljust(widths[0]), *cells, sep="  ")


def measured(name, columns, row):
    """Says what a row came to, and returns it: the table is shown when all rows are there, which a run that is cut off never sees."""
    progress(f"{name}:", ", ".join(f"{column.title} {column.show(row)}" for column in columns if column.key in row))
    return row


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(max(value, 1e-9)) for value in values))


def machine():
    with open("/proc/cpuinfo") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "clang": call("clang-22", "--version").splitlines()[0],
        "trackway": call(TRACKWAY, "-V").strip(),
        "load_before": round(LOAD_BEFORE, 2),
        "commit": call("git", "-C", ROOT, "describe", "--always", "--dirty").strip(),
    }


def add_arguments(parser, rounds):
    parser.add_argument("--rounds", type=int, default=rounds, help=f"interleaved runs of which medians are taken (default {rounds})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go (default build/bench/SUITE.json)")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="also print ratios to the figures of an earlier run")


def earlier(arguments):
    """The document of --compare, read before anything overwrites it."""
    if not arguments.compare:
        return None
    try:
        document = json.loads(arguments.compare.read_text())
        document["tables"]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"bench: {arguments.compare}: no figures of an earlier run: {error!r}")
    return document


def write(suite, arguments, tables, **more):
    """`tables`: {name: {row: {key: number}}}, what --compare compares; `more`: everything else worth keeping."""
    file = arguments.json or OUT / f"{suite}.json"
    document = {"suite": suite, "machine": machine(), "rounds": arguments.rounds, "tables": tables, **more}
    file.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\nwritten to {os.path.relpath(file)}")


def print_machine():
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    if LOAD_BEFORE > 0.5:
        print("The machine was not quiet before: the figures may be far off.")


def compare(old, first, columns, tables):
    """Prints every figure as a multiple of the earlier one, and means over the rows that both runs have."""
    for name, rows in tables.items():
        before = old["tables"].get(name, {})
        shared = {row: ratios(figures, before[row]) for row, figures in rows.items() if row in before}
        shared = {row: figures for row, figures in shared.items() if figures}
        if shared:
            shared["geometric mean"] = mean_of(list(shared.values()))
            print(f"\n{name}: as multiples of the earlier figures (commit {old['machine']['commit']})")
            print_table(first, [Column(column.key, column.title) for column in columns], shared)


def mean_of(rows):
    """Geometric means of the figures that all rows have."""
    keys = [key for key in rows[0] if all(key in row for row in rows)]
    return {key: geometric_mean([row[key] for row in rows]) for key in keys}


def ratios(new, old):
    both = (key for key in new if isinstance(new[key], (int, float)) and isinstance(old.get(key), (int, float)))
    return {key: new[key] / old[key] for key in both if old[key]}
