"""Runs of unmodified binaries under DynamoRIO, with and without recorders, and under Lackey."""

import os
import re
import shutil
from pathlib import Path

from .accuracy import printed, table
from .programs import MEASURE, OUT, TRACKWAY, build_measure, call
from .timing import apart, timed

BUILT = TRACKWAY.parent.parent / "lib" / "trackway" / "dynamorio"
# An installation like ours, but for a launcher whose time is measured: what DynamoRIO runs is the same.
MEASURED = OUT / "measured"
OWN_TIME = OUT / "own_time"


def what_is_missing():
    """Why nothing can be measured; none: it can."""
    parts = [part for part in ("launch", "home", "client.so", "memtrace.so") if not (BUILT / part).exists()]
    return f"{BUILT}: {', '.join(parts)} not there: `make dynamorio` builds what that takes" if parts else None


def under_memtrace(words, command, environment):
    """The command that runs another under the client `memtrace`, and the environment with its options."""
    launched = [BUILT / "launch", BUILT / "home", BUILT / "memtrace.so", "", *command]
    return launched, dict(environment, MEMTRACE_OPTIONS=words)


def idle(command, environment, **settings):
    """Under DynamoRIO, with a client that asks for nothing."""
    return timed(*under_memtrace("idle", command, environment), **settings)


def memtrace(words, command, environment, trace=None):
    """Recorded by `memtrace` with these options; without a trace, full buffers are discarded."""
    words = f"{words} output={trace}" if trace else "none"
    figures = timed(*under_memtrace(words, command, environment))
    if trace:
        figures["trace_bytes"] = taken_away(trace)
    return figures


def entries(command, environment):
    """How many accesses `memtrace` finds."""
    text = printed(*under_memtrace("none", command, environment))
    return int(re.search(r"^memtrace (\d+)$", text, re.M).group(1))


def install_measured():
    build_measure()
    folder = MEASURED / "lib" / "trackway" / "dynamorio"
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("home", "client.so"):
        (folder / part).unlink(missing_ok=True)
        (folder / part).symlink_to((BUILT / part).resolve())
    launcher = folder / "launch"
    launcher.write_text(f'#!/bin/sh\nexec "{MEASURE}" "{OWN_TIME}" "{BUILT / "launch"}" "$@"\n')
    launcher.chmod(0o755)


def recorded(options, command, environment, trace=None, **settings):
    """By `trackway record --binary`, after `install_measured`; without a trace, full buffers are discarded.

    `wall_s` and `cpu_s` are those of the whole command, `program_cpu_s` is that of the program under DynamoRIO with the
    client, `recorder_cpu_s` the rest.
    """
    destination = ["-f", "-o", trace] if trace else ["--discard"]
    words = [TRACKWAY, "record", "--binary", "-q", *options, *destination, "--", *command]
    figures = apart(timed(words, dict(environment, TRACKWAY_HOME=str(MEASURED)), **settings), OWN_TIME)
    if trace:
        figures["trace_bytes"] = os.path.getsize(trace)
    return figures


def accesses(trace):
    """Those that a trace of ours holds."""
    return sum(int(row["accesses"]) for row in table(trace, "--cache", "none", "--by", "kind"))


def without_debug_information(program):
    """A copy for valgrind, which gives up on some of clang's."""
    copy = program.parent / f"{program.name}.stripped"
    call("objcopy", "--strip-debug", program, copy)
    return copy


def lackey(command, environment):
    """Valgrind's tool that prints each access, and each instruction, as a line."""
    command = [without_debug_information(command[0]), *command[1:]]
    options = ["--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"]
    return timed(["valgrind", *options, *command], environment)


def drmemtrace_home():
    """The release of DynamoRIO that DYNAMORIO_HOME names, if it has drmemtrace."""
    home = Path(os.environ.get("DYNAMORIO_HOME") or "/nonexistent")
    parts = [home / "bin64" / "drrun", home / "tools" / "drmemtrace.drrun64"]
    return home if all(part.exists() for part in parts) else None


def drmemtrace(command, environment, folder):
    """Offline, as it writes while the program runs: raw files, compressed by LZ4."""
    options = ["-t", "drmemtrace", "-offline", "-raw_compress", "lz4", "-outdir", folder]
    folder.mkdir()
    figures = timed([drmemtrace_home() / "bin64" / "drrun", *options, "--", *command], environment)
    figures["trace_bytes"] = sum(file.stat().st_size for file in folder.rglob("raw/*"))
    shutil.rmtree(folder)
    return figures


def taken_away(trace):
    """Bytes of a trace that isn't needed any more; of further threads too."""
    files = [trace, *trace.parent.glob(f"{trace.name}.*")]
    size = sum(file.stat().st_size for file in files)
    for file in files:
        file.unlink()
    return size
