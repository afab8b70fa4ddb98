"""`forgotten.jsonl` beside the ledger: all tombstones once more, so that an older copy of the ledger, put back, does
not bring back what was forgotten after it was made. Ids and hashes, no text."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from afterword.store import files
from afterword.store.ledger.tombstones import Tombstone

FILE: Final = "forgotten.jsonl"


def read(state: Path) -> list[Tombstone]:
    """What the file holds; a line that cannot be read is passed over."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for line in (state / FILE).read_bytes().splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(msgspec.json.decode(line, type=Tombstone))
    return found


def keep(state: Path, stones: Iterable[Tombstone]) -> None:
    """Replace the file whole."""
    lines = [msgspec.json.encode(stone) + b"\n" for stone in stones]
    files.replace(state / FILE, b"".join(lines))
