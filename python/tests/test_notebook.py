"""The notebook of the examples is valid, has no outputs in the repository, and runs in Jupyter's kernel of Python."""

import os
import unittest
from unittest import mock

import nbclient
import nbformat

from . import traces

NOTEBOOK = traces.ROOT / "examples" / "notebook" / "misses.ipynb"


class Notebook(unittest.TestCase):
    def test_it_runs_and_shows_pictures_and_numbers(self) -> None:
        notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.assertEqual([cell.outputs for cell in code], [[]] * len(code))
        folder = traces.folder() / "notebook"
        folder.mkdir()
        path = f"{traces.ROOT / 'build' / 'bin'}:{os.environ['PATH']}"
        environment = {"PATH": path, "TRACKWAY_SOURCES": str(traces.ROOT), "PYTHONPATH": str(traces.ROOT / "python")}
        with mock.patch.dict(os.environ, environment):
            nbclient.NotebookClient(
                notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
            ).execute()  # fmt: skip
        shown = {cell.id: [output for output in cell.outputs if output.output_type != "stream"] for cell in code}
        for picture in ("misses", "map", "reuse"):
            self.assertTrue(any("image/png" in output.data for output in shown[picture]), shown[picture])
        self.assertIn("causes", shown["answer"][0].data["text/plain"])
        self.assertIn("text/html", shown["lines"][0].data)
        # A larger cache misses less, as the command line says.
        trace = folder / "hash.trackway"
        said = {}
        for size, ways in (("256K", 8), ("512K", 8), ("1M", 16)):
            report = traces.answer("report", trace, "--cache", f"L1=32K,8,64:L2={size},{ways},64")
            caches = next(table for table in report["tables"] if table["name"] == "caches")
            said[size] = caches["rows"][1]["misses"]
        self.assertEqual(shown["whatif"][0].data["text/plain"], repr(said))
