"""Prefetches of `trackway fix`: what a loop looks up is asked for ahead where that is safe, and refused elsewhere. Patched programs
compile without a warning, and do the same under the sanitizers of addresses and undefined behaviour."""

import json
import unittest
from textwrap import indent

from ..support import tools
from .test_advise import CACHES, MACHINE
from .test_fix import NOTHING_MADE, Fixed

# Indices fill their block to the last byte, so that a sanitizer sees what is read past it. %s: more functions.
SOURCE = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 5000 };
struct entry { int key, flags : 3; struct entry *next; int values[4]; };
static struct entry *table;
static struct entry **pointers;
static unsigned *indices;
static uint64_t *keys;
static struct { unsigned *inner; int length; } held;
__attribute__((unused)) static unsigned hash(uint64_t key) { return (unsigned)(key * 2654435761u) %% N; }
__attribute__((unused)) static unsigned counted(unsigned i) { static unsigned calls; return (calls++ + i) %% N; }
static long sum;
%s
int main(void) {
    table = malloc(N * sizeof *table);
    pointers = malloc(N * sizeof *pointers);
    indices = malloc(N * sizeof *indices);
    keys = malloc(N * sizeof *keys);
    memset(table, 0, N * sizeof *table);
    for (int i = 0; i < N; i++) {
        indices[i] = (unsigned)i * 37 %% N;
        keys[i] = (uint64_t)i * 977;
        table[i].key = i;
        table[i].next = &table[(i + 1) %% N];
        table[i].values[2] = i;
        pointers[i] = &table[i * 41 %% N];
    }
    held.inner = indices;
    held.length = N;
    run(N);
    printf("%%ld\\n", sum);
    free(table), free(pointers), free(indices), free(keys);
    return 0;
}
"""
# What `run` does, and what is asked for. The line of HERE is the look-up's.
MADE = {
    "subscript": (
        """
for (int i = 0; i < n; i++) {
    sum += table[indices[i]].key; // HERE
}
""",
        "    if (n - i > 16)\n",
        "__builtin_prefetch(&table[indices[i + 16]].key);",
    ),
    "without braces": (
        """
for (int i = 0; i < n; i++)
    sum += table[indices[i]].key; // HERE
""",
        "i++) {\n        if (n - i > 16)",
        "&table[indices[i + 16]].key",
    ),
    "in one line": (
        """
for (int i = 0; i < n; i++) sum += table[indices[i]].key; // HERE
""",
        "{\n",
        "&table[indices[i + 16]].key",
    ),
    "after a comment": (
        """
for (int i = 0; i < n; i++) // all of them
    sum += table[indices[i]].key; // HERE
""",
        "{\n",
        "&table[indices[i + 16]].key",
    ),
    "a local": (
        """
for (int i = 0; i < n; ++i) {
    unsigned at = indices[i];
    if (at > 3)
        sum += table[at].values[2]; // HERE
}
""",
        "n - i > 16",
        "&table[indices[i + 16]].values[2]",
    ),
    "a pointer": (
        """
for (unsigned i = 0; i <= n - 1u; i++) {
    struct entry *e = &table[indices[i]];
    sum += e->key; // HERE
}
""",
        "(n - 1u) - i >= 16",
        "&(&table[indices[i + 16]])->key",
    ),
    "an array of pointers": (
        """
for (int i = 0; i < n; i++) {
    sum += pointers[i]->key; // HERE
}
""",
        "n - i > 16",
        "&pointers[i + 16]->key",
    ),
    "a hash": (
        """
for (int i = 0; i < n; i++) {
    sum += table[hash(keys[i])].key; // HERE
}
""",
        "n - i > 16",
        "&table[hash(keys[i + 16])].key",
    ),
    "a narrow local": (
        """
for (int i = 0; i < n; i++) {
    uint8_t low = keys[i];
    sum += table[low].key; // HERE
}
""",
        "n - i > 16",
        "&table[((uint8_t)keys[i + 16])].key",
    ),
    "bits": (
        """
for (int i = 0; i < n; i++) {
    sum += table[indices[i]].flags; // HERE
}
""",
        "n - i > 16",
        "&table[indices[i + 16]])",
    ),
    "a store": (
        """
for (int i = 0; i < n; i++) {
    table[indices[i]].values[1] += i; // HERE
}
sum = table[9].values[1];
""",
        "n - i > 16",
        "&table[indices[i + 16]].values[1]",
    ),
    "an inner loop": (
        """
for (int k = 0; k < 3; k++) {
    for (int i = 0; i < held.length; i++) {
        sum += table[held.inner[i]].key; // HERE
    }
}
""",
        "held.length - i > 16",
        "&table[held.inner[i + 16]].key",
    ),
    "an expression": (
        """
for (int i = 0; i < n / 2; i++) {
    sum += table[indices[2 * i + 1]].key; // HERE
}
""",
        "(n / 2) - i > 16",
        "&table[indices[2 * (i + 16) + 1]].key",
    ),
    "a condition": (
        """
for (int i = 0; i < n; i++)
    if (table[indices[i]].key > 5) // HERE
        sum++;
    else
        sum--;
""",
        "n - i > 16",
        "&table[indices[i + 16]].key",
    ),
    "a short index": (
        """
for (unsigned char i = 0; i < 200; i++) {
    sum += table[indices[i]].key; // HERE
}
""",
        "200 - i > 16",
        "&table[indices[i + 16]].key",
    ),
}
REFUSED = {
    "a break": (
        """
for (int i = 0; i < n; i++) {
    if (indices[i] == 7)
        break;
    sum += table[indices[i]].key; // HERE
}
""",
        "may end before its bound",
    ),
    "a return": (
        """
for (int i = 0; i < n; i++) {
    sum += table[indices[i]].key; // HERE
    if (sum > 100)
        return;
}
""",
        "may end before its bound",
    ),
    "a continue": (
        """
for (int i = 0; i < n; i++) {
    if (i > 4990)
        continue;
    sum += table[indices[i]].key; // HERE
}
""",
        "cut short",
    ),
    "read now and then": (
        """
for (int i = 0; i < 2 * n; i++) {
    if (i < n)
        sum += table[indices[i]].key; // HERE
}
""",
        "it isn't sure that indices[i] is read",
    ),
    "after an and": (
        """
for (int i = 0; i < 2 * n; i++) {
    sum += i < n && table[indices[i]].key; // HERE
}
""",
        "it isn't sure",
    ),
    "in a choice": (
        """
for (int i = 0; i < 2 * n; i++) {
    sum += i < n ? table[indices[i]].key : 1; // HERE
}
""",
        "it isn't sure",
    ),
    "an inner loop that may not run": (
        """
for (int i = 0; i < 2 * n; i++) {
    for (int k = i; k < n && k < i + 1; k += 9)
        sum += table[indices[i]].key; // HERE
}
""",
        "it isn't sure",
    ),
    "the variable changes": (
        """
for (int i = 0; i < n; i++) {
    sum += table[indices[i]].key; // HERE
    i += 1;
}
""",
        "own variable changes",
    ),
    "the variable's address": (
        """
for (int i = 0; i < n; i++) {
    int *at = &i;
    sum += table[indices[i]].key; // HERE
    *at += 1;
}
""",
        "own variable changes",
    ),
    "the array moves": (
        """
unsigned *at = indices;
for (int i = 0; i < n / 2; i++) {
    sum += table[at[i]].key; // HERE
    at++;
}
""",
        "at changes in the loop",
    ),
    "the array of a structure moves": (
        """
for (int i = 0; i < n / 2; i++) {
    sum += table[held.inner[i]].key; // HERE
    held.inner++;
}
""",
        "held changes in the loop",
    ),
    "the array moves by a pointer": (
        """
unsigned *at = indices, **moves = &at;
for (int i = 0; i < n / 2; i++) {
    sum += table[at[i]].key; // HERE
    *moves += 1;
}
""",
        "at changes in the loop",
    ),
    "a global array moves by a pointer": (
        """
unsigned **moves = &indices;
for (int i = 0; i < n / 2; i++) {
    sum += table[indices[i]].key; // HERE
    *moves += i == 7;
}
indices--;
""",
        "indices changes in the loop",
    ),
    "a call with an effect": (
        """
for (int i = 0; i < n; i++) {
    sum += table[indices[i]].key; // HERE
    sum += counted(i);
}
""",
        "calls counted",
    ),
    "a place with an effect": (
        """
for (int i = 0; i < n; i++) {
    sum += table[counted(indices[i])].key; // HERE
}
""",
        "calls counted",
    ),
    "memory that is freed": (
        """
unsigned *own = malloc(n * sizeof *own);
memcpy(own, indices, n * sizeof *own);
for (int i = 0; i < n; i++) {
    sum += table[own[i]].key; // HERE
    if (i == n - 1)
        free(own);
}
""",
        "calls free",
    ),
    "two look-ups": (
        """
for (int i = 0; i < n; i++) {
    sum += table[indices[indices[i]]].key; // HERE
}
""",
        "needs another look-up",
    ),
    "a walk": (
        """
struct entry *e = table;
for (int i = 0; i < n; i++) {
    sum += e->key; // HERE
    e = e->next;
}
""",
        "no loop",
    ),
    "a stride": (
        """
for (int i = 0; i < n; i++) {
    sum += table[i].key; // HERE
}
""",
        "no loop",
    ),
    "another loop": (
        """
int i = n;
while (i-- > 0) {
    sum += table[indices[i]].key; // HERE
}
""",
        "no loop",
    ),
    "a loop down": (
        """
for (int i = n - 1; i >= 0; i--) {
    sum += table[indices[i]].key; // HERE
}
""",
        "no loop",
    ),
    "a pointer to a function": (
        """
unsigned (*f)(unsigned) = counted;
for (int i = 0; i < n; i++) {
    sum += table[indices[i]].key + f(2); // HERE
}
""",
        "calls by a pointer",
    ),
    "volatile": (
        """
volatile unsigned *seen = indices;
for (int i = 0; i < n; i++) {
    sum += table[seen[i]].key; // HERE
}
""",
        "volatile",
    ),
    "a macro": (
        """
#define LOOK(i) table[indices[i]].key
for (int i = 0; i < n; i++) {
    sum += LOOK(i); // HERE
}
""",
        "macro",
    ),
}
GUESSED = """
for (int i = 0; i < n; i++) {
    struct entry *e = &table[hash(keys[i])];
    if (e->key & 4) // HERE
        sum += e->values[2] * (sum % 7 + 3);
    else if (sum & 64)
        sum ^= indices[i] * 3;
}
"""
CXX = """
#include <cstdio>
#include <memory>
#include <vector>
struct node { long value; long other[7]; };
static long run(const std::vector<node> &nodes, const std::vector<unsigned> &at) {
    long sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto &found = nodes[at[i]];
        sum += found.value; // HERE
    }
    return sum;
}
int main() {
    std::vector<node> nodes(5000);
    std::vector<unsigned> at;
    for (unsigned i = 0; i < nodes.size(); i++) {
        nodes[i].value = i;
        at.push_back(i * 37 % 5000);
    }
    at.shrink_to_fit();
    std::printf("%ld\\n", run(nodes, at));
}
"""


def line_of(source):
    return source[: source.index("// HERE")].count("\n") + 1


class Prefetch(unittest.TestCase):
    def fix(self, text, name="a.c", **settings):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        return Fixed(tools.Path(folder.name), {name: text}, f"--prefetch={name}:{line_of(text)}", **settings)

    def source(self, body):
        return SOURCE % f"static void run(int n) {{\n    (void)n;\n{indent(body.strip(), ' ' * 4)}\n}}"

    def assert_does_the_same(self, fixed):
        self.assertEqual(fixed.done.returncode, 0, fixed.done.stderr)
        before = fixed.build("before")
        fixed.apply()
        self.assertEqual(fixed.build("after"), before)

    def test_look_ups_are_asked_for_within_bounds(self):
        for name, (body, *texts) in MADE.items():
            with self.subTest(name):
                fixed = self.fix(self.source(body))
                self.assert_does_the_same(fixed)
                patched = (fixed.folder / "a.c").read_text()
                for text in texts:
                    self.assertIn(text, patched)

    def test_what_may_not_be_there_is_not_read(self):
        for name, (body, reason) in REFUSED.items():
            with self.subTest(name):
                done = self.fix(self.source(body)).done
                self.assertEqual((done.returncode, done.stdout), (NOTHING_MADE, ""), done.stderr)
                self.assertIn(reason, done.stderr)

    def test_vectors(self):
        fixed = self.fix(CXX, "a.cpp", compiler="c++")
        self.assert_does_the_same(fixed)
        self.assertIn("at.size() - i > 16", (fixed.folder / "a.cpp").read_text())

    def test_a_card_becomes_a_patch(self):
        # The keys come in no order, so that a guess at each comparison is wrong every other time, and what comes after it waits.
        text = self.source(GUESSED).replace("N = 5000", "N = 1 << 16").replace("run(N);", "run(N), run(N), run(N);")
        fixed = self.fix(text, machine=MACHINE)
        by = ("--machine", "machine.toml", "--cache", CACHES, "prog.trackway")
        cards = json.loads(tools.trackway("advise", "--json", "--top", "0", *by, cwd=fixed.folder).stdout)["tables"][0]["rows"]
        number, card = next((number, card) for number, card in enumerate(cards, 1) if card["change"] == "prefetch")
        self.assertEqual((card["of"], card["place"]), ("entry.key", f"a.c:{line_of(text)}"))
        done = tools.trackway("fix", *by, number, cwd=fixed.folder)
        self.assertIn("+        if (n - i > 16)", done.stdout)
        self.assertIn(f"prefetch of entry.key: predicted to save {100 * card['saves']:.1f} % of the time", done.stderr)


if __name__ == "__main__":
    unittest.main()
