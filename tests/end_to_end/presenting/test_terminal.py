"""Reports in a terminal of 80 columns, and in a pipe."""

import json
import re
import unittest
from pathlib import Path

from ..support import terminal, tools

WIDTH = 80
# A name that takes a third of the window, and more misses than fit with all digits beside it.
SOURCE = """#include <stdlib.h>
#include <stdio.h>
namespace {
struct Account { long balance_of_the_last_quarter; long cold[15]; };
__attribute__((noinline)) long sum_of_all_balances_of_the_bank(Account *accounts, long count) {
    long sum = 0;
    for (int round = 0; round < 20; round++)
        for (long i = 0; i < count; i++)
            sum += accounts[i].balance_of_the_last_quarter;
    return sum;
}
}
int main() {
    const long count = 100000;
    Account *accounts = static_cast<Account *>(calloc(count, sizeof(Account)));
    printf("%ld\\n", sum_of_all_balances_of_the_bank(accounts, count));
    free(accounts);
}
"""
FIELD = "Account.balance_of_the_last_quarter"
FUNCTION = "sum_of_all_balances_of_the_bank(Account*, long)"
CACHES = "L1=32K,8,64:L2=256K,8,64"
# Verbs that print tables, or pass on to a verb that does.
TABLES = {
    *("run", "record", "coverage", "advise", "layout", "whatif", "place", "report", "sharing", "reuse", "patterns", "branches"),
    *("map", "memory", "allocations", "samples", "objects", "last", "diff", "check", "view", "query", "calibrate"),
}
# What prints something else that programs may read: lines, a list of what the machine lacks, or of kept answers.
LISTS = {"info", "dump", "doctor", "answers", "verify", "import"}
OPTIONS = {
    "--top": TABLES,
    "--json": TABLES | LISTS,
    # Those with tables of several kinds of groups. The others rank one kind only, or cards, or what a query asks for.
    "--by": {
        *("record", "report", "sharing", "reuse", "branches", "patterns", "memory", "allocations", "samples", "objects", "diff"),
    },
}
# Compilers, and what writes text for a shell or for man, have no output of their own.
WITHOUT_OUTPUT = {"cc", "fc", "rustc", "cargo", "completions", "man", "help"}


def verbs():
    return set(re.findall(r"^  ([a-z]+) {2,}\S", tools.trackway("--help").stdout, re.MULTILINE))


def options_of(verb):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z]+)", tools.trackway(verb, "--help").stdout, re.MULTILINE))


def record_bank():
    folder = tools.BUILD / "tests" / "terminal"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "bank.cpp"
    source.write_text(SOURCE)
    program = tools.compile_traced(folder / "bank", [source], "-g", "-O1", oracle=False)
    tools.record(folder / "bank.trackway", program)
    return str(folder / "bank.trackway")


def next_step(lines):
    """The command below the answer, whose lines a shell takes as one."""
    begin = next(at for at, line in enumerate(lines) if line.startswith("next: "))
    return re.sub(r" \\\n +", " ", "\n".join(lines[begin:]))


class Terminal(unittest.TestCase):
    def setUp(self):
        self.trace = tools.once(("terminal", "trace"), record_bank)

    def shown(self, *words):
        lines, status = terminal.run(WIDTH, tools.TRACKWAY, *words)
        self.assertEqual(status, 0, "\n".join(lines))
        return lines

    def test_names_are_whole_and_the_ranking_stays(self):
        lines = self.shown("report", "--cache", CACHES, "--by", "field,function", self.trace)
        tables = lines[:next(at for at, line in enumerate(lines) if line.startswith("next:"))]
        self.assertTrue(all(len(line) <= WIDTH for line in tables), "\n".join(tables))
        row = next(line for line in lines if line.startswith(FIELD))
        # Each access misses: 2,000,000 in all.
        self.assertEqual(row.split()[1], "2.00M")
        self.assertIn("2.00M", row.split()[2:])
        self.assertTrue(any(line.startswith("sum_of_all_balances_of_the_bank(Account*, …)") for line in lines), "\n".join(lines))
        self.assertFalse(any("…" in line and FIELD[:8] in line for line in lines))
        # Nothing is left out of a name on request.
        whole = self.shown("report", "-v", "--cache", CACHES, "--by", "function", self.trace)
        text = "".join(re.split(" {2,}", line)[0] for line in whole)
        self.assertIn(FUNCTION.replace(" ", ""), text.replace(" ", ""))

    def test_the_answer_and_the_next_step_stand_last(self):
        lines = self.shown("report", "--cache", CACHES, self.trace)
        self.assertEqual(next_step(lines), f"next: trackway advise {self.trace}")
        answer = next(at for at, line in enumerate(lines) if re.match(rf"{FIELD}, ", line))
        self.assertGreater(answer, lines.index("Memory traffic"))
        piped = tools.trackway("report", "--cache", CACHES, self.trace).stdout.splitlines()
        self.assertTrue(piped[0].startswith(f"{FIELD}, "), piped[0])
        self.assertIn("2,000,000", " ".join(piped), "all digits, where there is no window")
        self.assertEqual(piped[-1], next_step(lines))

    def test_lines_have_their_file(self):
        lines = self.shown("last", self.trace)
        heading = next(line for line in lines if line.startswith("thread "))
        self.assertIn("place", heading.split())
        self.assertTrue(any(re.search(r"bank\.cpp:\d+$", line) for line in lines), "\n".join(lines))
        table = json.loads(tools.trackway("last", "--json", self.trace).stdout)["tables"][0]
        self.assertLessEqual({"file", "line", "address", "object"}, set(table["rows"][0]))

    def test_lines_to_write_are_shown_once_and_whole(self):
        for lines in (self.shown("layout", "--cache", CACHES, self.trace),
                      tools.trackway("layout", "--cache", CACHES, self.trace).stdout.splitlines()):
            text = "\n".join(lines)
            links = [line for line in lines if "*rest;" in line]
            self.assertTrue(links, text)
            self.assertEqual(len(links), len(set(links)), text)
            self.assertTrue(all(line.endswith("// or two arrays with one index") for line in links), text)

    def test_a_compiler_verb_has_our_help(self):
        done = tools.trackway("cc", "-h")
        self.assertIn("Usage: trackway cc", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_verify_answers_programs(self):
        report = json.loads(tools.trackway("verify", "--json", self.trace).stdout)
        checks = next(table["rows"] for table in report["tables"] if table["name"] == "checks")
        self.assertEqual([row["check"] for row in checks][0], "invariants")
        self.assertEqual({row["holds"] for row in checks}, {"yes"})

    def test_bookkeeping_comes_with_v(self):
        usual = tools.trackway("report", self.trace).stdout
        self.assertNotIn("chunks decoded", usual)
        self.assertIn("(-v also shows: Attribution, Trace)", usual)
        verbose = tools.trackway("report", "-v", self.trace).stdout
        self.assertIn("chunks decoded", verbose)
        self.assertNotIn("-v also shows", verbose)
        for verb, row in (("map", "Resolutions"), ("memory", "releases of unknown blocks")):
            usual, verbose = (tools.trackway(verb, *options, self.trace).stdout for options in ((), ("-v",)))
            self.assertRegex(" ".join(usual.split()), rf"\(-v also shows: [^)]*{row}")
            self.assertRegex(verbose, rf"(?m)^{row}")

    def test_commands_are_whole(self):
        lines = self.shown("layout", "--cache", CACHES, self.trace)
        command = next_step(lines)
        self.assertRegex(command, r"--split '\(anonymous namespace\)::Account:balance_of_the_last_quarter")
        # What is advised can be typed as it stands there.
        words = re.sub(r"^next: trackway ", "", command)
        tools.run("bash", "-c", f"{tools.TRACKWAY} {words} --cache {CACHES}")

    def test_lines_of_a_command_can_be_copied(self):
        lines = self.shown("layout", "--cache", CACHES, self.trace)
        begin = next(at for at, line in enumerate(lines) if line.startswith("    trackway whatif"))
        end = next(at for at in range(begin, len(lines)) if not lines[at].endswith("\\"))
        self.assertGreater(end, begin, "the options alone are wider than the window")
        command = "\n".join(lines[begin:end + 1]).replace("trackway", str(tools.TRACKWAY), 1)
        self.assertIn("Before: ", tools.run("bash", "-c", f"{command} --cache {CACHES}").stdout)
        self.assertNotIn("TRACE", "\n".join(lines))

    def test_cards_name_the_trace(self):
        cards = tools.trackway("advise", "--machine", "zen3", self.trace, "--json").stdout
        self.assertNotIn(" TRACE", cards)
        steps = [table["rows"][0]["next"] for table in json.loads(cards)["tables"] if table["name"] == "card"]
        step = next(step for step in steps if step.startswith("trackway whatif"))
        self.assertTrue(step.endswith(f" {self.trace}"), step)

    def test_the_list_of_what_is_lacking_fits(self):
        lines = self.shown("doctor")
        wide = [line for line in lines if len(line) > WIDTH and "$ " not in line]
        self.assertEqual(wide, [])

    def test_tables_without_rows_are_named_alone(self):
        lines = self.shown("sharing", self.trace)
        self.assertNotIn("Fields by hand-overs", lines)
        self.assertTrue(any(line.startswith("(empty: Fields, Lines") for line in lines), "\n".join(lines))
        table = json.loads(tools.trackway("sharing", "--json", self.trace).stdout)["tables"][0]
        self.assertEqual((table["name"], table["rows"]), ("fields", []))

    def test_every_verb_takes_the_options_that_make_sense_for_it(self):
        found = verbs() - WITHOUT_OUTPUT
        self.assertIn("report", found)
        for verb in sorted(found):
            expected = {"--quiet", *(option for option, having in OPTIONS.items() if verb in having)}
            with self.subTest(verb):
                self.assertEqual(options_of(verb) & {"--quiet", *OPTIONS}, expected)

    def test_by_chooses_the_tables_of_memory(self):
        of_types, of_both = (
            {each["name"] for each in json.loads(tools.trackway("memory", "--json", *options, self.trace).stdout)["tables"]}
            for options in (("--by", "type"), ())
        )
        self.assertEqual(of_both - of_types, {"allocations", "peak", "use"})
        self.assertLessEqual({"peak_types", "type_use"}, of_types)
        csv = tools.trackway("memory", "--csv", "--by", "type", self.trace).stdout.splitlines()
        self.assertTrue(csv[0].startswith("type,"), csv[0])

    def test_memory_keeps_the_bytes_that_it_ranks_by(self):
        lines = self.shown("memory", self.trace)
        at = lines.index("Live at the peak by allocation")
        table = lines[at : lines.index("", at)]
        self.assertTrue(any("bytes" in line for line in table[1:3]), table)
        # 100,000 accounts of 128 bytes.
        self.assertTrue(any("12,800,000" in line for line in table), table)

    def test_answers_end_in_what_to_type_next(self):
        trace = self.trace
        saved = Path(trace).with_name("saved.json")
        saved.write_text(tools.trackway("report", "--json", "--top", "0", trace).stdout)
        split = ("whatif", "--cache", CACHES, "--split", "Account:balance_of_the_last_quarter")
        for words, expected in (
            (("patterns", trace), f"trackway advise {trace}"),
            (("memory", trace), f"trackway advise {trace}"),
            (("reuse", trace), f"trackway advise {trace}"),
            (("map", trace), f"trackway view {trace}"),
            (("advise", "--machine", "zen3", trace), f"trackway fix {trace}"),
            (("diff", trace, trace), f"trackway view {trace} {trace}"),
            ((*split, trace), f"trackway fix {trace} --split 'Account:balance_of_the_last_quarter'"),
        ):
            with self.subTest(words[0]):
                lines = tools.trackway(*words).stdout.splitlines()
                self.assertEqual([line for line in lines if line.startswith("next: ")], [f"next: {expected}"])
                self.assertTrue(lines[-1].startswith("next: "), lines[-1])
                self.assertNotIn("next:", tools.trackway(*words, "--csv").stdout)
        self.assertNotIn("next:", tools.trackway("diff", saved, trace).stdout, "a saved report has no page")
        worse = ("whatif", "--pad", "Account:4096", trace)
        self.assertNotIn("next:", tools.trackway(*worse).stdout, "what saves nothing isn't patched")

    def test_budgets_lead_on_and_say_whether_they_hold(self):
        budget = Path(self.trace).with_name("budget.toml")
        written = tools.trackway("check", "-f", "--cache", CACHES, "--write-budget", budget, self.trace).stderr
        self.assertRegex(written, rf"{budget}: \d+ budgets\n")
        command = re.search(r"next: trackway (.*)", written)[1]
        lines, status = terminal.run(WIDTH, "bash", "-c", f"{tools.TRACKWAY} {command}")
        self.assertEqual(status, 0, lines)
        self.assertIn("holds", " ".join(lines))
        self.assertFalse([line for line in lines if line.startswith("next:")], "all is well")
        budget.write_text(budget.read_text().replace("max = ", "max = 1 # "))
        lines, status = terminal.run(WIDTH, tools.TRACKWAY, "check", "--budget", budget, self.trace)
        self.assertEqual(status, 3)
        self.assertIn("NO", " ".join(lines).split())
        self.assertEqual(next_step(lines), f"next: trackway report {self.trace}")
        refused = tools.trackway("check", self.trace, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"trackway check --write-budget budget.toml {self.trace}", refused.stderr)

    def test_patterns_keep_the_pattern(self):
        lines = self.shown("patterns", self.trace)
        at = next(at for at, line in enumerate(lines) if line.startswith("Sites by accesses"))
        self.assertIn("pattern", lines[at + 1].split())

    def test_no_title_is_named_twice_or_empty(self):
        for verb in ("memory", "patterns", "report"):
            for line in " ".join(self.shown(verb, self.trace)).split("(no room for: ")[1:]:
                titles = line.split(")")[0].split(", ")
                self.assertNotIn("", titles, verb)
        lines = self.shown("diff", self.trace, self.trace)
        self.assertNotIn("(no room for: )", lines)

    def test_what_is_exported_says_how_to_open_it(self):
        target = Path(self.trace).with_name("bank.folded")
        words = ("export", "-f", "--to", "folded", "-o", target, self.trace)
        said = tools.trackway(*words).stderr.splitlines()
        self.assertEqual(said[-1], f"trackway: next: flamegraph.pl {target} > flame.svg")
        self.assertEqual(tools.trackway(*words, "-q").stderr, "")

    def test_changes_of_bookkeeping_come_with_v(self):
        usual = tools.trackway("diff", self.trace, self.trace).stdout
        self.assertNotIn("shares that changed", usual.split("(-v also shows")[0])


if __name__ == "__main__":
    unittest.main()
