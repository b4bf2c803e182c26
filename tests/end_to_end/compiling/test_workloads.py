"""Every workload, at every optimisation level: the known answer, and a trace equal to the oracle's."""

import unittest

from ..support import graphs, hardware, min_cost_flow, tools
from ..support.workloads import build, known_answers, names


class Workloads(unittest.TestCase):
    def check(self, name, level):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded = tools.record(trace, build("oracle", name, level), "small")
            self.assertEqual(tools.program_output(recorded).strip(), known_answers()[name])
            self.assertGreater(tools.verified_accesses(trace), 1000)


class AsTheyAre(unittest.TestCase):
    """The plain programs, recorded by what compiles nothing: they print and return the same, and the trace is sound."""

    def check(self, options, arguments=("small",)):
        for name in names():
            with self.subTest(name), tools.folder() as folder:
                trace = f"{folder}/trace"
                program = build("plain", name, "-O2")
                recorded = tools.record(trace, program, *arguments, options=options)
                self.assertEqual(tools.program_output(recorded).strip(), known_answers()[name])
                tools.trackway("verify", trace)

    def test_with_allocations(self):
        self.check(("--allocations",))

    @unittest.skipUnless(hardware.failure("task-clock") == 0, "the kernel lets nobody sample here")
    def test_sampled(self):
        self.check(("--sample",))


class Answers(unittest.TestCase):
    """The answers of the plain programs, and of some by solvers that share nothing with them."""

    def test_plain(self):
        for name in names():
            for level in ("-O0", "-O2"):
                answer = tools.run(build("plain", name, level), "small").stdout.strip()
                self.assertEqual(answer, known_answers()[name], f"{name} {level}")

    def test_traced_without_recorder(self):
        for name in names():
            answer = tools.run(build("traced", name, "-O2"), "small").stdout.strip()
            self.assertEqual(answer, known_answers()[name], name)

    def test_simplex_finds_the_optimum(self):
        simplex = build("plain", "simplex", "-O2")
        for nodes in (2, 7, 50, 120, 300):
            cost = int(tools.run(simplex, nodes).stdout.split()[-1])
            instance = tools.run(simplex, nodes, "print").stdout
            self.assertEqual(cost, min_cost_flow.min_cost(instance), f"{nodes} nodes")

    def test_graph_kernels_find_what_is_true(self):
        for kernel, small in graphs.KERNELS.items():
            name = kernel.__name__
            self.assertEqual(kernel(small), known_answers()[name])
            for n in (12, 30, 250):
                answer = tools.run(build("plain", name, "-O2"), n).stdout.strip()
                self.assertEqual(answer, kernel(n), name)

    def test_graph_kernels_with_any_number_of_threads(self):
        for kernel in graphs.KERNELS:
            name = kernel.__name__
            for variant in ("plain", "traced"):
                for threads in (1, 2, 3, 8):
                    environment = tools.environment(OMP_NUM_THREADS=str(threads))
                    answer = tools.run(build(variant, name, "-O2"), "small", env=environment).stdout.strip()
                    self.assertEqual(answer, known_answers()[name], f"{name} {variant}, {threads} threads")


def add_tests():
    for name in names():
        for level in tools.LEVELS:
            method = f"test_{name}_{level.lstrip('-')}"
            setattr(Workloads, method, lambda self, name=name, level=level: self.check(name, level))


add_tests()
