"""A hundred random signatures, in every kind of build between them: the traced program passes on what the plain one does.

Longer runs: tests/abi/run.
"""

import unittest

from ..support import tools
from ..support.random_programs.abi.batches import batches
from ..support.random_programs.abi.comparison import Comparison
from ..support.random_programs.abi.matrix import DIMENSIONS, configuration_of
from ..support.random_programs.comparison import Difference

SEEDS = range(1, 101)
SEEDS_A_BATCH = 10


class Abi(unittest.TestCase):
    def check(self, batch):
        outcome = batch.check(lambda comparison, problem: None)
        problems = [f"{problem.args[0]}\n{comparison.script()}" for comparison, problem in outcome.failures]
        self.assertFalse(problems, "\n".join(problems))
        self.assertGreaterEqual(outcome.passed, len(batch.seeds) - 1, outcome.skipped)

    def test_all_choices_are_covered(self):
        chosen = [batch.configuration for batch in batches(SEEDS, SEEDS_A_BATCH)]
        for name, choices in DIMENSIONS.items():
            self.assertEqual({getattr(configuration, name) for configuration in chosen}, set(choices), name)

    def test_a_callee_that_sees_something_else_is_named(self):
        with tools.folder() as folder:
            comparison = Comparison(folder, range(1, 6), "c", configuration_of(0))
            another = ("sed", "-i", "s/u64 h = 3;/u64 h = 4;/", comparison.program.callee)
            comparison.traced_build.insert(0, another)
            with self.assertRaises(Difference) as raised:
                comparison.run()
            self.assertEqual(raised.exception.args[1], 3)
            self.assertIn("3 received", raised.exception.args[0])


def add_tests():
    for batch in batches(SEEDS, SEEDS_A_BATCH):
        method = f"test_seeds_{batch.seeds[0]:03}_{batch.suffix}_{batch.configuration.name.replace('-', '_')}"
        setattr(Abi, method, lambda self, batch=batch: self.check(batch))


add_tests()
