"""Streams of C++ are recorded, and counted, with the program: as it is linked, and with the output of its plain build."""

import json
import subprocess
import unittest

from ..support import counting, tools

SOURCE = tools.PROGRAMS / "streams.cpp"
SHARED = """
#include <sstream>
extern "C" long parsed(const char *text) {
    std::istringstream in(text);
    long value = 0;
    in >> value;
    return value;
}
"""
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        void *library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        long (*parsed)(const char *) = library ? (long (*)(const char *))dlsym(library, "parsed") : 0;
        if (!parsed)
            return 1;
        printf("%ld\\n", parsed("1234"));
    }
    return 0;
}
"""
# Their loads and stores come from libstdc++'s own code alone.
INSIDE = ("_M_insert_int", "_M_insert_float", "_M_extract_int", "_M_extract_float", "std::getline", "basic_filebuf")


def functions_of(trace):
    report = tools.report(trace, "--by", "function", "--top", "1000")
    return {row["function"]: row["accesses"] for row in tools.table(report, "functions")["rows"]}


class Streams(unittest.TestCase):
    def compared(self, *flags):
        """The functions that accessed memory, of a build that prints what a plain one does."""
        with tools.folder() as folder:
            plain = tools.plain_build([SOURCE], flags)
            traced = tools.compile_traced(f"{folder}/traced", [SOURCE], *flags, oracle=False)
            expected = tools.run(plain, f"{folder}/file").stdout
            recorded = tools.record(f"{folder}/trace", traced, f"{folder}/file")
            self.assertEqual(tools.program_output(recorded), expected)
            self.assertEqual(tools.run(traced, f"{folder}/file").stdout, expected, "without a recorder")
            return functions_of(f"{folder}/trace")

    def assert_inside(self, functions):
        for name in INSIDE:
            self.assertGreater(sum(number for function, number in functions.items() if name in function), 10, name)

    def test_optimised(self):
        self.assert_inside(self.compared("-O2"))

    def test_unoptimised(self):
        self.assert_inside(self.compared("-O0"))

    def test_of_the_present_standard(self):
        self.assert_inside(self.compared("-O1", "-std=c++20"))

    def test_static(self):
        self.assert_inside(self.compared("-O2", "-static"))

    def test_by_another_linker(self):
        self.assert_inside(self.compared("-O2", "-fuse-ld=lld"))

    def test_left_out_on_request(self):
        functions = self.compared("--library=0", "-O2")
        self.assertEqual([name for name in functions if "_M_insert_int" in name], [])

    def test_characters_count_once(self):
        text = '#include <iostream>\nint main() { std::cout.write("0123456789", 10); return 0; }\n'
        with tools.folder() as folder:
            (source := tools.Path(folder) / "write.cpp").write_text(text)
            program = tools.compile_traced(f"{folder}/write", [source], "-O2", oracle=False)
            tools.record(f"{folder}/trace", program)
            events = map(json.loads, tools.trackway("dump", "--json", f"{folder}/trace").stdout.splitlines())
            kinds = [event["kind"] for event in events if event.get("size") == 10]
            self.assertLessEqual(kinds.count("library read") + kinds.count("copy read"), 1, kinds)

    def test_counted(self):
        with tools.folder() as folder:
            bytes_read = []
            for name, options in (("counted", ()), ("without", ("--library=0",))):
                program = counting.compile_counting(f"{folder}/{name}", [SOURCE], *options, "-O2")
                tools.record(f"{folder}/{name}.trackway", program, f"{folder}/file")
                report = tools.report(f"{folder}/{name}.trackway")
                bytes_read.append(sum(row["bytes_read"] for row in tools.table(report, "regions")["rows"]))
            self.assertGreater(bytes_read[0], 2 * bytes_read[1])

    def test_objects_that_are_loaded_one_by_one(self):
        # Each has its own streams, and all use the facets of one library.
        with tools.folder() as folder:
            libraries = []
            for name in ("one", "two"):
                (source := tools.Path(folder) / f"{name}.cpp").write_text(SHARED)
                libraries.append(tools.compile_traced(f"{folder}/{name}.so", [source], "-O2", "-shared", "-fPIC", oracle=False))
            (source := tools.Path(folder) / "loader.c").write_text(LOADER)
            loader = tools.compile_traced(f"{folder}/loader", [source], "-O2", "-ldl", oracle=False)
            recorded = tools.record(f"{folder}/trace", loader, *libraries)
            self.assertEqual(tools.program_output(recorded).split(), ["1234", "1234"])
            self.assert_has(functions_of(f"{folder}/trace"), "_M_extract_int")

    def assert_has(self, functions, name):
        self.assertTrue(any(name in function for function in functions), functions)


class Packages(unittest.TestCase):
    def test_the_archives_hold_no_identities(self):
        # Facets have one identity in a process: that of libstdc++.
        for name in ("libtrackway-streams.a", "libtrackway-streams-count.a"):
            listed = subprocess.run(
                ["nm", "-C", "--defined-only", tools.ROOT / "build/lib/trackway" / name], capture_output=True, text=True, check=True
            ).stdout
            self.assertIn("_M_insert_int", listed)
            self.assertNotRegex(listed, r"::id$")


class Coverage(unittest.TestCase):
    def test_most_bytes_of_numbers_and_strings_are_recorded(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "stream_numbers.cpp"
            program = tools.compile_traced(f"{folder}/numbers", [source], "-O2", "-g", oracle=False)
            report = json.loads(tools.trackway("coverage", "--json", "--", program, "500", f"{folder}/file").stdout)
            found = tools.table(report, "coverage")["rows"][0]
            self.assertEqual(found["compiled_recorded"], found["compiled_bytes"])
            # The rest is the dynamic linker's, the allocator's, and locales'.
            self.assertGreater(found["recorded"], 0.6 * (found["bytes"] - found["before"] - found["allocator_bytes"]))
            inside = [row["function"] for row in tools.table(report, "not_recorded")["rows"] if row["share"] > 0.01]
            self.assertFalse([name for name in inside if "num_put" in name or "basic_ostream" in name], inside)
