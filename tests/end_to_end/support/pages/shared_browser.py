"""One browser for all tests of pages, which take turns, and what they read from a page and change in it."""

import atexit
import json
import threading

from .. import tools
from .chromium import Chromium


def with_data(page, change):
    """The page's text with other data."""
    before, rest = page.split('<script type="application/json" id="data">', 1)
    data, after = rest.split("</script>", 1)
    changed = json.dumps(change(json.loads(data))).replace("<", "\\u003c")
    return f'{before}<script type="application/json" id="data">{changed}</script>{after}'


# The tables of an element, as they are shown: {caption: [[cell, ...], ...]}, heads first.
READ_TABLES = """Object.fromEntries([...document.querySelectorAll('%s table')].map(table => [
    table.caption.textContent, [...table.rows].map(row => [...row.cells].map(cell => cell.textContent.trim()))]))"""

# The test that uses the shared browser holds it.
turn = threading.Lock()


def shared_browser():
    """Starting one takes longer than most tests; those that share it take turns."""

    def start():
        browser = Chromium()
        atexit.register(browser.close)
        return browser

    return tools.once("shared browser", start)
