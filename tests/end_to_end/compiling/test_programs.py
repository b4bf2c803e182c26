"""Programs that are hard to follow: their traces equal the oracle's at every level, and they print what they should."""

import unittest

from ..support import tools

FLAGS = {"threads": ["-pthread"]}
NAMES = ("containers", "control_flow", "threads", "fork")


def source_of(name):
    return next(tools.PROGRAMS.glob(f"{name}.c*"))


class Programs(unittest.TestCase):
    def check(self, name, *flags):
        source = source_of(name)
        flags = [*flags, *FLAGS.get(name, [])]
        with tools.folder() as folder:
            traced = tools.compile_traced(f"{folder}/traced", [source], *flags)
            tools.record(f"{folder}/trace", traced)
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)

    def test_signal_handler_left_alone(self):
        """A handler may also be left out; what it interrupts is recorded all the same."""
        with tools.folder() as folder:
            ignorelist = f"{folder}/list"
            with open(ignorelist, "w") as file:
                file.write("fun:on_tick\n")
            source = source_of("async_signals")
            traced = tools.compile_traced(f"{folder}/traced", [source], f"--ignorelist={ignorelist}", "-O2")
            recorded = tools.record(f"{folder}/trace", traced)
            self.assertRegex(tools.program_output(recorded), r"handler ran: yes")
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 1_000_000)

    def test_link_time_optimisation(self):
        for name in ("containers", "control_flow"):
            self.check(name, "-O2", "-flto", "-fuse-ld=lld")

    def test_position_dependent(self):
        self.check("control_flow", "-O2", "-fno-pie", "-no-pie")

    def test_wide_vectors(self):
        with tools.folder() as folder:
            for name in ("stream", "matrix"):
                source = tools.ROOT / "workloads" / f"{name}.c"
                traced = tools.compile_traced(f"{folder}/{name}", [source], "-O3", "-mavx2")
                tools.record(f"{folder}/trace", traced, "small")
                self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 1000)

    def test_places_in_the_pipeline(self):
        for place in ("start", "early", "late"):
            with tools.folder() as folder:
                source = source_of("containers")
                tools.record(f"{folder}/trace", tools.compile_traced(f"{folder}/traced", [source], f"--place={place}", "-O2"))
                self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)

    def test_labels_that_leave_their_function(self):
        """Such a function is recorded, and runs where nothing is, whichever copy handed the labels out."""
        source, rounds = source_of("label_escape"), 500
        for flags in (["-O0"], ["-O2", "-Wl,-z,text"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-flto", "-fuse-ld=lld"],
                      ["--place=start", "-O2"]):
            with tools.folder() as folder:
                traced = tools.compile_traced(f"{folder}/traced", [source], *flags, "-g")
                for labels in (["own"], ["own", "recorded"], ["distances"], ["distances", "recorded"], ["inside"]):
                    with self.subTest(flags=flags, labels=labels):
                        tools.record(f"{folder}/trace", traced, rounds, *labels)
                        self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 2 * rounds * 10)
                        alone = tools.run(traced, rounds, *labels).stdout
                        self.assertEqual(alone, tools.run(tools.plain_of(traced), rounds, *labels).stdout)

    def test_functions_that_labels_leave_have_a_plain_copy(self):
        with tools.folder() as folder:
            traced = tools.compile_traced(f"{folder}/traced", [source_of("label_escape")], "-g", "-O2", oracle=False)
            symbols = tools.run("nm", traced).stdout
            for function in ("run", "run_by_distances", "run_inside"):
                self.assertRegex(symbols, rf"(?m) t {function}\.plain$")

    def test_function_entry_and_exit(self):
        with tools.folder() as folder:
            source = source_of("control_flow")
            tools.record(f"{folder}/trace", tools.compile_traced(f"{folder}/traced", [source], "--calls=1", "-O2"))
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 100)


def add_tests():
    for name in NAMES:
        for level in tools.LEVELS:
            method = f"test_{name}_{level.lstrip('-')}"
            setattr(Programs, method, lambda self, name=name, level=level: self.check(name, level))


add_tests()
