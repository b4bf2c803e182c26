"""What recording costs: for each single-threaded workload, ratios to the plain -O2 build, in one interleaved run.

Prints a table, the targets with their verdicts, and a closing line: geometric means over the workloads of wall time and
of CPU time (program and recorder together) with the trace on /dev/shm, and arithmetic means of the bytes per access in
the ring and in the trace. docs/benchmarks.md explains the columns. Speed never makes the command fail.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from measuring import code_size, programs, results, timing
from measuring.results import Column, geometric_mean
from measuring.targets import Figure, as_json, print_verdicts

MEMORY = Path("/dev/shm")

# Arguments for recording, and smaller ones for the comparison builds: 48 bytes for each access must fit into memory.
# Both are compared with a plain run of the same size.
SIZES = {
    "stream": ([2_000_000, 20], [2_000_000, 4]),
    "chase": ([1 << 19], [1 << 19]),
    "hash": ([800_000], [800_000]),
    "tree": ([300_000], [300_000]),
    "quicksort": ([2_000_000], [1_000_000]),
    "matrix": ([800], [300]),
    "bfs": ([150_000], [80_000]),
    "simplex": ([1100], [1010]),
    "interpreter": ([25], [22]),
    "fluid": ([20_000], [5_000]),
}
REGULAR = ("stream", "matrix")
BASELINES = ("empty_call", "record48")
# Compared with the codec in question.
OTHER_CODECS = ("lz4", "zstd")
# The comparison builds and the decoder are steadier than recording, and their runs long.
SIDE_ROUNDS = 3

COLUMNS = (
    Column("accesses_m", "M acc.", "{:.1f}"),
    Column("plain_s", "plain s", "{:.3f}"),
    Column("untraced", "untraced"),
    Column("empty_call", "empty call"),
    Column("record48", "48 B rec."),
    Column("discard", "discard"),
    Column("shm_raw", "shm raw"),
    Column("lz4", "shm lz4"),
    Column("shm", "shm"),
    Column("disk", "disk"),
    Column("program_cpu", "cpu prog."),
    Column("recorder_cpu", "cpu rec."),
    Column("recorder_share", "rec./prog."),
    Column("ring_bytes", "ring B", "{:.3f}"),
    Column("trace_bytes", "trace B", "{:.3f}"),
    Column("lz4_bytes", "lz4 B", "{:.3f}"),
    Column("zstd_bytes", "zstd B", "{:.3f}"),
    Column("decode_m_per_s", "decode M/s", "{:.0f}"),
    Column("runs_m_per_s", "runs M/s", "{:.0f}"),
    Column("text", "text"),
    Column("compile", "compile"),
)


def build(name, quick):
    built = {variant: programs.workload(variant, name) for variant in ("plain", "traced")}
    if not quick:
        built.update({baseline: programs.with_calls(baseline, name) for baseline in BASELINES})
    return built


def words(numbers):
    return [str(number) for number in numbers]


def one_round(name, built, folders, codec, side, quick):
    """Each variant once."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    arguments, comparison = (words(numbers) for numbers in SIZES[name])

    def recorded(options, trace=None):
        return timing.recorded(built["traced"], arguments, options, trace, environment)

    trace = folders["memory"] / "trace"
    figures = {
        "plain": timing.timed([built["plain"], *arguments], environment),
        "discard": recorded([]),
        "shm": recorded([f"--codec={codec}"], trace),
    }
    if side:
        figures["decode"] = timing.decoded(trace)
    if not quick:
        figures["untraced"] = timing.timed([built["traced"], *arguments], environment)
        figures["shm_raw"] = recorded(["--codec=none"], trace)
        for other in OTHER_CODECS:
            figures[other] = recorded([f"--codec={other}"], trace)
        on_disk = folders["disk"] / "trace"
        figures["disk"] = recorded([f"--codec={codec}"], on_disk)
        on_disk.unlink()
    trace.unlink()
    if side and not quick:
        figures["plain_comparison"] = timing.timed([built["plain"], *comparison], environment)
        figures["empty_call"] = timing.timed([built["empty_call"], *comparison], environment)
        figures["record48"] = record48(built["record48"], comparison, environment, folders["memory"] / "record48")
    return figures


def record48(program, arguments, environment, file):
    figures = timing.timed([program, *arguments], dict(environment, BASELINE_FILE=str(file)))
    file.unlink()
    return figures


def measure(name, built, folders, arguments):
    rounds = [
        one_round(name, built, folders, arguments.codec, number < SIDE_ROUNDS, arguments.quick)
        for number in range(arguments.rounds)
    ]
    code = {} if arguments.quick else code_size.measure(name, SIDE_ROUNDS)
    medians = timing.medians(rounds)
    return row_of(medians, code), medians | ({"code": code} if code else {})


def row_of(medians, code):
    plain, shm, decode = medians["plain"], medians["shm"], medians["decode"]
    accesses = decode["accesses"]
    row = {
        "accesses_m": accesses / 1e6,
        "plain_s": plain["wall_s"],
        "program_cpu": shm["program_cpu_s"] / plain["cpu_s"],
        "recorder_cpu": shm["recorder_cpu_s"] / plain["cpu_s"],
        "recorder_share": shm["recorder_cpu_s"] / shm["program_cpu_s"],
        "discard_program_cpu": medians["discard"]["program_cpu_s"] / plain["cpu_s"],
        "cpu": shm["cpu_s"] / plain["cpu_s"],
        "ring_bytes": decode["record_bytes"] / accesses,
        "trace_bytes": shm["trace_bytes"] / accesses,
        "decode_m_per_s": accesses / decode["decode_cpu_s"] / 1e6,
        "runs_m_per_s": accesses / decode["decode_runs_cpu_s"] / 1e6,
    }
    for variant in ("untraced", "discard", "shm_raw", "shm", "disk", *OTHER_CODECS):
        if variant in medians:
            row[variant] = medians[variant]["wall_s"] / plain["wall_s"]
    for codec in OTHER_CODECS:
        if codec in medians:
            row[f"{codec}_bytes"] = medians[codec]["trace_bytes"] / accesses
    for baseline in BASELINES:
        if baseline in medians:
            row[baseline] = medians[baseline]["wall_s"] / medians["plain_comparison"]["wall_s"]
    if code:
        row |= {"text": code["text_ratio"], "compile": code["compile_ratio"]}
    return row


def means(rows):
    """Geometric means of all but the amounts of work."""
    mean = results.mean_of(list(rows.values()))
    return {key: value for key, value in mean.items() if key not in ("accesses_m", "plain_s")}


def verdicts(rows):
    mean = means(rows)
    slowest = max(rows, key=lambda name: rows[name]["shm"])
    busiest = max(rows, key=lambda name: rows[name]["recorder_share"])
    lazy = min(rows, key=lambda name: rows[name]["decode_m_per_s"])
    return [
        Figure("wall time, geometric mean", mean["shm"], 1.5),
        Figure(f"wall time, worst ({slowest})", rows[slowest]["shm"], 3.0),
        *(Figure(f"wall time, {name}", rows[name]["shm"], 1.05) for name in REGULAR if name in rows),
        Figure("program's CPU time, geometric mean", mean["program_cpu"], 1.25),
        Figure("recorder's CPU time / program's, geometric mean", mean["recorder_share"], 1.0),
        Figure(f"recorder's CPU time / program's, worst ({busiest})", rows[busiest]["recorder_share"], 1.0),
        Figure("bytes per access in the trace, geometric mean", mean["trace_bytes"], 1.0),
        Figure("decoding, M accesses/s on one core, geometric mean", mean["decode_m_per_s"], 200, at_least=True),
        Figure(f"decoding, M accesses/s on one core, least ({lazy})", rows[lazy]["decode_m_per_s"], 200, at_least=True),
        *(
            Figure(f"decoding {name} as runs / all as events", rows[name]["runs_m_per_s"] / mean["decode_m_per_s"], 10, True)
            for name in REGULAR
            if name in rows
        ),
    ]


def closing_line(rows):
    wall, cpu = (geometric_mean([row[key] for row in rows.values()]) for key in ("shm", "cpu"))
    ring, trace = (statistics.fmean(row[key] for row in rows.values()) for key in ("ring_bytes", "trace_bytes"))
    return f"record: wall {wall:.2f}x cpu {cpu:.2f}x ring {ring:.1f} B/access disk {trace:.1f} B/access"


def show(rows, arguments, old):
    results.print_machine()
    print(
        f"Wall-clock ratios to the plain -O2 build; shm, disk, cpu and trace B are with --codec={arguments.codec}; "
        "B are bytes per access.\n"
    )
    columns = [column for column in COLUMNS if any(column.key in row for row in rows.values())]
    results.print_table("workload", columns, rows | {"geometric mean": means(rows)})
    if old:
        results.compare(old, "workload", columns, {"workloads": rows})
    print()
    print_verdicts(verdicts(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("--codec", help="of shm and disk, and of the targets (default: the recorder's)")
    parser.add_argument("--quick", action="store_true", help="only what the targets need: plain, discard, shm")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(SIZES)} (default all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(SIZES):
        parser.error(f"no workload {', '.join(sorted(unknown))} here; there are {', '.join(SIZES)}")
    old = results.earlier(arguments)
    arguments.codec = arguments.codec or programs.default_codec()
    programs.build_tools()
    names = arguments.workloads or list(SIZES)
    built = {name: build(name, arguments.quick) for name in names}
    rows, details = {}, {}
    with tempfile.TemporaryDirectory(dir=MEMORY) as memory, tempfile.TemporaryDirectory(dir=programs.OUT) as disk:
        folders = {"memory": Path(memory), "disk": Path(disk)}
        for name in names:
            timing.progress("measuring", name)
            rows[name], details[name] = measure(name, built[name], folders, arguments)
    show(rows, arguments, old)
    tables = {"workloads": rows, "means": {"geometric mean": means(rows)}}
    results.write("record", arguments, tables, codec=arguments.codec, targets=as_json(verdicts(rows)), medians=details)
    print(closing_line(rows))


if __name__ == "__main__":
    main()
