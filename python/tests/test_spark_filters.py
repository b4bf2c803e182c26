"""Which filters of a query the decoder takes over."""

import unittest

from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual

from trackway.spark.filters import Selection, push


def selected(*filters: Filter) -> tuple[Selection, list[Filter]]:
    selection = Selection()
    return selection, list(push(selection, list(filters)))


class Filters(unittest.TestCase):
    def test_sets_and_ranges_are_taken_over(self) -> None:
        selection, left = selected(
            In(("thread",), (3, 1, 2)),
            In(("thread",), (2, 3, 4)),
            EqualTo(("site",), 7),
            GreaterThan(("address",), 15),
            LessThanOrEqual(("address",), 100),
            GreaterThanOrEqual(("time_ns",), 5),
        )
        self.assertEqual(left, [])
        expected = Selection(threads=[2, 3], sites=[7], addresses=(16, 100), times_ns=(5, 2**63 - 1))
        self.assertEqual(selection, expected)
        self.assertFalse(selection.is_empty())

    def test_what_cannot_match_needs_no_reading(self) -> None:
        for filters in ([EqualTo(("thread",), -1)], [LessThan(("address",), 5), GreaterThan(("address",), 4)]):
            selection, left = selected(*filters)
            self.assertEqual(left, [])
            self.assertTrue(selection.is_empty())

    def test_the_rest_stays_with_the_engine(self) -> None:
        # To Spark, addresses from 2^63 on are negative: the decoder would take such comparisons for something else.
        filters = [EqualTo(("variable",), "x"), EqualTo(("size",), 4), GreaterThan(("address",), -3), LessThan(("address",), 0)]
        selection, left = selected(*filters)
        self.assertEqual(left, filters)
        self.assertEqual(selection, Selection())
