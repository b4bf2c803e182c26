"""`trackway doctor` on this machine, which has all compilers, and with a PATH that has none."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path

from ..support import tools

MAIN_WAY = "cc, record"


def doctor(*options, **variables):
    """The exit status, and rows by feature."""
    done = tools.trackway("doctor", "--json", *options, check=False, env=tools.environment(**variables))
    table = json.loads(done.stdout)["tables"][0]
    return done.returncode, {row["feature"]: row for row in table["rows"]}


def suggested_packages():
    """Packages that the Debian package depends on, recommends or suggests."""
    control = (tools.ROOT / "packaging/debian/control").read_text()
    fields = re.findall(r"^(?:Depends|Recommends|Suggests): (.*)$", control, re.M)
    return {package.split()[0] for field in fields for package in field.split(", ") if not package.startswith("@")}


class Doctor(unittest.TestCase):
    def test_this_machine_compiles_and_records(self):
        status, rows = doctor()
        self.assertEqual(status, 0)
        self.assertEqual(next(iter(rows)), MAIN_WAY)
        for feature in (MAIN_WAY, "c++", "fc", "cc --clang=clang-19", "record --allocations", "place --far-file"):
            self.assertEqual(rows[feature]["state"], "present", rows[feature])
        self.assertEqual(rows[MAIN_WAY]["finding"], "clang-22")

    def test_without_compilers_the_lines_install_them(self):
        with tools.folder() as folder:
            status, rows = doctor(PATH=folder)
        self.assertEqual(status, 1)
        lines = {feature: rows[feature]["install"] for feature in (MAIN_WAY, "fc", "cc --clang=clang-19")}
        self.assertEqual(lines, {MAIN_WAY: "apt-get install clang-22", "fc": "apt-get install flang-22",
                                 "cc --clang=clang-19": "apt-get install clang-19"})
        known = suggested_packages()
        for feature, row in rows.items():
            if row["install"].startswith("apt-get install ") and "spark" not in feature:
                for package in row["install"].split()[2:]:
                    self.assertIn(package, known, "packaging/debian/control doesn't suggest it")

    def test_a_broken_compiler_is_no_main_way(self):
        with tools.folder() as folder:
            compiler = Path(folder, "clang-22")
            compiler.write_text("#!/bin/sh\necho 'error: something is wrong' >&2\nexit 1\n")
            compiler.chmod(0o755)
            status, rows = doctor(TRACKWAY_CLANG=str(compiler))
        self.assertEqual((status, rows[MAIN_WAY]["state"]), (1, "lacking"))
        self.assertEqual(rows[MAIN_WAY]["finding"], "error: something is wrong")

    def test_only_what_is_lacking(self):
        with tools.folder() as folder:
            status, rows = doctor("--lacking", PATH=folder)
            text = tools.trackway("doctor", "--lacking", check=False, env=tools.environment(PATH=folder)).stdout
        self.assertEqual(status, 1)
        self.assertEqual({row["state"] for row in rows.values()}, {"lacking"})
        self.assertIn("compiled recording doesn't work: clang-22 isn't there", text.splitlines()[0])
        self.assertIn("$ apt-get install clang-22\n", text)
        self.assertNotIn("present", text)

    def test_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            doctor(TMPDIR=folder)
            self.assertEqual(os.listdir(folder), [])


class Manual(unittest.TestCase):
    def test_each_verb_has_a_page(self):
        verbs = re.findall(r"^  ([a-z+]+)  ", tools.trackway("--help").stdout, re.M)
        self.assertIn("doctor", verbs)
        with tools.folder() as folder:
            tools.trackway("man", f"{folder}/man1")
            pages = set(os.listdir(f"{folder}/man1"))
        of_control = {f"trackway-control-{word}.1" for word in ("start", "stop", "mark", "status", "snapshot")}
        of_verbs = {f"trackway-{verb}.1" for verb in verbs if verb != "help"}
        self.assertEqual(pages, {"trackway.1"} | of_verbs | of_control)
