"""What libstdc++ has in its binary is compiled with the program where it can be, and does what the binary does."""

import json
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "libstdcxx_nodes.cpp"


class Nodes(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)

    def test_nodes_and_strings_are_recorded_and_do_the_same(self):
        builds = ((22, ("-O0",)), (22, ("-O2", "-std=c++20")), (19, ("-O2",)), (22, ("-O1", "-D_GLIBCXX_DEBUG")))
        for number, (version, flags) in enumerate(builds):
            with self.subTest(version=version, flags=flags):
                program = tools.compile_traced(f"{self.folder.name}/nodes", [SOURCE], "-g", *flags, version=version)
                trace = f"{self.folder.name}/{number}.trackway"
                tools.record(trace, program, "check")
                self.assertGreater(tools.verified_accesses(trace), 500_000)
                report = tools.report(trace, "--by", "function", "--sort", "accesses", "--top", "0")
                functions = {row["function"] for row in tools.table(report, "functions")["rows"]}
                for part in ("_Rb_tree_rebalance_for_erase", "_M_transfer", "basic_string"):
                    self.assertTrue([name for name in functions if part in name], part)

    def test_little_of_containers_is_missing(self):
        program = tools.compile_traced(f"{self.folder.name}/nodes", [SOURCE], "-g", "-O2", oracle=False)
        report = json.loads(tools.trackway("coverage", "--json", "--", program).stdout)
        found = tools.table(report, "coverage")["rows"][0]
        recorded = found["recorded"] - found["allocator_recorded"]
        self.assertGreater(recorded / (found["bytes"] - found["allocator_bytes"] - found["before"]), 0.95)
