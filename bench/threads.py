"""Many threads: what an access costs when 1 to 8 threads record at once (workloads/threads.c: equal work for each).

`plain` is the same program with as many threads, untraced. Added ns are CPU nanoseconds per access, of the program and
of the recorder; they are to be the same for any number of threads, for recording adds no lock and shares no cache line.
Runs that discard full buffers show the program's side alone; runs that write to /dev/shm show everything. With --drop
a further table shows a recorder that can't keep pace and loses buffers (--on-full=drop). Speed never makes the command
fail. docs/benchmarks.md explains the columns.
"""

import argparse
import tempfile
from pathlib import Path

from measuring import programs, results, timing
from measuring.results import Column
from measuring.targets import Figure, as_json, print_verdicts

MEMORY = Path("/dev/shm")
NAME = "threads"
COUNTS = (1, 2, 3, 4, 6, 8)
# The program's CPU time per access may grow by so much over that of one thread: what measuring it allows to claim.
FLATNESS = 1.15

COLUMNS = (
    Column("accesses_m", "M acc.", "{:.1f}"),
    Column("plain_wall_s", "plain wall s", "{:.3f}"),
    Column("plain_ns", "plain cpu ns/acc.", "{:.3f}"),
    Column("wall", "wall"),
    Column("program_cpu", "cpu prog."),
    Column("recorder_cpu", "cpu rec."),
    Column("added_ns", "added ns/acc.", "{:.3f}"),
    Column("recorder_ns", "rec. ns/acc.", "{:.3f}"),
    Column("flatness", "prog. ns / 1 thread's"),
)
MODES = ("discarding", "writing")
DROPPING = ["--on-full=drop", "--buffers=2", "--codec=zstd"]


def one_round(built, words, folder, first, drop):
    trace = folder / "trace"
    figures = {"plain": timing.timed([built["plain"], *words])}
    figures["discarding"] = timing.recorded(built["traced"], words, [])
    figures["writing"] = timing.recorded(built["traced"], words, [], trace)
    if first:
        figures["accesses"] = timing.decoded(trace)
    if drop:
        figures["dropping"] = timing.recorded(built["traced"], words, DROPPING, trace)
    trace.unlink()
    return figures


def row_of(medians, mode):
    plain, run = medians["plain"], medians[mode]
    accesses = medians["accesses"]["accesses"]
    return {
        "accesses_m": accesses / 1e6,
        "plain_wall_s": plain["wall_s"],
        "plain_ns": 1e9 * plain["cpu_s"] / accesses,
        "wall": run["wall_s"] / plain["wall_s"],
        "program_cpu": run["program_cpu_s"] / plain["cpu_s"],
        "recorder_cpu": run["recorder_cpu_s"] / plain["cpu_s"],
        "added_ns": 1e9 * (run["program_cpu_s"] - plain["cpu_s"]) / accesses,
        "recorder_ns": 1e9 * run["recorder_cpu_s"] / accesses,
        "program_ns": 1e9 * run["program_cpu_s"] / accesses,
    }


def measure(built, arguments, modes):
    """{mode: {number of threads: row}}"""
    tables = {mode: {} for mode in modes}
    details = {}
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for count in COUNTS:
            timing.progress(count, "threads")
            words = [str(arguments.operations), str(count)]
            rounds = [
                one_round(built, words, Path(folder), number == 0, arguments.drop) for number in range(arguments.rounds)
            ]
            details[count] = timing.medians(rounds)
            for mode in modes:
                tables[mode][str(count)] = row_of(details[count], mode)
    for rows in tables.values():
        add_flatness(rows)
    return tables, details


def add_flatness(rows):
    """The program's CPU time per access against that of one thread, each as a multiple of the plain program's."""
    for row in rows.values():
        row["flatness"] = row["program_cpu"] / rows["1"]["program_cpu"]


def verdicts(tables):
    figures = []
    for mode in MODES:
        worst = max(tables[mode], key=lambda count: tables[mode][count]["flatness"])
        row = tables[mode][worst]
        figures.append(Figure(f"{mode}: program's CPU ratio / one thread's, worst ({worst} threads)", row["flatness"], FLATNESS))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--operations", type=int, default=16_000_000, help="of each thread (default 16,000,000: about 0.2 s)")
    parser.add_argument("--drop", action="store_true", help="also with 2 buffers that may wait, zstd, and --on-full=drop")
    arguments = parser.parse_args()
    old = results.earlier(arguments)
    programs.build_tools()
    built = {variant: programs.workload(variant, NAME) for variant in ("plain", "traced")}
    modes = [*MODES, *(["dropping"] if arguments.drop else [])]
    tables, details = measure(built, arguments, modes)
    results.print_machine()
    for mode, rows in tables.items():
        print(f"\n{mode}")
        results.print_table("threads", COLUMNS, rows)
    if old:
        results.compare(old, "threads", COLUMNS, tables)
    print()
    print_verdicts(verdicts(tables))
    results.write("threads", arguments, tables, targets=as_json(verdicts(tables)), medians=details)
    last = str(COUNTS[-1])
    first, many = tables["discarding"]["1"], tables["discarding"][last]
    print(f"threads: {first['program_ns']:.2f} ns per access with 1, {many['program_ns']:.2f} with {last} (program's CPU, discarding)")


if __name__ == "__main__":
    main()
