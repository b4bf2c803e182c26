"""How many accesses a second and core other engines than the built-in one analyse, from the same compressed traces, and what
the live path costs.

`sql` is `trackway query`: CPU time of the whole command on one thread, its start included, on traces of the workloads in
/dev/shm with the recorder's default codec; beside it `trackway report`, which also simulates three cache levels. `spark` is
a cluster of one core, warm. `kafka` is the suite `live`. Medians of the rounds. docs/benchmarks.md explains the columns.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import kafka, programs, results, spark, targets, timing
from measuring.results import Column

# The programs, with inputs that give traces of some ten to hundred million accesses.
SIZES = {
    "hash": 3_000_000,
    "tree": 1_000_000,
    "quicksort": 4_000_000,
    "bfs": 400_000,
    "interpreter": 27,
}
QUERIES = {
    "by_variable": "SELECT variable, count(*) AS accesses FROM accesses GROUP BY variable ORDER BY accesses DESC",
    "by_line": "SELECT file, line, sum(size) AS bytes FROM accesses GROUP BY file, line ORDER BY bytes DESC LIMIT 10",
    "by_page": "SELECT address / 4096 AS page, count(*) AS n FROM accesses GROUP BY page ORDER BY n DESC LIMIT 10",
    "by_size": "SELECT variable, size, count(*) AS n FROM accesses GROUP BY variable, size ORDER BY n DESC LIMIT 10",
}
COLUMNS = (
    Column("accesses_m", "M acc.", "{:.1f}"),
    Column("by_variable", "SQL by variable M/s", "{:.0f}"),
    Column("by_line", "SQL by line M/s", "{:.0f}"),
    Column("by_page", "SQL by page M/s", "{:.0f}"),
    Column("by_size", "SQL by size M/s", "{:.0f}"),
    Column("report", "report M/s", "{:.0f}"),
)
SQL_TARGET = 50
# The live path: programs whose traces come slowly, for several of the query's micro-batches, and one whose trace comes fast.
LIVE = {"hash": ["6000000"], "tree": ["3000000"], "quicksort": ["20000000"]}
LIVE_TARGET = 2


def rate(accesses, command):
    """M accesses a second of CPU time."""
    return accesses / 1e6 / timing.timed(command)["cpu_s"]


def one_round(trace, accesses):
    query = (programs.TRACKWAY, "query", "-q", "-j", "1", trace)
    rates = {key: rate(accesses, (*query, sql)) for key, sql in QUERIES.items()}
    report = (programs.TRACKWAY, "report", "-q", "-j", "1", "--by", "variable", trace)
    return {"rates": rates | {"report": rate(accesses, report)}}


def sql(traces, rounds):
    """Rows of the table, and the figure of the last line: counts by variable, geometric mean."""
    rows = {}
    for name, (trace, accesses) in traces.items():
        timing.progress("sql", name)
        rows[name] = timing.medians([one_round(trace, accesses) for _ in range(rounds)])["rates"]
        rows[name]["accesses_m"] = accesses / 1e6
    mean = results.mean_of(list(rows.values()))
    mean.pop("accesses_m")
    results.print_table("workload", COLUMNS, rows | {"geometric mean": mean})
    return rows, targets.Figure(
        "sql: counts by variable, M accesses/s on one core, geometric mean", mean["by_variable"], SQL_TARGET, at_least=True
    )


def live(_, rounds):
    """Rows of the table, and the figure of the last line: the traced program's time through Kafka to Spark."""
    rows, slowdowns = {}, []
    for workload, words in LIVE.items():
        timing.progress("kafka", workload)
        measured = kafka.measure(workload, words, rounds)
        slowdowns.append(kafka.slowdown(measured))
        rows |= {f"{workload}: {way}": row for way, row in measured.items()}
    results.print_table("recorded to", kafka.COLUMNS, rows)
    mean = results.geometric_mean(slowdowns)
    return rows, targets.Figure("kafka: through Kafka to Spark, x /dev/shm, geometric mean", mean, LIVE_TARGET)


# Name: what runs it on {workload: (trace, accesses)} and returns its rows and its figure.
PARTS = {"spark": spark.spark, "sql": sql, "kafka": live}
RATES = ("spark", "sql")


def last_line(figures):
    rates = [f"{part} {figures[part].value:.0f}" for part in RATES if part in figures]
    told = [" ".join(rates) + " Macc/s/core"] if rates else []
    if "kafka" in figures:
        told.append(f"kafka {figures['kafka'].value:.1f}x")
    return "scale: " + " ".join(told)


def recorded(names, folder):
    traces = {}
    for name in names:
        timing.progress("recording", name)
        trace = folder / f"{name}.trackway"
        environment = {"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
        timing.recorded(programs.workload("traced", name), [str(SIZES[name])], [], trace, environment)
        traces[name] = (trace, timing.decoded(trace)["accesses"])
    return traces


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: {' '.join(PARTS)}")
    parser.add_argument("--workloads", nargs="*", default=list(SIZES), metavar="NAME", help=f"default: {' '.join(SIZES)}")
    results.add_arguments(parser, rounds=3)
    arguments = parser.parse_args()
    for what, chosen, known in (("part", arguments.parts, PARTS), ("workload", arguments.workloads, SIZES)):
        if unknown := set(chosen) - known.keys():
            sys.exit(f"bench: no {what} {' '.join(sorted(unknown))}; there are: {' '.join(known)}")
    if why := kafka.missing():
        sys.exit(f"bench: {why}")
    old = results.earlier(arguments)
    programs.build_tools()
    tables, figures = {}, {}
    results.print_machine()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="trackway-bench-") as folder:
        traces = recorded(arguments.workloads, Path(folder))
        for part in arguments.parts or PARTS:
            print()
            tables[part], figures[part] = PARTS[part](traces, arguments.rounds)
    print()
    targets.print_verdicts(figures.values())
    results.write("scale", arguments, tables, targets=targets.as_json(figures.values()))
    if old and "sql" in tables:
        results.compare(old, "workload", COLUMNS, {"sql": tables["sql"]})
    print(last_line(figures))


if __name__ == "__main__":
    main()
