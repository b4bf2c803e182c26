"""Programs that are hard on the pass: they print what the plain build prints, and their traces equal the oracle's."""

import unittest

from ..support import tools
from ..support.torture_programs import LEVELS, programs

# The smallest buffers, so that they fill up in many places.
RECORD_OPTIONS = ("--buffer-size", "16K")


class Torture(unittest.TestCase):
    def check(self, program, level, version=tools.LLVM_VERSION):
        with tools.folder() as folder:
            flags = (level, *program.flags)
            plain = tools.plain_build(program.sources, flags, version)
            answer = tools.run(plain).stdout
            self.assertNotEqual(answer, "")
            unrecorded = tools.compile_traced(f"{folder}/unrecorded", program.sources, *flags, oracle=False,
                                              version=version)
            self.assertEqual(tools.run(unrecorded).stdout, answer, "not recorded")
            for place in ("late", *program.places):
                with self.subTest(place=place):
                    self.check_trace(folder, program, (f"--place={place}", *flags), version)

    def check_trace(self, folder, program, flags, version):
        traced = tools.compile_traced(f"{folder}/traced", program.sources, *flags, version=version)
        trace = f"{folder}/trace"
        tools.record(trace, traced, options=RECORD_OPTIONS)
        self.assertGreater(tools.verified_accesses(trace), 100)


def add_tests():
    for name, program in programs().items():
        for level in LEVELS:
            method = f"test_{name}_{level.lstrip('-')}"
            setattr(Torture, method, lambda self, program=program, level=level: self.check(program, level))
        setattr(Torture, f"test_{name}_llvm_19", lambda self, program=program: self.check(program, "-O2", version=19))


add_tests()
