"""Calls of allocators: every one is recorded, and replaying them by time finds no contradiction."""

import collections
import json
import re
import shutil
import unittest
from pathlib import Path

from ..support import tools

FRAME_POINTERS = ("-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-g")
PRELOADED = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2.0",
}
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
ALLOCATED = ("allocated", "reallocated")


def build(folder, name, *flags):
    return tools.compile_plain(f"{folder}/{Path(name).stem}", [tools.PROGRAMS / name], *flags)


def record(folder, program, *arguments, options=(), **settings):
    trace = f"{folder}/trace.trackway"
    recorded = tools.record(trace, program, *arguments, options=("--allocations", *options), **settings)
    return trace, recorded


def events(trace):
    lines = tools.trackway("dump", "--allocations", "--json", trace).stdout.splitlines()
    return [json.loads(line) for line in lines]


def kinds(of, *wanted):
    return [event for event in of if event["kind"] in wanted]


def table(trace, name, *arguments):
    report = json.loads(tools.trackway("allocations", "--json", "--top", "0", *arguments, trace).stdout)
    return next(table for table in report["tables"] if table["name"] == name)["rows"]


class OtherVerbs(unittest.TestCase):
    def test_a_report_on_accesses_names_the_verb(self):
        with tools.folder() as folder:
            trace, _ = record(folder, "ls", "/")
            for verb in ("report", "sharing", "layout"):
                done = tools.trackway(verb, trace, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), verb)
                self.assertIn("holds calls of allocators, no accesses: `trackway allocations`", done.stderr)


class Counted(unittest.TestCase):
    def check_counts(self, trace, recorded):
        """What the program counted itself; the C library's own calls come from outside of it."""
        allocations, size, releases = map(int, recorded.stdout.split())
        found = events(trace)
        self.assertEqual(len(kinds(found, *ALLOCATED)), allocations)
        self.assertEqual(sum(event["size"] for event in kinds(found, *ALLOCATED)), size)
        self.assertEqual(len(kinds(found, "freed")), releases)
        self.assertIn("no contradiction", tools.trackway("verify", trace).stdout)

    def test_every_call_is_recorded(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_calls.c", "-O1", "-fno-builtin")
            for options in ((), ("--buffer-size", "16K"), ("--frames", "0")):
                with self.subTest(options):
                    trace, recorded = record(folder, program, options=options)
                    self.check_counts(trace, recorded)
                    by = collections.Counter(event.get("by") for event in events(trace) if event["kind"] == "allocated")
                    for allocator in ("calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign", "valloc", "pvalloc"):
                        self.assertEqual(by[allocator], 1, allocator)

    def test_mappings(self):
        with tools.folder() as folder:
            trace, _ = record(folder, build(folder, "allocation_calls.c", "-O1", "-fno-builtin"))
            found = [event["kind"] for event in events(trace) if event.get("by") in ("mmap", "munmap", "mremap", "sbrk")]
            self.assertEqual(found, ["mapped", "remapping", "remapped", "unmapped", "kept", "unmapped", "break moved"])

    def test_other_allocators(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_calls.c", "-O1", "-fno-builtin")
            threads = build(folder, "allocation_threads.c", "-O1", "-pthread")
            for name, library in PRELOADED.items():
                with self.subTest(name):
                    if not (LIBRARIES / library).exists():
                        self.skipTest(f"{library} is not installed: {name} remains untested")
                    settings = {"env": tools.environment(LD_PRELOAD=str(LIBRARIES / library))}
                    trace, recorded = record(folder, program, "without-pvalloc", **settings)
                    allocations, _, releases = map(int, recorded.stdout.split())
                    found = events(trace)
                    self.assertGreaterEqual(len(kinds(found, *ALLOCATED)), allocations)
                    self.assertGreaterEqual(len(kinds(found, "freed")), releases)
                    trace, _ = record(folder, threads, **settings)
                    self.assertIn("no contradiction", tools.trackway("verify", trace).stdout)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed: nobody else counts")
    def test_as_many_as_valgrind_counts(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_threads.c", "-O1", "-pthread")
            counted = tools.run("valgrind", program, check=False).stderr
            main = re.findall(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees", counted)[-1]
            trace, _ = record(folder, program)
            first = min(event["process"] for event in events(trace))
            own = [event for event in events(trace) if event["process"] == first]
            # What ld.so allocates for threads goes through malloc under both.
            self.assertEqual(len(kinds(own, *ALLOCATED)), int(main[0].replace(",", "")))

    def test_any_number_may_be_in_the_frame_pointers_register(self):
        with tools.folder() as folder:
            for flag in "-fomit-frame-pointer", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables":
                with self.subTest(flag):
                    program = build(folder, "allocation_registers.c", "-O1", flag, "-mno-red-zone")
                    trace, recorded = record(folder, program)
                    found = kinds(events(trace), "allocated")
                    self.assertEqual(len(found), int(recorded.stdout))

    def test_operators(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_operators.cpp", "-O0", "-std=c++17", *FRAME_POINTERS)
            trace, recorded = record(folder, program)
            self.assertIn("thrown", recorded.stderr)
            by = collections.Counter(event.get("by") for event in events(trace))
            for operator in ("operator new", "operator new[]", "operator delete", "operator delete[]"):
                self.assertEqual(by[operator], 4, operator)
            self.assertIn("no contradiction", tools.trackway("verify", trace).stdout)


class WithoutFramePointers(unittest.TestCase):
    FLAGS = ("-O2", "-fomit-frame-pointer", "-pthread", "-g")
    CHAIN = "in_leaf < with_pushes < with_alloca < with_large_frame < with_aligned_frame < outermost_of_ours < "
    OF_MAIN = "main < __libc_start_call_main < __libc_start_main"
    # By the argument of the program: what called the chain. Functions of libraries have names where these have symbols.
    CALLERS = {
        "plain": OF_MAIN,
        "sort": rf".*compare\(.* < .*through_sort < {OF_MAIN}",
        "handler": rf"handle\(int\) < skip_and_handle\(.*\) < [^<]* < through_handler < {OF_MAIN}",
        "thread": r".*",
        "fork": rf"in_child < {OF_MAIN}",
    }

    def sites(self, trace):
        rows = table(trace, "call_sites", "--depth", "20")
        return [(f"{row['function']} < {row['callers']}", row["cut_stacks"]) for row in rows]

    def test_chain(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_chain.cpp", *self.FLAGS)
            for argument, callers in self.CALLERS.items():
                with self.subTest(argument):
                    trace, _ = record(folder, program, argument, options=("--frames", "20"))
                    stacks = [stack for stack, _ in self.sites(trace) if stack.startswith("in_leaf")]
                    self.assertEqual(len(stacks), 1, stacks)
                    self.assertRegex(stacks[0], f"^{re.escape(self.CHAIN)}{callers}")
                    self.assertEqual([site for site in self.sites(trace) if site[1] > 0], [])

    def test_unloaded_library(self):
        """The second library has another frame at the addresses of the first."""
        with tools.folder() as folder:
            libraries = []
            for size in 1000, 3000:
                libraries.append(f"{folder}/library{size}.so")
                source = tools.PROGRAMS / "allocation_library.c"
                tools.compile_plain(libraries[-1], [source], *self.FLAGS, "-shared", "-fPIC", f"-DFRAME={size}")
            program = build(folder, "allocation_unloading.c", *self.FLAGS)
            trace, recorded = record(folder, program, *libraries, *libraries, options=("--frames", "20"))
            places = [line for line in recorded.stderr.splitlines() if line.startswith("0x")]
            self.assertEqual((len(places), len(set(places))), (4, 1), recorded.stderr)
            stacks = [event["stack"] for event in kinds(events(trace), "allocated") if event["size"] == 4000]
            self.assertEqual(len(stacks), 4)
            for stack in stacks:
                self.assertEqual(stack[3:], stacks[0][3:])
                self.assertEqual(stack[1], stacks[0][1])
                self.assertEqual(len(stack), 7)

    def test_rows_of_unwinding_tables(self):
        with tools.folder() as folder:
            collector = tools.ROOT / "collectors/interpose"
            sources = [tools.PROGRAMS / "unwind_rows.c", collector / "unwind_row.c", collector / "unwind_description.c"]
            flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{collector}")
            program = tools.compile_plain(f"{folder}/rows", sources, *flags)
            printed = tools.run(program, LIBRARIES / "libc.so.6").stdout
            whole, corrupted = [list(map(int, line.split())) for line in printed.splitlines()]
            unknown = 7
            self.assertLess(whole[unknown], sum(whole) / 500)
            self.assertGreater(corrupted[unknown], sum(corrupted) / 50)
            self.assertLess(corrupted[unknown], sum(corrupted) * 0.9)


class Raced(unittest.TestCase):
    def test_replay_by_time_finds_no_double_use(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_threads.c", "-O1", "-pthread")
            for options in ((), ("--buffer-size", "16K")):
                with self.subTest(options):
                    trace, _ = record(folder, program, options=options)
                    checked = tools.trackway("verify", trace).stdout
                    self.assertRegex(checked, r"allocations: no contradiction in \d+,\d{3} events")
                    self.assertEqual(len(kinds(events(trace), "forked")), 6)

    def test_a_replay_finds_what_is_wrong(self):
        """Frees that never happened contradict: so the check can fail."""
        with tools.folder() as folder:
            source = Path(folder) / "double.c"
            source.write_text(
                "#include <stdlib.h>\n#include <signal.h>\n#include <unistd.h>\n"
                "static void end(int signal) { (void)signal; _exit(0); }\n"
                "int main(void) { signal(SIGABRT, end); void *volatile p = malloc(40000); free(p); free(p); return 0; }\n"
            )
            program = tools.compile_plain(f"{folder}/double", [source], "-O0", "-w")
            trace, _ = record(folder, program)
            verified = tools.trackway("verify", trace, check=False)
            self.assertEqual(verified.returncode, 1)
            self.assertIn("where no block lives", verified.stdout)


class Processes(unittest.TestCase):
    def test_scripts_and_their_children(self):
        with tools.folder() as folder:
            trace, recorded = record(folder, "sh", "-c", "ls / | sort | wc -l; exec true")
            self.assertGreater(int(recorded.stdout), 3)
            self.assertGreaterEqual(len({event["process"] for event in events(trace)}), 4)
            self.assertIn("no contradiction", tools.trackway("verify", trace).stdout)

    @unittest.skipUnless((tools.BUILD / "lib/trackway/dynamorio/client.so").exists(), "`make dynamorio` was not run")
    def test_beside_the_accesses_of_a_binary(self):
        with tools.folder() as folder:
            trace, recorded = record(folder, "sh", "-c", "ls / | wc -l", options=("--binary",))
            self.assertGreater(int(recorded.stdout), 3)
            self.assertRegex(tools.trackway("verify", trace).stdout, r"hold for [\d,]{6,} accesses[^$]*no contradiction")
            processes = {event["process"] for event in events(trace)}
            report = json.loads(tools.trackway("info", "--json", trace).stdout)
            streams = next(table for table in report["tables"] if table["name"] == "streams")["rows"]
            self.assertEqual(processes, {stream["process"] for stream in streams if stream["chunks"]})

    def test_a_static_program_is_told_of(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_calls.c", "-O1", "-fno-builtin", "-static")
            _, recorded = record(folder, program)
            self.assertIn("NO ALLOCATIONS ARE RECORDED", recorded.stderr)
            self.assertIn("linked statically", recorded.stderr)

    def test_a_malloc_of_the_executable_is_told_of(self):
        with tools.folder() as folder:
            source = Path(folder) / "own.c"
            source.write_text(
                "#include <stddef.h>\nstatic char arena[1 << 20];\nstatic size_t used;\n"
                "void *malloc(size_t n) { void *p = arena + used; used += (n + 15) / 16 * 16; return p; }\n"
                "void free(void *p) { (void)p; }\nint main(void) { void *volatile p = malloc(10); free(p); return 0; }\n"
            )
            program = tools.compile_plain(f"{folder}/own", [source], "-O0", "-w")
            _, recorded = record(folder, program)
            self.assertIn("brings its own malloc", recorded.stderr)
            self.assertIn("NO ALLOCATIONS WERE RECORDED", recorded.stderr)

    def test_a_trace_without_allocations_says_so(self):
        with tools.folder() as folder:
            trace, _ = record(folder, build(folder, "allocation_calls.c", "-O1", "-static"))
            refused = tools.trackway("allocations", trace, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("record --allocations", refused.stderr)


class Reported(unittest.TestCase):
    SOURCE = """#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void inner(size_t size) { kept = malloc(size); }
__attribute__((noinline)) void outer(size_t size) { inner(size); }
int main(void) {
    for (int i = 0; i < 10; i++) { outer(1000); if (i < 7) free(kept); }
    return 0;
}
"""

    def test_call_sites(self):
        with tools.folder() as folder:
            source = Path(folder) / "sites.c"
            source.write_text(self.SOURCE)
            program = tools.compile_plain(f"{folder}/sites", [source], "-O1", *FRAME_POINTERS)
            trace, _ = record(folder, program)
            row = next(row for row in table(trace, "call_sites") if row["function"] == "inner")
            self.assertEqual(row["place"], f"{source}:3")
            self.assertEqual(row["callers"], "outer < main")
            self.assertEqual((row["allocations"], row["bytes"]), (10, 10_000))
            self.assertEqual((row["leaked"], row["leaked_bytes"], row["peak_bytes"]), (3, 3000, 3000))
            self.assertEqual(row["cut_stacks"], 0)
            self.assertGreater(row["mean_lifetime_us"], 0)

    def test_stacks_are_exported(self):
        with tools.folder() as folder:
            source = Path(folder) / "sites.c"
            source.write_text(self.SOURCE)
            program = tools.compile_plain(f"{folder}/sites", [source], "-O1", *FRAME_POINTERS)
            trace, _ = record(folder, program)
            folded = Path(folder) / "folded"
            for measure, number in ((), 3000), (("--measure", "allocations"), 10):
                tools.trackway("export", trace, "--to", "folded", "-f", "-o", folded, *measure)
                self.assertRegex(folded.read_text(), rf"(^|;)main;outer;inner {number}\n")
            tools.trackway("export", trace, "--to", "pprof", "-o", f"{folder}/pprof")
            refused = tools.trackway("export", trace, "--to", "din", "-o", f"{folder}/din", check=False)
            self.assertIn("no accesses", refused.stderr)

    def test_depth_joins_call_sites(self):
        with tools.folder() as folder:
            program = build(folder, "allocation_calls.c", "-O0", *FRAME_POINTERS)
            trace, _ = record(folder, program)
            totals = table(trace, "allocation_totals")[0]
            for depth in ("1", "8"):
                rows = table(trace, "call_sites", "--depth", depth)
                for column in ("allocations", "bytes", "leaked"):
                    self.assertEqual(sum(row[column] for row in rows), totals[column], (depth, column))

    def test_info_counts(self):
        with tools.folder() as folder:
            trace, recorded = record(folder, build(folder, "allocation_calls.c", "-O1", "-fno-builtin"))
            report = json.loads(tools.trackway("info", "--json", trace).stdout)
            totals = next(table for table in report["tables"] if table["name"] == "allocation_totals")["rows"][0]
            self.assertEqual(totals["allocations"], int(recorded.stdout.split()[0]))
            self.assertEqual(totals["leaked"], 1)


if __name__ == "__main__":
    unittest.main()
