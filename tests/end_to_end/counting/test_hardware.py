"""Hardware events around regions of programs that count: page faults, whose number is known, stand for all of them."""

import csv
import io
import os
import unittest

from ..support import counting, hardware, tools

SOURCE = tools.PROGRAMS / "hardware" / "pages.c"
FLAGS = ("-g", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread")
# As many entries of a node are always measured.
FIRST = 16
ENTRIES = 15
ANYBODY = 65534


def program():
    def build():
        output = tools.BUILD / "tests" / "pages"
        output.parent.mkdir(parents=True, exist_ok=True)
        return counting.compile_counting(output, [SOURCE], *FLAGS)

    return tools.once("pages", build)


def measured(trace):
    return {row["region"]: row for row in counting.table(trace, "region_hardware")}


def can_count(event):
    return hardware.failure(event) == 0


@unittest.skipUnless(can_count("page-faults"), "the kernel lets nobody count page faults here")
class PageFaults(unittest.TestCase):
    def record(self, scene, *options, events="page-faults"):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            recorded = tools.record(trace, program(), scene, options=(f"--hardware={events}", *options))
            return recorded, measured(trace)

    def check(self, scene, entries, faults, *options):
        recorded, regions = self.record(scene, *options)
        row = regions["alone"]
        self.assertEqual((row["entries"], row["page_faults"], row["unknown_entries"]), (entries, faults, 0))
        self.assertNotIn("warning", recorded.stderr)
        return row

    def test_each_page_is_a_fault(self):
        self.assertEqual(self.check("alone", ENTRIES, 6 * ENTRIES)["measured_entries"], ENTRIES)

    def test_threads(self):
        self.check("threads", 4 * ENTRIES, (1 + 2 + 3 + 4) * ENTRIES)

    def test_forked_processes(self):
        self.check("forked", 2 * ENTRIES, (2 + 7) * ENTRIES)

    def test_regions_within_are_included(self):
        _, regions = self.record("nested")
        self.assertEqual(regions["inner"]["page_faults"], 5 * ENTRIES)
        # The first entry of the inner one makes a node for it, of memory that is new.
        more = regions["outer"]["page_faults"] - (3 + 5) * ENTRIES
        self.assertTrue(0 <= more <= 4, more)

    def test_entries_that_were_not_counted(self):
        row = self.check("often", 3000, 4 * 3000, "--sample", "10")
        self.assertTrue(FIRST < row["measured_entries"] <= FIRST + 0.15 * 3000, row)

    def test_reading_takes_a_hundredth_of_the_time(self):
        """An entry takes a fraction of a microsecond, about as long as a reading."""
        sampled = [counting.REGIONS / "sampled.c"]
        with tools.folder() as folder:
            often = counting.compile_counting(f"{folder}/program", sampled, "-O2")
            tools.record(f"{folder}/trace", often, options=("--hardware=page-faults",))
            for name in ("varying", "outer", "inner"):
                row = measured(f"{folder}/trace")[name]
                self.assertTrue(FIRST <= row["measured_entries"] < row["entries"] / 20, row)
                # The first entries, which are slow, stand for themselves only.
                self.assertLess(row["page_faults"], row["entries"] / 1000)

    def test_whole_program(self):
        with tools.folder() as folder:
            whole = counting.compile_counting(f"{folder}/program", [SOURCE], *FLAGS, counting.WITHOUT_REGIONS)
            tools.record(f"{folder}/trace", whole, "alone", options=("--hardware=page-faults",))
            row = measured(f"{folder}/trace")["(whole program)"]
            self.assertEqual((row["entries"], row["measured_entries"]), (1, 1))
            self.assertTrue(6 * ENTRIES <= row["page_faults"] <= 6 * ENTRIES + 200, row)

    def test_programs_that_close_all_descriptors(self):
        """None of their own is read or closed, and all have the numbers that they have in the plain program."""
        with tools.folder() as folder:
            include = f"-I{tools.BUILD / 'include'}"
            plain = tools.compile_plain(f"{folder}/plain", [SOURCE], *FLAGS, include)
            expected = tools.run(plain, "closing").stdout
        recorded, regions = self.record("closing")
        self.assertEqual(tools.program_output(recorded), expected)
        self.assertIn("open", expected)
        self.assertEqual(recorded.stderr.count("closed the descriptor"), 1)
        self.assertEqual((regions["alone"]["entries"], regions["alone"]["measured_entries"]), (ENTRIES + 1, 1))

    def test_task_clock_is_time(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.record(trace, program(), "often", options=("--hardware=task-clock,cycles,page-faults",))
            time_ns = counting.regions(trace)["alone"]["time_ns"]
            row = measured(trace)["alone"]
        # Waiting for a processor is time of the region, but not of its thread.
        self.assertTrue(0 < row["task_clock_ns"] < 1.5 * time_ns, (row, time_ns))
        self.assertEqual(row["page_faults"], 4 * 3000)

    def test_few_descriptors(self):
        limited = ("-c", f"ulimit -n 64; exec {program()} alone")
        with tools.folder() as folder:
            tools.record(f"{folder}/trace", "/bin/sh", *limited, options=("--hardware=page-faults",))
            self.assertEqual(measured(f"{folder}/trace")["alone"]["page_faults"], 6 * ENTRIES)


@unittest.skipUnless(can_count("page-faults"), "the kernel lets nobody count page faults here")
class Reports(unittest.TestCase):
    def test_everywhere(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            tools.trackway("top", "-q", "-o", trace, "--hardware=page-faults", "--", program(), "alone")
            self.assertEqual(measured(trace)["alone"]["page_faults"], 6 * ENTRIES)
            without = tools.trackway("top", "--hardware=page-faults", "--", program(), "alone", check=False)
            self.assertEqual((without.returncode, "--output" in without.stderr), (2, True))
            self.assertIn("\nHardware events\n", tools.trackway("report", trace).stdout)
            self.assertRegex(tools.trackway("info", trace).stdout, r"hardware events +page-faults")
            text = tools.trackway("report", "--csv", "--table", "region_hardware", trace).stdout
            rows = {row["region"]: row for row in csv.DictReader(io.StringIO(text))}
            self.assertEqual(rows["alone"]["page_faults"], str(6 * ENTRIES))

    def test_absent_unless_asked_for(self):
        with tools.folder() as folder:
            tools.record(f"{folder}/trace", program(), "alone")
            names = [table["name"] for table in tools.report(f"{folder}/trace")["tables"]]
            self.assertNotIn("region_hardware", names)
            self.assertNotIn("hardware events", tools.trackway("info", f"{folder}/trace").stdout)


class Unavailable(unittest.TestCase):
    def record(self, events, **settings):
        command = ("record", "--discard", f"--hardware={events}", "--", program(), "alone")
        return tools.trackway(*command, **settings).stderr

    def test_machines_without_counters(self):
        """What the kernel says to us it says to the recorder."""
        failure = hardware.failure("cycles")
        said = self.record("cycles,page-faults")
        self.assertEqual("cycles can't be counted" in said or "cycles, page-faults can't" in said, failure != 0, said)
        if failure in (hardware.errno.ENOENT, hardware.errno.ENODEV):
            self.assertIn("this machine, or the virtual machine's host, offers no such counter", said)
        if failure and can_count("page-faults"):
            self.assertIn("regions are reported without that", said)

    @unittest.skipUnless((hardware.paranoid() or 0) >= 2, "the system's setting forbids nothing")
    @unittest.skipUnless(can_count("page-faults"), "the kernel lets nobody count page faults here")
    def test_the_setting_that_forbids_is_named(self):
        """Context switches happen in the kernel, which others than root may not look into."""
        settings = {"user": ANYBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            said = self.record("context-switches", **settings)
        except PermissionError:
            self.skipTest("others may not run what was built here")
        self.assertIn(f"context-switches can't be counted: {hardware.PARANOID} is {hardware.paranoid()}; 1 or less", said)
        self.assertIn("CAP_PERFMON", said)

    def test_wrong_events(self):
        for events, message in (("cycle", "there is no event"), ("cycles,cycles", "named twice"),
                                ("cycles,instructions,l1d-misses,llc-misses,branch-misses", "at most 4")):
            done = tools.trackway("record", f"--hardware={events}", "--", program(), check=False)
            self.assertEqual((done.returncode, message in done.stderr), (2, True), done.stderr)
