"""The client for AArch64: built for that processor, and right where an emulator runs DynamoRIO."""

import csv
import io
import json
import re
import shutil
import subprocess
import unittest

from ..support import tools
from ..support.workloads import known_answers

TRIPLE = "aarch64-linux-gnu"
CLIENT = tools.BUILD / "lib" / "trackway" / TRIPLE / "dynamorio"
LIBRARIES = f"/usr/{TRIPLE}"
# The recorder tells a program that was compiled for it where its memory is; the client listens to another name.
LAUNCH = """exec qemu-aarch64 -0 "$0" -L {libraries} -E TRACKWAY_CLIENT_RING="$TRACKWAY_RING" -E DYNAMORIO_EXE_PATH="$0" \\
    -E "DYNAMORIO_OPTIONS=-code_api -xarch_root {libraries} -client_lib {client}/client.so;0;" \\
    {client}/home/lib64/release/libdynamorio.so "$@"
"""
# The area that tests/programs/aarch64_stores.c stores to, as it begins.
AREA_BEGINS = bytes(40960) + b"\xff" * 8192 + bytes(16384)


def needs(*commands):
    missing = [command for command in commands if not shutil.which(command)]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}; the client for AArch64 goes untested")


def compiled(folder, source, *flags):
    program = f"{folder}/{source.stem}"
    include = f"-I{tools.ROOT / 'workloads'}", f"-I{tools.BUILD / 'include'}"
    tools.run(f"{TRIPLE}-gcc", "-O2", "-g", "-no-pie", *flags, *include, source, "-o", program, "-lm")
    return program


def recorded(trace, program, *arguments):
    script = LAUNCH.format(libraries=LIBRARIES, client=CLIENT)
    return tools.record(trace, "sh", "-c", script, program, *arguments)


def stored_bytes(trace, begin, length):
    """Offsets of all bytes of an area that the trace's stores cover."""
    offsets = set()
    command = [tools.TRACKWAY, "dump", "--json", trace]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for event in map(json.loads, process.stdout):
            place = int(event.get("address", "0"), 16) - begin
            if event.get("kind") == "store" and 0 <= place < length:
                offsets.update(range(place, place + event["size"]))
    return offsets


@needs(f"{TRIPLE}-gcc")
class Building(unittest.TestCase):
    def test_the_client_is_of_that_processor(self):
        library = CLIENT / "client.so"
        self.assertRegex(tools.run("readelf", "-h", library).stdout, r"Machine:\s+AArch64")
        self.assertRegex(tools.run("readelf", "-s", "--wide", library).stdout, r"FUNC +GLOBAL +DEFAULT +\d+ dr_client_main")


@needs(f"{TRIPLE}-gcc", "qemu-aarch64")
class Emulated(unittest.TestCase):
    def test_stores_are_where_memory_changed(self):
        with tools.folder() as folder:
            program = compiled(folder, tools.PROGRAMS / "aarch64_stores.c")
            trace, after = f"{folder}/trace", f"{folder}/area"
            recorded(trace, program, after)
            tools.trackway("verify", trace)
            begin = int(re.search(r"^(\w+) \w area$", tools.run("nm", program).stdout, re.M).group(1), 16)
            with open(after, "rb") as file:
                content = file.read()
            changed = {i for i, (old, new) in enumerate(zip(AREA_BEGINS, content, strict=True)) if old != new}
            self.assertGreater(len(changed), 10_000)
            self.assertEqual(stored_bytes(trace, begin, len(content)), changed)

    def test_a_workload_gives_its_answer(self):
        with tools.folder() as folder:
            program = compiled(folder, tools.ROOT / "workloads" / "quicksort.c")
            done = recorded(f"{folder}/trace", program, "small")
            self.assertIn(known_answers()["quicksort"], done.stdout)
            accesses = tools.report(f"{folder}/trace", "--by", "function", "--top", "0", "--cache", "none")["tables"][0]
            by_function = {row["function"]: row["accesses"] for row in accesses["rows"]}
            self.assertGreater(by_function["partition"], 300_000)
            self.assertGreater(by_function["insertion_sort"], 100_000)

    def test_allocations_have_their_lines(self):
        with tools.folder() as folder:
            program = compiled(folder, tools.PROGRAMS / "allocations.c", "-fno-builtin")
            trace = f"{folder}/trace"
            recorded(trace, program)
            text = tools.trackway("memory", "--csv", "--table", "allocations", "--top", "0", trace).stdout
            rows = [row for row in csv.DictReader(io.StringIO(text)) if row["function"] == "main"]
        found = {(row["allocator"], int(row["allocations"]), row["line"]) for row in rows}
        lines = enumerate((tools.PROGRAMS / "allocations.c").read_text().splitlines(), 1)
        place = {name: str(number) for number, line in lines for name in re.findall(r"\b(\w*alloc|\w+_memalign)\(", line)}
        counts = {"malloc": 100, "realloc": 100, "posix_memalign": 1, "calloc": 1}
        self.assertEqual(found, {(name, count, place[name]) for name, count in counts.items()})
