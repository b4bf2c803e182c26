"""Batches of seeds: each is checked as one program, and narrowed down to one signature where it fails."""

from dataclasses import dataclass, field

from ... import tools
from ..comparison import Difference, Unusable
from .comparison import Comparison
from .matrix import configuration_of

SUFFIXES = ("c", "cpp")


@dataclass
class Outcome:
    passed: int = 0
    skipped: list = field(default_factory=list)  # seeds that the compiler itself fails on
    failures: list = field(default_factory=list)  # comparisons that failed, with the problem


@dataclass(frozen=True)
class Batch:
    """Seeds, of which each batch takes another configuration and the other language than the last one."""

    number: int
    seeds: tuple

    @property
    def suffix(self):
        return SUFFIXES[self.number % len(SUFFIXES)]

    @property
    def configuration(self):
        return configuration_of(self.number)

    def check(self, keep):
        """Calls keep(comparison, problem) for each failure, while its folder is there."""
        return check(self.seeds, self.suffix, self.configuration, keep)


def batches(seeds, size):
    """All seeds of one batch are in one multiple of its size, so that a seed alone gets the same configuration."""
    numbers = sorted({(seed - 1) // size for seed in seeds})
    for number in numbers:
        yield Batch(number, tuple(seed for seed in range(number * size + 1, (number + 1) * size + 1) if seed in seeds))


def check(seeds, suffix, configuration, keep):
    outcome = Outcome()
    with tools.folder() as folder:
        comparison = Comparison(folder, seeds, suffix, configuration)
        try:
            comparison.run()
            outcome.passed += len(seeds)
        except Unusable as problem:
            if len(seeds) == 1:
                outcome.skipped.append((seeds[0], problem.args[0]))
                return outcome
            parts = without(seeds, problem.args[1])
        except Difference as problem:
            alone = [problem.args[1]] if problem.args[1] in seeds and len(seeds) > 1 else []
            if len(seeds) == 1 or not (alone and fails(alone, suffix, configuration)):
                return narrowed(seeds, suffix, configuration, keep, comparison, problem, outcome)
            parts = [alone, [seed for seed in seeds if seed not in alone]]
        else:
            return outcome
    for part in parts:
        add(outcome, check(part, suffix, configuration, keep))
    return outcome


def narrowed(seeds, suffix, configuration, keep, comparison, problem, outcome):
    """A failure that no single seed is named for: of the halves that fail, or of all together."""
    halves = [half for half in split(seeds) if len(seeds) > 1 and fails(half, suffix, configuration)]
    if not halves:
        keep(comparison, problem)
        outcome.failures.append((comparison, problem))
        return outcome
    for half in split(seeds):
        add(outcome, check(half, suffix, configuration, keep))
    return outcome


def without(seeds, seed):
    return [[seed], [other for other in seeds if other != seed]] if seed in seeds else split(seeds)


def split(seeds):
    return [list(seeds[:len(seeds) // 2]), list(seeds[len(seeds) // 2:])]


def fails(seeds, suffix, configuration):
    with tools.folder() as folder:
        try:
            Comparison(folder, seeds, suffix, configuration).run()
        except Difference:
            return True
        except Unusable:
            return False
    return False


def add(outcome, other):
    outcome.passed += other.passed
    outcome.skipped += other.skipped
    outcome.failures += other.failures
