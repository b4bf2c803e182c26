"""Programs that are hard on the pass.

The comments at the top of each source in tests/torture say how it is built: `flags:` extra arguments of the compiler,
`with:` a further source, `places:` values of --place to try besides the default.
"""

import re

from . import tools

SOURCES = tools.ROOT / "tests" / "torture"
LEVELS = ("-O0", "-O2")


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
