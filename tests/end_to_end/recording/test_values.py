"""Recorded values: what the dump shows is what the program printed, and all words equal the oracle's."""

import json
import struct
import unittest
from pathlib import Path

from ..support import tools
from ..support.workloads import build, known_answers, names

ALL = "--values=*"


def events(trace):
    return [json.loads(line) for line in tools.trackway("dump", "--json", trace).stdout.splitlines()]


class Values(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.program, self.trace = Path(folder.name) / "program", Path(folder.name) / "trace"

    def record(self, source, *flags, arguments=()):
        """Accesses whose values equal the oracle's; what the program printed."""
        tools.compile_traced(self.program, [source], *flags)
        recorded = tools.record(self.trace, self.program, *arguments)
        self.assertGreater(tools.verified_accesses(self.trace), 100)
        return tools.program_output(recorded)

    def values_of(self, **members):
        chosen = [event for event in events(self.trace) if members.items() <= event.items()]
        return [event.get("value") for event in chosen]

    def check_printed(self, *flags):
        """The program prints `NAME VALUE` for fields of all types, just stored for the first time."""
        printed = dict(line.split(" ", 1) for line in self.record(tools.PROGRAMS / "values.c", *flags).splitlines())
        shown = {}
        for event in events(self.trace):
            if event["kind"] == "store":
                shown.setdefault(event.get("field", ""), event.get("value"))
        for wide in ("huge", "odder"):  # printf has no format for them
            printed[wide] = str(int(printed[wide]) << 64)
        for name, form in (("single", "f"), ("wide", "d")):  # shown with fewer digits
            self.assertEqual(struct.pack(form, float(shown[f"all.{name}"])), struct.pack(form, float(printed.pop(name))))
        for name in printed.keys() - {"sum"}:
            self.assertEqual(shown[f"all.{name}"], printed[name], name)
        return shown

    def check_constants(self):
        """What the program's text says, whatever the level."""
        change = {"function": "change", "kind": "atomic read-modify-write"}
        self.assertEqual(self.values_of(variable="counter", **change), ["0", "1", "0", "1"])
        self.assertEqual(self.values_of(variable="level", kind="atomic store"), ["1", "2"])
        stored = self.values_of(variable="line", kind="store")
        lanes = [float(lane) for value in stored for lane in value.strip("{}").split(", ")]
        self.assertEqual(lanes, [0.5 * i for i in range(36)])

    def test_of_all_types_without_optimisation(self):
        self.check_printed(ALL, "-O0")
        self.check_constants()

    def test_of_all_types_optimised(self):
        for level in ("-O1", "-O2", "-O3"):
            with self.subTest(level):
                self.check_printed(ALL, level)
                self.check_constants()

    def test_of_all_types_masked(self):
        self.check_printed(ALL, "-O3", "-mavx2")

    def test_from_another_compiler(self):
        tools.compile_traced(self.program, [tools.PROGRAMS / "values.c"], ALL, "-O2", version=19)
        tools.record(self.trace, self.program)
        self.assertGreater(tools.verified_accesses(self.trace), 100)

    def with_values(self, *patterns):
        self.record(tools.PROGRAMS / "values.c", *patterns, "-O1")
        return [event for event in events(self.trace) if "value" in event]

    def test_chosen_by_field(self):
        self.assertEqual({event["field"] for event in self.with_values("--values=field:all.s*")}, {
            "all.small", "all.size", "all.single", "all.shade"})

    def test_chosen_by_variable_or_function(self):
        chosen = self.with_values("--values=variable:counter", "--values=function:show")
        self.assertEqual({event["function"] for event in chosen}, {"change", "show"})
        self.assertEqual({event["variable"] for event in chosen if event["function"] == "change"}, {"counter"})
        loads = [event for event in events(self.trace) if event.get("function") == "show" and event["kind"] == "load"]
        self.assertTrue(all("value" in event for event in loads))

    def test_chosen_by_type(self):
        chosen = self.with_values("--values=type:float*")
        self.assertTrue({"line", "other"} <= {event["variable"] for event in chosen})
        self.assertFalse({"counter", "ticket", "amounts"} & {event["variable"] for event in chosen})

    def test_none_by_default(self):
        self.assertEqual(self.with_values(), [])

    def test_merged_streams_keep_them(self):
        self.record(tools.PROGRAMS / "values.c", ALL, "-O2")
        apart, merged = (tools.trackway("dump", *flag, self.trace).stdout for flag in ((), ("--merged",)))
        self.assertIn(" = ", apart)
        self.assertEqual(apart, merged)

    def test_workloads(self):
        for name in names():
            for level in ("-O0", "-O2"):
                with self.subTest(f"{name} {level}"):
                    recorded = tools.record(self.trace, build("oracle", name, level, ALL), "small")
                    self.assertEqual(tools.program_output(recorded).strip(), known_answers()[name])
                    self.assertGreater(tools.verified_accesses(self.trace), 1000)


class Clashes(unittest.TestCase):
    def test_a_pattern_that_nothing_reads(self):
        done = tools.trackway("cc", "--values=arc.ident", tools.PROGRAMS / "values.c", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("field:TYPE.FIELD", done.stderr)
