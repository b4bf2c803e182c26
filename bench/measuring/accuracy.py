"""How true counts are: against a trace of the same program, a clock in its regions, and another tool."""

import csv
import io
import re
import statistics
import subprocess
import sys
from collections import Counter

from .programs import TRACKWAY, call

# Regions that take less in all are too short for a clock.
LEAST_S = 0.010
REPORTED = ("raw", "every", "tenth")
STACK_BYTES = 8 << 20
# Bytes that compilers copy or fill without a call.
LONGEST_INLINE = 256
BLOCKS = ("copy read", "copy write", "fill")
UPDATES = ("atomic read-modify-write", "atomic compare-exchange")
KINDS = ("load", "store", "atomic load", "atomic store", *BLOCKS, *UPDATES)
ACCESS = re.compile(rf" *\d+ +\d+ (?P<kind>{'|'.join(KINDS)}) +0x(?P<address>[0-9a-f]+) +(?P<size>\d+) ")


def table(trace, *words):
    """A table of `trackway report`, whole."""
    text = call(TRACKWAY, "report", "--quiet", "--csv", "--top", "0", *words, trace)
    return list(csv.DictReader(io.StringIO(text)))


def recorded_small(program, trace, environment):
    call(TRACKWAY, "record", "-q", "-f", "-o", trace, "--", program, "small", env=environment)
    return trace


def by_line(rows):
    """Bytes of each line. (Where a line is of several functions, as of a parallel region, traces name but one.)"""
    lines = Counter()
    for row in rows:
        lines[row["file"], row["line"]] += int(row["bytes"])
    return lines


def agreement(told, truth):
    """Percentage of bytes that both agree on, differences of all lines or regions added up."""
    differences = sum(abs(told[key] - truth[key]) for key in told.keys() | truth.keys())
    return 100 * (1 - differences / max(1, truth.total()))


def bytes_agree(counting, traced, folder, environment):
    """The percentage at the size `small`."""
    trace = folder / "small"
    counts = by_line(table(recorded_small(counting, trace, environment), "--table", "region_lines"))
    accesses = by_line(table(recorded_small(traced, trace, environment), "--cache", "none", "--by", "line"))
    trace.unlink()
    return agreement(counts, accesses)


def printed(command, environment):
    """What a command writes to standard output and error; its failure ends the benchmark."""
    command = [str(word) for word in command]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: status {done.returncode}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def clocked(program, arguments, environment):
    """Seconds of each region of a program that was built with bench/region_clock.h."""
    lines = re.findall(r"^region (-?\d+) \d+ (.+)$", printed([program, *arguments], environment), re.M)
    seconds = Counter()
    for time_ns, name in lines:
        seconds[name] += int(time_ns) / 1e9
    return dict(seconds)


def regions(trace):
    """Bytes of each region, the rate as Trackway reports it, free of what counting costs where that is known, and the
    raw one."""
    found = {row["region"]: row for row in table(trace, "--table", "regions")}
    return (
        {name: int(row["bytes_read"]) + int(row["bytes_written"]) for name, row in found.items()},
        {name: rate(row, "" if row["rate_by"] else "raw_") for name, row in found.items()},
        {name: rate(row, "raw_") for name, row in found.items()},
    )


def rate(row, prefix):
    """10^6 bytes/s, read and written."""
    return sum(float(row[f"{prefix}{direction}_mb_per_s"] or 0) for direction in ("read", "write"))


def bandwidths(measured):
    """For each region that is long enough: its true rate, those that were reported, the true one of another run at the
    end of the round (what the machine's own unrest leaves of any comparison), and how near they come in percent.

    Medians over the rounds; a reported rate is compared with the true one of the same round, since a machine's speed
    drifts."""
    result = {}
    for name in measured[0]["clock"]:
        if statistics.median(one["clock"][name] for one in measured) < LEAST_S:
            continue
        truths = [one["bytes"][name] / 1e6 / one["clock"][name] for one in measured]
        row = {
            "clock_ms": 1e3 * statistics.median(one["clock"][name] for one in measured),
            "truth": statistics.median(truths),
        }
        reported = {variant: [one[f"rates_{variant}"].get(name, 0.0) for one in measured] for variant in REPORTED}
        reported["again"] = [one["bytes"][name] / 1e6 / one["clock_again"][name] for one in measured]
        for variant, rates in reported.items():
            ratio = statistics.median(rate / truth for rate, truth in zip(rates, truths, strict=True))
            row |= {variant: statistics.median(rates), f"{variant}_accuracy": 100 * (1 - abs(ratio - 1))}
        result[name] = row
    return result


def dynamorio():
    """The folder where `make dynamorio` has built what records binaries; none if it hasn't."""
    built = TRACKWAY.parent.parent / "lib" / "trackway" / "dynamorio"
    return built if (built / "counts.so").exists() else None


def share_of_dynamorio(traced, plain, folder, environment):
    """Bytes read and written beside the stack by the program's own code, at the size `small`: in percent of those that
    DynamoRIO sees in the plain program's machine code."""
    built = dynamorio()
    trace = recorded_small(traced, folder / "small", environment)
    told = bytes_beside_the_stack(trace)
    trace.unlink()
    text = printed([built / "launch", built / "home", built / "counts.so", "", plain, "small"], environment)
    bytes_read, bytes_written = map(int, re.search(r"^counts \d+ \d+ (\d+) (\d+)$", text, re.M).groups())
    return 100 * told / (bytes_read + bytes_written)


def bytes_beside_the_stack(trace):
    """Of a trace of one thread, by parts of memory: its stack is the highest that it accesses."""
    parts = Counter()
    with subprocess.Popen([TRACKWAY, "dump", str(trace)], stdout=subprocess.PIPE, text=True) as dump:
        for access in filter(None, map(ACCESS.match, dump.stdout)):
            parts[int(access["address"], 16) // STACK_BYTES] += own_bytes(access["kind"], int(access["size"]))
    top = max(parts)
    return sum(size for part, size in parts.items() if part < top - 1)


def own_bytes(kind, size):
    """Read and written by the program's own code. Long copies and fills are the C library's work."""
    if kind in BLOCKS and size > LONGEST_INLINE:
        return 0
    return size * (2 if kind in UPDATES else 1)
