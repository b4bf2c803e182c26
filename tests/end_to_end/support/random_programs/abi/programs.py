"""A program of some seeds: a caller and a callee, and the header that both include."""

import shutil
from pathlib import Path

from .cases import Case

PRELUDE = "prelude.h"
PATTERN = "0x9d3f6b1e5a7c2841ull"
DIALECTS = {"c": "-std=gnu17", "cpp": "-std=gnu++17"}


class Program:
    def __init__(self, seeds, suffix, version):
        self.suffix = suffix
        self.cases = [Case(seed, suffix == "cpp", version) for seed in seeds]
        self.flags = ("-w", DIALECTS[suffix])
        self.caller, self.callee, self.helpers = (f"{part}.{suffix}" for part in ("caller", "callee", "helpers"))

    def write(self, folder):
        folder = Path(folder)
        shutil.copy(Path(__file__).parent / PRELUDE, folder)
        (folder / "cases.h").write_text(f'#pragma once\n#include "{PRELUDE}"\n' + "".join(c.header() for c in self.cases))
        include = '#include "cases.h"\n'
        (folder / self.helpers).write_text("#define DEFINES_HELPERS\n" + include + "u64 pattern;\n")
        (folder / self.callee).write_text(include + "".join(case.callee() for case in self.cases))
        (folder / self.caller).write_text(include + "".join(case.caller() for case in self.cases) + self.main())

    def main(self):
        calls = "".join(f'    say("begins", {case.seed}, 0);\n    call{case.seed}();\n' for case in self.cases)
        return f"int main(int count, char **words) {{\n    (void)words;\n    pattern = count * {PATTERN};\n{calls}    return 0;\n}}\n"
