"""Pictures of reports: what is drawn is what the tables say."""

import importlib.util
import subprocess
import sys
import unittest
from unittest import mock

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

import trackway

from . import traces


class Pictures(unittest.TestCase):
    def setUp(self) -> None:
        self.trace = trackway.open(traces.recorded("particles.c"))
        self.addCleanup(pyplot.close, "all")

    def drawn(self, axes: Axes) -> Axes:
        """The picture, which can be drawn without a warning."""
        pyplot.savefig(traces.folder() / "picture.png", dpi=50)
        return axes

    def test_a_ranking_is_bars(self) -> None:
        report = self.trace.misses(by=["field"])
        axes = self.drawn(report.plot())
        rows = report["fields"].rows()[:15]
        bars = [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]
        self.assertEqual(bars, [row["l2_misses"] for row in rows])
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], [row["field"] for row in rows])
        self.assertEqual(axes.get_xlabel(), "L2 misses")

    def test_lines_of_files_have_both_as_a_name(self) -> None:
        axes = self.drawn(self.trace.misses(by=["line"]).plot())
        self.assertRegex(axes.get_yticklabels()[0].get_text(), r"particles\.c:\d+$")

    def test_reuse_is_a_curve(self) -> None:
        report = self.trace.reuse()
        axes = self.drawn(report.plot())
        (line,) = axes.get_lines()
        rows = report["miss_ratio_curve"].rows()
        self.assertEqual(np.asarray(line.get_xdata()).tolist(), [row["cache_bytes"] for row in rows])
        self.assertEqual(np.asarray(line.get_ydata()).tolist(), [row["miss_ratio"] for row in rows])

    def test_numbers_over_time_are_lines(self) -> None:
        table = self.trace.memory()["memory_over_time"]
        axes = self.drawn(table.plot())
        (line,) = axes.get_lines()
        self.assertEqual(np.asarray(line.get_ydata()).tolist(), [row["most_bytes"] for row in table.rows()])
        threads = self.drawn(self.trace.patterns()["working_set"].plot())
        self.assertEqual(len(threads.get_lines()), 3)

    def test_a_map_is_a_heat_map_of_all_accesses(self) -> None:
        report = self.trace.map()
        axes = self.drawn(report.plot())
        (image,) = axes.get_images()
        rows = report["cells"].rows()
        finest = min(row["level"] for row in rows)
        expected = sum(row["reads"] + row["writes"] for row in rows if row["level"] == finest)
        drawn: np.ma.MaskedArray = np.ma.asarray(image.get_array())
        # The program's threads have few accesses on stacks of their own, which are past the eight largest owners.
        self.assertLessEqual(drawn.sum(), expected)
        self.assertGreater(drawn.sum(), 0.99 * expected)

    def test_given_axes_are_used(self) -> None:
        _, axes = pyplot.subplots()
        self.assertIs(self.trace.misses().plot(axes), axes)

    def test_what_has_no_picture_is_said(self) -> None:
        with self.assertRaisesRegex(ValueError, "no picture of the table 'trace'"):
            self.trace.misses()["trace"].plot()
        with self.assertRaisesRegex(ValueError, "no rows"):
            trackway.diff(self.trace.path, self.trace.path)["fields_l2_misses"].plot()

    def test_without_matplotlib_the_command_is_named(self) -> None:
        report = self.trace.misses()
        find = importlib.util.find_spec
        hidden = lambda name, *rest: None if name == "matplotlib" else find(name, *rest)  # noqa: E731
        with (
            mock.patch("importlib.util.find_spec", hidden),
            self.assertRaisesRegex(ModuleNotFoundError, r"pip install 'trackway\[plot\]'"),
        ):
            report.plot()

    def test_the_package_itself_doesnt_load_matplotlib(self) -> None:
        said = subprocess.run(
            [sys.executable, "-c", "import sys, trackway; print('matplotlib' in sys.modules)"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        self.assertEqual(said.strip(), "False")
