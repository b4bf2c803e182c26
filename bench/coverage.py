"""What of real programs recording sees: the share of the bytes that their machine code moves outside of stacks.

Each program runs twice under `trackway coverage`, on less work than in `bench/run real`, because machine code is recorded
as well. docs/verbs/coverage.md defines the numbers. Prints a table and a closing line.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from measuring import results
from measuring.programs import TRACKWAY, call
from measuring.real_programs import REAL
from measuring.real_runs import BUILDS, built_before
from measuring.real_sources import DRIVERS, text

MEMORY = Path("/dev/shm")
BYTES_OF_TEXT = 1_000_000
# What takes the place of the arguments in bench/measuring/real_programs.py.
ARGUMENTS = {
    "lua": '"$DRIVERS/load.lua" 2000',
    "sqlite": "2000",
    "bzip2": "-9 -k -c text",
    "zstd": "text 1 6",
    "xz": "text 1",
    "lz4": "text 1 9",
    "zlib-ng": "text 1 6",
    "jemalloc": "1 100000",
    "leveldb": "10000",
    "rapidjson": "10000 4",
    "oniguruma": "text 100000",
    "cadical": "200 1",
}
COLUMNS = [
    results.Column("accesses", "accesses", "{:,}"),
    results.Column("share", "recorded, %", "{:.1f}"),
    results.Column("compiled_share", "of its own code, %", "{:.1f}"),
    results.Column("called_share", "of what it calls, %", "{:.1f}"),
    results.Column("allocator_share", "by allocators, %", "{:.1f}"),
    results.Column("others", "recorded of all but these, %", "{:.1f}"),
    results.Column("first", "most of the rest by", "{}"),
]


def measured(program):
    """Two recordings, each in a fresh folder, and what the first one lacks."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        traces = []
        for way, options in (("compiled", []), ("binary", ["--binary"])):
            place = Path(folder) / way
            place.mkdir()
            (place / "text").write_bytes(text().read_bytes()[:BYTES_OF_TEXT])
            traces.append(place / "trace")
            run = f'exec "{TRACKWAY}" record -q {" ".join(options)} -o trace -- "$PROGRAM" {ARGUMENTS[program.name]} > output'
            environment = dict(os.environ, DRIVERS=str(DRIVERS), PROGRAM=str(BUILDS / "traced" / program.name / "program"))
            call("bash", "-c", run, cwd=place, env=environment)
        if len({(trace.parent / "output").read_bytes() for trace in traces}) > 1:
            sys.exit(f"bench: {program.name} prints something else as a binary")
        return json.loads(call(TRACKWAY, "coverage", "--json", "-q", *traces))


def row_of(report):
    for warning in report["warnings"]:
        print(warning, file=sys.stderr)
    tables = {table["name"]: table["rows"] for table in report["tables"]}
    found = tables["coverage"][0]
    parts = tables["not_recorded"]
    percent = lambda part, whole: 100 * found[part] / found[whole] if found[whole] else None
    return {
        "accesses": tables["traces"][1]["accesses"],
        "share": percent("recorded", "bytes"),
        "compiled_share": percent("compiled_recorded", "compiled_bytes"),
        "called_share": percent("called_recorded", "called_bytes"),
        "allocator_share": percent("allocator_bytes", "bytes"),
        "others": 100 * (found["recorded"] - found["allocator_recorded"]) / (found["bytes"] - found["allocator_bytes"]),
        "first": parts[0]["function"][:40] if parts else "-",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"programs [all: {' '.join(ARGUMENTS)}]")
    names = parser.parse_args().names
    programs = [program for program in REAL if program.name in (names or ARGUMENTS) and program.name in ARGUMENTS]
    rows = {}
    for program in programs:
        built_before(program, "traced")
        rows[program.name] = row_of(measured(program))
        print(program.name, rows[program.name], file=sys.stderr)
    results.print_table("program", COLUMNS, rows)
    shares = [row["share"] for row in rows.values()]
    others = [row["others"] for row in rows.values()]
    means = [sum(values) / len(values) for values in (shares, others)]
    print(f"\ncoverage: programs {len(rows)} recorded {means[0]:.1f} % least {min(shares):.1f} %", end=" ")
    print(f"without allocators {means[1]:.1f} % least {min(others):.1f} %")


main()
