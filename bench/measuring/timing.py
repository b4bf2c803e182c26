"""Runs and their times."""

import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .programs import DECODE, MEASURE, OUT, TRACKWAY, call

# So that temporary files go whichever way a benchmark ends.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def timed(command, environment=None, cwd=None, output=os.devnull):
    """Wall and CPU seconds of a command with all its descendants, and the most memory that one of them had.

    The file `output` takes what it prints.
    """
    started = time.monotonic()
    with open(output, "wb") as stdout:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=stdout, stderr=subprocess.PIPE, env=environment, cwd=cwd
        )
    try:
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:  # an interrupted benchmark leaves nothing running, and nothing in memory
        process.terminate()
        process.wait()
        raise
    wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: status {process.returncode}: {command}\n{error.decode()}")
    # Linux gives kilobytes.
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


def alone(program, arguments, environment=None, **settings):
    """A run without a recorder, started as `recorded` starts its program."""
    return timed([MEASURE, OUT / "own_time", program, *arguments], environment, **settings)


def recorded(program, arguments, options, trace=None, environment=None, **settings):
    """A run under `trackway record`; without a trace, full buffers are discarded.

    `wall_s` and `cpu_s` are those of the whole command, `program_wall_s` and `program_cpu_s` those of the program in
    it, `recorder_cpu_s` is the rest. Giving back the memory of an earlier trace is not part of it.
    """
    own = OUT / "own_time"
    if trace:
        Path(trace).unlink(missing_ok=True)
    destination = ["-f", "-o", trace] if trace else ["--discard"]
    command = [TRACKWAY, "record", "-q", *options, *destination, "--", MEASURE, own, program, *arguments]
    result = apart(timed(command, environment, **settings), own)
    if trace:
        result["trace_bytes"] = os.path.getsize(trace)
    return result


def apart(result, own):
    """The times of a whole command, and those of the program in it, which `measure` wrote to the file `own`."""
    program_wall_ns, program_cpu_ns = map(int, own.read_text().split())
    program_cpu_s = program_cpu_ns / 1e9
    return result | {
        "program_wall_s": program_wall_ns / 1e9,
        "program_cpu_s": program_cpu_s,
        "recorder_cpu_s": max(0.0, result["cpu_s"] - program_cpu_s),
    }


def decoded(trace):
    """Accesses of a trace, bytes of its records, and one core's CPU time to decode it as events, and as runs."""
    accesses, record_bytes, events_ns, runs_ns = map(int, call(DECODE, trace).split())
    times = {"decode_cpu_s": events_ns / 1e9, "decode_runs_cpu_s": runs_ns / 1e9}
    return {"accesses": accesses, "record_bytes": record_bytes, **times}


def medians(rounds):
    """From a list of {variant: {quantity: number}} the median of each quantity, over the rounds that have it."""
    result = {}
    for variant in dict.fromkeys(name for one in rounds for name in one):
        present = [one[variant] for one in rounds if variant in one]
        quantities = dict.fromkeys(name for values in present for name in values)
        result[variant] = {
            name: statistics.median(values[name] for values in present if name in values) for name in quantities
        }
    return result


def progress(*words):
    print(*words, file=sys.stderr, flush=True)
