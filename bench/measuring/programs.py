"""Building what is measured: workloads plain and traced, and recorders of other schemes beside them."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
OUT = BUILD / "bench"
TRACKWAY = BUILD / "bin" / "trackway"
MEASURE = OUT / "measure"
DECODE = ROOT / "target" / "release" / "examples" / "decode_trace"
RECORD_BYTES = DECODE.with_name("record_bytes")
PLUGIN = BUILD / "lib" / "trackway" / "TrackwayPass.so"

GRAPHS = ("bfs", "betweenness", "components", "pagerank", "paths", "triangles")
FLAGS = {name: ["-fopenmp"] for name in GRAPHS} | {"threads": ["-pthread"], "kvstore": ["-pthread"]}
# Makes <trackway.h> define regions as nothing, as without Trackway.
WITHOUT_REGIONS = "-U__TRACKWAY__"


def call(*command, **settings):
    """The output of a command; its failure ends the benchmark."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, **settings)
    if done.returncode != 0:
        sys.exit(f"bench: status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_measure():
    """`measure`, which tells a program's own time from a recorder's."""
    OUT.mkdir(parents=True, exist_ok=True)
    call("clang-22", "-O2", ROOT / "bench" / "measure.c", "-o", MEASURE)


def build_tools():
    """`measure`; `decode_trace`, which counts accesses; `record_bytes`, which says where the bytes of records go."""
    build_measure()
    examples = [word for program in (DECODE, RECORD_BYTES) for word in ("--example", program.name)]
    call("cargo", "build", "--release", "--quiet", "--locked", "--workspace", *examples, cwd=ROOT)


def workload(variant, name):
    """The program of a workload, `plain` or `traced`."""
    call("make", "-s", "-C", ROOT / "workloads", variant, f"W={name}", f"OUT={OUT}/programs")
    return OUT / "programs" / variant / name


def sources_of(name):
    folder = ROOT / "workloads" / name
    return sorted(folder.glob("*.c")) if folder.is_dir() else sorted(ROOT.glob(f"workloads/{name}.c*"))


def is_cxx(name):
    return sources_of(name)[0].suffix == ".cpp"


def plain_compiler(name):
    return ["clang++-22" if is_cxx(name) else "clang-22"]


def traced_compiler(name):
    return [TRACKWAY, "c++" if is_cxx(name) else "cc"]


def compiled(variant, name, compiler, *flags, environment=None):
    """The program of a workload by another compiler, or with more flags."""
    program = OUT / "programs" / variant / name
    program.parent.mkdir(parents=True, exist_ok=True)
    words = [*compiler, "-O2", "-g", *FLAGS.get(name, []), *flags]
    call(*words, *sources_of(name), "-o", program, env=environment)
    return program


def with_calls(baseline, name, *flags):
    """The plain program with a call for each access, answered by bench/baselines/BASELINE.c."""
    answer = OUT / "programs" / f"{baseline}.o"
    answer.parent.mkdir(parents=True, exist_ok=True)
    call("clang-22", "-O2", "-c", ROOT / "bench" / "baselines" / f"{baseline}.c", "-o", answer)
    environment = dict(os.environ, TRACKWAY_PASS_OPTIONS="only-oracle=1")
    flags = (f"-fpass-plugin={PLUGIN}", *flags, answer)
    return compiled(baseline, name, plain_compiler(name), *flags, environment=environment)


def counting(name):
    """Counts in its regions."""
    return compiled("counting", name, [*traced_compiler(name), "--count"])


def counting_everything(name):
    """Counts as one region: the whole program."""
    return compiled("counting_everything", name, [*traced_compiler(name), "--count"], WITHOUT_REGIONS)


def traced_everything(name):
    """The same code as `counting_everything` compiles, traced."""
    return compiled("traced_everything", name, traced_compiler(name), WITHOUT_REGIONS)


def with_region_clock(name):
    """The plain program with a clock in each region."""
    header = ROOT / "bench" / "region_clock.h"
    return compiled("region_clock", name, plain_compiler(name), "-include", header)


def default_codec():
    """The codec that `trackway record` uses when none is asked for."""
    found = re.search(r"--codec <.*?\[default: ([\w+-]+)\]", call(TRACKWAY, "record", "--help"), re.S)
    return found.group(1) if found else "lz4"
