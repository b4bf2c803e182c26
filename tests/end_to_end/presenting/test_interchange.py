"""Traces for other tools, read by readers of their own, and the counts that drmemtrace's tools printed."""

import gzip
import re
import shutil
import struct
import unittest
from collections import Counter
from pathlib import Path

from ..support import drmemtrace_files as drmemtrace
from ..support import export_readers as readers
from ..support import tools

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
struct node { long key; struct node *next; char pad[48]; };
char from[100000], to[100000];
static atomic_long total;
__attribute__((noinline)) static long sum(struct node *n) { long s = 0; for (; n; n = n->next) s += n->key; return s; }
static void *work(void *count) {
    struct node *list = 0;
    for (long i = 0; i < (long)count; i++) {
        struct node *n = malloc(sizeof *n);
        n->key = i; n->next = list; list = n;
    }
    atomic_fetch_add(&total, sum(list));
    return 0;
}
int main(int argc, char **argv) {
    pthread_t other;
    pthread_create(&other, 0, work, (void *)2000L);
    work((void *)3000L);
    pthread_join(other, 0);
    memcpy(to, from, sizeof to - argc);
    int unaligned; memcpy(&unaligned, to + 62 + argc, 4);
    return unaligned != 0;
}
"""


def export(trace, form, output, *options):
    tools.trackway("export", trace, "--to", form, "-o", output, *options)
    return Path(output)


def recorded():
    """A trace of the pass, with two threads, atomic updates and copies."""
    folder = tools.folder()
    source = Path(folder.name, "p.c")
    source.write_text(PROGRAM)
    program = tools.compile_traced(f"{folder.name}/p", [source], "-O1", "-g", "-pthread", oracle=False)
    trace = Path(folder.name, "p.trackway")
    tools.record(trace, program)
    return folder, trace, totals(trace)


def imported(name):
    folder = tools.folder()
    trace = Path(folder.name, "x.trackway")
    tools.trackway("import", "-q", drmemtrace.FIXTURES / name, "-o", trace)
    return folder, trace


def table(report, name):
    found = [table for table in report["tables"] if table["name"] == name]
    return found[0]["rows"]


def totals(trace):
    """Reads and writes, accesses by kind, of all threads. An atomic update is both."""
    kinds = {row["kind"]: row["accesses"] for row in table(tools.report(trace, "--by", "kind", "--top", "0"), "kinds")}
    only_write = ("store", "atomic store", "copy write", "fill", "library write")
    only_read = ("load", "atomic load", "copy read", "library read")
    return {
        "reads": sum(count for kind, count in kinds.items() if kind not in only_write),
        "writes": sum(count for kind, count in kinds.items() if kind not in only_read),
        "accesses": sum(kinds.values()),
    }


class OfThePass(unittest.TestCase):
    def setUp(self):
        _, self.trace, self.totals = tools.once("interchange-pass", recorded)
        own = tools.folder()
        self.addCleanup(own.cleanup)
        self.own = own.name

    def test_din_has_each_read_and_write(self):
        text = export(self.trace, "din", f"{self.own}/x", "--line", "0").read_text()
        labels = Counter(line.split()[0] for line in text.splitlines())
        self.assertEqual((labels["0"], labels["1"]), (self.totals["reads"], self.totals["writes"]))
        self.assertEqual(set(labels), {"0", "1"})

    def test_din_misses_a_cache_as_the_report_says(self):
        for stream in (0, 1):
            text = export(self.trace, "din", f"{self.own}/{stream}", "--thread", stream).read_text()
            lines = [int(line.split()[1], 16) // 64 for line in text.splitlines()]
            # An atomic update stands as a read and a write of one line, of which the second one hits.
            rows = table(tools.report(self.trace, "--by", "thread", "--cache", "L1=4K,4,64", "--top", "0"), "threads")
            expected = {row["stream"]: row["l1_misses"] for row in rows}
            self.assertEqual(readers.lru_misses(lines, 16, 4), expected[stream])

    def test_lackey(self):
        text = export(self.trace, "lackey", f"{self.own}/x").read_text()
        marks = Counter(re.fullmatch(r" ([LSM]) [0-9a-f]{8,16},\d+", line)[1] for line in text.splitlines())
        self.assertEqual(marks["L"] + marks["M"], self.totals["reads"])
        self.assertEqual(marks["S"] + marks["M"], self.totals["writes"])
        self.assertGreater(marks["M"], 0)

    def test_ramulator(self):
        def counts(form, pattern):
            text = export(self.trace, form, f"{self.own}/{form}", "--line", "0").read_text()
            return Counter(re.fullmatch(pattern, line)[1] for line in text.splitlines())

        memory = counts("ramulator", r"0x[0-9a-f]+ ([RW])")
        self.assertEqual((memory["R"], memory["W"]), (self.totals["reads"], self.totals["writes"]))
        second = counts("ramulator2", r"(LD|ST) 0x[0-9a-f]+")
        self.assertEqual((second["LD"], second["ST"]), (memory["R"], memory["W"]))
        core = export(self.trace, "ramulator-core", f"{self.own}/core", "--line", "0").read_text().splitlines()
        self.assertEqual(len(core), self.totals["accesses"])
        self.assertEqual(sum(len(line.split()) == 3 for line in core), self.totals["writes"])

    def test_champsim_has_an_instruction_for_each_access(self):
        content = export(self.trace, "champsim", f"{self.own}/x").read_bytes()
        records = list(struct.iter_unpack("<QBB2B4B2Q4Q", content))
        self.assertEqual(len(records), self.totals["accesses"])
        self.assertEqual(sum(record[9] != 0 for record in records), self.totals["writes"])
        self.assertEqual(sum(record[11] != 0 for record in records), self.totals["reads"])
        self.assertFalse(any(record[1] for record in records))

    def test_libcachesim_says_when_lines_are_asked_for_again(self):
        content = export(self.trace, "libcachesim", f"{self.own}/x").read_bytes()
        requests = list(struct.iter_unpack("<IQIq", content))
        next_of = {}
        for number in range(len(requests) - 1, -1, -1):
            _, line, size, following = requests[number]
            self.assertEqual((size, following), (64, next_of.get(line, -1)))
            next_of[line] = number
        lines = export(self.trace, "din", f"{self.own}/din").read_text().splitlines()
        twice = sum(access.startswith("1") for access in lines) + sum(access.startswith("0") for access in lines)
        self.assertLessEqual(len(requests), twice)

    def test_perf_script(self):
        text = export(self.trace, "perf-script", f"{self.own}/x", "--every", "100").read_text()
        samples = text.strip().split("\n\n")
        rows = table(tools.report(self.trace, "--by", "thread", "--cache", "none"), "threads")
        self.assertEqual(len(samples), sum(row["accesses"] // 100 for row in rows))
        for sample in samples:
            head, *frames = sample.split("\n")
            self.assertRegex(head, r"^p \d+/\d+ \[000\] \d+\.\d{6}: 100 mem-(loads|stores): +[0-9a-f]+$")
            self.assertTrue(frames)
            for frame in frames:
                self.assertRegex(frame, r"^\t +[0-9a-f]+ \w+ \(.*p\.c:\d+\)$")

    def test_pprof(self):
        path = export(self.trace, "pprof", f"{self.own}/x.pb.gz")
        folded = export(self.trace, "folded", f"{self.own}/folded").read_text().splitlines()
        expected = Counter()
        for line in folded:
            stack, number = line.rsplit(" ", 1)
            expected[stack] += int(number)
        measures, samples = readers.profile(gzip.decompress(path.read_bytes()))
        self.assertEqual(measures[0], ("accesses", "count"))
        self.assertIn(("bytes", "bytes"), measures)
        self.assertEqual({stack: values[0] for stack, values in samples.items() if values[0]}, dict(expected))

    @unittest.skipUnless(shutil.which("go"), "go is not installed: its pprof reads no profile")
    def test_pprof_shows_profiles(self):
        path = export(self.trace, "pprof", f"{self.own}/x.pb.gz")
        shown = tools.run("go", "tool", "pprof", "-top", "-sample_index=accesses", path).stdout
        self.assertIn("Type: accesses", shown)
        self.assertIn("sum", shown)

    def test_drmemtrace_is_read_again(self):
        folder = export(self.trace, "drmemtrace", f"{self.own}/dr")
        tools.trackway("import", "-q", folder, "-o", f"{self.own}/again")
        again = totals(f"{self.own}/again")
        # Copies of more than 32,768 bytes stand in pieces: 99,999 bytes in 4, read and written.
        self.assertEqual((again["reads"], again["writes"]), (self.totals["reads"] + 3, self.totals["writes"] + 3))

    def test_files_are_their_users_alone_and_stay(self):
        path = export(self.trace, "din", f"{self.own}/x")
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        refused = tools.trackway("export", self.trace, "--to", "din", "-o", path, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("with -f", refused.stderr)
        export(self.trace, "din", path, "--force")
        folder = export(self.trace, "drmemtrace", f"{self.own}/dr")
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        self.assertTrue(all(file.stat().st_mode & 0o777 == 0o600 for file in folder.iterdir()))
        again = ("export", self.trace, "--to", "drmemtrace", "-o", folder)
        self.assertIn("with -f", tools.trackway(*again, check=False).stderr)
        tools.trackway(*again, "--force")
        (folder / "other.trace.gz").touch()
        self.assertIn("no part of this trace", tools.trackway(*again, "--force", check=False).stderr)

    def test_wrong_arguments(self):
        def refusal(*options):
            done = tools.trackway("export", self.trace, "--to", "din", "-o", f"{self.own}/y", *options, check=False)
            self.assertNotEqual(done.returncode, 0)
            return done.stderr

        self.assertIn("no stream 99", refusal("--thread", "99"))
        self.assertIn("no power of two", refusal("--line", "48"))
        self.assertIn("--every", refusal("--every", "0"))


class OfMachineCode(unittest.TestCase):
    def setUp(self):
        own = tools.folder()
        self.addCleanup(own.cleanup)
        self.own = own.name

    def each(self):
        for name in ("lz4", "zip"):
            _, trace = tools.once(f"interchange-{name}", lambda name=name: imported(name))
            yield drmemtrace.FIXTURES / name, trace, Path(self.own, name)

    def test_drmemtrace_gives_back_what_it_had(self):
        for original, trace, own in self.each():
            export(trace, "drmemtrace", own)
            for before, after in zip(drmemtrace.threads(original), drmemtrace.threads(own), strict=True):
                self.assertEqual(drmemtrace.executed(after), drmemtrace.executed(before))
            tools.trackway("import", "-q", own, "-o", f"{own}.again")
            dumped = [tools.trackway("dump", trace).stdout for trace in (trace, f"{own}.again")]
            self.assertEqual(*dumped)

    @unittest.skipUnless(drmemtrace.installed(), "DYNAMORIO_HOME names no release of DynamoRIO that has drmemtrace")
    def test_its_own_tool_counts_the_same_in_what_we_export(self):
        for original, trace, own in self.each():
            export(trace, "drmemtrace", own)
            self.assertEqual(drmemtrace.counts_by_its_own_tool(own), drmemtrace.printed_counts(original))

    def test_caches_are_those_of_the_cache_simulator(self):
        names = {
            "hits": "Hits",
            "misses": "Misses",
            "compulsory_misses": "Compulsory misses",
            "prefetch_hits": "Prefetch hits",
            "prefetch_misses": "Prefetch misses",
            "child_hits": "Child hits",
        }
        for original, trace, _ in self.each():
            printed = drmemtrace.printed_caches(original)
            for caches in printed.values():
                caches.update({name: caches.get(name, 0) for name in names.values()})
            rows = table(tools.report(trace, "--drcachesim", "--top", "0"), "drcachesim")
            found = {row["cache"]: row for row in rows}
            # The scheduler of drmemtrace gave the first thread to the last of the three cores that it used.
            for ours, theirs in ((0, 2), (1, 1), (2, 0)):
                for level in ("L1I", "L1D"):
                    for name, title in names.items():
                        self.assertEqual(found[f"{level}{ours}"][name], printed[f"{level}{theirs}"][title], name)
            for name, title in names.items():
                self.assertEqual(found["LL"][name], printed["LL"][title], name)

    def test_other_caches_are_those_of_a_naive_simulation(self):
        settings = "cores=2:L1I=4K,2:L1D=2K,4:LL=64K,8:line=32:prefetch={}"
        for original, trace, _ in self.each():
            for prefetcher in ("next-line", "none"):
                rows = table(
                    tools.report(trace, f"--drcachesim={settings.format(prefetcher)}", "--top", "0"), "drcachesim"
                )
                found = {row["cache"]: row for row in rows}
                expected = readers.naive_caches(drmemtrace.threads(original), prefetcher != "none")
                self.assertEqual(set(found), set(expected))
                for name, cache in expected.items():
                    for count in ("hits", "misses", "prefetch_hits", "prefetch_misses", "child_hits"):
                        self.assertEqual(found[name][count], cache.counts[count], (name, count))
                    self.assertEqual(found[name]["compulsory_misses"], len(cache.missed))

    def test_texts_have_the_counts_of_basic_counts(self):
        for original, trace, own in self.each():
            for stream, counts in enumerate(drmemtrace.printed_counts(original)):
                fetched, _, loads, stores = counts
                one = ("--thread", stream)
                din = export(trace, "din", f"{own}.{stream}.din", "--line", "0", *one).read_text().splitlines()
                labels = Counter(line.split()[0] for line in din)
                self.assertEqual((labels["2"], labels["0"], labels["1"]), (fetched, loads, stores))
                lackey = export(trace, "lackey", f"{own}.{stream}.lackey", *one).read_text().splitlines()
                grammar = r"(I ?| [LSM]) [0-9a-f]{8,16},\d+"
                marks = Counter(re.fullmatch(grammar, line)[1].strip() for line in lackey)
                self.assertEqual((marks["I"], marks["L"] + marks["M"], marks["S"] + marks["M"]), counts[:1] + counts[2:])

    def test_champsim_has_the_branches(self):
        for original, trace, own in self.each():
            for stream, thread in enumerate(drmemtrace.threads(original)):
                content = export(trace, "champsim", f"{own}.{stream}", "--thread", stream).read_bytes()
                found = [readers.branch(record) for record in struct.iter_unpack("<QBB2B4B2Q4Q", content)]
                expected = [readers.branch_of_entry(*entry) for entry in thread]
                self.assertEqual([one for one in found if one], [one for one in expected if one])

    def test_files_and_offsets_from_a_list_of_modules(self):
        original, _, own = next(iter([each for each in self.each() if each[0].name == "zip"]))
        loader, library = 0x7F53199D2000, 0x7F5318EC5000
        modules = Path(f"{own}.modules.log")
        modules.write_text(
            "Module Table: version 5, count 3\n"
            "Columns: id, containing_id, start, end, entry, offset, preferred_base, (custom fields), path\n"
            f"  0,   0, {loader:#018x}, {loader + 0x8000:#018x}, 0x0, 0000, 0x0, v#2,0, /lib64/ld-linux-x86-64.so.2\n"
            f"  1,   0, {loader + 0x8000:#018x}, {loader + 0x40000:#018x}, 0x0, 8000, 0x0, v#2,0, "
            "/lib64/ld-linux-x86-64.so.2\n"
            f"  2,   2, {library:#018x}, {library + 0x1d0000:#018x}, 0x0, 0000, 0x0, v#2,0, /lib/libc.so.6\n"
        )
        trace = f"{own}.named"
        printed = tools.trackway("import", original, "--modules", modules, "-o", trace).stdout
        self.assertIn("of 2 files", printed)
        rows = table(tools.report(trace, "--by", "instruction", "--cache", "none", "--top", "0"), "instructions")
        named = Counter()
        for row in rows:
            named[re.sub(r"\+0x[0-9a-f]+$", "", row["instruction"])] += row["accesses"]
        expected = Counter()
        place = None
        for thread in drmemtrace.threads(original):
            for kind, _, value in thread:
                if kind in drmemtrace.INSTRUCTIONS or kind == drmemtrace.NOT_FETCHED:
                    inside = ((loader, 0x40000, "ld-linux-x86-64.so.2"), (library, 0x1D0000, "libc.so.6"))
                    names = [name for start, size, name in inside if start <= value < start + size]
                    place = names[0] if names else None
                elif kind in (drmemtrace.READ, drmemtrace.WRITE):
                    expected[place] += 1
        self.assertGreater(expected["libc.so.6"], 1000)
        for name in ("libc.so.6", "ld-linux-x86-64.so.2"):
            self.assertEqual(named[name], expected[name])
        # Addresses come back whole.
        export(trace, "drmemtrace", own)
        for before, after in zip(drmemtrace.threads(original), drmemtrace.threads(own), strict=True):
            self.assertEqual(drmemtrace.executed(after), drmemtrace.executed(before))
        caches = [table(tools.report(one, "--drcachesim", "--top", "0"), "drcachesim") for one in (trace, self.zip())]
        self.assertEqual(*caches)

    def zip(self):
        return tools.once("interchange-zip", lambda: imported("zip"))[1]

    def test_list_of_modules_must_be_one(self):
        wrong = Path(self.own, "wrong")
        wrong.write_text("#!/bin/sh\n")
        command = ("import", drmemtrace.FIXTURES / "zip", "--modules", wrong, "-o", f"{self.own}/x")
        refused = tools.trackway(*command, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("no list of modules", refused.stderr)

    def test_drcachesim_is_for_machine_code(self):
        _, trace, _ = tools.once("interchange-pass", recorded)
        refused = tools.trackway("report", trace, "--drcachesim", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("machine code", refused.stderr)
        wrong = tools.trackway("report", self.zip(), "--drcachesim=cores=0", check=False)
        self.assertIn("so many cores", wrong.stderr)

    def test_merged_order_loses_nothing(self):
        for original, trace, own in self.each():
            lines = export(trace, "din", f"{own}.din", "--line", "0").read_text().splitlines()
            labels = Counter(line.split()[0] for line in lines)
            counts = drmemtrace.printed_counts(original)
            sums = [sum(column) for column in zip(*counts, strict=True)]
            self.assertEqual((labels["2"], labels["0"], labels["1"]), (sums[0], sums[2], sums[3]))


class OtherTools(unittest.TestCase):
    @unittest.skipUnless(shutil.which("drrun"), "DynamoRIO with its clients is not installed")
    def test_drmemtrace_counts_what_it_counted(self):
        with tools.folder() as folder:
            _, trace = tools.once("interchange-zip", lambda: imported("zip"))
            exported = export(trace, "drmemtrace", f"{folder}/dr")
            done = tools.run("drrun", "-t", "drmemtrace", "-tool", "basic_counts", "-indir", exported)
            printed = Path(folder, "basic_counts.txt")
            printed.write_text(done.stdout + done.stderr)
            expected = drmemtrace.printed_counts(drmemtrace.FIXTURES / "zip")
            self.assertEqual(drmemtrace.printed_counts(Path(folder)), expected)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_lines_are_of_the_grammar_of_lackey_itself(self):
        done = tools.run("valgrind", "--tool=lackey", "--trace-mem=yes", "/bin/true")
        own = [line for line in done.stderr.splitlines() if not line.startswith("==")]
        self.assertGreater(len(own), 1000)
        for line in own:
            self.assertRegex(line, r"^(I | [LSM]) [0-9a-f]{8,16},\d+$")
