"""Slices of a trace, against the lines that `dump` prints of all of it."""

import json
import unittest
from collections import Counter

from ..support import tools

# Each thread walks its list over and over; all lists are built before.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
enum { THREADS = 3, NODES = 300, ROUNDS = 20 };
struct node { long key; struct node *next; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *lists[THREADS];
static long total;
static inline __attribute__((always_inline)) long key_of(const struct node *node) {
    return node->key;
}
__attribute__((noinline)) static struct node *build(void) {
    struct node *first = NULL;
    for (long i = 0; i < NODES; i++) {
        struct node *node = malloc(sizeof *node);
        node->key = i;
        node->next = first;
        first = node;
    }
    return first;
}
__attribute__((noinline)) static long walk(const struct node *node) {
    long sum = 0;
    for (; node; node = node->next)
        sum += key_of(node);
    return sum;
}
static void *work(void *argument) {
    for (int round = 0; round < ROUNDS; round++) {
        long sum = walk(lists[(long)argument]);
        pthread_mutex_lock(&lock);
        total += sum;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        lists[i] = build();
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return total == 0;
}
"""
NODES, ROUNDS, THREADS = 300, 20, 3
MORE_ROUNDS = 30
VERBS = ("report", "sharing", "layout", "reuse", "patterns", "map")
EVENTS = {"enter", "exit", "acquire", "release", "allocate", "free", "reallocate"}


def lines_of(trace, *options):
    """The accesses that `dump` prints."""
    dump = tools.trackway("dump", "--json", *options, trace).stdout.splitlines()
    lines = [json.loads(line) for line in dump]
    return [line for line in lines if "size" in line and "mark" not in line and line["kind"] not in EVENTS]


def tables(trace, verb, *options):
    report = json.loads(tools.trackway(verb, "--json", *options, trace).stdout)
    return {table["name"]: table["rows"] for table in report["tables"]}


def audit(trace, verb, *options):
    return tables(trace, verb, *options)["trace"][0]


def trace_of(folder, text, name="lists"):
    source, program, trace = (f"{folder}/{name}{suffix}" for suffix in (".c", "", ".trackway"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    tools.compile_traced(program, [source], "-O1", "-g", "-pthread", "-fno-builtin", oracle=False)
    # Small buffers, so that borders lie between chunks and within.
    tools.record(trace, program, options=("--buffer-size", "16K"))
    return trace


def recorded():
    folder = tools.folder()
    trace = trace_of(folder.name, PROGRAM)
    return folder, trace, lines_of(trace)


def recorded_again():
    """A program that walks its lists more often, and builds the same."""
    folder = tools.folder()
    return folder, trace_of(folder.name, PROGRAM.replace("ROUNDS = 20", f"ROUNDS = {MORE_ROUNDS}"))


class Slices(unittest.TestCase):
    def setUp(self):
        self.folder, self.trace, self.lines = tools.once("slices", recorded)

    def test_threads(self):
        by_thread = Counter(line["stream"] for line in self.lines)
        self.assertEqual(len(by_thread), THREADS + 1)
        for verb in VERBS:
            for thread, accesses in by_thread.items():
                row = audit(self.trace, verb, "--thread", thread)
                self.assertEqual(row["accesses"], accesses, (verb, thread))
                self.assertTrue(row["slice"].startswith(f"1 of {len(by_thread)} threads: "), row["slice"])
            two = list(by_thread)[:2]
            row = audit(self.trace, verb, *(word for thread in two for word in ("--thread", thread)))
            self.assertEqual(row["accesses"], sum(by_thread[thread] for thread in two), verb)

    def test_functions_with_what_is_inlined(self):
        walked = 2 * NODES * ROUNDS * THREADS
        self.assertEqual(sum(line["function"] in ("walk", "key_of") for line in self.lines), walked)
        for verb in VERBS:
            self.assertEqual(audit(self.trace, verb, "--function", "w?lk")["accesses"], walked, verb)
            self.assertEqual(audit(self.trace, verb, "--function", "key_*")["accesses"], walked // 2, verb)
        both = audit(self.trace, "report", "--function", "walk", "--function", "build")
        self.assertEqual(both["accesses"], walked + 2 * NODES * THREADS)
        one = audit(self.trace, "report", "--function", "walk", "--thread", 2)
        self.assertEqual(one["accesses"], walked // THREADS)

    def test_times_are_cut_once(self):
        whole = len(self.lines)
        fifths = [("--from", f"{begin}%", "--to", f"{begin + 20}%", "--thread", 1) for begin in range(0, 100, 20)]
        for verb in VERBS:
            parts = [audit(self.trace, verb, *options) for options in fifths if self.has_accesses(*options)]
            of_thread = sum(line["stream"] == 1 for line in self.lines)
            self.assertEqual(sum(part["accesses"] for part in parts), of_thread, verb)
        halves = [options for options in (("--to", "70%"), ("--from", "70%")) if self.has_accesses(*options)]
        self.assertEqual(sum(audit(self.trace, "report", *options)["accesses"] for options in halves), whole)

    def has_accesses(self, *options):
        return tools.trackway("report", "--json", *options, self.trace, check=False).returncode == 0

    def test_a_dump_prints_the_slice(self):
        def where(lines):
            return [(line["stream"], line["kind"], line["address"], line["function"]) for line in lines]

        halves = [options for options in (("--to", "60%"), ("--from", "60%")) if self.has_accesses(*options)]
        split = where(line for options in halves for line in lines_of(self.trace, *options))
        self.assertCountEqual(split, where(self.lines))
        of_thread = where(line for line in self.lines if line["stream"] == 2)
        self.assertEqual(where(lines_of(self.trace, "--thread", 2)), of_thread)

    def test_memory_is_named_by_allocations_before_the_slice(self):
        # When threads begin depends on the machine.
        late = next(when for when in ("50%", "30%", "10%", "3%", "1%") if self.has_accesses("--from", when, "--thread", 2))
        for options in (("--function", "walk"), ("--thread", 2), ("--from", late, "--thread", 2)):
            owners = tables(self.trace, "map", *options)["owners"]
            self.assertEqual(owners[0]["kind"], "allocation", options)
            self.assertIn("malloc", owners[0]["name"], options)
            groups = tables(self.trace, "reuse", "--merged", "--by", "allocation", *options)
            self.assertIn("lists.c:15", groups["allocations"][0]["allocation"], options)

    def test_the_processor_needs_all_of_a_thread(self):
        refused = tools.trackway("branches", "--to", "50%", self.trace, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("only --thread can be obeyed here", refused.stderr)
        whole = tables(self.trace, "branches")["control_flow"][0]["executed"]
        each = [tables(self.trace, "branches", "--thread", thread) for thread in range(THREADS + 1)]
        self.assertEqual(sum(one["control_flow"][0]["executed"] for one in each), whole)
        self.assertEqual(each[0]["extent"][0]["slice"], "1 of 4 threads")

    def test_an_empty_slice_says_what_there_is(self):
        for options in (("--thread", 77), ("--function", "nothing"), ("--windows", 1), ("--from", "mark:none")):
            refused = tools.trackway("report", *options, self.trace, check=False)
            self.assertEqual(refused.returncode, 2, options)
            self.assertIn(": ", refused.stderr)
        self.assertIn("there are 0, 1, 2, 3", tools.trackway("report", "--thread", 77, self.trace, check=False).stderr)

    def test_a_page_says_its_slice(self):
        page = json.loads(tools.trackway("view", "--json", "--thread", 2, self.trace).stdout)
        self.assertNotIn("memory", [part["name"] for part in page["parts"]])
        self.assertIn("1 of 4 threads", json.dumps(page))


class Comparisons(unittest.TestCase):
    """`diff` and `check` take the same slice of all traces."""

    def setUp(self):
        self.folder, self.trace, self.lines = tools.once("slices", recorded)
        self.more_folder, self.more = tools.once("more slices", recorded_again)

    def accesses_by_function(self, trace, *options):
        rows = tables(trace, "report", "--top", 0, "--by", "function", *options)["functions"]
        return {row["function"]: row["accesses"] for row in rows}

    def differences(self, before, after, *options):
        words = ("--top", 0, "--by", "function", "--measure", "accesses", *options, before, after)
        report = json.loads(tools.trackway("diff", "--json", *words).stdout)
        found = {table["name"]: table["rows"] for table in report["tables"]}
        return {row["function"]: (row["before"], row["after"]) for row in found["functions_accesses"]}, found

    def saved(self, trace, *options):
        path = f"{self.folder.name}/saved.json"
        report = tools.trackway("report", "--json", "--top", 0, "--by", "field,function", *options, trace).stdout
        with open(path, "w", encoding="utf-8") as file:
            file.write(report)
        return path

    def test_a_diff_is_that_of_the_reports_on_both_slices(self):
        for options in (("--to", "60%"), ("--from", "60%"), ("--thread", 2), ("--function", "walk", "--thread", 1)):
            sides = []
            for trace in (self.trace, self.more):
                asked = tools.trackway("report", *options, trace, check=False)
                sides.append(self.accesses_by_function(trace, *options) if asked.returncode == 0 else None)
            if None in sides:  # when threads run depends on the machine
                continue
            before, after = sides
            counts = {name: (before.get(name, 0), after.get(name, 0)) for name in before.keys() | after.keys()}
            expected = {name: pair for name, pair in counts.items() if pair[0] != pair[1]}
            self.assertEqual(self.differences(self.trace, self.more, *options)[0], expected, options)

    def test_a_diff_of_a_slice_says_so(self):
        walked = dict.fromkeys(("walk", "key_of"), (NODES * ROUNDS, NODES * MORE_ROUNDS))
        found, all_tables = self.differences(self.trace, self.more, "--function", "walk", "--thread", 1)
        self.assertEqual(found, walked)
        slices = all_tables["slices"][0]
        self.assertTrue(slices["before"].startswith("1 of 4 threads, "), slices)
        self.assertTrue(slices["after"].endswith(f": {2 * NODES * MORE_ROUNDS:,} accesses"), slices)
        self.assertNotIn("slices", self.differences(self.trace, self.more)[1])

    def test_other_runs_are_cut_as_well(self):
        options = ("--function", "walk", "--again", self.more)
        _, found = self.differences(self.trace, self.more, *options)
        row = found["functions_accesses"][0]
        self.assertEqual(row["noise"], NODES * (MORE_ROUNDS - ROUNDS) * THREADS)
        self.assertCountEqual([row["function"] for row in found["functions_accesses"]], ["walk", "key_of"])

    def test_saved_reports_are_as_they_were_cut(self):
        options = ("--function", "walk")
        each = NODES * ROUNDS * THREADS, NODES * MORE_ROUNDS * THREADS
        walked = dict.fromkeys(("walk", "key_of"), each)
        self.assertEqual(self.differences(self.saved(self.trace, *options), self.more, *options)[0], walked)
        whole = self.saved(self.trace)
        refused = tools.trackway("diff", *options, whole, self.more, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a saved report can't be cut to a slice", refused.stderr)
        self.assertIn(whole, refused.stderr)

    def check(self, trace, budget, *options):
        path = f"{self.folder.name}/budget.toml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(budget)
        return tools.trackway("check", trace, "--budget", path, *options, check=False)

    def test_budgets_are_for_the_slice(self):
        keys = NODES * ROUNDS
        budget = f'[[budget]]\nfield = "node.key"\nmeasure = "accesses"\nmax = {keys}\n'
        one_walk = ("--function", "walk", "--thread", 3)
        self.assertEqual(self.check(self.trace, budget).returncode, 3)
        self.assertEqual(self.check(self.trace, budget, *one_walk).returncode, 0)
        less = budget.replace(str(keys), str(keys - 1))
        broken = json.loads(self.check(self.trace, less, "--json", *one_walk).stdout)
        found = {table["name"]: table["rows"] for table in broken["tables"]}
        self.assertEqual((found["budgets"][0]["value"], found["budgets"][0]["holds"]), (keys, "NO"))
        self.assertIn("1 of 4 threads", found["trace"][0]["slice"])

    def test_a_baseline_is_cut_as_well(self):
        budget = '[[budget]]\nfield = "node.key"\nmeasure = "accesses"\nmax-ratio = 1.5\n'
        # The accesses that build the lists are the same.
        self.assertEqual(self.check(self.more, budget, "--baseline", self.trace).returncode, 0)
        tight = budget.replace("1.5", "1.49")
        self.assertEqual(self.check(self.more, tight, "--baseline", self.trace).returncode, 0)
        self.assertEqual(self.check(self.more, tight, "--baseline", self.trace, "--function", "walk").returncode, 3)
        self.assertEqual(self.check(self.more, budget, "--baseline", self.trace, "--function", "walk").returncode, 0)
        whole = self.saved(self.trace)
        refused = self.check(self.more, budget, "--baseline", whole, "--function", "walk")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("can't be cut to a slice", refused.stderr)

    def test_a_written_budget_names_its_slice(self):
        path = f"{self.folder.name}/written.toml"
        options = ("--function", "wal?", "--thread", 3)
        tools.trackway("check", self.trace, "-f", "--write-budget", path, "--margin", 0, *options)
        tools.trackway("check", self.trace, "--budget", path, *options)
        self.assertEqual(tools.trackway("check", self.trace, "--budget", path, check=False).returncode, 3)
        with open(path, encoding="utf-8") as file:
            self.assertIn("--budget THIS_FILE --thread 3 --function 'wal?'", file.read())

    def test_what_has_no_slice_is_refused(self):
        refused = tools.trackway("diff", "--thread", 77, self.trace, self.more, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("there are 0, 1, 2, 3", refused.stderr)
        refused = self.check(self.trace, '[[budget]]\nmeasure = "accesses"\nmax = 1\n', "--windows", 1)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("without windows", refused.stderr)


if __name__ == "__main__":
    unittest.main()
