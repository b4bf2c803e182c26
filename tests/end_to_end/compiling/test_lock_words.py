"""What the pass knows of locks is what machine code of the C library does to them, call by call."""

import json
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "lock_words.c"


def program(kind, make):
    path = tools.BUILD / "tests" / "lock_words" / kind
    path.parent.mkdir(parents=True, exist_ok=True)
    return tools.once(("lock-words", kind), lambda: make(path, [SOURCE], "-O1", "-g", "-pthread"))


def compile_without_oracle(output, sources, *flags):
    return tools.compile_traced(output, sources, *flags, oracle=False)


def writes(kind):
    return "store" in kind or "write" in kind or kind in ("atomic update", "atomic compare-exchange")


def words_by_call(executable, *options):
    """Of each call: the function, the bytes of locks that are written, and those that are read only."""
    with tools.folder() as folder:
        recorded = tools.record(f"{folder}/trace", executable, options=options)
        places, *functions = recorded.stdout.splitlines()
        step, locks, size = (int(word, 0) for word in places.split())
        calls = [(name, set(), set()) for name in functions]
        steps = 0
        for line in tools.trackway("dump", "--json", f"{folder}/trace").stdout.splitlines():
            event = json.loads(line)
            if "site" not in event:
                continue
            address = int(event["address"], 16)
            steps += address == step and writes(event["kind"])
            of_locks = set(range(address, address + event["size"])) & set(range(locks, locks + size))
            if steps % 2 == 1 and of_locks:
                _, written, read = calls[steps // 2]
                (written if writes(event["kind"]) else read).update(byte - locks for byte in of_locks)
        assert steps == 2 * len(functions), steps
        return [(name, sorted(written), sorted(read - written)) for name, written, read in calls]


class LockWords(unittest.TestCase):
    maxDiff = None

    def test_each_call_accesses_the_words_that_machine_code_does(self):
        known = words_by_call(program("traced", compile_without_oracle))
        seen = words_by_call(program("plain", tools.compile_plain), "--binary")
        self.assertGreater(len(known), 30)
        for of_pass, of_machine_code in zip(known, seen, strict=True):
            with self.subTest(of_pass[0]):
                self.assertEqual(of_pass, of_machine_code)
