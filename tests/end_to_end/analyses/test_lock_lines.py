"""Locks of the C library are seen by `sharing` and `advise`: locks of several threads on one line are false sharing, one
lock of several threads isn't, and nobody is told to split it."""

import json
import unittest

from ..support import tools

ROUNDS = 100
SOURCE = tools.PROGRAMS / "lock_lines.c"


def program():
    def build():
        path = tools.BUILD / "tests" / "lock_lines"
        path.parent.mkdir(parents=True, exist_ok=True)
        return tools.compile_traced(path, [SOURCE], "-O1", "-pthread")

    return tools.once("lock-lines", build)


def table(name, *words):
    report = json.loads(tools.trackway(*words, "--json").stdout)
    return [row for found in report["tables"] if found["name"] == name for row in found["rows"]]


class LockLines(unittest.TestCase):
    def fields(self, which):
        with tools.folder() as folder:
            tools.record(f"{folder}/trace", program(), which, str(ROUNDS))
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), ROUNDS)
            rows = table("fields", "sharing", f"{folder}/trace")
            return {row["field"]: row for row in rows if "lock" in row["field"]}

    def transfers(self, rows):
        return sum(row["read_hand_overs"] + row["write_hand_overs"] for row in rows.values())

    def test_locks_on_one_line_are_false_sharing(self):
        rows = self.fields("near")
        self.assertEqual(len(rows), 2, rows)
        # Each turn takes the line once, by the write of the lock's word; nobody had it before the first.
        self.assertEqual(self.transfers(rows), 2 * ROUNDS - 1)
        # Who takes the spin lock first takes it from where it was initialised.
        false_sharing = {field: row["false_sharing"] for field, row in rows.items()}
        self.assertEqual(false_sharing, {"near_locks": 1, "near_locks.second": (ROUNDS - 1) / ROUNDS})

    def test_one_lock_is_true_sharing(self):
        rows = self.fields("same")
        self.assertEqual(self.transfers(rows), 2 * ROUNDS - 1)
        self.assertEqual({row["false_sharing"] for row in rows.values()}, {0})

    def test_locks_on_lines_of_their_own_share_nothing(self):
        self.assertEqual(self.fields("far"), {})
