"""SQLite and bzip2: their sources, and how they are built."""

import shutil
from pathlib import Path

from . import tools

SOURCES = tools.ROOT / "tests" / "real"
SQLITE_FLAGS = ("-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION")


def vendored(package):
    """The folder with the sources of a package that tests/real/Cargo.toml names."""
    vendor = tools.BUILD / "tests" / "vendor"

    def fetch():
        tools.run("cargo", "vendor", "--locked", "--manifest-path", SOURCES / "Cargo.toml", vendor)

    tools.once("vendor", fetch)
    return vendor / package


def sqlite_sources():
    return [SOURCES / "sqlite_speed.c", vendored("libsqlite3-sys") / "sqlite3" / "sqlite3.c"]


def sqlite_flags():
    return ["-w", *SQLITE_FLAGS, f"-I{vendored('libsqlite3-sys') / 'sqlite3'}", "-lm"]


def copy_of_bzip2(folder):
    source = next(vendored("bzip2-sys").glob("bzip2-*"))
    return Path(shutil.copytree(source, f"{folder}/bzip2"))


def make_bzip2(folder, compiler, level):
    """Builds bzip2 by its own Makefile, with its own flags but for the level."""
    source = copy_of_bzip2(folder)
    flags = f"-Wall -Winline {level} -g -D_FILE_OFFSET_BITS=64"
    tools.run("make", "-s", "-C", source, f"CC={compiler}", f"CFLAGS={flags}", "bzip2")
    return source
