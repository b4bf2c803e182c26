"""Which memory is a stack: the trace says it, so memory that is only reached through pointers isn't taken for one."""

import json
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "stacks.c"


def traced():
    output = tools.BUILD / "tests" / "stacks"
    return tools.once(("stacks",), lambda: tools.compile_traced(output, [SOURCE], "-g", "-O2", "-pthread", oracle=False))


def cells(trace):
    """The finest cells of the map."""
    tables = json.loads(tools.trackway("map", "--json", "--level", "0", trace).stdout)["tables"]
    rows = next(table["rows"] for table in tables if table["name"] == "cells")
    return [row for row in rows if row["level"] == 0]


def kinds_within(rows, first, length):
    """Kinds of memory of the cells that lie wholly within the range."""
    last = first + length
    return {row["kind"] for row in rows if first <= row["address"] and row["address"] + row["granule_bytes"] <= last}


class Stacks(unittest.TestCase):
    def check(self, program, *options):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded = tools.record(trace, program, options=options)
            rows = cells(trace)
        for line in recorded.stdout.splitlines()[:2]:
            thread, static, own, length = line.split()
            with self.subTest(thread=thread):
                length = int(length)
                self.assertEqual(kinds_within(rows, int(own, 16), length), {"stack"})
                kinds = kinds_within(rows, int(static, 16), length)
                self.assertTrue(kinds)
                self.assertNotIn("stack", kinds)

    def test_of_compiled_programs(self):
        self.check(traced())

    def test_of_unmodified_binaries(self):
        output = tools.BUILD / "tests" / "stacks-plain"
        plain = tools.once(("stacks", "plain"), lambda: tools.compile_plain(output, [SOURCE], "-g", "-O2", "-pthread"))
        self.check(plain, "--binary")
