"""What recording in windows costs and what it finds: ratios of the program's CPU time to the plain build's, in one
interleaved run.

Each program prints the same in every run, or the suite ends with its name. docs/benchmarks.md explains the table and the
closing line.
"""

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from measuring import programs, results, timing
from measuring.real_programs import REAL
from measuring.real_runs import BUILDS, Runs, build, built_before
from measuring.results import Column

MEMORY = Path("/dev/shm")
# Runs of more than a second, by which times are measured, and short ones, of which the whole trace is stored: about 6000 chunks.
USUAL = {
    "lua": ('"$PROGRAM" "$DRIVERS/load.lua" 350000', '"$PROGRAM" "$DRIVERS/load.lua" 20000'),
    "sqlite": ('"$PROGRAM" 250000', '"$PROGRAM" 17000'),
    "bzip2": ('"$PROGRAM" -9 -k -c text text', '"$PROGRAM" -9 -c < <(head -c 1400000 text)'),
    "leveldb": ('"$PROGRAM" 280000', '"$PROGRAM" 40000'),
    "rapidjson": ('"$PROGRAM" 50000 18', '"$PROGRAM" 10000 4'),
    "oniguruma": (
        """bash -c 'cat text text > more; exec "$PROGRAM" more 40000000'""",
        '"$PROGRAM" text 600000',
    ),
}
COLUMNS = (
    Column("unrecorded", "unrecorded"),
    Column("between", "between"),
    Column("join_ms", "join ms", "{:.1f}"),
    Column("attach_ms", "attach ms", "{:.1f}"),
    Column("bursts", "bursts"),
    Column("share", "accesses %", "{:.2f}"),
    Column("points", "points"),
    Column("covered", "covered %", "{:.1f}"),
    Column("width", "width", "{:.1f}"),
)


# Chunks of 64 KiB in a burst that is chosen from a whole trace, and in each period of which it is chosen.
CHOSEN = (8, 100)
COVERAGE = programs.ROOT / "target/release/examples/burst_coverage"


def coverage(program, scratch, choices):
    """What bursts say that are chosen at random from the whole trace of a short run: how often their intervals hold its fields'
    shares of the misses, how many points wide these are in the mean, and by how many points the worst share is off."""
    runs = Runs(program, scratch)
    runs.alone("plain")
    runs.recorded(["--buffer-size", "64K"], runs.trace)
    words = [COVERAGE, runs.trace, *map(str, CHOSEN), str(choices), "last"]
    [of_misses] = json.loads(programs.call(*words))
    return {"covered": 100 * of_misses["covered"], "width": of_misses["width"], "points": of_misses["points_median"]}


def tables(verb, trace, scratch, *options):
    output = scratch / "answer.json"
    timing.timed([programs.TRACKWAY, verb, "--json", *options, trace], output=output)
    return {table["name"]: table["rows"] for table in json.loads(output.read_text())["tables"]}


def accesses_of(trace, scratch):
    return sum(row["accesses"] for row in tables("report", trace, scratch, "--top", "0", "--by", "field")["fields"])


def accesses_of_all(runs):
    """How many accesses a whole run makes: counted while it is recorded, and nothing of them is stored."""
    runs.recorded(["--start-after", "1000Gacc", "--codec", "none"], runs.trace)
    [mark] = tables("info", runs.trace, runs.scratch)["marks"]
    return int(re.fullmatch(r"nothing is kept: there were (\d+) accesses", mark["text"]).group(1))


def join_ms(trace, scratch):
    """From a window's opening to the first access of the first thread that recorded in it."""
    found = tables("info", trace, scratch)
    if not found.get("windows") or not found.get("streams"):
        sys.exit("bench: the program ended before a window of 20 ms, 100 ms after its start")
    begin = found["windows"][0]["begin_us"]
    return (min(row["first_us"] for row in found["streams"]) - begin) / 1000


def runs_as(folder):
    """The executable of a process; none if it isn't for us to know."""
    try:
        return os.readlink(folder / "exe")
    except OSError:
        return None


def process_of(executable):
    """The process that runs it; waits until there is one."""
    executable = os.path.realpath(executable)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and runs_as(folder) == executable:
                return folder.name
        time.sleep(0.01)
    sys.exit(f"bench: {executable} doesn't run")


def attach_ms(runs):
    """How much longer than its window a recorder takes that comes to the running program, stores the window, and leaves."""
    window_ms = 20
    with ThreadPoolExecutor(1) as beside:
        program = beside.submit(runs.alone, "traced")
        pid = process_of(BUILDS / "traced" / runs.program.name / "program")
        time.sleep(0.1)
        options = ["--pid", pid, "--duration", f"{window_ms}ms", "-q", "-f", "-o", runs.trace]
        wall_s = timing.timed([programs.TRACKWAY, "record", *options])["wall_s"]
        program.result()
    return 1000 * wall_s - window_ms


def cpu(figures):
    return figures.get("program_cpu_s", figures["cpu_s"])


def one_round(runs, arguments, accesses):
    plain = cpu(runs.alone("plain"))
    figures = {
        "unrecorded": cpu(runs.alone("traced")) / plain,
        "between": cpu(runs.recorded(["--paused"])) / plain,
    }
    figures["bursts"] = cpu(runs.recorded(["--bursts", arguments.bursts], runs.trace)) / plain
    figures["share"] = 100 * accesses_of(runs.trace, runs.scratch) / accesses
    runs.recorded(["--start-after", "100ms", "--duration", "20ms"], runs.trace)
    figures["join_ms"] = join_ms(runs.trace, runs.scratch)
    figures["attach_ms"] = attach_ms(runs)
    return figures


def measure(program, arguments):
    long, short = (replace(program, run=run) for run in USUAL[program.name])
    with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
        runs = Runs(long, scratch)
        runs.alone("plain")
        accesses = accesses_of_all(runs)
        rounds = [one_round(runs, arguments, accesses) for _ in range(arguments.rounds)]
        found = coverage(short, scratch, arguments.choices)
    return found | {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def closing_line(rows):
    mean = {key: results.geometric_mean(row[key] for row in rows.values()) for key in ("between", "bursts")}
    worst = {key: max(row[key] for row in rows.values()) for key in ("between", "join_ms", "attach_ms", "points")}
    return (
        f"windows: between {mean['between']:.2f}x worst {worst['between']:.2f}x join {worst['join_ms']:.1f} ms "
        f"attach {worst['attach_ms']:.1f} ms bursts {mean['bursts']:.2f}x share {worst['points']:.1f} points "
        f"covered {min(row['covered'] for row in rows.values()):.0f} %"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--bursts", default="2ms/100ms", metavar="LENGTH/EVERY", help="default: %(default)s")
    parser.add_argument(
        "--choices", type=int, default=200, metavar="N", help="of bursts from the whole traces of short runs; default: %(default)s"
    )
    parser.add_argument("--built", action="store_true", help="take the programs of an earlier run")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: {' '.join(USUAL)}")
    arguments = parser.parse_args()
    names = arguments.programs or USUAL
    chosen = [program for program in REAL if program.name in names]
    if unknown := set(names) - USUAL.keys():
        parser.error(f"no program {', '.join(sorted(unknown))} here; there are {', '.join(USUAL)}")
    programs.build_tools()
    programs.call(
        "cargo", "build", "--release", "--quiet", "--locked", "--workspace", "--example", COVERAGE.name, cwd=programs.ROOT
    )
    rows = {}
    for program in chosen:
        timing.progress("building and measuring", program.name)
        make = built_before if arguments.built else build
        for variant in ("plain", "traced"):
            make(program, variant)
        rows[program.name] = results.measured(program.name, COLUMNS, measure(program, arguments))
    results.print_machine()
    print("CPU time of the program as a ratio to the plain build's.\n")
    results.print_table("program", COLUMNS, rows)
    results.write("windows", arguments, {"programs": rows})
    print(closing_line(rows))


if __name__ == "__main__":
    main()
