"""`reserve`: a loop that fills a vector gets room for all elements before it, where their number is known; elsewhere that is refused.
Patched programs compile without a warning, and do the same under the sanitizers of addresses and undefined behaviour."""

import json
import unittest
from textwrap import indent

from ..support import tools
from .test_advise import CACHES, MACHINE
from .test_fix import NOTHING_MADE, Fixed

# %s: functions that each fill a vector and add it up, and their calls: for no element, and for many.
SOURCE = """
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>
struct point { double x, y; };
static long sum;
static long add(const std::vector<int> &all) { for (int one : all) sum += one; return sum; }
__attribute__((unused, noinline)) static int changed() { static int calls; return calls++; }
__attribute__((unused)) static int noted(int &n) { return n++; }
struct batch {
    std::vector<int> kept;
    int count = 40;
%s
};
int main() {
    std::vector<int> in, out;
    for (int i = 0; i < 33; i++)
        in.push_back(i * 7);
    batch all;
    for (int n : {0, 1, 100, -3}) {
%s
    }
    add(all.kept), add(out);
    std::printf("%%ld\\n", sum);
}
"""
# What functions do, and what stands before the loop then. The line of HERE adds an element.
MADE = {
    "a bound": (
        """
std::vector<int> v;
for (int i = 0; i < n; i++)
    v.push_back(i); // HERE
add(v);
""",
        "if (n > 0)\n            v.reserve(static_cast<std::size_t>(n));\n        for (int i = 0; i < n; i++)",
    ),
    "an unsigned bound": (
        """
std::vector<int> v;
const std::size_t count = in.size();
for (std::size_t i = 0; i < count; ++i) {
    int twice = in[i] * 2;
    v.emplace_back(twice); // HERE
}
add(v);
""",
        "        v.reserve(count);\n        for (std::size_t i",
    ),
    "a number": (
        """
std::vector<int> v;
for (int i = 0; i < 1000; i++) {
    v.push_back(i % 10); // HERE
}
add(v);
""",
        "v.reserve(1000);",
    ),
    "up to": (
        """
std::vector<int> v;
for (int i = 2; i <= n - 1; i++)
    v.push_back(i); // HERE
add(v);
""",
        "if ((n - 1) >= 2)\n            v.reserve(static_cast<std::size_t>((n - 1) - 2) + 1);",
    ),
    "a container": (
        """
std::vector<point> v;
for (const int &one : in) {
    if (one > 5)
        sum++;
    v.push_back(point{one * 0.5, 1}); // HERE
}
sum += static_cast<long>(v.back().x);
""",
        "v.reserve(in.size());\n        for (const int &one : in)",
    ),
    "an array": (
        """
const char *names[] = {"a", "bb", "ccc"};
std::vector<std::string> v;
for (auto name : names)
    v.emplace_back(name); // HERE
sum += static_cast<long>(v[2].size());
""",
        "v.reserve(3);",
    ),
    "a method": (
        """
std::vector<std::unique_ptr<int>> v;
for (std::size_t i = 0; i < in.size(); i++)
    v.push_back(std::make_unique<int>(in[i])); // HERE
sum += *v.back();
""",
        "v.reserve(in.size());",
    ),
    "an inner loop": (
        """
for (int k = 0; k < 3; k++) {
    std::vector<int> v;
    for (int i = 0; i < n; i++)
        v.push_back(k + v.empty()); // HERE
    add(v);
}
""",
        "if (n > 0)\n                v.reserve(static_cast<std::size_t>(n));\n            for (int i",
    ),
}
REFUSED = {
    "another's vector": ("for (int i = 0; i < n; i++)\n    out.push_back(i); // HERE", "isn't a local one"),
    "a member": ("for (int i = 0; i < n; i++)\n    kept.push_back(i); // HERE", "isn't a local one"),
    "no loop": ("std::vector<int> v;\nv.push_back(n); // HERE\nadd(v);", "no loop is around it"),
    "a while loop": ("std::vector<int> v;\nint i = 0;\nwhile (i++ < n)\n    v.push_back(i); // HERE\nadd(v);", "how often the loop runs"),
    "a condition": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++)\n    if (i % 3)\n        v.push_back(i); // HERE\nadd(v);",
        "it isn't sure that each iteration adds one",
    ),
    "a break": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++) {\n    if (i == 7)\n        break;\n    v.push_back(i); // HERE\n}\nadd(v);",
        "may end before its bound",
    ),
    "a continue": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++) {\n    if (i == 7)\n        continue;\n    v.push_back(i); // HERE\n}\nadd(v);",
        "cut short",
    ),
    "a bound that changes": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++) {\n    v.push_back(i); // HERE\n    n--;\n}\nadd(v);",
        "n changes in the loop",
    ),
    "a bound that a call changes": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++)\n    v.push_back(i < 9 ? noted(n) : 0); // HERE\nadd(v);",
        "n changes in the loop",
    ),
    "a bound in memory": (
        "std::vector<int> v;\nfor (int i = 0; i < count; i++) {\n    v.push_back(i); // HERE\n    count -= i == 20;\n}\nadd(v);",
        "count changes in the loop",
    ),
    "a container that a call may change": (
        "std::vector<int> v;\nfor (std::size_t i = 0; i < out.size(); i++) {\n    v.push_back(2); // HERE\n    out.pop_back();\n}\nadd(v);",
        "the loop calls pop_back",
    ),
    "a bound of the loop's own": (
        "std::vector<int> v;\nfor (int i = 0, end = n; i < end; i++)\n    v.push_back(i); // HERE\nadd(v);",
        "end is known within the loop only",
    ),
    "a beginning below 0": (
        "std::vector<int> v;\nfor (int i = -n; i < n; i++)\n    v.push_back(i); // HERE\nadd(v);",
        "may be below 0",
    ),
    "steps of two": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i += 2)\n    v.push_back(i); // HERE\nadd(v);",
        "the loop isn't `for (i = ...; i < n; i++)`",
    ),
    "a function that may change the container": (
        "std::vector<int> v;\nfor (std::size_t i = 0; i < in.size(); i++)\n    v.push_back(changed()); // HERE\nadd(v);",
        "the loop calls changed",
    ),
    "a reference": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++)\n    v.emplace_back(i); // HERE\nadd(v);",
        "the loop's own variable changes",
    ),
    "two elements": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++) {\n    v.push_back(i); // HERE\n    v.push_back(1);\n}\nadd(v);",
        "does more with the vector",
    ),
    "a loop around": (
        "std::vector<int> v;\nfor (int k = 0; k < 4; k++)\n    for (int i = 0; i < n; i++)\n        v.push_back(i); // HERE\nadd(v);",
        "isn't declared in the block that the loop stands in",
    ),
    "elements before": (
        "std::vector<int> v{1, 2};\nfor (int i = 0; i < n; i++)\n    v.push_back(i); // HERE\nadd(v);",
        "it isn't sure that the vector is empty",
    ),
    "a use before": (
        "std::vector<int> v;\nv.push_back(4);\nfor (int i = 0; i < n; i++)\n    v.push_back(i); // HERE\nadd(v);",
        "used between its declaration and the loop",
    ),
    "room": (
        "std::vector<int> v;\nv.reserve(7);\nfor (int i = 0; i < n; i++)\n    v.push_back(i); // HERE\nadd(v);",
        "room is reserved already",
    ),
    "its capacity": (
        "std::vector<int> v;\nfor (int i = 0; i < n; i++)\n    v.push_back(i); // HERE\nsum += static_cast<long>(v.capacity());",
        "asks for the vector's capacity",
    ),
    "a macro": (
        "#define EACH(i) for (int i = 0; i < n; i++)\nstd::vector<int> v;\nEACH(i)\n    v.push_back(i); // HERE\nadd(v);",
        "a macro writes",
    ),
    "another container": (
        "std::string s;\nfor (int i = 0; i < n; i++)\n    s.push_back('a'); // HERE\nsum += static_cast<long>(s.size());",
        "no push_back",
    ),
}
# Most of the time goes by with copies.
GROWS = """
#include <cstdio>
#include <vector>
struct record { long values[8]; };
static long filled(int n) {
    std::vector<record> all;
    for (int i = 0; i < n; i++)
        all.push_back(record{{i}}); // HERE
    return all[n / 2].values[0];
}
int main(int argc, char **) {
    long sum = 0;
    for (int round = 0; round < 8; round++)
        sum += filled(20000 + argc);
    std::printf("%ld\\n", sum);
}
"""
# The same by malloc and memcpy, and by realloc, whose copies nobody sees.
BY_HAND = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct record { long values[8]; };
int main(int argc, char **argv) {
    (void)argv;
    long sum = 0;
    for (int round = 0; round < 8; round++) {
        struct record *all = NULL;
        int room = 0, n = 20000 + argc;
        for (int i = 0; i < n; i++) {
            if (i == room) {
                room = room ? 2 * room : 4;
                GROW
            }
            all[i] = (struct record){{i}};
        }
        sum += all[n / 2].values[0];
        free(all);
    }
    printf("%ld\\n", sum);
    return 0;
}
"""
COPIES = """struct record *more = malloc(room * sizeof *more); // HERE
                if (all)
                    memcpy(more, all, i * sizeof *all);
                free(all);
                all = more;"""


def line_of(source, function=""):
    return source[: source.index("// HERE", source.index(function))].count("\n") + 1


def program(bodies):
    """A source with a function of each body."""
    functions = [
        f"    __attribute__((noinline)) void run{number}(int n, const std::vector<int> &in, std::vector<int> &out) {{\n"
        f"        (void)n, (void)in, (void)out;\n{indent(body.strip(), ' ' * 8)}\n    }}"
        for number, body in enumerate(bodies)
    ]
    calls = [f"        all.run{number}(n, in, out);" for number in range(len(functions))]
    return SOURCE % ("\n".join(functions), "\n".join(calls))


class Reserve(unittest.TestCase):
    def fix(self, text, *options, name="a.cpp", compiler="c++", **settings):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        options = options or (f"--reserve={name}:{line_of(text)}",)
        return Fixed(tools.Path(folder.name), {name: text}, *options, compiler=compiler, **settings)

    def cards(self, fixed):
        by = ("--machine", "machine.toml", "--cache", CACHES, "prog.trackway")
        told = json.loads(tools.trackway("advise", "--json", "--top", "0", *by, cwd=fixed.folder).stdout)["tables"]
        named = {table["name"]: table["rows"] for table in told}
        return named["cards"], named["time"][0]["cycles"]

    def patches(self, bodies):
        """A program with all bodies, recorded, and what `fix` makes of each one's line."""
        text = program(bodies)
        fixed = self.fix(text, f"--reserve=a.cpp:{line_of(text, 'run0(')}")
        lines = [line_of(text, f"run{number}(") for number in range(len(bodies))]
        words = ("fix", "-q", "--machine", "machine.toml", "prog.trackway")
        return fixed, [tools.trackway(*words, f"--reserve=a.cpp:{line}", check=False, cwd=fixed.folder) for line in lines]

    def test_loops_get_room_where_their_count_is_known(self):
        fixed, answers = self.patches([body for body, _ in MADE.values()])
        printed = fixed.build("before")
        for name, done in zip(MADE, answers, strict=True):
            with self.subTest(name):
                self.assertEqual(done.returncode, 0, done.stderr)
            (fixed.folder / "fix.patch").write_text(done.stdout)
            tools.run("git", "apply", "fix.patch", cwd=fixed.folder)
        self.assertEqual(fixed.build("after"), printed)
        patched = (fixed.folder / "a.cpp").read_text()
        for name, (_, before) in MADE.items():
            with self.subTest(name):
                self.assertIn(before, patched)

    def test_what_is_not_known_is_refused(self):
        _, answers = self.patches([body for body, _ in REFUSED.values()])
        for (name, (_, reason)), done in zip(REFUSED.items(), answers, strict=True):
            with self.subTest(name):
                self.assertEqual((done.returncode, done.stdout), (NOTHING_MADE, ""), done.stderr)
                self.assertIn(reason, done.stderr)

    def test_a_card_becomes_a_patch_that_gains_what_it_says(self):
        fixed = self.fix(GROWS, machine=MACHINE)
        cards, before = self.cards(fixed)
        number, card = next((number, card) for number, card in enumerate(cards, 1) if card["change"] == "reserve")
        self.assertEqual((card["of"], card["place"]), ("the array that filled(int) fills", f"a.cpp:{line_of(GROWS)}"))
        by = ("--machine", "machine.toml", "--cache", CACHES, "prog.trackway")
        done = tools.trackway("fix", *by, number, cwd=fixed.folder)
        self.assertIn("+        all.reserve(static_cast<std::size_t>(n));", done.stdout)
        self.assertIn(f"predicted to save {100 * card['saves']:.1f} % of the time", done.stderr)
        fixed.apply()
        tools.trackway("c++", "-O1", "-g", "a.cpp", "-o", "prog", cwd=fixed.folder)
        tools.trackway("record", "-q", "-f", "-o", "prog.trackway", "--", "./prog", cwd=fixed.folder)
        cards, after = self.cards(fixed)
        self.assertNotIn("reserve", [card["change"] for card in cards])
        self.assertAlmostEqual((before - after) / before, card["saves"], delta=0.08)

    def test_copies_by_hand_have_a_card_and_no_patch(self):
        text = BY_HAND.replace("GROW", COPIES)
        fixed = self.fix(text, name="a.c", compiler="cc", machine=MACHINE)
        self.assertIn("no push_back", fixed.done.stderr)
        cards, _ = self.cards(fixed)
        card = next(card for card in cards if card["change"] == "reserve")
        self.assertEqual((card["of"], card["place"]), ("more", f"a.c:{line_of(text)}"))

    def test_what_realloc_copies_has_no_card(self):
        text = BY_HAND.replace("GROW", "all = realloc(all, room * sizeof *all); // HERE")
        fixed = self.fix(text, name="a.c", compiler="cc", machine=MACHINE)
        self.assertNotIn("reserve", [card["change"] for card in self.cards(fixed)[0]])


if __name__ == "__main__":
    unittest.main()
