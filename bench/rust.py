"""What recording costs programs of Rust: the time of tests of crates from the registry, recorded by `trackway cargo`, as a ratio to
that of the same tests built by cargo, in one interleaved run.

The recorder writes the whole trace to /dev/shm. All tests must have the same results in each run, or the suite ends with the
crate's name. Prints a table and a closing line with the number of crates and the mean ratio. Speed never makes the command
fail.
"""

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from measuring import programs, results, timing
from measuring.results import Column
from measuring.rust_crates import CRATES
from measuring.targets import Figure, as_json, print_verdicts

MEMORY = Path("/dev/shm")
FOLDER = programs.OUT / "rust"
CARGO = {"plain": ["cargo"], "recorded": [programs.TRACKWAY, "cargo"]}
# Only benches need them, and the first takes minutes to compile.
FOR_BENCHES = ("criterion", "criterion2", "codspeed-criterion-compat", "divan", "iai", "bencher")

COLUMNS = (
    Column("plain_s", "plain s", "{:.3f}"),
    Column("ratio", "ratio", "{:.2f}"),
    Column("cpu", "cpu prog.", "{:.2f}"),
    Column("recorder", "cpu rec.", "{:.2f}"),
    Column("whole", "whole", "{:.2f}"),
    Column("trace_mb", "trace MB", "{:.1f}"),
    Column("tests", "tests", "{:.0f}"),
)


def fetched(crates):
    """Where cargo has unpacked the crates."""
    folder = FOLDER / "manifest"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "lib.rs").touch()
    lines = ["[package]", 'name = "sources"', 'version = "0.0.0"', 'edition = "2021"', "[workspace]", "[dependencies]"]
    lines += [f'{crate.name} = {{ version = "={crate.version}", default-features = false }}' for crate in crates]
    (folder / "Cargo.toml").write_text("\n".join(lines) + "\n")
    packages = json.loads(programs.call("cargo", "metadata", "--format-version", "1", cwd=folder))["packages"]
    return {(package["name"], package["version"]): Path(package["manifest_path"]).parent for package in packages}


def without_benches(manifest):
    """The manifest of a crate that is a workspace by itself."""
    sections = re.split(r"(?m)^(?=\[)", manifest)
    unneeded = "|".join(map(re.escape, FOR_BENCHES))
    is_unneeded = re.compile(rf"\[\[bench\]\]|\[(target\..+\.)?dev-dependencies\.({unneeded})\]")
    return "".join(section for section in sections if not is_unneeded.match(section)) + "\n[workspace]\n"


def copied(crate, source):
    folder = FOLDER / "crates" / crate.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    shutil.rmtree(folder / "benches", ignore_errors=True)
    manifest = folder / "Cargo.toml"
    manifest.write_text(without_benches(manifest.read_text()))
    return folder


def build(crate, folder, variant):
    """The crate's test program."""
    target = ["--lib"] if crate.target == "lib" else ["--test", crate.target]
    words = ["test", "--release", "--no-run", "--message-format=json", "--target-dir", FOLDER / f"target-{variant}", *target]
    printed = programs.call(*CARGO[variant], *words, *crate.flags, cwd=folder)
    messages = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    made = [message["executable"] for message in messages if message.get("executable") and message["profile"]["test"]]
    if len(made) != 1:
        sys.exit(f"bench: {crate.name}: cargo made {len(made)} test programs")
    return made[0]


def results_in(output):
    """The names of the tests and how each of them went."""
    return sorted(re.findall(r"^test (.+?) +\.\.\. .*?(ok|FAILED|ignored)", output.read_text(errors="replace"), re.MULTILINE))


class Runs:
    """Runs of a crate's test program, plain and recorded; all must have the same results."""

    def __init__(self, crate, folder, built, scratch):
        self.crate, self.folder, self.built = crate, folder, built
        self.trace, self.output = scratch / "trace", scratch / "output"
        self.arguments = [*crate.filter, "--test-threads=1"]
        self.expected = None

    def plain(self):
        figures = timing.alone(self.built["plain"], self.arguments, cwd=self.folder, output=self.output)
        return self._checked(timing.apart(figures, programs.OUT / "own_time"))

    def recorded(self):
        figures = timing.recorded(self.built["recorded"], self.arguments, [], self.trace, cwd=self.folder, output=self.output)
        return self._checked(figures)

    def _checked(self, figures):
        found = results_in(self.output)
        self.expected = self.expected or found
        if not found or found != self.expected:
            sys.exit(f"bench: {self.crate.name}: tests that don't go as in the first, plain run: {set(found) ^ set(self.expected)}")
        return figures


def measure(crate, folder, built, rounds):
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="trackway-bench-") as scratch:
        runs = Runs(crate, folder, built, Path(scratch))
        runs.plain()  # warms the page cache
        measured = [{"plain": runs.plain(), "recorded": runs.recorded()} for _ in range(rounds)]
    return row_of(measured, len(runs.expected)), timing.medians(measured)


def row_of(measured, tests):
    """Medians over the rounds of ratios in one round, since a machine's speed drifts."""

    def ratio(key):
        return statistics.median(one["recorded"][key] / one["plain"][f"program_{key.removeprefix('program_')}"] for one in measured)

    return {
        "plain_s": statistics.median(one["plain"]["program_wall_s"] for one in measured),
        "ratio": ratio("program_wall_s"),
        "cpu": ratio("program_cpu_s"),
        "recorder": statistics.median(one["recorded"]["recorder_cpu_s"] / one["plain"]["program_cpu_s"] for one in measured),
        "whole": ratio("wall_s"),
        "trace_mb": statistics.median(one["recorded"]["trace_bytes"] for one in measured) / 1e6,
        "tests": tests,
    }


def verdicts(rows):
    return [Figure("wall time, recorded, mean", statistics.fmean(row["ratio"] for row in rows.values()), 1.5)]


def closing_line(rows):
    ratios = {name: row["ratio"] for name, row in rows.items()}
    worst = max(ratios, key=ratios.get)
    mean, geometric = statistics.fmean(ratios.values()), results.geometric_mean(ratios.values())
    return f"rust: {len(rows)} crates mean {mean:.2f}x geometric {geometric:.2f}x worst {ratios[worst]:.2f}x ({worst})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results.add_arguments(parser, rounds=5)
    parser.add_argument("crates", nargs="*", metavar="CRATE", help=f"of {', '.join(crate.name for crate in CRATES)} (default all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.crates) - {crate.name for crate in CRATES}:
        parser.error(f"no crate {', '.join(sorted(unknown))} here")
    old = results.earlier(arguments)
    programs.build_measure()
    crates = [crate for crate in CRATES if not arguments.crates or crate.name in arguments.crates]
    sources = fetched(crates)
    built, folders = {}, {}
    for crate in crates:
        timing.progress("building", crate.name)
        folders[crate.name] = copied(crate, sources[crate.name, crate.version])
        built[crate.name] = {variant: build(crate, folders[crate.name], variant) for variant in CARGO}
    rows, details = {}, {}
    for crate in crates:
        timing.progress("measuring", crate.name)
        row, details[crate.name] = measure(crate, folders[crate.name], built[crate.name], arguments.rounds)
        rows[crate.name] = results.measured(crate.name, COLUMNS, row)
    results.print_machine()
    print("Time of the tests of crates, recorded, as ratios to the same tests without Trackway.\n")
    results.print_table("crate", COLUMNS, rows)
    if old:
        results.compare(old, "crate", COLUMNS, {"crates": rows})
    print()
    print_verdicts(verdicts(rows))
    results.write("rust", arguments, {"crates": rows}, targets=as_json(verdicts(rows)), medians=details)
    print(closing_line(rows))


if __name__ == "__main__":
    main()
