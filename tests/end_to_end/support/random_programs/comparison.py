"""A program built with and without tracing, at the same level: same output, same exit status, trace equal to the oracle's.

What the tests of random programs and tests/torture/run share.
"""

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .. import tools

# Recording with the oracle, and on a busy machine, may take this many times the limit of the plain program.
PATIENCE = 30


class Difference(AssertionError):
    """What the two programs, or trace and oracle, disagree in."""


class Unusable(Exception):
    """The plain program takes too long."""


@dataclass(frozen=True)
class Setting:
    """How a program is built and recorded."""

    level: str = "-O2"
    version: int = tools.LLVM_VERSION
    place: str = "late"
    calls: bool = True
    values: str = ""  # pattern of --values; none: no values
    record_options: tuple = ()

    @property
    def name(self):
        return f"{self.level}-llvm{self.version}-{self.place}{'' if self.calls else '-without-calls'}"


def is_usable(folder, corpus, version, limit_s):
    """Whether the program of a corpus ends, as it should. One that doesn't without optimisation is undefined: the
    optimiser takes for granted that loops without effects end."""
    try:
        status, _ = Comparison(folder, corpus.source, corpus.flags, Setting("-O0", version)).expected(limit_s)
    except Unusable:
        return False
    return status in corpus.statuses


class Comparison:
    """Of one program at one setting, in a folder that holds its source; the other files are made there."""

    def __init__(self, folder, source, flags, setting):
        flags = [setting.level, *flags, source]
        language = tools.compiler_for(source)
        compiler = tools.plain_compiler(source, setting.version)
        own = ["--oracle", f"--place={setting.place}", f"--calls={setting.calls:d}", tools.choice_of(compiler)]
        own += [f"--values={setting.values}"] if setting.values else []
        self.folder = folder
        self.plain_build = (compiler, *flags, "-o", "plain")
        self.plain = ("./plain",)
        self.traced_build = (tools.TRACKWAY, language, *own, *flags, "-o", "traced")
        self.unrecorded = ("./traced",)
        self.recorded = (tools.TRACKWAY, "record", "-q", "-f", "-o", "trace", *setting.record_options, "--", "./traced")
        self.verification = (tools.TRACKWAY, "verify", "trace")

    def run(self, limit_s):
        """How many accesses agree. A Difference says what doesn't."""
        expected = self.expected(limit_s)
        self.build(self.traced_build)
        for command in (self.unrecorded, self.recorded):
            self.compare(command, expected, limit_s * PATIENCE)
        try:
            return tools.verified_accesses(Path(self.folder, "trace"), compared_by="self.compare")
        except AssertionError as problem:
            raise Difference(str(problem)) from problem

    def expected(self, limit_s):
        """Status and output of the plain program."""
        self.build(self.plain_build)
        try:
            return self.observe(self.plain, limit_s)
        except subprocess.TimeoutExpired:
            raise Unusable from None

    def build(self, command):
        try:
            tools.run(*command, cwd=self.folder)
        except (tools.CommandFailed, subprocess.TimeoutExpired) as problem:
            raise Difference(str(problem)) from problem

    def compare(self, command, expected, limit_s):
        Path(self.folder, "trace").unlink(missing_ok=True)
        name = " ".join(map(str, command))
        try:
            seen = self.observe(command, limit_s)
        except subprocess.TimeoutExpired:
            raise Difference(f"{name}: not done after {limit_s} s") from None
        if seen != expected:
            raise Difference(f"{name}: status and output are {seen}, those of the plain program {expected}")

    def observe(self, command, limit_s):
        done = tools.run(*command, check=False, time_limit_s=limit_s, cwd=self.folder)
        # The recorder ends as a shell says it: 128 and the signal.
        status = 128 - done.returncode if done.returncode < 0 else done.returncode
        return status, done.stdout

    def script(self):
        """The commands, for a shell in the folder."""
        commands = (self.plain_build, self.plain, self.traced_build, self.unrecorded, self.recorded, self.verification)
        return "".join(shlex.join(map(str, command)) + "\n" for command in commands)
