"""The page of `trackway view` for everyone: nothing serious by axe-core, and numbers in sight at each width."""

from ..support.pages.shared_browser import cut_rankings
from ..support.pages.view_pages import Investigation, page_of_accounts, page_of_comparison, shared_page

# Some of the time.
CHOSEN = "#overview&time=3-40"


class Widths(Investigation):
    def setUp(self):
        super().setUp()
        self.trace = shared_page()

    def test_tables_show_numbers_at_each_width(self):
        for width in (1400, 1000):
            self.browser.appear(width, 900, "light")
            for trace in (self.trace, page_of_accounts(), page_of_comparison()):
                for fragment in ("", CHOSEN):
                    self.open(trace, fragment)
                    self.assertEqual(cut_rankings(self.browser), [], (width, trace, fragment))
        for width in (1400, 1000, 360):
            self.browser.appear(width, 900, "light")
            self.open(self.trace)
            self.browser.evaluate("document.querySelector('#tab-lines').click()")
            first = "accesses" if width > 700 else "L2 misses"
            right = self.browser.evaluate(
                "(() => { const table = document.querySelector('#panel-lines table');"
                f" const head = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === '{first}');"
                " return table.rows[1].cells[head].getBoundingClientRect().right; })()"
            )
            self.assertLess(right, width, "the first number is in sight")
            region = self.browser.evaluate("document.querySelector('#panel-lines .scroll').getBoundingClientRect().right")
            self.assertLess(right, region + 1, "and not cut off by the table's own region")
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)

    def test_titles_are_in_sight_on_a_phone(self):
        self.browser.appear(390, 1000, "light")
        self.open(self.trace, CHOSEN)
        hidden = self.browser.evaluate(
            "[...document.querySelectorAll('.scroll > table > caption')].filter(caption => caption.checkVisibility()).filter(caption =>"
            " caption.getBoundingClientRect().right > caption.closest('.scroll').getBoundingClientRect().right + 1"
            " || caption.scrollWidth > caption.clientWidth + 1).map(caption => caption.textContent)"
        )
        self.assertEqual(hidden, [])
        self.assertGreater(len(self.texts("#sharing caption")), 2)


class Accessibility(Investigation):
    """axe-core finds nothing serious, in both schemes and on a phone, on pages and on the view of a field."""

    def test_axe_finds_nothing_serious(self):
        pages = [(shared_page(), fragment) for fragment in ("", CHOSEN, "#field=slot.key")]
        pages += [(page_of_accounts(), "#overview"), (page_of_comparison(), "")]
        for width, scheme in ((1400, "light"), (1400, "dark"), (390, "light")):
            self.browser.appear(width, 1000, scheme)
            for trace, fragment in pages:
                self.open(trace, fragment)
                self.assertEqual(self.serious_findings(), [], (width, scheme, trace, fragment))
