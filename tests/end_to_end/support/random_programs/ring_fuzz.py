"""Programs that overwrite the ring while they are recorded.

Such a program may only spoil its own recording. The recorder neither crashes nor hangs, its memory stays bounded, the
program's output and status are the program's, and what is left of the trace can be read.
"""

import resource
import subprocess

from .. import tools

SOURCES = tools.ROOT / "tests" / "survival"
SMALL = ("--buffer-size", "16K", "--buffers", "4")
WAYS = {
    "traced": ((), ("record", "-f", "-o", "{trace}", *SMALL)),
    "counting": (("--count",), ("record", "-f", "-o", "{trace}", *SMALL)),
    "allocations": ((), ("record", "-f", "-o", "{trace}", "--allocations", *SMALL)),
    "watched": (("--count",), ("top", "--interval", "10ms", "--csv", "{trace}")),
}
# The program's own harm: it reads the words that it has overwritten.
OWN_ENDS = {8, 128 + 5, 128 + 7, 128 + 11, 128 + 14}
MOST_BYTES = 3 << 30
LIMIT_S = 60


class Broken(AssertionError):
    pass


def build(folder, flags):
    name = f"{folder}/scribbled{''.join(flags)}"
    include = ("-I", tools.ROOT / "collectors" / "ring")
    tools.run(f"clang-{tools.LLVM_VERSION}", "-O1", "-c", *include, SOURCES / "scribbler.c", "-o", f"{name}.o")
    tools.compile_traced(name, [SOURCES / "scribbled.c"], *flags, "-O1", "-pthread", f"{name}.o", oracle=False)
    return name


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


class Fuzzer:
    def __init__(self, folder):
        self.folder = folder
        self.programs = {flags: build(folder, flags) for flags in {flags for flags, _ in WAYS.values()}}
        self.expected = tools.run(self.programs[()], check=False).stdout

    def run(self, seed):
        """Returns "intact", "damaged" or "ended" (the program by its own harm); raises Broken."""
        way = list(WAYS)[seed % len(WAYS)]
        flags, command = WAYS[way]
        trace = f"{self.folder}/{seed}.trackway"
        words = [word.format(trace=trace) for word in command]
        command = [tools.TRACKWAY, *words, "--", self.programs[flags], seed // len(WAYS)]
        try:
            done = tools.run(*command, check=False, time_limit_s=LIMIT_S, preexec_fn=limit_memory)
        except subprocess.TimeoutExpired as hang:
            raise Broken(f"seed {seed}: it hangs") from hang
        self.check(seed, way, done)
        if way != "watched":
            self.read(seed, trace)
        if done.returncode != 8:
            return "ended"
        return "damaged" if "RECORDING IS DAMAGED" in done.stderr else "intact"

    def check(self, seed, way, done):
        said = f"seed {seed} ({way}): status {done.returncode}\n{done.stderr[-3000:]}"
        if done.returncode not in OWN_ENDS or "panicked" in done.stderr:
            raise Broken(said)
        if done.returncode == 8 and way != "watched" and done.stdout != self.expected:
            raise Broken(f"{said}\nanother output: {done.stdout[-500:]}")

    def read(self, seed, trace):
        """A reader either reads the trace or says what is wrong with it."""
        others = (("info",), ("report", "--json")) if seed % 5 == 0 else ()
        for verb in (("verify",), *others):
            done = tools.trackway(*verb, trace, check=False, time_limit_s=LIMIT_S)
            if done.returncode not in (0, 1, 2) or "panicked" in done.stderr:
                raise Broken(f"seed {seed}: {verb[0]} ends with {done.returncode}\n{done.stderr[-3000:]}")
        tools.Path(trace).unlink()
