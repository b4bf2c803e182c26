"""Finds sentences in documents and comments that a reader would stumble over.

Pages of docs/, README.md and CHANGELOG.md are searched for words that the project doesn't use and for sentences of more
than 40 words; comments of code for the few phrases that are never right there. A place that must stay as it is carries
`words: allowed` and a reason: in Markdown in an HTML comment in the same line or the line before, in code in the same comment line.
"""

import re
import subprocess
import sys
from pathlib import Path

from links import without_code

ALLOWED = re.compile(r"words: allowed\b")
MOST_WORDS = 40
# What follows these stands in space, or is hidden.
IN_SPACE = r"(?<!left )(?<!leave )(?<!leaves )(?<!leaving )(?<!lag )(?<!lags )(?<!fall )(?<!falls )(?<!stay )(?<!stays )(?<!hidden )"
BEGIN = r"(?:^|(?<=[.!?] ))"
# What is searched for, and what to write.
EVERYWHERE = [
    (r"\btold of\b", "say who tells whom, or use `reported`"),
    (r"\bis told (?:by|what|which|where|so)\b", "say who says it"),
    (r"\b(?:is|are|was|were) said by\b", "make the subject the one that says it"),
    (r"\bwhoever\b", "to do X, use Y"),
    (r"\b(?:its|his|their) word is\b", "say what is used"),
    (r"\bso-manieth\b", "every Nth"),
    (rf"{BEGIN}Whose\b", "begin with the subject"),
    (rf"{BEGIN}Of (?:which|what|whom|whose|these so)\b", "begin with the subject"),
]
IN_DOCUMENTS = [
    (rf"{IN_SPACE}\bbehind\b", "`after` in time and order, `past` for addresses"),
    (rf"{BEGIN}Who\b(?![^.!?]*\?)", "to do X, use Y"),
    (r"\bhand-?overs?\b", "cache-line transfer; for buffers `handed over`"),
    (r"\bwhat it (?:counts|costs|takes|holds) is\b", "begin with the subject"),
]
# Its items are lists of fields and numbers, not sentences.
LISTS_OF_FIELDS = "docs/format.md"
HEADINGS_AND_TABLES = re.compile(r"^\s*(?:#|\||<!--|\[[^\]]+\]:)")
# The text of a comment line, for each kind of source.
COMMENTS = {
    (".rs", ".c", ".h", ".cpp", ".js"): re.compile(r"^\s*(?://[/!]?|/\*\*?|\*(?!/))\s(.*)"),
    (".py", ".pyi"): re.compile(r"^\s*#\s(.*)"),
}


def tracked(root, *patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.check_output(command, cwd=root, text=True).split("\n")
    return [name for name in names if name and (root / name).is_file()]


def documents(root):
    return tracked(root, "docs/*.md", "README.md", "CHANGELOG.md")


def allowed_lines(lines):
    """Numbers of the lines that may stay as they are."""
    marked = {number for number, line in enumerate(lines, 1) if ALLOWED.search(line)}
    return marked | {number + 1 for number in marked if lines[number - 1].strip().startswith("<!--")}


def pieces(lines):
    """Paragraphs and items of lists: the line where each begins, and its text in one line."""
    begin, text = 0, []
    for number, line in enumerate([*lines, ""], 1):
        item = re.match(r"\s*(?:[-*+]|\d+\.)\s+(.*)", line)
        if text and (item or not line.strip() or HEADINGS_AND_TABLES.match(line)):
            yield begin, " ".join(text)
            text = []
        if line.strip() and not HEADINGS_AND_TABLES.match(line):
            begin = begin if text else number
            text.append(item.group(1) if item else line.strip())


def sentences(text):
    return re.split(r"(?<=[.!?])[)\"'*_]*\s+(?=[A-Z`*(\"\[])", text)


def word_count(sentence):
    """Words as they are read: a link's text without its target, and no punctuation."""
    return len([word for word in re.sub(r"\]\([^)]*\)", "]", sentence).split() if re.search(r"\w", word)])


def faults_of_document(text, most_words=MOST_WORDS):
    """Line, what stands there, and advice."""
    original = text.split("\n")
    allowed = allowed_lines(original)
    # A span of code reads as one word, which may begin a sentence.
    lines = re.sub(r"(?<=\S) {3,}(?=[^|\n])|(?<=^) {5,}(?=\S)", " X ", without_code(text), flags=re.M).split("\n")
    for number, line in enumerate(lines, 1):
        for pattern, advice in EVERYWHERE + IN_DOCUMENTS:
            for match in re.finditer(pattern, re.sub(r"^\s*(?:[-*+]|\d+\.)\s+", "", line)):
                if number not in allowed:
                    yield number, match.group(), advice
    for begin, piece in pieces(lines):
        for sentence in sentences(piece):
            if word_count(sentence) > most_words and begin not in allowed:
                yield begin, f"{' '.join(sentence.split()[:6])} ...", f"a sentence of {word_count(sentence)} words"


def faults_of_comments(text, comment):
    for number, line in enumerate(text.split("\n"), 1):
        match = comment.match(line)
        if match and not ALLOWED.search(line):
            for pattern, advice in EVERYWHERE:
                for found in re.finditer(pattern, match.group(1)):
                    yield number, found.group(), advice


def check_itself():
    """What is found, and what isn't."""
    long = "word " * 41 + "end."
    text = (
        "What lies behind it.\n\nIt is left behind. `behind`\n\n    behind\n\n"
        f"<!-- words: allowed: a quotation -->\nis told of it\n\n{long}\n"
    )
    assert [number for number, _, _ in faults_of_document(text)] == [1, 10], list(faults_of_document(text))
    comment = COMMENTS[(".py", ".pyi")]
    assert [number for number, _, _ in faults_of_comments("# Whose it is.\nx = 1  # Whose\n# told of; words: allowed\n", comment)] == [1]
    assert word_count("one [two](three.md), `x` - four") == 4


def report(root):
    """Prints what is found; returns whether there is nothing."""
    check_itself()
    found = []
    for name in documents(root):
        most_words = 1000 if name == LISTS_OF_FIELDS else MOST_WORDS
        found += [(name, *fault) for fault in faults_of_document((root / name).read_text(), most_words)]
    for suffixes, comment in COMMENTS.items():
        for name in tracked(root, *(f"*{suffix}" for suffix in suffixes)):
            if name != "tests/words.py":
                found += [(name, *fault) for fault in faults_of_comments((root / name).read_text(errors="replace"), comment)]
    for name, line, text, advice in found:
        print(f"{name}:{line}: {text!r}: {advice}")
    return not found


if __name__ == "__main__":
    sys.exit(not report(Path(__file__).resolve().parent.parent))
