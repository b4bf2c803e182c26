"""The commands in the pages that lead: tutorial, how-to, symptoms.

A page's blocks of `sh` run one after the other, in a folder with the programs of tests/programs/guide. A comment in the
line before a block says what else it is:

    <!-- not run: REASON -->    commands that can't run here
    <!-- file: NAME -->         a file that the commands after it take
    <!-- from: PATH -->         lines of a file of the repository

Blocks of `text` are what commands print. All others fail, and so does a command that is neither run nor marked.
"""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from ..support import hardware, tools
from ..support.documented import blocks

PROGRAMS = tools.PROGRAMS / "guide"
DOCS = tools.ROOT / "docs"
TUTORIAL = sorted(str(page.relative_to(tools.ROOT)) for page in DOCS.glob("tutorial/*.md"))
HOW_TO = sorted(str(page.relative_to(tools.ROOT)) for page in DOCS.glob("how-to/*.md"))
OTHERS = ["docs/README.md", "docs/glossary.md", *sorted(str(page.relative_to(tools.ROOT)) for page in DOCS.glob("explanation/*.md"))]
SYMPTOMS = "docs/symptoms.md"
COMMAND = re.compile(r"\s*(?:\$ |(?:trackway|trackway-\w+|make|cmake|cc|clang\S*|pip|python3?|cargo|time|export) \S)")
# The solver takes seconds, and its trace many more to analyse; `small` shows that the commands work.
SOLVER = re.compile(r"(?m)^((?:.* -- |time )build/demo/\S+)$")
MARK = re.compile(r"\s*<!-- (not run|file|from): (.+) -->\s*")


def mark(block):
    """What the line before the block's fence says: a word and its value, or two empty texts."""
    lines = (tools.ROOT / block.document).read_text().splitlines()
    match = MARK.fullmatch(lines[block.line - 3]) if block.line >= 3 else None
    return match.groups() if match else ("", "")


def fault(block):
    """What is wrong with a block; nothing if it is run, or says what else it is."""
    word, value = mark(block)
    if word == "from":
        source = (tools.ROOT / value).read_text()
        return "" if block.text in source else f"these lines don't stand in {value}"
    if word == "file":
        return "" if block.language else "a file's block needs a language"
    if block.language == "sh":
        return ""
    if block.language == "text" and word == "":
        hidden = [line for line in block.text.splitlines() if COMMAND.match(line)]
        return f"commands belong in a block of sh: {hidden[0]}" if hidden else ""
    return "it is neither run nor marked"


def place(folder):
    """Programs, and what the pages take for granted to be in the present folder."""
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    Path(folder, "build").mkdir()
    for name in ("bin", "include", "lib"):
        Path(folder, "build", name).symlink_to(tools.BUILD / name)
    for name in ("workloads", "examples"):
        Path(folder, name).symlink_to(tools.ROOT / name)
    shutil.copy(tools.once("guide's server", server), f"{folder}/server")


def server():
    output = tools.BUILD / "tests" / "guide" / "server"
    output.parent.mkdir(parents=True, exist_ok=True)
    return tools.compile_plain(output, [PROGRAMS / "server.c"], "-g", "-O2", "-pthread")


def files(documents):
    return {value: block.text for document in documents for block in blocks(document)
            for word, value in [mark(block)] if word == "file"}


def script(documents):
    """What is run of these pages, in their order."""
    run = [block.text for document in documents for block in blocks(document)
           if block.language == "sh" and mark(block)[0] != "not run"]
    return SOLVER.sub(r"\1 small", "".join(run))


class Pages(unittest.TestCase):
    def test_each_command_is_run_or_marked(self):
        for document in (*TUTORIAL, *HOW_TO, *OTHERS, SYMPTOMS):
            for block in blocks(document):
                with self.subTest(f"{document}:{block.line}"):
                    self.assertEqual(fault(block), "", f"{document}:{block.line}\n{block.text}")

    def test_a_command_in_the_wrong_place_is_found(self):
        self.assertIsNotNone(COMMAND.match("trackway report x"))
        self.assertIsNone(COMMAND.match("trackway: 5 accesses"))
        self.assertIsNone(COMMAND.match("make: nothing"))


class Runner(unittest.TestCase):
    def run_pages(self, *documents):
        commands = script(documents)
        with tools.folder() as folder:
            place(folder)
            for name, text in files(documents).items():
                Path(folder, name).write_text(text)
            if not re.search(r"record (?!-f)[^\n]*-o prog\.trackway", commands):
                tools.compile_traced(f"{folder}/prog", [f"{folder}/prog.c"], "-O2", "-pthread", oracle=False)
                tools.record(f"{folder}/prog.trackway", "./prog", cwd=folder)
            path = os.pathsep.join([str(tools.BUILD / "bin"), str(tools.BUILD / "python/bin"), os.environ["PATH"]])
            return tools.run("bash", "-ec", commands, cwd=folder, env=tools.environment(PATH=path), stdin=subprocess.DEVNULL).stdout

    def run_how_to(self, name):
        return self.run_pages(f"docs/how-to/{name}.md")

    def needs_samples(self):
        if hardware.failure("task-clock") != 0:
            self.skipTest("the kernel lets nobody sample here")


class Tutorial(Runner):
    def test_all_steps(self):
        said = self.run_pages(*TUTORIAL)
        for expected in ("Fields by", "struct arc", "after ÷ before", "arc.ident"):
            self.assertIn(expected, said)


class Symptoms(Runner):
    def test_commands(self):
        self.needs_samples()
        said = self.run_pages(SYMPTOMS)
        for expected in ("particle.position", "counters.moves"):
            self.assertIn(expected, said)
        # Whether anything differs between runs depends on how the threads ran; if so, its noise has a column.
        self.assertRegex(said, r"noise|[\d,]+ unchanged")


class HowTo(Runner):
    def test_build_your_project(self):
        self.assertIn("recorded", self.run_how_to("build-your-project"))

    def test_record_a_python_module(self):
        said = self.run_how_to("record-a-python-module")
        self.assertIn("332833500", said)
        self.assertIn("squares", said)

    def test_record_a_binary(self):
        self.assertIn("particle.position", self.run_how_to("record-a-binary"))

    def test_sample_a_process(self):
        self.needs_samples()
        self.assertIn("prog.c", self.run_how_to("sample-a-process"))

    def test_count_regions(self):
        self.assertIn("smooth", self.run_how_to("count-regions"))

    def test_compare_in_ci(self):
        self.assertIn("particle.position", self.run_how_to("compare-in-ci"))

    def test_export(self):
        self.assertIn("field", self.run_how_to("export"))

    def test_query(self):
        self.assertIn("particle.position", self.run_how_to("query"))

    def test_keep_a_trace_small(self):
        self.assertIn("Lines by", self.run_how_to("keep-a-trace-small"))

    def test_record_a_server(self):
        self.assertIn("advance", self.run_how_to("record-a-server"))

    def test_threads_and_false_sharing(self):
        self.assertIn("counters.moves", self.run_how_to("threads-and-false-sharing"))

    def test_write_an_analysis(self):
        self.assertIn("advance", self.run_how_to("write-an-analysis"))

    def test_each_page_has_a_test(self):
        tested = {name.removeprefix("test_").replace("_", "-") for name in dir(self) if name.startswith("test_")}
        self.assertEqual({Path(page).stem for page in HOW_TO} - tested, set())
