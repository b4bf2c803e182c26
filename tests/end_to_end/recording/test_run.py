"""`trackway run`: records a program and answers at once."""

import json
import os
import unittest
from pathlib import Path

from ..support import tools

# Goes through an array of structures of two lines each in no order, so that each access takes bytes of the trace.
SOURCE = """#include <stdlib.h>
#include <stdio.h>
struct account { long balance; char cold[120]; };
int main(int count, char **words) {
    const long accounts_count = 20000;
    struct account *accounts = calloc(accounts_count, sizeof *accounts);
    unsigned long sum = 0, state = 1;
    for (long i = 0; i < accounts_count; i++)
        accounts[i].balance = count;
    for (int round = 0; round < 20; round++)
        for (long i = 0; i < accounts_count; i++) {
            state = state * 6364136223846793005 + 1442695040888963407;
            sum += accounts[(state >> 33) % accounts_count].balance + round;
        }
    printf("%lu %s\\n", sum, count > 1 ? words[1] : "");
    free(accounts);
    return 7;
}
"""


def build_programs():
    folder = tools.BUILD / "tests" / "run"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "bank.c"
    source.write_text(SOURCE)
    tools.compile_traced(folder / "bank", [source], "-g", "-O1", oracle=False)
    tools.compile_plain(folder / "plain", [source], "-g", "-O1")
    tools.trackway("cc", "--count", "-g", "-O1", source, "-o", folder / "counting")
    return folder


class Run(unittest.TestCase):
    def setUp(self):
        programs = tools.once(("run", "programs"), build_programs)
        self.folder = self.enterContext(tools.folder())
        for program in ("bank", "plain", "counting"):
            os.link(programs / program, f"{self.folder}/{program}")

    def run_here(self, *words, check=False):
        settings = tools.environment(XDG_CONFIG_HOME=f"{self.folder}/settings", HOME=self.folder)
        return tools.trackway("run", *words, check=check, cwd=self.folder, env=settings)

    def test_one_command_records_and_answers(self):
        done = self.run_here("-f", "--machine", "zen3", "./bank", "--top", "-f")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("5000000 --top\n", done.stdout, "the program has its own words")
        self.assertIn("of the estimated time", done.stdout)
        lines = done.stdout.splitlines()
        self.assertIn("trace: bank.trackway", lines)
        self.assertEqual(lines[-2], "page:  bank.trackway.html")
        self.assertTrue(lines[-1].startswith("next:  trackway fix bank.trackway"), lines[-1])
        self.assertRegex(done.stderr, r"bank\.trackway: accesses in .*, [0-9.]+ [KM]B in the file")
        again = self.run_here("./bank")
        self.assertEqual(again.returncode, 2)
        self.assertIn("replace it with -f", again.stderr)

    def test_the_last_line_is_for_programs(self):
        done = self.run_here("-f", "-q", "--json", "--machine", "zen3", "--page", "-o", "json.trackway", "./bank")
        self.assertEqual(done.returncode, 7)
        answer = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((answer["trace"], answer["page"]), ("json.trackway", "json.trackway.html"))
        self.assertEqual((answer["verb"], answer["part"]), ("advise", 1.0))
        self.assertEqual(answer["next"], "trackway fix json.trackway")
        said = tools.trackway("advise", "--json", "--machine", "zen3", "--top", "3", "json.trackway", cwd=self.folder)
        self.assertEqual(answer["report"], json.loads(said.stdout))
        cut = self.run_here("-f", "--json", "--machine", "zen3", "--look", "400K", "-o", "cut.trackway", "./bank")
        answer = json.loads(cut.stdout.splitlines()[-1])
        self.assertTrue(0 < answer["part"] < 1, answer["part"])
        self.assertEqual(answer["next"], "trackway fix cut.trackway")

    def test_a_page_that_is_quick_lies_beside_the_trace_with_the_cards_of_the_answer(self):
        done = self.run_here("-f", "-q", "--json", "--machine", "zen3", "-o", "paged.trackway", "./bank")
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(answer["page"], "paged.trackway.html")
        page = Path(self.folder, "paged.trackway.html").read_text()
        data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
        advice = next(part for part in data["parts"] if part["name"] == "advice")
        cards = next(found for found in advice["tables"] if found["name"] == "cards")
        names = [column["name"] for column in cards["columns"]]
        shown = [dict(zip(names, row, strict=True)) for row in cards["rows"]]
        answered = next(found for found in answer["report"]["tables"] if found["name"] == "cards")["rows"]
        self.assertEqual(shown[: len(answered)], answered)
        self.assertIn("card_moves", [found["name"] for found in advice["tables"]])
        self.assertNotIn("card_moves", [found["name"] for found in answer["report"]["tables"]])

    def test_without_a_page_its_command_is_named(self):
        done = self.run_here("-f", "-q", "--machine", "zen3", "--no-page", "-o", "bare.trackway", "./bank")
        self.assertIn("page:  trackway view bare.trackway writes it", done.stdout.splitlines())
        self.assertFalse(Path(self.folder, "bare.trackway.html").exists())

    def test_a_page_that_can_not_be_written_takes_nothing_from_the_answer(self):
        Path(self.folder, "mine.trackway.html").write_text("mine")
        done = self.run_here("-q", "--machine", "zen3", "-o", "mine.trackway", "./bank")
        self.assertEqual(done.returncode, 7)
        self.assertIn("mine.trackway.html", done.stderr)
        self.assertIn("page:  trackway view mine.trackway writes it", done.stdout.splitlines())
        self.assertEqual(Path(self.folder, "mine.trackway.html").read_text(), "mine")

    def test_a_plain_program_does_not_start_and_is_told_how_to_go_on(self):
        done = self.run_here("-o", "plain.trackway", "./plain")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for way in ("trackway cc", "trackway run --binary ./plain", "trackway run --sample ./plain"):
            self.assertIn(way, done.stderr)
        self.assertFalse(Path(self.folder, "plain.trackway").exists())

    def test_limits_are_said(self):
        done = self.run_here("-f", "--machine", "zen3", "--max-size", "64K", "-o", "cut.trackway", "./bank")
        self.assertEqual(done.returncode, 7)
        self.assertIn("the program ran on unrecorded", done.stderr)
        done = self.run_here("-f", "--machine", "zen3", "--look", "64K", "-o", "part.trackway", "./bank")
        self.assertRegex(done.stderr, r"the answer comes from [0-9.]+ % of the run's time, in the middle of its records \(--look 64 KiB\)")
        self.assertIn("of all of it: trackway advise part.trackway", done.stderr)
        self.assertIn("next:  trackway fix part.trackway", done.stdout)
        # Less than a chunk: that chunk is looked at.
        done = self.run_here("-f", "--machine", "zen3", "--look", "1K", "-o", "part.trackway", "./bank")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("of the estimated time", done.stdout)

    def test_counting_programs_show_regions_and_samples_lines(self):
        counting = self.run_here("-f", "./counting")
        self.assertEqual(counting.returncode, 7)
        self.assertIn("MB/s", counting.stdout)
        self.assertEqual(counting.stdout.splitlines()[-1], "next:  trackway top ./counting   (the regions while it runs)")
        sampled = self.run_here("-f", "--sample", "./plain")
        self.assertEqual(sampled.returncode, 7)
        self.assertIn("sample", sampled.stderr)

    def test_statuses_are_those_of_record(self):
        self.assertEqual(self.run_here("./missing").returncode, 127)


if __name__ == "__main__":
    unittest.main()
