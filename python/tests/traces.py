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
GOLDEN = ROOT / "trace" / "vectors" / "golden-v1.trackway"
COUNTS = ROOT / "trace" / "vectors" / "counts-v1.trackway"
PROGRAMS = ROOT / "tests" / "programs"


def trackway(*words: object, **settings: Any) -> str:
    """What the command line prints; fails if it does."""
    done = subprocess.run([str(TRACKWAY), *map(str, words)], capture_output=True, text=True, timeout=600, **settings)
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


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}
