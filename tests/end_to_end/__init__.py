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
    except Exception:  # a broken fixture is a failure of its test, not the end of the run
        problems = [traceback.format_exc()]
    return test, problems, time.monotonic() - started


def run(pattern, jobs):
    """Runs the tests whose name contains `pattern`, `jobs` at a time; returns how many passed and failed."""
    tests = [test for test in all_tests() if pattern in test.id()]
    passed = failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(run_one, test) for test in tests]):
            test, problems, seconds = done.result()
            name = test.id().removeprefix(f"{__name__}.")
            if problems:
                failed += 1
                print(f"FAILED {name} ({seconds:.1f} s)\n" + "\n".join(problems), flush=True)
            else:
                passed += 1
                if seconds > 10 or pattern:
                    print(f"ok {name} ({seconds:.1f} s)", flush=True)
    print(f"end-to-end: {passed} passed, {failed} failed", flush=True)
    return passed, failed
