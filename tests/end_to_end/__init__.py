"""End-to-end tests: real compilers, real programs, the built `trackway`.

Each folder holds the tests of one subject; `support` holds the code that they share.
"""

import importlib
import time
import traceback
import unittest
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

FOLDER = Path(__file__).parent


def all_tests():
    loader = unittest.defaultTestLoader
    for file in sorted(FOLDER.rglob("test_*.py")):
        module = ".".join(file.relative_to(FOLDER).with_suffix("").parts)
        loaded = importlib.import_module(f"{__name__}.{module}")
        yield from flatten(loader.loadTestsFromModule(loaded))


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def name_of(test):
    """The folder, the module, the class and the method."""
    return test.id().removeprefix(f"{__name__}.")


def is_chosen(test, pattern):
    """Folders have common words for names, so the pattern must be the whole name of one."""
    name = name_of(test)
    return pattern in name.partition(".")[2] or f"{name}.".startswith(f"{pattern}.")


def run_one(test):
    started = time.monotonic()
    result = unittest.TestResult()
    try:
        test.run(result)
        problems = [text for _, text in result.failures + result.errors]
        problems += ["it was expected to fail, and passed"] * len(result.unexpectedSuccesses)
    except Exception:  # a broken fixture is a failure of its test, not the end of the run
        problems = [traceback.format_exc()]
    return test, problems, result.skipped, time.monotonic() - started


def run(pattern, jobs, tally):
    """Runs the tests that `pattern` chooses, `jobs` at a time, and adds to the tally what came of them."""
    tests = [test for test in all_tests() if is_chosen(test, pattern)]
    passed = failed = skipped = 0
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(run_one, test) for test in tests]):
            test, problems, skips, seconds = done.result()
            name = name_of(test)
            tally.seconds[name] = seconds
            skips = [(name_of(skip), reason) for skip, reason in skips]
            skipped += len(skips)
            tally.add(not problems and not skips, bool(problems), skips, [name] if problems else [])
            if problems:
                failed += 1
                print(f"FAILED {name} ({seconds:.1f} s)\n" + "\n".join(problems), flush=True)
            elif skips:
                for part, reason in skips:
                    print(f"skipped {part}: {reason}", flush=True)
            else:
                passed += 1
                if seconds > 10 or pattern:
                    print(f"ok {name} ({seconds:.1f} s)", flush=True)
    print(f"end-to-end: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
