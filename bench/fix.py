"""Patches of `trackway fix` in real programs and our workloads: which can be made, compile, leave the output as it was, and gain.

Each program is recorded on a small input. Then all cards of `trackway advise` are tried, and, whether they gain or not,
another order, a split and an alignment of each structure that takes much of the time. A patch is applied to a copy of the
sources, which is built by the plain compiler and run on the small input. Cards are also timed on the large one: medians of
CPU time of interleaved runs. So is the known change of programs that have one.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass

from measuring import programs, results, timing
from measuring.known_fixes import KNOWN
from measuring.real_programs import REAL
from measuring.real_runs import COMPILERS
from measuring.real_sources import DRIVERS, text
from measuring.workload_programs import SMALL_WORKLOADS, WORKLOADS

FOLDER = programs.OUT / "fix"
# Bytes of the small text.
SMALL_TEXT = 300_000
# Words after the program's name, for the small input. `text` is a file with the beginning of what `bench/run real` compresses.
SMALL = {
    "lua": "$DRIVERS/load.lua 1500",
    "sqlite": "2000",
    "bzip2": "-9 -k -c text",
    "zstd": "text 12",
    "xz": "text 1",
    "lz4": "text 1 9",
    "zlib-ng": "text 6",
    "jemalloc": "1 60000",
    "leveldb": "5000",
    "rapidjson": "2000 1",
    "oniguruma": "text 100000",
    "cadical": "100 1",
}
SMALL |= {known.name: known.small for known in KNOWN}
SMALL |= SMALL_WORKLOADS
PROGRAMS = (*REAL, *(known.program() for known in KNOWN), *WORKLOADS)
# Structures whose changes are tried, and fields that count as hot.
STRUCTURES = 5
HOT_SHARE = 0.1
MADE = re.compile(r"predicted to save (-?[\d.]+) % of the time")
COLUMNS = (
    results.Column("tried", "tried", "{:.0f}"),
    results.Column("made", "made", "{:.0f}"),
    results.Column("compile", "compile", "{:.0f}"),
    results.Column("pass", "pass", "{:.0f}"),
    results.Column("cards", "cards", "{:.0f}"),
    results.Column("gain", "gain", "{:.0f}"),
    results.Column("known", "known change saves, %", "{:.1f}"),
)


@dataclass
class Tried:
    """A change, and what came of it."""

    words: list
    title: str = ""
    is_card: bool = False
    reason: str = ""
    patch: bytes = b""
    compiles: bool = False
    passes: bool = False
    predicted: float | None = None
    saved: float | None = None

    def line(self):
        if not self.patch:
            return f"refused: {self.reason}"
        if not self.compiles:
            return f"DOESN'T COMPILE: {self.reason}"
        if not self.passes:
            return "DOES SOMETHING ELSE"
        gain = "" if self.saved is None else f", {self.saved:.1f} % of the CPU time saved"
        predicted = "" if self.predicted is None else f", {self.predicted:.1f} % predicted"
        return f"passes{predicted}{gain}"


class Subject:
    """A program: its sources, recorded, and built without Trackway."""

    def __init__(self, program):
        self.program = program
        self.traced, self.plain, self.patched = (FOLDER / variant / program.name for variant in ("traced", "plain", "patched"))
        self.trace = FOLDER / f"{program.name}.trackway"

    def environment(self, variant):
        return dict(os.environ, DRIVERS=str(DRIVERS), **COMPILERS[variant])

    def prepare(self):
        for variant, folder in (("traced", self.traced), ("plain", self.plain)):
            if not (folder / "program").exists():
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(self.program.source(), folder, symlinks=True)
                # Patches name files from the repository's folder.
                programs.call("git", "init", "-q", folder)
                programs.call("bash", "-ec", self.program.build, cwd=folder, env=self.environment(variant))
            with open(text(), "rb") as whole:
                (folder / "text").write_bytes(whole.read(SMALL_TEXT))
        timing.timed([programs.TRACKWAY, "record", "-q", "-f", "-o", self.trace, "--", "./program", *self.small()], cwd=self.traced)

    def small(self):
        return [word.replace("$DRIVERS", str(DRIVERS)) for word in SMALL[self.program.name].split()]

    def output(self, folder):
        done = subprocess.run(["./program", *self.small()], cwd=folder, capture_output=True, check=False)
        return done.returncode, done.stdout

    def asked(self, verb, *options):
        command = [programs.TRACKWAY, verb, "--json", *options, self.trace]
        return json.loads(programs.call(*command, cwd=self.traced))["tables"]

    def changes(self):
        """All cards, and changes of the structures that take most of the time."""
        advised = next((table["rows"] for table in self.asked("advise", "--top", "0") if table["name"] == "cards"), [])
        for number, card in enumerate(advised, 1):
            yield Tried([str(number)], f"{card['change']} of {card['of']}", is_card=True)
        members = [table["rows"] for table in self.asked("layout", "--time") if table["name"] == "members" and table["rows"]]
        for rows in members[:STRUCTURES]:
            name = rows[0]["type"]
            rows = [row for row in rows if re.fullmatch(r"\w+", row["member"])]
            by_heat = sorted(rows, key=lambda row: -row["accesses"])
            hot = [row["member"] for row in by_heat if row["share"] >= HOT_SHARE]
            if hot:
                yield Tried([f"--reorder={name}:{','.join(hot)}"])
                yield Tried([f"--split={name}:{','.join(hot)}"])
            yield Tried([f"--align={name}:64"])

    def fix(self, tried):
        command = [programs.TRACKWAY, "fix", "-q", *(word for word in tried.words if word.startswith("-")), self.trace]
        command += [word for word in tried.words if not word.startswith("-")]
        done = subprocess.run([str(word) for word in command], cwd=self.traced, capture_output=True, check=False)
        tried.title = tried.title or tried.words[0]
        # As bytes, for lines may end with CR LF.
        tried.patch = done.stdout
        said = done.stderr.decode()
        predicted = MADE.search(said)
        tried.predicted = float(predicted[1]) if predicted else None
        if not tried.patch:
            lines = [line.strip() for line in said.splitlines() if line.startswith("    ")]
            tried.reason = (lines or said.strip().splitlines() or ["?"])[0]

    def check(self, tried):
        """Builds the patched program, and compares its output with that of the plain one."""
        shutil.rmtree(self.patched, ignore_errors=True)
        shutil.copytree(self.program.source(), self.patched, symlinks=True)
        programs.call("git", "init", "-q", self.patched)
        done = subprocess.run(["git", "apply", "-"], input=tried.patch, cwd=self.patched, capture_output=True, check=False)
        if done.returncode == 0:
            build = ["bash", "-ec", self.program.build]
            done = subprocess.run(build, cwd=self.patched, env=self.environment("plain"), capture_output=True, check=False)
        tried.compiles = done.returncode == 0
        if not tried.compiles:
            said = done.stderr.decode(errors="replace")
            tried.reason = next((line for line in said.splitlines() if "error" in line), said[-200:])
            return
        shutil.copy(self.plain / "text", self.patched / "text")
        tried.passes = self.output(self.patched) == self.output(self.plain)

    def time(self, tried, rounds):
        tried.saved = self.saved(rounds)

    def time_known(self, known, rounds):
        """The part of the CPU time that the known change saves."""
        shutil.rmtree(self.patched, ignore_errors=True)
        shutil.copytree(self.program.source(), self.patched, symlinks=True)
        programs.call("bash", "-ec", known.program(is_fixed=True).build, cwd=self.patched, env=self.environment("plain"))
        if self.output(self.patched) != self.output(self.plain):
            sys.exit(f"bench: {known.name} does something else after the known change")
        return self.saved(rounds)

    def saved(self, rounds):
        """The part of the CPU time that the program in the patched folder saves."""
        times = {folder: [] for folder in (self.plain, self.patched)}
        run = self.program.run.replace('"$PROGRAM"', "./program")
        for _ in range(rounds):
            for folder, own in times.items():
                own.append(timing.timed(["bash", "-c", f"exec {run}"], self.environment("plain"), cwd=folder)["cpu_s"])
        medians = [statistics.median(own) for own in times.values()]
        return 100 * (medians[0] - medians[1]) / medians[0]


def measure(program, rounds):
    subject = Subject(program)
    subject.prepare()
    every = []
    for tried in subject.changes():
        subject.fix(tried)
        if tried.patch:
            subject.check(tried)
        if tried.is_card and tried.passes:
            subject.time(tried, rounds)
        print(f"  {tried.title}: {tried.line()}", flush=True)
        every.append(tried)
    known = next((known for known in KNOWN if known.name == program.name), None)
    made = [tried for tried in every if tried.patch]
    cards = [tried for tried in made if tried.is_card]
    return {
        "tried": len(every),
        "made": len(made),
        "compile": sum(tried.compiles for tried in made),
        "pass": sum(tried.passes for tried in made),
        "cards": len(cards),
        "gain": sum((tried.saved or 0) > 0 for tried in cards),
        **({"known": subject.time_known(known, rounds)} if known else {}),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    known = [program.name for program in PROGRAMS if program.name in SMALL]
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(known)} [default: all]")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program whose card is timed")
    arguments = parser.parse_args()
    if unknown := set(arguments.programs) - set(known):
        parser.error(f"no program {', '.join(sorted(unknown))} here; there are {', '.join(known)}")
    # As many as the machines have on which cards were looked at.
    os.environ["OMP_NUM_THREADS"] = "2"
    results.print_machine()
    rows = {}
    for program in PROGRAMS:
        if program.name in (arguments.programs or known):
            print(f"{program.name}:", flush=True)
            rows[program.name] = measure(program, arguments.rounds)
    counts = [column.key for column in COLUMNS if column.key != "known"]
    total = {key: sum(row[key] for row in rows.values()) for key in counts}
    print()
    results.print_table("program", COLUMNS, rows | {"all": total})
    print(f"fix: {total['made']} patches of {total['tried']} changes, {total['compile']} compile, {total['pass']} pass")


if __name__ == "__main__":
    main()
