"""`trackway fc`: Fortran by flang, its own program at every level, names and lines, and Fortran beside C."""

import json
import unittest
from pathlib import Path

from ..support import tools
from ..support.random_programs.comparison import Comparison, Setting

SOURCE = tools.PROGRAMS / "fortran.f90"
ANSWER = """common 431
turned 7675.0
grid 153300.0
points 1006.0
waves    200.0     0.0
list 3244 71
other 610 corner of it
"""


def rows(report, name):
    return next(table["rows"] for table in report["tables"] if table["name"] == name)


COMPONENTS = """
module particles
  type particle
    real(8) :: mass
    integer :: id
    real(8) :: pos(3)
  end type
end module
program main
  use particles
  type(particle), allocatable :: p(:)
  integer :: i
  real(8) :: s
  allocate(p(1000))
  do i = 1, 1000
    p(i)%mass = i
    p(i)%id = i
    p(i)%pos(2) = 2 * i
  end do
  s = 0
  do i = 1, 1000
    s = s + p(i)%mass * p(i)%id + p(i)%pos(2)
  end do
  print *, s
end program
"""


class Fortran(unittest.TestCase):
    def test_every_level(self):
        for level in tools.LEVELS:
            with self.subTest(level=level), tools.folder() as folder:
                Path(folder, SOURCE.name).write_text(SOURCE.read_text())
                comparison = Comparison(folder, SOURCE.name, (), Setting(level, record_options=("--buffer-size", "16K")))
                self.assertEqual(comparison.expected(tools.TIME_LIMIT_S), (0, ANSWER))
                self.assertGreater(comparison.run(tools.TIME_LIMIT_S), 1000)

    def test_variables_and_lines_are_named(self):
        with tools.folder() as folder:
            traced = tools.compile_traced(f"{folder}/traced", [SOURCE], "-O1", "-J", folder, oracle=False)
            tools.record(f"{folder}/trace", traced)
            report = tools.report(f"{folder}/trace", "--by", "variable,line", "--top", "0")
            variables = {(row["variable"], row["kind"]) for row in rows(report, "variables")}
            for expected in (("matrix", "static"), ("points", "static"), ("target", "parameter"), ("grid", "static"),
                             ("shared_", "global")):
                self.assertIn(expected, variables)
            text = SOURCE.read_text().splitlines()
            assignment = next(n for n, line in enumerate(text, 1) if "target(row, column) =" in line)
            lines = {row["line"] for row in rows(report, "lines") if row["file"].endswith(SOURCE.name)}
            self.assertIn(assignment, lines)

    def test_allocatables_of_modules_are_named(self):
        source = tools.PROGRAMS / "fortran_modules.f90"
        for level in ("-O0", "-O2"):
            with self.subTest(level=level), tools.folder() as folder:
                traced = tools.compile_traced(f"{folder}/traced", [source], level, "-J", folder, oracle=False)
                self.assertEqual(tools.program_output(tools.record(f"{folder}/trace", traced)).split(),
                                 ["10800.0", "120.0", "4.0", "240.0"])
                report = tools.report(f"{folder}/trace", "--by", "variable", "--top", "0", "--cache", "none")
                accesses = {}
                for row in rows(report, "variables"):
                    accesses[row["variable"]] = accesses.get(row["variable"], 0) + row["bytes"]
                # pressure: 60 * 60 elements are set, read, written, and summed.
                for variable, least in (("pressure", 8 * 4 * 3600), ("velocity", 8 * 3600), ("cells", 8 * 3 * 60), ("edge", 8 * 60)):
                    self.assertGreaterEqual(accesses.get(variable, 0), least, (variable, accesses))
                memory = json.loads(tools.trackway("memory", "--json", f"{folder}/trace").stdout)
                allocated = {row["variable"]: row["peak_bytes"] for row in rows(memory, "peak")}
                self.assertEqual((allocated["pressure"], allocated["velocity"]), (8 * 3600, 8 * 60))

    def test_components_are_fields(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level=level), tools.folder() as folder:
                Path(folder, "parts.f90").write_text(COMPONENTS)
                traced = tools.compile_traced(f"{folder}/traced", [f"{folder}/parts.f90"], level, "-J", folder, oracle=False)
                tools.record(f"{folder}/trace", traced)
                report = tools.report(f"{folder}/trace", "--by", "field", "--top", "0", "--cache", "none")
                fields = {row["field"]: row["bytes"] for row in rows(report, "fields")}
                for field, least in (("particle.mass", 2 * 8 * 1000), ("particle.id", 2 * 4 * 1000), ("particle.pos[]", 2 * 8 * 1000)):
                    self.assertGreaterEqual(fields.get(field, 0), least, (field, fields))

    def test_fortran_and_c_in_one_program(self):
        with tools.folder() as folder:
            Path(folder, "part.c").write_text("void scale_(double *x, int *n) { for (int i = 0; i < *n; i++) x[i] *= 2; }\n")
            Path(folder, "main.f90").write_text("program main\n  real(8) :: x(100)\n  integer :: n = 100\n  x = 1.5d0\n"
                                                "  call scale(x, n)\n  print '(f0.1)', sum(x)\nend program\n")
            for verb, source in (("cc", "part.c"), ("fc", "main.f90")):
                tools.trackway(verb, "--oracle", "-O2", "-c", source, cwd=folder)
            tools.trackway("fc", "main.o", "part.o", "-o", "main", cwd=folder)
            part = tools.compile_plain(f"{folder}/plain.o", [f"{folder}/part.c"], "-O2", "-c")
            tools.has_plain(f"{folder}/main", lambda: tools.plain_build([f"{folder}/main.f90", part], ["-O2"]))
            recorded = tools.record(f"{folder}/trace", f"{folder}/main")
            self.assertEqual(tools.program_output(recorded), "300.0\n")
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)

    def test_questions_reach_flang(self):
        ours = tools.run(tools.BUILD / "bin" / "trackway-fc", "--version").stdout
        self.assertEqual(ours, tools.run("flang-22", "--version").stdout)
