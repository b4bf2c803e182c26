"""Pages of which a time or threads are chosen, and the verbs that are asked for the same."""

import collections
import json
import time

from .. import tools
from ..tools import table
from .view_pages import Investigation, objects, page_data, shared_page


def answer(verb, *options, trace=None):
    return json.loads(tools.trackway(verb, "--json", "-q", *options, trace or shared_page()).stdout)


def number(text):
    return int(text.replace(",", "").removesuffix(" B"))


def rows_of(shown, key=0):
    """{first cell: {head: cell}} of a table."""
    heads, *rows = shown
    return {row[key]: dict(zip(heads, row, strict=True)) for row in rows}


class ChosenPage(Investigation):
    """A page of several threads, of which a part of the time or some threads are chosen."""

    def setUp(self):
        super().setUp()
        self.trace = shared_page()
        self.data = page_data(self.trace)
        self.axis = objects(table(self.data["places"], "moment_axis"))[0]

    def choose(self, part, choice, trace=None):
        self.open(trace or self.trace, f"#{part}&{choice}")
        self.browser.evaluate(f"document.querySelectorAll('#{part} details').forEach(found => {{ found.open = true; }})")
        self.settle()

    def captions(self, part, title):
        """{caption: rows} of the part's tables whose captions begin like this, once there are any."""
        latest = time.monotonic() + 20
        while True:
            found = {caption: rows for caption, rows in self.tables(f"#{part}").items() if caption.startswith(title)}
            if found or time.monotonic() > latest:
                return found
            self.settle()

    def shown(self, part, title):
        """The table of the part whose caption begins like this; it says that it is of what is chosen."""
        found = self.captions(part, title)
        captions = [caption for caption in found if caption.endswith(", of the chosen time and threads")]
        self.assertEqual(len(captions), 1, list(found))
        return found[captions[0]]

    def border(self, last):
        """When a bin ends, as an option."""
        return f"{self.axis['first_ns'] + (last + 1) * self.axis['bin_ns']}ns"

    def last_bin(self, stream=None):
        """By its end a thread, or all, have done half of what they do."""
        counts = collections.Counter()
        for row in objects(table(self.data["places"], "place_moments")):
            if stream in (row["stream"], None):
                counts[row["bin"]] += row["accesses"]
        done = 0
        for at in sorted(counts):
            done += counts[at]
            if 2 * done >= counts.total():
                return at
        raise AssertionError("nothing is accessed")
