"""Files that verbs write: what is there is replaced whole or not at all, and what is no file stays what it is. And what reaches
a terminal of names that a foreign trace brings."""

import csv
import io
import json
import os
import pty
import re
import shutil
import stat
import subprocess
import threading
import unittest
from pathlib import Path

from ..support import tools

GOLDEN = tools.ROOT / "trace/vectors/golden-v2.trackway"
# Verbs that write one file, whatever it holds: the words before its name, and those after the trace.
WRITERS = {
    "view": (("view", "-q", "-o"), ()),
    "din": (("export", "--to", "din", "-o"), ()),
    "callgrind": (("export", "-q", "--to", "callgrind", "-o"), ()),
    "libcachesim": (("export", "-q", "--to", "libcachesim", "-o"), ()),
    "budget": (("check", "-q", "--write-budget"), ()),
    "query": (("query", "-q", "--format", "csv", "-o"), ("SELECT count(*) FROM accesses",)),
}


def command(verb, path, *options):
    before, after = WRITERS[verb]
    return [str(word) for word in (tools.TRACKWAY, *before, path, *options, GOLDEN, *after)]


def write(verb, path, *options, **settings):
    return tools.run(*command(verb, path, *options), check=False, **settings)


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def each(self, check):
        for verb in WRITERS:
            with self.subTest(verb):
                check(verb, self.folder / verb)

    def expected(self, verb):
        path = self.folder / "expected"
        path.unlink(missing_ok=True)
        done = write(verb, path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        return path.read_bytes()

    def test_files_are_replaced_only_by_force(self):
        def check(verb, path):
            path.write_text("mine")
            refused = write(verb, path)
            self.assertEqual((refused.returncode, path.read_text()), (2, "mine"))
            self.assertIn("exists already; choose another name, or replace it with -f", refused.stderr)
            self.assertEqual(write(verb, path, "--force").returncode, 0)
            self.assertEqual(path.read_bytes(), self.expected(verb))

        self.each(check)

    def test_what_could_not_be_written_leaves_the_old_file(self):
        folder = self.folder / "closed"
        folder.mkdir()

        def check(verb, _):
            path = folder / "old"
            path.write_text("mine")
            limited = "ulimit -f 0; trap '' XFSZ; exec \"$@\""
            done = tools.run("sh", "-c", limited, "sh", *command(verb, path, "--force"), check=False)
            self.assertEqual((done.returncode, path.read_text()), (2, "mine"), done.stderr)
            self.assertEqual(os.listdir(folder), ["old"])

        self.each(check)

    def test_links_are_refused_or_followed(self):
        def check(verb, path):
            target, link = Path(f"{path}.target"), Path(f"{path}.link")
            target.write_text("mine")
            link.symlink_to(target)
            refused = write(verb, link)
            self.assertEqual((refused.returncode, target.read_text()), (2, "mine"))
            self.assertIn("is a symbolic link", refused.stderr)
            self.assertEqual(write(verb, link, "--force").returncode, 0)
            self.assertTrue(link.is_symlink())
            self.assertEqual(target.read_bytes(), self.expected(verb))
            target.unlink()
            dead = write(verb, link, "--force")
            self.assertEqual((dead.returncode, target.exists()), (2, False))
            self.assertIn("leads nowhere", dead.stderr)

        self.each(check)

    def test_fifos_are_written_through(self):
        def check(verb, path):
            os.mkfifo(path)
            read = []
            # It would wait for ever if nobody opened the other end.
            reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
            reader.start()
            done = write(verb, path, "--force")
            reader.join(10)
            self.assertEqual((done.returncode, read), (0, [self.expected(verb)]), done.stderr)
            self.assertTrue(stat.S_ISFIFO(path.lstat().st_mode))

        self.each(check)

    def test_devices_are_written_through(self):
        device = self.folder / "null"
        try:
            os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
            device.write_bytes(b"")
        except OSError as error:
            self.skipTest(f"nobody may make device nodes here: {error.strerror}")

        def check(verb, _):
            done = write(verb, device, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(stat.S_ISCHR(device.lstat().st_mode))

        self.each(check)

    def test_standard_output_may_be_named(self):
        def check(verb, path):
            piped = subprocess.run(command(verb, "/dev/stdout"), stdout=subprocess.PIPE, check=True, timeout=60)
            self.assertEqual(piped.stdout, self.expected(verb))
            with open(path, "wb") as file:
                file.write(b"before\n")
                file.flush()
                subprocess.run(command(verb, "/dev/stdout"), stdout=file, check=True, timeout=60)
            self.assertEqual(path.read_bytes(), b"before\n" + self.expected(verb))

        self.each(check)

    def test_folders_are_no_files(self):
        def check(verb, path):
            path.mkdir()
            refused = write(verb, path, "--force")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("is a folder", refused.stderr)

        self.each(check)

    def test_a_program_that_does_not_start_leaves_the_old_trace(self):
        trace = self.folder / "old.trackway"
        shutil.copy(GOLDEN, trace)
        done = tools.trackway("record", "-q", "-f", "-o", trace, "--", self.folder / "no-such-program", check=False)
        self.assertEqual(done.returncode, 127)
        self.assertEqual(trace.read_bytes(), GOLDEN.read_bytes())
        self.assertEqual(os.listdir(self.folder), [trace.name])

    def test_an_import_that_fails_leaves_the_old_trace(self):
        trace, text = self.folder / "old.trackway", self.folder / "perf.txt"
        trace.write_text("mine")
        text.write_text("p 1 2.5: mem-loads: 7f00 40 a (p)\nsomething else\n")
        done = tools.trackway("import", "-q", "-f", text, "-o", trace, check=False)
        self.assertEqual((done.returncode, trace.read_text()), (2, "mine"), done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), [trace.name, text.name])


def on_a_terminal(*command):
    """What a terminal would get."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([str(word) for word in command], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the end, as Linux says it
        pass
    finally:
        os.close(ours)
    return process.wait(60), shown


class Terminals(unittest.TestCase):
    """Names out of a trace that move the cursor, set the title, and are formulas to a spreadsheet."""

    NAME = "=evil\x1b]0;owned\x07\x7f\x9b2J\u202e(void)"
    SHOWN = "=evil\ufffd]0;owned\ufffd\ufffd\ufffd2J\ufffd(void)"
    QUERY = "SELECT function, -count(*) AS negative FROM samples GROUP BY function"

    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.trace = Path(folder.name) / "evil.trackway"
        text = Path(folder.name) / "evil.txt"
        text.write_text(f"prog 7/7 [000] 2.500000: 1 cpu/mem-loads/P: 7f0012345678 401000 {self.NAME}+0x10 (/bin/prog)\n")
        tools.trackway("import", text, "-o", self.trace)

    def test_no_sequence_of_a_name_passes(self):
        for words in (("samples",), ("samples", "--csv"), ("samples", "--json"), ("dump",), ("verify",), ("query", "-q")):
            asked = words[0] == "query"
            for form in ((), ("--format", "csv"), ("--format", "json")) if asked else ((),):
                with self.subTest(words=words, form=form):
                    sql = (self.QUERY,) if asked else ()
                    status, shown = on_a_terminal(tools.TRACKWAY, *words, *form, self.trace, *sql)
                    self.assertEqual(status, 0, shown)
                    text = shown.decode()
                    ours = re.sub(r"\x1b\[\d*m", "", text).replace("\r\n", "\n")
                    self.assertEqual([letter for letter in ours if ord(letter) < 32 and letter not in "\n\t"], [])
                    self.assertNotRegex(ours, "[\x7f-\x9f\u202e]")
                    if words[0] != "verify" and "json" not in str(words + form):
                        self.assertIn(self.SHOWN, ours)

    def test_messages_are_printable(self):
        status, shown = on_a_terminal(tools.TRACKWAY, "report", f"no{self.NAME}file")
        self.assertEqual(status, 2)
        self.assertIn(f"trackway: no{self.SHOWN}file: ", shown.decode())

    def test_programs_get_names_as_they_are_but_no_formulas(self):
        table = csv.DictReader(io.StringIO(tools.trackway("samples", "--csv", self.trace).stdout, newline=""))
        self.assertEqual([row["function"] for row in table], ["'" + self.NAME])
        answer = tools.trackway("query", "-q", "--format", "csv", self.trace, self.QUERY).stdout
        (row,) = csv.DictReader(io.StringIO(answer, newline=""))
        self.assertEqual((row["function"], row["negative"]), ("'" + self.NAME, "-1"))
        (table, *_) = json.loads(tools.trackway("samples", "--json", self.trace).stdout)["tables"]
        self.assertEqual([row["function"] for row in table["rows"]], [self.NAME])
