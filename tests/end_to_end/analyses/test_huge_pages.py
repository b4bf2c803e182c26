"""The card for huge pages: it counts what can be in them, and is shown only if that saves time."""

import json
import unittest
from pathlib import Path

from ..support import tools

MIB = 1 << 20
# Blocks of one size, and lines at random in them. Few enough that the small blocks have the heap for themselves.
SOURCE = """
#include <stdlib.h>
int main(int count, char **words) {
    long blocks = atol(words[1]), bytes = atol(words[2]);
    volatile char **all = malloc(blocks * sizeof *all);
    for (long i = 0; i < blocks; i++)
        all[i] = malloc(bytes);
    unsigned long random = 88172645463325252;
    for (long i = 0; i < 200000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        all[(random >> 40) % blocks][random % bytes]++;
    }
    return 0;
}
"""
# Pages cost as much as on servers.
MACHINE = """
processor = "one for tests"
ghz = 3.0
width = 4.0
window = 320
most_misses = 12
fault_ns = 700.0
transfer_ns = 50.0
[tlb]
second_level_ns = 2.0
walk_ns = 30.0
[[level]]
name = "L1"
size_bytes = 32768
latency_ns = 1.0
line_ns = 0.1
[[level]]
name = "L2"
size_bytes = 1048576
latency_ns = 4.0
line_ns = 0.5
[[level]]
name = "memory"
latency_ns = 90.0
line_ns = 1.0
"""
CACHES = "L1=32K,8,64:L2=1M,16,64:TLB1=64,4:TLB2=1536,12"


def build():
    folder = tools.BUILD / "tests" / "huge_pages"
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "blocks.c", folder / "blocks"
    source.write_text(SOURCE)
    (folder / "machine.toml").write_text(MACHINE)
    tools.trackway("cc", "-O1", "-g", source, "-o", program)
    tools.run("clang-22", "-O1", source, "-o", folder / "plain")
    tools.has_plain(program, lambda: folder / "plain")
    return folder


class HugePages(unittest.TestCase):
    def advice(self, blocks, size):
        """The row and the card for huge pages, or why there is none."""
        built = tools.once("huge_pages", build)
        with tools.folder() as folder:
            trace = Path(folder, "trace")
            tools.record(trace, built / "blocks", str(blocks), str(size))
            found = tools.trackway("advise", "--json", "--machine", built / "machine.toml", "--cache", CACHES, trace).stdout
        tables = json.loads(found)["tables"]
        rows = next(table["rows"] for table in tables if table["name"] == "cards")
        cards = [table["rows"][0] for table in tables if table["name"] == "card"]
        for row, card in zip(rows, cards, strict=True):
            if row["change"] == "huge pages":
                return row, card, None
        others = next(table["rows"] for table in tables if table["name"] == "not_advised")
        return None, None, next(row["why"] for row in others if row["change"] == "huge pages")

    def test_a_large_block_has_them_for_all_but_its_ends(self):
        row, card, _ = self.advice(1, 64 * MIB)
        self.assertGreater(row["saves"], 0.1)
        # The block begins just after the start of a mapping, which is rarely that of a huge page.
        self.assertIn("in 31 pages of 2 MiB", card["because"])
        self.assertIn("glibc.malloc.hugetlb=1", card["next"])

    def test_small_blocks_have_them_by_the_heap(self):
        row, card, _ = self.advice(1000, 64 * 1024)
        self.assertGreater(row["saves"], 0.1)
        pages = int(card["because"].split(" would lie in ")[1].split()[0])
        # 62.6 MiB, and up to the end of the page in which the heap ends.
        self.assertIn(pages, (31, 32))
        self.assertIn("glibc.malloc.hugetlb=1", card["next"])

    def test_blocks_between_have_none(self):
        _, _, why = self.advice(64, MIB)
        self.assertEqual(why, "no block and no heap of the trace fills a page of 2 MiB")


if __name__ == "__main__":
    unittest.main()
