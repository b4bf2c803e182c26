"""Sampling programs as they are: shares of time and of accesses, threads and processes, and what ends a recording."""

import collections
import itertools
import json
import os
import re
import signal
import subprocess
import time
import unittest
from collections import Counter
from pathlib import Path

from ..support import hardware, tools

SOURCE = tools.PROGRAMS / "samples" / "hot.c"
WORKLOADS = tools.ROOT / "workloads"
# How far a share of a busy machine's time may lie off.
POINTS = 0.15
# How far the accesses of windows may.
ACCESS_POINTS = 0.20
# The same where phases of a few milliseconds have nearly all accesses: each has one window or two.
PHASE_POINTS = 0.5


def program():
    def build():
        output = tools.BUILD / "tests" / "hot"
        output.parent.mkdir(parents=True, exist_ok=True)
        return tools.compile_plain(output, [SOURCE], "-O2", "-g", "-fno-unroll-loops", "-pthread")

    return tools.once("hot", build)


def line_of(mark):
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if f"// {mark}" in line)


def report(trace):
    return json.loads(tools.trackway("samples", "--json", "--top", "0", trace).stdout)


def table(trace, name):
    return next(table["rows"] for table in report(trace)["tables"] if table["name"] == name)


def lines(trace):
    """The rows of the program's own source, by line."""
    rows = table(trace, "sample_lines")
    return {row["line"]: row for row in rows if row["file"].endswith(SOURCE.name)}


def samples(trace):
    return [json.loads(line) for line in tools.trackway("dump", "--json", trace).stdout.splitlines()]


def can_sample():
    return hardware.failure("task-clock") == 0


@unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
class Sampled(unittest.TestCase):
    def record(self, folder, *arguments, options=("--sample=1000Hz",)):
        trace = f"{folder}/trace"
        recorded = tools.record(trace, program(), *arguments, options=options)
        self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)
        return recorded, trace


class Time(Sampled):
    def test_shares_of_lines_are_those_of_a_clock(self):
        with tools.folder() as folder:
            recorded, trace = self.record(folder, 1)
            chased, computed = map(float, re.search(r"chase (\S+) compute (\S+)", recorded.stdout).groups())
            found = lines(trace)
            chase, compute = (found[line_of(mark)] for mark in ("CHASE", "COMPUTE"))
        both = chase["samples"] + compute["samples"]
        self.assertGreater(both, 300)
        self.assertAlmostEqual(chase["samples"] / both, chased / (chased + computed), delta=POINTS)
        self.assertLessEqual(chase["time_low"], chase["time_share"])
        self.assertLessEqual(chase["time_share"], chase["time_high"])

    def test_a_chase_has_the_addresses_that_it_waited_for(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 1)
            waiting = [sample for sample in samples(trace) if sample["line"] == line_of("CHASE")]
        loads = [sample for sample in waiting if sample["direction"] == "load"]
        self.assertGreater(len(loads), 100)
        known = [sample["address"] for sample in loads if sample["address"] is not None]
        # What the load overwrote is found by windows alone.
        self.assertGreater(len(known), 5)
        heap = max(known) - min(known)
        self.assertLess(heap, 1 << 25)
        self.assertEqual({address % 8 for address in known}, {0})

    def test_the_skid_is_measured(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 0.2)
            row = table(trace, "sampling")[0]
        self.assertEqual(row["source"], "clock")
        self.assertGreater(row["skid_samples"], 10)
        self.assertGreater(row["windows"], 0)


class Tables(Sampled):
    def test_functions_are_sums_of_their_lines(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 0.1)
            asked = tools.trackway("samples", "--json", "--top", "0", "--by", "function,line", trace).stdout
            tables = {each["name"]: each["rows"] for each in json.loads(asked)["tables"]}
            shown = tools.trackway("samples", trace).stdout
            objects = tools.trackway("objects", "-v", trace).stdout
        self.assertNotIn("sample_instructions", tables)
        sums = collections.Counter()
        for row in tables["sample_lines"]:
            sums[row["function"]] += row["samples"]
        found = collections.Counter()
        for row in tables["sample_functions"]:
            found[row["function"]] += row["samples"]
        self.assertEqual(found, sums)
        self.assertNotIn("Functions by time", shown, "only those that are asked for")
        self.assertRegex(objects, r"(?m)^time +[\d.]+ (ms|s)$")


class OtherVerbs(Sampled):
    def test_a_report_on_all_accesses_names_the_verb(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 0.1)
            for verb in ("report", "sharing", "layout"):
                done = tools.trackway(verb, trace, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), verb)
                self.assertIn("holds samples, and not all accesses: `trackway samples`", done.stderr)
            self.assertGreater(len(samples(trace)), 0)


class Programs(Sampled):
    def test_threads_are_sampled_alike(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 0.5, "threads")
            threads = Counter(sample["tid"] for sample in samples(trace))
        self.assertEqual(len(threads), 2)
        self.assertGreater(min(threads.values()), 100)

    def test_children_are_sampled_and_named(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 0.5, "forked")
            found = samples(trace)
        processes = Counter(sample["pid"] for sample in found)
        self.assertEqual(len(processes), 2)
        self.assertGreater(min(processes.values()), 100)
        functions = {(sample["pid"], sample["function"]) for sample in found}
        for pid in processes:
            self.assertIn((pid, "chase"), functions)

    def test_a_shell_executes_the_program(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, "sh", "-c", f"exec {program()} 0.3", options=("--sample",))
            self.assertIn(line_of("CHASE"), lines(trace))

    def test_a_program_that_records_runs_its_plain_code(self):
        with tools.folder() as folder:
            traced = tools.compile_traced(f"{folder}/traced", [SOURCE], "-O2", "-g", "-pthread", oracle=False)
            trace = f"{folder}/trace"
            tools.record(trace, traced, 0.3, options=("--sample=1000Hz",))
            kinds = json.loads(tools.trackway("info", "--json", trace).stdout)["tables"]
            chunks = next(table["rows"] for table in kinds if table["name"] == "chunks")
        names = {row["kind"] for row in chunks}
        self.assertLessEqual({"samples", "mappings", "names"}, names)
        self.assertNotIn("records", names)

    def test_the_overhead_chooses_the_rate(self):
        with tools.folder() as folder:
            _, trace = self.record(folder, 0.3, options=("--sample", "--overhead", "1%"))
            self.assertEqual(table(trace, "sampling")[0]["rate_hz"], 0)
            self.assertGreater(len(samples(trace)), 0)


class Accesses(Sampled):
    def test_shares_come_near_those_of_a_complete_trace(self):
        for name, size in (("chase", "300000"), ("bfs", "800000"), ("quicksort", "8000000")):
            with self.subTest(name), tools.folder() as folder:
                traced = tools.compile_traced(
                    f"{folder}/{name}", [WORKLOADS / f"{name}.c"], "-O2", "-g", oracle=False
                )
                complete, sampled = f"{folder}/complete", f"{folder}/sampled"
                tools.record(complete, traced, size)
                tools.record(sampled, tools.plain_of(traced), size, options=("--sample=4000Hz",))
                rows = tools.report(complete, "--by", "line", "--top", "0")["tables"]
                truth = Counter()
                for row in next(table["rows"] for table in rows if table["name"] == "lines"):
                    truth[row["line"], Path(row["file"]).name] += row["accesses"]
                told, seen = Counter(), 0
                for row in table(sampled, "sample_lines"):
                    if (row["line"], Path(row["file"]).name) in truth:
                        told[row["line"], Path(row["file"]).name] += row["access_share"]
                        seen += row["window_accesses"]
                self.assertGreater(seen, 300)
                for line, accesses in truth.items():
                    share = told[line] / told.total()
                    self.assertAlmostEqual(share, accesses / truth.total(), delta=ACCESS_POINTS, msg=line)

    def test_what_a_program_changes_is_seen_before_it_does(self):
        source = tools.PROGRAMS / "samples" / "marks.c"
        text = source.read_text().splitlines()
        tested, visited = (next(number for number, line in enumerate(text, 1) if f"// {mark}" in line) for mark in ("TESTED", "VISITED"))
        with tools.folder() as folder:
            program = tools.compile_plain(Path(f"{folder}/marks"), [source], "-O2", "-g")
            trace = f"{folder}/sampled"
            first, _ = map(int, tools.record(trace, program, options=("--sample=4000Hz",)).stdout.split())
            told = {row["line"]: row["window_accesses"] for row in table(trace, "sample_lines") if row["file"] == str(source)}
        # Each cell that is marked is tested before and loaded and stored to be visited. Memory that is read a round later
        # has all cells marked, and none visited.
        self.assertGreater(told[tested], 300)
        self.assertAlmostEqual(told[visited] / told[tested], 2 * first / (4000 << 16), delta=0.25)

    def test_loops_of_unlike_speed_count_by_their_accesses(self):
        source = tools.PROGRAMS / "samples" / "two_speeds.c"
        text = source.read_text().splitlines()
        slow, fast = (next(number for number, line in enumerate(text, 1) if f"// {mark}" in line) for mark in ("SLOW", "FAST"))
        with tools.folder() as folder:
            traced = tools.compile_traced(f"{folder}/two", [source], "-O2", "-g", oracle=False)
            # The checks of nests in a traced program are jumps by memory, after which speeds are unknown.
            plain = tools.compile_plain(Path(f"{folder}/plain"), [source], "-O2", "-g")
            complete, sampled = f"{folder}/complete", f"{folder}/sampled"
            tools.record(complete, traced)
            tools.record(sampled, plain, options=("--sample=4000Hz",))
            rows = tools.report(complete, "--by", "line", "--top", "0")["tables"]
            truth = {row["line"]: row["accesses"] for row in next(table["rows"] for table in rows if table["name"] == "lines")}
            told = {row["line"]: row for row in table(sampled, "sample_lines") if row["file"].endswith(source.name)}
            sampling = table(sampled, "sampling")[0]
        self.assertGreater(sampling["paced"], 0.5)
        self.assertGreater(sampling["stood_for"], 0.5)
        share = truth[fast] / (truth[slow] + truth[fast])
        shares = {line: told[line]["access_share"] for line in (slow, fast)}
        self.assertGreater(told[slow]["time_share"], 0.5, "the premise: most of the time goes to few accesses")
        # By time alone it is below 0.1.
        self.assertGreater(share, 0.9)
        self.assertAlmostEqual(shares[fast] / sum(shares.values()), share, delta=PHASE_POINTS)


class Code(Sampled):
    def test_code_that_stands_in_no_file_has_windows(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "samples" / "generated_loop.c"
            program = tools.compile_plain(f"{folder}/generated", [source], "-O1")
            trace = f"{folder}/trace"
            page, block, _ = tools.record(trace, program, 20000, options=("--sample=1000Hz",)).stdout.split()
            page, block = int(page, 16), int(block, 16)
            found = [sample for sample in samples(trace) if page <= sample["seen_at"] < page + 4096]
        self.assertGreater(len(found), 100)
        windows = [sample["window"] for sample in found if sample["window_instructions"] > 0]
        # Their number is limited by the time that they take.
        self.assertGreater(len(windows), 2)
        for access in (access for window in windows for access in window):
            if access["instruction"] == page:
                self.assertEqual((access["kind"], access["size"]), ("load", 8))
                self.assertTrue(block <= access["address"] < block + (8 << 16), access)


class Order(Sampled):
    def test_the_ten_hottest_blocks_are_in_the_order_of_their_time(self):
        source = tools.PROGRAMS / "samples" / "ten_blocks.c"
        with tools.folder() as folder:
            program = tools.compile_plain(f"{folder}/ten", [source], "-O1", "-g")
            trace = f"{folder}/trace"
            recorded = tools.record(trace, program, 280, options=("--sample=5000Hz", "--allocations"))
            tables = json.loads(tools.trackway("objects", "--json", "--top", "0", trace).stdout)["tables"]
        truth = {name: float(seconds) for name, seconds in map(str.split, recorded.stdout.splitlines())}
        rows = next(table["rows"] for table in tables if table["name"] == "objects")
        found = [row for row in rows if row["name"] in truth]
        self.assertEqual(len(found), 10)
        ranks = {row["name"]: (row["rank_best"], row["rank_worst"]) for row in found}
        certain = 0
        for better in found:
            for worse in found:
                # Ranks that don't overlap are certain to 95 % each; what the program measured itself decides.
                if better["rank_worst"] < worse["rank_best"]:
                    certain += 1
                    self.assertGreater(truth[better["name"]], truth[worse["name"]], ranks)
        self.assertGreaterEqual(certain, 40, "of 45 pairs")
        shown = [row["name"] for row in found]
        for earlier, later in itertools.pairwise(shown):
            self.assertGreater(truth[earlier], 0.95 * truth[later], shown)


class Tick(Sampled):
    def test_the_tick_samples_where_it_is_asked_for(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            options = ("--sample", "--sample-source", "tick")
            recorded = tools.record(trace, program(), 2, options=options, check=False)
            if "local_timer_entry" in recorded.stderr:
                self.skipTest("this user may not see the tracepoint of the tick")
            self.assertIn("whatever rate was asked for", recorded.stderr)
            chased, computed = map(float, re.search(r"chase (\S+) compute (\S+)", recorded.stdout).groups())
            found, row = lines(trace), table(trace, "sampling")[0]
            told = tools.trackway("samples", trace).stdout
        self.assertEqual((row["source"], row["weight_unit"]), ("tick", "ns"))
        self.assertIn("interrupts of other timers count as ticks", told)
        seconds = row["weight"] / 1e9
        self.assertGreater(seconds, 0.5 * (chased + computed))
        chase, compute = (found[line_of(mark)]["samples"] for mark in ("CHASE", "COMPUTE"))
        self.assertGreater(chase + compute, 50)
        self.assertAlmostEqual(chase / (chase + compute), chased / (chased + computed), delta=2 * POINTS)


def windows(trace):
    """When they opened and closed."""
    marks = [event for event in samples(trace) if event.get("mark") in ("opens", "closes")]
    times = {kind: [mark["time_ns"] for mark in marks if mark["mark"] == kind] for kind in ("opens", "closes")}
    return list(itertools.zip_longest(times["opens"], times["closes"], fillvalue=1 << 63))


class Windows(Sampled):
    """Sampling that is switched on and off."""

    def check(self, trace, most):
        """Samples lie in windows, and stand for their time."""
        opened, found = windows(trace), [event for event in samples(trace) if "sample" in event]
        self.assertTrue(0 < len(opened) <= most, opened)
        for sample in found:
            self.assertTrue(any(begin <= sample["time_ns"] <= end for begin, end in opened), (sample["time_ns"], opened))
        self.assertGreater(len(found), 20)
        # One thread runs all the time, unless something else does.
        self.assertLess(sum(sample["weight"] for sample in found), 1.1 * sum(end - begin for begin, end in opened))
        self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)

    def test_time_decides(self):
        with tools.folder() as folder:
            done, trace = self.record(folder, 1, options=("--sample=1000Hz", "--start-after", "300ms", "--duration", "400ms"))
            self.check(trace, 1)
            self.assertIn("in 1 window", done.stderr)

    def test_bursts_return(self):
        with tools.folder() as folder:
            begun = time.monotonic()
            _, trace = self.record(folder, 1, options=("--sample=1000Hz", "--bursts", "50ms/200ms"))
            # One in each period, however long the program takes.
            self.check(trace, 1 + (time.monotonic() - begun) / 0.2)
            self.assertGreater(len(windows(trace)), 3)

    def test_a_process_that_runs_already_is_left_alone(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            process = subprocess.Popen([program(), "3"], stdout=subprocess.PIPE, text=True)
            done = tools.trackway("record", "--sample=1000Hz", "--pid", process.pid, "--duration", "500ms", "-o", trace)
            self.assertIsNone(process.poll(), "it still runs")
            self.assertIn("in 1 window", done.stderr)
            self.check(trace, 1)
            self.assertIn("the program runs on", tools.trackway("info", trace).stdout)
            output, _ = process.communicate(timeout=tools.TIME_LIMIT_S)
            self.assertEqual((process.returncode, output.split()[0]), (0, "chase"))

    def test_control(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            process = subprocess.Popen([program(), "4"], stdout=subprocess.DEVNULL)
            command = [tools.TRACKWAY, "record", "--sample=1000Hz", "--paused", "--pid", str(process.pid), "-o", trace]
            recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            self.addCleanup(recorder.kill)
            control = lambda *words, check=True: tools.trackway("control", recorder.pid, *words, check=check)
            for _ in range(100):
                if control("status", check=False).returncode == 0:
                    break
                time.sleep(0.05)
            self.assertIn("not recording; 0 windows", control("status").stdout)
            self.assertEqual(control("start").stdout, "recording\n")
            control("mark", "half way")
            time.sleep(0.3)
            control("stop")
            self.assertIn("not recording; 1 window so far", control("status").stdout)
            process.wait(tools.TIME_LIMIT_S)
            _, said = recorder.communicate(timeout=tools.TIME_LIMIT_S)
            self.assertEqual(recorder.returncode, 0, said)
            self.check(trace, 1)
            self.assertIn("half way", tools.trackway("info", trace).stdout)


class Ends(Sampled):
    def test_what_a_debugger_has_lacks_windows_and_says_so(self):
        with tools.folder() as folder:
            source = tools.PROGRAMS / "samples" / "tracer.c"
            program = tools.compile_plain(Path(f"{folder}/tracer"), [source], "-O1", "-g")
            trace = f"{folder}/trace"
            done = tools.record(trace, program, options=("--sample=1000Hz",))
            self.assertEqual(done.stdout.strip(), "traced 1")
            self.assertRegex(done.stderr, r"windows? (is|are) missing: a thread could not be stopped")
            self.assertGreater(len(samples(trace)), 20)

    def test_an_interrupt_leaves_a_valid_trace(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            command = [tools.TRACKWAY, "record", "--sample", "-q", "-o", trace, "--", program(), "60"]
            recorder = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
            time.sleep(2)
            os.killpg(recorder.pid, signal.SIGINT)
            recorder.wait(tools.TIME_LIMIT_S)
            self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)
            self.assertGreater(len(samples(trace)), 100)

    def test_a_process_that_runs_already(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            process = subprocess.Popen([program(), "3", "threads"], stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            tools.trackway("record", "--sample", "--pid", process.pid, "-q", "-o", trace)
            process.wait(tools.TIME_LIMIT_S)
            self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)
            found = samples(trace)
        self.assertEqual({sample["pid"] for sample in found}, {process.pid})
        self.assertEqual(len({sample["tid"] for sample in found}), 2)
        self.assertIn("chase", {sample["function"] for sample in found})


    def test_samples_of_many_threads_that_run_already(self):
        """Opening their events takes as long as some samples; those lie in what was mapped, too."""
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            process = subprocess.Popen([program(), "0.1", "threads", "150"], stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            tools.trackway("record", "--sample=10000Hz", "--pid", process.pid, "-q", "-o", trace)
            process.wait(tools.TIME_LIMIT_S)
            self.assertIn("invariants: hold", tools.trackway("verify", trace).stdout)
            self.assertGreater(len({sample["tid"] for sample in samples(trace)}), 100)


class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        done = tools.trackway(*arguments, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_a_trace_without_samples(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, "true")
            self.assertIn("trackway record --sample", self.refused("samples", trace))

    def test_options_that_exclude_each_other(self):
        self.assertIn("name one", self.refused("record", "--sample=9Hz", "--overhead", "1%", "--", "true"))
        self.assertIn("--binary", self.refused("record", "--sample", "--binary", "--", "true"))
        self.assertIn("--sample", self.refused("record", "--pid", "1"))

    @unittest.skipUnless(can_sample(), "the kernel lets nobody sample here")
    def test_a_process_that_is_gone(self):
        process = subprocess.Popen(["true"])
        process.wait()
        with tools.folder() as folder:
            told = self.refused("record", "--sample", "--pid", process.pid, "-o", f"{folder}/trace")
        self.assertIn(f"process {process.pid} can't be sampled", told)
