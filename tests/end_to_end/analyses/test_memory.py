"""What `map` and `memory` find in small programs whose numbers are known."""

import csv
import io
import json
import os
import stat
import unittest
from pathlib import Path
from xml.etree import ElementTree

from ..support import pictures, terminal, tools

PROGRAM = """
#include <stdlib.h>
#include <string.h>
struct node { long key; struct node *next; };
static volatile int flags[1000];
__attribute__((noinline)) static char *fill(char *buffer, size_t length) {
    for (size_t i = 0; i < length; i++)
        ((volatile char *)buffer)[i] = 1;
    return buffer;
}
int main(void) {
    char *lasting = malloc(100000);
    char *unused = malloc(3000);
    fill(lasting, 50000);
    for (int i = 0; i < 50; i++) {
        struct node *node = malloc(sizeof *node);
        ((volatile struct node *)node)->key = i;
        free(node);
    }
    char *large = malloc(700000);
    fill(large, 700000);
    large = realloc(large, 900000);
    free(large);
    for (int i = 0; i < 1000; i++)
        flags[i] = i;
    void *impossible = malloc((size_t)1 << 62);
    lasting[0] = unused != impossible;
    return 0;
}
"""

# The same call of malloc stands in two functions, by way of one that is inlined into both.
INLINED = """#include <stdlib.h>
static inline __attribute__((always_inline)) char *made(size_t bytes) {
    return malloc(bytes);
}
__attribute__((noinline)) static char *first(void) {
    return made(1000);
}
__attribute__((noinline)) static char *second(void) {
    return made(2000);
}
int main(void) {
    char *volatile blocks[] = { first(), second() };
    return blocks[0] == blocks[1];
}
"""

THREADS = """
#include <pthread.h>
#include <stdlib.h>
enum { COUNT = 100, BYTES = 4000 };
static char *volatile blocks[COUNT];
static void *release(void *unused) {
    for (int i = 0; i < COUNT; i++) {
        for (int byte = 0; byte < BYTES; byte++)
            ((volatile char *)blocks[i])[byte]++;
        free(blocks[i]);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    for (int i = 0; i < COUNT; i++)
        blocks[i] = malloc(BYTES);
    pthread_create(&thread, 0, release, 0);
    pthread_join(thread, 0);
    return 0;
}
"""

# Allocators around malloc, and one that carves its blocks out of a larger one.
OWN_ALLOCATORS = """
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline))
OWN void *own_alloc(size_t bytes) { return malloc(bytes); }
OWN void own_free(void *block) { free(block); }
OWN void *own_resize(void *block, size_t bytes) { return realloc(block, bytes); }
OWN void *own_move(void *block, size_t bytes) {
    void *moved = malloc(bytes);
    memcpy(moved, block, 64);
    free(block);
    return moved;
}
static char *pool;
OWN void *own_piece(size_t bytes) {
    if (!pool)
        pool = malloc(4096);
    return (pool += bytes) - bytes;
}
int main(void) {
    for (int i = 0; i < 10; i++)
        own_free(own_alloc(100));
    char *kept = own_alloc(1000);
    kept = own_resize(kept, 5000);
    kept = own_move(kept, 9000);
    char *first = own_piece(16), *second = own_piece(16);
    kept[0] = first == second;
    return 0;
}
"""
RULES = """own_alloc - 0 -1
own_free free 0
own_resize realloc 0 1
own_move realloc 0 1
own_piece - 0 -1
"""
OWN_NEW = """
#include <cstdlib>
#include <new>
void *operator new(std::size_t bytes) { return std::malloc(bytes); }
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }
struct node { long key; };
node *volatile kept;
int main() {
    for (int i = 0; i < 20; i++) {
        kept = new node{i};
        delete kept;
    }
    kept = new node{0};
}
"""


# Calls with a header before what they hand on; blocks of 32 bytes of which the program has 16.
HEADERS = r"""
#include <stdlib.h>
struct header { size_t bytes, unused; };
struct node { long value; struct node *next; };
__attribute__((noinline)) void *own_alloc(size_t bytes) {
    struct header *block = malloc(sizeof *block + bytes);
    block->bytes = bytes;
    return block + 1;
}
__attribute__((noinline)) void own_free(void *block) { free((struct header *)block - 1); }
__attribute__((noinline)) void *own_resize(void *block, size_t bytes) {
    struct header *moved = realloc((struct header *)block - 1, sizeof *moved + bytes);
    moved->bytes = bytes;
    return moved + 1;
}
int main(void) {
    struct node *list = 0;
    for (int i = 0; i < 100; i++) {
        struct node *made = own_alloc(sizeof *made);
        made->value = i;
        made->next = list;
        list = made;
    }
    while (list) {
        struct node *next = list->next;
        own_free(list);
        list = next;
    }
    char *volatile grown = own_alloc(1000);
    grown = own_resize(grown, 5000);
    grown[4999] = 1;
    own_free(grown);
    return 0;
}
"""
HEADER_RULES = "own_alloc - 0 -1\nown_free free 0\nown_resize realloc 0 1\n"


def trace_of(folder, source, *flags, name="program.c"):
    program, trace = f"{folder}/program", f"{folder}/trace"
    Path(folder, name).write_text(source, encoding="utf-8")
    tools.compile_traced(program, [Path(folder, name)], *flags, oracle=False)
    tools.record(trace, program)
    return trace


def tables(verb, *arguments):
    report = json.loads(tools.trackway(verb, "--json", "--top", "0", *arguments).stdout)
    return {table["name"]: table["rows"] for table in report["tables"]}


def by_variable(rows, name):
    return next(row for row in rows if row["variable"] == name)


def recorded():
    folder = tools.folder()
    return folder, trace_of(folder.name, PROGRAM, "-O1", "-fno-builtin", "-g")


class OneThread(unittest.TestCase):
    def setUp(self):
        self.folder, self.trace = tools.once("memory", recorded)

    def test_peak(self):
        found = tables("memory", self.trace)
        total = found["memory"][0]
        self.assertEqual(total["peak_bytes"], 100000 + 3000 + 900000)
        self.assertEqual(total["peak_blocks"], 3)
        self.assertEqual(sum(row["peak_bytes"] for row in found["peak"]), total["peak_bytes"])
        self.assertEqual(found["peak"][0]["peak_bytes"], 900000)
        self.assertEqual(found["peak"][0]["allocator"], "realloc")
        self.assertEqual(max(row["most_bytes"] for row in found["memory_over_time"]), total["peak_bytes"])

    def test_allocations(self):
        found = tables("memory", self.trace)
        total = found["memory"][0]
        self.assertEqual(total["allocations"], 2 + 50 + 2)
        self.assertEqual(total["allocated_bytes"], 100000 + 3000 + 50 * 16 + 700000 + 900000)
        self.assertEqual((total["failed"], total["short_lived"]), (1, 50 + 1), "the reallocated block was freed at once")
        self.assertEqual((total["never_released"], total["never_released_bytes"]), (2, 103000))
        self.assertEqual((total["never_accessed"], total["never_accessed_bytes"]), (2, 903000))
        self.assertEqual((total["overlapped_blocks"], total["unknown_releases"]), (0, 0))
        sites = {row["allocated_bytes"]: row for row in found["use"]}
        self.assertEqual(sites[100000]["accesses"], 50000 + 1)
        self.assertEqual(sites[700000]["accesses"], 700000)
        self.assertEqual(sites[50 * 16]["accesses"], 50)
        self.assertAlmostEqual(sites[100000]["accesses_per_byte"], 0.50001)

    def test_map(self):
        found = tables("map", "--level", "0", self.trace)
        report = tools.report(self.trace)
        accesses = next(table for table in report["tables"] if table["name"] == "trace")["rows"][0]["accesses"]
        self.assertEqual(found["map"][0]["shown"], accesses)
        for level in found["levels"]:
            cells = [cell for cell in found["cells"] if cell["level"] == level["level"]]
            self.assertEqual(len(cells), level["cells"])
            self.assertEqual(sum(cell["reads"] + cell["writes"] for cell in cells), accesses)
        flags = next(row for row in found["owners"] if row["name"] == "flags")
        self.assertEqual((flags["kind"], flags["reads"], flags["writes"]), ("static variable", 0, 1000))

    def test_bytes_and_misses(self):
        cache = "L1=4K,8,64:L2=16K,8,64"
        report = tools.report(self.trace, "--by", "site", "--top", "0", "--cache", cache)
        sites = next(table for table in report["tables"] if table["name"] == "sites")["rows"]
        shown = tables("map", "--measure", "bytes", self.trace)["map"][0]["shown"]
        self.assertEqual(shown, sum(row["bytes"] for row in sites))
        for level in ("L1", "L2"):
            shown = tables("map", "--measure", level, "--cache", cache, self.trace)["map"][0]["shown"]
            self.assertEqual(shown, sum(row[f"{level.lower()}_misses"] for row in sites))

    def test_cycles(self):
        """They are those of the report, and go to the memory that took them."""
        machine = ("--machine", "zen3")
        report = tools.report(self.trace, "--time", *machine, "--by", "variable", "--top", "0")
        whole = next(table for table in report["tables"] if table["name"] == "time")["rows"][0]["cycles"]
        found = tables("map", "--measure", "cycles", *machine, self.trace)
        shown = found["map"][0]["shown"]
        self.assertGreater(shown, 700_000)
        self.assertAlmostEqual(shown, whole, delta=whole / 1000)
        self.assertEqual(sum(row["reads"] + row["writes"] for row in found["owners"]), shown)
        variables = next(table for table in report["tables"] if table["name"] == "variables")["rows"]
        of_flags = next(row["cycles"] for row in variables if row["variable"] == "flags")
        flags = next(row for row in found["owners"] if row["name"] == "flags")
        self.assertAlmostEqual(flags["reads"] + flags["writes"], of_flags, delta=of_flags / 100 + 2)
        self.assertIn("estimated cycles", tools.trackway("map", "--measure", "cycles", *machine, self.trace).stdout)

    def test_zoom(self):
        flags = tables("map", "--level", "0", "--allocation", "flags", self.trace)
        self.assertEqual(flags["map"][0]["shown"], 1000)
        self.assertEqual(flags["levels"][0]["granule_bytes"], 64)
        first = min(cell["address"] for cell in flags["cells"] if cell["level"] == 0)
        part = f"{first:#x}-{first + 255:#x}"
        within = tables("map", "--address", part, "--allocation", "flags", self.trace)["map"][0]["shown"]
        self.assertLessEqual(within, 64)
        self.assertGreater(within, 0)
        middle = flags["cells"][0]["from_ns"]
        before = tables("map", "--to", f"{middle}ns", self.trace)["map"][0]["shown"]
        behind = tables("map", "--from", f"{middle}ns", self.trace)["map"][0]["shown"]
        self.assertEqual(before + behind, tables("map", self.trace)["map"][0]["shown"])

    def test_pictures(self):
        text = tools.trackway("map", self.trace).stdout
        self.assertIn("flags", text)
        self.assertIn("█", text)
        self.assertNotIn("\x1b", text)
        svg = f"{self.folder.name}/map.svg"
        tools.trackway("map", "--svg", svg, self.trace)
        root = ElementTree.parse(svg).getroot()
        self.assertGreater(len(root.findall("{http://www.w3.org/2000/svg}rect")), 10)
        self.assertIn("flags", "".join(root.itertext()))
        self.assertEqual(stat.S_IMODE(os.stat(svg).st_mode), 0o600)

    def test_a_picture_as_png(self):
        file = f"{self.folder.name}/map.png"
        report = json.loads(tools.trackway("map", "--json", "--level", "0", "--png", file, self.trace).stdout)
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        width, height, pixels = pictures.pixels(file)
        caption = next(table for table in report["tables"] if table["name"] == "picture")
        self.assertIn("pixels for", caption["title"])
        last = caption["rows"][-1]
        self.assertEqual(last["top_pixel"] + last["height_pixels"], height)
        flags = next(row for row in caption["rows"] if "flags" in row["name"])
        cells = next(table["rows"] for table in report["tables"] if table["name"] == "cells")
        addresses = [cell["address"] for cell in cells if cell["name"] == flags["name"] and cell["level"] == 0]
        self.assertEqual(int(flags["first_address"], 16), min(addresses))
        rows = range(flags["top_pixel"], flags["top_pixel"] + flags["height_pixels"])
        drawn = [pixels[y][x] for y in rows for x in range(width) if pixels[y][x] != (255, 255, 255)]
        self.assertGreater(len(drawn), 0)
        self.assertTrue(all(red > blue for red, _, blue in drawn), "flags are written alone")
        self.assertIn("flags", tools.trackway("map", "--png", file, self.trace).stdout)
        self.assertIn("Live memory by time", tools.trackway("memory", self.trace).stdout)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(tools.trackway("map", "--csv", "--level", "0", self.trace).stdout)))
        self.assertEqual(len(rows), len(tables("map", "--level", "0", self.trace)["cells"]))
        sites = tools.trackway("memory", "--csv", "--top", "0", self.trace).stdout
        self.assertEqual(len(list(csv.DictReader(io.StringIO(sites)))), 6)

    def test_wrong_requests(self):
        for arguments in (
            ("map", "--measure", "L3", "--cache", "L1=4K,8,64"),
            ("map", "--from", "2s", "--to", "1s"),
            ("map", "--svg", "/dev/full", "--allocation", "nothing"),
            ("memory", "--csv", "--table", "missing"),
        ):
            failed = tools.trackway(*arguments, self.trace, check=False)
            self.assertEqual(failed.returncode, 2, arguments)
            self.assertIn("trackway: ", failed.stderr)


class Threads(unittest.TestCase):
    def test_blocks_of_another_thread(self):
        with tools.folder() as folder:
            trace = trace_of(folder, THREADS, "-O1", "-fno-builtin", "-pthread", "-g")
            found = tables("memory", trace)
            total = found["memory"][0]
            self.assertEqual((total["peak_bytes"], total["peak_blocks"]), (400000, 100))
            self.assertEqual((total["never_released"], total["never_accessed"], total["unknown_releases"]), (0, 0, 0))
            self.assertEqual(found["use"][0]["accesses"], 2 * 400000)
            owners = tables("map", trace)["owners"]
            self.assertEqual(owners[0]["kind"], "allocation")
            self.assertEqual((owners[0]["reads"], owners[0]["writes"], owners[0]["threads"]), (400000, 400000, 1))


class OwnAllocators(unittest.TestCase):
    """What an allocator of the program gets from another one, and hands on, is one allocation."""

    def by_allocator(self, found, table, *numbers):
        sums = {}
        for row in found[table]:
            before = sums.get(row["allocator"], (0,) * len(numbers))
            sums[row["allocator"]] = tuple(sum + row[number] for sum, number in zip(before, numbers, strict=True))
        return sums

    def test_by_rules(self):
        with tools.folder() as folder:
            rules = Path(folder, "rules")
            rules.write_text(RULES)
            found = tables("memory", trace_of(folder, OWN_ALLOCATORS, f"--allocators={rules}", "-O1", "-fno-builtin", "-g"))
            expected = {
                "own_alloc": (11, 10 * 100 + 1000, 0),
                "own_resize": (1, 5000, 0),
                "own_move": (1, 9000, 1),
                "malloc": (1, 4096, 0),
                "own_piece": (2, 32, 2),
            }
            allocations = self.by_allocator(found, "allocations", "allocations", "allocated_bytes", "never_released")
            self.assertEqual(allocations, expected)
            self.assertEqual(
                self.by_allocator(found, "peak", "peak_blocks", "peak_bytes"), {"own_move": (1, 9000), "own_resize": (1, 5000)}
            )
            total = found["memory"][0]
            self.assertEqual((total["allocations"], total["failed"], total["unknown_releases"]), (16, 0, 0))

    def test_headers_belong_to_the_memory(self):
        with tools.folder() as folder:
            rules = Path(folder, "rules")
            rules.write_text(HEADER_RULES)
            found = tables("memory", trace_of(folder, HEADERS, f"--allocators={rules}", "-O1", "-fno-builtin", "-g"))
            allocations = self.by_allocator(found, "allocations", "allocations", "allocated_bytes", "never_released")
            self.assertEqual(allocations, {"own_alloc": (101, 100 * 32 + 1016, 0), "own_resize": (1, 5016, 0)})
            total = found["memory"][0]
            self.assertEqual((total["overlapped_blocks"], total["unknown_releases"], total["failed"]), (0, 0, 0))
            self.assertEqual((total["peak_bytes"], total["peak_blocks"]), (5016, 1))
            # In each block the header is written once, and of a node two members are written and one is read. The block that
            # `realloc` moves is read, and written.
            self.assertEqual(sum(row["accesses"] for row in found["use"]), 100 * 4 + 3 + 2)
            self.assertEqual(total["in_other"], 0)

    def test_operator_new(self):
        with tools.folder() as folder:
            found = tables("memory", trace_of(folder, OWN_NEW, "-O1", "-g", "-fno-inline", name="program.cpp"))
            total = found["memory"][0]
            self.assertEqual((total["allocations"], total["never_released"], total["unknown_releases"]), (21, 1, 0))
            self.assertEqual([(row["type"], row["peak_blocks"]) for row in found["peak_types"]], [("node", 1)])


class Smallest(unittest.TestCase):
    def test_one_access_gives_a_picture(self):
        with tools.folder() as folder:
            trace = trace_of(folder, "static volatile int x; int main(void) { x = 1; return 0; }", "-O1")
            self.assertIn("█", tools.trackway("map", trace).stdout)
            self.assertEqual(tables("map", trace)["map"][0]["shown"], 1)
            self.assertIn("No allocation", tools.trackway("memory", trace).stdout)


class InlinedAllocations(unittest.TestCase):
    """Blocks of a function that was inlined are told apart by where that was."""

    def setUp(self):
        self.folder = tools.folder()
        self.addCleanup(self.folder.cleanup)
        folder = Path(self.folder.name).resolve() / "sources" / "of" / "allocations"
        folder.mkdir(parents=True)
        source = folder / "inlined.c"
        source.write_text(INLINED)
        program = tools.compile_traced(f"{self.folder.name}/program", [source], "-O2", "-g", oracle=False)
        self.trace = f"{self.folder.name}/program.trackway"
        tools.record(self.trace, program)

    def test_each_call_has_its_place(self):
        rows = {row["allocated_bytes"]: row for row in tables("memory", self.trace)["allocations"]}
        self.assertEqual(set(rows), {1000, 2000})
        for row in rows.values():
            self.assertEqual((Path(row["file"]).name, row["line"], row["allocator"]), ("inlined.c", 3, "malloc"))
        self.assertEqual([Path(rows[size]["caller"]).name for size in (1000, 2000)], ["inlined.c:6", "inlined.c:9"])

    def test_a_narrow_window_has_the_places_whole(self):
        lines, status = terminal.run(80, tools.TRACKWAY, "memory", self.trace)
        self.assertEqual(status, 0)
        at = lines.index("Live at the peak by allocation")
        found = "\n".join(lines[at : lines.index("", at)])
        self.assertIn("inlined into", " ".join(found.split()))
        self.assertRegex(found, r"inlined\.c:6\b")
        self.assertRegex(found, r"inlined\.c:9\b")
        self.assertTrue(all(len(line) <= 80 for line in found.split("\n")), found)
