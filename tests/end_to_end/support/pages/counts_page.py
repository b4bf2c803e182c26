"""What tests of pages of programs that count share: a program, a page of its trace, and how both are read."""

import atexit
import json
import unittest
from pathlib import Path

from .. import counting, tools
from .shared_browser import READ_TABLES, shared_browser, turn, with_data

COMPONENTS = tools.ROOT / "workloads" / "components.c"
THREADS = 4


def components():
    def make():
        program = tools.BUILD / "tests" / "components-counting"
        program.parent.mkdir(parents=True, exist_ok=True)
        return counting.compile_counting(program, [COMPONENTS], "-g", "-O2", "-fopenmp")

    return tools.once("components that count", make)


def environment():
    return tools.environment(OMP_NUM_THREADS=str(THREADS))


def shared_trace():
    """A trace of counts of several threads, and its page."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        trace = Path(folder.name) / "components.trackway"
        tools.record(trace, components(), env=environment())
        tools.trackway("view", "-q", trace)
        return trace

    return tools.once("page of counts", make)


def data_of(page):
    text = Path(page).read_text().split('<script type="application/json" id="data">', 1)[1]
    return json.loads(text.split("</script>", 1)[0])


def rows_of(found):
    """Rows of a page's table as objects."""
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


def part_of(page, name):
    return next(part for part in data_of(page)["parts"] if part["name"] == name)


class CountsPage(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.browser = shared_browser()
        turn.acquire()
        self.addCleanup(turn.release)
        self.browser.appear(1400, 1000, "light")

    def open(self, page):
        self.browser.open(f"file://{page}")
        self.assertEqual(self.browser.complaints(), [])

    def open_with(self, *parts):
        """The page of a trace of counts with these parts instead of those of the same names."""

        def change(data):
            names = [part["name"] for part in parts]
            data["parts"] = [*parts, *(part for part in data["parts"] if part["name"] not in names)]
            return data

        page = self.folder / "samples.html"
        page.write_text(with_data(Path(f"{shared_trace()}.html").read_text(), change))
        self.open(page)

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(found => found.textContent)")

    def tables(self, selector):
        return self.browser.evaluate(READ_TABLES % selector)

    def press_on(self, selector, *keys):
        self.browser.evaluate(f"document.querySelector({selector!r}).focus()")
        for key in keys:
            self.browser.press(key)

    def choose(self, selector, label):
        """The option of that text of a list."""
        self.browser.evaluate(
            f"(() => {{ const list = document.querySelector({selector!r});"
            f" list.value = [...list.options].find(option => option.text === {label!r}).value;"
            " list.dispatchEvent(new Event('change')); })()"
        )
