"""Fuzz targets: each runs for some seconds from the corpus that the repository keeps, with what libFuzzer mutates of it.

fuzz/corpus/TARGET.zip holds the fewest inputs that reach all that a target ever reached. To look for more, run
`tests/run fuzz --fuzz-seconds 600`, then `python3 tests/fuzz.py`, which adds those that reach anything new.
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
BUILT = ROOT / "build" / "fuzz"
SECONDS = 5
# Longer inputs take the fuzzer longer, and reach nothing else.
LONGEST_INPUT = 8192
# libFuzzer's own defaults end a target that takes an input for 20 minutes, or 2 GiB.
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", f"-max_len={LONGEST_INPUT}")


def targets():
    return sorted(source.stem for source in (FUZZ / "fuzz_targets").glob("*.rs"))


def binary(target):
    return BUILT / "x86_64-unknown-linux-gnu" / "release" / target


def kept(target):
    """The archive with the target's corpus."""
    return FUZZ / "corpus" / f"{target}.zip"


def emptied(kind, target):
    """A folder in build/fuzz without files."""
    folder = BUILT / kind / target
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    return folder


def unpacked(target):
    folder = emptied("kept", target)
    with zipfile.ZipFile(kept(target)) as archive:
        archive.extractall(folder)
    return folder


def new_inputs(target):
    """Where the target puts inputs that reach something new; they stay there from run to run."""
    folder = BUILT / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build(run):
    """Fuzz targets are a workspace of their own, compiled for coverage (fuzz/.cargo/config.toml)."""
    status, _ = run(["cargo", "build", "--release", "--locked", "--quiet", "--bins"], cwd="fuzz")
    return status == 0


def fuzz(target, seconds):
    """Whether the target ran so long without a crash, a hang or a failed assertion. What broke it stays in build/fuzz."""
    command = [binary(target), f"-max_total_time={seconds}", "-verbosity=0", "-print_final_stats=1", *LIMITS,
               f"-artifact_prefix={emptied('artifacts', target)}/", new_inputs(target), unpacked(target)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    runs = re.search(r"^stat::number_of_executed_units:\s*(\d+)", done.stdout, re.M)
    passed = done.returncode == 0 and runs is not None
    if not passed:
        print(done.stdout[-4000:])
    print(f"fuzz {target}: {f'{int(runs[1]):,} inputs, ' if runs else ''}{'ok' if passed else 'FAILED'}", flush=True)
    return passed


def test(seconds, tally, run):
    if not build(run):
        print("fuzz: FAILED to build", flush=True)
        tally.check("fuzz", False)
        return
    for target in targets():
        tally.check(f"fuzz {target}", fuzz(target, seconds))


def main():
    """Makes each kept corpus the smallest one that reaches what it and the new inputs reach."""
    for target in targets():
        merged = emptied("merged", target)
        command = [binary(target), "-merge=1", *LIMITS, merged, unpacked(target), new_inputs(target)]
        subprocess.run(command, check=True)
        inputs = sorted(merged.iterdir())
        with zipfile.ZipFile(kept(target), "w", zipfile.ZIP_DEFLATED) as archive:
            for file in inputs:
                # Without the time, so that the same inputs make the same archive.
                archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
        print(f"{target}: {len(inputs)} inputs")


if __name__ == "__main__":
    sys.exit(main())
