"""`--by`: tables of groups add up the rows of finer ones, and what has no groups says what to use instead."""

import atexit
import collections
import json
import unittest
from pathlib import Path

from ..support import tools
from ..support.tools import table
from ..support.workloads import build


def trace_of_store():
    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        trace = Path(folder.name) / "store.trackway"
        tools.record(trace, build("traced", "kvstore", "-O2"), "2000")
        return trace

    return tools.once("trace of a store for groups", make)


def asked(verb, *words):
    return json.loads(tools.trackway(verb, "--json", "-q", "--top", "0", *words).stdout)


def names(report):
    return [found["name"] for found in report["tables"]]


class Groups(unittest.TestCase):
    def sums(self, rows, keys, column):
        found = collections.Counter()
        for row in rows:
            found[tuple(row[key] or "(unknown)" for key in keys)] += row[column]
        return found

    def test_patterns_of_fields_and_lines_have_the_accesses_of_their_sites(self):
        trace = trace_of_store()
        report = asked("patterns", "--by", "site,field,line,kind", trace)
        sites = table(report, "sites")["rows"]
        for name, keys in (("fields", ["field"]), ("lines", ["file", "line"]), ("kinds", ["kind"])):
            rows = table(report, name)["rows"]
            self.assertEqual(self.sums(rows, keys, "accesses"), self.sums(sites, keys, "accesses"), name)
            self.assertEqual(sum(row["sites"] for row in rows), len(sites))
            self.assertEqual([row["accesses"] for row in rows], sorted((row["accesses"] for row in rows), reverse=True))
        reported = {row["field"]: row["accesses"] for row in table(asked("report", "--by", "field", trace), "fields")["rows"]}
        self.assertEqual({row["field"]: row["accesses"] for row in table(report, "fields")["rows"]}, reported)

    def test_the_foremost_pattern_has_most_of_the_accesses(self):
        report = asked("patterns", "--by", "site,field", trace_of_store())
        sites = table(report, "sites")["rows"]
        for row in table(report, "fields")["rows"]:
            by_pattern = self.sums([site for site in sites if site["field"] == row["field"]], ["pattern"], "accesses")
            self.assertEqual(by_pattern[(row["pattern"],)], max(by_pattern.values()))

    def test_only_chosen_groups_are_shown_and_their_rows_are_cut(self):
        trace = trace_of_store()
        report = json.loads(tools.trackway("patterns", "--json", "--by", "field,site", "--top", "2", trace).stdout)
        self.assertNotIn("patterns", names(report))
        self.assertEqual([len(table(report, name)["rows"]) for name in ("sites", "fields")], [2, 2])
        self.assertRegex(table(report, "sites")["title"], r", 2 of \d+$")
        usual = asked("patterns", trace)
        self.assertEqual([name for name in names(usual) if name in ("patterns", "sites", "fields")], ["patterns", "sites"])

    def test_csv_is_the_table_of_the_chosen_group(self):
        said = tools.trackway("patterns", "--csv", "--by", "field", trace_of_store()).stdout
        self.assertEqual(said.splitlines()[0], "field,pattern,sites,accesses")
        refused = tools.trackway("patterns", "--csv", "--by", "field,site", trace_of_store(), check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--csv prints one table", refused.stderr)

    def test_functions_have_the_mispredictions_of_their_lines(self):
        report = asked("branches", "--by", "line,function", "--predictor", "gshare=4K", trace_of_store())
        lines, functions = (table(report, name)["rows"] for name in ("lines", "functions"))
        for column in ("executions", next(name for name in lines[0] if name.startswith("missed_"))):
            self.assertEqual(self.sums(functions, ["function"], column), self.sums(lines, ["function"], column))

    def test_functions_that_allocate_have_the_bytes_of_their_call_sites(self):
        with tools.folder() as folder:
            trace = Path(folder) / "calls.trackway"
            tools.trackway("record", "-q", "--allocations", "-o", trace, "--", "/bin/sh", "-c", "ls /bin >/dev/null; ls /")
            report = asked("allocations", "--by", "site,function", trace)
            sites, functions = (table(report, name)["rows"] for name in ("call_sites", "allocating_functions"))
            for column in ("allocations", "bytes", "bytes_at_peak", "leaked_bytes"):
                self.assertEqual(self.sums(functions, ["function"], column), self.sums(sites, ["function"], column))
            self.assertGreater(len(sites), len(functions))
            self.assertNotIn("call_sites", names(asked("allocations", "--by", "function", trace)))

    def test_kinds_of_memory_have_the_samples_of_their_objects(self):
        with tools.folder() as folder:
            trace = Path(folder) / "samples.trackway"
            tools.trackway("record", "-q", "--sample", "-o", trace, "--", build("plain", "kvstore", "-O2"), "200000", check=False)
            report = asked("objects", "--by", "object,kind,type", trace)
            objects = table(report, "objects")["rows"]
            for name, key in (("object_kinds", "kind"), ("object_types", "data_type")):
                rows = table(report, name)["rows"]
                for column in ("samples", "weight"):
                    self.assertEqual(self.sums(rows, [key], column), self.sums(objects, [key], column), (name, column))
                self.assertAlmostEqual(sum(row["share"] for row in rows), sum(row["share"] for row in objects), places=6)

    def test_verbs_without_groups_say_what_to_use(self):
        for verb, instead in (("advise", "trackway report --by field,line"), ("layout", "--type NAME"), ("map", "memory --by type")):
            refused = tools.trackway(verb, "--by", "field", trace_of_store(), check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"tip: `{verb}` has no --by: ", refused.stderr)
            self.assertIn(instead, refused.stderr)


if __name__ == "__main__":
    unittest.main()
