"""Traces that the tests read: those of the format's test vectors, and of programs that are recorded once."""

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TRACKWAY = ROOT / "build" / "bin" / "trackway"
GOLDEN = ROOT / "trace" / "vectors" / "golden-v2.trackway"
COUNTS = ROOT / "trace" / "vectors" / "counts-v2.trackway"
PROGRAMS = ROOT / "tests" / "programs"


def trackway(*words: object, cwd: Path | None = None) -> str:
    """What the command line prints; fails if it does."""
    done = subprocess.run([str(TRACKWAY), *map(str, words)], capture_output=True, text=True, timeout=600, cwd=cwd)
    if done.returncode != 0:
        raise AssertionError(f"trackway {words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def answer(verb: str, trace: Path, *options: str) -> dict[str, Any]:
    """What a verb prints as JSON."""
    answered: dict[str, Any] = json.loads(trackway(verb, "--json", *options, trace))
    return answered


@functools.cache
def folder() -> Path:
    """Where traces are recorded; it goes away with the process."""
    parent = ROOT / "build" / "tests"
    parent.mkdir(parents=True, exist_ok=True)
    made = tempfile.TemporaryDirectory(prefix="python-", dir=parent)
    kept.append(made)
    return Path(made.name)


kept: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def recorded(source: str, *arguments: str) -> Path:
    """The trace of a C program of this folder, or of tests/programs, that is compiled at -O1."""
    path = next(path for path in (Path(__file__).parent / source, PROGRAMS / source) if path.exists())
    program = folder() / path.stem
    trace = program.with_suffix(".trackway")
    trackway("cc", "-O1", "-g", path, "-o", program, "-pthread", "-lm")
    options = ("-q", "-f", "--buffer-size", "16K")  # so that it has many chunks
    trackway("record", *options, "-o", trace, "--", program, *arguments, cwd=folder())
    return trace


@functools.cache
def chunked(source: str, *arguments: str) -> Path:
    """The same, recorded with the smallest buffers: several chunks for each thread."""
    program = recorded(source, *arguments).with_suffix("")
    trace = program.with_suffix(".chunked.trackway")
    options = ("--buffer-size", "16K", "--buffers", "64")
    trackway("record", "-q", "-f", *options, "-o", trace, "--", program, *arguments, cwd=folder())
    return trace


# docs/format.md, section 2: bytes of the file's header and of a chunk's, and the kind of chunks of records.
FILE_HEADER, CHUNK_HEADER, RECORDS = 32, 64, 3


def damage_a_chunk(trace: Path, copy: Path) -> None:
    """Copies a trace and changes a byte in the payload of a chunk of records: the one in the middle."""
    data = bytearray(trace.read_bytes())
    position, records = FILE_HEADER, []
    while position + CHUNK_HEADER <= len(data):
        stored = int.from_bytes(data[position + 44 : position + 48], "little")
        if data[position + 4] == RECORDS and stored > 0:
            records.append(position + CHUNK_HEADER + stored // 2)
        position += CHUNK_HEADER + stored
    data[records[len(records) // 2]] ^= 0xFF
    copy.write_bytes(data)


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}
