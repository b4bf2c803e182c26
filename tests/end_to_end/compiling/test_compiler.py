"""`trackway cc` in builds as they are: make -j, CMake, configure-like checks, reproducible objects, shared objects."""

import hashlib
import shutil
import unittest
from pathlib import Path

from ..support import tools

CC = tools.BUILD / "bin" / "trackway-cc"
CXX = tools.BUILD / "bin" / "trackway-c++"

MODULES = 24
MODULE = """
#include <stddef.h>
struct part{n} {{ long value; struct part{n} *next; }};
static struct part{n} parts[50];
long sum_{n}(void) {{
    long sum = 0;
    for (size_t i = 0; i < 50; i++) {{ parts[i].value = (long)i * {n}; parts[i].next = &parts[(i + 7) % 50]; }}
    for (struct part{n} *part = parts[0].next; part != parts; part = part->next) sum += part->value;
    return sum;
}}
"""


def write_modules(folder):
    calls = " + ".join(f"sum_{n}()" for n in range(MODULES))
    declarations = "\n".join(f"long sum_{n}(void);" for n in range(MODULES))
    main = f'#include <stdio.h>\n{declarations}\nint main(void) {{ printf("%ld\\n", {calls}); return 0; }}\n'
    Path(folder, "main.c").write_text(main)
    for n in range(MODULES):
        Path(folder, f"module_{n}.c").write_text(MODULE.format(n=n))
    rule = "%.o: %.c\n\t$(CC) $(CFLAGS) -c $< -o $@\n"
    objects = "main.o " + " ".join(f"module_{n}.o" for n in range(MODULES))
    Path(folder, "Makefile").write_text(f"program: {objects}\n\t$(CC) $^ -o $@\n{rule}")
    return sum(n * sum(range(1, 50)) for n in range(MODULES))


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Builds(unittest.TestCase):
    def test_parallel_make_of_many_files(self):
        with tools.folder() as folder:
            expected = write_modules(folder)
            tools.run("make", "-s", "-j8", "-C", folder, f"CC={tools.TRACKWAY} cc --oracle", "CFLAGS=-O1")
            sources = [f"{folder}/main.c", *(f"{folder}/module_{n}.c" for n in range(MODULES))]
            tools.has_plain(f"{folder}/program", lambda: tools.plain_build(sources, ["-O1"]))
            recorded = tools.record(f"{folder}/trace", f"{folder}/program")
            self.assertEqual(int(tools.program_output(recorded)), expected)
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), MODULES * 100)

    def test_cmake(self):
        with tools.folder() as folder:
            shutil.copy(tools.PROGRAMS / "containers.cpp", folder)
            shutil.copy(tools.PROGRAMS / "control_flow.c", folder)
            lists = ("cmake_minimum_required(VERSION 3.20)\nproject(Mixed C CXX)\n"
                     "add_executable(containers containers.cpp)\nadd_executable(control_flow control_flow.c)\n")
            Path(folder, "CMakeLists.txt").write_text(lists)
            compilers = (f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_CXX_COMPILER={CXX}")
            environment = tools.environment(TRACKWAY_CC_OPTIONS="--oracle")
            configure = ("cmake", "-S", folder, "-B", f"{folder}/out", *compilers, "-DCMAKE_BUILD_TYPE=Release")
            tools.run(*configure, env=environment)
            tools.run("cmake", "--build", f"{folder}/out", env=environment)
            for name in ("containers.cpp", "control_flow.c"):
                program = f"{folder}/out/{Path(name).stem}"
                tools.has_plain(program, lambda name=name: tools.plain_build([tools.PROGRAMS / name], ["-O3", "-DNDEBUG"]))
                tools.record(f"{folder}/trace", program)
                self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)

    def test_configure_like_checks_pass_through(self):
        with tools.folder() as folder:
            Path(folder, "conftest.c").write_text("int main(void) { return 0; }\n")
            for arguments in (["--version"], ["-v"], ["-E", "conftest.c"], ["-M", "conftest.c"], ["-S", "conftest.c"],
                              ["-fsyntax-only", "conftest.c"], ["-print-prog-name=ld"], ["-dumpmachine"]):
                ours = tools.trackway("cc", *arguments, cwd=folder)
                clangs = tools.run("clang-22", *arguments, cwd=folder)
                if arguments[0] in ("-E", "-M", "--version", "-dumpmachine"):
                    self.assertEqual(ours.stdout, clangs.stdout, arguments)
            tools.trackway("cc", "conftest.c", cwd=folder)
            tools.run(f"{folder}/a.out")
            failing = tools.trackway("cc", "-c", "missing.c", cwd=folder, check=False)
            self.assertNotEqual(failing.returncode, 0)
            self.assertIn("missing.c", failing.stderr)

    def test_arguments_from_a_file(self):
        with tools.folder() as folder:
            Path(folder, "arguments").write_text(f"-O2 {tools.PROGRAMS}/control_flow.c -o {folder}/program\n")
            tools.trackway("cc", "--oracle", f"@{folder}/arguments")
            tools.has_plain(f"{folder}/program", lambda: tools.plain_build([tools.PROGRAMS / "control_flow.c"], ["-O2"]))
            tools.record(f"{folder}/trace", f"{folder}/program")
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)

    def test_shared_object(self):
        with tools.folder() as folder:
            Path(folder, "part.c").write_text("int table[100];\nint fill(int n) { for (int i = 0; i < 100; i++) "
                                              "table[i] = i * n; return table[99]; }\n")
            Path(folder, "main.c").write_text('#include <stdio.h>\nint fill(int);\nint seen[2];\n'
                                              'int main(void) { seen[1] = fill(3); printf("%d\\n", seen[1]); }\n')
            tools.trackway("cc", "--oracle", "-O1", "-fPIC", "-shared", "part.c", "-o", "libpart.so", cwd=folder)
            tools.trackway("cc", "--oracle", "-O1", "main.c", "-L.", "-lpart", f"-Wl,-rpath,{folder}", "-o", "main", cwd=folder)
            sources = [f"{folder}/main.c", f"{folder}/part.c"]
            tools.has_plain(f"{folder}/main", lambda: tools.plain_build(sources, ["-O1"]))
            recorded = tools.record(f"{folder}/trace", f"{folder}/main")
            self.assertEqual(tools.program_output(recorded), "297\n")
            self.assertGreaterEqual(tools.verified_accesses(f"{folder}/trace"), 25)

    def test_static_executable(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "control_flow.c"
            program = tools.compile_traced(f"{folder}/program", [source], "-O2", "-static")
            tools.record(f"{folder}/trace", program)
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)

    def test_builds_are_reproducible(self):
        with tools.folder() as folder:
            for source in ("containers.cpp", "control_flow.c"):
                compiler, made, digests = tools.compiler_for(source), f"{folder}/made.o", set()
                # The command stands in the debugging information, so it must be the same; or be left out.
                for _ in range(2):
                    tools.trackway(compiler, "-O2", "-c", tools.PROGRAMS / source, "-o", made)
                    digests.add(digest(made))
                self.assertEqual(len(digests), 1, source)
                for other in (made, f"{folder}/other.o"):
                    command = [compiler, "-O2", "-gno-record-command-line", "-c", tools.PROGRAMS / source]
                    tools.trackway(*command, "-o", other)
                self.assertEqual(digest(made), digest(other), source)


class Filters(unittest.TestCase):
    SOURCE = """
struct hidden { int a[64]; };
struct shown { int b[64]; };
static struct hidden hidden_table;
static struct shown shown_table;
__attribute__((noinline)) void leave_alone(void) { for (int i = 0; i < 64; i++) *(volatile int *)&hidden_table.a[i] = i; }
__attribute__((noinline)) void take(void) { for (int i = 0; i < 64; i++) *(volatile int *)&shown_table.b[i] = i; }
int main(void) { leave_alone(); take(); return 0; }
"""

    def test_function_left_out_on_request(self):
        with tools.folder() as folder:
            Path(folder, "list").write_text("fun:leave_alone\n")
            Path(folder, "main.c").write_text(self.SOURCE)
            counts = {}
            for name, options in (("all", []), ("some", [f"--ignorelist={folder}/list"])):
                program = tools.compile_traced(f"{folder}/{name}", [f"{folder}/main.c"], *options, "-O0")
                tools.record(f"{folder}/trace", program)
                counts[name] = tools.verified_accesses(f"{folder}/trace")
            self.assertLess(counts["some"], counts["all"])
            self.assertGreaterEqual(counts["some"], 64)
