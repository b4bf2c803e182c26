"""Programs that are hard on the pass: they print what the plain build prints, and their traces equal the oracle's.

The comments at the top of each source in tests/torture say how it is built: `flags:` extra arguments of the compiler,
`with:` a further source, `places:` values of --place to try besides the default.
"""

import re
import unittest

from ..support import tools

SOURCES = tools.ROOT / "tests" / "torture"
LEVELS = ("-O0", "-O2")
# The smallest buffers, so that they fill up in many places.
RECORD_OPTIONS = ("--buffer-size", "16K")


class Program:
    def __init__(self, source):
        head = [line for line in source.read_text().splitlines()[:5] if line.startswith("// ")]
        stated = dict(re.fullmatch(r"// (\w+):(.*)", line).groups() for line in head)
        self.flags = tuple(stated["flags"].split())
        self.sources = [source, *(SOURCES / name for name in stated.get("with", "").split())]
        self.places = tuple(stated.get("places", "").split())


def programs():
    """The programs by name; a source without flags belongs to another one."""
    sources = [source for pattern in ("*.c", "*.cpp") for source in SOURCES.glob(pattern)]
    return {source.stem: Program(source) for source in sorted(sources) if "// flags:" in source.read_text()}


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
        setattr(Torture, f"test_{name}_llvm_16", lambda self, program=program: self.check(program, "-O2", version=16))


add_tests()
