"""The STREAM table for unmodified binaries: what is left of the memory bandwidth while all accesses are recorded.

Rows: no trace; DynamoRIO alone; variants of memtrace (a rebuild of DynamoRIO's sample, bench/dynamorio): text, binary,
sizes of its buffer, 32-bit offsets, LZ4 in the program's thread; `trackway record --binary`, whose recorder compresses
in a process of its own. Rates are means over all rounds but the first, in MB (10^6 bytes) of the arrays per second.
`time` is that of the kernels in these rounds, `total` that of the whole command. Everything is written to /dev/shm.
docs/benchmarks.md explains the columns.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from measuring import binaries, programs, results, stream_clock, timing
from measuring.stream_clock import COLUMNS, NAME

MEMORY = Path("/dev/shm")
# A line of text. Vectorised loops take 5 accesses an element and round; the first pass over `a` and the last are less
# than one round more.
LONGEST_LINE = 48
ACCESSES_PER_ELEMENT = 5
MEMORY_LIMIT = 8 << 30

MEMTRACE = {
    "memtrace, discarded": None,
    "text": "text",
    "binary, 64 KiB": "binary buffer=65536",
    "binary, 256 KiB": "binary",
    "binary, 1 MiB": "binary buffer=1048576",
    "binary, 8 MiB": "binary buffer=8388608",
    "offsets to a base": "base",
    "offsets to the last address": "last",
    "binary, LZ4 inline": "binary lz4",
    "offsets to a base, LZ4 inline": "base lz4",
    "offsets to the last, LZ4 inline": "last lz4",
}
OURS = {
    "trackway, discarded": None,
    "trackway, raw": "none",
    "trackway, LZ4 in the recorder": "lz4",
    "trackway, columns": "columns",
    "trackway, the default": "auto",
}
# Takes long, and varies little.
ONCE = ("text",)


def build():
    """Its copy stays a loop, as STREAM's is meant to be: memcpy would do it byte by byte in one instruction."""
    folder = programs.OUT / "programs" / "binary_clocked"
    clock = stream_clock.build_clock(folder)
    return stream_clock.build(folder / "plain", programs.plain_compiler(NAME), clock, "-fno-builtin-memcpy")


def run(row, command, environment, trace):
    if row == "no trace":
        return timing.timed(command, environment)
    if row == "DynamoRIO without a client":
        return binaries.idle(command, environment)
    if row in MEMTRACE:
        words = MEMTRACE[row]
        return binaries.memtrace(words, command, environment, trace if words else None)
    codec = OURS[row]
    figures = binaries.recorded([f"--codec={codec}"] if codec else [], command, environment, trace if codec else None)
    trace.unlink(missing_ok=True)
    return figures


def once(row, program, arguments, folder):
    clock = folder / "clock"
    environment = dict(os.environ, STREAM_CLOCK_FILE=str(clock))
    command = [program, str(arguments.elements), str(arguments.repeat)]
    figures = run(row, command, environment, folder / "trace")
    seconds, _ = stream_clock.kernels_s(clock)
    result = stream_clock.rates(clock, arguments.elements)
    result |= {"time_s": sum(seconds.values()), "total_s": figures["wall_s"]}
    if "trace_bytes" in figures:
        result["trace_mb"] = figures["trace_bytes"] / 1e6
        result["write_mb_per_s"] = result["trace_mb"] / result["total_s"]
    return result


def check_memory(arguments):
    wanted = int(arguments.elements * (arguments.repeat + 1) * ACCESSES_PER_ELEMENT * LONGEST_LINE)
    free = min(MEMORY_LIMIT, shutil.disk_usage(MEMORY).free)
    if wanted > free:
        sys.exit(
            f"bench: the text of {arguments.elements} elements and {arguments.repeat} rounds may need "
            f"{wanted >> 20} MiB of {MEMORY}, where {free >> 20} MiB may be used; ask for fewer"
        )


def measure(program, arguments):
    rounds = []
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="trackway-bench-") as folder:
        for number in range(arguments.rounds):
            timing.progress("round", number + 1)
            rows = ["no trace", "DynamoRIO without a client", *MEMTRACE, *OURS]
            rows = [row for row in rows if number == 0 or row not in ONCE]
            rounds.append({row: once(row, program, arguments, Path(folder)) for row in rows})
    medians = timing.medians(rounds)
    stream_clock.add_shares(medians)
    return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--elements", type=int, default=3_000_000, help="of each array (default 3,000,000: 24 MB)")
    parser.add_argument("--repeat", type=int, default=4, help="rounds of the kernels in a run, at least 2 (default 4)")
    arguments = parser.parse_args()
    if arguments.repeat < 2:
        parser.error("--repeat: the first round isn't counted; at least 2")
    if missing := binaries.what_is_missing():
        sys.exit(f"bench: {missing}")
    old = results.earlier(arguments)
    check_memory(arguments)
    binaries.install_measured()
    medians = measure(build(), arguments)
    results.print_machine()
    print(f"STREAM, 3 arrays of {arguments.elements:,} doubles, {arguments.repeat} rounds; rates in MB/s.\n")
    results.print_table("recorder", COLUMNS, medians)
    if old:
        results.compare(old, "recorder", COLUMNS, {"recorders": medians})
    sizes = {"elements": arguments.elements, "repeat": arguments.repeat}
    results.write("binary_stream", arguments, {"recorders": medians}, **sizes)
    ours, theirs = (100 * medians[row]["share"] for row in ("trackway, the default", "binary, 256 KiB"))
    print(f"binary_stream: {ours:.1f} % of the bandwidth without a trace, memtrace {theirs:.1f} %")


if __name__ == "__main__":
    main()
