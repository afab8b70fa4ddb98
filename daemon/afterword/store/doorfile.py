"""`door.json`: where the running daemon's door is, and the token that opens it; for its owner's eyes alone."""

from pathlib import Path

import msgspec

from afterword.store.files import replace

FILE = "door.json"
PORT = "door.port"


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


def last_port(state: Path) -> int:
    """The port of the door before this one, so that who was paired finds it again; 0 when none is known."""
    try:
        said = (state / PORT).read_text("ascii")
    except (OSError, ValueError):
        return 0
    return int(said) if said.isdigit() and 1024 <= int(said[:6]) <= 65535 else 0


def keep_port(state: Path, port: int) -> None:
    if last_port(state) != port:
        replace(state / PORT, str(port).encode())
