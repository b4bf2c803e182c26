"""The oldest version of LLVM that is tested, compilers without a plug-in, and `opt -load-pass-plugin`."""

import os
import shutil
import unittest

from ..support import tools
from ..support.workloads import known_answers

OLDEST = 19
WORKLOADS = ("hash", "simplex", "fluid")
LIBRARY = tools.BUILD / "lib" / "trackway"
EXPORT = "-Wl,--export-dynamic-symbol=__trackway_*"


class OldestVersion(unittest.TestCase):
    def plain(self, folder, name, level):
        tools.run("make", "-s", "-C", tools.ROOT / "workloads", "plain", f"W={name}", f"OPT={level}", f"OUT={folder}",
                  f"CLANG=clang-{OLDEST}", f"CLANGXX=clang++-{OLDEST}")
        return f"{folder}/plain/{name}"

    def check(self, name, level):
        with tools.folder() as folder:
            compilers = tools.environment(TRACKWAY_CLANG=f"clang-{OLDEST}", TRACKWAY_CLANGXX=f"clang++-{OLDEST}")
            tools.run("make", "-s", "-C", tools.ROOT / "workloads", "oracle", f"W={name}", f"OPT={level}", f"OUT={folder}",
                      env=compilers)
            tools.has_plain(f"{folder}/oracle/{name}", lambda: self.plain(folder, name, level))
            trace = f"{folder}/trace"
            recorded = tools.record(trace, f"{folder}/oracle/{name}", "small")
            self.assertEqual(tools.program_output(recorded).strip(), known_answers()[name])
            self.assertGreater(tools.verified_accesses(trace), 1000)
            self.assertIn(f"clang version {OLDEST}.", tools.trackway("info", "--json", trace).stdout)

    def test_shared_labels(self):
        """Labels that both copies of a function share, as constants of the oldest version hold them."""
        for level in ("-O0", "-O2"):
            with tools.folder() as folder:
                source = tools.PROGRAMS / "label_escape.c"
                traced = tools.compile_traced(f"{folder}/traced", [source], level, version=OLDEST)
                for interpreter in ("own", "distances"):
                    with self.subTest(level=level, interpreter=interpreter):
                        tools.record(f"{folder}/trace", traced, 500, interpreter)
                        self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 10_000)


def add_tests():
    for name in WORKLOADS:
        for level in tools.LEVELS:
            method = f"test_{name}_{level.lstrip('-')}"
            setattr(OldestVersion, method, lambda self, name=name, level=level: self.check(name, level))


add_tests()


class Plugin(unittest.TestCase):
    def compile(self, folder, clang):
        return tools.trackway("cc", f"--clang={clang}", "-c", tools.PROGRAMS / "control_flow.c", "-o",
                              f"{folder}/out.o", check=False)

    def test_version_without_a_plugin_is_named_with_those_that_have_one(self):
        with tools.folder() as folder:
            other = f"{folder}/clang"
            with open(other, "w") as script:
                script.write("#!/bin/sh\necho 7.0.1\n")
            os.chmod(other, 0o755)
            done = self.compile(folder, other)
            self.assertEqual(done.returncode, 2)
            self.assertIn("LLVM 7", done.stderr)
            self.assertIn("19 and 22", done.stderr)

    def test_a_compiler_without_a_version_in_its_name_is_asked(self):
        with tools.folder() as folder:
            os.symlink(shutil.which("clang-19"), f"{folder}/clang")
            done = self.compile(folder, f"{folder}/clang")
            self.assertEqual(done.returncode, 0, done.stderr)


class Optimiser(unittest.TestCase):
    """The commands of docs/collectors/compiler.md, `opt -load-pass-plugin`."""

    def check(self, version, passes):
        with tools.folder() as folder:
            plugin = LIBRARY / f"TrackwayPass{version}.so"
            clang = f"clang-{version}"
            environment = tools.environment(TRACKWAY_PASS_OPTIONS="oracle=1")
            run = lambda *command: tools.run(*command, cwd=folder, env=environment)
            run(clang, "-O2", "-g", "-fstandalone-debug", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c",
                tools.PROGRAMS / "control_flow.c", "-o", "prog.bc")
            run(f"opt-{version}", f"-load-pass-plugin={plugin}", f"-passes={passes}", "prog.bc", "-o", "recording.bc")
            run(f"llc-{version}", "-O2", "-relocation-model=pic", "-filetype=obj", "recording.bc", "-o", "prog.o")
            run(clang, "prog.o", "-o", "prog", LIBRARY / "libtrackway.a", EXPORT)
            trace = f"{folder}/trace"
            tools.has_plain(f"{folder}/prog", lambda: tools.plain_build([tools.PROGRAMS / "control_flow.c"], ["-O2"], version))
            tools.record(trace, f"{folder}/prog")
            self.assertGreater(tools.verified_accesses(trace), 1000)
            variables = tools.report(trace, "--by", "variable", "--top", "0")["tables"][0]["rows"]
            self.assertIn("total", [row["variable"] for row in variables])

    def test_in_the_standard_pipeline(self):
        for version in (OLDEST, tools.LLVM_VERSION):
            self.check(version, "default<O2>")

    def test_in_a_pipeline_of_ones_own(self):
        passes = "trackway-attribution,function(sroa,early-cse,instcombine,simplifycfg),trackway-record"
        for version in (OLDEST, tools.LLVM_VERSION):
            self.check(version, passes)

    def test_bitcode_that_records_is_compiled_as_it_is(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "control_flow.c"
            tools.trackway("cc", "--oracle", "-O1", "-emit-llvm", "-c", source, "-o", f"{folder}/prog.bc")
            tools.trackway("cc", "--oracle", "-O1", f"{folder}/prog.bc", "-o", f"{folder}/prog")
            tools.has_plain(f"{folder}/prog", lambda: tools.plain_build([source], ["-O1"]))
            tools.record(f"{folder}/trace", f"{folder}/prog")
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 1000)
