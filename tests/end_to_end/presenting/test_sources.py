"""Whose source lines are shown: those that were compiled, and nothing else of the reader's machine."""

import hashlib
import os
import shutil
import unittest
from pathlib import Path

from ..support import tools
from ..support.tools import table

SECRET = "correct-horse-battery-staple"
CHANGED = "(source changed since the trace was made)"
HOT = "sum += numbers[i * 3 & 4095];"
PROGRAM = f"""#include <stdio.h>
static long numbers[4096];
int main(void) {{
    long sum = 0;
    for (long i = 0; i < 20000; i++) {{
        {HOT}
        numbers[i & 4095]++;
    }}
    printf("%ld\\n", sum);
    return 0;
}}
"""
# An answer of any of these may take some seconds on a busy machine, and never comes if a pipe or a device is read.
PATIENCE_S = 120


def program_of_lines(places):
    """A program whose lines claim to stand in these files."""
    lines = "\n".join(f'# {line} "{file}"\nsum += numbers[i * 3 & 4095]; numbers[i & 4095]++;' for file, line in places)
    return f"""static long numbers[4096];
int main(void) {{
long sum = 0;
for (long i = 0; i < 20000; i++) {{
{lines}
}}
return sum == 1;
}}
"""


def quoted(trace, folder, *options):
    """The texts in a report on the trace, as somebody reads it who is in that folder."""
    done = tools.trackway("report", "--json", "--by", "line", "--top", "0", *options, trace, cwd=folder)
    rows = table(tools.json.loads(done.stdout), "lines")["rows"]
    return {row["source"] for row in rows} - {None}


class Scene(unittest.TestCase):
    """A folder with `source`, in which programs are compiled and run, and `elsewhere`, in which their traces are read."""

    def setUp(self):
        folder = tools.folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.source, self.elsewhere = self.folder / "source", self.folder / "elsewhere"
        self.source.mkdir()
        self.elsewhere.mkdir()
        self.trace = self.folder / "trace"

    def write(self, name, text):
        path = self.source / name
        path.write_text(text)
        return path

    def record(self, *words, compiler="cc", count=False):
        """Compiles in the folder of the sources, and records there."""
        counting = ["--count"] if count else []
        tools.trackway(compiler, *counting, "-O1", *words, "-o", "prog", cwd=self.source)
        tools.trackway("record", "-q", "-f", "-o", self.trace, "--", "./prog", cwd=self.source)


class ForeignTraces(Scene):
    """A trace whose lines claim to stand in files of the reader."""

    def setUp(self):
        super().setUp()
        secret = self.folder / "secret.c"
        secret.write_text(SECRET + "\n")
        pipe, huge = self.folder / "pipe.c", self.folder / "huge.c"
        os.mkfifo(pipe)
        huge.touch()
        os.truncate(huge, 1 << 40)
        link = self.source / "link.c"
        link.symlink_to(secret)
        hostile = ["/proc/self/environ", "/proc/self/pagemap", "/proc/kmsg", "/dev/zero", "/dev/tty", pipe, huge]
        self.places = [(file, 1) for file in [secret, link, "../secret.c", "secret.c", *hostile]]
        self.write("foreign.c", program_of_lines(self.places))
        (self.elsewhere / "link.c").symlink_to(secret)

    def read(self, *words, check=True):
        environment = tools.environment(SECRET=SECRET)
        settings = {"cwd": self.elsewhere, "env": environment, "time_limit_s": PATIENCE_S}
        return tools.trackway(*words, check=check, **settings)

    def assert_nothing_is_shown(self, *words, check=True):
        done = self.read(*words, check=check)
        written = [file for file in self.elsewhere.rglob("*") if file.is_file() and not file.is_symlink()]
        texts = {file: file.read_bytes() for file in written} | {words: (done.stdout + done.stderr).encode()}
        for place, text in texts.items():
            self.assertNotIn(SECRET.encode(), text, place)
        for file in written:
            file.unlink()

    def test_no_verb_shows_what_they_name(self):
        self.record("foreign.c")
        files = {row["file"] for row in table(tools.report(self.trace, "--by", "file"), "files")["rows"]}
        self.assertIn("/proc/self/environ", files)  # the lines are attributed
        trace = self.trace
        for words in [
            ["report", trace],
            ["report", "--json", "--by", "line,field,file,site", "--top", "0", trace],
            ["report", "--parquet", "tables", trace],
            ["report", "--csv", "--by", "line", trace],
            ["report", "--source-root", self.elsewhere, trace],
            ["view", trace, "-o", "page.html"],
            ["view", "--json", trace],
            ["layout", trace],
            ["whatif", "--cache", "preset:zen3", trace],
            ["query", trace, "SELECT * FROM sites"],
            ["diff", "--by", "line", trace, trace],
            ["reuse", trace],
            ["patterns", trace],
            ["sharing", trace],
            ["map", trace],
            ["memory", trace],
            ["branches", trace],
            ["check", trace, "--write-budget", "budget.toml"],
            ["info", trace],
            ["dump", "--count", "100", trace],
            ["verify", trace],
            ["export", trace, "--to", "callgrind", "-o", "callgrind.out"],
            ["export", trace, "--to", "folded", "-o", "folded.txt"],
            ["export", trace, "--to", "pprof", "-o", "profile.pb"],
        ]:
            with self.subTest(words[0]):
                self.assert_nothing_is_shown(*words)
        for verb in ["samples", "allocations", "objects"]:
            self.assert_nothing_is_shown(verb, trace, check=False)

    def test_counts_show_nothing_either(self):
        self.record("foreign.c", count=True)
        for words in [["report"], ["report", "--json"], ["view", "-o", "page.html"]]:
            self.assert_nothing_is_shown(*words, self.trace)

    def test_the_live_report_shows_nothing(self):
        self.record("foreign.c")
        self.assert_nothing_is_shown("record", "--live", "misses", "--by", "line", "--", self.source / "prog")

    def test_line_markers_bring_no_checksum(self):
        secret = self.folder / "secret.c"
        self.write("foreign.i", f'# 1 "{secret}"\n{PROGRAM.split(">", 1)[1]}'.replace("printf", "__builtin_printf"))
        for words in [["-g", "foreign.c"], ["-gdwarf-4", "foreign.c"], ["-g", "foreign.i"], ["-gdwarf-4", "foreign.i"]]:
            self.record(*words)
            trace = self.trace.read_bytes()
            for digest in (hashlib.md5, hashlib.sha256):
                self.assertNotIn(digest(secret.read_bytes()).digest(), trace)


class Quoting(Scene):
    """The text that was compiled is quoted from wherever the trace is read."""

    def assert_quoted(self, *words, compiler="cc"):
        self.record(*words, compiler=compiler)
        self.assertIn(HOT, quoted(self.trace, self.elsewhere), words)

    def test_whatever_the_debugging_information(self):
        self.write("prog.c", PROGRAM)
        for words in [["-g"], [], ["-g1"]]:
            self.assert_quoted(*words, "prog.c")
        self.assert_quoted("-g", self.source / "prog.c")

    def test_headers(self):
        self.write("hot.h", PROGRAM)
        (self.source / "sub").mkdir()
        self.write("sub/prog.c", '#include "../hot.h"\n')
        self.assert_quoted("-g", "sub/prog.c")

    def test_fortran(self):
        hot = "total = total + numbers(mod(i, 4096) + 1)"
        text = f"""program sums
  integer :: numbers(4096), total, i
  numbers = 1
  total = 0
  do i = 1, 20000
    {hot}
    numbers(mod(i, 7) + 1) = total
  end do
  print *, total
end program
"""
        self.write("prog.f90", text)
        self.record("-g", "prog.f90", compiler="fc")
        self.assertIn(hot, quoted(self.trace, self.elsewhere))

    def test_counts(self):
        self.write("prog.c", PROGRAM)
        self.record("-g", "prog.c", count=True)
        done = tools.trackway("report", "--json", "--by", "line", self.trace, cwd=self.elsewhere)
        rows = table(tools.json.loads(done.stdout), "region_lines")["rows"]
        self.assertIn(HOT, {row["source"] for row in rows})

    def test_changed_files_are_named_as_such(self):
        path = self.write("prog.c", PROGRAM)
        self.record("-g", "prog.c")
        path.write_text(PROGRAM.replace("* 3", "* 5"))
        self.assertEqual(quoted(self.trace, self.source), {CHANGED})
        text = tools.trackway("report", "--by", "line", self.trace, cwd=self.source).stdout
        self.assertEqual(text.count(CHANGED), 1)
        page = tools.json.loads(tools.trackway("view", "--json", self.trace, cwd=self.source).stdout)
        [file] = [file for file in page["sources"] if file["file"].endswith("prog.c")]
        self.assertEqual({line for part in file["stretches"] for line in part["lines"]}, {CHANGED})
        path.unlink()
        self.assertEqual(quoted(self.trace, self.source), set())

    def test_moved_files_are_found_below_the_source_root(self):
        self.write("prog.c", PROGRAM)
        self.record("-g", "prog.c")
        shutil.move(self.source, self.folder / "moved")
        self.assertEqual(quoted(self.trace, self.elsewhere), set())
        self.assertIn(HOT, quoted(self.trace, self.elsewhere, "--source-root", self.folder / "moved"))
        self.assertIn(HOT, quoted(self.trace, self.elsewhere, "--source-root", "../moved"))
        wrong = tools.trackway("report", "--source-root", "nowhere", self.trace, cwd=self.elsewhere, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--source-root", wrong.stderr)

    def test_mapped_prefixes(self):
        self.write("prog.c", PROGRAM)
        self.record("-g", f"-ffile-prefix-map={self.source}=/mapped", "prog.c")
        self.assertEqual(quoted(self.trace, self.elsewhere), set())
        self.assertIn(HOT, quoted(self.trace, self.elsewhere, "--source-root", self.source))


class WithoutChecksums(Scene):
    """Files that only a line marker names are quoted below the reader's folder, or below the one that he names."""

    def assert_quoted_below_a_root_only(self):
        self.assertNotIn(HOT, quoted(self.trace, self.elsewhere))
        self.assertIn(HOT, quoted(self.trace, self.source))
        self.assertIn(HOT, quoted(self.trace, self.elsewhere, "--source-root", self.source))
        self.assertNotIn(HOT, quoted(self.trace, self.source, "--source-root", self.elsewhere))

    def test_preprocessed_source(self):
        self.write("prog.c", PROGRAM)
        preprocessed = tools.run(tools.plain_compiler("prog.c"), "-E", "prog.c", cwd=self.source).stdout
        self.write("prog.i", preprocessed)
        self.record("-g", "prog.i")
        self.assert_quoted_below_a_root_only()

    def test_older_debugging_information(self):
        self.write("prog.c", PROGRAM)
        self.record("-gdwarf-4", "prog.c")
        self.assert_quoted_below_a_root_only()

    def test_generated_source(self):
        self.write("grammar.y", PROGRAM)
        self.write("grammar.c", f'#line 1 "grammar.y"\n{PROGRAM}')
        self.record("-g", "grammar.c")
        self.assert_quoted_below_a_root_only()

    def test_other_files_than_source_code_are_never_quoted(self):
        self.write("key.pem", SECRET + "\n")
        self.write("prog.c", program_of_lines([("key.pem", 1)]))
        self.record("-g", "prog.c")
        self.assertNotIn(SECRET, quoted(self.trace, self.source))
