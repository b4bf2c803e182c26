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

# The columns by which the tables in sight are ranked, as far as they lie out of sight: [[caption, head], ...]. A table is ranked
# by what its title names, its share and its change, or else by its first number.
CUT_RANKINGS = r"""[...document.querySelectorAll('.scroll table:not(.source)')].filter(table => table.checkVisibility()).flatMap(table => {
    const end = Math.min(table.closest('.scroll').getBoundingClientRect().right, innerWidth) + 1;
    const numbers = [...table.tHead.rows[0].cells].filter(head => head.classList.contains('number') && head.textContent !== 'line');
    const named = / by ([^,;]+)/.exec(table.caption.textContent)?.[1];
    const ranks = numbers.filter(({ textContent: text }) => [named, 'share', 'change'].includes(text));
    return (ranks.length > 0 ? ranks : numbers.slice(0, 1))
        .filter(head => head.getBoundingClientRect().right > end).map(head => [table.caption.textContent, head.textContent]); })"""


# Heads of numbers that their table doesn't explain, also in tables of one row: [[caption, head], ...].
UNEXPLAINED = """[...document.querySelectorAll('.table-view, .record-view')].flatMap(view => {
    const known = [...view.querySelectorAll('.terms dt')].map(term => term.textContent);
    const heads = [...view.querySelectorAll('thead th.number')];
    const rows = [...view.querySelectorAll('th[scope=row]')].filter(head => head.nextElementSibling?.classList.contains('number'));
    return [...heads, ...(view.classList.contains('record-view') ? rows : [])].filter(head => !known.includes(head.textContent))
        .map(head => [view.querySelector('caption').textContent, head.textContent]); })"""


def of_all_tables(browser, question):
    """What a question finds in all tables of the page, with those that are opened on demand."""
    browser.evaluate("document.querySelectorAll('details').forEach(found => { found.open = true; })")
    browser.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(setTimeout))")
    found = browser.evaluate(question)
    for tab in range(browser.evaluate("document.querySelectorAll('[role=tab]').length")):
        browser.evaluate(f"document.querySelectorAll('[role=tab]')[{tab}].click()")
        found += browser.evaluate(question)
    return found


def cut_rankings(browser):
    return of_all_tables(browser, CUT_RANKINGS)


def unexplained(browser):
    return of_all_tables(browser, UNEXPLAINED)


# The test that uses the shared browser holds it.
turn = threading.Lock()


def shared_browser():
    """Starting one takes longer than most tests; those that share it take turns."""

    def start():
        browser = Chromium()
        atexit.register(browser.close)
        return browser

    return tools.once("shared browser", start)
