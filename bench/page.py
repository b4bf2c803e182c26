"""Traces of a billion accesses: time and memory of each analysis of it, and how long its page takes to open.

Each verb reads the trace as a user would, on all processors. The page is opened from a file by headless Chromium, in a fresh
profile. docs/benchmarks.md explains the columns.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import programs, results, targets, timing
from measuring.results import Column

sys.path.insert(0, str(programs.ROOT))
from tests.end_to_end.support.pages.chromium import Chromium  # noqa: E402

# Workload, its argument, and threads: a billion accesses of one, 0.6 billion of several.
TRACES = {"fluid": ("125000", 1), "bfs": ("700000", 4)}
VERBS = {
    "report": [],
    "map": [],
    "memory": [],
    "layout": [],
    "reuse": [],
    "reuse, 1 % sampled": ["--sample", "0.01"],
    "patterns": [],
    "sharing": [],
}
COLUMNS = (
    Column("accesses_m", "M acc.", "{:.0f}"),
    Column("trace_mb", "trace MB", "{:.0f}"),
    Column("wall_s", "wall s", "{:.1f}"),
    Column("cpu_s", "cpu s", "{:.1f}"),
    Column("peak_mib", "peak MiB", "{:.0f}"),
    Column("rate", "M acc./s", "{:.1f}"),
)
PEAK_MIB = 2048
OPEN_MS = 1000
# Milliseconds since the page was asked for; the paint comes after the scripts have drawn everything.
TIMES = """new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
    const [navigation] = performance.getEntriesByType('navigation');
    const at = (name) => performance.getEntriesByName(name)[0]?.startTime ?? null;
    done({loaded: navigation.domContentLoadedEventEnd, drawn: at('trackway-drawn'), painted: at('first-contentful-paint')});
}, 200)))"""


def analysed(trace, accesses, verb, *options):
    command = [programs.TRACKWAY, verb, "-q", *options, trace]
    row = timing.timed(command)
    row.update(accesses_m=accesses / 1e6, trace_mb=trace.stat().st_size / 1e6)
    row.update(peak_mib=row.pop("peak_bytes") / 2**20, rate=accesses / row["wall_s"] / 1e6)
    return row


def opened(page, rounds):
    """Medians of the milliseconds to open the page, each time in a new browser."""
    times = []
    for _ in range(rounds):
        with Chromium() as browser:
            browser.open(page.as_uri())
            times.append({"times": browser.evaluate(TIMES)})
            if browser.complaints():
                sys.exit(f"bench: the page complains: {browser.complaints()}")
    return timing.medians(times)["times"]


def measure(name, folder, rounds):
    """A row for each verb, and what the browser needs for the page."""
    argument, threads = TRACES[name]
    trace = folder / f"{name}.trackway"
    environment = {"OMP_NUM_THREADS": str(threads), "PATH": "/usr/bin:/bin"}
    timing.progress("recording", name)
    timing.recorded(programs.workload("traced", name), [argument], ["--codec", "zstd"], trace, environment)
    accesses = timing.decoded(trace)["accesses"]
    rows = {}
    page = folder / f"{name}.html"
    for title, options in (VERBS | {"view": ["-f", "-o", page]}).items():
        row = f"{name}: {title}"
        rows[row] = results.measured(row, COLUMNS, analysed(trace, accesses, title.split(",")[0], *options))
    trace.unlink()
    return rows, {"page_bytes": page.stat().st_size, **opened(page, rounds)}


def verdicts(rows, pages):
    largest = max(rows, key=lambda name: rows[name]["peak_mib"])
    figures = [targets.Figure(f"peak MiB of an analysis, most ({largest})", rows[largest]["peak_mib"], PEAK_MIB)]
    for name, page in pages.items():
        figures.append(targets.Figure(f"{name}: ms until the page is painted", page["painted"], OPEN_MS))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"default: {' '.join(TRACES)}")
    results.add_arguments(parser, rounds=3)
    arguments = parser.parse_args()
    unknown = set(arguments.workloads) - TRACES.keys()
    if unknown:
        sys.exit(f"bench: no workloads {' '.join(sorted(unknown))}; there are: {' '.join(TRACES)}")
    old = results.earlier(arguments)
    programs.build_tools()
    rows, pages = {}, {}
    # Half a gigabyte is too much for memory that others need.
    with tempfile.TemporaryDirectory(dir=programs.OUT, prefix="page-") as folder:
        for name in arguments.workloads or TRACES:
            more, pages[name] = measure(name, Path(folder), arguments.rounds)
            rows.update(more)
    results.print_machine()
    print()
    results.print_table("trace and verb", COLUMNS, rows)
    print()
    columns = (
        Column("page_bytes", "bytes", "{:.0f}"),
        Column("loaded", "DOM loaded, ms", "{:.0f}"),
        Column("drawn", "drawn, ms", "{:.0f}"),
        Column("painted", "first paint, ms", "{:.0f}"),
    )
    results.print_table("page", columns, pages)
    figures = verdicts(rows, pages)
    print()
    targets.print_verdicts(figures)
    results.write("page", arguments, {"analyses": rows, "pages": pages}, targets=targets.as_json(figures))
    if old:
        results.compare(old, "trace and verb", COLUMNS, {"analyses": rows})
        results.compare(old, "page", columns, {"pages": pages})
    most = max(row["peak_mib"] for row in rows.values())
    print(f"page: at most {most:.0f} MiB, painted after {max(page['painted'] for page in pages.values()):.0f} ms")


if __name__ == "__main__":
    main()
