"""A reader of drmemtrace traces of its own, and of what drmemtrace's tools printed for the recorded ones."""

import gzip
import os
import re
import struct
import subprocess
import zipfile
from pathlib import Path

from . import tools

FIXTURES = tools.ROOT / "interchange" / "tests" / "drmemtrace"
READ, WRITE, NOT_FETCHED, MARKER, SYSTEM_ENTRY, TAKEN, UNTAKEN = 0, 1, 29, 28, 31, 48, 49
BRANCH_TARGET = 29
INSTRUCTIONS = (*range(10, 17), SYSTEM_ENTRY, TAKEN, UNTAKEN)


def entries(path):
    """(type, size, value) of a file's entries."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
    elif path.suffix == ".gz":
        content = gzip.decompress(path.read_bytes())
    else:
        content = subprocess.run(["lz4", "-dc", path], stdout=subprocess.PIPE, check=True).stdout
    return list(struct.iter_unpack("<HHQ", content))


def threads(folder):
    """The entries of each thread, in the order of the names of the files."""
    return [entries(path) for path in sorted(folder.glob("*.trace.*"))]


def executed(thread):
    """What a thread's instructions are, where they go, and what they access; without what exports can't keep."""
    kept = []
    for kind, size, value in thread:
        if kind in (10, SYSTEM_ENTRY):
            kept.append(("instruction", size, value))
        elif kind in INSTRUCTIONS or kind in (READ, WRITE, NOT_FETCHED):
            kept.append((kind, size, value))
        elif (kind, size) == (MARKER, BRANCH_TARGET):
            kept.append(("target", 0, value))
    return kept


def installed():
    """The launcher of DynamoRIO's release that DYNAMORIO_HOME names, if it has drmemtrace's own tools."""
    home = Path(os.environ.get("DYNAMORIO_HOME") or "/nonexistent")
    parts = [home / "bin64" / "drrun", home / "tools" / "drmemtrace.drrun64"]
    return parts[0] if all(part.exists() for part in parts) else None


def counts_by_its_own_tool(folder):
    """The same as `printed_counts`, of a trace that `installed` reads."""
    words = (installed(), "-t", "drmemtrace", "-tool", "basic_counts", "-indir", folder)
    return counts_of(tools.run(*words).stderr)


def printed_counts(folder):
    """By thread: fetched and other instructions, loads, stores."""
    return counts_of((folder / "basic_counts.txt").read_text())


def counts_of(text):
    counts = {}
    thread = None
    for line in text.splitlines():
        if match := re.match(r"Thread (\d+) counts", line):
            thread = int(match[1])
            counts[thread] = {}
        elif thread is not None and (match := re.fullmatch(r"\s*(\d+) (.*)", line)):
            counts[thread][match[2]] = int(match[1])
    names = ("(fetched) instructions", "non-fetched instructions", "data loads", "data stores")
    return [tuple(counts[thread][name] for name in names) for thread in sorted(counts)]


def printed_caches(folder):
    """By the name of the cache: what cache_simulator printed."""
    caches = {}
    for line in (folder / "cache_simulator.txt").read_text().splitlines():
        if match := re.match(r"\s*(\w+) \(size=(\d+), assoc=(\d+)", line):
            caches[match[1]] = {"size_bytes": int(match[2]), "ways": int(match[3])}
            present = caches[match[1]]
        elif match := re.fullmatch(r"\s*([A-Z][a-z ]+):\s+(\d+)", line):
            present[match[1]] = int(match[2])
    return caches
