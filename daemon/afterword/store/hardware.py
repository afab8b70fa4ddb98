"""Which machine this is, as far as it can be read without asking anybody."""

import ctypes
import ctypes.util
import sys
from pathlib import Path
from typing import Final

_LINUX: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def machine_id() -> str:
    """What this system calls itself for good; empty where it cannot be read. It is stored as a keyed hash only."""
    if sys.platform == "darwin":
        return _sysctl("kern.uuid")
    for path in _LINUX:
        try:
            return path.read_text("ascii").strip()
        except (OSError, ValueError):
            continue
    return ""


def _sysctl(name: str) -> str:
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    said = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(ctypes.sizeof(said))
    failed = library.sysctlbyname(name.encode(), said, ctypes.byref(size), None, 0)
    return "" if failed else said.value.decode("ascii", "replace")
