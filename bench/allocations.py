"""Calls of allocators: what a pair of malloc and free costs when it is recorded (bench/allocation_pairs.c).

The pairs are called below eight frames, in a program with frame pointers and in one without; `beside a thread` that has
allocated, too, since the clock is read more slowly then. Figures are nanoseconds for each pair: `cpu` is the CPU time of
the thread that calls, the plain program's own included, `wall` what passes, with waiting for the recorder. `discard` throws
buffers away: the program's side; `shm` writes the whole trace to /dev/shm. The target speaks of `discard`'s CPU time with
eight frames. heaptrack runs where it is installed. Speed never makes the command fail.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import programs, results, timing
from measuring.results import Column
from measuring.targets import Figure, as_json, print_verdicts

SOURCE = Path(__file__).with_name("allocation_pairs.c")
FLAGS = ("-O2", "-pthread", "-fno-optimize-sibling-calls")
WITHOUT = "discard, 8 frames, no frame pointers"
BESIDE = "discard, 8 frames, beside a thread"
COLUMNS = (Column("wall_ns", "wall ns/pair"), Column("cpu_ns", "cpu ns/pair"), Column("added_ns", "added cpu ns/pair"))
TARGET_NS = 50.0


def variants(folder):
    """{name: command, to which the program is added}"""
    record = [programs.TRACKWAY, "record", "-q", "--allocations"]
    shm = ["-f", "-o", folder / "trace"]
    commands = {
        "plain": [],
        "discard, no stack": [*record, "--frames=0", "--discard", "--"],
        "discard, 8 frames": [*record, "--discard", "--"],
        WITHOUT: [*record, "--discard", "--"],
        BESIDE: [*record, "--discard", "--"],
        "discard, 16 frames": [*record, "--frames=16", "--discard", "--"],
        "shm, 8 frames": [*record, *shm, "--"],
    }
    if shutil.which("heaptrack"):
        commands["heaptrack"] = ["heaptrack", "-o", folder / "heaptrack"]
    return commands


def figures_of(command, program, *arguments):
    words = [str(word) for word in [*command, program, *arguments]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    # heaptrack prints lines of its own.
    lines = [line.split() for line in done.stdout.splitlines()]
    numbers = next((line for line in lines if len(line) == 2 and line[0].replace(".", "").isdigit()), None)
    if done.returncode != 0 or not numbers:
        sys.exit(f"bench: status {done.returncode}: {' '.join(words)}\n{done.stderr}")
    return dict(zip(("wall_ns", "cpu_ns"), map(float, numbers), strict=True))


def build(name, flag):
    programs.OUT.mkdir(parents=True, exist_ok=True)
    program = programs.OUT / name
    programs.call("clang-22", *FLAGS, flag, SOURCE, "-o", program)
    return program


def measure(arguments):
    program = build("allocation_pairs", "-fno-omit-frame-pointer")
    without = build("allocation_pairs_without_frame_pointers", "-fomit-frame-pointer")
    rounds = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for number in range(arguments.rounds):
            timing.progress(number + 1, "round")
            for name, command in variants(Path(folder)).items():
                called = without if name == WITHOUT else program
                words = (arguments.pairs, "beside") if name == BESIDE else (arguments.pairs,)
                rounds.setdefault(name, []).append(figures_of(command, called, *words))
    rows = {}
    for name, figures in rounds.items():
        rows[name] = {key: statistics.median(figure[key] for figure in figures) for key in figures[0]}
        rows[name]["added_ns"] = rows[name]["cpu_ns"] - rows["plain"]["cpu_ns"]
    return rows


def pair_ns(rounds=3, pairs=3_000_000):
    """CPU nanoseconds of a recorded pair with eight frames."""
    program = build("allocation_pairs", "-fno-omit-frame-pointer")
    command = variants(Path("/dev/shm"))["discard, 8 frames"]
    return statistics.median(figures_of(command, program, pairs)["cpu_ns"] for _ in range(rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--pairs", type=int, default=3_000_000, help="of malloc and free in each run (default 3,000,000)")
    arguments = parser.parse_args()
    old = results.earlier(arguments)
    rows = measure(arguments)
    results.print_machine()
    results.print_table("recorded by", COLUMNS, rows)
    if old:
        results.compare(old, "recorded by", COLUMNS, {"pairs": rows})
    figures = [
        Figure("CPU ns for each pair, 8 frames, discarding", rows["discard, 8 frames"]["cpu_ns"], TARGET_NS),
        Figure("the same without frame pointers", rows[WITHOUT]["cpu_ns"], TARGET_NS),
        Figure("the same beside a thread that allocates, too", rows[BESIDE]["cpu_ns"], TARGET_NS),
    ]
    print()
    print_verdicts(figures)
    results.write("allocations", arguments, {"pairs": rows}, targets=as_json(figures))
    plain, recorded = rows["plain"]["cpu_ns"], rows["discard, 8 frames"]["cpu_ns"]
    print(f"allocations: {recorded:.1f} ns of CPU time for each pair with 8 frames, {plain:.1f} plain")


if __name__ == "__main__":
    main()
