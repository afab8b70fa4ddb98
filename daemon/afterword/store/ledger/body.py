"""The text of an item between redaction and its row: as text, as stored bytes, or both; each is made when asked for."""

import msgspec

from afterword.redact.text import Redacted
from afterword.store.ledger.ledger import pack, unpack
from afterword.store.ledger.masked import kinds_in


class Packed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A redacted text as it is stored, with what the ledger counts of it. `chars` is its length in characters, `kinds`
    how many values of each kind are masked in it."""

    blob: bytes
    packed: int
    chars: int
    kinds: dict[str, int]


class Body:
    """A redacted text on its way into the ledger. Who packed it elsewhere spares the writer both the packing and,
    mostly, the unpacking."""

    __slots__ = ("_packed", "_text")

    def __init__(self, text: Redacted | None = None, packed: Packed | None = None) -> None:
        """At least one of the two; where both are given they say the same."""
        self._text = text
        self._packed = packed

    @property
    def text(self) -> Redacted:
        if self._text is None:
            assert self._packed is not None
            self._text = unpack(self._packed.blob, self._packed.packed)
        return self._text

    @property
    def chars(self) -> int:
        return self._packed.chars if self._text is None and self._packed else len(self.text)

    @property
    def kinds(self) -> dict[str, int]:
        return self._packed.kinds if self._packed else kinds_in(self.text)

    def stored(self) -> tuple[bytes, int]:
        """The bytes of its row, and whether they are zstd."""
        return (self._packed.blob, self._packed.packed) if self._packed else pack(self.text)

    def packed(self) -> Packed:
        """All of it, to be sent to the writer."""
        if self._packed is None:
            self._packed = Packed(*pack(self.text), len(self.text), kinds_in(self.text))
        return self._packed
