"""What the tests share: where things are, how programs are compiled, recorded and verified."""

import json
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
TRACKWAY = BUILD / "bin" / "trackway"
PROGRAMS = ROOT / "tests" / "programs"
LLVM_VERSION = 19
LEVELS = ("-O0", "-O1", "-O2", "-O3")
TIME_LIMIT_S = 900  # however busy the machine

_once = threading.Lock()
_made = {}


def once(key, make):
    """The result of make(), which runs only the first time that any test asks for `key`."""
    with _once:
        lock, _ = _made.setdefault(key, (threading.Lock(), []))
    with lock:
        result = _made[key][1]
        if not result:
            result.append(make())
        return result[0]


class CommandFailed(AssertionError):
    pass


def run(*command, check=True, time_limit_s=TIME_LIMIT_S, **settings):
    """Runs a command; returns the finished process with its text output. Fails on a non-zero status if `check`."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=time_limit_s, errors="replace", **settings)
    if check and done.returncode != 0:
        raise CommandFailed(f"status {done.returncode}: {' '.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done


def folder():
    """A folder of its own for a test, removed when the returned object is."""
    parent = BUILD / "tests"
    parent.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=parent)


def trackway(*arguments, **settings):
    return run(TRACKWAY, *arguments, **settings)


def compiler_for(source):
    """The verb of trackway that compiles it."""
    return {".cpp": "c++", ".cc": "c++", ".f90": "fc", ".F90": "fc"}.get(Path(source).suffix, "cc")


def plain_compiler(source, version=LLVM_VERSION):
    name = {"cc": "clang", "c++": "clang++", "fc": "flang-new"}[compiler_for(source)]
    return f"{name}-{version}"


def compile_plain(output, sources, *flags, version=LLVM_VERSION):
    run(plain_compiler(sources[0], version), *flags, *sources, "-o", output)
    return output


def choice_of(compiler):
    """The wrapper's option that names the compiler."""
    return f"--{'flang' if 'flang' in compiler else 'clang'}={compiler}"


def compile_traced(output, sources, *flags, oracle=True, version=LLVM_VERSION):
    """Compiles with the pass; with the oracle unless told otherwise."""
    own = [choice_of(plain_compiler(sources[0], version)), *(["--oracle"] if oracle else [])]
    trackway(compiler_for(sources[0]), *own, *flags, *sources, "-o", output)
    return output


def record(trace, program, *arguments, options=(), **settings):
    """Records a program; returns the finished recorder, whose status is the program's."""
    return trackway("record", "-f", "-o", trace, *options, "--", program, *arguments, **settings)


def verified_accesses(trace):
    """How many accesses equal the oracle's; fails on a difference."""
    output = trackway("verify", trace).stdout
    last = output.strip().splitlines()[-1]
    match = re.fullmatch(r"oracle: ([\d,_]+) accesses equal", last)
    if not match:
        raise AssertionError(f"verify ended with {last!r}\n{output}")
    return int(re.sub(r"\D", "", match.group(1)))


def report(trace, *arguments):
    return json.loads(trackway("report", "--json", *arguments, trace).stdout)


def program_output(recorded):
    """What the program itself printed."""
    return recorded.stdout


def environment(**changes):
    merged = dict(os.environ)
    merged.update(changes)
    return merged
