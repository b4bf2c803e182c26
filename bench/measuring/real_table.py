"""The table of `bench/run real`: its columns, how they follow from what was measured, and the closing line."""

import re
import statistics

from . import results
from .results import Column, geometric_mean

COLUMNS = (
    Column("accesses_m", "M acc.", "{:.1f}"),
    Column("plain_s", "plain s", "{:.3f}"),
    Column("untraced", "untraced"),
    Column("discard", "discard"),
    Column("shm", "shm"),
    Column("one_core", "1 core"),
    Column("program_cpu", "cpu prog."),
    Column("recorder_cpu", "cpu rec."),
    Column("recorder_share", "rec./prog."),
    Column("cpu", "cpu"),
    Column("ring_bytes", "ring B", "{:.3f}"),
    Column("trace_bytes", "trace B", "{:.3f}"),
    Column("decode_m_per_s", "decode M/s", "{:.0f}"),
    Column("runs_m_per_s", "runs M/s", "{:.0f}"),
    Column("text", "text"),
    Column("binary", "binary"),
    Column("compile", "compile"),
    Column("with_line", "line %", "{:.1f}"),
    Column("with_variable_or_field", "named %", "{:.1f}"),
    Column("members_with_field", "field %", "{:.1f}"),
    Column("report", "report"),
    Column("view", "view"),
)
# What `record_bytes` names, as shares of the records' bytes. The first seven add up to all; the others are parts of them.
CAUSES = ("ids of 1", "ids of 2", "ids of 4", "roots of 1", "roots of 2", "roots of 4", "roots of 8")
PARTS = ("only enter, exit", "resume records", "roots, no access")
CAUSE_COLUMNS = (
    Column("ring_bytes", "ring B", "{:.2f}"),
    Column("accesses_of_record", "acc./record", "{:.2f}"),
    *(Column(cause, f"{cause}, %", "{:.1f}") for cause in CAUSES + PARTS),
)
NAMED = ("with_line", "with_variable_or_field", "members_with_field")
ARITHMETIC = ("ring_bytes", "trace_bytes", *NAMED)


def attribution(document):
    table = next(table for table in document["tables"] if table["name"] == "attribution")
    row = table["rows"][0]
    return {key: 100 * (row[key] or 0) for key in NAMED}


def causes(printed):
    """A row of CAUSE_COLUMNS from what `record_bytes` printed."""
    lines = re.findall(r"^(.{16}) +(\d+) bytes .*? (\d+) times", printed, re.M)
    found = {what.strip(): (int(own), int(times)) for what, own, times in lines}
    accesses = int(re.search(r"^accesses +(\d+)", printed, re.M).group(1))
    total, records = found["records"]
    shares = {cause: 100 * found[cause][0] / total for cause in CAUSES + PARTS}
    return {"ring_bytes": total / accesses, "accesses_of_record": accesses / records, **shares}


def row_of(medians):
    plain, shm, decode, analysis = (medians[key] for key in ("plain", "shm", "decode", "analysis"))
    accesses = decode["accesses"]
    row = {
        "accesses_m": accesses / 1e6,
        "plain_s": plain["wall_s"],
        "program_cpu": shm["program_cpu_s"] / plain["cpu_s"],
        "recorder_cpu": shm["recorder_cpu_s"] / plain["cpu_s"],
        "recorder_share": shm["recorder_cpu_s"] / shm["program_cpu_s"],
        "cpu": shm["cpu_s"] / plain["cpu_s"],
        "ring_bytes": decode["record_bytes"] / accesses,
        "trace_bytes": shm["trace_bytes"] / accesses,
        "decode_m_per_s": accesses / decode["decode_cpu_s"] / 1e6,
        "runs_m_per_s": accesses / decode["decode_runs_cpu_s"] / 1e6,
    }
    for variant in ("untraced", "discard", "shm"):
        row[variant] = medians[variant]["wall_s"] / plain["wall_s"]
    if "one_core" in medians:
        row["one_core"] = medians["one_core"]["wall_s"] / medians["plain_one_core"]["wall_s"]
    row |= {key: analysis[key] for key in NAMED}
    row |= {verb: analysis[f"{verb}_s"] / shm["wall_s"] for verb in ("report", "view") if f"{verb}_s" in analysis}
    plain_build, traced_build = medians["build"]["plain"], medians["build"]["traced"]
    row["text"] = traced_build["text_bytes"] / plain_build["text_bytes"]
    row["binary"] = traced_build["file_bytes"] / plain_build["file_bytes"]
    row["compile"] = traced_build["compile_cpu_s"] / plain_build["compile_cpu_s"]
    return row


def means(rows):
    """Geometric means of ratios and rates, arithmetic ones of bytes and shares, none of amounts of work."""
    rows = list(rows.values())
    mean = results.mean_of(rows)
    mean |= {key: statistics.fmean(row[key] for row in rows) for key in ARITHMETIC}
    return {key: value for key, value in mean.items() if key not in ("accesses_m", "plain_s")}


def closing_line(rows):
    """The programs with one thread and the kernels; fields of the programs alone, for the kernels have few structures."""
    own = [row for group in ("programs", "kernels") for row in rows.get(group, {}).values()]
    wall, cpu, busy, report = (geometric_mean([row[key] for row in own]) for key in ("shm", "cpu", "one_core", "report"))
    ring, trace = (statistics.fmean(row[key] for row in own) for key in ("ring_bytes", "trace_bytes"))
    fields = statistics.fmean(row["members_with_field"] for row in rows.get("programs", {}).values() or own)
    worst = max(row["shm"] for row in own)
    return (
        f"real: wall {wall:.1f}x worst {worst:.1f}x cpu {cpu:.1f}x busy {busy:.1f}x "
        f"ring {ring:.1f} B/access disk {trace:.1f} B/access fields {fields:.0f} % report {report:.1f}x"
    )
