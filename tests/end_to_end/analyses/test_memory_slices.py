"""What `memory` and `allocations` count of a slice: the blocks that were allocated in it."""

import json
import unittest
from collections import Counter

from ..support import tools

# The start keeps a table, which the loop uses; each thread allocates on its own, and main frees what they leave. Threads run
# one after the other, so that it is known which of them had an address first.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
enum { THREADS = 2, NODES = 500, START = 40 };
static long *volatile table[START];
static char *volatile left[THREADS][NODES];
__attribute__((noinline)) static void start(void) {
    for (int i = 0; i < START; i++) {
        table[i] = malloc(1000);
        table[i][0] = i;
    }
}
__attribute__((noinline)) static void *work(void *argument) {
    long number = (long)argument;
    for (int i = 0; i < NODES; i++) {
        char *volatile kept = malloc(100);
        char *volatile dropped = malloc(30);
        kept[0] = dropped[0] = 1;
        table[i % START][1 + number] += i;
        free(dropped);
        left[number][i] = kept;
    }
    return NULL;
}
int main(void) {
    start();
    for (long i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < THREADS * NODES; i += 2)
        free(left[i / NODES][i % NODES]);
    for (int i = 0; i < START; i++)
        free(table[i]);
    return 0;
}
"""
THREADS, NODES, START = 2, 500, 40


def tables(trace, verb, *options):
    report = json.loads(tools.trackway(verb, "--json", "--top", 0, *options, trace).stdout)
    return {table["name"]: table["rows"] for table in report["tables"]}, report


def numbers(trace, *options):
    return tables(trace, "memory", *options)[0]["memory"][0]


def refused(trace, verb, *options):
    done = tools.trackway(verb, *options, trace, check=False)
    return done.stderr if done.returncode == 2 else ""


def middle_of(trace, verb, count, whole):
    """A time before which between a third and two thirds lie of what is counted."""
    low_ns, high_ns = 0, 1 << 36
    while low_ns + 1 < high_ns:
        middle_ns = (low_ns + high_ns) // 2
        when = f"{middle_ns}ns"
        found = 0 if refused(trace, verb, "--to", when) else count("--to", when)
        if whole <= 3 * found <= 2 * whole:
            return when
        low_ns, high_ns = (middle_ns, high_ns) if 3 * found < whole else (low_ns, middle_ns)
    raise AssertionError("all of it happens at once")


def written(folder):
    with open(f"{folder}/blocks.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    return f"{folder}/blocks.c"


def recorded():
    folder = tools.folder()
    trace = f"{folder.name}/blocks.trackway"
    flags = ("-O1", "-g", "-pthread", "-fno-builtin")
    program = tools.compile_traced(f"{folder.name}/blocks", [written(folder.name)], *flags, oracle=False)
    tools.record(trace, program, options=("--buffer-size", "16K"))
    return folder, trace


def recorded_calls():
    folder = tools.folder()
    trace = f"{folder.name}/calls.trackway"
    program = tools.compile_plain(f"{folder.name}/calls", [written(folder.name)], "-O1", "-g", "-pthread", "-fno-builtin")
    tools.record(trace, program, options=("--allocations",))
    return folder, trace


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder, self.trace = tools.once("slices of blocks", recorded)

    def test_blocks_of_threads_count_as_released_whoever_releases_them(self):
        for thread in range(1, THREADS + 1):
            of_thread, _ = tables(self.trace, "memory", "--thread", thread)
            total = of_thread["memory"][0]
            self.assertEqual(total["allocations"], 2 * NODES)
            self.assertEqual(total["allocated_bytes"], 130 * NODES)
            self.assertEqual(total["peak_bytes"], 100 * NODES + 30)
            self.assertGreaterEqual(total["outside_bytes"], START * 1000)
            # main frees every second block that is left.
            self.assertEqual((total["never_released"], total["never_released_bytes"]), (NODES // 2, 100 * NODES // 2))
            releases = sum(row["blocks"] for row in of_thread["lifetimes"])
            self.assertEqual(releases, 2 * NODES - NODES // 2)

    def test_blocks_from_elsewhere_are_named_where_they_are_used(self):
        of_thread, _ = tables(self.trace, "memory", "--thread", 1)
        by_bytes = {row["allocated_bytes"]: row for row in of_thread["use"]}
        start = by_bytes[0]
        self.assertEqual(start["function"], "start")
        self.assertEqual(start["accesses"], 2 * NODES, "a read and a write of table[...][...] in each round")
        self.assertIsNone(start["accesses_per_byte"])
        self.assertEqual(by_bytes[100 * NODES]["accesses"], NODES)
        self.assertEqual(of_thread["memory"][0]["never_accessed"], 0)

    def test_functions_choose_what_they_allocate(self):
        started = numbers(self.trace, "--function", "start")
        self.assertEqual((started["allocations"], started["allocated_bytes"]), (START, START * 1000))
        self.assertEqual((started["never_released"], started["peak_bytes"]), (0, START * 1000))
        worked = numbers(self.trace, "--function", "w*k")
        self.assertEqual(worked["allocations"], 2 * NODES * THREADS)

    def test_each_allocation_is_in_one_part_of_time(self):
        whole = numbers(self.trace)
        self.assertNotIn("outside_bytes", whole)
        self.assertEqual(whole["allocations"], START + 2 * NODES * THREADS)
        middle = middle_of(self.trace, "memory", lambda *options: numbers(self.trace, *options)["allocations"], whole["allocations"])
        parts = []
        for options in (("--to", middle), ("--from", middle)):
            part = numbers(self.trace, *options)
            dump = tools.trackway("dump", "--json", *options, self.trace).stdout.splitlines()
            kinds = Counter(json.loads(line)["kind"] for line in dump)
            self.assertEqual(part["allocations"], kinds["allocate"], options)
            parts.append(part)
        before, after = parts
        self.assertEqual(before["allocations"] + after["allocations"], whole["allocations"])
        self.assertEqual(before["allocated_bytes"] + after["allocated_bytes"], whole["allocated_bytes"])
        # What is live at the border was never released before it; what was allocated after it is released there as ever.
        self.assertGreater(before["never_released"], START)
        self.assertEqual(before["outside_bytes"], 0)
        self.assertLess(after["never_released"], whole["never_released"] + 1)
        self.assertGreaterEqual(after["outside_bytes"], START * 1000)

    def test_the_answer_says_that_it_is_of_a_slice(self):
        _, report = tables(self.trace, "memory", "--thread", 1)
        self.assertIn(f"{100 * NODES + 30:,} bytes of blocks from the slice were live at once", report["answer"])
        error = refused(self.trace, "memory", "--function", "nothing")
        self.assertIn("no function", error)


class Calls(unittest.TestCase):
    def setUp(self):
        self.folder, self.trace = tools.once("slices of calls", recorded_calls)
        lines = tools.trackway("dump", "--allocations", "--json", self.trace).stdout.splitlines()
        self.events = [json.loads(line) for line in lines]

    def totals(self, *options):
        return tables(self.trace, "allocations", *options)[0]["allocation_totals"][0]

    def expected(self, begin_ns, end_ns, is_inside=lambda event: True):
        """Blocks that are allocated from begin to end, and how many of them are freed before the end, by whomever."""
        counted, live, freed, events = 0, {}, 0, 0
        for event in self.events:
            if event["time_ns"] >= end_ns:
                break
            inside = event["time_ns"] >= begin_ns and is_inside(event)
            events += inside
            if event["kind"] == "allocated":
                live[event["address"]] = inside
                counted += inside
            elif event["kind"] == "freed":
                freed += live.pop(event["address"])
        return {"events": events, "allocations": counted, "frees": freed, "leaked": sum(live.values())}

    def check(self, expected, *options):
        found = self.totals(*options)
        self.assertEqual({name: found[name] for name in expected}, expected, options)
        return found

    def test_times(self):
        whole = self.totals()
        self.assertNotIn("outside_bytes", whole)
        middle = middle_of(self.trace, "allocations", lambda *options: self.totals(*options)["events"], whole["events"])
        before = self.totals("--to", middle)
        # So many events are before the border: the next one is the first after it.
        self.assertGreater(before["events"], 0)
        border_ns = self.events[before["events"]]["time_ns"]
        self.check(self.expected(0, border_ns), "--to", middle)
        after = self.check(self.expected(border_ns, 1 << 64), "--from", middle)
        self.assertEqual(before["allocations"] + after["allocations"], whole["allocations"])
        self.assertGreater(before["leaked"], whole["leaked"], "what is live at the border")
        # Blocks that threads free on their way are small.
        self.assertGreater(after["outside_bytes"], before["leaked_bytes"] - 2000)
        self.assertEqual(before["outside_bytes"], 0)

    def test_threads(self):
        streams = Counter(event["stream"] for event in self.events)
        self.assertGreaterEqual(len(streams), THREADS + 1)
        for stream in streams:
            found = self.check(
                self.expected(0, 1 << 64, lambda event, stream=stream: event["stream"] == stream), "--thread", stream)
            self.assertGreaterEqual(found["outside_bytes"], 0)

    def test_functions(self):
        found = self.totals("--function", "start")
        self.assertEqual((found["allocations"], found["bytes"], found["leaked"]), (START, 1000 * START, 0))
        worked, report = tables(self.trace, "allocations", "--function", "w?rk", "--depth", 1)
        self.assertEqual({row["function"] for row in worked["call_sites"]}, {"work"})
        total = worked["allocation_totals"][0]
        self.assertEqual(total["allocations"], 2 * NODES * THREADS)
        self.assertEqual((total["frees"], total["leaked"]), (3 * NODES * THREADS // 2, NODES * THREADS // 2))
        self.assertIn("in the slice", report["answer"])
        self.assertIn("no function that calls an allocator", refused(self.trace, "allocations", "--function", "nothing"))

    def test_what_is_not_there_is_refused(self):
        error = refused(self.trace, "allocations", "--thread", 987654)
        self.assertIn("there is no thread 987654; there are ", error)
        self.assertIn("without windows", refused(self.trace, "allocations", "--windows", 1))
        self.assertIn("no mark", refused(self.trace, "allocations", "--after-mark", "none"))


if __name__ == "__main__":
    unittest.main()
