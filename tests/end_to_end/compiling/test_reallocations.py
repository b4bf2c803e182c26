"""What realloc copies is recorded: as a read of the old block before the block is freed, and a write of the new one. The
program finds out by itself how many bytes each call copied."""

import json
import shutil
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "reallocations.c"
BUILDS = (("-O0",), ("-O2",), ("-O2", "-x", "c++"), ("-O2", "-flto", "-fuse-ld=lld"))
RUST = """fn main() {
    let mut lists: Vec<Vec<u64>> = (0..20).map(|_| Vec::new()).collect();
    for number in 0..20_000u64 {
        lists[(number % 20) as usize].push(number);
    }
    println!("{}", lists.iter().flatten().sum::<u64>());
}
"""
CALLS = ("realloc", "reallocarray")


def events_of(trace):
    return [json.loads(line) for line in tools.trackway("dump", "--json", trace).stdout.splitlines()]


def copies_of(events):
    """For each reallocation, the bytes that were read right before it and written right after it."""
    copies = []
    for place, event in enumerate(events):
        if event["kind"] != "reallocate":
            continue
        before, after = events[place - 1], events[place + 1]
        is_read = before["kind"] == "library read" and before["address"] == event["old_address"]
        is_written = after["kind"] == "library write" and after["address"] == event["address"]
        copies.append((before["size"] if is_read else 0, after["size"] if is_written else 0))
    return copies


class Reallocations(unittest.TestCase):
    def check(self, *flags):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/traced", [SOURCE], *flags)
            for blocks in ("heap", "pages"):
                trace = f"{folder}/{blocks}"
                output = tools.program_output(tools.record(trace, program, blocks))
                self.assertGreater(tools.verified_accesses(trace), 10)
                said = [line.split() for line in output.splitlines()]
                expected = [int(words[1]) for words in said if words[0] in CALLS]
                copied = sum(bytes_ > 0 for bytes_ in expected)
                self.assertTrue(copied > 5 and 0 in expected if blocks == "heap" else copied == 0, expected)
                self.assertEqual(copies_of(events_of(trace)), [(each, each) for each in expected], (flags, blocks))

    def test_the_read_is_of_the_old_block_by_name(self):
        with tools.folder() as folder:
            program = tools.compile_traced(f"{folder}/traced", [SOURCE], "-O2")
            tools.record(f"{folder}/trace", program)
            reads = [event for event in events_of(f"{folder}/trace") if event["kind"] == "library read"]
            names = {event["variable"] for event in reads if event["function"].startswith("grow")}
            self.assertEqual(names, {"list.items"})

    def test_another_allocator_is_left_alone(self):
        """Its blocks have no size in front of them; here it stands where reading would fault."""
        with tools.folder() as folder:
            with open(f"{folder}/own.c", "w") as file:
                file.write(OWN_ALLOCATOR)
            tools.run("clang-22", "-O1", "-shared", "-fPIC", f"{folder}/own.c", "-o", f"{folder}/libown.so")
            with open(f"{folder}/main.c", "w") as file:
                file.write(USER)
            flags = ("-O1", f"-L{folder}", "-lown", f"-Wl,-rpath,{folder}")
            program = tools.compile_traced(f"{folder}/traced", [f"{folder}/main.c"], *flags)
            tools.record(f"{folder}/trace", program)
            self.assertEqual(set(copies_of(events_of(f"{folder}/trace"))), {(0, 0)})

    @unittest.skipUnless(shutil.which("rustc"), "no rustc")
    def test_vectors_of_rust(self):
        with tools.folder() as folder:
            with open(f"{folder}/grow.rs", "w") as file:
                file.write(RUST)
            tools.trackway("rustc", "-O", f"{folder}/grow.rs", "-o", f"{folder}/grow")
            tools.record(f"{folder}/trace", f"{folder}/grow")
            events = events_of(f"{folder}/trace")
            sizes, expected = {}, []
            for event in events:
                if event["kind"] == "allocate":
                    sizes[event["address"]] = event["size"]
                elif event["kind"] == "reallocate":
                    old = sizes.pop(event["old_address"])
                    sizes[event["address"]] = event["size"]
                    expected.append((old, old) if event["old_address"] != event["address"] else (0, 0))
            self.assertGreater(sum(each[0] > 0 for each in expected), 50)
            self.assertEqual(copies_of(events), expected)


OWN_ALLOCATOR = """#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
void *realloc(void *old, unsigned long bytes) {
    (void)old;
    char *pages = mmap(0, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE);
    return bytes <= 4096 ? pages + 4096 : 0;
}
"""
USER = """#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *volatile block = realloc(0, 100);
    for (int round = 0; round < 10; round++)
        block = realloc(block, 200);
    block[0] = 1;
    puts("done");
    return 0;
}
"""


def add_tests():
    for flags in BUILDS:
        name = "_".join(flag.strip("-").replace("+", "p").replace("=", "_").replace("-", "_") for flag in flags)
        setattr(Reallocations, f"test_copies_{name}", lambda self, flags=flags: self.check(*flags))


add_tests()
