"""Which machine of the settings a peer is, and what is held back from it."""

from collections.abc import Mapping
from typing import Final

import msgspec

from afterword.domain.settings import Peer
from afterword.redact.redactor import Redactor
from afterword.store.ledger import entries, holds
from afterword.store.ledger.ledger import Ledger

_KNOWN: Final = "peer:"


class Met(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of exchanges with a machine; by its name in the settings, else by its origin."""

    origin: str = ""
    at_us: int = 0
    """When it went well last."""
    vector: dict[str, int] = {}
    """What both have since then."""
    tried_us: int = 0
    failures: int = 0
    """Since it went well last."""
    problem: str = ""
    lacking: int = 0
    """How many numbers were held back from this one when it went well last: see `to_ask`."""


def met(ledger: Ledger, name: str) -> Met:
    """What is remembered under a name."""
    found = ledger.meta(_KNOWN + name)
    return msgspec.json.decode(found.encode(), type=Met) if isinstance(found, str) else Met()


def every(ledger: Ledger) -> dict[str, Met]:
    """All of it, by name."""
    rows = ledger.db.execute("SELECT key, value FROM meta WHERE key LIKE ? ORDER BY key", (f"{_KNOWN}%",))
    return {key.removeprefix(_KNOWN): msgspec.json.decode(value.encode(), type=Met) for key, value in rows}


def remember(ledger: Ledger, redactor: Redactor, name: str, found: Met) -> None:
    """Remember an exchange, or a try; inside a transaction."""
    # Under its own name an origin must stay whole whatever a person's patterns say.
    ledger.set_meta(_KNOWN + name, redactor.document(msgspec.to_builtins(found), plain=("origin",)))


def forget(ledger: Ledger, name: str) -> None:
    """A machine was taken out of the settings; inside a transaction."""
    ledger.db.execute("DELETE FROM meta WHERE key = ?", (_KNOWN + name,))


def name_of(ledger: Ledger, peers: Mapping[str, Peer], origin: str) -> str:
    """What the settings call a machine; its origin where nothing tells."""
    called = dict(ledger.origins().values()).get(origin, "")
    for name in peers:
        if met(ledger, name).origin == origin:
            return name
    return called if called in peers else origin


def patterns(ledger: Ledger, peers: Mapping[str, Peer], origin: str | None) -> tuple[str, ...]:
    """The projects that are held back from a machine. As long as nobody knows which of the settings' machines it is,
    it gets nothing that is held back from one of those that were never met."""
    if origin is None:
        return tuple(pattern for peer in peers.values() for pattern in peer.withhold)
    name = name_of(ledger, peers, origin)
    if name in peers:
        return peers[name].withhold
    unknown = [peer for name, peer in peers.items() if not met(ledger, name).origin]
    return tuple(pattern for peer in unknown for pattern in peer.withhold)


def lacking(ledger: Ledger) -> int:
    """How many numbers are here without what they number, since that was held back; -1: too many to ask for at once."""
    from afterword_sync.log import MOST_ASKED  # noqa: PLC0415  # `status` does without

    found = entries.withheld(ledger)
    if sum(map(len, found.values())) > MOST_ASKED:
        return -1
    return sum(last - first + 1 for ranges in found.values() for first, last in ranges)


def to_ask(
    ledger: Ledger, peers: Mapping[str, Peer], origin: str, vector: Mapping[str, int]
) -> dict[str, list[tuple[int, int]]]:
    """What is here without what it numbers, to ask a machine for: by origin, at most `MOST_ASKED` ranges. A machine
    that knows no more than when it was asked last need not look again.
    """
    from afterword_sync.log import MOST_ASKED  # noqa: PLC0415  # `status` does without

    before = met(ledger, name_of(ledger, peers, origin))
    same = {its_id: n for its_id, n in before.vector.items() if n} == {its_id: n for its_id, n in vector.items() if n}
    found = entries.withheld(ledger)
    count = sum(last - first + 1 for ranges in found.values() for first, last in ranges)
    if not count or (same and before.origin == origin and before.lacking == count):
        return {}
    left = MOST_ASKED
    some: dict[str, list[tuple[int, int]]] = {}
    for its_id, ranges in found.items():
        if left > 0:
            some[its_id] = ranges[:left]
            left -= len(ranges)
    return some


def settle(ledger: Ledger, redactor: Redactor, peers: Mapping[str, Peer], origin: str) -> None:
    """Hold back from a machine what the settings say now, and let go what they say no more."""
    holds.settle(ledger, redactor, origin, patterns(ledger, peers, origin))
