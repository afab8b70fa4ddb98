"""`door.json`: where the running daemon's door is, and the token that opens it; for its owner's eyes alone."""

from pathlib import Path

import msgspec

from afterword.store.files import replace

FILE = "door.json"


class DoorCard(msgspec.Struct, frozen=True):
    """A door on loopback. `pid` tells a living door from the file that a killed daemon left."""

    version: int
    port: int
    token: str
    pid: int
    program: str
    """The version of afterword behind it."""


def write(state: Path, card: DoorCard) -> None:
    path = state / FILE
    path.unlink(missing_ok=True)  # `replace` keeps the mode of what is there
    replace(path, msgspec.json.encode(card))


def read(state: Path) -> DoorCard | None:
    """The card, or None when there is none that can be read."""
    try:
        return msgspec.json.decode((state / FILE).read_bytes(), type=DoorCard)
    except (OSError, msgspec.MsgspecError):
        return None


def remove(state: Path, pid: int) -> None:
    """Take the card away if it is still this process's."""
    card = read(state)
    if card is not None and card.pid == pid:
        (state / FILE).unlink(missing_ok=True)
