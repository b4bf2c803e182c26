"""How many accesses a second one core analyses: counts by site, a simulation of three cache levels with attribution, and exact
reuse distances, decoding included. Beside them cachegrind, where it is installed.

CPU time of one thread, on traces of the workloads in /dev/shm with the recorder's default codec; medians of the rounds.
docs/benchmarks.md explains the columns.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from measuring import programs, results, targets, timing
from measuring.results import Column

EXAMPLES = programs.ROOT / "target" / "release" / "examples"
CACHES = "L1=32K,8,64:L2=1M,16,64:L3=32M,16,64"
CACHEGRIND_CACHES = ("--D1=32768,8,64", "--LL=33554432,16,64")
SIZES = {
    "chase": [524288],
    "hash": [800_000],
    "tree": [300_000],
    "quicksort": [2_000_000],
    "matrix": [400],
    "bfs": [150_000],
    "simplex": [1100],
    "interpreter": [24],
    "fluid": [20_000],
}
COLUMNS = (
    Column("accesses_m", "M acc.", "{:.1f}"),
    Column("counts", "counts M/s", "{:.0f}"),
    Column("simulate", "simulate M/s", "{:.0f}"),
    Column("reuse", "reuse M/s", "{:.0f}"),
    Column("sampled", "1 % sampled M/s", "{:.0f}"),
    Column("cachegrind", "cachegrind M/s", "{:.1f}"),
)
TARGETS = {"counts": 100, "simulate": 40, "reuse": 10}


def build():
    examples = [word for name in ("analyse_trace", "reuse_speed") for word in ("--example", name)]
    command = ("cargo", "build", "--release", "--quiet", "--locked", "--workspace", *examples)
    programs.call(*command, cwd=programs.ROOT)


def analysed(trace, *arguments):
    """M accesses/s."""
    return float(programs.call(EXAMPLES / "analyse_trace", trace, *arguments).split()[0])


def one_round(trace):
    exact, _, sampled = re.findall(r"[\d.]+", programs.call(EXAMPLES / "reuse_speed", trace).splitlines()[1])[:3]
    rates = {
        "counts": analysed(trace, "none"),
        "simulate": analysed(trace, CACHES),
        "reuse": float(exact),
        "sampled": float(sampled),
    }
    return {"rates": rates}


def cachegrind(name, arguments, environment, folder):
    """Million accesses that cachegrind simulates a second of CPU time, once: two levels, and running the plain program."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *CACHEGRIND_CACHES, "--cachegrind-out-file=/dev/null"]
    log, program = folder / "log", folder / "plain"
    # Valgrind 3.19 gives up on some of what clang 19 writes.
    programs.call("strip", "--strip-debug", "-o", program, programs.workload("plain", name))
    result = timing.timed([*tool, f"--log-file={log}", program, *arguments], environment)
    accesses = re.search(r"D +refs: +([\d,]+)", log.read_text()).group(1)
    return int(accesses.replace(",", "")) / 1e6 / result["cpu_s"]


def measure(name, folder, rounds):
    trace = folder / name
    arguments = [str(size) for size in SIZES[name]]
    program = programs.workload("traced", name)
    environment = {"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    timing.recorded(program, arguments, [], trace, environment)
    row = timing.medians([one_round(trace) for _ in range(rounds)])["rates"]
    row["accesses_m"] = timing.decoded(trace)["accesses"] / 1e6
    trace.unlink()
    if shutil.which("valgrind"):
        row["cachegrind"] = cachegrind(name, arguments, environment, folder)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"default: {' '.join(SIZES)}")
    results.add_arguments(parser, rounds=3)
    arguments = parser.parse_args()
    unknown = set(arguments.workloads) - SIZES.keys()
    if unknown:
        sys.exit(f"bench: no workloads {' '.join(sorted(unknown))}; there are: {' '.join(SIZES)}")
    old = results.earlier(arguments)
    programs.build_tools()
    build()
    rows = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="trackway-bench-") as folder:
        for name in arguments.workloads or SIZES:
            timing.progress("measuring", name)
            rows[name] = measure(name, Path(folder), arguments.rounds)
    mean = results.mean_of(list(rows.values()))
    mean.pop("accesses_m")
    results.print_machine()
    print()
    results.print_table("workload", COLUMNS, rows | {"geometric mean": mean})
    figures = [
        targets.Figure(f"{key}, M accesses/s on one core, geometric mean", mean[key], limit, at_least=True)
        for key, limit in TARGETS.items()
    ]
    print()
    targets.print_verdicts(figures)
    results.write("analysis", arguments, {"analysis": rows}, targets=targets.as_json(figures))
    if old:
        results.compare(old, "workload", COLUMNS, {"analysis": rows})
    print("analysis: " + " ".join(f"{key} {mean[key]:.0f}" for key in TARGETS) + " Macc/s/core")


if __name__ == "__main__":
    main()
