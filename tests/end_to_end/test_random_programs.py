"""Random C programs: the traced build prints what the plain one does, and its trace equals the oracle's.

What a few of them print depends on the level (floating point), so each level has a plain build of its own.
"""

import subprocess
import unittest
from pathlib import Path

from . import tools

PROGRAMS = 200
# Small programs, so that each takes a second or two for all levels together. Arguments of main would be read, floats
# and packed structs and unions, bit-fields, volatiles and jumps are in.
CSMITH = ("--no-argc", "--float", "--max-funcs", "4", "--max-block-depth", "3", "--max-block-size", "3",
          "--max-expr-complexity", "6", "--max-array-len-per-dim", "6")
FLAGS = ("-w", "-I/usr/include/csmith")
PLAIN_LIMIT_S = 1
SEEDS_APART = 1000


def generate(seed, source):
    # It leaves a file platform.info where it runs.
    tools.run("csmith", "--seed", seed, *CSMITH, "-o", source, cwd=Path(source).parent, time_limit_s=30)


def plain_output(program):
    """What the program prints, or None if it takes too long or ends by a signal: such a seed is of no use."""
    try:
        done = tools.run(program, check=False, time_limit_s=PLAIN_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


class RandomPrograms(unittest.TestCase):
    def make_source(self, folder, number):
        """A program that ends soon: of seed `number`, or else of the next of its series."""
        source = f"{folder}/random.c"
        for seed in range(number, number + 50 * SEEDS_APART, SEEDS_APART):
            generate(seed, source)
            plain = tools.compile_plain(f"{folder}/first", [source], "-O1", *FLAGS)
            if plain_output(plain) is not None:
                return source
        self.fail("no program of this series ends")

    def check(self, number):
        with tools.folder() as folder:
            source = self.make_source(folder, number)
            for level in tools.LEVELS:
                with self.subTest(level=level):
                    self.check_level(folder, source, level)

    def check_level(self, folder, source, level):
        plain = tools.compile_plain(f"{folder}/plain", [source], level, *FLAGS)
        traced = tools.compile_traced(f"{folder}/traced", [source], level, *FLAGS)
        trace = f"{folder}/trace"
        recorded = tools.record(trace, traced)
        self.assertEqual(tools.program_output(recorded), tools.run(plain).stdout)
        least = 1 if level == "-O0" else 0
        self.assertGreaterEqual(tools.verified_accesses(trace), least)


def add_tests():
    for number in range(1, PROGRAMS + 1):
        setattr(RandomPrograms, f"test_seed_{number:03}", lambda self, number=number: self.check(number))


add_tests()
