"""Each package in a Debian system that has nothing else, up to the first answer."""

import json
import re
import time
from pathlib import Path

from debian_root import DebianRoot, why_not

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
# From the installation to the first answer.
MOST_SECONDS = 60
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
struct particle { double mass, charge, place[6]; };
int main(void) {
    long count = 200000;
    struct particle *particles = (struct particle *)calloc(count, sizeof *particles);
    double sum = 0;
    for (int round = 0; round < 5; round++)
        for (long i = 0; i < count; i++)
            sum += particles[i].charge;
    printf("%f\\n", sum);
    free(particles);
    return 0;
}
"""
FIRST_ANSWER = "trackway cc -O1 -o prog prog.c && trackway record -o prog.trackway -- ./prog >&2 && trackway report prog.trackway"


def package(pattern):
    """The file of dist/ that a pattern names."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"dist/ has {len(found)} files {pattern}; `make package` makes one")
    return found[0]


class Systems:
    """Fresh systems, copies of one that is made when the first is asked for."""

    def __init__(self, folder):
        self.folder = folder
        self.base = None

    def make(self, name):
        if self.base is None:
            self.base = DebianRoot(self.folder / "base", self.folder / "archives").make()
        return self.base.copy(self.folder / name)


def where_possible(check):
    """A check that says why it can't run here."""

    def checked(systems):
        return why_not() or check(systems)

    return checked


def first_answer(system, prepare=""):
    """Compiles, records and reports a program; its hottest field must be named in time."""
    (system.folder / "root/prog.c").write_text(PROGRAM)
    started = time.monotonic()
    text = system.shell(f"{prepare} {FIRST_ANSWER}").stdout
    seconds = time.monotonic() - started
    assert re.search(r"particle\.charge", text.splitlines()[0]), f"the first line doesn't name the field:\n{text}"
    assert seconds < MOST_SECONDS, f"the first answer took {seconds:.0f} s"
    print(f"   {text.splitlines()[0]} ({seconds:.1f} s)", flush=True)


def doctor(system, prepare="", works=True):
    """What `trackway doctor` says, by feature."""
    done = system.shell(f"{prepare} trackway doctor --json", check=False)
    assert done.returncode == (0 if works else 1), f"status {done.returncode}: {done.stdout}{done.stderr}"
    table = json.loads(done.stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    rows = [row if isinstance(row, dict) else dict(zip(names, row, strict=True)) for row in table["rows"]]
    return {row["feature"]: row for row in rows}


def by_the_doctors_line(system, prepare=""):
    """Where the compiler is lacking, the doctor's own line brings it."""
    row = doctor(system, prepare, works=False)["cc, record"]
    assert row["install"].startswith("apt-get install clang-"), row
    system.shell(f"{row['install']} -q -y --no-install-recommends")
    doctor(system, prepare)


@where_possible
def deb(systems):
    system = systems.make("deb")
    file = package("trackway_*.deb")
    system.install(system.put(file, file.name))
    first_answer(system)
    features = doctor(system)
    for name in ("c++", "record --binary", "record --allocations", "query, export --parquet, URLs"):
        assert features[name]["state"] == "present", features[name]
    system.shell("trackway record --binary -o binary.trackway -- /bin/true && trackway report binary.trackway")
    system.shell("trackway query prog.trackway 'SELECT count(*) FROM accesses'")
    system.shell("test -e /usr/share/man/man1/trackway-record.1.gz && test -e /usr/share/bash-completion/completions/trackway")
    system.run("apt-get", "purge", "-q", "-y", "trackway")
    left = system.shell("find / -xdev -path /root -prune -o -path '*trackway*' -print").stdout.split()
    assert not left, f"the package left {left}"


@where_possible
def tarball(systems):
    system = systems.make("tarball")
    file = package("trackway-*-linux.tar.gz")
    there = system.put(file, file.name)
    # Unpacked in one place and moved to another, which has a space.
    system.shell(f"tar -xf {there} && mkdir '/opt/my tools' && mv trackway-*-linux '/opt/my tools/trackway'")
    path = "PATH='/opt/my tools/trackway/bin':$PATH; export PATH;"
    by_the_doctors_line(system, path)
    first_answer(system, path)
    system.shell(f"{path} trackway record --binary -o binary.trackway -- /bin/true")
    system.shell(f"{path} trackway-c++ -O1 -o prog2 -x c++ prog.c -lm && ./prog2")


@where_possible
def wheel(systems):
    system = systems.make("wheel")
    system.install("python3-venv")
    file = package("trackway-*.whl")
    there = system.put(file, file.name)
    system.shell(f"python3 -m venv /opt/venv && /opt/venv/bin/pip install -q {there}")
    path = "PATH=/opt/venv/bin:$PATH; export PATH;"
    by_the_doctors_line(system, path)
    first_answer(system, path)
    assert doctor(system, path)["import trackway (Python)"]["state"] == "present"
    system.shell(f"{path} trackway-cc -O1 -o prog2 prog.c && trackway record --binary -o binary.trackway -- /bin/true")
    question = "import trackway; print(trackway.open('prog.trackway').misses(by=['field'])['fields'].rows()[0])"
    answer = system.shell(f'{path} python -c "{question}"', check=False)
    assert "charge" in answer.stdout, answer.stdout + answer.stderr


