"""Patches of `trackway fix`: they apply, compile without a warning, and the patched program does the same, under the
sanitizers of addresses, leaks and undefined behaviour. What can't be done by a machine is refused at the right line."""

import unittest

from ..support import real_programs, tools
from .test_time import MACHINE

NOTHING_MADE = 1
# How programs of one file are built and run, and what is copied.
PROVED = ("$CC -O2 -g a.c -o prog", "./prog", "--source", ".")

# Objects in one block that main allocates once, with fields that are declared together, comments, and pointers that walk.
ONE_BLOCK = """
#include <stdio.h>
#include <stdlib.h>
// What people are.
struct person {
    int age; // in years
    // Both are rare.
    char *name, initials[4];
    struct person *boss;
    long salary, bonus;
};
static long pay(const struct person *p) { return p->salary + (*p).bonus; }
static int count(int argc) { return 100 + argc; }
/* Runs. */
int main(int argc, char **argv) {
    int n = count(argc);
    struct person *people = malloc(n * sizeof *people);
    for (struct person *p = people; p < people + n; p++) {
        p->age = (int)(p - people) % 90;
        p->boss = &people[p->age / 2];
        p->name = argv[0];
        p->initials[0] = 'A' + p->age % 26;
        p->initials[1] = 0;
        p->salary = p->boss->age * 3;
        p->bonus = 1;
    }
    people[3] = people[7];
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += people[i].age + pay(&people[i]) + people[i].boss->boss->initials[0] + people[i].boss->salary;
    struct person **inside = &people[5].boss->initials[0] == 0 ? 0 : &people[5].boss;
    printf("%ld %d %s\\n", sum, (*inside)->age, people[3].initials);
    free(people);
    return 0;
}
"""

# Objects that come and go one by one, in two files, by allocators of the program's own.
NODE_H = """
#ifndef NODE_H
#define NODE_H
#include <stddef.h>
typedef struct node {
    struct node *next;
    int key;
    char payload[100];
    double weight;
} node;
void *must_allocate(size_t bytes);
void *zeroed(size_t number, size_t size);
void free_block(void *block);
node *push(node *head, int key);
#endif
"""
NODE_C = """
#include "node.h"
#include <stdlib.h>
#include <string.h>
void *must_allocate(size_t bytes) {
    void *block = malloc(bytes);
    if (!block)
        abort();
    return block;
}
void *zeroed(size_t number, size_t size) { return calloc(number, size); }
void free_block(void *block) { free(block); }
node *push(node *head, int key) {
    node *new = must_allocate(sizeof(node));
    new->next = head;
    new->key = key;
    memset(new->payload, key, sizeof new->payload);
    new->weight = key / 2.0;
    return new;
}
"""
LIST_C = """
#include "node.h"
#include <stdio.h>
int main(void) {
    node *head = NULL, *row = zeroed(10, sizeof(node));
    for (int i = 0; i < 200; i++)
        head = push(head, i);
    row[4] = *head;
    row[5].weight += 1;
    double sum = row[4].weight + row[5].weight + row[6].payload[0];
    for (node *at = head; at; at = at->next)
        sum += at->key + at->payload[3] + at->weight;
    while (head) {
        node *next = head->next;
        free_block(head);
        head = next;
    }
    free_block(row);
    printf("%g\\n", sum);
    return 0;
}
"""

# `main` allocates objects in a loop, by an initialiser, and blocks of no objects.
LOOP = """
#include <stdio.h>
#include <stdlib.h>
struct node { int key; struct node *next; int (*compare)(struct node *); char name[48]; };
static int named(struct node *n) { return n->name[0]; }
int main(void) {
    struct node *head = NULL;
    for (int i = 0; i < 100; i++) {
        struct node *n = malloc(sizeof *n);
        n->key = i;
        n->next = head;
        n->name[0] = (char)i;
        n->compare = named;
        head = n;
        struct node *none = calloc(i % 2, sizeof *none);
        free(none);
    }
    long sum = 0;
    while (head) {
        struct node *next = head->next;
        sum += head->key + head->compare(head);
        free(head);
        head = next;
    }
    printf("%ld\\n", sum);
    return 0;
}
"""

ARRAY = """
#include <stdio.h>
struct entry { int hot; char cold[60]; };
static struct entry table[1 << 8];
static int used(const struct entry *e) { return e->cold[1] + e->hot; }
int main(void) {
    int sum = 0;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        table[i].hot = i;
        table[i].cold[1] = i % 7;
    }
    for (int i = 0; i < 256; i++)
        sum += used(table + i);
    printf("%d\\n", sum);
    return 0;
}
"""

POSITIONS = """
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
typedef struct {
    char flag;   // one byte
    double value;
    /* the small ones */
    char kind, sort;
    struct { int a, b; } pair;
    int *link;
} item;
static item first = {'x', 2.5, 1, 2, {3, 4}, NULL}, none = {0};
static item table[] = {{'a', 1.0, 5}, {'b', 2.0, 6, 7}};
int main(void) {
    item copy = first, many[3] = {{'q'}, {.value = 3}};
    memcpy(&many[2], &first, sizeof(item));
    memset(&none, 0, sizeof none);
    item made = (item){'z', 9.0, 8, 7, {6, 5}, &copy.pair.b};
    printf("%c %g %d %d %d %d\\n", copy.flag, copy.value, copy.kind, copy.sort, copy.pair.a, *made.link);
    printf("%c %g %c %g %d %d\\n", many[0].flag, many[1].value, table[1].flag, many[2].value, table[1].sort, none.kind);
    return 0;
}
"""

# Allocators that aren't those of the C library: one by a pointer, and one that takes more than a size.
POOLED = """
#include <stdio.h>
#include <stdlib.h>
struct pool { size_t used; void *(*get)(void *pool, size_t number, size_t bytes); };
#define GET(p, bytes) (p)->get((p), 1, (bytes))
struct item { char flag; double value; char kind; int link; };
static void *got(void *pool, size_t number, size_t bytes) { ((struct pool *)pool)->used += bytes; return calloc(number, bytes); }
static void put(void *pool, void *block) { ((struct pool *)pool)->used--; free(block); }
static void *sized(size_t bytes, struct pool *pool) { return pool->get(pool, 1, bytes); }
int main(void) {
    struct pool pool = {0, got};
    struct item *one = GET(&pool, sizeof(struct item));
    struct item *other = (struct item *)sized(sizeof *other, &pool);
    one->value = 2.5, one->flag = 'f', one->link = 7;
    *other = *one;
    other->kind = 'k';
    printf("%c %g %c %d\\n", other->flag, other->value, other->kind, other->link);
    put(&pool, one), put(&pool, other);
    return 0;
}
"""

COUNTERS = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct counter { long hits, misses; };
static struct counter *counters;
static void *work(void *argument) {
    struct counter *own = &counters[(long)argument];
    for (int i = 0; i < 1000; i++)
        *(i % 3 ? &own->hits : &own->misses) += 1;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    counters = malloc(2 * sizeof *counters);
    for (long i = 0; i < 2; i++) {
        counters[i] = (struct counter){0, 0};
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\\n", counters[0].hits, counters[1].misses);
    free(counters);
    return 0;
}
"""

CLASSES = """
#include <cstdio>
#include <cstdlib>
namespace game {
struct unit { float x, y; char name[48]; int health; };
}
using game::unit;
static int total(const unit &u) { return u.health + u.name[0]; }
int main() {
    unit *units = static_cast<unit *>(std::malloc(50 * sizeof(unit)));
    for (int i = 0; i < 50; i++) {
        units[i].x = units[i].y = float(i);
        units[i].name[0] = char('a' + i % 26);
        units[i].health = i;
    }
    int sum = 0;
    for (int i = 0; i < 50; i++)
        sum += total(units[i]) + int(units[i].x);
    std::printf("%d\\n", sum);
    std::free(units);
}
"""

# What a statement or declaration makes of a structure `thing`, the reason, and the change that it forbids.
BEFORE = """
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct thing { char small; int hot; char cold[40]; };
struct other { char small; int hot; };
static char buffer[100];
static int i_of(int i) { return i + buffer[0]; }
static void hook(void *any, size_t bytes) { memset(buffer, (int)bytes, any != NULL); }
#define COLD(t) ((t)->cold[0])
struct holder { int number; struct thing inner; };
union either { long bits; double value; };
"""
AFTER = """
int main(void) {
    struct thing *things = malloc(10 * sizeof *things);
    memset(buffer, 0, sizeof buffer);
    for (int i = 0; i < 10; i++)
        things[i].small = things[i].cold[0] = (char)(things[i].hot = i);
    %s
    printf("%%d\\n", things[3].hot + things[4].cold[0]);
    free(things);
    return 0;
}
"""
SPLIT, REORDER, ALIGN = "--split=thing:hot", "--reorder=thing:hot", "--align=thing:64"
REFUSED = [
    ("fwrite(things, sizeof *things, 0, stdout);", "passed to fwrite", (SPLIT, REORDER, ALIGN)),
    ("if (write(-1, things, sizeof *things) > 0) return 2;", "passed to write", (SPLIT, REORDER)),
    ("hook(things, sizeof *things);", "passed to hook", (SPLIT, REORDER)),
    ("memcpy(buffer, things, sizeof *things);", "passed to memcpy", (SPLIT, REORDER)),
    ("memcpy(things, things + 1, sizeof *things);", "passed to memcpy", (SPLIT,)),
    ('printf("%d\\n", ((struct other *)things)->hot);', "cast to or from struct other *", (SPLIT, REORDER)),
    ("buffer[0] += ((char *)&things[1])[4];", "cast to or from char *", (SPLIT, REORDER)),
    ("struct thing local = things[1]; buffer[0] = local.cold[0];", "local", (SPLIT,)),
    ("COLD(&things[2]) = 3;", "a macro uses cold", (SPLIT,)),
    ("buffer[0] = (char)offsetof(struct thing, cold);", "the place of a field", (SPLIT,)),
    ("buffer[0] = (char)sizeof(struct thing);", "the size is asked for", (SPLIT,)),
    ("struct holder h = {1, {0}}; buffer[1] = h.inner.small;", "another structure holds", (SPLIT, ALIGN)),
    ("struct thing *one = i_of(3) ? malloc(sizeof *one) : NULL; if (one) one->hot = 1; free(one);", "size", (SPLIT, ALIGN)),
    ("void *any = malloc(sizeof(struct thing)); struct thing *it = any; it->hot = 2; free(it);", "size", (SPLIT, ALIGN)),
    (
        "struct thing *more_bytes = malloc(sizeof *things + 16); more_bytes->hot = 1; free(more_bytes);",
        "other sizes than multiples",
        (SPLIT, ALIGN, "--pad=thing:8"),
    ),
    ("void *kept = things; buffer[3] = kept != NULL;", "cast to or from void *", (SPLIT,)),
    ("char *start = &things[2].small; buffer[4] = *start;", "the address of its first field", (REORDER, SPLIT)),
    (
        "static struct thing row[2] = {1, 2, {3}, 4, 5, {6}}; buffer[5] = row[1].small;",
        "leaves out inner braces",
        (REORDER, "--pad=thing:8"),
    ),
    ("struct thing *more = realloc(things, 20 * sizeof *things); things = more;", "realloc", (SPLIT, ALIGN)),
    ("struct thing *raw = malloc(96); raw->hot = 1; buffer[2] = (char)raw->hot; free(raw);", "other sizes than multiples", (SPLIT, ALIGN)),
]


# Most of the time goes by with lines of which an eighth is used: whatever else runs, the split program is far quicker.
SCAN = """
#include <stdint.h>
#include <stdio.h>
enum { COUNT = 1 << 20, ROUNDS = 20 };
struct arc {
    int64_t cost, rest[7];
};
static struct arc arcs[COUNT];
int main(void) {
    uint64_t sum = 0;
    for (int i = 0; i < COUNT; i++) {
        arcs[i].cost = i;
        arcs[i].rest[0] = i;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            if (arcs[i].cost % 3 == round % 3)
                sum += arcs[i].cost;
    for (int i = 0; i < COUNT; i += 4096)
        sum += arcs[i].rest[0];
    printf("%llu\\n", (unsigned long long)sum);
    return 0;
}
"""


class Fixed:
    """Sources in a folder, their program recorded, and a patch of them."""

    def __init__(self, folder, sources, *options, compiler="cc", machine=MACHINE):
        self.folder, self.compiler = folder, compiler
        for name, text in sources.items():
            (folder / name).write_text(text)
        self.units = [name for name in sources if not name.endswith(".h")]
        # As a build system calls the compiler, so that paths are relative.
        flags = ["-O1", "-g", "-pthread", *self.units, "-o", "prog"]
        tools.trackway(compiler, *flags, cwd=folder)
        tools.trackway("record", "-q", "-o", folder / "prog.trackway", "--", folder / "prog")
        (folder / "machine.toml").write_text(machine)
        self.done = tools.trackway("fix", "-q", "--machine", "machine.toml", *options, folder / "prog.trackway", check=False, cwd=folder)

    def build(self, name):
        clang = {"cc": "clang-22", "c++": "clang++-22"}[self.compiler]
        warnings = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
        sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        tools.run(clang, "-O1", "-g", *warnings, *sanitizers, "-pthread", *self.units, "-o", name, cwd=self.folder)
        return tools.run(self.folder / name, cwd=self.folder).stdout

    def apply(self):
        (self.folder / "fix.patch").write_text(self.done.stdout)
        tools.run("git", "apply", "fix.patch", cwd=self.folder)


class Fixing(unittest.TestCase):
    """Patches of sources."""

    def fix(self, sources, *options, **settings):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        return Fixed(tools.Path(folder.name), sources, *options, **settings)

    def assert_does_the_same(self, fixed):
        self.assertEqual(fixed.done.returncode, 0, fixed.done.stderr)
        before = fixed.build("before")
        fixed.apply()
        self.assertEqual(fixed.build("after"), before)


class Fix(Fixing):
    def text(self, fixed, name):
        return (fixed.folder / name).read_text()

    def test_a_block_is_split_by_index(self):
        fixed = self.fix({"a.c": ONE_BLOCK}, "--split=person:age,boss")
        self.assert_does_the_same(fixed)
        text = self.text(fixed, "a.c")
        self.assertIn("--link index", fixed.done.stderr)
        stays = text[text.index("struct person {") :]
        self.assertNotIn("salary", stays[: stays.index("}")])
        self.assertIn("// in years", stays[: stays.index("}")])
        moved = text[text.index("struct person_rest {") : text.index("// What people are.")]
        for line in ("// Both are rare.\n    char *name, initials[4];", "long salary, bonus;"):
            self.assertIn(line, moved)

    def test_nodes_are_split_by_pointers(self):
        fixed = self.fix({"node.h": NODE_H, "node.c": NODE_C, "list.c": LIST_C}, "--split=node:next,key")
        self.assert_does_the_same(fixed)
        self.assertIn("struct node_rest *rest;", self.text(fixed, "node.h"))

    def test_a_global_array_gets_another_beside_it(self):
        fixed = self.fix({"a.c": ARRAY}, "--split=entry:hot")
        self.assert_does_the_same(fixed)
        self.assertIn("static struct entry_rest entry_rest_array[1 << 8];", self.text(fixed, "a.c"))

    def test_structures_of_cxx_are_split(self):
        fixed = self.fix({"a.cpp": CLASSES}, "--split=game::unit:x,y", compiler="c++")
        self.assert_does_the_same(fixed)

    def test_fields_change_places_and_initialisers_get_names(self):
        fixed = self.fix({"a.c": POSITIONS}, "--reorder=item:pair,link,value")
        self.assert_does_the_same(fixed)
        text = self.text(fixed, "a.c")
        body = text[text.index("typedef struct {") : text.index("} item;")]
        order = [body.index(name) for name in ("pair;", "*link;", "value;", "flag;", "kind", "sort")]
        self.assertEqual(order, sorted(order))
        self.assertIn("char flag;   // one byte", body)

    def test_fields_change_places_in_objects_of_any_allocator(self):
        fixed = self.fix({"a.c": POOLED}, "--reorder=item:value,link")
        self.assert_does_the_same(fixed)
        body = self.text(fixed, "a.c").split("struct item {")[1].split("}")[0]
        self.assertEqual([word.strip(";") for word in body.split()[1::2]], ["value", "link", "flag", "kind"])
        aligned = self.fix({"a.c": POOLED}, "--align=item:64").done
        self.assertEqual((aligned.returncode, aligned.stdout), (NOTHING_MADE, ""))
        self.assertIn("objects are allocated by a function that a pointer names", aligned.stderr)
        self.assertIn("objects are allocated by sized", aligned.stderr)

    def test_objects_get_lines_of_their_own(self):
        fixed = self.fix({"a.c": COUNTERS}, "--align=counter:64")
        self.assert_does_the_same(fixed)
        self.assertIn("aligned_alloc(64, ", self.text(fixed, "a.c"))

    def test_objects_and_fields_are_padded(self):
        for option in ("--pad=counter:48", "--pad=counter.hits"):
            with self.subTest(option):
                self.assert_does_the_same(self.fix({"a.c": COUNTERS}, option))

    def test_what_a_machine_cannot_do_is_refused_at_its_line(self):
        for statement, reason, changes in REFUSED:
            source = BEFORE + AFTER % statement
            line = source[: source.index(statement)].count("\n") + 1
            elsewhere = {"holder": "struct holder", "start": "struct thing {"}
            for word, place in elsewhere.items():
                if word in statement:
                    line = source[: source.index(place)].count("\n") + 1
            for change in changes:
                with self.subTest(statement, change=change):
                    fixed = self.fix({"a.c": source}, change)
                    self.assertEqual(fixed.done.returncode, NOTHING_MADE, fixed.done.stdout + fixed.done.stderr)
                    self.assertEqual(fixed.done.stdout, "")
                    reasons = [text for text in fixed.done.stderr.splitlines() if f"a.c:{line}:" in text]
                    self.assertTrue(any(reason in text for text in reasons), fixed.done.stderr)

    def test_an_object_for_each_turn_of_a_loop_has_a_rest_of_its_own(self):
        fixed = self.fix({"a.c": LOOP}, "--split=node:key,next")
        self.assert_does_the_same(fixed)
        self.assertIn("node_rest *rest;", self.text(fixed, "a.c"))

    def test_large_blocks_ask_for_huge_pages(self):
        source = (tools.ROOT / "bench" / "pairs" / "huge_pages.c").read_text().replace("MADV_NOHUGEPAGE", "MADV_NORMAL")
        source = source.replace("LOOKUPS = 5000000", "LOOKUPS = 500000").replace("print_sum(sum);", "print_sum(sum), free(table);")
        pair = (tools.ROOT / "bench" / "pairs" / "pair.h").read_text()
        pages = MACHINE.replace("walk_ns = 0.0", "walk_ns = 300.0")
        fixed = self.fix({"a.c": source, "pair.h": pair}, machine=pages)
        self.assert_does_the_same(fixed)
        self.assertIn("card 1, huge pages", fixed.done.stderr)
        self.assertIn("huge_aligned_alloc(1 << 21, BYTES)", self.text(fixed, "a.c"))

    def test_public_headers_stay(self):
        sources = {"node.h": NODE_H, "node.c": NODE_C, "list.c": LIST_C}
        fixed = self.fix(sources, "--split=node:next,key", "--public", "node.h")
        self.assertEqual(fixed.done.returncode, NOTHING_MADE, fixed.done.stderr)
        self.assertIn("public header", fixed.done.stderr)

    def test_a_program_that_does_not_say_how_it_was_compiled(self):
        with tools.folder() as name:
            folder = tools.Path(name)
            (folder / "a.c").write_text(ARRAY)
            tools.trackway("cc", "-O1", "-gno-record-command-line", "a.c", "-o", "prog", cwd=folder)
            tools.trackway("record", "-q", "-o", "t", "--", "./prog", cwd=folder)
            (folder / "machine.toml").write_text(MACHINE)
            words = ["fix", "-q", "--machine", "machine.toml", "--split=entry:hot", "t"]
            done = tools.trackway(*words, check=False, cwd=folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("compile_commands.json", done.stderr)
            entry = f'[{{"directory": "{folder}", "command": "gcc -O1 -c a.c -o a.o", "file": "a.c"}}]'
            (folder / "compile_commands.json").write_text(entry)
            done = tools.trackway(*words, "-p", ".", cwd=folder)
            self.assertIn("entry_rest_array", done.stdout)

    def prove(self, source, change, *options):
        return self.fix({"a.c": source}, change, "--prove", *PROVED, *options).done

    def test_a_proof_measures_what_was_predicted(self):
        fixed = self.fix({"a.c": SCAN}, "--split=arc:cost", "--prove", *PROVED)
        self.assertEqual(fixed.done.returncode, 0, fixed.done.stderr)
        words = next(line for line in fixed.done.stderr.splitlines() if "misses:" in line).replace(",", "").split()
        before, predicted, after = (int(words[words.index(name) - 1]) for name in ("before", "predicted", "after"))
        self.assertLess(after, 0.5 * before)
        self.assertAlmostEqual(predicted / after, 1, delta=0.01)
        self.assertIn("+struct arc_rest {", fixed.done.stdout)

    def test_what_does_not_gain_or_does_something_else_is_not_kept(self):
        slower = self.prove(ARRAY, "--split=entry:hot")
        self.assertEqual((slower.returncode, slower.stdout), (NOTHING_MADE, ""))
        self.assertIn("of the time, so the patch isn't kept", slower.stderr)
        telling = POSITIONS.replace("return 0;", "return (char *)&first.value - &first.kind == -8 ? 0 : 5;")
        other = self.prove(telling, "--reorder=item:value")
        self.assertEqual((other.returncode, other.stdout), (NOTHING_MADE, ""))
        self.assertIn("does something else", other.stderr)
        failing = self.prove(COUNTERS, "--align=counter:64", "--test", "! grep -q aligned_alloc a.c")
        self.assertEqual((failing.returncode, failing.stdout), (NOTHING_MADE, ""))
        self.assertIn("the patch isn't kept", failing.stderr)

    def test_a_patched_bzip2_compresses_as_before(self):
        with tools.folder() as name:
            source = real_programs.make_bzip2(name, tools.TRACKWAY.with_name("trackway-cc"), "-O1")
            # Patches name files from the repository's folder.
            tools.run("git", "init", "-q", cwd=source)
            (source / "machine.toml").write_text(MACHINE)
            (source / "small").write_bytes((source / "sample1.ref").read_bytes()[:20_000])
            compressed = source / "small.bz2"
            tools.trackway("record", "-q", "-o", "trace", "--", "./bzip2", "-k", "small", cwd=source)
            before = compressed.read_bytes()
            words = ("--machine", "machine.toml", "--reorder=bz_stream:avail_in,next_in,opaque", "-o", "fix.patch", "trace")
            tools.trackway("fix", "-q", *words, cwd=source)
            tools.run("git", "apply", "fix.patch", cwd=source)
            body = (source / "bzlib.h").read_text().split("struct {")[1]
            self.assertLess(body.index("avail_in;"), body.index("next_in;"))
            self.assertLess(body.index("opaque;"), body.index("total_in_lo32;"))
            tools.run("make", "-s", "-B", "bzip2", "CC=clang-22", "CFLAGS=-O1 -w", cwd=source)
            tools.run("./bzip2", "-k", "-f", "small", cwd=source)
            self.assertEqual(compressed.read_bytes(), before)
            tools.run("./bzip2", "-t", compressed, cwd=source)
