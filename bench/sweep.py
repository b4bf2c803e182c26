"""The buffer-size sweep: what recording costs with buffers of 1 KiB to 16 MiB, and which size the default should be.

The trace goes to /dev/shm. The full buffers that may wait for the recorder hold 4 MiB in all, whatever their size
(but are at least 2 and at most 256), so that only the size varies; --buffers fixes their number instead, and --counts
varies it, at a size of 256 KiB. `written` is the trace and `raw` the records, in 10^6 bytes per second of the program's
life. --short takes less than three minutes on a quiet machine. docs/benchmarks.md says how to read it. Speed never makes
the command fail.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

from measuring import programs, results, timing
from measuring.results import Column

MEMORY = Path("/dev/shm")
KIB = 1024
SIZES = [KIB << step for step in range(15)]
SHORT_SIZES = [KIB << step for step in (0, 2, 4, 6, 8, 10, 12, 14)]
WAITING_BYTES = 4 << 20
MOST_BUFFERS = 256
COUNTS = (2, 4, 8, 16, 32, 64, 128, 256)
SIZE_OF_COUNTS = 256 * KIB
# Those whose volume makes recording dear, and one whose volume is small.
WORKLOADS = {
    "bfs": ([150_000], [80_000]),
    "tree": ([300_000], [150_000]),
    "quicksort": ([4_000_000], [2_000_000]),
    "interpreter": ([26], [23]),
}
# A size whose mean wall ratio is within this of the best counts as good as the best.
TOLERANCE = 1.03

COLUMNS = (
    Column("buffers", "buffers", "{:.0f}"),
    Column("wall", "wall"),
    Column("program_cpu", "cpu prog."),
    Column("recorder_cpu", "cpu rec."),
    Column("written_mb_per_s", "written MB/s", "{:.1f}"),
    Column("raw_mb_per_s", "raw MB/s", "{:.1f}"),
    Column("trace_bytes", "trace B/acc.", "{:.3f}"),
    Column("ring_mb", "ring MiB", "{:.1f}"),
)


def name_of(size):
    return f"{size // KIB} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def refusal(size):
    """Why the recorder doesn't take buffers of this size; None if it does."""
    command = [programs.TRACKWAY, "record", "-q", "--discard", f"--buffer-size={size}", "--", "/bin/true"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return "not possible: " + (re.sub(r"^.*?error: |^trackway: ", "", lines[0]) if lines else f"status {done.returncode}")


def slack():
    """Bytes at a buffer's end that no record may begin in: docs/benchmarks.md."""
    abi = (programs.ROOT / "collectors" / "ring" / "abi.h").read_text()
    return int(re.search(r"#define TRACKWAY_SLACK (\d+)", abi).group(1))


def setups(arguments):
    """What is compared: {row: (size, number of buffers)}, and the rows that are not possible."""
    if arguments.counts:
        return {f"{count} x {name_of(SIZE_OF_COUNTS)}": (SIZE_OF_COUNTS, count) for count in COUNTS}, {}
    sizes = SHORT_SIZES if arguments.short else SIZES
    refused = refusals(sizes)
    fixed = arguments.buffers
    possible = {name_of(size): (size, fixed or min(MOST_BUFFERS, max(2, WAITING_BYTES // size))) for size in sizes}
    return {name: setup for name, setup in possible.items() if name not in refused}, refused


def one_round(built, words, compared, codec, folder, first):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    trace = folder / "trace"
    figures = {"plain": timing.timed([built["plain"], *words], environment)}
    for name, (size, buffers) in compared.items():
        options = [f"--codec={codec}", f"--buffer-size={size}", f"--buffers={buffers}"]
        figures[name] = timing.recorded(built["traced"], words, options, trace, environment)
        if first:
            figures[name] |= timing.decoded(trace)
        trace.unlink()
    return figures


def row_of(run, plain, size, buffers):
    return {
        "buffers": buffers,
        "wall": run["wall_s"] / plain["wall_s"],
        "program_cpu": run["program_cpu_s"] / plain["cpu_s"],
        "recorder_cpu": run["recorder_cpu_s"] / plain["cpu_s"],
        "written_mb_per_s": run["trace_bytes"] / run["wall_s"] / 1e6,
        "raw_mb_per_s": run["record_bytes"] / run["wall_s"] / 1e6,
        "trace_bytes": run["trace_bytes"] / run["accesses"],
        "ring_mb": (buffers + 1) * size / (1 << 20),
    }


def measure(name, built, compared, arguments, folder):
    words = [str(number) for number in WORKLOADS[name][arguments.short]]
    codec = arguments.codec or programs.default_codec()
    rounds = [one_round(built, words, compared, codec, folder, number == 0) for number in range(arguments.rounds)]
    medians = timing.medians(rounds)
    return {row: row_of(medians[row], medians["plain"], *setup) for row, setup in compared.items()}


def means(tables):
    """Over the workloads, row by row."""
    return {row: results.mean_of([rows[row] for rows in tables.values()]) for row in next(iter(tables.values()))}


def advice(mean):
    """The smallest row that is as good as the best: it needs least memory."""
    best = min(mean, key=lambda row: mean[row]["wall"])
    good = next(row for row in mean if mean[row]["wall"] <= TOLERANCE * mean[best]["wall"])
    return (
        f"sweep: best wall {mean[best]['wall']:.2f}x at {best}; the smallest within "
        f"{100 * (TOLERANCE - 1):.0f} % of it is {good}: {mean[good]['wall']:.2f}x, "
        f"cpu {mean[good]['program_cpu']:.2f}x + {mean[good]['recorder_cpu']:.2f}x"
    )


def refusals(sizes):
    """Rows of the sizes that can't be recorded with."""
    rows = {}
    for size in sizes:
        why = refusal(size)
        if why:
            usable = max(0, 100 * (size - slack()) // size)
            rows[name_of(size)] = {"why": f"{why} ({usable} % of such a buffer could be used)"}
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--short", action="store_true", help="every second size, smaller inputs, at most 3 rounds")
    parser.add_argument("--buffers", type=int, help="how many full buffers may wait, for every size")
    parser.add_argument("--counts", action="store_true", help="vary how many full buffers may wait instead of their size")
    parser.add_argument("--codec", help="of the trace (default: the recorder's)")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)} (default all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(WORKLOADS):
        parser.error(f"no workload {', '.join(sorted(unknown))} here; there are {', '.join(WORKLOADS)}")
    arguments.rounds = min(arguments.rounds, 3) if arguments.short else arguments.rounds
    old = results.earlier(arguments)
    programs.build_tools()
    compared, refused = setups(arguments)
    tables = {}
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for name in arguments.workloads or WORKLOADS:
            timing.progress("measuring", name)
            built = {variant: programs.workload(variant, name) for variant in ("plain", "traced")}
            tables[name] = measure(name, built, compared, arguments, Path(folder))
    mean = means(tables)
    results.print_machine()
    for name, rows in (tables | {"geometric mean": mean}).items():
        print(f"\n{name}")
        results.print_table("buffer", COLUMNS, refused | rows)
    if old:
        results.compare(old, "buffer", COLUMNS, tables)
    results.write("sweep_counts" if arguments.counts else "sweep", arguments, tables | {"geometric mean": mean}, refused=refused)
    print(advice(mean))


if __name__ == "__main__":
    main()
