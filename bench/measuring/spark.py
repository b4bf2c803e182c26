"""The part `spark` of the benchmark `scale`: counts by variable on a Spark cluster whose executor has one core."""

import json
from pathlib import Path

from measuring import programs, results, targets, timing
from measuring.results import Column

PYTHON = programs.ROOT / "build" / "python" / "bin" / "python"
SESSION = Path(__file__).with_name("spark_session.py")
COLUMNS = (
    Column("accesses_m", "M acc.", "{:.1f}"),
    Column("by_variable", "Spark by variable M/s", "{:.0f}"),
    Column("by_variable_wall", "of wall time M/s", "{:.0f}"),
    Column("engine", "built-in engine M/s", "{:.0f}"),
)
TARGET = 30


def one_round(measured, accesses, trace):
    """M accesses a second: of the CPU time of executor, Python, worker, master and driver, of wall time, and of the
    built-in engine's CPU time for the same counts."""
    report = (programs.TRACKWAY, "report", "-q", "-j", "1", "--cache", "none", "--by", "variable", trace)
    rates = {
        "by_variable": accesses / 1e6 / measured["cpu_s"],
        "by_variable_wall": accesses / 1e6 / measured["wall_s"],
        "engine": accesses / 1e6 / timing.timed(report)["cpu_s"],
    }
    return {"rates": rates}


def spark(traces, rounds):
    """Rows of the table, and the figure of the last line: counts by variable, geometric mean."""
    rows = {}
    for name, (trace, accesses) in traces.items():
        timing.progress("spark", name)
        counted = json.loads(programs.call(PYTHON, SESSION, trace, rounds).splitlines()[-1])
        if counted["accesses"] != accesses:
            raise ValueError(f"{name}: Spark counted {counted['accesses']} accesses of {accesses}")
        each = [one_round(measured, accesses, trace) for measured in counted["rounds"]]
        rows[name] = timing.medians(each)["rates"] | {"accesses_m": accesses / 1e6}
    mean = results.mean_of(list(rows.values()))
    mean.pop("accesses_m")
    results.print_table("workload", COLUMNS, rows | {"geometric mean": mean})
    return rows, targets.Figure(
        "spark: counts by variable, M accesses/s on one core, geometric mean", mean["by_variable"], TARGET, at_least=True
    )
