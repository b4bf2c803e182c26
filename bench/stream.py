"""The STREAM table: what is left of the memory bandwidth while a complete trace is made, by way of recording.

Rows: no trace; a line of text and a binary record of 48 bytes for each access, by recorders of the plainest kind
(bench/baselines); Trackway with each codec. Rates are means over all rounds but the first, in MB (10^6 bytes) of the
arrays per second. `time` is the program's, `total` ends when the trace is complete and ready to be read; none needs a
conversion afterwards. Everything is written to /dev/shm. docs/benchmarks.md explains the columns.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from measuring import programs, results, stream_clock, timing
from measuring.stream_clock import COLUMNS, NAME

MEMORY = Path("/dev/shm")
# A traced access takes this much as a line of text; 48 bytes as a record. Vectorised loops access two elements at a
# time: 5 accesses an element and round. The first pass over `a` and the last are two more.
LONGEST_RECORD = 64
ACCESSES_PER_ELEMENT = 5
MEMORY_LIMIT = 8 << 30


def build():
    """The programs by row; each has the clock linked in, which is not traced."""
    folder = programs.OUT / "programs" / "clocked"
    clock = stream_clock.build_clock(folder)
    compilers = {"plain": programs.plain_compiler(NAME), "traced": programs.traced_compiler(NAME)}
    built = {
        variant: stream_clock.build(folder / variant, compiler, clock) for variant, compiler in compilers.items()
    }
    for baseline in ("text", "record48"):
        built[baseline] = programs.with_calls(baseline, NAME, "-DCLOCKED", clock)
    return built


def once(row, built, arguments, folder):
    clock, trace = folder / "clock", folder / "trace"
    environment = dict(os.environ, STREAM_CLOCK_FILE=str(clock), BASELINE_FILE=str(trace))
    words = [str(arguments.elements), str(arguments.repeat)]
    if row.startswith("trackway"):
        codec = row.split()[1].rstrip(",").replace("raw", "none")
        run = timing.recorded(built["traced"], words, [f"--codec={codec}"], trace, environment)
        time_s = run["program_wall_s"]
    else:
        program = {"no trace": "plain", "text": "text", "binary 48 B": "record48"}[row]
        run = timing.timed([built[program], *words], environment)
        time_s = run["wall_s"]
    figures = stream_clock.rates(clock, arguments.elements) | {"time_s": time_s, "total_s": run["wall_s"]}
    if trace.exists():
        figures["trace_mb"] = trace.stat().st_size / 1e6
        figures["write_mb_per_s"] = figures["trace_mb"] / figures["total_s"]
        trace.unlink()
    return {row: figures}


def check_memory(arguments):
    wanted = arguments.elements * (arguments.repeat * ACCESSES_PER_ELEMENT + 2) * LONGEST_RECORD
    free = shutil.disk_usage(MEMORY).free
    if wanted > min(MEMORY_LIMIT, free):
        sys.exit(
            f"bench: the text of {arguments.elements} elements and {arguments.repeat} rounds may need {wanted >> 20} MiB "
            f"of {MEMORY}, where {min(MEMORY_LIMIT, free) >> 20} MiB may be used; ask for fewer"
        )


def measure(rows, built, arguments):
    """Text and 48-byte records take long and vary little: they run once."""
    rounds = []
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for number in range(arguments.rounds):
            timing.progress("round", number + 1)
            this_round = {}
            for row in rows:
                if number == 0 or row not in ("text", "binary 48 B"):
                    this_round |= once(row, built, arguments, Path(folder))
            rounds.append(this_round)
    medians = timing.medians(rounds)
    stream_clock.add_shares(medians)
    return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--elements", type=int, default=5_000_000, help="of each array (default 5,000,000: 40 MB)")
    parser.add_argument("--repeat", type=int, default=4, help="rounds of the four kernels in a run, at least 2 (default 4)")
    arguments = parser.parse_args()
    if arguments.repeat < 2:
        parser.error("--repeat: the first round isn't counted; at least 2")
    old = results.earlier(arguments)
    check_memory(arguments)
    programs.build_tools()
    default = programs.default_codec()
    codecs = dict.fromkeys(["none", "lz4", "zstd", default])
    rows = ["no trace", "text", "binary 48 B"]
    names = [f"trackway {codec.replace('none', 'raw')}" for codec in codecs]
    rows += [name + (", the default" if codec == default else "") for name, codec in zip(names, codecs, strict=True)]
    medians = measure(rows, build(), arguments)
    results.print_machine()
    print(f"STREAM, 3 arrays of {arguments.elements:,} doubles, {arguments.repeat} rounds; rates in MB/s.\n")
    results.print_table("recorder", COLUMNS, medians)
    if old:
        results.compare(old, "recorder", COLUMNS, {"recorders": medians})
    results.write("stream", arguments, {"recorders": medians}, elements=arguments.elements, repeat=arguments.repeat)
    traced = next(row for row in rows if row.endswith("the default"))
    print(f"stream: {100 * medians[traced]['share']:.1f} % of the bandwidth without a trace")


if __name__ == "__main__":
    main()
