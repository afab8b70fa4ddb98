"""Opens a whole document: one file read at once, up to a bound."""

import os
import stat
from pathlib import Path

from afterword.domain.events import Document, Unreadable


def opened(path: Path, max_bytes: int) -> Document:
    """The file's bytes.

    Raises:
        OSError: it cannot be opened or read, or is no regular file.
        Unreadable: it is over the bound; it is left out whole, since half a document is none.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("not a regular file")
        if found.st_size > max_bytes:
            raise Unreadable(f"{found.st_size >> 20:,} MiB are over `capture.document_max` ({max_bytes >> 20:,} MiB)")
        with os.fdopen(fd, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(fd)
    if len(data) > max_bytes:
        raise Unreadable("it grew over `capture.document_max` while it was read")
    return Document(path, data)
