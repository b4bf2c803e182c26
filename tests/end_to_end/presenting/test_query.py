"""`trackway query` against what other verbs say of the same recordings, and folders of traces."""

import csv
import io
import json
import shutil
import stat
import unittest
from collections import Counter
from pathlib import Path

from ..support import tools
from ..support.documented import blocks

THREADS = tools.PROGRAMS / "threads.c"
NAMES = tools.PROGRAMS / "names.c"


def recordings():
    """A folder with a trace of two programs, kept for all tests of the run."""

    def make():
        folder = tools.folder()
        for source in (THREADS, NAMES):
            program = tools.compile_traced(Path(folder.name) / source.stem, [source], "-O1", "-g", "-pthread", oracle=False)
            tools.record(Path(folder.name) / f"{source.stem}.trackway", program)
        return folder

    return Path(tools.once("recordings to query", make).name)


def query(*words):
    """The rows as dictionaries of texts."""
    return list(csv.DictReader(io.StringIO(tools.trackway("query", "-q", "--format", "csv", *words).stdout)))


class Query(unittest.TestCase):
    def setUp(self):
        self.folder = recordings()
        self.trace = self.folder / "threads.trackway"

    def test_variables_are_those_of_the_report(self):
        report = tools.report(self.trace, "--by", "variable", "--top", "0")
        table = next(table for table in report["tables"] if table["name"] == "variables")
        expected = Counter()
        for row in table["rows"]:
            expected[row["variable"]] += row["accesses"]
        rows = query(self.trace, "SELECT variable, count(*) AS n FROM accesses GROUP BY variable")
        self.assertEqual({row["variable"]: int(row["n"]) for row in rows}, expected)

    def test_rows_are_those_of_the_dump(self):
        dump = tools.trackway("dump", "--json", self.trace).stdout.splitlines()
        dumped = [json.loads(line) for line in dump]
        accesses = [line for line in dumped if "site" in line]
        expected = sorted((a["stream"], a["index"], int(a["address"], 16), a["size"], a["kind"]) for a in accesses)
        rows = query(self.trace, "SELECT thread, sequence, address, size, kind FROM accesses")
        found = sorted((int(r["thread"]), int(r["sequence"]), int(r["address"]), int(r["size"]), r["kind"]) for r in rows)
        self.assertEqual(found, expected)
        rows = query(self.trace, "SELECT address / 64 AS cache_line, count(*) AS n FROM accesses GROUP BY cache_line")
        lines = Counter(address // 64 for _, _, address, _, _ in expected)
        self.assertEqual({int(row["cache_line"]): int(row["n"]) for row in rows}, lines)
        allocations = [line for line in dumped if line["kind"] in ("allocate", "free", "reallocate")]
        (row,) = query(self.trace, "SELECT count(*) AS n FROM allocations")
        self.assertEqual(int(row["n"]), len(allocations))

    def test_mistakes_end_with_a_place_and_names(self):
        done = tools.trackway("query", self.trace, "SELECT adress FROM accesses", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "address"?', done.stderr)
        self.assertIn("line 1, column 8", done.stderr)
        done = tools.trackway("query", self.trace, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("SELECT", done.stderr)

    def test_the_schema_is_listed(self):
        text = tools.trackway("query", "--schema", self.trace).stdout
        for word in ("accesses", "allocations", "time_ns", "estimated", "bytes"):
            self.assertIn(word, text)

    def test_files_are_private_and_not_replaced(self):
        with tools.folder() as folder:
            output = Path(folder) / "rows.parquet"
            sql = "SELECT * FROM accesses LIMIT 5"
            tools.trackway("query", "-q", "-o", output, self.trace, sql)
            self.assertEqual(stat.S_IMODE(output.stat().st_mode), 0o600)
            self.assertEqual(output.read_bytes()[:4], b"PAR1")
            done = tools.trackway("query", "-q", "-o", output, self.trace, sql, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--force", done.stderr)

    def test_parquet_folders_have_all_rows(self):
        with tools.folder() as folder:
            text = tools.trackway("export", "--parquet", Path(folder) / "tables", self.trace).stdout
            (row,) = query(self.trace, "SELECT count(*) AS n FROM accesses")
            exported = next(line.split() for line in text.splitlines() if line.endswith("  accesses"))
            self.assertEqual(int(exported[0].replace(",", "")), int(row["n"]))
            threads = {path.name for path in (Path(folder) / "tables" / "accesses").iterdir()}
            rows = query(self.trace, "SELECT DISTINCT thread FROM accesses")
            self.assertEqual(threads, {f"thread={row['thread']}" for row in rows})

    def test_recipes_of_the_manual_work(self):
        recipes = recipes_of_manual()
        self.assertGreaterEqual(len(recipes), 8)
        for recipe in recipes:
            # Of hosts a folder only knows; nothing here is called table or solver. Which instructions are never executed
            # depends on how the threads meet.
            rows = query(self.folder if "host" in recipe else self.trace, recipe)
            if "NOT IN" not in recipe:
                self.assertEqual(bool(rows), not any(word in recipe for word in ("'table'", "/solver")), recipe)


def recipes_of_manual():
    """The statements below "Recipes" in docs/sql.md."""
    recipes = [block.text for block in blocks("docs/sql.md") if block.section == "Recipes"]
    indented = " ".join(line.strip() for recipe in recipes for line in recipe.splitlines())
    return [statement for statement in indented.split(";") if statement.strip()]


class Folders(unittest.TestCase):
    def test_a_folder_is_one_table(self):
        rows = query(recordings(), "SELECT program, count(*) AS n FROM accesses GROUP BY program")
        self.assertEqual({Path(row["program"]).name for row in rows}, {"threads", "names"})
        self.assertTrue(all(int(row["n"]) > 0 for row in rows))

    def test_what_cannot_be_read_is_named_and_counted(self):
        with tools.folder() as folder:
            shutil.copy(recordings() / "names.trackway", folder)
            (Path(folder) / "broken.trackway").write_text("this is no trace, whatever its name says of it")
            done = tools.trackway("query", "-q", folder, "SELECT count(*) FROM traces")
            self.assertIn("broken.trackway", done.stderr)
            self.assertIn("1 of 2 traces", done.stderr)

    def test_programs_of_two_folders_are_compared(self):
        with tools.folder() as other:
            shutil.copy(recordings() / "names.trackway", other)
            text = tools.trackway("diff", recordings(), other).stdout
            self.assertIn("1 pair of traces compared", text)
            self.assertIn("names", text)

    def test_every_trace_of_a_folder_is_checked(self):
        with tools.folder() as folder:
            budget = Path(folder) / "budget.toml"
            for limit, status in ((10**12, 0), (1, 3)):
                budget.write_text(f'[[budget]]\nmeasure = "accesses"\nmax = {limit}\n')
                done = tools.trackway("check", recordings(), "--budget", budget, check=False)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.assertIn("2 traces", done.stdout)
