"""Files of the journal one by one: read and checked, set down whole, put through newer redaction rules."""

import stat
from collections.abc import Callable
from pathlib import Path

from afterword.domain.article_note import layout
from afterword.domain.clock import Zones
from afterword.domain.conflicts import merging
from afterword.domain.escape import prose, unescape
from afterword.domain.lesson_note import FILE_MAX_BYTES, Bad, Entry, read
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.matter import read_matter


def set_down(folder: Path, name: str, note: bytes, made: Callable[[Path], None]) -> Path:
    """Put a new entry into a folder: whole and on the disk when this returns, or not there at all.

    `made` makes the folder where it is missing. Needs neither lock nor ledger: the name is nobody else's.
    """
    made(folder)
    path = folder / name
    if not files.create(path, note):
        raise FileExistsError(name)
    return path


def read_entry(path: Path, zones: Zones) -> Entry | Bad:
    """What a file of the journal says, or what is wrong with it. Changes nothing."""
    try:
        at = path.lstat()
        if not stat.S_ISREG(at.st_mode):
            return Bad("it is no file but a link or something else")
        if at.st_size > FILE_MAX_BYTES:
            return Bad(f"it has {at.st_size >> 10:,} KiB; a lesson says one thing")
        note = path.read_bytes()
    except OSError as err:
        return Bad(err.strerror or str(err))
    if merging(note):
        return Bad("it holds the markers of a merge")
    at_us = at.st_mtime_ns // 1000
    where = layout(note)
    body = note if where.matter is None else note[where.matter[1] :].partition(b"\n")[2]
    return read(read_matter(note), body, (at_us, zones.day(at_us)))


def masked(note: bytes, redactor: Redactor) -> bytes:
    """The entry with what the rules find taken out of its text and its values, line by line."""
    rows = note.decode("utf-8", "surrogateescape").split("\n")
    body = next((n for n, row in enumerate(rows) if n and row.rstrip() == "---"), 0)
    for n, row in enumerate(rows):
        said = unescape(row) if n > body else row
        clean = leave("lesson", said, redactor)
        if clean != said:
            rows[n] = str(prose(clean)) if n > body else clean
    return "\n".join(rows).encode("utf-8", "surrogateescape")
