"""The figures of `bench/run real`: how they follow from what was measured."""

import contextlib
import io
import sys
import unittest

import own_crates

from ..support import tools

sys.path.append(str(tools.ROOT / "bench"))
from measuring import real_table, results  # noqa: E402

# Plain: 2 s of wall and of CPU time. Recorded: 6 s, of which the program computes 5 and the recorder 3 beside it.
MEDIANS = {
    "plain": {"wall_s": 2.0, "cpu_s": 2.0},
    "untraced": {"wall_s": 2.2},
    "discard": {"wall_s": 5.0},
    "shm": {"wall_s": 6.0, "cpu_s": 8.0, "program_cpu_s": 5.0, "recorder_cpu_s": 3.0, "trace_bytes": 50_000_000},
    "plain_one_core": {"wall_s": 2.0},
    "one_core": {"wall_s": 9.0},
    "decode": {"accesses": 100_000_000, "record_bytes": 200_000_000, "decode_cpu_s": 0.5, "decode_runs_cpu_s": 0.25},
    "analysis": {"report_s": 9.0, "view_s": 30.0, "with_line": 100.0, "with_variable_or_field": 90.0, "members_with_field": 80.0},
    "build": {
        "plain": {"compile_cpu_s": 2.0, "text_bytes": 1000, "file_bytes": 4000},
        "traced": {"compile_cpu_s": 5.0, "text_bytes": 3000, "file_bytes": 14000},
    },
}
EXPECTED = {
    "accesses_m": 100, "plain_s": 2, "untraced": 1.1, "discard": 2.5, "shm": 3, "one_core": 4.5,
    "program_cpu": 2.5, "recorder_cpu": 1.5, "recorder_share": 0.6, "cpu": 4, "ring_bytes": 2, "trace_bytes": 0.5,
    "decode_m_per_s": 200, "runs_m_per_s": 400, "text": 3, "binary": 3.5, "compile": 2.5,
    "with_line": 100, "with_variable_or_field": 90, "members_with_field": 80, "report": 1.5, "view": 5,
}  # fmt: skip


class Row(unittest.TestCase):
    def test_every_column(self):
        row = real_table.row_of(MEDIANS)
        self.assertEqual(set(EXPECTED), {column.key for column in real_table.COLUMNS})
        self.assertEqual(set(EXPECTED), set(row))
        for key, value in EXPECTED.items():
            self.assertAlmostEqual(row[key], value, msg=key)

    def test_two_threads_are_not_measured_on_one_core(self):
        medians = {key: value for key, value in MEDIANS.items() if "one_core" not in key}
        row = real_table.row_of(medians)
        self.assertNotIn("one_core", row)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            results.print_table("kernels", real_table.COLUMNS, {"lu": row, "mean": real_table.means({"lu": row})})
        titles, first, mean = (line.split() for line in printed.getvalue().splitlines())
        self.assertEqual(first[:7], ["lu", "100.0", "2.000", "1.10", "2.50", "3.00", "-"])
        self.assertEqual(mean[:7], ["mean", "-", "-", "1.10", "2.50", "3.00", "-"])
        self.assertEqual(titles[-1], "view")


class ClosingLine(unittest.TestCase):
    def test_means_and_the_worst(self):
        row = real_table.row_of(MEDIANS)
        # Means of 3 and 12, of 4 and 1, of 4.5 and 2, of 1.5 and 6 are geometric, those of bytes arithmetic.
        other = row | {"shm": 12.0, "cpu": 1.0, "one_core": 2.0, "ring_bytes": 1.0, "trace_bytes": 0.1, "members_with_field": 0.0}
        other["report"] = 6.0
        self.assertEqual(
            real_table.closing_line({"programs": {"lua": row}, "kernels": {"lu": other}, "kernels, 2 threads": {"lu_2": {}}}),
            "real: wall 6.0x worst 12.0x cpu 2.0x busy 3.0x ring 1.5 B/access disk 0.3 B/access fields 80 % report 3.0x",
        )

    def test_shares_of_a_report(self):
        row = {"with_line": 1.0, "with_variable_or_field": 0.5, "members_with_field": None}
        document = {"tables": [{"name": "fields"}, {"name": "attribution", "rows": [row]}]}
        self.assertEqual(real_table.attribution(document), {"with_line": 100, "with_variable_or_field": 50, "members_with_field": 0})


class Causes(unittest.TestCase):
    def test_of_a_trace(self):
        """The shares are those of the program whose output they are read from, and add up."""
        build = ("cargo", "build", "--release", "--quiet", "--locked", "--workspace", "--example", "record_bytes")
        tools.run(*build, cwd=tools.ROOT, time_limit_s=1800, env=own_crates.environment())
        golden = sorted(tools.ROOT.glob("trace/vectors/golden-v*.trackway"))[-1]
        printed = tools.run(tools.ROOT / "target/release/examples/record_bytes", golden, 0).stdout
        row = real_table.causes(printed)
        self.assertEqual({column.key for column in real_table.CAUSE_COLUMNS}, set(row))
        self.assertAlmostEqual(sum(row[cause] for cause in real_table.CAUSES), 100)
        self.assertGreater(row["roots of 8"], 0)
        self.assertIn(f"{row['ring_bytes']:8.3f} B/access", next(line for line in printed.splitlines() if line.startswith("records")))
