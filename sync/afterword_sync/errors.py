"""What can go wrong in an exchange, as sentences for people: a reason and what helps. Never a value of a record."""


class SyncError(Exception):
    """An exchange did not come to its end. What was committed before stays, and the next one goes on from there."""

    transient = False  # trying again later may help without anybody doing anything

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class Refused(SyncError):
    """What a peer or a folder brought is not taken, and nothing of that batch is in the ledger.

    The reason names origins, numbers and fields.
    """


class PeerRefused(SyncError):
    """The peer did not take what we sent, or does not speak with us; the reason is in its words."""


class LinkBroken(SyncError):
    """The connection ended, or nothing was heard for too long."""

    transient = True


class Unreachable(SyncError):
    """Nobody answers at that address: asleep, away, another network."""

    transient = True


class HostKeyRefused(SyncError):
    """The machine that answered cannot prove that it is the known one."""


class AuthFailed(SyncError):
    """The machine answered, but lets us in with none of our keys."""


class RemoteFailed(SyncError):
    """We are in, but `afterword sync serve` does not run there."""
