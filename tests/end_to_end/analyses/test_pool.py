"""`fix --pool`: objects that are allocated one by one come from a pool, where nothing else may free them; elsewhere that is refused.
Patched programs compile without a warning, and do the same under the sanitizers of addresses, leaks and undefined behaviour."""

import unittest

from .test_fix import LIST_C, NODE_C, NODE_H, NOTHING_MADE, PROVED, Fixing

# Objects that come and go, some of them cleared, in an order that has freed places used again.
LIST = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct node {
    struct node *next;
    long key;
} node;
/* Puts a node in front. */
static node *push(node *head, long key) {
    node *new;
    if (key %% 3)
        new = malloc(sizeof *new);
    else
        new = calloc(1, sizeof(node));
    if (!new)
        return NULL;
    if (key %% 3)
        memset(new, 0, sizeof *new);
    new->next = head;
    new->key += key;
    return new;
}
%s
int main(void) {
    node *head = NULL;
    long sum = 0;
    for (long i = 0; i < 5000; i++) {
        head = push(head, i);
        if (i %% 4 == 3) {
            node *old = head->next;
            head->next = old->next;
            free(old);
        }
    }
    for (node *at = head; at; at = at->next)
        sum = sum * 31 %% 1000003 + at->key;
    while (head) {
        node *next = head->next;
        free(head);
        head = next;
    }
    free(head);
    %s
    printf("%%ld\\n", sum);
    return 0;
}
"""
TWO_FILES = {
    "list.h": """
#include <stddef.h>
struct item {
    struct item *next;
    int key;
};
struct item *pushed(struct item *head, int key);
""",
    "a.c": """
#include "list.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    struct item *head = NULL;
    long sum = 0;
    for (int i = 0; i < 3000; i++)
        head = pushed(head, i);
    while (head) {
        struct item *next = head->next;
        sum += head->key;
        free(head);
        head = next;
    }
    printf("%ld\\n", sum);
    return 0;
}
""",
    "b.c": """
#include "list.h"
#include <stdlib.h>
/* In front. */
struct item *pushed(struct item *head, int key) {
    struct item *new = malloc(sizeof(struct item));
    new->next = head;
    new->key = key;
    return new;
}
""",
}
# Functions that only pass on what the allocator gives and takes: objects may come from them, and go to them.
GIVING = {
    "exit": "void *made(size_t n) { void *p = malloc(n); if (!p) { puts(\"none\"); exit(1); } return p; }",
    "abort, in a condition": "void *made(size_t n) { void *p; if ((p = malloc(n)) == NULL && n != 0) abort(); return p; }",
    "at once": "void *made(unsigned n) { return malloc(n); }",
    "unlikely": "void *made(size_t n) { void *p = malloc(n); if (__builtin_expect(!!(p == NULL), 0)) return NULL; return p; }",
    "likely": "void *made(size_t n) { void *p = malloc(n); if (!__builtin_expect(!!p, 1)) abort(); return p; }",
    "a test": "static void *any(void *p) { if (!p) abort(); return p; }\nvoid *made(size_t n) { return any(malloc(n)); }",
    "others": "void *some(size_t n, size_t size) { return calloc(n, size); }\nvoid *made(size_t n) { return some(1, n); }",
    "not nothing": "void *made(size_t n) { return malloc(n ? n : 1); }",
    "cleared": "void *made(size_t n) { void *p = calloc(1, n); if (0 == p) abort(); return p; }",
}
GIVING_BY_TWO = {
    "calloc": "void *made(size_t n, size_t size) { void *p = calloc(n, size); if (!p) abort(); return p; }",
    "a product": "void *made(size_t size, int n) { return malloc(n * size); }",
}
FREEING = (
    "void gone(void *p) { free(p); }",
    "void gone(void *p) { if (p) free(p); }",
    "void gone(void *p) { if (p != NULL) { free(p); } }",
)
# These do more, or another thing.
GIVING_MORE = {
    "a count": "int made_count; void *made(size_t n) { void *p = malloc(n); made_count++; return p; }",
    "a test that may fail": "static void *any(void *p) { if (p) puts(p); return p; }\nvoid *made(size_t n) { return any(malloc(n)); }",
    "itself": "void *ever(size_t n) { return ever(n); }\nvoid *made(size_t n) { return n > 99 ? ever(n) : malloc(n); }",
    "a constant": "void *made(size_t n) { return malloc(n ? 64 : 1); }",
    "a larger block": "void *made(size_t n) { void *p = malloc(n + 16); if (!p) abort(); return p; }",
    "a place within": "void *made(size_t n) { char *p = malloc(n); if (!p) abort(); return p + 0; }",
    "other memory": "long spare[9]; void *made(size_t n) { void *p = malloc(n); if (!p) return spare; return p; }",
    "memory that is kept": "void *last; void *made(size_t n) { void *p = malloc(n); last = p; return p; }",
    "another condition": "int is_odd; void *made(size_t n) { void *p = malloc(n); if (is_odd) return NULL; return p; }",
    "either": "void *made(size_t n) { void *p = malloc(n); if (!p || n > 64) return NULL; return p; }",
    "twice": "void *made(size_t n) { free(malloc(n)); void *p = malloc(n); return p; }",
    "of static life": "void *made(size_t n) { static void *p; p = malloc(n); return p; }",
    "again": "void *made(size_t n) { void *p = malloc(n); if (!p) p = malloc(n); return p; }",
}
FREEING_MORE = (
    "int gone_count; void gone(void *p) { free(p); gone_count++; }",
    "int keeps; void gone(void *p) { if (keeps) free(p); }",
    "void gone(void *p) { free((char *)p - 0); }",
)
MADE_OTHERWISE = """
#include <stdlib.h>
int more;
static void *made(unsigned n) { more++; return malloc(n); }
void *any(void) { return made(4); }
"""
WRAPPED = """
#include <stdio.h>
#include <stdlib.h>
%s
%s
struct node {
    struct node *next;
    long key;
};
int main(void) {
    struct node *head = NULL;
    long sum = 0;
    for (long i = 0; i < 5000; i++) {
        struct node *one = made(%s);
        one->next = head;
        one->key = i;
        head = one;
        if (i %% 4 == 3) {
            struct node *old = head->next;
            head->next = old->next;
            gone(old);
        }
    }
    while (head) {
        struct node *next = head->next;
        sum = sum * 31 %% 1000003 + head->key;
        gone(head);
        head = next;
    }
    printf("%%ld\\n", sum);
    return 0;
}
"""
# What else the program has, what it does, and why no pool can be made then.
REFUSED = {
    "a function that may free": (
        "static int drops; static void drop(void *any) { drops++; free(any); }",
        "node *one = push(NULL, 1); drop(one);",
        "passed to drop, which may free it",
    ),
    "a pointer to anything": ("", "void *any = push(NULL, 1); free(any);", "a pointer to it is cast to or from void *"),
    "several at once": ("", "node *many = malloc(4 * sizeof *many); free(many);", "allocated by malloc, or several at once"),
    "realloc": ("", "node *one = realloc(push(NULL, 2), sizeof *one); free(one);", "allocated by realloc, or several at once"),
    "another's size": ("", "node *one = malloc(64); free(one);", "allocated by malloc, or several at once"),
    "another allocator": (
        "static void *got(size_t bytes) { return malloc(bytes); }",
        "node *one = got(sizeof *one); free(one);",
        "allocated by malloc and by got",
    ),
    "a larger object": (
        "struct large { node first; int more; };",
        "struct large *one = malloc(sizeof *one); one->first.key = 1; free(one);",
        "another structure holds objects",
    ),
    "its first field": (
        "",
        "node *one = push(NULL, 1); struct node **first = &one->next; free(first);",
        "the address of its first field",
    ),
    "a macro": ("#define NEW(t) ((t *)malloc(sizeof(t)))", "node *one = NEW(node); free(one);", "a macro allocates"),
    "a macro that frees": ("#define DROP(x) free(x)", "DROP(push(NULL, 1));", "a macro frees"),
    "threads": (
        "#include <pthread.h>\nstatic void *work(void *of) { return of; }",
        "pthread_t other; pthread_create(&other, NULL, work, NULL); pthread_join(other, NULL);",
        "a thread is started",
    ),
}

# Trees of a template's nodes in several threads, a class that is derived, and one that goes to another thread and dies there.
TREES = """
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>
namespace trees {
/// A tree.
template <typename Key>
class tree {
    struct node {
        Key key;
        node *left, *right;
    };
    node *root = nullptr;
    static void drop(node *at) {
        if (!at)
            return;
        drop(at->left);
        drop(at->right);
        delete at;
    }

  public:
    void add(Key key) {
        node **at = &root;
        while (*at)
            at = key < (*at)->key ? &(*at)->left : &(*at)->right;
        *at = new node{key, nullptr, nullptr};
    }
    Key least() const {
        const node *at = root;
        while (at->left)
            at = at->left;
        return at->key;
    }
    ~tree() { drop(root); }
};
}
struct shape {
    virtual ~shape() = default;
    virtual int corners() const { return 0; }
    int number = 1;
};
struct square : shape {
    int side[20] = {};
    int corners() const override { return 4 + side[3]; }
};
static long of_trees(unsigned from) {
    long sum = 0;
    for (int round = 0; round < 20; round++) {
        trees::tree<long> all;
        unsigned long state = from + round;
        for (int i = 0; i < 500; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            all.add(static_cast<long>(state >> 40));
        }
        sum += all.least();
    }
    return sum;
}
int main() {
    long sums[3] = {};
    std::vector<std::unique_ptr<shape>> shapes;
    for (int round = 0; round < 4; round++) {
        std::vector<std::thread> all;
        for (unsigned i = 0; i < 3; i++)
            all.emplace_back([&sums, i] { sums[i] += of_trees(i); });
        for (std::thread &one : all)
            one.join();
    }
    for (int i = 0; i < 1000; i++) {
        shapes.push_back(i % 2 ? std::make_unique<shape>() : std::unique_ptr<shape>(new square));
        alignas(shape) unsigned char place[sizeof(shape)];
        (new (place) shape)->~shape();
    }
    long corners = 0;
    std::thread([&] {
        for (auto &one : shapes)
            corners += one->corners() + one->number;
        shapes.clear();
    }).join();
    std::printf("%ld %ld\\n", sums[0] + sums[1] * 3 + sums[2] * 7, corners);
}
"""
ALLOCATOR = """
#include <cstdio>
#include <memory>
#include <vector>
template <typename T, typename Memory = std::allocator<T>>
class store {
    Memory memory;
    std::vector<T *> all;
    using traits = std::allocator_traits<Memory>;

  public:
    template <typename... With>
    T *make(With &&...with) {
        T *made = traits::allocate(memory, 1);
        traits::construct(memory, made, static_cast<With &&>(with)...);
        all.push_back(made);
        return made;
    }
    ~store() {
        for (T *one : all)
            traits::deallocate(memory, one, 1);
        traits::deallocate(memory, traits::allocate(memory, 7), 7);
    }
};
struct point {
    double x, y;
    point(double x, double y) : x(x), y(y) {}
};
int main() {
    double sum = 0;
    for (int round = 0; round < 3; round++) {
        store<point> points;
        store<int> numbers;
        for (int i = 0; i < 4000; i++)
            sum += points.make(i, round)->x + *numbers.make(i);
    }
    std::printf("%g\\n", sum);
}
"""
# What the class has, what the program does, and why no pool can be made then.
REFUSED_CXX = {
    "::new": ("", "delete ::new thing;", "made by ::new"),
    "::delete": ("", "::delete new thing;", "ended by ::delete"),
    "its own": (
        "static void *operator new(std::size_t bytes) { return std::malloc(bytes); }",
        "",
        "functions of its own for new or delete",
    ),
    "its alignment": ("alignas(64) int more;", "", "aligned to more than 16 bytes"),
    "nothrow": ("", "delete new (std::nothrow) thing;", "the patched source doesn't compile"),
}
THING = """
#include <cstdio>
#include <cstdlib>
#include <new>
struct thing {
    int number = 3;
    %s
};
int main() {
    thing *one = new thing;
    std::printf("%%d\\n", one->number);
    delete one;
    %s
}
"""
# Nodes that small blocks of other sizes keep apart: a pool has them in a third of the lines.
SCATTERED = """
#include <stdio.h>
#include <stdlib.h>
struct cell {
    struct cell *next;
    long value;
};
enum { COUNT = 300000, ROUNDS = 12 };
static void *between[COUNT];
int main(void) {
    struct cell *head = NULL;
    for (int i = 0; i < COUNT; i++) {
        struct cell *one = malloc(sizeof *one);
        one->next = head;
        one->value = i;
        head = one;
        between[i] = malloc(72);
    }
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (struct cell *at = head; at; at = at->next)
            sum += at->value;
    while (head) {
        struct cell *next = head->next;
        free(head);
        head = next;
    }
    for (int i = 0; i < COUNT; i++)
        free(between[i]);
    printf("%ld\\n", sum);
    return 0;
}
"""


class Pool(Fixing):
    def assert_refused(self, fixed, reason):
        self.assertEqual((fixed.done.returncode, fixed.done.stdout), (NOTHING_MADE, ""), fixed.done.stderr)
        self.assertIn(reason, fixed.done.stderr)

    def text(self, fixed, name):
        return (fixed.folder / name).read_text()

    def test_nodes_of_c_come_from_a_pool(self):
        fixed = self.fix({"a.c": LIST % ("", "")}, "--pool=node")
        self.assert_does_the_same(fixed)
        text = self.text(fixed, "a.c")
        for call in ("new = take_node();", "new = take_zeroed_node();", "give_back_node(old);", "give_back_node(head);"):
            self.assertIn(call, text)

    def test_files_share_a_pool(self):
        fixed = self.fix(TWO_FILES, "--pool=item")
        self.assert_does_the_same(fixed)
        self.assertIn("void give_back_item(void *object);", self.text(fixed, "list.h"))
        self.assertIn("give_back_item(head)", self.text(fixed, "a.c"))
        self.assertIn("union item_place", self.text(fixed, "b.c"))

    def test_what_may_be_freed_elsewhere_is_refused(self):
        for name, (before, statement, reason) in REFUSED.items():
            with self.subTest(name):
                self.assert_refused(self.fix({"a.c": LIST % (before, statement)}, "--pool=node"), reason)
        files = {"node.h": NODE_H, "node.c": NODE_C, "list.c": LIST_C}
        self.assert_refused(self.fix(files, "--pool=node"), "allocated by zeroed, or several at once")

    def wrapped(self, giving, freeing, size="sizeof(struct node)"):
        return self.fix({"a.c": WRAPPED % (giving, freeing, size)}, "--pool=node")

    def test_functions_that_only_pass_on_are_seen_through(self):
        one = {name: (giving, "sizeof(struct node)") for name, giving in GIVING.items()}
        two = {name: (giving, "1, sizeof(struct node)") for name, giving in GIVING_BY_TWO.items()}
        two["a product"] = (GIVING_BY_TWO["a product"], "sizeof(struct node), 1")
        for number, (name, (giving, size)) in enumerate((one | two).items()):
            with self.subTest(name):
                fixed = self.wrapped(giving, FREEING[number % len(FREEING)], size)
                self.assert_does_the_same(fixed)
                text = self.text(fixed, "a.c")
                self.assertIn("(union node_place *)made(count", text)
                self.assertEqual(text.count("give_back_node("), 3)

    def test_functions_that_do_more_are_not(self):
        for name, giving in GIVING_MORE.items():
            with self.subTest(name):
                self.assert_refused(self.wrapped(giving, FREEING[0]), "allocated by made")
        for freeing in FREEING_MORE:
            with self.subTest(freeing):
                self.assert_refused(self.wrapped(GIVING["at once"], freeing), "passed to gone, which may free it")

    def test_functions_of_one_name_in_two_files_are_not(self):
        file = WRAPPED % ("static " + GIVING["at once"], "static " + FREEING[0], "sizeof(struct node)")
        self.assert_refused(self.fix({"a.c": file, "b.c": MADE_OTHERWISE}, "--pool=node"), "allocated by made")

    def test_new_takes_from_the_pool_of_its_class(self):
        for name in ("trees::tree<long>::node", "shape"):
            with self.subTest(name):
                fixed = self.fix({"a.cpp": TREES}, f"--pool={name}", compiler="c++")
                self.assert_does_the_same(fixed)
                self.assertEqual(self.text(fixed, "a.cpp").count("class pool_of {"), 1)

    def test_a_template_takes_from_an_allocator_with_a_pool(self):
        fixed = self.fix({"a.cpp": ALLOCATOR}, "--pool=point", compiler="c++")
        self.assert_does_the_same(fixed)
        self.assertIn("typename Memory = pool_allocator<T>>", self.text(fixed, "a.cpp"))

    def test_what_cxx_ends_elsewhere_is_refused(self):
        for name, (member, statement, reason) in REFUSED_CXX.items():
            with self.subTest(name):
                self.assert_refused(self.fix({"a.cpp": THING % (member, statement)}, "--pool=thing", compiler="c++"), reason)

    def test_a_card_becomes_a_pool_that_gains(self):
        fixed = self.fix({"a.c": SCATTERED}, "--prove", *PROVED)
        self.assertEqual(fixed.done.returncode, 0, fixed.done.stderr)
        self.assertIn("pool of cell: predicted to save", fixed.done.stderr)
        self.assertIn("+static void *take_cell(void) {", fixed.done.stdout)


if __name__ == "__main__":
    unittest.main()
