"""What recording unmodified binaries costs: `trackway record --binary` beside other recorders, for workloads of one
thread built plain at -O2 and for programs of other authors, in one interleaved run.

Prints tables, one of counts, and a closing line: geometric means of wall time with the trace on /dev/shm, of the real
programs', seconds of start and end, memtrace (a rebuild of DynamoRIO's sample, bench/dynamorio) and ours at its size,
mean bytes per access, and Lackey's and drmemtrace's geometric means where they are there. docs/benchmarks.md explains
the columns. Speed never makes the command fail.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from measuring import binaries, programs, results, timing
from measuring.real_programs import REAL
from measuring.real_runs import BUILDS, Runs, built_before
from measuring.real_sources import text
from measuring.results import Column

MEMORY = Path("/dev/shm")

# Arguments for a plain run of half a second or more; for those whose traces take 4 to 32 bytes for each access, which
# must fit into memory; for Lackey, which takes long. Each is compared with a plain run of the same size.
SIZES = {
    "stream": ([2_000_000, 100], [2_000_000, 6], [200_000, 6]),
    "chase": ([300_000], [300_000], [100_000]),
    "hash": ([1_600_000], [500_000], [60_000]),
    "tree": ([900_000], [200_000], [30_000]),
    "quicksort": ([8_000_000], [1_600_000], [200_000]),
    "matrix": ([1200], [360], [150]),
    "bfs": ([500_000], [80_000], [10_000]),
    "simplex": ([2000], [1000], [300]),
    "interpreter": ([5, 4000], [5, 150], [5, 15]),
    "fluid": ([50_000], [8_000], [800]),
}
LARGE, MIDDLE, SMALL = range(3)
# clang makes a call of memcpy of STREAM's copy, which the C library does byte by byte in one instruction: four fifths
# of all accesses.
FLAGS = {"stream": ["-fno-builtin-memcpy"]}

COLUMNS = (
    Column("accesses_m", "M acc.", "{:.0f}"),
    Column("plain_s", "plain s", "{:.3f}"),
    Column("idle", "no client"),
    Column("discard", "discard"),
    Column("shm", "shm"),
    Column("columns", "columns"),
    Column("idle_cpu", "cpu no client"),
    Column("discard_cpu", "cpu discard"),
    Column("shm_cpu", "cpu shm"),
    Column("program_cpu", "cpu prog."),
    Column("recorder_cpu", "cpu rec."),
    Column("columns_cpu", "cpu columns"),
    Column("middle_plain_s", "middle plain s", "{:.3f}"),
    Column("middle_idle", "no client"),
    Column("middle_shm", "shm"),
    Column("memtrace", "memtrace"),
    Column("drmemtrace", "drmemtrace"),
    Column("middle_shm_cpu", "cpu shm"),
    Column("memtrace_cpu", "cpu memtrace"),
    Column("drmemtrace_cpu", "cpu drmemtrace"),
    Column("small_plain_s", "small plain s", "{:.3f}"),
    Column("lackey", "lackey", "{:.0f}"),
    Column("lackey_cpu", "cpu lackey", "{:.0f}"),
)
# Servers are left out: their clients' time would count.
REAL_PROGRAMS = {program.name: program for program in REAL if not program.client and program.threads == 1}
# Its run over so many bytes says what starting, and naming at the end, take.
STARTED, STARTED_ON_BYTES = "zstd", 100_000
REAL_COLUMNS = (
    Column("accesses_m", "M acc.", "{:.0f}"),
    Column("plain_s", "plain s", "{:.3f}"),
    Column("idle", "no client"),
    Column("discard", "discard"),
    Column("shm", "shm"),
    Column("program_cpu", "cpu prog."),
    Column("recorder_cpu", "cpu rec."),
    Column("ring_bytes", "ring B"),
    Column("shm_bytes", "shm B"),
)
COUNT_COLUMNS = (
    Column("accesses", "accesses", "{:,}"),
    Column("entries", "memtrace's entries", "{:,}"),
    Column("more", "ours less these", "{:+,}"),
    Column("shm_bytes", "shm B", "{:.3f}"),
    Column("columns_bytes", "columns B", "{:.3f}"),
    Column("middle_shm_bytes", "middle shm B", "{:.3f}"),
    Column("memtrace_bytes", "memtrace B", "{:.3f}"),
    Column("drmemtrace_bytes", "drmemtrace B", "{:.3f}"),
)
AMOUNTS = ("accesses_m", "plain_s", "middle_plain_s", "small_plain_s")


def program_of(name):
    if name in FLAGS:
        return programs.compiled("binary", name, programs.plain_compiler(name), *FLAGS[name])
    return programs.workload("plain", name)


def large(command, environment, trace, quick):
    """The variants of ours, at the size at which starting hardly counts."""
    figures = {
        "plain": timing.timed(command, environment),
        "shm": binaries.recorded([], command, environment, trace),
    }
    if not quick:
        figures["idle"] = binaries.idle(command, environment)
        figures["discard"] = binaries.recorded([], command, environment)
        figures["columns"] = binaries.recorded(["--codec=columns"], command, environment, trace)
    trace.unlink()
    return figures


def middle(command, environment, trace):
    """The size that fits into memory whatever the scheme."""
    figures = {
        "middle_plain": timing.timed(command, environment),
        "middle_idle": binaries.idle(command, environment),
        "middle_shm": binaries.recorded([], command, environment, trace),
        "memtrace": binaries.memtrace("binary", command, environment, trace),
    }
    if binaries.drmemtrace_home():
        figures["drmemtrace"] = binaries.drmemtrace(command, environment, trace.with_name("drmemtrace"))
    return figures


def small(command, environment):
    if not shutil.which("valgrind"):
        return {}
    return {
        "small_plain": timing.timed(command, environment),
        "lackey": binaries.lackey(command, environment),
    }


def measure(name, folder, arguments):
    """The rows of both tables, and the medians that they are made of."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    program, trace = program_of(name), folder / "trace"
    commands = [[program, *map(str, numbers)] for numbers in SIZES[name]]
    rounds = []
    for number in range(arguments.rounds):
        figures = large(commands[LARGE], environment, trace, arguments.quick)
        figures |= middle(commands[MIDDLE], environment, trace)
        if number == 0 and not arguments.quick:  # one run takes long, and varies little
            figures |= small(commands[SMALL], environment)
        rounds.append(figures)
    medians = timing.medians(rounds)
    counted = counts(commands, environment, trace)
    return ratios(medians, counted), bytes_of(medians, counted), medians


def counts(commands, environment, trace):
    """Accesses by our traces at both sizes, and by memtrace's number of entries."""
    figures = {}
    for size, before in ((LARGE, ""), (MIDDLE, "middle_")):
        binaries.recorded([], commands[size], environment, trace)
        figures[f"{before}accesses"] = binaries.accesses(trace)
        trace.unlink()
        figures[f"{before}entries"] = binaries.entries(commands[size], environment)
    return figures


def ratios(medians, counted):
    """Wall and CPU times as multiples of the plain run of the same size."""
    row = {"accesses_m": counted["accesses"] / 1e6}
    plains = {
        "plain": ("shm", "idle", "discard", "columns"),
        "middle_plain": ("middle_idle", "middle_shm", "memtrace", "drmemtrace"),
        "small_plain": ("lackey",),
    }
    for plain, variants in plains.items():
        if plain in medians:
            row[f"{plain}_s"] = medians[plain]["wall_s"]
        for variant in variants:
            if variant in medians:
                row[variant] = medians[variant]["wall_s"] / medians[plain]["wall_s"]
                row[f"{variant}_cpu"] = medians[variant]["cpu_s"] / medians[plain]["cpu_s"]
    for part in ("program_cpu", "recorder_cpu"):
        row[part] = medians["shm"][f"{part}_s"] / medians["plain"]["cpu_s"]
    return row


def bytes_of(medians, counted):
    row = {
        "accesses": counted["accesses"],
        "entries": counted["entries"],
        "more": counted["accesses"] - counted["entries"],
    }
    for variant, number in (
        ("shm", "accesses"),
        ("columns", "accesses"),
        ("middle_shm", "middle_accesses"),
        ("memtrace", "middle_entries"),
        ("drmemtrace", "middle_entries"),
    ):
        if variant in medians:
            row[f"{variant}_bytes"] = medians[variant]["trace_bytes"] / counted[number]
    return row


def measure_real(program, folder, rounds):
    """The row of a real program; each recorded run must print what the plain one prints."""
    built_before(program, "plain")
    runs, trace, measured = Runs(program, folder), folder / "trace", []
    for number in range(rounds):
        figures = {"plain": runs.alone("plain"), "idle": runs.idle(), "discard": runs.recorded_as_binary([])}
        figures["shm"] = runs.recorded_as_binary([], trace)
        if number == 0:
            decoded = timing.decoded(trace)
        trace.unlink()
        measured.append(figures)
    medians = timing.medians(measured)
    plain, shm, accesses = medians["plain"], medians["shm"], decoded["accesses"]
    row = {variant: medians[variant]["wall_s"] / plain["wall_s"] for variant in ("idle", "discard", "shm")}
    row |= {part: shm[f"{part}_s"] / plain["cpu_s"] for part in ("program_cpu", "recorder_cpu")}
    bytes_each = {"ring_bytes": decoded["record_bytes"] / accesses, "shm_bytes": shm["trace_bytes"] / accesses}
    return {"accesses_m": accesses / 1e6, "plain_s": plain["wall_s"]} | row | bytes_each, medians


def start_seconds(folder, rounds):
    """What recording adds to a program that has next to nothing to do."""
    short = folder / "short"
    with open(text(), "rb") as whole:
        short.write_bytes(whole.read(STARTED_ON_BYTES))
    program, environment = REAL_PROGRAMS[STARTED], dict(os.environ)
    built_before(program, "plain")
    command = [BUILDS / "plain" / STARTED / "program", short, 1]

    def added():
        recorded = binaries.recorded([], command, environment, folder / "trace")
        return recorded["wall_s"] - timing.timed(command, environment)["wall_s"]

    return statistics.median(added() for _ in range(rounds))


def means(rows):
    """Geometric means of all but the amounts of work."""
    return {key: value for key, value in results.mean_of(list(rows.values())).items() if key not in AMOUNTS}


def mean_bytes(counted):
    keys = [key for key in next(iter(counted.values())) if key.endswith("_bytes")]
    return {key: statistics.fmean(row[key] for row in counted.values()) for key in keys}


def closing_line(rows, counted, real, start_s):
    parts = ["binary:"]
    mean = means(rows) if rows else {}
    if rows:
        parts.append(f"wall {mean['shm']:.2f}x")
    if real:
        worst = max(row["shm"] for row in real.values())
        parts.append(f"real {means(real)['shm']:.2f}x worst {worst:.2f}x start {start_s:.2f} s")
    if rows:
        parts.append(f"memtrace {mean['memtrace']:.2f}x (ours at its size {mean['middle_shm']:.2f}x)")
    disk = [row["shm_bytes"] for row in [*counted.values(), *real.values()]]
    line = " ".join([*parts, f"disk {statistics.fmean(disk):.2f} B/access"])
    return line + "".join(f" {peer} {mean[peer]:.1f}x" for peer in ("drmemtrace", "lackey") if peer in mean)


def show(rows, counted, real, old):
    results.print_machine()
    print("Wall-clock ratios to the plain -O2 build; cpu: of CPU time, of program and recorder together. cpu prog. and cpu rec.")
    print("are the parts of cpu shm.\n")
    if real:
        results.print_table("program", REAL_COLUMNS, real | {"geometric mean": means(real)})
    if rows:
        show_workloads(rows, counted)
    if old:
        results.compare(old, "workload", COLUMNS, {"workloads": rows})
        results.compare(old, "program", REAL_COLUMNS, {"real": real})


def show_workloads(rows, counted):
    columns = [column for column in COLUMNS if any(column.key in row for row in rows.values())]
    print()
    results.print_table("workload", columns, rows | {"geometric mean": means(rows)})
    columns = [column for column in COUNT_COLUMNS if any(column.key in row for row in counted.values())]
    print("\nAccesses at the large size, and bytes per access:\n")
    results.print_table("workload", columns, counted | {"mean": mean_bytes(counted)})
    if not binaries.drmemtrace_home():
        print("\ndrmemtrace: not measured: DYNAMORIO_HOME names no release of DynamoRIO that has it")
    if not shutil.which("valgrind"):
        print("\nlackey: not measured: valgrind isn't there")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--quick", action="store_true", help="only what the closing line needs, without Lackey")
    every = [*SIZES, *REAL_PROGRAMS]
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(every)} (default all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(every):
        parser.error(f"no workload {', '.join(sorted(unknown))} here; there are {', '.join(every)}")
    if missing := binaries.what_is_missing():
        sys.exit(f"bench: {missing}")
    old = results.earlier(arguments)
    binaries.install_measured()
    rows, counted, real, details, start_s = {}, {}, {}, {}, None
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="trackway-bench-") as folder:
        for name in arguments.workloads or every:
            timing.progress("measuring", name)
            if name in SIZES:
                rows[name], counted[name], details[name] = measure(name, Path(folder), arguments)
            else:
                real[name], details[name] = measure_real(REAL_PROGRAMS[name], Path(folder), arguments.rounds)
        if real:
            start_s = start_seconds(Path(folder), arguments.rounds)
    show(rows, counted, real, old)
    tables = {"workloads": rows, "counts": counted, "real": real, "start_s": start_s}
    tables |= {"means": {"geometric mean": means(rows) if rows else {}, "real": means(real) if real else {}}}
    results.write("binary", arguments, tables, medians=details)
    print(closing_line(rows, counted, real, start_s))


if __name__ == "__main__":
    main()
