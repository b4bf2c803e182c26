"""`trackway query` against what other verbs say of the same recordings, and folders of traces."""

import csv
import io
import json
import shutil
import stat
import unittest
from collections import Counter
from pathlib import Path

from ..analyses.test_advise import MACHINE
from ..support import tools
from ..support.documented import blocks

THREADS = tools.PROGRAMS / "threads.c"
NAMES = tools.PROGRAMS / "names.c"


CACHES = "L1=32K,8,64:L2=256K,8,64,shared"
# Two threads that look up what doesn't fit into the caches.
GATHER = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { COUNT = 1 << 15, LOOKUPS = 30000 };
struct entry { long key, value; };
static struct entry *table;
static long sums[16];
static void *look_up(void *number) {
    unsigned long at = 7 + (long)number;
    long sum = 0;
    for (int i = 0; i < LOOKUPS; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += table[at >> 49].key;
    }
    sums[8 * (long)number] = sum;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    table = aligned_alloc(64, COUNT * sizeof *table);
    for (int i = 0; i < COUNT; i++)
        table[i].key = table[i].value = i;
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look_up, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\\n", sums[0], sums[8]);
    return 0;
}
"""


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

    def test_misses_and_cycles_by_field_are_those_of_the_report(self):
        # No access of this program spans two lines, so each misses one line or none.
        with tools.folder() as folder:
            trace, machine = Path(folder) / "gather.trackway", Path(folder) / "machine.toml"
            (Path(folder) / "gather.c").write_text(GATHER)
            machine.write_text(MACHINE)
            program = tools.compile_traced(Path(folder) / "gather", [Path(folder) / "gather.c"], "-O1", "-g", "-pthread", oracle=False)
            tools.record(trace, program)
            by = ("--cache", CACHES, "--machine", machine)
            report = tools.report(trace, "--time", "--by", "field", "--top", "0", *by)
            table = next(table for table in report["tables"] if table["name"] == "fields")
            served = "count(*) FILTER (WHERE level > 1) AS l1, count(*) FILTER (WHERE level > 2) AS l2, sum(cycles) AS cycles"
            rows = query(*by, trace, f"SELECT field, {served} FROM accesses WHERE field <> '' GROUP BY field")
            found = {row["field"]: row for row in rows}
            fields = {row["field"]: row for row in table["rows"] if row["field"] in found}
            self.assertIn("entry.key", fields)
            self.assertGreater(fields["entry.key"]["l2_misses"], 10_000)
            for name, row in fields.items():
                with self.subTest(name):
                    self.assertEqual((int(found[name]["l1"]), int(found[name]["l2"])), (row["l1_misses"], row["l2_misses"]))
                    self.assertAlmostEqual(float(found[name]["cycles"]), row["cycles"], delta=2 + 1e-4 * row["cycles"])
            whole = query(*by, trace, "SELECT * FROM accesses LIMIT 1")[0]
            self.assertNotIn("level", whole, "a query that doesn't name them simulates nothing")
            few = query("--cache", CACHES, trace, "SELECT level FROM accesses WHERE field = 'entry.key' LIMIT 3")
            self.assertEqual({int(row["level"]) for row in few} - {1, 2, 3}, set())

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
            self.assertIn("with -f", done.stderr)

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


class Slices(unittest.TestCase):
    """The rows of a slice are those that other verbs find in it."""

    def setUp(self):
        self.folder = recordings()
        self.trace = self.folder / "threads.trackway"

    def number(self, sql, *options, trace=None):
        (row,) = query(*options, trace or self.trace, sql)
        return int(row["n"] or 0)

    def middle(self, trace=None):
        """A time before and after which there are accesses."""
        for percent in range(95, 0, -1):
            counts = [self.accesses(side, f"{percent}%", trace=trace) for side in ("--to", "--from")]
            if all(counts):
                return f"{percent}%"
        raise AssertionError("all accesses are at once")

    def accesses(self, *options, trace=None):
        done = tools.trackway("report", "--json", *options, trace or self.trace, check=False)
        return tools.table(json.loads(done.stdout), "trace")["rows"][0]["accesses"] if done.returncode == 0 else 0

    def test_accesses(self):
        middle = self.middle()
        functions = query(self.trace, "SELECT DISTINCT function FROM accesses ORDER BY function")
        self.assertGreater(len(functions), 1)
        function = functions[0]["function"].split("(")[0]
        whole = self.number("SELECT count(*) AS n FROM accesses")
        for options in (("--thread", 1), ("--to", middle), ("--from", middle), ("--function", function)):
            expected = self.accesses(*options)
            self.assertGreater(expected, 0, options)
            self.assertLess(expected, whole, options)
            # The counts of sites, rows, and the numbers of rows.
            self.assertEqual(self.number("SELECT count(*) AS n FROM accesses", *options), expected, options)
            self.assertEqual(self.number("SELECT count(*) AS n FROM accesses WHERE address > 0", *options), expected, options)
            by_variable = query(*options, self.trace, "SELECT variable, count(*) AS n FROM accesses GROUP BY variable")
            self.assertEqual(sum(int(row["n"]) for row in by_variable), expected, options)
            sequences = "SELECT count(DISTINCT thread * 1000000000 + sequence) AS n FROM accesses"
            self.assertEqual(self.number(sequences, *options), expected, options)
        last = self.number("SELECT max(time_ns) AS n FROM accesses", "--to", middle)
        first = self.number("SELECT min(time_ns) AS n FROM accesses", "--from", middle)
        self.assertLessEqual(last, first)

    def test_threads_and_allocations(self):
        rows = query("--thread", 1, self.trace, "SELECT thread FROM threads")
        self.assertEqual([row["thread"] for row in rows], ["1"])
        with tools.folder() as folder:
            source, trace = tools.PROGRAMS / "allocation_threads.c", f"{folder}/blocks.trackway"
            program = tools.compile_traced(f"{folder}/blocks", [source], "-O1", "-g", "-pthread", "-fno-builtin", oracle=False)
            tools.record(trace, program, options=("--buffer-size", "16K"))
            whole = self.number("SELECT count(*) AS n FROM allocations", trace=trace)
            of_threads = []
            for row in query(trace, "SELECT thread FROM threads"):
                of_threads.append(self.allocations_as_dumped(trace, "--thread", row["thread"]))
            self.assertEqual(sum(of_threads), whole)
            self.assertGreater(sum(count > 0 for count in of_threads), 1)
            middle = self.middle(trace)
            halves = [self.allocations_as_dumped(trace, side, middle) for side in ("--to", "--from")]
            self.assertEqual(sum(halves), whole)

    def allocations_as_dumped(self, trace, *options):
        dump = tools.trackway("dump", "--json", *options, trace).stdout.splitlines()
        kinds = Counter(json.loads(line)["kind"] for line in dump)
        found = self.number("SELECT count(*) AS n FROM allocations", *options, trace=trace)
        self.assertEqual(found, kinds["allocate"] + kinds["free"] + kinds["reallocate"], options)
        return found

    def test_calls_of_allocators(self):
        with tools.folder() as folder:
            program = tools.compile_plain(f"{folder}/calls", [tools.PROGRAMS / "allocation_threads.c"], "-O1", "-pthread")
            trace = f"{folder}/calls.trackway"
            tools.record(trace, program, options=("--allocations",))
            lines = tools.trackway("dump", "--allocations", "--json", trace).stdout.splitlines()
            streams = Counter(json.loads(line)["stream"] for line in lines)
            self.assertGreater(len(streams), 1)
            for stream, events in streams.items():
                count = self.number("SELECT count(*) AS n FROM allocations", "--thread", stream, trace=trace)
                self.assertEqual(count, events)
                rows = query("--thread", stream, trace, "SELECT thread FROM threads")
                self.assertEqual([row["thread"] for row in rows], [str(stream)])
            refused = tools.trackway("query", "--function", "main", trace, "SELECT 1", check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("calls of allocators can't be chosen by function", refused.stderr)

    def test_a_slice_is_named_and_what_has_none_is_refused(self):
        done = tools.trackway("query", "-q", "--thread", 1, self.trace, "SELECT 1")
        self.assertIn("this is a slice: 1 of ", done.stderr)
        for options in (("--thread", 77), ("--after-mark", "none"), ("--windows", 1)):
            refused = tools.trackway("query", *options, self.trace, "SELECT 1", check=False)
            self.assertEqual(refused.returncode, 2, options)
            self.assertIn(str(self.trace), refused.stderr)
        refused = tools.trackway("query", "--schema", "--thread", 1, self.trace, check=False)
        self.assertEqual(refused.returncode, 2)

    def test_traces_of_a_folder_without_the_slice_are_left_out(self):
        done = tools.trackway("query", "-q", "--format", "csv", "--thread", 1, self.folder, "SELECT DISTINCT path FROM accesses")
        self.assertEqual(done.stdout.splitlines()[1:], [str(self.trace)])
        self.assertIn("names.trackway: --thread: there is no thread 1", done.stderr)
        self.assertIn("1 of 2 traces could not be read, or hold nothing of the slice", done.stderr)


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
