"""How well the model of time predicts what edits gain, on the pairs of programs in bench/pairs.

Each pair is a program as it was, and as an engineer changed it. Both run as plain programs, in turn, and are recorded
once. The prediction is what `report --time` says of both traces, or `whatif --time` of the first. Prints a table and a closing line.
With --keep, traces and measured times stay; --from predicts anew from them, so that a change of the model is judged by the same data.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measuring import results
from measuring.programs import TRACKWAY, call

PAIRS = Path(__file__).parent / "pairs"
MEMORY = Path("/dev/shm")
SIDES = {"before": [], "after": ["-DAFTER"]}
# Before the options of `trackway whatif` that predict the edit, in a comment of a pair.
QUESTION = re.compile(r"^// whatif: (.*)$", re.M)
NEAR = 10  # percentage points
COLUMNS = [
    results.Column("before_ms", "before, ms", "{:.0f}"),
    results.Column("after_ms", "after, ms", "{:.0f}"),
    results.Column("predicted_before_ms", "predicted", "{:.0f}"),
    results.Column("predicted_after_ms", "predicted", "{:.0f}"),
    results.Column("measured", "change, %", "{:+.1f}"),
    results.Column("predicted", "predicted, %", "{:+.1f}"),
    results.Column("misses", "change of L2 misses, %", "{:+.1f}"),
]
# In the folder of a run that is kept: the machine's figures, and in each pair's folder the measured times.
MACHINE = "machine.toml"
MEASURED = "measured.json"


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


def measure(source, folder, rounds):
    """Builds, times and records both sides of a pair, into this folder."""
    folders = {side: folder / side for side in SIDES}
    for side, options in SIDES.items():
        folders[side].mkdir(parents=True)
        build(source, folders[side], options)
    if len({call(of_side / "plain") for of_side in folders.values()}) > 1:
        sys.exit(f"bench: the sides of {source.name} print different results")
    nothing = folder / "nothing"
    call("clang-22", "-x", "c", "-o", nothing, "-", input="int main(void) { return 0; }")
    programs = {side: folders[side] / "plain" for side in SIDES} | {"nothing": nothing}
    times = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            times[name].append(cpu_seconds(program))
    question = QUESTION.search(source.read_text())
    for side in ["before"] if question else SIDES:
        record(folders[side])
    # What the system takes to start a program isn't the program's.
    measured = {side: min(times[side]) - min(times["nothing"]) for side in SIDES}
    document = {"seconds": measured, "times": times, "whatif": question and question[1].split()}
    (folder / MEASURED).write_text(json.dumps(document) + "\n")


def tables_of(report):
    return {table["name"]: table["rows"] for table in report["tables"]}


def estimate(trace, machine):
    tables = tables_of(json.loads(call(TRACKWAY, "report", "-q", "--fresh", "--json", "--time", "--machine", machine, trace)))
    time = tables["time"][0]
    return {"ms": time["nanoseconds"] / 1e6, "misses": tables["caches"][1]["misses"]}


def estimate_without_running(trace, options, machine):
    """Of an edit that the trace of the edited program doesn't show: a question to the one before."""
    command = [TRACKWAY, "whatif", "-q", "--fresh", "--json", "--time", "--machine", machine, *options, trace]
    rows = {row["what"]: row for row in tables_of(json.loads(call(*command)))["levels"]}
    cycles_per_ms = 1e6 * tomllib.loads(machine.read_text())["ghz"]
    side = lambda name: {"ms": rows["estimated cycles"][name] / cycles_per_ms, "misses": rows["L2 misses"][name]}
    return {name: side(name) for name in SIDES}


def predict(folder, machine):
    """The row of a pair that was measured into this folder."""
    document = json.loads((folder / MEASURED).read_text())
    if document["whatif"]:
        estimates = estimate_without_running(folder / "before" / "trace", document["whatif"], machine)
    else:
        estimates = {side: estimate(folder / side / "trace", machine) for side in SIDES}
    seconds = document["seconds"]
    change = lambda of: 100 * (of("after") / max(of("before"), 1e-9) - 1)
    return {
        **{f"{side}_ms": 1e3 * seconds[side] for side in SIDES},
        **{f"predicted_{side}_ms": estimates[side]["ms"] for side in SIDES},
        "measured": change(lambda side: seconds[side]),
        "predicted": change(lambda side: estimates[side]["ms"]),
        "misses": change(lambda side: estimates[side]["misses"]),
    }


def machine_file(chosen, kept):
    """Writes the figures of a machine to a file: of one that has a name or a file, or of this one."""
    if chosen and Path(chosen).is_file():
        shutil.copyfile(chosen, kept)
    else:
        call(TRACKWAY, "calibrate", "-q", *(["--preset", chosen] if chosen else []), "--output", kept)
    return kept


def rows_of_new_run(arguments, folder):
    """Measures and predicts pair by pair. Without --keep, a pair's traces go before those of the next one come."""
    machine = machine_file(arguments.machine, folder / MACHINE)
    for name in arguments.pairs or sorted(source.stem for source in PAIRS.glob("*.c")):
        measure(PAIRS / f"{name}.c", folder / name, arguments.rounds)
        yield name, predict(folder / name, machine)
        if not arguments.keep:
            shutil.rmtree(folder / name)


def rows_of_kept_run(arguments, folder):
    """Predicts as many pairs at once as there are processors: nothing is timed. Without --machine by the figures of the run."""
    machine = arguments.source / MACHINE
    if arguments.machine:
        machine = machine_file(arguments.machine, folder / MACHINE)
    names = arguments.pairs or sorted(file.parent.name for file in arguments.source.glob(f"*/{MEASURED}"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(names, pool.map(lambda name: predict(arguments.source / name, machine), names), strict=True)


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


def closing_line(rows):
    measured, predicted = ([row[key] for row in rows] for key in ("measured", "predicted"))
    within = sum(abs(a - b) <= NEAR for a, b in zip(measured, predicted, strict=True))
    rank = correlation(predicted, measured)
    return f"time: pairs {len(rows)} within {NEAR} points {100 * within / len(rows):.0f} % rank {rank:.2f}"


def arguments_of_call():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", help="names of pairs; all by default")
    parser.add_argument("--rounds", type=int, default=7, help="plain runs of each side; the shortest counts")
    parser.add_argument("--machine", help="as for `trackway report --time`")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--keep", type=Path, metavar="FOLDER", help="a new folder for programs, traces and measured times")
    group.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="the folder of an earlier --keep")
    arguments = parser.parse_args()
    if arguments.source and not (arguments.source / MACHINE).is_file():
        parser.error(f"{arguments.source} has no run that was kept")
    if arguments.keep and arguments.keep.exists():
        parser.error(f"{arguments.keep} exists already")
    return arguments


def main():
    arguments = arguments_of_call()
    with tempfile.TemporaryDirectory(dir=MEMORY) as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = {}
        for name, row in (rows_of_kept_run if arguments.source else rows_of_new_run)(arguments, folder):
            rows[name] = row
            print(name, json.dumps(row), file=sys.stderr)
        results.print_table("pair", COLUMNS, rows)
        if arguments.keep:
            kept_bytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            print(f"{folder} takes {kept_bytes / 1e9:.1f} GB; predict anew with --from {folder}")
    print(closing_line(list(rows.values())))


if __name__ == "__main__":
    main()
