"""The keyed hash of a growing file's prefix, that can be taken up again after a restart."""

import hashlib
import hmac
from typing import NamedTuple, Protocol

BLOCK = 1 << 20


class Hasher(Protocol):
    """Who hashes raw bytes with the ledger's key, so that nobody else can test guesses on what is kept."""

    @property
    def hash_key(self) -> bytes:
        """The key itself."""

    def keyed_hash(self, data: bytes, size: int = 32) -> bytes:
        """HMAC-SHA-256 of `data`, cut to `size` bytes."""


class Keyed:
    """The key alone: for a process that does not open the ledger."""

    def __init__(self, hash_key: bytes) -> None:
        self.hash_key = hash_key

    def keyed_hash(self, data: bytes, size: int = 32) -> bytes:
        return hmac.digest(self.hash_key, data, "sha256")[:size]


class Mark(NamedTuple):
    """`chain` covers the whole blocks before `offset` (bytes), `part` the rest."""

    offset: int
    chain: bytes
    part: bytes


class PrefixHash:
    """HMAC-SHA-256 chained over 1 MiB blocks: chain' = HMAC(chain + block).

    To go on after a restart only the last, partial block has to be read again, and that comparison is at the same
    time the check that the bytes before the position are still the bytes that were read.
    """

    def __init__(self, key: bytes, start: Mark | None = None) -> None:
        """`start` must lie on a block border: its `part` covers nothing."""
        self._key = key
        self.offset = start.offset if start else 0
        self._chain = start.chain if start else b""
        self._open = self._fresh()

    def _fresh(self) -> hmac.HMAC:
        return hmac.new(self._key, self._chain, hashlib.sha256)

    def copy(self) -> "PrefixHash":
        twin = PrefixHash.__new__(PrefixHash)
        twin._key, twin.offset, twin._chain = self._key, self.offset, self._chain  # noqa: SLF001  # its own kind
        twin._open = self._open.copy()  # noqa: SLF001  # its own kind
        return twin

    def become(self, other: "PrefixHash") -> None:
        """Go on from where `other` stands."""
        self.offset, self._chain, self._open = other.offset, other._chain, other._open  # noqa: SLF001  # its own kind

    def update(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while view:
            room = BLOCK - self.offset % BLOCK
            piece = view[:room]
            self._open.update(piece)
            self.offset += len(piece)
            if len(piece) == room:
                self._chain = self._open.digest()
                self._open = self._fresh()
            view = view[room:]

    def mark(self) -> Mark:
        return Mark(self.offset, self._chain, self._open.digest() if self.offset % BLOCK else b"")
