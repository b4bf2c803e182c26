"""What the other tests lean on: a program with the oracle that doesn't do what its plain build does fails its test."""

import unittest

from ..support import tools

# The runtime is in the traced build alone.
SOURCE = """
#include <stdio.h>
int __trackway_begin_counting(void) __attribute__((weak));
static volatile int numbers[100];
int main(int count, char **words) {
    int is_traced = __trackway_begin_counting != 0;
    for (int i = 0; i < 100; i++)
        numbers[i] = i;
    if (count > 1 && words[1][0] == 'p')
        printf("traced: %d\\n", is_traced);
    return count > 1 && words[1][0] == 's' ? is_traced : 0;
}
"""


class PlainBuilds(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.trace, source = f"{folder.name}/trace", f"{folder.name}/program.c"
        with open(source, "w") as file:
            file.write(SOURCE)
        self.program = tools.compile_traced(f"{folder.name}/program", [source], "-O1")

    def test_the_same(self):
        tools.record(self.trace, self.program)
        self.assertGreaterEqual(tools.verified_accesses(self.trace), 100)

    def test_another_output(self):
        with self.assertRaisesRegex(AssertionError, r"traced: 1.*traced: 0"):
            tools.record(self.trace, self.program, "print")
        with self.assertRaisesRegex(AssertionError, "nothing compared"):
            tools.verified_accesses(self.trace)

    def test_another_status(self):
        with self.assertRaisesRegex(AssertionError, "those of the plain program"):
            tools.record(self.trace, self.program, "status", check=False)

    def test_reasons_to_differ_are_stated(self):
        tools.record(self.trace, self.program, "print", differs="this is what it is for")
        self.assertGreaterEqual(tools.verified_accesses(self.trace), 100)

    def test_recordings_by_other_means_say_what_compares_them(self):
        tools.trackway("record", "-f", "-o", self.trace, "--", self.program)
        with self.assertRaisesRegex(AssertionError, "nothing compared"):
            tools.verified_accesses(self.trace)
