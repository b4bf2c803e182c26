"""What came of tests: a test that could not run here is skipped, and never counts as passed."""


class Tally:
    def __init__(self):
        self.passed = self.failed = 0
        # Names with reasons.
        self.skipped = []
        # Names of those that failed, as far as known: a program that crashes or doesn't compile names none.
        self.failures = []
        # How long the tests took whose time is known.
        self.seconds = {}

    def add(self, passed, failed, skipped=(), failures=()):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.failures += failures

    def check(self, name, passed):
        """Adds one check, by its name."""
        self.add(passed, not passed, failures=[] if passed else [name])

    def reasons(self):
        """Lines: each reason once, and the tests that it kept from running; the tests that failed."""
        tests = {}
        for name, reason in self.skipped:
            tests.setdefault(reason, []).append(name)
        for reason, names in sorted(tests.items()):
            yield f"skipped: {reason}: {', '.join(sorted(names))}"
        for name in self.failures:
            yield f"failed: {name}"

    def slowest(self, count):
        """Lines: the tests that took longest."""
        for name, seconds in sorted(self.seconds.items(), key=lambda test: -test[1])[:count]:
            yield f"{seconds:6.1f} s  {name}"

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {len(self.skipped)} skipped"
