"""How well the model of time predicts what edits gain, on the pairs of programs in bench/pairs.

Each pair is a program as it was, and as an engineer changed it. Both run as plain programs, in turn, and are recorded
once. The prediction is what `report --time` says of both traces, or `whatif --time` of the first. Prints a table and a closing line.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import results
from measuring.programs import TRACKWAY, call

PAIRS = Path(__file__).parent / "pairs"
MEMORY = Path("/dev/shm")
SIDES = {"before": [], "after": ["-DAFTER"]}
# Before the options of `trackway whatif` that predict the edit, in a comment of a pair.
QUESTION = "// whatif: "
NEAR = 10  # percentage points
COLUMNS = [
    results.Column("before_ms", "before, ms", "{:.0f}"),
    results.Column("measured", "change, %", "{:+.1f}"),
    results.Column("predicted", "predicted, %", "{:+.1f}"),
    results.Column("misses", "change of L2 misses, %", "{:+.1f}"),
]


def build(source, folder, options):
    flags = ["-O2", "-g", "-pthread", *options, str(source)]
    call("clang-22", *flags, "-o", folder / "plain")
    call(TRACKWAY, "cc", *flags, "-o", folder / "traced")


def cpu_seconds(program):
    """CPU time of a run, by the kernel's account of it."""
    code = (
        "import os, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "usage = resource.getrusage(resource.RUSAGE_CHILDREN); print(usage.ru_utime + usage.ru_stime);"
        "sys.exit(done.returncode)"
    )
    return float(call(sys.executable, "-c", code, program))


def record(folder):
    output = folder / "output"
    with open(output, "wb") as stdout:
        command = [TRACKWAY, "record", "-q", "-f", "-o", folder / "trace", "--", folder / "traced"]
        subprocess.run(command, check=True, stdout=stdout)
    if output.read_text() != call(folder / "plain"):
        sys.exit(f"bench: {folder} prints something else when it is recorded")


def tables_of(report):
    return {table["name"]: table["rows"] for table in report["tables"]}


def estimate(folder, machine):
    record(folder)
    trace = folder / "trace"
    tables = tables_of(json.loads(call(TRACKWAY, "report", "-q", "--json", "--time", *machine, trace)))
    trace.unlink()
    return {"cycles": tables["time"][0]["cycles"], "misses": tables["caches"][1]["misses"]}


def estimate_without_running(folder, options, machine):
    """Of an edit that the trace of the edited program doesn't show: a question to the one before."""
    record(folder)
    trace = folder / "trace"
    report = json.loads(call(TRACKWAY, "whatif", "-q", "--json", "--time", *machine, *options, trace))
    trace.unlink()
    rows = {row["what"]: row for row in tables_of(report)["levels"]}
    side = lambda name: {"cycles": rows["estimated cycles"][name], "misses": rows["L2 misses"][name]}
    return {name: side(name) for name in SIDES}


def row_of(source, rounds, machine):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        folders = {side: Path(folder) / side for side in SIDES}
        for side, options in SIDES.items():
            folders[side].mkdir()
            build(source, folders[side], options)
        if len({call(folder / "plain") for folder in folders.values()}) > 1:
            sys.exit(f"bench: the sides of {source.name} print different results")
        nothing = Path(folder) / "nothing"
        call("clang-22", "-x", "c", "-o", nothing, "-", input="int main(void) { return 0; }")
        programs = {side: folders[side] / "plain" for side in SIDES} | {"nothing": nothing}
        times = {name: [] for name in programs}
        for _ in range(rounds):
            for name, program in programs.items():
                times[name].append(cpu_seconds(program))
        # What the system takes to start a program isn't the program's.
        measured = {side: min(times[side]) - min(times["nothing"]) for side in SIDES}
        question = next((line for line in source.read_text().splitlines() if line.startswith(QUESTION)), None)
        if question:
            options = question.removeprefix(QUESTION).split()
            estimates = estimate_without_running(folders["before"], options, machine)
        else:
            estimates = {side: estimate(folders[side], machine) for side in SIDES}
    change = lambda of: 100 * (of("after") / max(of("before"), 1e-9) - 1)
    return {
        "before_ms": 1e3 * measured["before"],
        "measured": change(lambda side: measured[side]),
        "predicted": change(lambda side: estimates[side]["cycles"]),
        "misses": change(lambda side: estimates[side]["misses"]),
    }


def ranks(values):
    """Ranks from 1, ties share their mean."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def correlation(first, second):
    """Spearman's: Pearson's of the ranks."""
    first, second = ranks(first), ranks(second)
    mean = (len(first) + 1) / 2
    product = sum((a - mean) * (b - mean) for a, b in zip(first, second, strict=True))
    norms = [sum((value - mean) ** 2 for value in values) for values in (first, second)]
    return product / (norms[0] * norms[1]) ** 0.5 if all(norms) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", help="names of pairs; all by default")
    parser.add_argument("--rounds", type=int, default=7, help="plain runs of each side; the shortest counts")
    parser.add_argument("--machine", help="as for `trackway report --time`")
    arguments = parser.parse_args()
    sources = sorted(PAIRS.glob("*.c"))
    if arguments.pairs:
        sources = [PAIRS / f"{name}.c" for name in arguments.pairs]
    machine = ["--machine", arguments.machine] if arguments.machine else []
    rows = {}
    for source in sources:
        rows[source.stem] = row_of(source, arguments.rounds, machine)
        print(source.stem, json.dumps(rows[source.stem]), file=sys.stderr)
    results.print_table("pair", COLUMNS, rows)
    within = sum(abs(row["predicted"] - row["measured"]) <= NEAR for row in rows.values())
    rank = correlation([row["predicted"] for row in rows.values()], [row["measured"] for row in rows.values()])
    print(f"time: pairs {len(rows)} within {NEAR} points {100 * within / len(rows):.0f} % rank {rank:.2f}")


if __name__ == "__main__":
    main()
