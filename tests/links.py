"""Finds links in the repository's Markdown that lead nowhere: to a missing file, or to a heading that a page lacks.

Links to other hosts are not followed. Each page of docs/ must stand in docs/SUMMARY.md, the book's contents. A path of
a page, such as `docs/sql.md`, must also exist where comments, help texts and tests name it, and so must a section that
they name by its number. Anchors are those of GitHub and mdBook.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

LINK = re.compile(r"!?\[[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s+<?(\S+?)>?\s*$", re.M)
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:|^//")
# The path of a page of docs/ as text names it.
MENTION = re.compile(r"(?<![\w./-])docs/[\w./-]+\.md\b")
SECTION = re.compile(r"(?<![\w./-])(docs/[\w./-]+\.md)`?,\s+(?:(?://[/!]?|#|\*)\s+)?section (\d+(?:\.\d+)?)")
TEXTS = (".md", ".rs", ".py", ".pyi", ".c", ".h", ".cpp", ".js", ".toml", ".sh", "")


def files(root):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=root, text=True).split("\n")
    return [name for name in names if name and (root / name).is_file() and not (root / name).is_symlink()]


def without_code(text):
    """The text with blocks and spans of code blanked, so that lines keep their numbers."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"^(```+|~~~+).*?^\1[^\n]*$", blank, text, flags=re.M | re.S)
    text = re.sub(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*\n)+", blank, text)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, text, flags=re.S)


def slug(heading):
    """The anchor of a heading: its text in lower case without marks, with a hyphen for each space."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip()
    heading = re.sub(r"[`*]|<[^>]*>", "", heading).lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(text):
    """All anchors of a page; a heading that repeats another one gets a number."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"^(```+|~~~+).*?^\1[^\n]*$", blank, text, flags=re.M | re.S)
    seen, found = {}, set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$", text, re.M):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def broken_links(root, page):
    """Line, target and fault of each link of the page that leads nowhere."""
    text = without_code((root / page).read_text())
    for match in sorted((*LINK.finditer(text), *DEFINITION.finditer(text)), key=lambda match: match.start()):
        target = match.group(1)
        if ELSEWHERE.match(target):
            continue
        path, _, anchor = target.partition("#")
        line = text.count("\n", 0, match.start(1)) + 1
        file = ((root / page).parent / path).resolve() if path else root / page
        if not file.exists():
            yield line, target, "no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
            yield line, target, "no such heading"


def broken_mentions(root, name):
    """Line, path and fault of each page or section that the file names and that doesn't exist."""
    if Path(name).suffix not in TEXTS:
        return
    try:
        text = (root / name).read_text()
    except UnicodeDecodeError:
        return
    for match in MENTION.finditer(text):
        if not (root / match.group()).exists():
            yield text.count("\n", 0, match.start()) + 1, match.group(), "no such page"
    for match in SECTION.finditer(text):
        page, number = root / match.group(1), match.group(2)
        if page.exists() and not re.search(rf"^#+ {re.escape(number)}\b", page.read_text(), re.M):
            yield text.count("\n", 0, match.start()) + 1, f"{match.group(1)}, section {number}", "no such section"


def unlisted(root, names):
    """Pages of docs/ that the book's table of contents lacks."""
    contents = root / "docs/SUMMARY.md"
    listed = {(contents.parent / target).resolve() for target in LINK.findall(contents.read_text())}
    pages = [name for name in names if name.startswith("docs/") and name.endswith(".md") and name != "docs/SUMMARY.md"]
    return [name for name in pages if (root / name).resolve() not in listed]


def check_itself():
    """One fault of each kind, and what isn't one."""
    assert slug("The `report`, in 2 parts: *all*") == "the-report-in-2-parts-all"
    page = (
        "# A\n## A\n[ok](b.md#x-y) [ok](#a-1) [web](https://example.org/x.md) `[code](c.md)`\n\n    [code](c.md)\n\n"
        "[file](c.md)\n[heading](b.md#z) docs/no.md\ndocs/b.md, section 2; docs/b.md, section 1\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "a.md").write_text(page)
        (root / "docs").mkdir()
        for name in ("b.md", "docs/b.md"):
            (root / name).write_text("## X: y\n## 1. Z\n")
        assert list(broken_links(root, "a.md")) == [(7, "c.md", "no such file"), (8, "b.md#z", "no such heading")]
        assert list(broken_mentions(root, "a.md")) == [
            (8, "docs/no.md", "no such page"),
            (9, "docs/b.md, section 2", "no such section"),
        ]


def report(root):
    """Prints what leads nowhere; returns whether there is nothing."""
    check_itself()
    names = [name for name in files(root) if name != "tests/links.py"]
    found = [(name, *fault) for name in names if name.endswith(".md") for fault in broken_links(root, name)]
    found += [(name, *fault) for name in names for fault in broken_mentions(root, name)]
    for name, line, target, fault in found:
        print(f"{name}:{line}: {target}: {fault}")
    missing = unlisted(root, names)
    for name in missing:
        print(f"{name}: docs/SUMMARY.md doesn't list it")
    return not found and not missing


if __name__ == "__main__":
    sys.exit(not report(Path(__file__).resolve().parent.parent))
