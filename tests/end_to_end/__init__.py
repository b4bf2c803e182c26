"""End-to-end tests: real compilers, real programs, the built `trackway`."""

import importlib
import pkgutil
import time
import traceback
import unittest
from concurrent.futures import ThreadPoolExecutor, as_completed


def all_tests():
    loader = unittest.defaultTestLoader
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        if module.startswith("test_"):
            loaded = importlib.import_module(f"{__name__}.{module}")
            yield from flatten(loader.loadTestsFromModule(loaded))


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


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
    """Runs the tests whose name contains `pattern`, `jobs` at a time, and adds to the tally what came of them."""
    tests = [test for test in all_tests() if pattern in test.id()]
    passed = failed = skipped = 0
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(run_one, test) for test in tests]):
            test, problems, skips, seconds = done.result()
            name = test.id().removeprefix(f"{__name__}.")
            skips = [(skip.id().removeprefix(f"{__name__}."), reason) for skip, reason in skips]
            skipped += len(skips)
            tally.add(not problems and not skips, bool(problems), skips)
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
