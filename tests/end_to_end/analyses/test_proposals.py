"""What `trackway layout` proposes: only what a simulation says is better, and nothing that the program can't do."""

import shlex
import unittest

from ..support import tools
from .test_layout import CACHES, SHARED_CACHES, answer, by, compiled, table

LEAST_GAIN = 0.02


def tables(report, name):
    return [row for table in report["tables"] if table["name"] == name for row in table["rows"]]


class Proposals(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def recorded(self, name, *flags):
        variant = name + "".join(flags)
        sources, trace = [tools.PROGRAMS / f"{name}.c"], f"{self.folder}/{variant}.trackway"
        program = tools.compile_traced(f"{self.folder}/{variant}", sources, "-O2", "-g", "-pthread", *flags, oracle=False)
        tools.record(trace, program)
        return trace

    def dropped(self, report):
        """Why what isn't proposed isn't, by its options."""
        return {row["options"]: row["why"] for row in tables(report, "not_proposed")}

    def check_simulated(self, trace, *model, level="L2 misses"):
        """Each proposal saves what `trackway whatif` says of it; returns the report."""
        report = answer("layout", trace, *model)
        proposals = tables(report, "proposals")
        self.assertEqual([row["after"] for row in proposals], sorted(row["after"] for row in proposals))
        before = ["--cache-before" if word == "--cache" else word for word in model]
        for row in proposals:
            with self.subTest(row["options"]):
                predicted = by(table(answer("whatif", *shlex.split(row["options"]), *before, trace), "levels"), "what")[level]
                self.assertEqual(row["after"], predicted["after"])
                saved = (predicted["before"] - predicted["after"]) / predicted["before"]
                self.assertAlmostEqual(row["saved_share"], saved)
                self.assertGreaterEqual(saved, LEAST_GAIN)
        return report

    def test_each_proposal_saves_what_whatif_says(self):
        trace = f"{self.folder}/simplex.trackway"
        tools.record(trace, compiled("simplex", "-O2", "-g"), 500)
        report = self.check_simulated(trace, "--cache", CACHES)
        options = [row["options"] for row in tables(report, "proposals")]
        self.assertTrue(any(one.startswith("--split 'arc:") for one in options), report["answer"])
        printed = tools.trackway("layout", "--cache", CACHES, trace).stdout
        self.assertTrue(printed.rstrip().endswith(options[0]), printed[-500:])
        self.assertNotIn("--split", report["answer"], "the command is said once")
        once = answer("layout", "--no-simulate", "--cache", CACHES, trace)
        self.assertLessEqual(set(options), {row["options"] for row in tables(once, "proposals")})
        self.assertIn("not simulated", once["answer"])
        self.assertNotIn("after", tables(once, "proposals")[0])

    def test_a_split_of_items_is_proposed(self):
        report = self.check_simulated(self.recorded("proposals"), "--cache", CACHES)
        self.assertEqual([row["options"] for row in tables(report, "proposals")], ["--split 'item:key,weight'"])
        alone = self.dropped(report)["--split 'item:key,weight' --link index"]
        self.assertIn("allocated one by one", alone)

    def test_objects_of_several_sizes_are_not_split(self):
        for flag in ("-DTAIL", "-DSHORT"):
            report = answer("layout", self.recorded("proposals", flag), "--cache", CACHES)
            self.assertEqual(tables(report, "proposals"), [], flag)
            self.assertIn("allocated in several sizes", self.dropped(report)["--split 'item:key,weight'"], flag)

    def test_headers_of_several_types_are_not_split(self):
        for flag in ("-DHEADER", "-DNESTED"):
            report = answer("layout", self.recorded("proposals", flag), "--cache", CACHES)
            self.assertEqual(tables(report, "proposals"), [], flag)
            self.assertIn("shape", by(table(report, "structures"), "type"), flag)

    def test_counters_that_threads_take_from_each_other_get_lines_of_their_own(self):
        model = ("--cache", SHARED_CACHES, "--sort", "L1")
        trace = self.recorded("counters", "-DWIDE")
        report = self.check_simulated(trace, *model, level="L1 misses")
        alone = answer("layout", "-j", "1", *model, trace)
        self.assertEqual(tables(report, "proposals"), tables(alone, "proposals"), "proposals are shared out to threads")
        best = tables(report, "proposals")[0]
        self.assertIn(best["options"], ("--align 'counter:64'", "--pad 'counter.count'"))
        self.assertIn("--align 'counter:64'", [row["options"] for row in tables(report, "proposals")])
        self.assertGreater(best["saved_share"], 0.5)
        self.assertFalse([one for one in self.dropped(report) if ":32" in one or "--split" in one])

    def test_members_that_the_compiler_reads_at_once_stay_together(self):
        trace = self.recorded("points")
        report = answer("layout", "--no-simulate", "--cache", CACHES, trace)
        self.assertEqual(tables(report, "proposals"), [])
        (pair,) = tables(report, "affinity")
        self.assertEqual((pair["field"], pair["other"], pair["affinity"]), ("x", "y", 1))
        apart = by(table(answer("whatif", "--soa", "point", "--cache-before", CACHES, trace), "levels"), "what")
        self.assertGreater(apart["accesses"]["ratio"], 1.2)
        self.assertGreater(apart["L1 misses"]["ratio"], 1.2)


class Questions(unittest.TestCase):
    """What whatif says first."""

    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def recorded(self, *flags):
        sources, trace = [tools.PROGRAMS / "proposals.c"], f"{self.folder}/trace"
        tools.record(trace, tools.compile_traced(f"{self.folder}/program", sources, "-O2", "-g", *flags, oracle=False))
        return trace

    def test_what_could_not_be_rewritten_is_an_error(self):
        done = tools.trackway("whatif", "--split", "item:key,weight", self.recorded("-DHEADER"), check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("item: nothing can be said, since none of the accesses to its fields (", done.stderr)

    def test_the_share_that_was_rewritten_comes_first(self):
        trace = self.recorded()
        found = answer("whatif", "--split", "item:key,weight", "--cache-before", CACHES, trace)
        rewritten = table(found, "rewritten")[0]
        accesses = by(table(answer("layout", "--no-simulate", trace), "structures"), "type")["item"]["accesses"]
        self.assertAlmostEqual(rewritten["fields_share"] * accesses, rewritten["rewritten"] - rewritten["by_address"])
        self.assertRegex(found["answer"], r"^(100\.0|>99\.9) % of the accesses to item rewritten\. item split, ")

    def test_the_headline_names_the_levels_that_change(self):
        trace = self.recorded()
        pages = answer("whatif", "--huge-pages", trace)["answer"]
        self.assertRegex(pages, r": \d+\.\d % fewer TLB\d misses \(")
        padded = answer("whatif", "--pad", "item:64", "--cache-before", CACHES, trace)
        for row in table(padded, "levels"):
            if row["after"] > row["before"] * 1.01:
                self.assertIn(f"more {row['what']}", padded["answer"])
        self.assertIn("; worse: ", padded["answer"])

    def test_arrays_need_no_pointers(self):
        found = answer("whatif", "--soa", "item", "--cache-before", CACHES, self.recorded())
        self.assertEqual(table(found, "rewritten")[0]["pointer_loads"], 0)
