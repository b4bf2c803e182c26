"""Random programs: the traced build does what the plain one does, and its trace equals the oracle's.

What a few of them print depends on the level (floating point), so each level has a plain build of its own. Longer runs,
with more levels of each program: tests/torture/run.
"""

import unittest

from ..support import tools
from ..support.random_programs.comparison import Comparison, Setting, is_usable
from ..support.random_programs.corpora import CCorpus, CxxCorpus

PLAIN_LIMIT_S = 1
SEEDS_APART = 1000
SMALLEST_BUFFERS = ("--buffer-size", "16K")


class RandomPrograms(unittest.TestCase):
    def check(self, corpus, number, levels, version=tools.LLVM_VERSION):
        with tools.folder() as folder:
            self.make_source(folder, corpus, number)
            for level in levels:
                with self.subTest(level=level):
                    self.check_level(folder, corpus, Setting(level, version, record_options=buffers(number)))

    def make_source(self, folder, corpus, number):
        """A program that ends soon: of seed `number`, or else of the next of its series."""
        for seed in range(number, number + 50 * SEEDS_APART, SEEDS_APART):
            corpus.write(seed, folder)
            if is_usable(folder, corpus, tools.LLVM_VERSION, PLAIN_LIMIT_S):
                return
        self.fail("no program of this series ends")

    def check_level(self, folder, corpus, setting):
        accesses = Comparison(folder, corpus.source, corpus.flags, setting).run(tools.TIME_LIMIT_S)
        self.assertGreaterEqual(accesses, 1 if setting.level == "-O0" else 0)


def two_levels(number):
    """Half of the levels: two programs in a row, with and without small buffers, get the same ones."""
    return tools.LEVELS[number // 2 % 2::2]


def buffers(number):
    """Every other program gets the smallest buffers, so that they fill up in many places."""
    return SMALLEST_BUFFERS if number % 2 == 0 else ()


def add_tests(name, count, corpus, levels_of, version):
    for number in range(1, count + 1):
        method = f"test_{name}_seed_{number:03}"
        setattr(RandomPrograms, method, lambda self, n=number: self.check(corpus, n, levels_of(n), version))


add_tests("c", 80, CCorpus, two_levels, tools.LLVM_VERSION)
add_tests("c_llvm_19", 12, CCorpus, two_levels, 19)
add_tests("cxx", 10, CxxCorpus, lambda number: ("-O0", "-O2"), tools.LLVM_VERSION)
add_tests("cxx_llvm_19", 4, CxxCorpus, lambda number: ("-O0", "-O3"), 19)
