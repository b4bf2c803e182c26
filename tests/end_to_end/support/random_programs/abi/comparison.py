"""A program of some signatures, built plainly and with tracing on one side or on both: same output, same status."""

import shlex
import subprocess
from pathlib import Path

from ... import tools
from ..comparison import Difference, Unusable
from .programs import Program

RUNS_TO_BE_STEADY = 40
LIMIT_S = 120  # however busy the machine; a program takes milliseconds


class Comparison:
    """Of the program of some seeds at one configuration, in an empty folder."""

    def __init__(self, folder, seeds, suffix, configuration):
        self.folder, self.seeds, self.suffix, self.configuration = Path(folder), list(seeds), suffix, configuration
        self.program = Program(seeds, suffix, configuration.version)
        self.plain_build = [*self.objects("plain", ()), *self.links("plain", ())]
        sides = [side for side in ("caller", "callee") if configuration.is_traced(side)]
        self.traced_build = [*self.objects("traced", sides)[1:], *self.links("traced", sides)]
        record = (tools.TRACKWAY, "record", "-q", "-f", "-o", "trace", "--", "./traced/program")
        self.runs = [("./traced/program",), record]

    # ---- Commands ----

    def compiler(self, is_traced):
        plain = tools.plain_compiler(self.program.caller, self.configuration.version)
        if not is_traced:
            return (plain,)
        return (tools.TRACKWAY, tools.compiler_for(self.program.caller), tools.choice_of(plain),
                *self.configuration.pass_options)

    def objects(self, variant, traced_sides):
        """The helpers, which are never traced, and both sides. The traced program takes plain sides as they are."""
        position = ("-fPIC",) if self.configuration.link == "shared" else ()
        common = (*self.program.flags, "-c")
        commands = [(*self.compiler(False), *common, "-O0", *position, self.program.helpers, "-o", "helpers.o")]
        for side in traced_sides or (("caller", "callee") if variant == "plain" else ()):
            source = getattr(self.program, side)
            commands.append((*self.compiler(side in traced_sides), *common, *self.configuration.compiler_flags, source,
                             "-o", f"{variant}/{side}.o"))
        return commands

    def links(self, variant, traced_sides):
        where = {side: f"{variant if side in traced_sides else 'plain'}/{side}.o" for side in ("caller", "callee")}
        flags = self.configuration.linker_flags
        if self.configuration.link != "shared":
            return [(*self.compiler(bool(traced_sides)), *flags, *where.values(), "helpers.o", "-o", f"{variant}/program")]
        return [
            (*self.compiler("callee" in traced_sides), "-shared", where["callee"], "helpers.o", "-o",
             f"{variant}/libcallee.so"),
            (*self.compiler("caller" in traced_sides), where["caller"], f"-L{variant}", "-lcallee",
             "-Wl,-rpath,$ORIGIN", "-o", f"{variant}/program"),
        ]

    def script(self):
        commands = [*self.plain_build, ("./plain/program",), *self.traced_build, *self.runs]
        commands += [(tools.TRACKWAY, "verify", "trace")] if self.configuration.has_oracle else []
        return "mkdir -p plain traced\n" + "".join(shlex.join(map(str, command)) + "\n" for command in commands)

    # ---- The check ----

    def run(self):
        """How many lines of output agree. A Difference says what doesn't; Unusable, that the compiler itself fails."""
        self.program.write(self.folder)
        for variant in ("plain", "traced"):
            (self.folder / variant).mkdir(exist_ok=True)
        expected = self.expected()
        self.build(self.traced_build, Difference)
        for command in self.runs:
            self.compare(command, expected)
        if self.configuration.has_oracle:
            self.verify()
        return expected.stdout.count("\n")

    def expected(self):
        self.build(self.plain_build, Unusable)
        done, other = (self.observe(("./plain/program", *words)) for words in ((), ("another pattern",)))
        if done.returncode != 0:
            raise Unusable(f"the plain program ends with {done.returncode}", last_seed(done.stdout))
        if other.stdout != done.stdout:
            seed, line = first_difference(other.stdout, done.stdout)
            raise Unusable(f"the plain program shows what nothing wrote: {line}", seed)
        return done

    def build(self, commands, kind):
        for command in commands:
            try:
                tools.run(*command, cwd=self.folder)
            except (tools.CommandFailed, subprocess.TimeoutExpired) as problem:
                raise kind(str(problem), None) from problem

    def observe(self, command):
        return tools.run(*command, check=False, time_limit_s=LIMIT_S, cwd=self.folder)

    def compare(self, command, expected):
        name = " ".join(map(str, command))
        try:
            done = self.observe(command)
        except subprocess.TimeoutExpired:
            raise Difference(f"{name}: not done after {LIMIT_S} s", None) from None
        if (done.returncode, done.stdout) == (expected.returncode, expected.stdout):
            return
        self.require_steady(expected)
        seed, line = first_difference(done.stdout, expected.stdout)
        raise Difference(f"{name}: status {done.returncode}, seed {seed}: {line}\n{done.stderr[-2000:]}", seed)

    def require_steady(self, expected):
        """What depends on where the system puts the stack, as over-aligned variable arguments do, shows in some runs only."""
        for _ in range(RUNS_TO_BE_STEADY):
            done = self.observe(("./plain/program",))
            if done.stdout != expected.stdout:
                seed, line = first_difference(done.stdout, expected.stdout)
                raise Unusable(f"two runs of the plain program differ: {line}", seed)

    def verify(self):
        try:
            tools.verified_accesses(self.folder / "trace", compared_by="self.compare")
        except AssertionError as problem:
            raise Difference(str(problem), None) from problem


def last_seed(output):
    lines = output.splitlines()
    return int(lines[-1].split()[0]) if lines else None


def first_difference(seen, expected):
    """The seed that the first line in which the outputs differ belongs to, and what both say."""
    seen, expected = seen.splitlines(), expected.splitlines()
    for ours, theirs in zip(seen, expected, strict=False):  # either may have ended early
        if ours != theirs:
            return int(theirs.split()[0]), f"{ours!r} instead of {theirs!r}"
    after = expected[len(seen):]
    return (int(after[0].split()[0]), f"ends before {after[0]!r}") if after else (last_seed("\n".join(seen)), "further lines")
