"""The lines of a program's source of which its machine code knows."""

import re
from collections import Counter, defaultdict
from pathlib import Path

from .programs import call

FILE = re.compile(r'file_names\[ *(\d+)\]:\n +name: "([^"]+)"')
ROW = re.compile(r"^0x[0-9a-f]+ +(\d+) +\d+ +(\d+) ", re.MULTILINE)


def lines_with_code(program):
    """By the name of the file, sorted."""
    lines = defaultdict(set)
    for table in call("llvm-dwarfdump-22", "--debug-line", program).split("debug_line[")[1:]:
        files = {number: Path(name).name for number, name in FILE.findall(table)}
        for line, file in ROW.findall(table):
            if int(line) > 0:
                lines[files[file]].add(int(line))
    return {file: sorted(found) for file, found in lines.items()}


def joined(counts, program):
    """Counts by file and line; those of lines that the compiler left out of the program's table are added to the line before,
    as accesses of code that it made one of several lines'."""
    lines = lines_with_code(program)
    result = Counter()
    for (file, line), count in counts.items():
        before = [known for known in lines.get(file, ()) if known <= line]
        result[file, before[-1] if before else line] += count
    return result
