"""What was inlined is called the same in exports and reports."""

import gzip
import re
import shutil
import unittest
from collections import Counter
from pathlib import Path

from ..support import export_readers as readers
from ..support import tools

SELL = "shop::Basket::sell(unsigned long)"
SELL_ALL = "sellAll(shop::Basket&)"


def reported(trace, name, key):
    """Accesses of all rows of a report's table."""
    report = tools.report(trace, "--by", name, "--cache", "none", "--top", "0")
    rows = next(table["rows"] for table in report["tables"] if table["name"] == f"{name}s")
    sums = Counter()
    for row in rows:
        sums[key(row)] += row["accesses"]
    return sums


class InlinedExports(unittest.TestCase):
    """Each export's accesses by function equal those of `report --by function`, at all levels of inlining."""

    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def each(self, check):
        for level in ("-O0", "-O1", "-O2"):
            with self.subTest(level):
                program = tools.compile_traced(self.folder / f"p{level}", [tools.PROGRAMS / "inlined.cpp"], level, "-g")
                trace = self.folder / f"{level}.trackway"
                tools.record(trace, program)
                functions = reported(trace, "function", lambda row: row["function"])
                self.assertGreaterEqual(functions[SELL], 120_000)
                check(trace, functions)

    def export(self, trace, form):
        path = Path(f"{trace}.{form}")
        tools.trackway("export", trace, "--to", form, "-o", path, "--cache", "none")
        return path

    def folded(self, trace):
        stacks = Counter()
        for line in self.export(trace, "folded").read_text().splitlines():
            stack, count = line.rsplit(" ", 1)
            stacks[stack] += int(count)
        return stacks

    def test_folded_stacks_have_inlined_functions_as_frames(self):
        def check(trace, functions):
            stacks, sums = self.folded(trace), Counter()
            for stack, count in stacks.items():
                sums[stack.rsplit(";", 1)[-1]] += count
            self.assertEqual(sums, functions)
            self.assertGreaterEqual(stacks[f"main;{SELL_ALL};{SELL}"], 120_000)

        self.each(check)

    def test_pprof_has_inlined_functions_as_lines_of_a_location(self):
        def check(trace, functions):
            message = gzip.decompress(self.export(trace, "pprof").read_bytes())
            _, samples = readers.profile(message)
            self.assertEqual({stack: values[0] for stack, values in samples.items()}, self.folded(trace))
            sums = Counter()
            for stack, values in samples.items():
                sums[stack.rsplit(";", 1)[-1]] += values[0]
            self.assertEqual(sums, functions)
            _, samples = readers.profile(message, between_lines=" > ")
            self.assertGreaterEqual(samples[f"main;{SELL_ALL} > {SELL}"][0], 120_000)

        self.each(check)

    def test_callgrind_has_functions_and_lines_of_the_report(self):
        def check(trace, functions):
            path = self.export(trace, "callgrind")
            read = readers.callgrind(path)
            self.assertEqual(read.own, functions)
            lines = reported(trace, "line", lambda row: (Path(row["file"]).name, row["line"]))
            found = Counter()
            for (file, line), count in read.lines.items():
                found[Path(file).name, line] += count
            self.assertEqual(found, lines)
            self.assertGreaterEqual(read.inclusive[SELL_ALL, SELL], 120_000)
            self.assertEqual(read.calls[SELL_ALL, SELL], 1)
            self.assertEqual(read.calls["main", SELL_ALL], 20)
            self.assertEqual(self.annotated(path), functions)

        self.each(check)

    def annotated(self, path):
        """Own accesses of functions by Valgrind's reader."""
        tool = shutil.which("callgrind_annotate")
        self.assertIsNotNone(tool, "valgrind is missing; setup/install brings it")
        shown = tools.run(tool, "--threshold=100", "--auto=no", "--inclusive=no", "--show=accesses", path, cwd=self.folder)
        self.assertEqual(shown.stderr, "")
        sums = Counter()
        for line in shown.stdout.splitlines():
            match = re.match(r" *([\d,]+) \([ \d.]+%\)  [^:]+:(.*?)(?: \[\])?$", line)
            if match:
                sums[match[2]] += int(match[1].replace(",", ""))
        return sums

    def test_shares_of_paths_add_up(self):
        """What a function and all that it calls costs is what the paths below it do."""
        def check(trace, _):
            stacks = self.folded(trace)
            expected = sum(count for stack, count in stacks.items() if f";{SELL_ALL}" in stack)
            found = readers.callgrind(self.export(trace, "callgrind")).inclusive["main", SELL_ALL]
            self.assertEqual(found, expected)

        self.each(check)
