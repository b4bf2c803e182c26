"""The page: the file is that of `trackway view -o` with the same options."""

import inspect
import os
import unittest
from pathlib import Path
from typing import Any

import trackway

from . import traces


class Pages(unittest.TestCase):
    def setUp(self) -> None:
        self.path = traces.recorded("particles.c")
        self.trace = trackway.open(self.path)
        self.folder = traces.folder() / self._testMethodName
        self.folder.mkdir()
        self.page = self.folder / "page.html"

    def same(self, *words: object, **options: Any) -> None:
        """Compares the page with that of the command line."""
        self.assertEqual(self.trace.view(self.page, force=True, **options), self.page)
        other = self.folder / "said.html"
        traces.trackway("view", "-q", "-f", "-o", other, *words, self.path)
        self.assertTrue(self.page.read_bytes() == other.read_bytes(), "the pages differ")

    def test_it_is_that_of_the_command_line(self) -> None:
        self.same()
        self.same("--top", "3", "--cache", "L1=4K,4,64", "--sort", "L1", top=3, cache="L1=4K,4,64", sort="L1")
        self.same("--no-source", no_source=True)

    def test_of_counts(self) -> None:
        trackway.open(traces.COUNTS).view(self.page)
        self.assertIn(b"regions", self.page.read_bytes())

    def test_the_page_is_the_users_alone(self) -> None:
        self.trace.view(os.fspath(self.page))
        self.assertEqual(self.page.stat().st_mode & 0o777, 0o600)

    def test_by_default_it_stands_beside_the_trace(self) -> None:
        copy = self.folder / "copy.trackway"
        os.link(self.path, copy)
        self.assertEqual(trackway.open(copy).view(), Path(f"{copy}.html"))
        self.assertTrue(Path(f"{copy}.html").exists())

    def test_existing_files_are_replaced_only_on_request(self) -> None:
        self.page.write_text("mine")
        with self.assertRaises(trackway.QuestionError):
            self.trace.view(self.page)
        self.assertEqual(self.page.read_text(), "mine")
        self.trace.view(self.page, force=True)
        self.assertNotEqual(self.page.read_text(), "mine")

    def test_wrong_options(self) -> None:
        with self.assertRaises(trackway.QuestionError):
            self.trace.view(self.page, sort="L9")
        self.assertFalse(self.page.exists())

    def test_an_exception_of_the_progress_leaves_no_page(self) -> None:
        def tired(done: int, total: int) -> None:
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            self.trace.view(self.page, progress=tired)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_options_are_those_of_the_verb(self) -> None:
        said = traces.trackway("view", "--help")
        for name in set(inspect.signature(self.trace.view).parameters) - {"path", "progress"}:
            self.assertIn(f"--{name.replace('_', '-')}", said)


if __name__ == "__main__":
    unittest.main()
