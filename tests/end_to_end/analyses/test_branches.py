"""Branches of recorded and of imported programs: how often each was executed and taken, against what the program itself counted."""

import json
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "branches.c"
IMPORTED = tools.ROOT / "interchange" / "tests" / "drmemtrace"
PREDICTORS = ["bimodal", "gshare", "perceptron", "TAGE", "TAGE-SC-L", "LLBP", "TAGE-SC-L unlimited"]


def table(report, name):
    return next(table["rows"] for table in report["tables"] if table["name"] == name)


def branches(trace, *arguments):
    return json.loads(tools.trackway("branches", "--json", "--top", 0, *arguments, trace).stdout)


def labels():
    """Lines by the comments behind them."""
    lines = SOURCE.read_text().splitlines()[1:]
    return {line.split("// ")[1]: number for number, line in enumerate(lines, 2) if "// " in line}


def known_counts(output):
    """Executions, and how often the condition was true, by label."""
    return {label: (int(executed), int(true)) for label, executed, true in map(str.split, output.splitlines())}


class Recorded(unittest.TestCase):
    def check(self, level, version):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/branches", [SOURCE], level, "-g", oracle=False, version=version)
            trace = f"{folder}/trace"
            output = tools.record(trace, program, 7).stdout
            report = branches(trace)
            rows = {row["line"]: row for row in table(report, "lines")}
            # From -O1 on the loop takes two rounds at once, and the branch is none.
            labelled = [label for label in known_counts(output) if level == "-O0" or label != "alternates"]
            for label in labelled:
                executions, true = known_counts(output)[label]
                row = rows[labels()[label]]
                self.assertEqual(row["executions"], executions, label)
                # The compiler may have turned the condition around.
                self.assertIn(round(row["taken_rate"] * executions), (true, executions - true), label)
            self.assertEqual([row["predictor"] for row in table(report, "predictors")], PREDICTORS)
            self.check_sums(report)

    def check_sums(self, report):
        executions = sum(row["executions"] for row in table(report, "branches"))
        self.assertEqual(executions, table(report, "control_flow")[0]["conditional"])
        for row in table(report, "predictors"):
            column = "missed_" + row["predictor"].lower().replace(" ", "_").replace("-", "_")
            missed = sum(branch[column] for branch in table(report, "branches"))
            self.assertEqual(missed, row["mispredictions"], column)

    def test_loops_that_are_one_record(self):
        """Rounds of a nest of counted loops, each of which is a branch of its own."""
        with tools.folder() as folder:
            flags = ("-O1", "-g", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")
            program = tools.compile_traced(f"{folder}/branches", [SOURCE], *flags, oracle=False)
            tools.record(f"{folder}/trace", program)
            report = branches(f"{folder}/trace", "--predictor", "bimodal")
            inner = next(row for row in table(report, "lines") if row["line"] == labels()["inner"])
            rate = inner["taken_rate"]
            self.assertEqual(inner["executions"], 20 * 40 * 30)
            self.assertAlmostEqual(min(rate, 1 - rate), 1 / 30)

    def test_options(self):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/branches", [SOURCE], "-O1", "-g", oracle=False)
            trace = f"{folder}/trace"
            tools.record(trace, program)
            text = tools.trackway("branches", "--by", "line", "--predictor", "gshare=4K,gshare=64K", trace).stdout
            self.assertRegex(text, r"^branches\.c:\d+ causes [\d.]+ % of the mispredictions of gshare")
            self.assertNotIn("Branches by", text)
            self.assertIn("gshare (2)", text)
            csv = tools.trackway("branches", "--csv", "--table", "predictors", "--predictor", "bimodal=4K", trace).stdout
            self.assertEqual(csv.splitlines()[1].split(",")[:2], ["bimodal", "4"])
            refused = tools.trackway("branches", "--predictor", "llbp=1T", trace, check=False)
            self.assertIn("power of two", refused.stderr)

    def test_without_calls(self):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/branches", [SOURCE], "--calls=0", "-O1", oracle=False)
            tools.record(f"{folder}/trace", program)
            refused = tools.trackway("branches", f"{folder}/trace", check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--calls", refused.stderr)


class Imported(unittest.TestCase):
    def test_drmemtrace(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.trackway("import", IMPORTED / "zip", "-o", trace)
            report = branches(trace)
            flow = table(report, "control_flow")[0]
            # As basic_counts counts the instructions of the three threads.
            self.assertEqual(flow["instructions"], 115_398 + 66_216 + 65_595)
            self.assertEqual((flow["interrupted"], flow["assumed_taken"]), (0, 0))
            self.assertFalse(any(table["name"] == "lines" for table in report["tables"]))
            best = {row["predictor"]: row["mispredictions"] for row in table(report, "predictors")}
            self.assertLess(best["TAGE-SC-L"], best["gshare"])
            refused = tools.trackway("branches", "--by", "line", trace, check=False)
            self.assertIn("knows no lines", refused.stderr)


def add_tests():
    for version in (19, 22):
        for level in tools.LEVELS:
            name = f"test_{level.lstrip('-')}_llvm_{version}"
            setattr(Recorded, name, lambda self, level=level, version=version: self.check(level, version))


add_tests()
