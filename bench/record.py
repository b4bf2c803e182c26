"""What recording costs: for each single-threaded workload, ratios to the plain -O2 build, in one interleaved run.

Prints a table, writes build/bench/record.json, and ends with one line: geometric means over the workloads of wall
time and of CPU time (program and recorder together) with the trace on /dev/shm (lz4), and arithmetic means of the
bytes per access before and after compression.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
OUT = BUILD / "bench"
TRACKWAY = BUILD / "bin" / "trackway"
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
BASELINES = ("empty_call", "record48")
RECORDED = {
    "discard": ["--discard"],
    "shm_raw": ["--codec=none"],
    "shm_lz4": ["--codec=lz4"],
    "disk_lz4": ["--codec=lz4"],
}


def call(*command, **settings):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, **settings)
    if done.returncode != 0:
        sys.exit(f"bench: status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def make(variant, name):
    call("make", "-s", "-C", ROOT / "workloads", variant, f"W={name}", f"OUT={OUT}/programs")
    return OUT / "programs" / variant / name


def sources_of(name):
    folder = ROOT / "workloads" / name
    return sorted(folder.glob("*.c")) if folder.is_dir() else sorted(ROOT.glob(f"workloads/{name}.c*"))


def build_baseline(baseline, name):
    """The plain program with a call for each access, answered by bench/baselines."""
    program = OUT / "programs" / baseline / name
    program.parent.mkdir(parents=True, exist_ok=True)
    sources = sources_of(name)
    compiler = "clang++-19" if sources[0].suffix == ".cpp" else "clang-19"
    answer = OUT / "programs" / f"{baseline}.o"
    call("clang-19", "-O2", "-c", ROOT / "bench" / "baselines" / f"{baseline}.c", "-o", answer)
    plugin = BUILD / "lib" / "trackway" / "TrackwayPass.so"
    environment = dict(os.environ, TRACKWAY_PASS_OPTIONS="only-oracle=1")
    flags = ["-fopenmp"] if name == "bfs" else []
    call(compiler, "-O2", "-g", f"-fpass-plugin={plugin}", *flags, *sources, answer, "-o", program, env=environment)
    return program


def build_all(names):
    measure = OUT / "measure"
    OUT.mkdir(parents=True, exist_ok=True)
    call("clang-19", "-O2", ROOT / "bench" / "measure.c", "-o", measure)
    programs = {}
    for name in names:
        programs[name] = {variant: make(variant, name) for variant in ("plain", "traced")}
        programs[name].update({baseline: build_baseline(baseline, name) for baseline in BASELINES})
    return programs


def timed(command, environment):
    """Wall and CPU seconds of a command with all its descendants."""
    started = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: status {process.returncode}: {command}\n{error.decode()}")
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime}


def run_plain(program, arguments, environment):
    return timed([program, *arguments], environment)


def run_recorded(program, arguments, environment, mode, trace):
    own = OUT / "own_time"
    destination = [] if mode == "discard" else ["-f", "-o", trace]
    command = [TRACKWAY, "record", "-q", *RECORDED[mode], *destination, "--", OUT / "measure", own, program, *arguments]
    result = timed(command, environment)
    _, program_cpu_ns = map(int, own.read_text().split())
    result["program_cpu_s"] = program_cpu_ns / 1e9
    result["recorder_cpu_s"] = max(0.0, result["cpu_s"] - result["program_cpu_s"])
    if mode != "discard":
        result["trace_bytes"] = os.path.getsize(trace)
    return result


def one_round(name, programs, memory, disk):
    """Each variant once."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    arguments, comparison = ([str(word) for word in words] for words in SIZES[name])
    results = {
        "plain": run_plain(programs["plain"], arguments, environment),
        "untraced": run_plain(programs["traced"], arguments, environment),
        "plain_comparison": run_plain(programs["plain"], comparison, environment),
        "empty_call": run_plain(programs["empty_call"], comparison, environment),
        "record48": run_record48(programs["record48"], comparison, environment, Path(memory, "record48")),
    }
    for mode in RECORDED:
        trace = Path(disk if mode == "disk_lz4" else memory, f"{mode}.trackway")
        results[mode] = run_recorded(programs["traced"], arguments, environment, mode, trace)
        if mode == "shm_lz4":
            results["read"] = read_trace(trace)
        trace.unlink(missing_ok=True)
    return results


def run_record48(program, arguments, environment, file):
    result = run_plain(program, arguments, dict(environment, RECORD48_FILE=str(file)))
    result["trace_bytes"] = os.path.getsize(file)
    file.unlink()
    return result


def read_trace(trace):
    """How long `report` takes to decode a trace and simulate caches, and how many accesses it finds."""
    started = time.monotonic()
    report = json.loads(call(TRACKWAY, "report", "--quiet", "--json", trace))
    seconds = time.monotonic() - started
    attribution = next(table for table in report["tables"] if table["name"] == "attribution")
    return {"report_s": seconds, "accesses": attribution["rows"][0]["accesses"]}


def measure(name, programs, rounds, memory, disk):
    all_rounds = [one_round(name, programs, memory, disk) for _ in range(rounds)]
    medians = {}
    for variant, first in all_rounds[0].items():
        numbers = [key for key, value in first.items() if isinstance(value, (int, float))]
        medians[variant] = {key: statistics.median(one[variant][key] for one in all_rounds) for key in numbers}
    return summarise(medians)


def ratios_of(medians):
    """Wall and CPU time of each variant, as multiples of the plain build's at the same size."""
    ratios = {}
    for variant, values in medians.items():
        if "wall_s" in values and not variant.startswith("plain"):
            plain = medians["plain_comparison" if variant in BASELINES else "plain"]
            ratios[variant] = {"wall": values["wall_s"] / plain["wall_s"], "cpu": values["cpu_s"] / plain["cpu_s"]}
    for mode in RECORDED:
        ratios[mode]["program_cpu"] = medians[mode]["program_cpu_s"] / medians["plain"]["cpu_s"]
        ratios[mode]["recorder_cpu"] = medians[mode]["recorder_cpu_s"] / medians["plain"]["cpu_s"]
    return ratios


def summarise(medians):
    accesses = int(medians["read"]["accesses"])
    return {
        "accesses": accesses,
        "plain_wall_s": medians["plain"]["wall_s"],
        "ratios": ratios_of(medians),
        "ring_bytes_per_access": medians["shm_raw"]["trace_bytes"] / accesses,
        "disk_bytes_per_access": medians["shm_lz4"]["trace_bytes"] / accesses,
        "report_accesses_per_s": accesses / medians["read"]["report_s"],
        "medians": medians,
    }


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "clang": call("clang-19", "--version").splitlines()[0],
        "trackway": call(TRACKWAY, "--version").strip(),
        "commit": call("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip(),
    }


COLUMNS = (
    ("M acc.", lambda r: f"{r['accesses'] / 1e6:.1f}"),
    ("plain s", lambda r: f"{r['plain_wall_s']:.3f}"),
    ("untraced", lambda r: f"{r['ratios']['untraced']['wall']:.2f}"),
    ("empty call", lambda r: f"{r['ratios']['empty_call']['wall']:.2f}"),
    ("48 B rec.", lambda r: f"{r['ratios']['record48']['wall']:.2f}"),
    ("discard", lambda r: f"{r['ratios']['discard']['wall']:.2f}"),
    ("shm raw", lambda r: f"{r['ratios']['shm_raw']['wall']:.2f}"),
    ("shm lz4", lambda r: f"{r['ratios']['shm_lz4']['wall']:.2f}"),
    ("disk lz4", lambda r: f"{r['ratios']['disk_lz4']['wall']:.2f}"),
    ("cpu prog.", lambda r: f"{r['ratios']['shm_lz4']['program_cpu']:.2f}"),
    ("cpu rec.", lambda r: f"{r['ratios']['shm_lz4']['recorder_cpu']:.2f}"),
    ("ring B", lambda r: f"{r['ring_bytes_per_access']:.2f}"),
    ("lz4 B", lambda r: f"{r['disk_bytes_per_access']:.2f}"),
    ("report M/s", lambda r: f"{r['report_accesses_per_s'] / 1e6:.1f}"),
)


def print_table(results):
    header = ["workload"] + [title for title, _ in COLUMNS]
    rows = [header] + [[name] + [show(result) for _, show in COLUMNS] for name, result in results.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        print(row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:])), sep="  ")


def closing_line(results):
    ratios = [result["ratios"]["shm_lz4"] for result in results.values()]
    wall, cpu = (geometric_mean([ratio[time] for ratio in ratios]) for time in ("wall", "cpu"))
    ring, disk = (
        statistics.fmean(result[bytes_per_access] for result in results.values())
        for bytes_per_access in ("ring_bytes_per_access", "disk_bytes_per_access")
    )
    return f"record: wall {wall:.2f}x cpu {cpu:.2f}x ring {ring:.1f} B/access disk {disk:.1f} B/access"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved runs of which the medians are taken (default 5)")
    parser.add_argument("workloads", nargs="*", help="only these workloads")
    arguments = parser.parse_args()
    names = arguments.workloads or list(SIZES)
    programs = build_all(names)
    results = {}
    with tempfile.TemporaryDirectory(dir=MEMORY) as memory, tempfile.TemporaryDirectory(dir=OUT) as disk:
        for name in names:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            results[name] = measure(name, programs[name], arguments.rounds, memory, disk)
    document = {"machine": machine(), "rounds": arguments.rounds, "workloads": results}
    (OUT / "record.json").write_text(json.dumps(document, indent=1) + "\n")
    print("\n".join(f"{key}: {value}" for key, value in document["machine"].items()))
    print("Times are wall-clock ratios to the plain -O2 build; cpu prog. and cpu rec. belong to shm lz4.\n")
    print_table(results)
    print(f"\nwritten to {(OUT / 'record.json').relative_to(ROOT)}")
    print(closing_line(results))


if __name__ == "__main__":
    main()
