"""What `trackway coverage` says that a recording lacks: of bytes that were counted by hand, and of traces that are no pair."""

import json
import unittest

from ..support import tools

SOURCES = [tools.PROGRAMS / "coverage_known.c", tools.PROGRAMS / "coverage_plain.c"]
LINES = SOURCES[0].read_text().splitlines()
ROUNDS, ARRAY = 100, 8000


def line_of(text):
    return 1 + next(number for number, line in enumerate(LINES) if text in line)


class Known(unittest.TestCase):
    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)

    def build(self, level):
        plain = f"{self.folder.name}/plain.o"
        tools.run(f"clang-{tools.LLVM_VERSION}", level, "-c", "-o", plain, SOURCES[1])
        return tools.compile_traced(f"{self.folder.name}/known", [SOURCES[0], plain], "-g", level, oracle=False)

    def test_bytes_counted_by_hand(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level=level):
                report = json.loads(tools.trackway("coverage", "--json", "--", self.build(level)).stdout)
                self.assertEqual(report["warnings"], [])
                found = tools.table(report, "coverage")["rows"][0]
                # main fills the array; own_sum reads it twice in a round; main stores a character in each, and the last.
                own = ARRAY + 2 * ROUNDS * ARRAY + ROUNDS + 1
                self.assertEqual((found["compiled_bytes"], found["compiled_recorded"]), (own, own))
                parts = {row["function"]: row for row in tools.table(report, "not_recorded")["rows"]}
                for function, call in (("plain_sum", "= plain_sum("), ("plain_call_back", "= plain_call_back(")):
                    self.assertEqual(parts[function]["missing"], ROUNDS * ARRAY)
                    self.assertEqual(parts[function]["called_from"], f"coverage_known.c:{line_of(call)}")
                # The rest is mostly memset's and strlen's, whose ranges are recorded.
                others = found["called_bytes"] - found["called_recorded"] - 2 * ROUNDS * ARRAY
                self.assertLess(others, 20_000)
                self.assertEqual(found["recorded"], found["compiled_recorded"] + found["called_recorded"])

    def test_tables_of_shared_labels_are_no_accesses_of_the_program(self):
        source = tools.PROGRAMS / "label_escape.c"
        program = tools.compile_traced(f"{self.folder.name}/labels", [source], "-U__TRACKWAY__", "-g", "-O2", oracle=False)
        for interpreter, function in (("own", "run"), ("distances", "run_by_distances")):
            report = json.loads(tools.trackway("coverage", "--json", "--", program, "500", interpreter).stdout)
            self.assertEqual(report["warnings"], [])
            missing = {row["function"]: row["missing"] for row in tools.table(report, "not_recorded")["rows"]}
            self.assertLess(missing.get(function, 0), 100)

    def test_stacks_of_other_threads(self):
        """What a thread does on its creator's stack counts: its own machine code never spills there."""
        source = f"{self.folder.name}/shared.c"
        with open(source, "w") as file:
            file.write("#include <pthread.h>\nenum { COUNT = 100, ROUNDS = 1000 };\n"
                       "static void *add(void *argument) {\n    volatile long *numbers = argument;\n"
                       "    for (int i = 0; i < ROUNDS * COUNT; i++)\n        numbers[i % COUNT]++;\n    return 0;\n}\n"
                       "int main(void) {\n    long numbers[COUNT] = {0};\n    pthread_t thread;\n"
                       "    pthread_create(&thread, 0, add, numbers);\n    pthread_join(thread, 0);\n"
                       "    return numbers[0] == ROUNDS ? 0 : 1;\n}\n")
        program = tools.compile_traced(f"{self.folder.name}/shared", [source], "-O2", "-pthread", oracle=False)
        report = json.loads(tools.trackway("coverage", "--json", "--", program).stdout)
        found = tools.table(report, "coverage")["rows"][0]
        both = 1000 * 100 * 16
        self.assertEqual((found["compiled_bytes"], found["compiled_recorded"]), (both, both))

    def test_traces_that_are_kept_give_the_same_answer(self):
        program, folder = self.build("-O2"), f"{self.folder.name}/kept"
        first = tools.trackway("coverage", "--json", "--keep", folder, "--", program).stdout
        again = tools.trackway("coverage", "--json", f"{folder}/compiled.trackway", f"{folder}/binary.trackway").stdout
        self.assertEqual(first, again)

    def test_traces_that_are_no_pair_are_refused(self):
        program, folder = self.build("-O2"), f"{self.folder.name}/kept"
        tools.trackway("coverage", "--keep", folder, "--", program)
        compiled, binary = f"{folder}/compiled.trackway", f"{folder}/binary.trackway"
        for traces, why in (((binary, compiled), "first"), ((compiled, compiled), "record --binary")):
            refused = tools.trackway("coverage", *traces, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(why, refused.stderr)

    def test_programs_that_record_nothing_are_refused(self):
        plain = tools.compile_plain(f"{self.folder.name}/plain", SOURCES, "-O2")
        refused = tools.trackway("coverage", "--", plain, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("trackway cc", refused.stderr)

    def test_runs_that_differ_are_told(self):
        source = f"{self.folder.name}/differs.c"
        with open(source, "w") as file:
            file.write("#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n"
                       "int main(void) { long volatile id = getpid(); printf(\"%ld\\n\", id); return id % 7; }\n")
        program = tools.compile_traced(f"{self.folder.name}/differs", [source], "-O1", oracle=False)
        report = json.loads(tools.trackway("coverage", "--json", "--", program).stdout)
        self.assertTrue(any("printed something else" in warning for warning in report["warnings"]), report["warnings"])
