"""Sources of real programs: from packages of Rust that carry them, from Debian, and from PyPI."""

import functools
import platform
import shutil
import sys
import tarfile

from end_to_end.support import real_programs

from .programs import OUT, ROOT, call

DRIVERS = ROOT / "bench" / "real_programs"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def crate(package, folder="."):
    """A folder of a package that tests/real/Cargo.toml names."""
    return next(real_programs.vendored(".").glob(f"{package}/{folder}"))


def text():
    """What programs compress and search: 9 MB of C, the same on every machine."""
    return crate("libsqlite3-sys", "sqlite3") / "sqlite3.c"


@functools.cache
def apt_options():
    """Options that make apt read the sources of this Debian from lists of our own, so that the system's stay as they are."""
    folder = OUT / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    sources = folder / "sources.list"
    sources.write_text(f"deb-src [signed-by={KEYRING}] http://deb.debian.org/debian {release} main\n")
    settings = {"Etc::SourceList": sources, "Etc::SourceParts": "/dev/null", "State::Lists": folder / "lists", "Cache": folder / "cache"}
    options = [f"-oDir::{name}={value}" for name, value in settings.items()]
    # As another user apt can't write into a folder of ours.
    options.append("-oAPT::Sandbox::User=root")
    call("apt-get", "-q", *options, "update")
    return options


def debian(package):
    """The sources of a Debian package with Debian's patches."""
    folder = OUT / "debian" / package
    unpacked = list(folder.glob("*/debian/changelog"))
    if not unpacked:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        call("apt-get", "-q", *apt_options(), "source", "--only-source", package, cwd=folder)
        unpacked = list(folder.glob("*/debian/changelog"))
    return unpacked[0].parent.parent


def pypi(package, version):
    """The sources of a version of a Python package."""
    folder = OUT / "pypi" / f"{package}-{version}"
    if not folder.is_dir():
        downloads = OUT / "pypi" / "downloads"
        options = ["--quiet", "--no-deps", "--no-binary", package, "--dest", downloads]
        call(sys.executable, "-m", "pip", "download", *options, f"{package}=={version}")
        with tarfile.open(downloads / f"{package}-{version}.tar.gz") as archive:
            archive.extractall(folder.parent, filter="data")
    return folder
