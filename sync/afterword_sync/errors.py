"""What can go wrong in an exchange, as sentences for people: a reason and what helps. Never a value of a record."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from afterword_sync.report import Exchanged


class SyncError(Exception):
    """An exchange did not come to its end. What was committed before stays, and the next one goes on from there."""

    transient = False  # trying again later may help without anybody doing anything

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.done: Exchanged | None = None  # what was committed before it went wrong, where that is known


class Refused(SyncError):
    """What a peer or a folder brought is not taken, and nothing of that batch is in the ledger.

    The reason names origins, numbers and fields.
    """


class PeerRefused(SyncError):
    """The peer did not take what we sent, or does not speak with us; the reason is in its words."""


class LinkBroken(SyncError):
    """The connection ended, or nothing was heard for too long."""

    transient = True


class NeverGreeted(LinkBroken):
    """The stream ended or stayed silent before the other side said that it is afterword."""


class Unreachable(SyncError):
    """Nobody answers at that address: asleep, away, another network."""

    transient = True


class HostKeyRefused(SyncError):
    """The machine that answered cannot prove that it is the known one."""


class AuthFailed(SyncError):
    """The machine answered, but lets us in with none of our keys."""


class RemoteFailed(SyncError):
    """We are in, but `afterword sync serve` does not run there."""


def plain(text: str, most_chars: int = 300) -> str:
    """What somebody else wrote, on one line without control characters, for use in a sentence."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * most_chars])
    return " ".join(shown.split())[:most_chars]
