"""Analyses: each answer is that of the command line with the same options."""

import functools
import inspect
import json
import os
import signal
import subprocess
import threading
import time
import unittest
from collections.abc import Callable, Sequence
from typing import Any

import polars

import trackway

from . import traces

# Methods whose verb has another name.
VERBS = {"misses": "report", "regions": "report", "placement": "place"}
METHODS = [
    name
    for name, function in inspect.getmembers(trackway.questions.Questions, inspect.isfunction)
    if not name.startswith("_") and name != "ask"
]


@functools.cache
def trace() -> trackway.Trace:
    return trackway.open(traces.recorded("particles.c"))


@functools.cache
def sampled() -> trackway.Trace:
    """With samples and calls of allocators."""
    program = traces.folder() / "placement"
    path = program.with_suffix(".trackway")
    subprocess.run(["clang-22", "-O2", "-g", traces.PROGRAMS / "placement.c", "-o", program], check=True)
    traces.trackway("record", "-q", "--sample", "--allocations", "-o", path, "--", program, "20000000")
    return trackway.open(path)


def tables_of(report: trackway.Report) -> list[dict[str, Any]]:
    return [
        {
            "name": table.name,
            "title": table.title,
            "total_rows": table.total_rows,
            "ranked_by": table.ranked_by,
            "columns": [(name, table.titles[name], table.units[name]) for name in table.column_names],
            "rows": table.rows(),
        }
        for table in report
    ]


def tables_said(answer: dict[str, Any]) -> list[dict[str, Any]]:
    names = ("name", "title", "total_rows", "ranked_by", "rows")
    columns = [[tuple(column.values()) for column in table["columns"]] for table in answer["tables"]]
    return [{name: table[name] for name in names} | {"columns": c} for table, c in zip(answer["tables"], columns, strict=True)]


class Answers(unittest.TestCase):
    maxDiff = 4000

    def check(self, trace: trackway.Trace, method: str, words: Sequence[str] = (), **options: Any) -> trackway.Report:
        report: trackway.Report = getattr(trace, method)(**options)
        said = traces.answer(VERBS.get(method, method), trace.path, *(words or ("--top", "0")))
        self.assertEqual(report.answer, said["answer"])
        self.assertEqual(report.warnings, said["warnings"])
        self.assertEqual(tables_of(report), tables_said(said))
        self.assertGreater(sum(len(table) for table in report), 0)
        return report

    def test_of_accesses(self) -> None:
        for method in ("misses", "sharing", "layout", "reuse", "patterns", "memory", "map"):
            with self.subTest(method):
                self.check(trace(), method)

    def test_of_the_end(self) -> None:
        self.check(trace(), "last", ("--top", "3"), top=3)

    def test_options(self) -> None:
        cache = "L1=4K,4,64"
        words: Sequence[str] = ("--by", "line,kind", "--sort", "L1", "--cache", cache, "--top", "3")
        report = self.check(trace(), "misses", words, by=["line", "kind"], sort="L1", cache=cache, top=3)
        self.assertEqual([len(report["lines"]), report["lines"].ranked_by], [3, "l1_misses"])
        words = ("--merged", "--sample", "0.5", "--line-size", "128", "--top", "2")
        self.check(trace(), "reuse", words, merged=True, sample=0.5, line_size=128, top=2)
        words = ("--from", "0s", "--allocation", "node", "--measure", "bytes", "--top", "0")
        self.check(trace(), "map", words, from_="0s", allocation="node", measure="bytes")
        report = self.check(trace(), "sharing", ("--by", "type,function", "--top", "0"), by=["type", "function"])
        self.assertEqual([table.name for table in report][:2], ["types", "functions"])
        report = self.check(trace(), "patterns", ("--by", "field,site", "--top", "2"), by=["field", "site"], top=2)
        self.assertEqual([table.name for table in report][:2], ["sites", "fields"])
        words = ("--type", "particle", "--window", "10", "--top", "0")
        self.check(trace(), "layout", words, type="particle", window=10)

    def test_whatif(self) -> None:
        split = "particle:position,velocity"
        words = ("--split", split, "--link", "index", "--top", "0")
        self.check(trace(), "whatif", words, split=[split], link="index")

    def test_branches(self) -> None:
        words = ("--predictor", "gshare=4K,bimodal", "--by", "branch", "--top", "0")
        self.check(trace(), "branches", words, predictor=["gshare=4K", "bimodal"], by=["branch"])

    def test_calls_are_those_of_the_export(self) -> None:
        folded = traces.folder() / "particles.folded"
        traces.trackway("export", trace().path, "--to", "folded", "-o", folded)
        stacks = [line.rsplit(" ", 1) for line in folded.read_text().splitlines()]
        calls = trace().calls()["stacks"].rows()
        self.assertEqual(sum(int(count) for _, count in stacks), sum(row["accesses"] for row in calls))

    def test_counts(self) -> None:
        self.check(trackway.open(traces.COUNTS), "regions")

    def test_of_samples(self) -> None:
        for method in ("samples", "allocations", "objects"):
            with self.subTest(method):
                self.check(sampled(), method)
        self.check(sampled(), "allocations", ("--by", "function", "--top", "0"), by=["function"])
        self.check(sampled(), "objects", ("--by", "kind,type", "--top", "0"), by=["kind", "type"])
        tiers = ["dram:capacity=1M", "cxl"]
        words = [word for tier in tiers for word in ("--tier", tier)]
        self.check(sampled(), "placement", [*words, "--top", "0"], tier=tiers)

    def test_differences(self) -> None:
        before, after = trace().path, traces.GOLDEN
        report = trackway.diff(before, after, by=["variable"], measure=["accesses"], top=5)
        words = ("diff", "--json", "--by", "variable", "--measure", "accesses", "--top", "5", before, after)
        said = json.loads(traces.trackway(*words))
        self.assertEqual((report.answer, report.warnings), (said["answer"], said["warnings"]))
        self.assertEqual(tables_of(report), tables_said(said))


class Options(unittest.TestCase):
    def test_methods_have_the_options_of_their_verbs(self) -> None:
        for method in METHODS:
            verb = VERBS.get(method, method)
            signature = inspect.signature(getattr(trackway.Trace, method))
            parameters = set(signature.parameters)
            if "slice" in parameters:
                parameters = parameters - {"slice"} | set(trackway.questions.SliceOptions.__annotations__)
            named = {name.rstrip("_").replace("_", "-") for name in parameters} - {"self", "progress"}
            options = set(trackway._native.options(verb) or [])
            if method == "check":  # the others are for `--write-budget`
                options -= {"write-budget", "margin", "force", "top"}
            if method == "regions":  # counts know less
                options -= {"cache", "drcachesim", "time", "machine", "threads", "to", "from", "after-mark", "windows", "thread",
                         "function", "region", "without-library"}
            self.assertEqual(named, options, method)
        parameters = set(inspect.signature(trackway.diff).parameters) - {"slice"}
        parameters |= set(trackway.questions.SliceOptions.__annotations__)
        named = {name.rstrip("_").replace("_", "-") for name in parameters} - {"before", "after", "progress"}
        self.assertEqual(named, set(trackway._native.options("diff") or []))

    def test_there_is_a_method_for_each_verb(self) -> None:
        self.assertEqual({VERBS.get(method, method) for method in METHODS}, set(trackway._native.questions()))

    def test_a_verb_without_types_has_the_method_that_follows_from_its_options(self) -> None:
        made = trackway.questions.method_of("map")
        typed = inspect.signature(trackway.Trace.map)
        expected = set(typed.parameters) - {"slice"} | set(trackway.questions.SliceOptions.__annotations__)
        self.assertEqual(set(inspect.signature(made).parameters), expected)
        self.assertIn("Show which memory", made.__doc__ or "")
        options: dict[str, Any] = {"from_": "0s", "measure": "bytes", "top": 3}
        self.assertEqual(tables_of(made(trace(), **options)), tables_of(trace().map(**options)))

    def test_slices(self) -> None:
        whole = trace().misses(by=["variable"])["trace"].rows()[0]
        half = trace().misses(by=["variable"], to="50%")["trace"].rows()[0]
        rest = trace().misses(by=["variable"], from_="50%")["trace"].rows()[0]
        self.assertEqual(half["accesses"] + rest["accesses"], whole["accesses"])
        self.assertIn("0 s to ", half["slice"])
        self.assertNotIn("slice", whole)
        with self.assertRaisesRegex(trackway.QuestionError, "no thread 77; there are 0"):
            trace().sharing(thread=[77])

    def test_wrong_options(self) -> None:
        wrong: list[tuple[Callable[[], object], str]] = [
            (lambda: trace().ask("sharing", short=1), "unexpected argument '--short'"),
            (lambda: trace().sharing(line_size=7), "'7' for '--line-size <BYTES>': expected a power of two"),
            (lambda: trace().misses(by=["colour"]), "possible values: field, variable"),  # type: ignore[list-item]
            (lambda: trace().layout(type="nothing"), "knows no structure nothing"),
            (lambda: trace().ask("nothing"), "no analysis \"nothing\"; there are advise, allocations, "),
            (lambda: trace().samples(), "holds no samples"),
            (lambda: trackway.open(traces.COUNTS).sharing(), "holds counts, no accesses"),
        ]
        for refused, message in wrong:
            with self.assertRaises(trackway.QuestionError) as raised:
                refused()
            self.assertIn(message, str(raised.exception))
            self.assertIsInstance(raised.exception, ValueError)

    def test_a_diff_of_what_is_no_trace(self) -> None:
        with self.assertRaises(trackway.TraceError) as raised:
            trackway.diff("/nowhere/a", trace().path)
        self.assertEqual(raised.exception.file, "/nowhere/a")


class Tables(unittest.TestCase):
    def test_arrow_takes_tables(self) -> None:
        table = trace().misses(by=["variable"])["variables"]
        arrow = table.to_pyarrow()
        self.assertEqual(arrow.to_pylist(), table.rows())
        self.assertEqual(arrow.schema.metadata[b"title"].decode(), table.title)
        field = arrow.schema.field("accesses")
        self.assertEqual(field.metadata, {b"title": b"accesses", b"unit": b"count"})
        self.assertEqual(polars.DataFrame(table).rows(named=True), table.rows())
        self.assertEqual(table.to_pandas()["accesses"].tolist(), [row["accesses"] for row in table.rows()])
        self.assertEqual(table.to_arro3().num_rows, len(table))

    def test_people_read_tables(self) -> None:
        report = trace().misses(by=["variable"])
        printed = traces.trackway("report", "-v", "--by", "variable", "--top", "0", trace().path)
        text, _, next_step = printed.rpartition("\nnext: ")
        self.assertEqual(str(report), text)
        self.assertIn("trackway advise", next_step)
        self.assertIn(report["variables"].title, str(report["variables"]))
        self.assertIn("<table>", report._repr_html_())
        self.assertIn("variables", report)
        with self.assertRaisesRegex(KeyError, "no table 'x'; there are variables"):
            report["x"]


class Patience(unittest.TestCase):
    """Answers take time; meanwhile Python goes on."""

    def test_progress_comes_from_the_calling_thread(self) -> None:
        told: list[tuple[int, int, int]] = []
        trace().branches(progress=lambda done, total: told.append((done, total, threading.get_ident())), threads=1)
        self.assertGreater(len(told), 1)
        self.assertEqual({thread for _, _, thread in told}, {threading.get_ident()})
        self.assertEqual(sorted(told), told)
        self.assertTrue(all(0 <= done <= total for done, total, _ in told), told)

    def test_an_exception_of_the_progress_ends_the_analysis(self) -> None:
        def tired(done: int, total: int) -> None:
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            trace().branches(progress=tired)

    def test_interrupts_end_the_analysis(self) -> None:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        with self.assertRaises(KeyboardInterrupt):
            trace().branches(progress=lambda done, total: os.kill(os.getpid(), signal.SIGINT))

    def test_other_threads_run_meanwhile(self) -> None:
        turns = 0
        done = threading.Event()

        def turn() -> None:
            nonlocal turns
            while not done.wait(0.001):
                turns += 1

        other = threading.Thread(target=turn)
        other.start()
        started = time.monotonic()
        trace().branches(threads=1)
        passed = time.monotonic() - started
        done.set()
        other.join()
        self.assertGreater(turns, passed * 50, "the lock of Python was held")


if __name__ == "__main__":
    unittest.main()
