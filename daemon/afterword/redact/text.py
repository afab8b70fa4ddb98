"""`Redacted`: the only kind of text that may be stored, sent or logged."""

from __future__ import annotations

from typing import Final, Self


class Redacted(str):
    """Text that went through the redactor.

    Only the redactor makes one (`marking`); what `str` methods return is plain `str` again, because a join or a slice
    can bring two harmless halves together and has to be redacted anew.
    """

    __slots__ = ()

    def __new__(cls, *_args: object, **_named: object) -> Self:
        raise TypeError("Redacted text is made by Redactor.redact only")

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        # What arrives in another process or out of a file is plain text: the promise holds for one process.
        return str, (str(self),)


def stored(text: str) -> Redacted:
    """`text` as Redacted because it was redacted before it was written. Only `store` may call this, and only
    for text that comes back out of our own ledger under the rules version noted there."""
    return str.__new__(Redacted, text)


def received(text: str) -> Redacted:
    """`text` as Redacted because a worker of this program redacted it, under the rules and patterns that this process
    gave it, and sent it by a pipe of ours. Only `capture.cold` may call this."""
    return str.__new__(Redacted, text)


EMPTY: Final[Redacted] = stored("")
