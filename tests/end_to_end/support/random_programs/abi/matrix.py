"""The configurations that programs are built and run in, in an order in which few of them cover every pair of choices."""

import functools
import itertools
import random
from dataclasses import dataclass

from ... import tools

LLD = "--ld-path=ld.lld-22"
# Further choices, of both compilers or of the pass.
FLAGS = {
    "default": (),
    "native": ("-march=native",),  # vectors as wide as this machine's
    "frames": ("-fno-omit-frame-pointer", "-fstack-protector-all"),
}
PASS = {
    "late": (),
    "early": ("--place=early",),
    "start": ("--place=start",),
    "uncalled": ("--calls=0",),
    "oracle": ("--oracle",),
    "count": ("--count",),
}
DIMENSIONS = {
    "level": tools.LEVELS,
    "version": (19, 22),
    "traced": ("both", "caller", "callee"),
    "link": ("objects", "shared", "lto"),
    "flags": tuple(FLAGS),
    "recording": tuple(PASS),
}


@dataclass(frozen=True)
class Configuration:
    level: str
    version: int
    traced: str
    link: str
    flags: str
    recording: str

    @property
    def name(self):
        return "-".join((self.level.lstrip("-"), f"llvm{self.version}", self.traced, self.link, self.flags, self.recording))

    @property
    def has_oracle(self):
        """Whether its addresses must be those of the trace."""
        return self.recording == "oracle"

    @property
    def compiler_flags(self):
        position = ("-fPIC",) if self.link == "shared" else ("-flto",) if self.link == "lto" else ()
        return (self.level, *FLAGS[self.flags], *position)

    @property
    def linker_flags(self):
        return ("-flto", self.level, LLD) if self.link == "lto" else ()

    @property
    def pass_options(self):
        return PASS[self.recording]

    def is_traced(self, side):
        return self.traced in ("both", side)


@functools.cache
def configurations():
    """All of them. The first few dozen cover all pairs of choices, the rest comes in a random order."""
    everything = [Configuration(*choice) for choice in itertools.product(*DIMENSIONS.values())]
    random.Random("configurations").shuffle(everything)
    uncovered = set().union(*map(pairs, everything))
    ordered = []
    while uncovered:
        best = max(everything, key=lambda c: len(pairs(c) & uncovered))
        everything.remove(best)
        uncovered -= pairs(best)
        ordered.append(best)
    return ordered + everything


@functools.cache
def pairs(configuration):
    choices = [(name, getattr(configuration, name)) for name in DIMENSIONS]
    return frozenset(itertools.combinations(choices, 2))


def configuration_of(batch):
    order = configurations()
    return order[batch % len(order)]
