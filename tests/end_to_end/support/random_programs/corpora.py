"""Where random programs come from: csmith for C, our own generator for C++. A program follows from its seed."""

import shutil
from pathlib import Path

from .. import tools
from .cxx_generator import PRELUDE, CxxGenerator

# Small programs, so that each takes a second or two for all levels together. Arguments of main would be read, floats
# and packed structs and unions, bit-fields, volatiles and jumps are in.
CSMITH = ("--no-argc", "--float", "--max-funcs", "4", "--max-block-depth", "3", "--max-block-size", "3",
          "--max-expr-complexity", "6", "--max-array-len-per-dim", "6")


class CCorpus:
    name = "c"
    source = "program.c"
    # Its programs pass pointers to other types than they declare, which is an error since clang 22.
    flags = ("-w", "-Wno-incompatible-pointer-types", "-I/usr/include/csmith")
    statuses = (0,)

    @staticmethod
    def write(seed, folder):
        # It leaves a file platform.info where it runs.
        tools.run("csmith", "--seed", seed, *CSMITH, "-o", CCorpus.source, cwd=folder, time_limit_s=60)


class CxxCorpus:
    name = "c++"
    source = "program.cpp"
    flags = ("-w", "-std=c++17", "-I.")
    statuses = range(256)

    @staticmethod
    def write(seed, folder):
        shutil.copy(Path(__file__).parent / PRELUDE, folder)
        Path(folder, CxxCorpus.source).write_text(CxxGenerator(seed).program())


CORPORA = {corpus.name: corpus for corpus in (CCorpus, CxxCorpus)}
