"""Building and running real programs, plain and traced. A traced run must print what the plain one prints."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from . import binaries, timing
from .code_size import section_sizes
from .programs import OUT, TRACKWAY
from .real_sources import DRIVERS, text

BUILDS = OUT / "real"
COMPILERS = {
    "plain": {"CC": "clang-22", "CXX": "clang++-22"},
    "traced": {"CC": str(TRACKWAY.with_name("trackway-cc")), "CXX": str(TRACKWAY.with_name("trackway-c++"))},
}
CLIENT_LIMIT_S = 600


@contextmanager
def named_in_failures(name):
    """A command's failure ends the benchmark; this adds what the command belonged to."""
    try:
        yield
    except SystemExit as end:
        sys.exit(f"{end.code}\nbench: the failure is that of {name}" if isinstance(end.code, str) else end.code)


def build(program, variant):
    """Builds a variant from a fresh copy of the sources. Returns the CPU time of that and the sizes of its sections."""
    folder = BUILDS / variant / program.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(program.source(), folder, symlinks=True)
    environment = dict(os.environ, DRIVERS=str(DRIVERS), **COMPILERS[variant])
    with named_in_failures(f"{program.name}, {variant}"):
        seconds = timing.timed(["bash", "-ec", program.build], environment, cwd=folder)["cpu_s"]
    code, tables = section_sizes([folder / "program"])
    whole = (folder / "program").stat().st_size
    figures = {"compile_cpu_s": seconds, "text_bytes": code, "table_bytes": tables, "file_bytes": whole}
    (folder / "figures.json").write_text(json.dumps(figures))
    return figures


def built_before(program, variant):
    """The figures of an earlier build; without one, builds."""
    file = BUILDS / variant / program.name / "figures.json"
    figures = json.loads(file.read_text()) if file.exists() else {}
    return figures if "file_bytes" in figures else build(program, variant)


@contextmanager
def client_beside(program, folder, environment):
    """The client of a server waits for it beside; when the block is left, what it printed is in the file `replies`."""
    if not program.client:
        yield
        return
    with open(folder / "replies", "wb") as replies:
        client = subprocess.Popen(["bash", "-c", f"exec {program.client}"], stdout=replies, env=environment, cwd=folder)
    try:
        yield
        status = client.wait(CLIENT_LIMIT_S)
    finally:
        client.kill()
        client.wait()
    if status != 0:
        sys.exit(f"bench: {program.name}: status {status}: {program.client}")


class Runs:
    """Runs of one program in a scratch folder; the first must be a plain one, with whose output the others' are compared."""

    def __init__(self, program, scratch):
        self.program = program
        self.scratch = Path(scratch)
        self.trace = self.scratch / "trace"
        self.expected = None

    def alone(self, variant, cores=None):
        return self._run(variant, cores, lambda start, words, **settings: timing.alone(start, words, **settings))

    def recorded(self, options, trace=None, cores=None):
        return self._run(
            "traced", cores, lambda start, words, **settings: timing.recorded(start, words, options, trace, **settings)
        )

    def idle(self):
        return self._run_words(binaries.idle)

    def recorded_as_binary(self, options, trace=None):
        def run(words, environment, **settings):
            return binaries.recorded(options, words, environment, trace, **settings)

        return self._run_words(run)

    def _run_words(self, run):
        """A run of the plain program without a shell around it, which would be recorded as well."""

        def run_program(start, words, environment, **settings):
            expand = [start, "-c", f'printf "%s\\0" {self.program.run}']
            expanded = subprocess.run(expand, env=environment, capture_output=True, check=True)
            return run(expanded.stdout.decode().split("\0")[:-1], environment, **settings)

        return self._run("plain", None, run_program)

    def _run(self, variant, cores, run):
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder, on_cores(cores):
            folder = Path(folder)
            (folder / "text").symlink_to(text())
            environment = dict(
                os.environ,
                PROGRAM=str(BUILDS / variant / self.program.name / "program"),
                DRIVERS=str(DRIVERS),
                CLIENT=str(BUILDS / "plain" / self.program.name / "client"),
                OMP_NUM_THREADS=str(self.program.threads),
            )
            output = self.scratch / "output"
            with named_in_failures(f"{self.program.name}, {variant}"), client_beside(self.program, folder, environment):
                figures = run("/bin/bash", ["-c", f"exec {self.program.run}"], environment=environment, cwd=folder, output=output)
            self._check((folder / "replies" if self.program.client else output).read_bytes(), variant)
            return figures

    def _check(self, printed, variant):
        if self.expected is None:
            self.expected = printed
        if printed != self.expected:
            kept = BUILDS / f"{self.program.name}.printed"
            kept.write_bytes(printed)
            sys.exit(f"bench: {self.program.name}, {variant}: a run printed something else than the first, plain run: {kept}")


@contextmanager
def on_cores(cores):
    """What is started meanwhile runs on these processors only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
