"""Marks of regions other than the macros of trackway.h: pragmas, and the Fortran module."""

import shutil
import subprocess
import unittest
from pathlib import Path

from ..support import counting, tools

PRAGMAS = counting.REGIONS / "pragmas.c"
FORTRAN = counting.REGIONS / "marks.f90"
STRICT = ("-Wall", "-Wextra", "-Werror")


def entries(folder, program):
    trace = f"{folder}/trace"
    tools.record(trace, program)
    return {name: row["entries"] for name, row in counting.regions(trace).items()}


def output_of(program):
    return subprocess.run([program], check=True, capture_output=True, text=True, timeout=tools.TIME_LIMIT_S).stdout


class Pragmas(unittest.TestCase):
    EXPECTED = {"fill it": 1, 'add "up"': 9}

    def test_every_version_of_the_compiler(self):
        for version in (19, 22):
            with self.subTest(version=version), tools.folder() as folder:
                program = counting.compile_counting(f"{folder}/program", [PRAGMAS], "-O2", *STRICT, version=version)
                self.assertEqual(entries(folder, program), self.EXPECTED)

    def test_in_cxx_and_with_files_between(self):
        with tools.folder() as folder:
            source = Path(folder, "pragmas.cpp")
            shutil.copy(PRAGMAS, source)
            preprocessed = Path(folder, "preprocessed.ii")
            tools.trackway("c++", "--count", "-E", source, "-o", preprocessed)
            program = f"{folder}/program"
            tools.trackway("c++", "--count", "-O1", preprocessed, "-o", program)
            self.assertEqual(entries(folder, program), self.EXPECTED)

    def test_means_nothing_to_programs_that_trace(self):
        with tools.folder() as folder:
            program = counting.compile_tracing(f"{folder}/program", [PRAGMAS], "-O1", *STRICT)
            self.assertEqual(output_of(program), "total 36\n")

    def test_mistakes_are_errors_that_name_the_line(self):
        for pragma, part in (("begin", "the name of a region is missing"), ("start x", "expected '#pragma trackway begin")):
            with self.subTest(pragma=pragma), tools.folder() as folder:
                source = Path(folder, "bad.c")
                source.write_text(f"int main(void) {{\n#pragma trackway {pragma}\n}}\n")
                failed = tools.trackway("cc", "-c", source, "-o", f"{folder}/bad.o", check=False)
                self.assertNotEqual(failed.returncode, 0)
                self.assertIn("bad.c:2:", failed.stderr)
                self.assertIn(part, failed.stderr)


class Fortran(unittest.TestCase):
    def test_the_module_is_found_and_its_marks_known(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level=level), tools.folder() as folder:
                program = f"{folder}/program"
                tools.trackway("fc", "--count", level, FORTRAN, "-o", program)
                self.assertEqual(entries(folder, program), {"fill it": 1, "add": 8})
                self.assertEqual(output_of(program), "total    36.0\n")

    def test_other_compilers_take_the_one_that_does_nothing(self):
        with tools.folder() as folder:
            program = f"{folder}/program"
            module = tools.ROOT / "build/include/trackway.f90"
            subprocess.run(["flang-22", "-J", folder, module, FORTRAN, "-o", program], check=True, cwd=folder)
            self.assertEqual(output_of(program), "total    36.0\n")


if __name__ == "__main__":
    unittest.main()
