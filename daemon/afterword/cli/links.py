"""Addresses of places in the vault, and links that terminals make clickable."""

from typing import NamedTuple
from urllib.parse import quote

from afterword.domain.note_names import linked


class Place(NamedTuple):
    """A note (relative to the vault) and a block in it."""

    path: str
    block: str | None


def uri(vault: str, place: Place) -> str:
    """The obsidian:// address of a place: every part percent-encoded, `/` too, the block behind `%23%5E`."""
    file = linked(place.path) + (f"#^{place.block}" if place.block else "")
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(file, safe='')}"


def link(address: str, text: str | None = None) -> str:
    """An address that a terminal makes clickable (OSC 8), under a text or under itself; both must be clean."""
    return f"\x1b]8;;{address}\x1b\\{address if text is None else text}\x1b]8;;\x1b\\"
