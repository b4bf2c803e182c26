"""What sampling costs (`trackway record --sample`), and how near its shares of accesses come to those of complete traces.

Prints a table for each workload: CPU time at three rates, the recorder's included, as ratios to the plain program in
interleaved rounds, and beside it that of the timer's interrupts alone; wall time at 1000 Hz; what a recording costs at any
rate (calibration, names); and the errors of shares of accesses by line, against the complete traces of the pass and, where
DynamoRIO is set up, of the same machine code. The closing line has the medians of the ratios and of the first errors.
docs/benchmarks.md explains the columns. Speed never makes the command fail.
"""

import argparse
import importlib.util
import json
import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path

from measuring import accuracy, line_table, programs, results, timing
from measuring.programs import TRACKWAY, call
from measuring.results import Column
from measuring.targets import Figure, as_json, print_verdicts

MEMORY = Path("/dev/shm")
# The plain program takes about five seconds.
SIZES = {
    "chase": ["1600000"],
    "bfs": ["3000000"],
    "quicksort": ["56000000"],
    "hash": ["6000000"],
}
RATES = (250, 1000, 5000)
# Hardly any sample: what is left is what a recording costs at any rate.
RARELY = ["--sample", "10Hz", "--look-ahead", "0"]
TARGETS = {250: 1.01, 1000: 1.025, 5000: 1.10}
TARGET_WALL = 1.025
WALL_RATE = 1000
# Points, at the rate whose samples are compared.
TARGET_ERROR = 5
COMPARED_RATE = 5000
# Takes the timer's interrupts, and nothing else.
TIMER = programs.OUT / "timer_alone"

SOURCES = {path.name for path in (programs.ROOT / "workloads").iterdir()}

COLUMNS = (
    Column("plain_s", "plain s", "{:.2f}"),
    *(Column(f"hz{rate}", f"{rate} Hz", "{:.3f}") for rate in RATES),
    Column("wall", f"wall time, {WALL_RATE} Hz", "{:.3f}"),
    *(Column(f"timer{rate}", f"timer {rate} Hz", "{:.3f}") for rate in RATES),
    *(Column(f"recorder{rate}", f"recorder {rate} Hz %", "{:.2f}") for rate in RATES),
    Column("fixed_ms", "fixed ms", "{:.0f}"),
    Column("samples", "samples", "{:.0f}"),
    Column("windows", "windows", "{:.0f}"),
    Column("error", "worst line, points", "{:.1f}"),
    Column("half", "differing, %", "{:.1f}"),
    Column("same_code_error", "of the same code: worst line, points", "{:.1f}"),
    Column("same_code_half", "differing, %", "{:.1f}"),
)


def sampling(rate):
    return ["--sample", f"{rate}Hz"]


def one_round(program, arguments, trace, environment):
    """Each variant once."""
    figures = {
        "plain": timing.timed([program, *arguments], environment),
        "rarely": timing.recorded(program, arguments, RARELY, trace, environment),
    }
    for rate in RATES:
        figures[f"hz{rate}"] = timing.recorded(program, arguments, sampling(rate), trace, environment)
        figures[f"timer{rate}"] = timing.timed([TIMER, rate, program, *arguments], environment)
    return figures


def by_line(trace, verb, table, count, *options):
    report = json.loads(call(TRACKWAY, verb, "--json", "--top", "0", *options, trace))
    rows = next(found["rows"] for found in report["tables"] if found["name"] == table)
    lines = Counter()
    for row in rows:
        lines[Path(row["file"]).name, row["line"]] += row[count] or 0
    return lines


def complete(program, arguments, folder, environment, *collector):
    """Accesses by line of a complete trace."""
    trace = folder / "complete"
    call(TRACKWAY, "record", "-q", *collector, "-f", "-o", trace, "--", program, *arguments, env=environment)
    lines = by_line(trace, "report", "lines", "accesses", "--quiet", "--cache", "none", "--by", "line")
    trace.unlink()
    return own(lines)


def sampled(program, arguments, folder, environment):
    """Estimated accesses by line of a sampled run."""
    trace = folder / "sampled"
    call(TRACKWAY, "record", "-q", *sampling(COMPARED_RATE), "-f", "-o", trace, "--", program, *arguments, env=environment)
    lines = by_line(trace, "samples", "sample_lines", "access_share")
    trace.unlink()
    return own(lines)


def errors(told, truth):
    """The greatest difference of a line's share of accesses, in points, and the share that lies elsewhere, in percent."""
    differences = [
        abs(told[line] / (told.total() or 1) - truth[line] / max(1, truth.total())) for line in truth.keys() | told.keys()
    ]
    return 100 * max(differences), 50 * sum(differences)


def of_lines(told, truth):
    """What is told of the lines that the truth has. The pass knows the source's accesses; what the compiler adds, as when it
    keeps values on the stack, is known of the machine code alone."""
    return Counter({line: told[line] for line in truth})


def own(lines):
    """Of the workloads' sources: the pass's traces know nothing of libraries. One line that only one of two traces knows counts."""
    return Counter({line: count for line, count in lines.items() if line[0] in SOURCES})


def extent(trace):
    report = json.loads(call(TRACKWAY, "samples", "--json", trace))
    return next(found["rows"][0] for found in report["tables"] if found["name"] == "sampling")


def measure(name, rounds, folder):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    plain, traced = programs.workload("plain", name), programs.workload("traced", name)
    trace = folder / "trace"
    measured = [one_round(plain, SIZES[name], trace, environment) for _ in range(rounds)]
    fixed_s = statistics.median(one["rarely"]["recorder_cpu_s"] for one in measured)
    row = {"plain_s": statistics.median(one["plain"]["cpu_s"] for one in measured), "fixed_ms": 1e3 * fixed_s}
    for rate in RATES:
        key = f"hz{rate}"
        row[key] = statistics.median((one[key]["cpu_s"] - fixed_s) / one["plain"]["cpu_s"] for one in measured)
        row[f"timer{rate}"] = statistics.median(one[f"timer{rate}"]["cpu_s"] / one["plain"]["cpu_s"] for one in measured)
        row[f"recorder{rate}"] = statistics.median(
            100 * (one[key]["recorder_cpu_s"] - fixed_s) / one["plain"]["cpu_s"] for one in measured
        )
    row["wall"] = statistics.median(one[f"hz{WALL_RATE}"]["wall_s"] / one["plain"]["wall_s"] for one in measured)
    last = extent(trace)
    row |= {"samples": last["samples"], "windows": last["windows"]}
    told = sampled(plain, SIZES[name], folder, environment)
    truth = line_table.joined(complete(traced, SIZES[name], folder, environment), plain)
    row["error"], row["half"] = errors(of_lines(told, truth), truth)
    if accuracy.dynamorio():
        same_code = complete(plain, SIZES[name], folder, environment, "--binary")
        row["same_code_error"], row["same_code_half"] = errors(told, same_code)
    return row


def medians(rows):
    keys = (*(f"hz{rate}" for rate in RATES), "wall", "error")
    return {key: statistics.median(row[key] for row in rows.values()) for key in keys}


def verdicts(rows):
    of = medians(rows)
    figures = [Figure(f"CPU time at {rate} Hz, median", of[f"hz{rate}"], limit) for rate, limit in TARGETS.items()]
    figures.append(Figure(f"wall time at {WALL_RATE} Hz, median", of["wall"], TARGET_WALL))
    worst = max(row["error"] for row in rows.values())
    figures.append(Figure("greatest error of a line, any workload, points", worst, TARGET_ERROR))
    same_code = [row["same_code_error"] for row in rows.values() if "same_code_error" in row]
    if same_code:
        figures.append(Figure("greatest error of a line, same code, any workload, points", max(same_code), TARGET_ERROR))
    return figures


def pair_cost():
    """Nanoseconds that recording an allocation and its release takes, by the suite that measures it, if there is one."""
    suite = Path(__file__).with_name("allocations.py")
    if not suite.exists():
        return "-"
    specification = importlib.util.spec_from_file_location("allocations", suite)
    allocations = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(allocations)
    return f"{allocations.pair_ns():.0f} ns"


def closing_line(rows):
    of = medians(rows)
    ratios = " ".join(f"hz{rate} {of[f'hz{rate}']:.3f}x" for rate in RATES)
    return f"sample: {ratios} pair {pair_cost()} error {of['error']:.1f} points"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=3)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(SIZES)} (default all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(SIZES):
        parser.error(f"no workload {', '.join(sorted(unknown))} here; there are {', '.join(SIZES)}")
    old = results.earlier(arguments)
    programs.build_tools()
    call("clang-22", "-O2", programs.ROOT / "bench" / f"{TIMER.name}.c", "-o", TIMER)
    rows = {}
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="trackway-bench-") as folder:
        folder = Path(folder)
        for name in arguments.workloads or list(SIZES):
            timing.progress("measuring", name)
            rows[name] = measure(name, arguments.rounds, folder)
    results.print_machine()
    print("CPU time with the recorder's, less what any recording costs (fixed), as ratios to the plain -O2 build.\n")
    results.print_table("workload", COLUMNS, rows)
    if old:
        results.compare(old, "workload", COLUMNS, {"workloads": rows})
    if not accuracy.dynamorio():
        print("\nagainst the same machine code: not measured: `make dynamorio` builds what that takes")
    print()
    print_verdicts(verdicts(rows))
    results.write("sample", arguments, {"workloads": rows}, targets=as_json(verdicts(rows)))
    print(closing_line(rows))


if __name__ == "__main__":
    main()
