"""What counting costs (`trackway cc --count` under `trackway record`), and how true its numbers are, for each workload in one
interleaved run.

Prints a table, one of the regions, the targets with their verdicts, and a closing line: geometric means of wall time, the
worst one, bytes that agree with a trace, and how near the reported bandwidths come. docs/benchmarks.md explains the
columns. Speed never makes the command fail.
"""

import argparse
import math
import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path

from measuring import accuracy, programs, results, timing
from measuring.results import Column
from measuring.targets import Figure, as_json, print_verdicts

MEMORY = Path("/dev/shm")

# The plain program takes two to three seconds: starting the recorder takes 3 to 5 ms.
SIZES = {
    "stream": [200_000, 5000],
    "chase": [900_000],
    "hash": [4_500_000],
    "tree": [2_200_000],
    "quicksort": [32_000_000],
    "matrix": [1900],
    "bfs": [1_500_000],
    "simplex": [6000],
    "interpreter": [8, 8000],
    "fluid": [160_000],
    "betweenness": [1_400_000],
    "components": [12_000_000],
    "pagerank": [1_900_000],
    "paths": [1_000_000],
    "triangles": [1_500_000],
}
# Counted entries and others of each region: what the corrected rates are made of.
TENTH = ["--sample", "1/10"]
BUDGET = ["--overhead", "0.5%"]
COUNTING = ("all", "regions", "sampled")

COLUMNS = (
    Column("plain_s", "plain s", "{:.3f}"),
    Column("again", "again", "{:.3f}"),
    Column("unrecorded", "unrecorded", "{:.3f}"),
    Column("all", "all", "{:.3f}"),
    Column("regions", "regions", "{:.3f}"),
    Column("sampled", "sampled", "{:.3f}"),
    Column("cpu_all", "cpu all", "{:.3f}"),
    Column("cpu_regions", "cpu regions", "{:.3f}"),
    Column("cpu_sampled", "cpu sampled", "{:.3f}"),
    Column("beside_ms", "beside ms", "{:.1f}"),
    Column("bytes", "bytes %", "{:.3f}"),
    Column("sampled_bytes", "sampled bytes %", "{:.1f}"),
    Column("dynamorio", "of DynamoRIO's %", "{:.2f}"),
    Column("again_accuracy", "bandw. again %", "{:.1f}"),
    Column("raw_accuracy", "bandw. raw %", "{:.1f}"),
    Column("every_accuracy", "bandw. every %", "{:.1f}"),
    Column("tenth_accuracy", "bandw. tenth %", "{:.1f}"),
)
REGION_COLUMNS = (
    Column("clock_ms", "ms", "{:.1f}"),
    Column("truth", "MB/s", "{:.0f}"),
    Column("raw", "raw MB/s", "{:.0f}"),
    Column("every", "every MB/s", "{:.0f}"),
    Column("tenth", "tenth MB/s", "{:.0f}"),
    Column("again_accuracy", "again %", "{:.1f}"),
    Column("raw_accuracy", "raw %", "{:.1f}"),
    Column("every_accuracy", "every %", "{:.1f}"),
    Column("tenth_accuracy", "tenth %", "{:.1f}"),
)


def build(name):
    return {
        "plain": programs.workload("plain", name),
        "regions": programs.counting(name),
        "all": programs.counting_everything(name),
        "traced": programs.traced_everything(name),
        "clock": programs.with_region_clock(name),
    }


def one_round(built, arguments, trace, environment):
    """Each variant once."""

    def recorded(variant, *options):
        return timing.recorded(built[variant], arguments, options, trace, environment)

    figures = {
        "plain": timing.alone(built["plain"], arguments, environment),
        "unrecorded": timing.alone(built["regions"], arguments, environment),
        "all": recorded("all"),
        "sampled": recorded("regions", *BUDGET),
    }
    figures["sampled_bytes"], _, _ = accuracy.regions(trace)
    figures["regions"] = recorded("regions")
    figures["bytes"], figures["rates_every"], figures["rates_raw"] = accuracy.regions(trace)
    figures["clock"] = accuracy.clocked(built["clock"], arguments, environment)
    recorded("regions", *TENTH)
    _, figures["rates_tenth"], _ = accuracy.regions(trace)
    trace.unlink()
    figures["clock_again"] = accuracy.clocked(built["clock"], arguments, environment)
    figures["again"] = timing.alone(built["plain"], arguments, environment)
    return figures


def measure(name, built, folder, rounds):
    """The workload's row, the rows of its regions, and the medians that they are made of."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    arguments = [str(number) for number in SIZES[name]]
    measured = [one_round(built, arguments, folder / "trace", environment) for _ in range(rounds)]
    medians = timing.medians(measured)
    regions = accuracy.bandwidths(measured)
    row = times(measured) | {
        "bytes": accuracy.bytes_agree(built["all"], built["traced"], folder, environment),
        "sampled_bytes": accuracy.agreement(Counter(medians["sampled_bytes"]), Counter(medians["bytes"])),
    }
    if accuracy.dynamorio():
        row["dynamorio"] = accuracy.share_of_dynamorio(built["traced"], built["plain"], folder, environment)
    for key in ("again_accuracy", "raw_accuracy", "every_accuracy", "tenth_accuracy"):
        if regions:
            row[key] = statistics.fmean(region[key] for region in regions.values())
    return row, {f"{name}: {region}": figures for region, figures in regions.items()}, medians


def plain(one, quantity):
    """Mean of the plain program's runs at the beginning and at the end of a round: a machine's speed drifts meanwhile."""
    return (one["plain"][quantity] + one["again"][quantity]) / 2


def times(measured):
    """Medians over the rounds of ratios in one round, since a machine's speed drifts."""

    def median(number):
        return statistics.median(map(number, measured))

    row = {
        "plain_s": median(lambda one: plain(one, "wall_s")),
        "again": median(lambda one: one["again"]["wall_s"] / one["plain"]["wall_s"]),
        "unrecorded": median(lambda one: one["unrecorded"]["wall_s"] / plain(one, "wall_s")),
        "beside_ms": 1e3 * median(lambda one: one["all"]["wall_s"] - one["all"]["program_wall_s"]),
    }
    for variant in COUNTING:
        row[variant] = median(lambda one, variant=variant: one[variant]["wall_s"] / plain(one, "wall_s"))
        row[f"cpu_{variant}"] = median(lambda one, variant=variant: one[variant]["program_cpu_s"] / plain(one, "cpu_s"))
    return row


def means(rows):
    """Geometric means of the ratios."""
    mean = results.mean_of(list(rows.values()))
    ratios = ("again", "unrecorded", *COUNTING, *(f"cpu_{variant}" for variant in COUNTING))
    return {key: mean[key] for key in ratios}


def worst(rows, key, order):
    name = order(rows, key=lambda row: rows[row][key])
    return name, rows[name][key]


def bandwidth_verdicts(regions):
    for key, what in (("every_accuracy", "every entry counted"), ("tenth_accuracy", "one in ten counted")):
        name, least = worst(regions, key, min)
        mean = statistics.fmean(region[key] for region in regions.values())
        yield Figure(f"bandwidth, {what}, mean of regions, %", mean, 97, at_least=True)
        yield Figure(f"bandwidth, {what}, least ({name}), %", least, 97, at_least=True)


def verdicts(rows, regions):
    mean = means(rows)
    slowest, most = worst(rows, "all", max)
    untrue, least = worst(rows, "bytes", min)
    figures = [
        Figure("wall time, all, geometric mean", mean["all"], 1.05),
        Figure("wall time, sampled, geometric mean", mean["sampled"], 1.01),
        Figure(f"wall time, all, worst ({slowest})", most, 1.25),
        Figure(f"bytes as in a trace, least ({untrue}), %", least, 100, at_least=True),
    ]
    return figures + (list(bandwidth_verdicts(regions)) if regions else [])


def rounded_down(percentage):
    """With one decimal place; 100.0 means all."""
    return f"{math.floor(percentage * 10) / 10:.1f} %"


def closing_line(rows, regions):
    mean = means(rows)
    wall = f"all {mean['all']:.2f}x sampled {mean['sampled']:.2f}x worst {worst(rows, 'all', max)[1]:.2f}x"
    near = rounded_down(statistics.fmean(region["tenth_accuracy"] for region in regions.values())) if regions else "-"
    return f"count: {wall} bytes {rounded_down(worst(rows, 'bytes', min)[1])} bandwidth {near}"


def show(rows, regions, old):
    results.print_machine()
    print("Wall-clock ratios to the plain -O2 build; cpu: of the program's CPU time.\n")
    columns = [column for column in COLUMNS if any(column.key in row for row in rows.values())]
    results.print_table("workload", columns, rows | {"geometric mean": means(rows)})
    if not accuracy.dynamorio():
        print("\nagainst DynamoRIO's counts: not measured: `make dynamorio` builds what that takes")
    if regions:
        print("\nBandwidth of regions, by a clock in the plain program and as reported:\n")
        results.print_table("region", REGION_COLUMNS, regions)
    if old:
        results.compare(old, "workload", columns, {"workloads": rows})
    print()
    print_verdicts(verdicts(rows, regions))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(SIZES)} (default all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(SIZES):
        parser.error(f"no workload {', '.join(sorted(unknown))} here; there are {', '.join(SIZES)}")
    old = results.earlier(arguments)
    programs.build_tools()
    names = arguments.workloads or list(SIZES)
    timing.progress("building")
    built = {name: build(name) for name in names}
    rows, regions, details = {}, {}, {}
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="trackway-bench-") as folder:
        for name in names:
            timing.progress("measuring", name)
            row, of_regions, details[name] = measure(name, built[name], Path(folder), arguments.rounds)
            rows[name] = results.measured(name, COLUMNS, row)
            regions |= of_regions
    show(rows, regions, old)
    tables = {"workloads": rows, "regions": regions, "means": {"geometric mean": means(rows)}}
    results.write("count", arguments, tables, targets=as_json(verdicts(rows, regions)), medians=details)
    print(closing_line(rows, regions))


if __name__ == "__main__":
    main()
