"""What needs no fresh system: the packages' contents, lintian, and `make install`."""

import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from fresh import FIRST_ANSWER, PROGRAM, package

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **settings):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **settings)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def lintian():
    """No error and no warning; the overrides say why each exception is one."""
    if not shutil.which("lintian"):
        return "lintian is missing"
    # --allow-root: as root it otherwise only warns.
    run("lintian", "--allow-root", "--fail-on", "error,warning", package("trackway_*.deb"))
    return None


def version():
    return re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M).group(1)


def contents():
    """All packages are of one version, and hold the same programs and libraries."""
    deb, archive, wheel = package("trackway_*.deb"), package("trackway-*-linux.tar.gz"), package("trackway-*.whl")
    for file in (deb, archive, wheel):
        assert f"{version()}-" in file.name, f"{file.name} isn't of version {version()}"
    assert "-manylinux" in wheel.name or ".manylinux" in wheel.name, f"{wheel.name} says no C library"
    of_deb = set(re.findall(r" \./usr/(\S+?)(?: -> .*)?$", run("dpkg-deb", "--contents", deb), re.M))
    with tarfile.open(archive) as members:
        of_archive = {name.partition("/")[2] for name in members.getnames()}
    with zipfile.ZipFile(wheel) as members:
        of_wheel = {re.sub(r"^[^/]+\.data/(?:data/|scripts/)", lambda found: "bin/" if "scripts" in found[0] else "", name)
                    for name in members.namelist()}
    for name in ("bin/trackway", "bin/trackway-lake", "bin/trackway-cc", "lib/trackway/TrackwayPass22.so",
                 "lib/trackway/libtrackway.a", "lib/trackway/libtrackway-streams.a", "lib/trackway/libtrackway-streams-count.a",
                 "lib/trackway/preload.so", "lib/trackway/dynamorio/client.so"):
        for what, names in (("deb", of_deb), ("tarball", of_archive), ("wheel", of_wheel)):
            assert name in names, f"the {what} lacks {name}"
    stays_below("lib/trackway/", of_deb - of_archive)


def stays_below(folder, names):
    """What only one package has must be no part that programs are made of."""
    assert not [name for name in names if name.startswith(folder) and not name.endswith("/")], names


def make_install(folder):
    """`make install` honours DESTDIR and PREFIX, and what it installs works after a move."""
    run("make", "--no-print-directory", "install", f"DESTDIR={folder}/staging", "PREFIX=/opt/trackway", cwd=ROOT)
    there = folder / "staging/opt/trackway"
    assert (there / "bin/trackway").is_file() and not list((folder / "staging").glob("[!o]*")), list(folder.rglob("*"))[:20]
    moved = folder / "moved"
    there.rename(moved)
    work = folder / "work"
    work.mkdir()
    (work / "prog.c").write_text(PROGRAM)
    answer = run("sh", "-c", f"PATH={moved}/bin:$PATH; export PATH; {FIRST_ANSWER}", cwd=work)
    assert "particle.charge" in answer.splitlines()[0], answer
