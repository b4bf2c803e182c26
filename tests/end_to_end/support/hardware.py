"""What the kernel and the processor can count here, asked of the kernel itself."""

import ctypes
import errno
import os
import platform
from pathlib import Path

# Type and configuration, as in linux/perf_event.h.
EVENTS = {"cycles": (0, 0), "task-clock": (1, 1), "page-faults": (1, 2)}
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319}.get(platform.machine())
_EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 5, 1 << 6


class Attributes(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("config", ctypes.c_uint64),
                ("sampling", ctypes.c_uint64 * 3), ("flags", ctypes.c_uint64), ("others", ctypes.c_uint64 * 2)]


def failure(event):
    """Why this process can't count the event of its own user code: an error's number, 0 if it can."""
    if _SYSTEM_CALL is None:
        return errno.ENOSYS
    kind, config = EVENTS[event]
    flags = _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
    attributes = Attributes(type=kind, size=ctypes.sizeof(Attributes), config=config, flags=flags)
    library = ctypes.CDLL(None, use_errno=True)
    this_thread, any_processor, no_group = 0, -1, -1
    descriptor = library.syscall(_SYSTEM_CALL, ctypes.byref(attributes), this_thread, any_processor, no_group, 0)
    if descriptor < 0:
        return ctypes.get_errno()
    os.close(descriptor)
    return 0


def paranoid():
    return int(PARANOID.read_text()) if PARANOID.exists() else None
