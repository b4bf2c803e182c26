"""Differences between traces, budgets, and what other tools read: against counts made here from reports and dumps."""

import collections
import html
import itertools
import json
import os
import re
import shutil
import unittest
from pathlib import Path

from ..support import tools
from ..support.export_readers import callgrind
from ..support.tools import table

CACHES = "L1=1K,2,64:L2=4K,4,64"

BEFORE = """
#include <stdlib.h>
struct item { long key, value; };
static long add(struct item *items, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += items[i].key;
    return sum;
}
int main(void) {
    struct item *items = calloc(1000, sizeof *items);
    long sum = 0;
    for (int round = 0; round < 5; round++)
        sum += add(items, 1000 - round);
    free(items);
    return sum != 0;
}
"""

# Lines are shifted, one line is new, and keys are read in fewer rounds.
AFTER = BEFORE.replace("struct item {", "\n/* Moved. */\n\nstruct item {").replace("round < 5", "round < 3").replace(
    "    free(items);", "    items[7].value = sum;\n    free(items);")

JUMPS = """
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf back;
static volatile int depth[64], tail;
__attribute__((noinline)) void leave(int n) {
    depth[n & 63]++;
    longjmp(back, 1);
}
__attribute__((noinline)) void down(int n) {
    depth[n & 63]++;
    if (n == 0)
        leave(n);
    down(n - 1);
    tail++;
}
__attribute__((noinline)) long sort(long *from, long *to) {
    if (to - from < 2)
        return 0;
    long *middle = from;
    for (long *at = from + 1; at < to; at++)
        if (*at < *from) {
            long swap = *++middle;
            *middle = *at;
            *at = swap;
        }
    long swap = *middle;
    *middle = *from;
    *from = swap;
    return 1 + sort(from, middle) + sort(middle + 1, to);
}
int main(void) {
    long numbers[300];
    for (int i = 0; i < 300; i++)
        numbers[i] = i * 7919L % 307;
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(back) == 0)
            down(i % 5);
    tail += sort(numbers, numbers + 300) > 0;
    return depth[0] != 40;
}
"""

EXCEPTIONS = """
static volatile int counts[8];
__attribute__((noinline)) void fail(int n) {
    counts[n & 7]++;
    if (n % 3 == 0)
        throw n;
    counts[1]++;
}
__attribute__((noinline)) void middle(int n) {
    counts[2]++;
    fail(n);
    counts[3]++;
}
__attribute__((noinline)) void guard(int n) {
    try {
        middle(n);
    } catch (int) {
        counts[4]++;
    }
}
int main() {
    for (volatile int i = 0; i < 30; i++)
        guard(i);
    return counts[4] == 0;
}
"""


def recorded(folder, name, text, *flags, suffix=".c"):
    """The trace of a program of one file; the file stays as folder/NAME.c."""
    source = f"{folder}/{name}{suffix}"
    with open(source, "w") as file:
        file.write(text)
    program = tools.compile_traced(f"{folder}/{name}", [source], "-O1", "-fno-inline", "-g", *flags, oracle=False)
    trace = f"{folder}/{name}.trackway"
    tools.record(trace, program)
    return trace


def diff(before, after, *options):
    return json.loads(tools.trackway("diff", "--json", "--cache", CACHES, *options, before, after).stdout)


class Differences(unittest.TestCase):
    def test_fields_are_those_of_both_reports(self):
        with tools.folder() as folder:
            after = f"{folder}/after.trackway"
            shutil.copy(recorded(folder, "prog", AFTER), after)
            before = recorded(folder, "prog", BEFORE)
            for measure in ("accesses", "bytes", "l1_misses"):
                rows = [
                    {row["field"]: row[measure] for row in table(
                        tools.report(trace, "--cache", CACHES, "--top", "0"), "fields")["rows"]}
                    for trace in (before, after)
                ]
                expected = {}
                for field in rows[0].keys() | rows[1].keys():
                    was, now = (side.get(field, 0) for side in rows)
                    if was != now:
                        state = "new" if field not in rows[0] else "gone" if field not in rows[1] else "changed"
                        expected[field] = was, now, now - was, state
                found = table(diff(before, after, "--top", "0", "--measure", measure),
                              f"fields_{measure}")["rows"]
                numbers = ("before", "after", "change", "state")
                self.assertEqual({row["field"]: tuple(row[name] for name in numbers) for row in found}, expected)
                changes = [abs(row["change"]) for row in found]
                self.assertEqual(changes, sorted(changes, reverse=True))
                if measure == "accesses":
                    self.assertEqual(expected["item.key"], (4990, 2997, -1993, "changed"))
                    self.assertEqual(expected["item.value"], (0, 1, 1, "new"))

    def test_lines_are_followed_through_an_edit(self):
        with tools.folder() as folder:
            before, saved = f"{folder}/before.trackway", f"{folder}/before.json"
            shutil.copy(recorded(folder, "prog", BEFORE), before)
            with open(saved, "w") as file:
                file.write(tools.trackway("report", "--json", "--top", "0", "--cache", CACHES, before).stdout)
            after = recorded(folder, "prog", AFTER)
            result = diff(saved, after, "--by", "line", "--measure", "accesses", "--top", "0")
            rows = table(result, "lines_accesses")["rows"]
            found = {row["source"]: (row["line_before"], row["line"], row["before"], row["after"]) for row in rows}
            self.assertEqual(found["sum += items[i].key;"], (7, 10, 4990, 2997))
            self.assertEqual(found["items[7].value = sum;"][2:], (0, 1))
            # The source of the older trace is gone; its lines are matched by their order, which is said.
            again = diff(before, after, "--by", "line", "--measure", "accesses", "--top", "0")
            self.assertTrue(any("changed after the recording" in warning for warning in again["warnings"]))

    def test_the_same_program_has_the_same_accesses(self):
        with tools.folder() as folder:
            first = recorded(folder, "prog", BEFORE)
            shutil.copy(first, f"{folder}/first")
            second = recorded(folder, "prog", BEFORE)
            result = diff(f"{folder}/first", second, "--measure", "accesses,bytes", "--again", f"{folder}/first")
            changed = [table for table in result["tables"] if table["name"].endswith(("_accesses", "_bytes"))]
            self.assertEqual(len(changed), 8)
            self.assertEqual([table["rows"] for table in changed], [[]] * 8)


class Budgets(unittest.TestCase):
    def check(self, trace, text, *options):
        path = f"{trace}.toml"
        with open(path, "w") as file:
            file.write(text)
        return tools.trackway("check", trace, "--budget", path, *options, check=False)

    def test_statuses(self):
        with tools.folder() as folder:
            trace = recorded(folder, "prog", BEFORE)
            budget = '[[budget]]\nfield = "item.key"\nmeasure = "accesses"\n'
            self.assertEqual(self.check(trace, budget + "max = 4990").returncode, 0)
            broken = self.check(trace, budget + "max = 4989")
            self.assertEqual(broken.returncode, 3)
            self.assertIn("1 of 1 budget broken", broken.stdout)
            self.assertEqual(self.check(trace, budget + "max-share = 1.0").returncode, 0)
            self.assertEqual(self.check(trace, budget + "max-share = 0.5").returncode, 3)
            relative = budget + "max-ratio = 1.0"
            self.assertEqual(self.check(trace, relative, "--baseline", trace).returncode, 0)
            without = self.check(trace, relative)
            self.assertEqual(without.returncode, 2)
            self.assertIn("--baseline", without.stderr)
            unknown = self.check(trace, budget.replace("item.key", "item.nothing") + "max = 1")
            self.assertEqual(unknown.returncode, 2)
            self.assertIn("no item.nothing among the fields", unknown.stderr)
            self.assertEqual(self.check(trace, "").returncode, 2)
            row = json.loads(self.check(trace, budget + "max = 4989", "--json").stdout)["tables"][0]["rows"][0]
            self.assertEqual((row["value"], row["limit"], row["holds"]), (4990, 4989, "NO"))

    def test_hand_overs(self):
        """A field that exists but that threads don't share holds a budget of none."""
        with tools.folder() as folder:
            trace = recorded(folder, "prog", BEFORE)
            for subject in ('field = "item.key"', 'function = "add"', 'type = "item"', ""):
                budget = f'[[budget]]\n{subject}\nmeasure = "hand_overs"\nmax = 0'
                self.assertEqual(self.check(trace, budget).returncode, 0, subject)

    def test_a_written_budget_holds_and_notices_more(self):
        with tools.folder() as folder:
            after, path = recorded(folder, "prog", AFTER), f"{folder}/budget.toml"
            tools.trackway("check", after, "--cache", CACHES, "--write-budget", path, "--margin", "0.2")
            self.assertEqual(tools.trackway("check", after, "--budget", path).returncode, 0)
            again = tools.trackway("check", after, "--write-budget", path, check=False)
            self.assertEqual(again.returncode, 2, "an existing file is not replaced")
            before = recorded(folder, "prog", BEFORE.replace("free(items)", "items[7].value = 1; free(items)"))
            self.assertEqual(tools.trackway("check", before, "--budget", path, check=False).returncode, 3)

    def test_a_written_budget_holds_with_all_options(self):
        """Names of locals that occur twice, threads, and a trace without accesses."""
        with tools.folder() as folder:
            sources = {
                "prog": BEFORE,
                "twice": "int g(int *p) { int i[4]; i[p[0]] = 1; return i[0] + p[1]; }\n"
                "int main(void) { int i[4] = {1, 2, 3, 4}; volatile int *q = i; q[2]++; return g(i) + i[2] == 99; }\n",
                "nothing": "int main(void) { return 0; }\n",
            }
            traces = [recorded(folder, name, source) for name, source in sources.items()]
            traces.append(f"{folder}/threads.trackway")
            program = tools.compile_traced(f"{folder}/threads", [tools.PROGRAMS / "counters.c"], "-O0", "-pthread", oracle=False)
            tools.record(traces[-1], program)
            models = ([], ["--cache", "none"], ["--cache", CACHES], ["--cache", "preset:zen3"], ["--line-size", "256"])
            for trace in traces:
                for model in models:
                    for margin, top in (("0", "0"), ("0.5", "2")):
                        with self.subTest(trace=trace, model=model, margin=margin, top=top):
                            path = f"{trace}.toml"
                            options = [*model, "--margin", margin, "--top", top]
                            tools.trackway("check", trace, "-f", "--write-budget", path, *options)
                            tools.trackway("check", trace, "--budget", path)
                saved = f"{trace}.json"
                with open(saved, "w") as file:
                    file.write(tools.trackway("report", trace, "--json", "--top", "0").stdout)
                tools.trackway("check", saved, "-f", "--write-budget", path, "--margin", "0")
                tools.trackway("check", saved, "--budget", path)


# A file whose name is Markdown, HTML and a command of GitHub's runner.
HOSTILE = BEFORE.replace("    long sum = 0;\n    for (int i", '#line 7 "a|b`<i>@x,::error::y%.c"\n    long sum = 0;\n    for (int i')


class Comments(unittest.TestCase):
    """What changed as Markdown, and broken budgets as annotations of GitHub's workflows."""

    def rows(self, markdown):
        """Cells of the rows of all tables, without their markup."""
        lines = [line for line in markdown.splitlines() if line.startswith("| ")]
        cells = [[html.unescape(re.sub("<[^>]*>", "", cell.strip())) for cell in line.strip("|").split("|")] for line in lines]
        return [row for row in cells if not row[0].startswith("---")]

    def test_a_comment_has_the_numbers_of_the_report(self):
        with tools.folder() as folder:
            before = f"{folder}/before.trackway"
            shutil.copy(recorded(folder, "prog", BEFORE), before)
            after = recorded(folder, "prog", AFTER)
            changed = table(diff(before, after, "--again", before), "fields_l2_misses")["rows"]
            markdown = tools.trackway("diff", "--markdown", "--cache", CACHES, "--again", before, before, after).stdout
            self.assertTrue(markdown.startswith("<!-- trackway diff -->\n"), markdown)
            shown = self.rows(markdown.split("<details>")[0])
            for row in changed:
                numbers = [f"{row[name]:,}" for name in ("before", "after")]
                self.assertTrue(any(cells[0] == row["field"] and set(numbers) <= set(cells) for cells in shown), (row, shown))
            self.assertIn("in 2 runs of the program", markdown)
            self.assertRegex(markdown, r"L2 misses: [\d,]+ before, [\d,]+ after \(x0\.\d+\), more than the noise of 0")

    def test_hostile_names_break_no_comment(self):
        with tools.folder() as folder:
            before = f"{folder}/before.trackway"
            shutil.copy(recorded(folder, "prog", HOSTILE), before)
            after = recorded(folder, "prog", HOSTILE.replace("round < 5", "round < 3"))
            markdown = tools.trackway("diff", "--markdown", "--cache", CACHES, before, after).stdout
            files = [cells for cells in self.rows(markdown) if cells[0].endswith("a|b`<i>@x,::error::y%.c")]
            self.assertTrue(files, markdown)
            self.assertEqual(len(set(map(len, files))), 1)
            for sign in ("<i>", "`", "@x"):
                self.assertNotIn(sign, markdown)

    def github(self, folder, trace, budget, *options):
        path, summary = Path(folder, "budget.toml"), Path(folder, "summary.md")
        path.write_text(budget)
        summary.write_text("earlier\n")
        environment = {**os.environ, "GITHUB_WORKSPACE": str(folder), "GITHUB_STEP_SUMMARY": str(summary)}
        done = tools.trackway("check", trace, "--github", "--budget", path, *options, check=False, env=environment, cwd="/")
        first, *lines = done.stdout.splitlines()
        token = first.removeprefix("::stop-commands::")
        end = lines.index(f"::{token}::") if f"::{token}::" in lines else -1
        return done.returncode, lines[end + 1:], summary.read_text()

    def test_a_broken_budget_is_an_annotation_of_its_line(self):
        with tools.folder() as folder:
            trace = recorded(folder, "prog", BEFORE)
            file = os.path.relpath(f"{folder}/prog.c")
            for subject in ('field = "item.key"', 'type = "item"', 'function = "add"', f'file = "{file}"', ""):
                status, commands, summary = self.github(folder, trace, f'[[budget]]\n{subject}\nmeasure = "accesses"\nmax = 4')
                self.assertEqual(status, 3)
                self.assertEqual(len(commands), 1, commands)
                self.assertRegex(commands[0], r"^::error file=prog\.c,line=7,title=Trackway::.*4,99\d accesses, at most 4$")
                self.assertTrue(summary.startswith("earlier\n<!-- trackway check -->"), summary)
                self.assertIn("1 of 1 budget broken", summary)

    def test_a_budget_that_holds_is_no_annotation(self):
        with tools.folder() as folder:
            trace = recorded(folder, "prog", BEFORE)
            budget = '[[budget]]\nmeasure = "accesses"\nmax = 5000'
            status, commands, summary = self.github(folder, trace, budget)
            self.assertEqual((status, commands), (0, []))
            self.assertIn("All of 1 budget hold", summary)

    def test_an_error_is_an_annotation_without_a_line(self):
        with tools.folder() as folder:
            trace = recorded(folder, "prog", BEFORE)
            path = Path(folder, "wrong.toml")
            path.write_text("[[budget]]\nfield = 'item.nothing'\nmeasure = 'accesses'\nmax = 1")
            done = tools.trackway("check", trace, "--github", "--budget", path, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stdout, r"^::error title=Trackway::.*there is no item\.nothing among the fields")

    def test_a_hostile_file_is_escaped(self):
        with tools.folder() as folder:
            name = "a|b`<i>@x,::error::y%.c"
            trace = recorded(folder, "prog", HOSTILE)
            Path(folder, name).write_text("")
            _, commands, _ = self.github(folder, trace, '[[budget]]\nmeasure = "accesses"\nmax = 4')
            self.assertEqual(len(commands), 1, commands)
            self.assertIn("file=a|b`<i>@x%2C%3A%3Aerror%3A%3Ay%25.c,line=9,", commands[0])


class Naive:
    """Stacks from a dump, as docs/verbs/export.md defines them."""

    def __init__(self, trace):
        self.accesses = collections.Counter()
        self.calls = collections.Counter()
        stacks = collections.defaultdict(list)
        for line in tools.trackway("dump", "--json", trace).stdout.splitlines():
            event = json.loads(line)
            stack, kind, function = stacks[event["stream"]], event["kind"], event.get("function")
            if kind == "exit":
                if function in stack:
                    while stack.pop() != function:
                        pass
            elif kind == "enter":
                self.push(stack, function)
            elif "size" in event and "site" in event:
                if function not in stack:
                    self.push(stack, function)
                while stack[-1] != function:
                    stack.pop()
                self.accesses[self.path(stack)] += 1

    def push(self, stack, function):
        path = self.path(stack)
        stack.append(function)
        self.calls[path[-1] if path else None, function] += 1

    @staticmethod
    def path(stack):
        path = []
        for function in stack:
            path = path[:path.index(function) + 1] if function in path else path + [function]
        return tuple(path)


class Exports(unittest.TestCase):
    def traces(self, folder):
        yield recorded(folder, "jumps", JUMPS)
        yield recorded(folder, "exceptions", EXCEPTIONS, suffix=".cpp")

    def test_stacks_are_those_of_a_naive_count(self):
        with tools.folder() as folder:
            for trace in self.traces(folder):
                naive, output = Naive(trace), f"{trace}.folded"
                tools.trackway("export", trace, "--to", "folded", "-o", output)
                with open(output) as folded:
                    lines = [line.rsplit(" ", 1) for line in folded]
                found = {tuple(stack.split(";")): int(count) for stack, count in lines}
                self.assertEqual(found, dict(naive.accesses))
                self.assertGreaterEqual(len(found), 4)

    def test_callgrind_has_the_same_calls(self):
        with tools.folder() as folder:
            for trace in self.traces(folder):
                naive, output = Naive(trace), f"{trace}.callgrind"
                tools.trackway("export", trace, "--to", "callgrind", "-o", output)
                read = callgrind(output)
                expected = collections.Counter()
                edges = collections.Counter()
                for path, count in naive.accesses.items():
                    expected[path[-1]] += count
                    edges.update(dict.fromkeys(itertools.pairwise(path), count))
                self.assertEqual(read.own, expected)
                self.assertEqual(+read.inclusive, edges)
                self.assertEqual(read.calls, {edge: count for edge, count in naive.calls.items() if edge[0]})
                self.annotate(output, folder, sum(read.own.values()))

    def annotate(self, path, folder, accesses):
        """Valgrind's own reader finds the same sum."""
        tool = shutil.which("callgrind_annotate")
        self.assertIsNotNone(tool, "valgrind is missing; setup/install brings it")
        shown = tools.run(tool, path, cwd=folder)
        total = next(line for line in shown.stdout.splitlines() if "PROGRAM TOTALS" in line)
        self.assertEqual(int(total.split()[0].replace(",", "")), accesses)
        self.assertEqual(shown.stderr, "")

    def test_time_lines_nest_and_keep_all_accesses(self):
        with tools.folder() as folder:
            for trace in self.traces(folder):
                naive, output = Naive(trace), f"{trace}.json"
                tools.trackway("export", trace, "--to", "perfetto", "-o", output, "--cache", CACHES)
                events = json.loads(Path(output).read_text())["traceEvents"]
                counters = [event["args"] for event in events if event["ph"] == "C"]
                self.assertEqual(sum(args.get("accesses", 0) for args in counters), sum(naive.accesses.values()))
                slices = [event for event in events if event["ph"] == "X"]
                self.assertEqual(collections.Counter(event["name"] for event in slices),
                                 self.entries(trace))
                open_until = []
                for event in slices:
                    while open_until and open_until[-1] < event["ts"] + event["dur"] - 1e-6:
                        self.assertLessEqual(open_until.pop(), event["ts"] + 1e-6)
                    open_until.append(event["ts"] + event["dur"])
                few = f"{trace}.few.json"
                shown = tools.trackway("export", trace, "--to", "perfetto", "-o", few, "--slices", "3")
                self.assertIn("left out", shown.stderr)
                longest = [event for event in json.loads(Path(few).read_text())["traceEvents"] if event["ph"] == "X"]
                self.assertEqual(sorted(event["dur"] for event in longest),
                                 sorted(event["dur"] for event in slices)[-3:])

    @staticmethod
    def entries(trace):
        events = map(json.loads, tools.trackway("dump", "--json", trace).stdout.splitlines())
        return collections.Counter(event["function"] for event in events if event["kind"] == "enter")

    def test_parquet_files_have_each_table(self):
        """Their content is read by the tests of the report crate."""
        with tools.folder() as folder:
            trace = recorded(folder, "prog", BEFORE)
            report = json.loads(tools.trackway("report", "--json", trace, "--parquet", f"{folder}/tables").stdout)
            files = sorted(os.listdir(f"{folder}/tables"))
            self.assertEqual(files, sorted(table["name"] + ".parquet" for table in report["tables"]))
            for file in files:
                content = Path(f"{folder}/tables/{file}").read_bytes()
                self.assertEqual((content[:4], content[-4:]), (b"PAR1", b"PAR1"))
            again = tools.trackway("report", trace, "--parquet", f"{folder}/tables", check=False)
            self.assertEqual(again.returncode, 2)
