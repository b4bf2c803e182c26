"""Changes that change no access: `check` raises no alarm, and it raises one when the misses of a field rise by 1 %.

Settings are those that docs/how-to/compare-in-ci.md recommends and examples/ci uses. `TRACKWAY_LONG=1` tries a hundred
changes; TRACKWAY_SEED begins with another one.
"""

import os
import random
import shutil
import unittest
from pathlib import Path

from ..support import tools
from ..support.real_programs import copy_of_bzip2, vendored
from ..support.tools import table

CACHES = "L1=32K,8,64:L2=256K,4096,64"
MARGIN, TOP = "0.005", "3"
CHANGES = 102 if os.environ.get("TRACKWAY_LONG") else 9
SEED = int(os.environ.get("TRACKWAY_SEED", "1"))

# ---- A program of ours whose functions can stand in any order ----

POINTS, POINT_BYTES, ROUNDS, LINE = 32768, 32, 10, 64
HEAD = f"""
#include <stdio.h>
#include <stdlib.h>
enum {{ POINTS = {POINTS}, NODES = 20000, BUCKETS = 40000, ROUNDS = {ROUNDS} }};
struct point {{ double x, y, z, w; }};
struct node {{ struct node *next; long value; }};
struct bucket {{ long key, count; }};
extern struct point *points;
extern struct node *nodes;
extern struct bucket buckets[BUCKETS];
double scan(int count);
long chase(int steps);
long fill(int keys);
unsigned random_number(void);
"""
FUNCTIONS = [
    """
struct point *points;
__attribute__((noinline)) double scan(int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += points[i].x;
    return sum;
}
""",
    """
struct node *nodes;
__attribute__((noinline)) long chase(int steps) {
    long sum = 0;
    for (struct node *node = nodes; steps-- > 0; node = node->next)
        sum += node->value;
    return sum;
}
""",
    """
struct bucket buckets[BUCKETS];
__attribute__((noinline)) long fill(int keys) {
    long found = 0;
    while (keys-- > 0) {
        struct bucket *bucket = &buckets[random_number() % BUCKETS];
        found += bucket->count++;
    }
    return found;
}
""",
    """
static unsigned state = 1;
__attribute__((noinline)) unsigned random_number(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}
""",
    """
int main(void) {
    points = calloc(POINTS, sizeof *points);
    nodes = calloc(NODES, sizeof *nodes);
    for (int i = 0; i < NODES; i++)
        nodes[i].next = &nodes[(i + 7919) % NODES];
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        sum += scan(POINTS) + chase(NODES) + fill(20000);
#ifdef MORE_POINTS
    sum += scan(POINTS * ROUNDS / 100);
#endif
    printf("%.0f\\n", sum);
    return 0;
}
""",
]


class Program:
    """Sources that are compiled in a folder; `run` are the words after the program's name."""

    name = ""
    flags = ("-O2", "-g", "-w")
    run = ()

    def sources(self, folder, chance):
        """Writes the sources, changed by chance if that is given; returns those to compile."""
        raise NotImplementedError

    def __init__(self):
        self.objects = {}  # by name and text of their sources

    def build(self, folder, chance=None, flags=()):
        """The program, whose objects are linked in an order by chance. Only changed sources are compiled again, as a build in
        a folder of its own does with a cache of compilers."""
        folder.mkdir(parents=True)
        sources = self.sources(folder, chance)
        if chance:
            for source in chance.sample(sources, min(2, len(sources))):
                change_nothing(source, chance)
            sources = chance.sample(sources, len(sources))
        program = folder / self.name
        objects = []
        for source in sources:
            version = (source.name, source.read_bytes(), tuple(flags))
            if version not in self.objects:
                compiled = source.with_suffix(".o")
                tools.trackway("cc", *self.flags, *flags, "-I", source.parent, "-c", source, "-o", compiled)
                self.objects[version] = compiled.read_bytes()
            objects.append(folder / f"{source.stem}.o")
            objects[-1].write_bytes(self.objects[version])
        tools.trackway("cc", *objects, "-o", program, "-lm")
        return program


def change_nothing(source, chance):
    """Adds comment lines and, at the end, a function and data that nothing uses."""
    number = chance.randrange(10**6)
    unused = f"""
__attribute__((used)) static const char unused_text_{number}[{chance.randrange(1, 300)}] = {{1}};
__attribute__((used)) static char unused_data_{number}[{chance.randrange(1, 300)}] = {{1}};
__attribute__((used)) static int unused_{number}(int x) {{ return x * {number}; }}
"""
    comment = "".join(f"/* Line {line}. */\n" for line in range(chance.randrange(1, 9)))
    text = source.read_text(errors="surrogateescape")
    source.write_text(comment + text + unused, errors="surrogateescape")


class Own(Program):
    name = "own"

    def sources(self, folder, chance):
        functions = chance.sample(FUNCTIONS, len(FUNCTIONS)) if chance else FUNCTIONS
        half = len(functions) // 2
        files = {"first.c": functions[:half], "second.c": functions[half:]}
        for name, parts in files.items():
            (folder / name).write_text(HEAD + "".join(parts))
        return [folder / name for name in files]


class Bzip2(Program):
    name = "compressor"
    run = ("-9", "-k", "-c", "text")
    flags = ("-O2", "-g", "-w", "-D_FILE_OFFSET_BITS=64")

    def sources(self, folder, chance):
        del chance
        source = Path(copy_of_bzip2(folder))
        # What is compressed is the same in all versions: the library's own source.
        (folder / "text").write_bytes((source / "decompress.c").read_bytes() + (source / "blocksort.c").read_bytes())
        names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib", "bzip2")
        return [source / f"{name}.c" for name in names]


class Lua(Program):
    name = "lua"
    run = ("load.lua", "1500")
    # Without a seed of its own, Lua takes one from the time and from addresses: its hash tables differ from run to run, and so
    # do its accesses.
    flags = ("-O2", "-g", "-w", "-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=1234")

    def sources(self, folder, chance):
        del chance
        drivers = tools.ROOT / "bench" / "real_programs"
        shutil.copy(drivers / "load.lua", folder)
        source = Path(shutil.copytree(next(vendored("lua-src").glob("lua-5.4.*")), folder / "source"))
        shutil.copy(drivers / "lua.c", source)
        return sorted(source.glob("*.c"))


def record(program, words, chance=None):
    """A trace; by chance with an environment and a name of another length, and without randomised addresses."""
    trace = program.with_suffix(".trackway")
    environment = dict(os.environ)
    command = [program, *words]
    if chance:
        environment["PADDING"] = "x" * chance.randrange(5000)
        if chance.random() < 0.3:
            command = ["setarch", "-R", *command]
    tools.trackway("record", "-f", "-q", "-o", trace, "--", *command, cwd=program.parent, env=environment)
    return trace


def misses(trace, field):
    report = tools.report(trace, "--cache", CACHES, "--by", "field", "--top", "0")
    return sum(row["l2_misses"] for row in table(report, "fields")["rows"] if row["field"] == field)


class FalseAlarms(unittest.TestCase):
    def budget(self, program, folder):
        """Budgets of the unchanged program."""
        trace = record(program.build(Path(folder, "base")), program.run)
        path = Path(folder, "budget.toml")
        options = ("--cache", CACHES, "--margin", MARGIN, "--top", TOP)
        tools.trackway("check", "--write-budget", path, *options, trace)
        return trace, path

    def alarms(self, program, changes):
        with tools.folder() as folder:
            _, budget = self.budget(program, folder)
            for number in range(changes):
                chance = random.Random(f"{SEED} {program.name} {number}")
                place = Path(folder, "b" * chance.randrange(1, 60))
                trace = record(program.build(place, chance), program.run, chance)
                done = tools.trackway("check", "--budget", budget, trace, check=False)
                if done.returncode != 0:
                    yield f"change {number}: status {done.returncode}\n{done.stdout}{done.stderr}"
                shutil.rmtree(place)

    def test_no_alarm_of_changes_in_a_program_of_ours(self):
        self.assertEqual(list(self.alarms(Own(), CHANGES // 3)), [])

    def test_no_alarm_of_changes_in_bzip2(self):
        self.assertEqual(list(self.alarms(Bzip2(), CHANGES // 3)), [])

    def test_no_alarm_of_changes_in_lua(self):
        self.assertEqual(list(self.alarms(Lua(), CHANGES // 3)), [])

    def test_an_alarm_when_misses_of_a_field_rise_by_one_percent(self):
        """The points are 1 MiB, of which a cache of 256 KiB holds nothing from one scan to the next."""
        program = Own()
        with tools.folder() as folder:
            base, budget = self.budget(program, folder)
            lines = POINTS * POINT_BYTES // LINE
            was = misses(base, "point.x")
            self.assertAlmostEqual(was, lines * ROUNDS, delta=2 * ROUNDS)
            for seed in range(3):
                chance = random.Random(seed)
                more = record(program.build(Path(folder, f"more{seed}"), chance, ["-DMORE_POINTS"]), program.run, chance)
                self.assertAlmostEqual(misses(more, "point.x") - was, lines * ROUNDS / 100, delta=2 * ROUNDS)
                done = tools.trackway("check", "--github", "--budget", budget, more, check=False)
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("point.x", done.stdout.split("::error", 1)[1])
