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


def recorded():
    folder = tools.folder()
    source, program, trace = (f"{folder.name}/lists{suffix}" for suffix in (".c", "", ".trackway"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    tools.compile_traced(program, [source], "-O1", "-g", "-pthread", "-fno-builtin", oracle=False)
    # Small buffers, so that borders lie between chunks and within.
    tools.record(trace, program, options=("--buffer-size", "16K"))
    return folder, trace, lines_of(trace)


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


if __name__ == "__main__":
    unittest.main()
