"""Finds places that disagree with the version of the release, which stands in the workspace's Cargo.toml.

Packages of the workspace and the Python package inherit the version; lock files repeat it. CHANGELOG.md has a section for each
release, and a row with its trace format, runtime interface and protocol of collectors.
"""

import re
import subprocess
import tomllib
from pathlib import Path

# Constants of the code by the columns of the table in CHANGELOG.md.
NUMBERS = {
    "trace format": ("trace/src/lib.rs", r"pub const FORMAT_VERSION: u16 = (\d+);"),
    "runtime interface": ("collectors/ring/abi.h", r"#define TRACKWAY_ABI (\d+)"),
    "protocol of collectors": ("collectors/recorder/src/streaming/protocol.rs", r"pub const PROTOCOL_VERSION: u16 = (\d+);"),
}


def listed(root, pattern):
    names = subprocess.check_output(["git", "ls-files", pattern], cwd=root, text=True).split()
    return [root / name for name in names]


def parsed(file):
    return tomllib.loads(file.read_text())


def manifests(root, workspace):
    """Complaints about packages that don't inherit the version."""
    for member in workspace["members"]:
        file = root / member / "Cargo.toml"
        if parsed(file)["package"]["version"] != {"workspace": True}:
            yield f"{file.relative_to(root)}: version.workspace = true is missing"
    project = parsed(root / "python/pyproject.toml")["project"]
    if "version" in project or "version" not in project["dynamic"]:
        yield "python/pyproject.toml: the version must be dynamic, from python/Cargo.toml"


def lock_files(root, workspace, version):
    """Complaints about lock files, those outside of the workspace too, that have our packages in another version."""
    ours = {parsed(root / member / "Cargo.toml")["package"]["name"] for member in workspace["members"]}
    for file in listed(root, "*Cargo.lock"):
        for package in parsed(file).get("package", []):
            if package["name"] in ours and "source" not in package and package["version"] != version:
                yield f"{file.relative_to(root)}: {package['name']} has version {package['version']}, not {version}"


def rows(text):
    """The rows of the table whose first column is Trackway, each by column."""
    found = re.search(r"^\| Trackway \|.*\n\|[ -|]+\n((?:\|.*\n)+)", text, re.M)
    lines = [found.group(0).splitlines()[0], *found.group(1).splitlines()] if found else []
    head, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] or [[]]
    return [dict(zip(head, row, strict=True)) for row in body]


def changelog(root, version):
    text = (root / "CHANGELOG.md").read_text()
    if not re.search(rf"^## {re.escape(version)}$", text, re.M):
        yield f"CHANGELOG.md: there is no section {version}"
    row = next((row for row in rows(text) if row["Trackway"] == version), None)
    if row is None:
        yield f"CHANGELOG.md: the table of versions has no row {version}"
        return
    for column, (name, pattern) in NUMBERS.items():
        number = re.search(pattern, (root / name).read_text()).group(1)
        if row.get(column) != number:
            yield f"CHANGELOG.md: {version} has {column} {row.get(column)}, but {name} has {number}: a change needs a new version"


def complaints(root):
    workspace = parsed(Path(root) / "Cargo.toml")["workspace"]
    version = workspace["package"]["version"]
    yield from manifests(root, workspace)
    yield from lock_files(root, workspace, version)
    yield from changelog(root, version)


def report(root):
    """Prints what disagrees; true if nothing does."""
    found = list(complaints(root))
    for complaint in found:
        print(complaint)
    return not found
