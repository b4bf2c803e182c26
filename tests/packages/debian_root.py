"""A fresh Debian system in a folder, in which commands run as on a machine of its own.

Mounts are made in a namespace of each command, and end with it. The network's settings are this machine's, if it has any:
proxies, certificates, and how apt and pip reach their registries.
"""

import os
import shutil
import subprocess
from pathlib import Path

SUITE = "bookworm"
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIME_LIMIT_S = 1200
# This machine may trust others than a fresh system. There the package ca-certificates writes its own file.
CERTIFICATES = Path(os.environ.get("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt"))
CERTIFICATES_THERE = "/etc/certificates-of-the-host.crt"
# Copied as they are, where there are such.
SETTINGS = (Path("/etc/resolv.conf"), Path("/etc/pip.conf"), Path.home() / ".config/pip/pip.conf")
# Mounts, then the command in the folder.
ENTER = """
mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --bind "$2" "$1/var/cache/apt/archives" || exit 125
root=$1
shift 2
exec chroot "$root" "$@"
"""


class CommandFailed(AssertionError):
    pass


def why_not():
    """What keeps this machine from having such roots; None if nothing does."""
    if os.geteuid() != 0:
        return "to make a root of its own takes root's rights"
    if not shutil.which("debootstrap"):
        return "debootstrap is missing"
    probe = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True)
    return f"mounts are forbidden: {probe.stderr.strip()}" if probe.returncode else None


def environment():
    """Variables of a login, and those that say how registries are reached."""
    kept = {name: value for name, value in os.environ.items()
            if name.lower().endswith("_proxy") or name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_DEFAULT_TIMEOUT")}
    if CERTIFICATES.exists():
        kept["PIP_CERT"] = CERTIFICATES_THERE
    return {**kept, "PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def settings_of_apt():
    """Files that say how apt reaches its archive."""
    folder = Path("/etc/apt/apt.conf.d")
    return [file for file in sorted(folder.glob("*")) if file.is_file() and "Acquire::" in file.read_text(errors="replace")]


class DebianRoot:
    def __init__(self, folder, archives):
        self.folder = Path(folder)
        self.archives = Path(archives)  # packages that apt has fetched, for all roots
        self.archives.mkdir(exist_ok=True)

    def make(self):
        """Installs the base system."""
        command = ["unshare", "--mount", "debootstrap", "--variant=minbase", SUITE, str(self.folder), MIRROR]
        finished(subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S), command)
        # /dev is this machine's while commands run.
        for device in (self.folder / "dev").iterdir():
            shutil.rmtree(device) if device.is_dir() and not device.is_symlink() else device.unlink()
        for file in (*SETTINGS, *settings_of_apt()):
            if file.exists():
                place = self.folder / file.relative_to("/")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
        if CERTIFICATES.exists():
            shutil.copy(CERTIFICATES, self.folder / CERTIFICATES_THERE.lstrip("/"))
        security = "http://deb.debian.org/debian-security"
        lines = f"deb {MIRROR} {SUITE} main\ndeb {MIRROR} {SUITE}-updates main\ndeb {security} {SUITE}-security main\n"
        (self.folder / "etc/apt/sources.list").write_text(lines)
        self.run("apt-get", "update", "-q")
        return self

    def copy(self, folder):
        """Another system like this one."""
        subprocess.run(["cp", "-a", "--reflink=auto", self.folder, folder], check=True)
        return DebianRoot(folder, self.archives)

    def put(self, file, name):
        """Copies a file of this machine into the root; returns its path there."""
        shutil.copy(file, self.folder / "root" / name)
        return f"/root/{name}"

    def run(self, *command, check=True, cwd="/root"):
        words = ["unshare", "--mount", "sh", "-c", ENTER, "sh", str(self.folder), str(self.archives),
                 "env", "--chdir", cwd, *map(str, command)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", env=environment(), timeout=TIME_LIMIT_S)
        return finished(done, command) if check else done

    def shell(self, line, **settings):
        return self.run("sh", "-c", line, **settings)

    def install(self, *packages):
        return self.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)


def finished(done, command):
    if done.returncode != 0:
        text = f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
        raise CommandFailed(f"status {done.returncode}: {' '.join(map(str, command))}\n{text}")
    return done
