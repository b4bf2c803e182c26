"""What C library functions read and write is recorded as ranges: those that `library_calls.c` was written for, counted by
hand, however the compiler turns calls into others; and the program does what its plain build does."""

import json
import re
import unittest

from ..support import tools

SOURCE = tools.PROGRAMS / "library_calls.c"
BUILDS = (
    ("-O0",),
    ("-O0", "-fno-builtin"),
    ("-O2",),
    ("-O2", "-fno-builtin"),
    ("-O2", "-D_FORTIFY_SOURCE=2"),
    ("-O2", "-flto", "-fuse-ld=lld"),
)


def read(place, size):
    return ("read", place, size)


def write(place, size):
    return ("write", place, size)


# By the case: buffer (or buffer + offset) and bytes. Nobody knows the address of what isn't named: None.
EXPECTED = {
    "strlen": [read("a", 13)],
    "strnlen": [read("a", 3)],
    "memcmp": [read("a", 8), read("b", 8)],
    "memcmp_equal": [read("a", 20), read("b", 20)],
    "strcmp": [read("a", 8), read("b", 8)],
    "strncmp": [read("a", 4), read("b", 4)],
    "strcasecmp": [read("a", 13), read("b", 13)],
    "memchr": [read("a", 5)],
    "memchr_missing": [read("a", 20)],
    "strchr": [read("a", 5)],
    "strchr_missing": [read("a", 13)],
    "strrchr": [read("a", 13)],
    "strstr": [read("a", 10), read("b", 4)],
    "strspn": [read("a", 5), read("b", 4)],
    "strcpy": [read("a", 13), write("c", 13)],
    "stpcpy": [read("a", 13), write("c", 13)],
    "strncpy": [read("a", 10), write("c", 10)],
    "strcat": [read("c", 6), read("a", 13), write("c+5", 13)],
    "strncat": [read("c", 6), read("a", 3), write("c+5", 4)],
    "memccpy": [read("a", 5), write("c", 5)],
    "memcpy": [read("a", 21), write("c", 21)],
    "mempcpy": [read("a", 22), write("c", 22)],
    "wcslen": [read("wide", 16)],
    "wcscpy": [read("wide", 16), write("wide_copy", 16)],
    "strdup": [read("a", 13), write("copy", 13)],
    "atoi": [read("a", 6)],
    "strtol": [read("a", 5), write(None, 8)],
    "strtoul_nothing": [read("a", 2)],
    "strtod": [read("a", 6)],
    "qsort": [read("numbers", 24), write("numbers", 24)],
    "write": [read("a", 9)],
    "read": [write("b", 9)],
    "read_failure": [],
    "send_failure": [],
    "fwrite": [read("a", 20)],
    "fread": [write("b", 18)],
    "fputs": [read("a", 20)],
    "fgets": [write("b", 8)],
    "fgets_end": [],
    "getline": [write("line", 13)],
    "sprintf": [read(None, 6), read("a", 10), write("c", 13)],
    "snprintf": [read(None, 6), read("a", 10), write("c", 8)],
    "snprintf_nothing": [read(None, 3), read("a", 10)],
    # The format, "end", and where %n writes.
    "sprintf_directives": [read(None, 22), read("a", 4), read("b", 2), read(None, 4), write(None, 4), write("c", 18)],
}

# What the compiler knows as copies is recorded as such.
VERBS = {"library read": "read", "copy read": "read", "library write": "write", "copy write": "write"}


def buffers_of(output):
    """Where the program's buffers are, by their names."""
    return {name: int(address, 16) for name, address in re.findall(r"^(\w+) (0x[0-9a-f]+)$", output, re.MULTILINE)}


def place_of(address, buffers):
    for name, begin in buffers.items():
        if begin <= address < begin + 64:
            return name if address == begin else f"{name}+{address - begin}"
    return None


def ranges_of(trace, buffers):
    """Kinds, places and sizes of the ranges in each case, sorted. What headers inline belongs to the case, too."""
    found, entered = {}, []
    for line in tools.trackway("dump", "--json", trace).stdout.splitlines():
        event = json.loads(line)
        if event["kind"] == "enter":
            entered.append(event["function"])
        elif event["kind"] == "exit":
            entered.pop()
        elif verb := VERBS.get(event["kind"]):
            place = place_of(int(event["address"], 0), buffers)
            found.setdefault(entered[-1].removeprefix("case_"), []).append((verb, place, event["size"]))
    return {case: sorted(ranges, key=str) for case, ranges in found.items()}


def names_in_table():
    text = (tools.ROOT / "collectors/pass/code/LibraryTable.cpp").read_text()
    lines = text.split('R"(')[1].split(')"')[0].strip().splitlines()
    heads = [re.split(r"\s+(?:read|write|allocate|format)\(", line)[0] for line in lines if line]
    return {name.strip() for head in heads for name in head.split(",")}


class LibraryCalls(unittest.TestCase):
    def test_all_functions_are_documented(self):
        documented = (tools.ROOT / "docs/collectors/compiler.md").read_text()
        section = documented.split("## Library functions")[1].split("### Further functions")[0]
        # Other forms of a function count as documented with it.
        plain_name = lambda name: re.sub(r"^__|(_unlocked)?(_chk)?$", "", name)
        named = set(map(plain_name, re.findall(r"`(\w+)`", section)))
        plain = set(map(plain_name, names_in_table()))
        self.assertEqual(plain - named, set())

    def record(self, folder, *flags):
        traced = tools.compile_traced(f"{folder}/traced", [SOURCE], *flags)
        return tools.record(f"{folder}/trace", traced, check=False)  # its status is a result

    def check(self, *flags):
        with tools.folder() as folder:
            recorded = self.record(folder, *flags)
            self.assertGreater(tools.verified_accesses(f"{folder}/trace"), 60)
            ranges = ranges_of(f"{folder}/trace", buffers_of(tools.program_output(recorded)))
        for case, expected in EXPECTED.items():
            self.assertEqual(ranges.get(case, []), sorted(expected, key=str), f"{case}, {flags}")

    def test_report_says_their_share(self):
        with tools.folder() as folder:
            self.record(folder, "-O0")
            attribution = tools.table(tools.report(f"{folder}/trace"), "attribution")["rows"][0]
            self.assertGreater(attribution["by_library"], 0)
            without = tools.report(f"{folder}/trace", "--without-library")
            rest = tools.table(without, "attribution")["rows"][0]
            self.assertEqual(rest["by_library"], 0)
            self.assertLess(rest["accesses"], attribution["accesses"])
            dumped = tools.trackway("dump", "--without-library", f"{folder}/trace").stdout
            self.assertFalse(re.search("library (read|write)", dumped))

    def test_copies_of_strings_are_allocations(self):
        with tools.folder() as folder:
            self.record(folder, "-O2")
            dumped = tools.trackway("dump", "--json", f"{folder}/trace").stdout.splitlines()
            events = [json.loads(line) for line in dumped]
            allocated = [event for event in events if event["kind"] == "allocate" and event["function"] == "case_strdup"]
            self.assertEqual([event["size"] for event in allocated], [13])

    def test_left_out_when_compiling(self):
        with tools.folder() as folder:
            self.record(folder, "--library=0", "-O2")
            dumped = tools.trackway("dump", f"{folder}/trace").stdout
            self.assertFalse(re.search("library (read|write)", dumped))

    def test_functions_of_a_file(self):
        with tools.folder() as folder:
            effects = f"{folder}/effects"
            with open(effects, "w") as file:
                file.write("strnlen read(arg0 + 1, 2)  # says something else than the table\n")
            recorded = self.record(folder, f"--library-effects={effects}", "-O0")
            ranges = ranges_of(f"{folder}/trace", buffers_of(tools.program_output(recorded)))
            self.assertEqual(ranges["strnlen"], [("read", "a+1", 2)])
            with open(effects, "w") as file:
                file.write("\nmy_hash reads(arg0)\n")
            refused = tools.trackway("cc", f"--library-effects={effects}", SOURCE, "-o", f"{folder}/none", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertRegex(refused.stderr, r"effects, line 2: expected read\(ADDRESS, LENGTH\)")


def add_tests():
    for flags in BUILDS:
        name = "_".join(re.sub(r"\W+", "_", flag).strip("_") for flag in flags)
        setattr(LibraryCalls, f"test_ranges_{name}", lambda self, flags=flags: self.check(*flags))


add_tests()
