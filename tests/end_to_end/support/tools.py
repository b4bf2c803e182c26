"""What the tests share: where things are, how programs are compiled, recorded and verified.

A program with the oracle is compared with its plain build wherever it is recorded: same output, same exit status. So
`verify` can't say "equal" of a program that tracing broke. `verified_accesses` takes no trace without that comparison.
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
TRACKWAY = BUILD / "bin" / "trackway"
PROGRAMS = ROOT / "tests" / "programs"
LLVM_VERSION = 22
LEVELS = ("-O0", "-O1", "-O2", "-O3")
TIME_LIMIT_S = 900  # however busy the machine

# Tests ask traces anew, and leave nothing in the user's folder of kept answers.
os.environ["TRACKWAY_FRESH"] = "1"

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


def shell_status(done):
    """The exit status as a shell and the recorder state it: 128 + N after signal N."""
    return 128 - done.returncode if done.returncode < 0 else done.returncode


class CommandFailed(AssertionError):
    pass


def run(*command, check=True, time_limit_s=TIME_LIMIT_S, **settings):
    """Runs a command; returns the finished process with its text output. Fails on a non-zero status if `check`."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=time_limit_s, errors="replace", **settings)
    if check and done.returncode != 0:
        raise CommandFailed(f"status {done.returncode}: {' '.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done


def read_line(stream):
    """The next line of a pipe, and nothing past it: what `readline` has read ahead is lost to `communicate`."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode(errors="replace")


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
    if oracle:
        has_plain(output, lambda: plain_build(sources, flags, version, Path(output).name))
    else:
        _plain_builds.pop(str(output), None)
    return output


# ---- The plain build of a program with the oracle ----

_plain_builds = {}  # by the program's path
_compared = set()  # traces of programs that did what their plain builds do
OPTIONS_OF_THE_PASS = ("--place=", "--calls=", "--order=", "--values=", "--ignorelist=", "--allocators=", "--inherit=",
                       "--library=", "--library-effects=")


def has_plain(program, build):
    """Says how the plain build of a program with the oracle is made: build() returns its path."""
    _plain_builds[str(program)] = build


def plain_build(sources, flags, version=LLVM_VERSION, name="program"):
    """Made once from the same sources, with the same flags but those of the pass."""
    sources = [str(plain_of(source)) for source in sources]
    flags = [str(flag) for flag in flags if not str(flag).startswith(OPTIONS_OF_THE_PASS)]
    content = hashlib.sha256(repr((sources, flags, version)).encode())
    for source in filter(os.path.exists, sources):  # options may stand between them
        content.update(Path(source).read_bytes())
    output = BUILD / "tests" / "plain" / content.hexdigest()[:16] / name
    output.parent.mkdir(parents=True, exist_ok=True)
    return once(("plain", output), lambda: compile_plain(output, sources, *flags, version=version))


def plain_of(word):
    """The plain build, if the word of a command is a program with the oracle; else the word."""
    build = _plain_builds.get(str(word))
    return build() if build else word


def record(trace, program, *arguments, options=(), differs="", **settings):
    """Records a program; returns the finished recorder, whose status is the program's. One with the oracle must do what
    its plain build does, unless `differs` says why two runs of the plain build would not do the same."""
    command = (program, *arguments)
    recorded = trackway("record", "-f", "-o", trace, *options, "--", *command, **settings)
    if any(str(word) in _plain_builds for word in command):
        if not differs:
            compare_with_plain(recorded, command, settings)
        _compared.add(str(trace))
    return recorded


def compare_with_plain(recorded, command, settings):
    """Output and exit status; the recorder ends as a shell says it, with 128 and the signal."""
    plain = run(*map(plain_of, command), **{**settings, "check": False})
    expected = (shell_status(plain), without_addresses(plain.stdout))
    actual = (recorded.returncode, without_addresses(recorded.stdout))
    if actual != expected:
        raise AssertionError(f"{' '.join(map(str, command))}: recorded, status and output are {actual}, those of the "
                             f"plain program {expected}")


def without_addresses(output):
    """Where the system loads a program differs from run to run."""
    return re.sub(r"\b0x[0-9a-f]{9,}\b", "ADDRESS", output)


def verified_accesses(trace, compared_by=""):
    """How many accesses equal the oracle's; fails on a difference. `compared_by` says what else has compared the program
    with its plain build, if `record` hasn't."""
    if str(trace) not in _compared and not compared_by:
        raise AssertionError(f"{trace}: nothing compared the program with its plain build")
    output = trackway("verify", trace).stdout
    last = output.strip().splitlines()[-1]
    match = re.fullmatch(r"oracle: ([\d,_]+) accesses equal", last)
    if not match:
        raise AssertionError(f"verify ended with {last!r}\n{output}")
    return int(re.sub(r"\D", "", match.group(1)))


def report(trace, *arguments):
    return json.loads(trackway("report", "--json", *arguments, trace).stdout)


def table(report, name):
    return next(table for table in report["tables"] if table["name"] == name)


def program_output(recorded):
    """What the program itself printed."""
    return recorded.stdout


def environment(**changes):
    merged = dict(os.environ)
    merged.update(changes)
    return merged
