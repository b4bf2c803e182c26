"""`record --stats`: where the recorder's time went, and what bounded the run."""

import os
import re
import subprocess
import time
import unittest

from ..support import tools

BOUNDS = ("the program itself", "the recorder's encoding", "the recorder's emptying of buffers", "writing to the target")


def program():
    def make():
        folder = tools.folder()
        path = f"{folder.name}/tree"
        tools.compile_traced(path, [tools.ROOT / "workloads" / "tree.c"], "-O2", oracle=False)
        return folder, path

    return tools.once("recorder stats", make)[1]


def statistics(stderr):
    """The figures by their names."""
    lines = stderr.partition("statistics:\n")[2].splitlines()
    pairs = [re.fullmatch(r"  ( {0,2}\S.*?) {2,}(\S.*)", line) for line in lines]
    return {pair[1].strip(): pair[2] for pair in pairs if pair}


def number(text):
    return float(text.split()[0].replace(",", "").rstrip(","))


class Statistics(unittest.TestCase):
    def record(self, *options):
        recorded = tools.trackway("record", "--stats", *options, "--", program(), "small")
        return statistics(recorded.stderr)

    def test_figures_agree(self):
        with tools.folder() as folder:
            trace = f"{folder}/trace"
            found = self.record("-o", trace)
            self.assertEqual(number(found["bytes of the trace"]), os.path.getsize(trace))
        ways = ("plain", "compressed", "split", "split, compressed")
        self.assertEqual(sum(number(found[way]) for way in ways), number(found["chunks of records"]))
        self.assertGreater(number(found["chunks of records"]), 0)
        steps = ("moving out of the ring", "splitting", "compressing", "checksums", "writing", "the rest")
        self.assertAlmostEqual(sum(number(found[step]) for step in steps), number(found["recorder's CPU time"]), delta=0.01)
        self.assertIn(found["bounded by"], BOUNDS)

    def test_ways_of_storing(self):
        with tools.folder() as folder:
            plain = self.record("--codec=none", "-f", "-o", f"{folder}/trace")
            self.assertEqual(plain["plain"], plain["chunks of records"])
            self.assertEqual(number(plain["splitting"]), 0)
            columns = self.record("--codec=columns", "-f", "-o", f"{folder}/trace")
            self.assertEqual(columns["plain"], "0")

    def test_discarded(self):
        self.assertNotEqual(self.record("--discard")["bounded by"], "writing to the target")

    def test_a_slow_target(self):
        options = ("--stats", "--codec=none", "--buffer-size=16K", "--buffers=2", "-o", "/dev/stdout")
        command = [tools.TRACKWAY, "record", *options, "--", program(), "small"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
            while recorder.stdout.read(16384):
                time.sleep(0.005)
            found = statistics(recorder.stderr.read().decode())
        self.assertEqual(recorder.returncode, 0)
        self.assertEqual(found["bounded by"], "writing to the target")
        self.assertGreater(number(found["waits for free buffers"]), 0.05)


if __name__ == "__main__":
    unittest.main()
