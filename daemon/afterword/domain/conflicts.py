"""What tools that copy a vault between machines leave when two sides changed: copies beside a note, marks in it."""

import re
from collections.abc import Container
from typing import Final

_SURE: Final = re.compile(
    r"(.+?)(?:"
    r" \(Conflicted copy [^()]*\)"  # Obsidian Sync
    r"|\.sync-conflict-\d{8}-\d{6}-\w+"  # Syncthing
    r"| \([^()]*['\u2019]s conflicted copy[^()]*\)"  # Dropbox
    r"| \([^()]*conflicted copy[^()]*\)"
    r")(\.md)",
    re.IGNORECASE,
)
_PERHAPS: Final = re.compile(r"(.+?)(?: \(?[2-9]\)?|-[A-Z][A-Z0-9-]{2,})(\.md)")
"""iCloud's `name 2.md`, OneDrive's `name-COMPUTER.md`: people name notes so too."""
_MARKS: Final = (
    re.compile(rb"^<{7} .*$", re.MULTILINE),
    re.compile(rb"^>{7} .*$", re.MULTILINE),
)


def copy_of(name: str) -> str | None:
    """The note that a copy with this name was made of, by a name that only sync tools give; None of any other."""
    found = _SURE.fullmatch(name)
    return found[1] + found[2] if found else None


def maybe_copy_of(name: str, beside: Container[str]) -> str | None:
    """The same of names that people give as well: only where that note lies beside it."""
    found = _PERHAPS.fullmatch(name)
    note = found[1] + found[2] if found else ""
    return note if note in beside else None


def merging(note: bytes) -> bool:
    """Whether a note holds the marks of a merge that nobody has finished, in their order."""
    at = 0
    for mark in _MARKS:
        found = mark.search(note, at)
        if not found:
            return False
        at = found.end()
    return True
