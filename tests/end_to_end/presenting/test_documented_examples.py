"""The commands in the documents, as they stand there.

Each block of code of these documents is either run or listed here with the reason why not; a new one fails until somebody
says which. Blocks of Python are run by `python/tests/test_documented_examples.py`.
"""

import os
import signal
import subprocess
import unittest
from pathlib import Path

from ..support import tools
from ..support.documented import blocks

# Pages of verbs whose commands take the trace of any program; then those of the others.
VERBS = ("branches", "check", "diff", "doctor", "dump", "export", "info", "layout", "map", "memory", "patterns", "query", "report",
         "reuse", "sharing", "verify")
OTHER_VERBS = ("allocations", "cache-model", "calibrate", "objects", "place", "regions", "run", "samples", "top", "view", "whatif")
DOCUMENTS = ("README.md", "docs/python.md", "docs/sql.md", "docs/streaming.md",
             *(f"docs/verbs/{verb}.md" for verb in VERBS + OTHER_VERBS))
PYTHON = "Python, run by the Python package's tests"
# By document and the beginning of a block: why it isn't run here.
NOT_RUN = {
    ("README.md", "apt install ./dist"): "installs packages, as `make test-long` does in fresh systems",
    ("README.md", "make demo"): "installs packages and runs the whole suite",
    ("README.md", "make dynamorio"): "builds DynamoRIO; test_binary runs these commands where it is built",
    ("README.md", "account.parent, mostly"): "the demo's answer, which test_demo compares but for its figures",
    ("README.md", "pip install ./python"): "builds the wheel, as `make python` does",
    ("README.md", "trace = trackway.open"): PYTHON,
    ("docs/python.md", "pip install ./python"): "builds the wheel, as `make python` does",
    ("docs/python.md", ""): PYTHON,
    ("docs/sql.md", "SELECT variable, count(*) FROM read_parquet"): "queries of DuckDB and Spark over the exported files",
    ("docs/streaming.md", "trackway collect --kafka"): "needs a broker; test_streaming has one",
    ("docs/streaming.md", "from trackway.spark import live"): "needs Spark and Kafka; the Python package's tests have them",
    ("docs/streaming.md", "trackway.spark.register"): "needs Spark and Kafka; the Python package's tests have them",
    ("docs/streaming.md", "  where = "): "needs Spark and Kafka; the Python package's tests have them",
    ("docs/verbs/report.md", "arc.ident, read at"): "the solver's answer; the figures depend on the machine",
    ("docs/verbs/allocations.md", "trackway record --allocations"): "test_allocations runs such commands",
    ("docs/verbs/calibrate.md", "trackway calibrate"): "test_calibrate runs such commands, away from the user's settings",
    ("docs/verbs/objects.md", "trackway record --sample"): "README.md has such commands",
    ("docs/verbs/place.md", "trackway place --tier"): "test_placement runs such commands",
    ("docs/verbs/place.md", "r(c, t) ="): "a formula",
    ("docs/verbs/regions.md", "trackway cc --count"): "README.md has the same commands",
    ("docs/verbs/regions.md", "s² ="): "a formula",
    ("docs/verbs/samples.md", "trackway record --sample"): "README.md has the same commands",
    ("docs/verbs/top.md", "trackway top"): "there is no such process",
    ("docs/verbs/view.md", "trackway view"): "serves until it is interrupted",
    ("docs/verbs/whatif.md", "trackway whatif --split arc:"): "takes minutes; the figures below it are of a large run",
}
# Lines within blocks that are run.
LINES_NOT_RUN = {
    "trackway record --sample --pid 4711": "there is no such process",
}
PROGRAM = """#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#ifndef ROUNDS
#define ROUNDS 200
#endif
struct arc { long ident, cost; };
int table[1000];
static void *work(void *unused) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 1000; i++)
            table[i] += i;
    return unused;
}
int main(void) {
    struct arc *arcs = malloc(20000 * sizeof *arcs);
    long *sums = malloc(20000 * sizeof *sums);
    pthread_t thread;
    for (int i = 0; i < 20000; i++)
        sums[i] = (arcs[i] = (struct arc){i, 1}).ident;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    printf("%d %ld\\n", table[3], arcs[77].ident + sums[3]);
    free(arcs);
    free(sums);
    return 0;
}
"""
CONFIGURE = (
    "#!/bin/sh\nfor word; do eval \"${word%%=*}='${word#*=}'\"; done\n"
    "printf 'prog: prog.c\\n\\t%s -g -O1 -o prog prog.c -pthread\\n' \"$CC\" > Makefile\n"
)


def reason(block):
    for (document, begin), why in NOT_RUN.items():
        if block.document == document and block.text.startswith(begin) and (begin or not is_shell(block)):
            return why
    return None


def is_shell(block):
    return block.language == "" and block.first.split()[0] in ("make", "trackway", "pip", "export", "./configure")


def documented(document, begin):
    """The block that begins so."""
    found = [block for block in blocks(document) if block.text.startswith(begin)]
    if len(found) != 1:
        raise AssertionError(f"{document} has {len(found)} blocks that begin with {begin!r}")
    return found[0]


def place(folder):
    """A folder as the documents take for granted: sources, what configures them, an input, traces, and the build."""
    Path(folder, "prog.c").write_text(PROGRAM)
    Path(folder, "configure").write_text(CONFIGURE)
    Path(folder, "configure").chmod(0o755)
    Path(folder, "Makefile").write_text("built:\n\ttest -x build/bin/trackway\n")
    Path(folder, "input.txt").write_text("input\n")
    Path(folder, "build").symlink_to(tools.BUILD)
    return folder


def compile_and_record(folder):
    tools.compile_traced(f"{folder}/prog", [f"{folder}/prog.c"], "-g", "-O1", "-pthread", oracle=False)
    tools.record(f"{folder}/prog.trackway", "./prog", cwd=folder)


def shell(folder, text):
    """Runs the commands; each must succeed."""
    kept = [line for line in text.splitlines() if not any(line.startswith(left_out) for left_out in LINES_NOT_RUN)]
    path = f"{tools.BUILD / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return tools.run("bash", "-ec", "\n".join(kept), cwd=folder, env=tools.environment(PATH=path)).stdout


class Completeness(unittest.TestCase):
    def test_each_block_is_run_or_listed(self):
        run = {block for test in RUN.values() for block in test()}
        for document in DOCUMENTS:
            for block in blocks(document):
                with self.subTest(f"{document}:{block.line}"):
                    self.assertTrue(block in run or reason(block),
                                    f"{document}:{block.line} is a new example: run it, or say why not:\n{block.text}")

    def test_each_reason_is_needed(self):
        all_blocks = [block for document in DOCUMENTS for block in blocks(document)]
        for key, why in NOT_RUN.items():
            self.assertIn(why, {reason(block) for block in all_blocks if block.document == key[0]}, key)


def readme_commands():
    return [documented("README.md", "trackway cc -O2")]


def readme_trace():
    return [documented("README.md", "make  ")]


def readme_regions():
    return [documented("README.md", "#include <trackway.h>"), documented("README.md", "trackway cc --count")]


def readme_sampling():
    return [documented("README.md", "trackway record --sample -o")]


def sql():
    return [block for block in blocks("docs/sql.md") if block.first.startswith("trackway") or block.section == "Recipes"]


def streaming():
    return [documented("docs/streaming.md", "trackway collect --listen"), documented("docs/streaming.md", "trackway record --live")]


def settings():
    documents = ("docs/verbs/cache-model.md", "docs/verbs/check.md")
    return [block for document in documents for block in blocks(document) if block.language == "toml"]


def verbs():
    return [documented(f"docs/verbs/{verb}.md", f"trackway {verb}") for verb in (*VERBS, "run")]


RUN = {
    run.__name__: run
    for run in (readme_commands, readme_trace, readme_regions, readme_sampling, sql, streaming, settings, verbs)
}


class Examples(unittest.TestCase):
    def test_three_commands(self):
        with tools.folder() as folder:
            said = shell(place(folder), readme_commands()[0].text)
            self.assertIn("Lines by", said)
            self.assertIn("sums", said)

    def test_a_program_of_your_own(self):
        with tools.folder() as folder:
            said = shell(place(folder), readme_trace()[0].text)
            self.assertIn("Fields by", said)
            self.assertIn("arc.ident", said)

    def test_regions(self):
        header, commands = readme_regions()
        include, marks = header.text.splitlines()
        with tools.folder() as folder:
            work = "for (int i = 0; i < 1000; i++) table[i & 15] += i;"
            Path(place(folder), "prog.c").write_text(
                f"{include}\nvolatile int table[16];\nint main(void) {{\n{marks.replace('...', work)}\nreturn 0;\n}}\n")
            self.assertIn("pricing", shell(folder, commands.text))

    def test_sampling(self):
        with tools.folder() as folder:
            tools.compile_plain(f"{place(folder)}/prog", [f"{folder}/prog.c"], "-g", "-O1", "-pthread", "-DROUNDS=300000")
            (block,) = readme_sampling()
            for line in LINES_NOT_RUN:
                self.assertIn(line, block.text)
            said = shell(folder, block.text).lower()
            self.assertIn("lines by time", said)
            self.assertIn("memory by time", said)

    def test_sql(self):
        with tools.folder() as folder:
            compile_and_record(place(folder))
            Path(folder, "runs").mkdir()
            os.link(f"{folder}/prog.trackway", f"{folder}/runs/prog.trackway")
            commands = [block for block in sql() if block.section != "Recipes"]
            self.assertEqual(len(commands), 1)
            said = shell(folder, commands[0].text)
            self.assertIn("table", said)
            self.assertTrue(Path(folder, "hot.parquet").stat().st_size > 0)
            self.assertTrue(Path(folder, "prog.tables", "accesses").is_dir())

    def test_streaming(self):
        collecting, live = (block.text for block in streaming())
        collect, record = collecting.splitlines()
        with tools.folder() as folder:
            compile_and_record(place(folder))
            # A socket of this test's own: /tmp is everybody's.
            collect, record = (line.replace("/tmp/traces", f"{folder}/socket") for line in (collect, record))
            path = f"{tools.BUILD / 'bin'}{os.pathsep}{os.environ['PATH']}"
            collector = subprocess.Popen(["bash", "-ec", f"exec {collect}"], cwd=folder, env=tools.environment(PATH=path),
                                         stderr=subprocess.PIPE, text=True)
            try:
                self.assertIn("listening", tools.read_line(collector.stderr))
                shell(folder, record)
            finally:
                collector.send_signal(signal.SIGINT)
                collector.communicate(timeout=tools.TIME_LIMIT_S)
            self.assertEqual(len(list(Path(folder, "traces").glob("prog-*.trackway"))), 1)
            self.assertIn("Lines by", shell(folder, live))

    def test_settings(self):
        caches, budgets = settings()
        with tools.folder() as folder:
            compile_and_record(place(folder))
            Path(folder, "caches.toml").write_text(caches.text)
            self.assertIn("L1", shell(folder, "trackway report --cache caches.toml prog.trackway"))
            Path(folder, "budgets.toml").write_text(budgets.text)
            Path(folder, "main.json").write_text(
                shell(folder, f"trackway report --json --top 0 --by field --cache {'L1=32K,8,64:L2=1M,16,64'} prog.trackway"))
            self.assertIn("arc.ident", shell(folder, "trackway check --budget budgets.toml prog.trackway"))

    def test_verbs(self):
        with tools.folder() as folder:
            compile_and_record(place(folder))
            for copy in ("before", "before2", "after"):
                os.link(f"{folder}/prog.trackway", f"{folder}/{copy}.trackway")
            for block in verbs():
                with self.subTest(block.document):
                    shell(folder, block.text)


class Header(unittest.TestCase):
    """`#include <trackway.h>` means nothing to compilers without the pass, whatever the dialect, and has no warning."""

    def check(self, compiler, suffix, dialects, scope):
        (header, _) = readme_regions()
        marks = header.text.splitlines()[1]
        with tools.folder() as folder:
            source = Path(folder, f"use.{suffix}")
            source.write_text("#include <trackway.h>\nTRACKWAY_REGION_FUNCTION\nint add(int a, int b);\n"
                              "TRACKWAY_IGNORE int add(int a, int b) { return a + b; }\n"
                              f"int main(void) {{ int sum = 0; {scope}\n{marks.replace('...', 'sum = add(1, 2);')}\n"
                              "return sum - 3; }\n")
            for dialect in dialects:
                with self.subTest(compiler=compiler, dialect=dialect):
                    tools.run(compiler, f"-std={dialect}", "-Wall", "-Wextra", "-pedantic", "-Werror",
                              f"-I{tools.BUILD / 'include'}", source, "-o", f"{folder}/use")
                    tools.run(f"{folder}/use")

    def test_c(self):
        for compiler in ("gcc", f"clang-{tools.LLVM_VERSION}"):
            self.check(compiler, "c", ("c89", "gnu89", "c99", "c11", "c17", "c2x"), "")

    def test_cxx(self):
        for compiler in ("g++", f"clang++-{tools.LLVM_VERSION}"):
            self.check(compiler, "cc", ("c++11", "c++14", "c++17", "c++20"), 'TRACKWAY_REGION("whole");')
