"""Memory that nobody uses any more, given back to the system."""

import contextlib
import ctypes
import sys


def give_back() -> None:
    """Let go of what was freed. C's allocator keeps it otherwise: after a model or an index was loaded as much as half
    of what it takes itself. Takes some milliseconds; where the allocator knows no such thing, nothing happens."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
