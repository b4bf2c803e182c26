"""What the tests of programs that count share: how they are built, and what their reports say."""

import json
from pathlib import Path

from . import tools

REGIONS = tools.PROGRAMS / "regions"
READING = ("load", "atomic load", "copy read", "library read")
WRITING = ("store", "atomic store", "copy write", "fill", "library write")
# The marks of regions mean nothing then: the program is counted as a whole.
WITHOUT_REGIONS = "-U__TRACKWAY__"


def compile_counting(output, sources, *flags, version=tools.LLVM_VERSION):
    choice = tools.choice_of(tools.plain_compiler(sources[0], version))
    tools.trackway(tools.compiler_for(sources[0]), choice, "--count", *flags, *sources, "-o", output)
    return output


def compile_tracing(output, sources, *flags):
    return tools.compile_traced(output, sources, *flags, oracle=False)


def rows(trace, name, *options):
    """All rows of a table of the report."""
    output = tools.trackway("report", "--json", "--top", "1000000", *options, trace).stdout
    return next(table["rows"] for table in json.loads(output)["tables"] if table["name"] == name)


def table(trace, name):
    return rows(trace, name, "--table", name)


def regions(trace):
    return {row["region"]: row for row in table(trace, "regions")}


def counts(trace):
    """What the numbers rest on."""
    return table(trace, "counts")[0]


def bytes_of(row):
    return row["bytes_read"] + row["bytes_written"]


def add(sums, key, numbers):
    sums[key] = tuple(sum(pair) for pair in zip(sums.get(key, (0,) * len(numbers)), numbers, strict=True))


def place(row):
    return Path(row["file"] or "").name, row["line"], row["function"]


def accesses_counted(trace):
    """Reads, writes, bytes read and written of each line and function."""
    sums = {}
    for row in table(trace, "region_lines"):
        if row["accesses"] or row["bytes"]:
            add(sums, place(row), (row["reads"], row["writes"], row["bytes_read"], row["bytes_written"]))
    return sums


def accesses_traced(trace):
    """The same of a program that traces."""
    sums = {}
    for row in rows(trace, "sites", "--by", "site", "--cache", "none"):
        reads, writes = row["kind"] not in WRITING, row["kind"] not in READING
        accesses, size = row["accesses"], row["bytes"]
        add(sums, place(row), (accesses * reads, accesses * writes, size * reads, size * writes))
    return sums
