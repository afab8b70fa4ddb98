"""Which files are notes, and what links call them: the ending in any case, as Obsidian takes it."""

from typing import Final

NOTES: Final = "*.[mM][dD]"
"""The pattern of their names, for `Path.rglob`."""


def is_note(name: str) -> bool:
    """Whether a file of this name, or at this path, is a note."""
    return name[-3:].lower() == ".md"


def linked(path: str) -> str:
    """The path as links name it: without the ending."""
    return path[:-3] if is_note(path) else path
