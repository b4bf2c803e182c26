"""The code in the documents: what the tests of documented examples run, word by word."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Block:
    document: str
    line: int  # of its first line, from 1
    section: str
    language: str  # of a fence; empty for an indented block
    text: str

    @property
    def first(self):
        return self.text.splitlines()[0].strip()


def blocks(document):
    """The indented and the fenced blocks of code of a document. A blank line ends an indented one."""
    found = []
    section, language, lines, begin = "", None, [], 0

    def end(kind):
        if lines:
            found.append(Block(document, begin, section, kind, "\n".join(lines) + "\n"))
            lines.clear()

    for number, line in enumerate((ROOT / document).read_text().splitlines(), 1):
        fence = re.match(r"```(\w*)$", line)
        if fence:
            end(language or "")
            language, begin = (fence.group(1), number + 1) if language is None else (None, 0)
        elif language is not None:
            lines.append(line)
        elif line.startswith("    "):
            begin = begin if lines else number
            lines.append(line[4:])
        else:
            end("")
            section = line.lstrip("# ") if line.startswith("#") else section
    end("")
    return found
