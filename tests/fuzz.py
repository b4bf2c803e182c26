"""Fuzz targets: each runs for some seconds from the corpus that the repository keeps, with what libFuzzer mutates of it.

A target's inputs lie in fuzz/corpus/TARGET, the few that reach all that was ever reached. To look for more of them, run
`tests/run fuzz --fuzz-seconds 600`, then `python3 tests/fuzz.py`, which puts what they add into the corpus.
"""

import os
import subprocess
import sys
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


def folders(target):
    """Where new inputs go, and where the kept ones are."""
    found = BUILT / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    kept = FUZZ / "corpus" / target
    return found, kept


def build(run):
    """Fuzz targets are a workspace of their own, compiled for coverage (fuzz/.cargo/config.toml)."""
    status, _ = run(["cargo", "build", "--release", "--locked", "--quiet", "--bins"], cwd="fuzz")
    return status == 0


def fuzz(target, seconds, run):
    """Whether the target ran so long without a crash, a hang or a failed assertion. What broke it stays in build/fuzz."""
    found, kept = folders(target)
    artifacts = BUILT / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    command = [binary(target), f"-max_total_time={seconds}", "-verbosity=0", "-print_final_stats=1", *LIMITS,
               f"-artifact_prefix={artifacts}/", found, kept]
    status, output = run([str(word) for word in command])
    ran = "stat::number_of_executed_units" in output
    return status == 0 and ran


def test(seconds, tally, run):
    if not build(run):
        print("fuzz: FAILED to build", flush=True)
        tally.add(0, 1)
        return
    for target in targets():
        passed = fuzz(target, seconds, run)
        print(f"fuzz {target}: {'ok' if passed else 'FAILED'}", flush=True)
        tally.add(passed, not passed)


def main():
    """Makes the kept corpus the smallest one that reaches what it and the new inputs reach."""
    for target in targets():
        found, kept = folders(target)
        merged = BUILT / "merged" / target
        merged.mkdir(parents=True, exist_ok=True)
        for file in merged.iterdir():
            file.unlink()
        subprocess.run([binary(target), "-merge=1", *LIMITS, merged, kept, found], check=True)
        kept.mkdir(parents=True, exist_ok=True)
        for file in kept.iterdir():
            file.unlink()
        for file in merged.iterdir():
            os.replace(file, kept / file.name)
        print(f"{target}: {len(list(kept.iterdir()))} inputs")


if __name__ == "__main__":
    sys.exit(main())
