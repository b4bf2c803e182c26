"""The names of code that nobody compiled for it: as the compiler's where there is debugging information, else by symbols."""

import csv
import io
import os
import re
import unittest
from collections import Counter
from pathlib import Path

from ..support import tools

SOURCE = tools.PROGRAMS / "names.c"
SELL = "shop::Basket::sell(unsigned long)"


def compiled(folder, compiler, *flags, source=SOURCE, name="prog"):
    program = Path(folder) / name
    tools.run(compiler, *flags, source, "-o", program)
    return program


def recorded(program, **settings):
    """The trace of a binary, and what the recorder said."""
    trace = Path(f"{program}.trackway")
    done = tools.record(trace, program, options=["--binary"], **settings)
    return trace, done.stderr


def accesses(trace, by):
    """Accesses by what has them: by name, of lines by file and number."""
    table = tools.report(trace, "--by", by, "--top", "0", "--cache", "none")["tables"][0]
    found = Counter()
    for row in table["rows"]:
        key = (os.path.basename(row["file"] or ""), row["line"]) if by == "line" else row[by]
        found[key] += row["accesses"]
    return found


def agreement(compiler, binary):
    """The share of the compiler's accesses that the binary has under the same name."""
    return sum(min(count, binary[name]) for name, count in compiler.items()) / sum(compiler.values())


def attribution(trace):
    tables = tools.report(trace, "--cache", "none")["tables"]
    return next(table for table in tables if table["name"] == "attribution")["rows"][0]


class AgreementTests(unittest.TestCase):
    """A program that the pass names is named alike without it."""

    def compare(self, compiler, level, least):
        with tools.folder() as folder:
            traced = tools.compile_traced(Path(folder) / "traced", [SOURCE], "-g", level, oracle=False)
            tools.record(Path(folder) / "traced.trackway", traced)
            trace, said = recorded(compiled(folder, compiler, "-g", level))
            self.assertNotIn("warning", said)
            for by, share in least.items():
                agreed = agreement(accesses(Path(folder) / "traced.trackway", by), accesses(trace, by))
                self.assertGreaterEqual(agreed, share, f"{by} by {compiler} {level}")

    def test_clang_unoptimised(self):
        self.compare("clang-22", "-O0", {"line": 0.99, "function": 0.99, "field": 0.99, "variable": 0.99, "type": 0.99})

    def test_gcc_unoptimised(self):
        self.compare("gcc", "-O0", {"line": 0.99, "function": 0.99, "field": 0.99, "variable": 0.99, "type": 0.99})

    def test_clang_optimised(self):
        self.compare("clang-22", "-O2", {"line": 0.98, "function": 0.99, "field": 0.97, "variable": 0.95, "type": 0.97})

    def test_gcc_optimised(self):
        self.compare("gcc", "-O2", {"line": 0.98, "function": 0.99, "field": 0.97, "variable": 0.95, "type": 0.97})

    def test_dwarf_4(self):
        with tools.folder() as folder:
            for compiler in ("clang-22", "gcc"):
                trace, _ = recorded(compiled(folder, compiler, "-gdwarf-4", "-O2", name=compiler))
                fields = accesses(trace, "field")
                self.assertGreater(fields["node.key"], 10_000, compiler)
                self.assertGreater(fields["counts"], 10_000, compiler)

    def test_addresses_that_are_fixed(self):
        with tools.folder() as folder:
            trace, _ = recorded(compiled(folder, "gcc", "-g", "-O2", "-no-pie", "-fno-pie"))
            variables = accesses(trace, "variable")
            self.assertGreaterEqual(variables["counts"], 40_000)
            self.assertGreaterEqual(variables["total"], 20)


class InlinedTests(unittest.TestCase):
    def test_inlined_functions_keep_their_names(self):
        for compiler, level in (("clang++-22", "-O0"), ("clang++-22", "-O2"), ("g++", "-O0"), ("g++", "-O2")):
            with self.subTest(compiler=compiler, level=level), tools.folder() as folder:
                source = tools.PROGRAMS / "inlined.cpp"
                trace, _ = recorded(compiled(folder, compiler, "-g", level, source=source))
                self.assertGreaterEqual(accesses(trace, "function")[SELL], 60_000)
                self.assertGreaterEqual(accesses(trace, "field")["shop::Item.sold"], 60_000)
                stacks = Path(folder) / "stacks"
                tools.trackway("export", "--to", "folded", "-o", stacks, trace)
                # What was inlined stands below the function into which it was.
                self.assertIn(f";main;sellAll(shop::Basket&);{SELL} ", stacks.read_text())


class UnitTests(unittest.TestCase):
    """Programs of several units."""

    def test_what_other_units_tell(self):
        """gcc's tables lead to the units with code; what those don't know is looked up in the others. With -flto a unit tells
        of code that another describes; clang has no such tables unless told to."""
        units = tools.PROGRAMS / "units"
        variants = (("gcc",), ("gcc", "-flto"), ("clang-22",), ("clang-22", "-gdwarf-aranges"))
        for compiler, *flags in variants:
            with self.subTest(compiler=compiler, flags=flags), tools.folder() as folder:
                flags += ["-g", "-O1", units / "sums.c", units / "weights.c"]
                trace, _ = recorded(compiled(folder, compiler, *flags, source=units / "main.c"))
                self.assertEqual(accesses(trace, "variable")["weights"], 6_400)
                self.assertEqual(accesses(trace, "field")["weight.light"], 6_400)
                self.assertEqual(accesses(trace, "line")["sums.c", 12], 6_400)


class WithoutDebugInformationTests(unittest.TestCase):
    def test_symbols_name_functions_and_static_variables(self):
        with tools.folder() as folder:
            trace, said = recorded(compiled(folder, "gcc", "-O2"))
            self.assertNotIn("warning", said)
            self.assertGreater(accesses(trace, "function")["walk"], 100_000)
            self.assertGreaterEqual(accesses(trace, "variable")["total"], 20)
            self.assertEqual(accesses(trace, "line")[("names.c", 40)], 0)

    def test_a_stripped_program_is_its_path(self):
        with tools.folder() as folder:
            program = compiled(folder, "gcc", "-O2", "-g", "-s")
            trace, said = recorded(program)
            self.assertNotIn("warning", said)
            functions = accesses(trace, "function")
            self.assertGreater(functions[str(program)], 100_000)
            self.assertNotIn("walk", functions)
            self.assertLess(attribution(trace)["with_field"], 0.5)

    def test_what_was_stripped_off_is_found(self):
        with tools.folder() as folder:
            program = compiled(folder, "gcc", "-O2", "-g")
            debug = f"{program}.debug"
            tools.run("objcopy", "--only-keep-debug", "--compress-debug-sections=zlib", program, debug)
            tools.run("strip", "--strip-all", program)
            tools.run("objcopy", f"--add-gnu-debuglink={debug}", program)
            trace, _ = recorded(program)
            self.assertGreater(accesses(trace, "function")["walk"], 100_000)
            self.assertGreater(accesses(trace, "field")["node.key"], 10_000)

    def test_compressed_sections_are_read(self):
        for form in ("zlib", "zstd"):
            with self.subTest(form=form), tools.folder() as folder:
                program = compiled(folder, "clang-22", "-O2", "-g", "-fuse-ld=lld", f"-Wl,--compress-debug-sections={form}")
                trace, _ = recorded(program)
                self.assertGreater(accesses(trace, "field")["node.key"], 10_000)


class AllocationTests(unittest.TestCase):
    """Calls of allocators have the place that other instructions have: their line, or at least their function."""

    SOURCE = tools.PROGRAMS / "allocations.c"

    def calls(self, trace):
        """Of the program's own calls: allocator, function, file, line."""
        words = ("memory", "--csv", "--table", "allocations", "--top", "0")
        rows = csv.DictReader(io.StringIO(tools.trackway(*words, trace).stdout))
        keys = "allocator", "function", "file", "line"
        return {tuple(os.path.basename(row[key]) for key in keys) for row in rows if "libc" not in row["function"]}

    def lines(self):
        """Where the source calls which allocator."""
        text = self.SOURCE.read_text().splitlines()
        found = ((number, re.search(r"\b(malloc|realloc|posix_memalign|calloc)\(", line)) for number, line in enumerate(text, 1))
        return {(match.group(1), "main", self.SOURCE.name, str(number)) for number, match in found if match}

    def test_lines_of_calls(self):
        for compiler, level in (("gcc", "-O0"), ("gcc", "-O2"), ("clang-22", "-O0"), ("clang-22", "-O2")):
            with self.subTest(compiler=compiler, level=level), tools.folder() as folder:
                flags = "-g", level, "-fno-builtin"
                trace, _ = recorded(compiled(folder, compiler, *flags, source=self.SOURCE))
                self.assertEqual(len(self.lines()), 4)
                self.assertLessEqual(self.lines(), self.calls(trace))

    def test_functions_of_calls_by_symbols(self):
        with tools.folder() as folder:
            trace, _ = recorded(compiled(folder, "gcc", "-O1", "-fno-builtin", source=self.SOURCE))
            self.assertIn(("malloc", "main", "(unknown)", ""), self.calls(trace))

    def test_calls_of_a_stripped_program_have_their_offset(self):
        with tools.folder() as folder:
            trace, _ = recorded(compiled(folder, "gcc", "-O1", "-fno-builtin", "-s", source=self.SOURCE))
            places = {function for allocator, function, _, _ in self.calls(trace) if allocator == "calloc"}
            self.assertTrue(any(place.startswith("prog+0x") for place in places), places)


class UnreadableTests(unittest.TestCase):
    """The recording succeeds whatever becomes of the files."""

    def record_and_then(self, folder, command):
        program = compiled(folder, "gcc", "-O2", "-g")
        trace = Path(folder) / "trace.trackway"
        done = tools.trackway(
            "record", "-f", "-o", trace, "--binary", "--", "sh", "-c", f"{program} && {command.format(program)}"
        )
        self.assertEqual(done.stderr.count(f"the code of {program} has no names"), 1, done.stderr)
        self.assertGreater(accesses(trace, "function")[str(program)], 100_000)

    def test_a_file_that_vanished(self):
        with tools.folder() as folder:
            self.record_and_then(folder, "rm {}")

    def test_a_file_that_is_no_program_any_more(self):
        with tools.folder() as folder:
            self.record_and_then(folder, "rm {0} && echo damaged > {0}")


class AnswerTests(unittest.TestCase):
    def test_what_has_no_name_is_told_by_its_line(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "unnamed_accesses.c"
            trace, _ = recorded(compiled(folder, "gcc", "-g", "-O1", source=source))
            text = tools.trackway("report", "--cache", "none", trace).stdout
        line = next(number for number, text in enumerate(source.read_text().splitlines(), 1) if "__asm__" in text)
        self.assertRegex(text, rf"^unnamed_accesses.c:{line} in write_hidden takes \d+ % of accesses")


class AttributionTests(unittest.TestCase):
    def test_the_unknown_is_counted(self):
        with tools.folder() as folder:
            trace, _ = recorded(compiled(folder, "clang-22", "-g", "-O0", "-static"))
            row = attribution(trace)
            self.assertEqual(row["accesses"], sum(accesses(trace, "field").values()))
            self.assertGreater(row["with_line"], 0.8)
            unnamed = accesses(trace, "variable")["(unknown)"] / row["accesses"]
            self.assertAlmostEqual(row["with_variable"], 1 - unnamed, places=3)


if __name__ == "__main__":
    unittest.main()
