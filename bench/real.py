"""What recording real programs costs: ratios to the plain build with the program's own flags, in one interleaved run.

Each program prints the same in every run, or the suite ends with its name. Prints a table and a closing line, whose
terms docs/benchmarks.md explains. Speed never makes the command fail.
"""

import argparse
import json
import tempfile
from pathlib import Path

from measuring import programs, results, timing
from measuring.real_programs import KERNELS, PARALLEL, REAL
from measuring.real_runs import Runs, build, built_before
from measuring.real_table import CAUSE_COLUMNS, COLUMNS, attribution, causes, closing_line, means, row_of

MEMORY = Path("/dev/shm")
# Any one processor, for program and recorder together.
ONE_CORE = {0}
PARALLEL_GROUP = "kernels, 2 threads"
GROUPS = {"programs": REAL, "kernels": KERNELS, PARALLEL_GROUP: PARALLEL}


def analysed(trace, scratch, with_view):
    """Wall seconds of `report` and of `view`, and the shares of the accesses that have a line, a name, a field."""
    tables = scratch / "report.json"
    figures = {"report_s": timing.timed([programs.TRACKWAY, "report", "--json", trace], output=tables)["wall_s"]}
    if with_view:
        figures["view_s"] = timing.timed([programs.TRACKWAY, "view", "-f", "-o", scratch / "page.html", trace])["wall_s"]
    return figures | attribution(json.loads(tables.read_text()))


def one_round(runs, arguments, first):
    """Each variant once; what hardly varies only in the first round."""
    options = [f"--codec={arguments.codec}"]
    figures = {
        "plain": runs.alone("plain"),
        "untraced": runs.alone("traced"),
        "discard": runs.recorded([]),
    }
    if runs.program.threads == 1:
        figures["plain_one_core"] = runs.alone("plain", ONE_CORE)
        figures["one_core"] = runs.recorded(options, runs.trace, ONE_CORE)
    figures["shm"] = runs.recorded(options, runs.trace)
    if first:
        figures["decode"] = timing.decoded(runs.trace)
        figures["causes"] = causes(programs.call(programs.RECORD_BYTES, runs.trace, 0))
        figures["analysis"] = analysed(runs.trace, runs.scratch, not arguments.no_view)
    runs.trace.unlink()
    return figures


def measure(program, built, arguments):
    with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
        runs = Runs(program, scratch)
        rounds = [one_round(runs, arguments, number == 0) for number in range(arguments.rounds)]
    medians = timing.medians(rounds) | {"build": built}
    return row_of(medians), medians


def show(rows, details, arguments, old):
    results.print_machine()
    columns = [column for column in COLUMNS if any(column.key in row for own in rows.values() for row in own.values())]
    print(f"Ratios to the plain build; the codec is {arguments.codec}; B are bytes per access.")
    for group, own in rows.items():
        print()
        results.print_table(group, columns, own | {"mean": means(own)})
    print("\nWhere the bytes of the records go:\n")
    of_records = {name: details[name]["causes"] for own in rows.values() for name in own}
    results.print_table("program", CAUSE_COLUMNS, of_records)
    if old:
        results.compare(old, "program", columns, rows)


def chosen(names, parser):
    groups = {group: [program for program in all_of if not names or program.name in names] for group, all_of in GROUPS.items()}
    groups = {group: own for group, own in groups.items() if own}
    known = {program.name for own in GROUPS.values() for program in own}
    if unknown := set(names) - known:
        parser.error(f"no program {', '.join(sorted(unknown))} here; there are {', '.join(sorted(known))}")
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=3)
    parser.add_argument("--codec", help="of the recorder (default: its own default)")
    parser.add_argument("--built", action="store_true", help="take the programs of an earlier run, with the figures of their compilation")
    parser.add_argument("--no-view", action="store_true", help="without `view`, which takes most of the time")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    arguments = parser.parse_args()
    groups = chosen(arguments.programs, parser)
    old = results.earlier(arguments)
    arguments.codec = arguments.codec or programs.default_codec()
    programs.build_tools()
    rows, details = {}, {}
    for group, own in groups.items():
        for program in own:
            timing.progress("building and measuring", program.name)
            make = built_before if arguments.built else build
            built = {variant: make(program, variant) for variant in ("plain", "traced")}
            row, details[program.name] = measure(program, built, arguments)
            rows.setdefault(group, {})[program.name] = results.measured(program.name, COLUMNS, row)
    show(rows, details, arguments, old)
    tables = rows | {"means": {group: means(own) for group, own in rows.items()}}
    results.write("real", arguments, tables, codec=arguments.codec, medians=details)
    # Programs with two threads alone have no such line.
    if set(rows) - {PARALLEL_GROUP}:
        print(closing_line(rows))


if __name__ == "__main__":
    main()
