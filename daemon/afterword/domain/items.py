"""What a session is made of: kinds, roles, and who said it."""

from enum import IntEnum
from typing import TypeAlias

ExitStatus: TypeAlias = int | str | None
"""A number, or one of ok, error, failed, interrupted, or None when the transcript does not say."""


class Kind(IntEnum):
    """Item kinds; the numbers are stored and never reused."""

    PROMPT = 1
    REPLY = 2
    THINKING = 3
    COMMAND = 4
    OUTPUT = 5
    READ = 6
    EDIT = 7
    SUMMARY = 8
    """The agent's own compaction: a divider, its text is not kept."""
    META = 9
    """Something was left out here (an oversized line): a note of its size; or an event that is no speech: an error, a
    slash command with what it was given."""
    CALL = 10
    """Any other tool call: its name and arguments."""

    @property
    def word(self) -> str:
        return self.name.lower()


KIND_BY_WORD = {kind.word: kind for kind in Kind}

ROLE_OF = {
    Kind.PROMPT: "user",
    Kind.REPLY: "assistant",
    Kind.THINKING: "assistant",
    Kind.COMMAND: "tool",
    Kind.OUTPUT: "tool",
    Kind.READ: "tool",
    Kind.EDIT: "tool",
    Kind.SUMMARY: "system",
    Kind.META: "system",
    Kind.CALL: "tool",
}
"""Kind → user, assistant, tool or system."""

PROSE_KINDS = frozenset({Kind.PROMPT, Kind.REPLY})
"""Kinds indexed with positions, for phrases and BM25; everything else goes to the tool table."""


class SaidBy(IntEnum):
    """Whose words a text is; numbers are stored."""

    PERSON = 1
    AGENT = 2
    """A model's words, also where the transcript puts them in the user role (a sub-agent's first text)."""
    MACHINE = 3
    """A program's output."""


class Time(IntEnum):
    """How far an item's time can be trusted; numbers are stored."""

    GIVEN = 0
    DERIVED = 1
    """Missing: taken from the predecessor, the session's start or the file."""
    ODD = 2
    """1970 or in the future: kept as given in `given_us`, filed as if it were missing."""
