"""The image for containers, where this machine can build one."""

import shutil
import subprocess
from pathlib import Path

from fresh import FIRST_ANSWER, PROGRAM, package

ROOT = Path(__file__).resolve().parents[2]
NAME = "localhost/trackway-test"


def builder():
    """A program that can build and run containers here, or why there is none."""
    for name in ("podman", "docker"):
        if shutil.which(name):
            asked = subprocess.run([name, "info"], capture_output=True, text=True)
            if asked.returncode == 0 and "ERROR" not in asked.stdout + asked.stderr:
                return name, None
    return None, "no podman and no docker that works; `deb` runs the same steps in a fresh system"


def build(folder):
    program, obstacle = builder()
    if obstacle:
        return obstacle
    package("trackway_*.deb")
    subprocess.run([program, "build", "-t", NAME, "-f", ROOT / "packaging/Containerfile", ROOT / "dist"], check=True)
    try:
        (folder / "prog.c").write_text(PROGRAM)
        words = [program, "run", "--rm", "--volume", f"{folder}:/work", "--entrypoint", "sh", NAME, "-c", FIRST_ANSWER]
        answer = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert "particle.charge" in answer.splitlines()[0], answer
    finally:
        subprocess.run([program, "rmi", NAME], check=False, capture_output=True)
    return None
