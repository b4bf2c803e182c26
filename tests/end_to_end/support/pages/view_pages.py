"""Pages of `trackway view` that tests share, their data, and what tests of pages do in the browser."""

import atexit
import json
import unittest
from pathlib import Path

from .. import tools
from ..workloads import build
from .shared_browser import READ_TABLES, shared_browser, turn

AXE = tools.ROOT / "build" / "linters" / "node_modules" / "axe-core" / "axe.min.js"
ACCOUNTS = tools.ROOT / "examples" / "accounts" / "accounts.c"
KEY_VALUE_STORE = tools.ROOT / "workloads" / "kvstore.c"
CACHES = "L1=32K,8,64:L2=256K,8,64"
OPTIONS = ("--machine", "zen3", "--cache", CACHES)


def recorded(folder, name, *arguments):
    trace = Path(folder) / f"{name}.trackway"
    tools.record(trace, build("traced", name, "-O2"), *arguments)
    return trace


def shared_page():
    """A trace of several threads, and its page."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        trace = recorded(folder.name, "kvstore", "20000")
        tools.trackway("view", "-q", trace)
        return trace

    return tools.once("page of the key-value store", make)


def page_without_sharing():
    """The same of threads that take no lines from each other: the caches of one don't depend on when the others run."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        program = Path(folder.name) / "padded"
        tools.compile_traced(program, [KEY_VALUE_STORE], "-O2", "-g", "-pthread", "-DPADDED", oracle=False)
        trace = program.with_suffix(".trackway")
        tools.record(trace, program, "20000")
        tools.trackway("view", "-q", trace)
        return trace

    return tools.once("page of the padded key-value store", make)


def page_of_accounts():
    """A program that a split makes faster, and its page."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        program = tools.compile_traced(Path(folder.name) / "accounts", [ACCOUNTS], "-O2", "-g", oracle=False)
        trace = Path(folder.name) / "accounts.trackway"
        tools.record(trace, program, "6000")
        tools.trackway("view", "-q", *OPTIONS, trace)
        return trace

    return tools.once("page of the accounts", make)


def page_of_comparison():
    """A page about the second of two traces, which compares them."""

    def make():
        folder = tools.folder()
        atexit.register(folder.cleanup)
        after = recorded(folder.name, "kvstore", "30000")
        tools.trackway("view", "-q", "--look", "0", shared_page(), after)
        return after

    return tools.once("page of a comparison", make)


def page_data(*arguments):
    data = json.loads(tools.trackway("view", "--json", "-q", *arguments).stdout)
    return {part["name"]: part for part in data["parts"]}


def objects(found):
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


class Investigation(unittest.TestCase):
    """One browser for all tests of the class."""

    def setUp(self):
        self.browser = shared_browser()
        turn.acquire()
        self.addCleanup(turn.release)
        self.browser.appear(1400, 1000, "light")

    def open(self, trace, fragment=""):
        # Another fragment alone would not load the page anew.
        self.browser.open("about:blank")
        self.browser.open(f"file://{trace}.html{fragment}")
        self.assertEqual(self.browser.complaints(), [])

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(found => found.textContent)")

    def tables(self, selector):
        return self.browser.evaluate(READ_TABLES % selector)

    def frame(self):
        self.browser.evaluate("new Promise(requestAnimationFrame)")

    def settle(self):
        """Waits for what the page does after a change of its address."""
        self.browser.evaluate("new Promise(done => setTimeout(done, 200))")

    def serious_findings(self, selector="html"):
        """What axe-core finds in a part of the open page, all of whose details are opened for that."""
        if not AXE.exists():
            self.skipTest("axe-core is missing: make linters installs it")
        self.browser.evaluate("document.querySelectorAll('details').forEach(found => { found.open = true; })")
        self.frame()
        self.browser.evaluate(f"{AXE.read_text()};0")
        return self.browser.evaluate(
            f"axe.run({selector!r}).then(({{ violations }}) => violations"
            ".filter(({ impact }) => ['serious', 'critical'].includes(impact))"
            ".map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))]))"
        )

    def top(self, selector):
        return self.browser.evaluate(f"document.querySelector({selector!r}).getBoundingClientRect().top")
