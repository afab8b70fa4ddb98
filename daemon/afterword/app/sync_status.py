"""How it stands with the machines that this one exchanges with, and when each is due."""

from collections.abc import Mapping
from typing import Any, Final

from afterword.app import sync_holds
from afterword.app.config import Config
from afterword.domain.clock import clock_from, format_rfc3339
from afterword.domain.settings import Peer, duration_us
from afterword.store.ledger import compile_on, holds
from afterword.store.ledger.ledger import Ledger

_BACK_OFF_MAX: Final = 6
"""A machine that does not answer is tried after twice the time, four times, … up to 64 times."""


def status(config: Config, env: Mapping[str, str], ledger: Ledger) -> list[dict[str, Any]]:
    """Every machine that is known from the settings or from an exchange, for `status` and `sync status`."""
    peers = config.settings.peers
    known = sync_holds.every(ledger)
    own = ledger.origin[0]
    names = dict(ledger.origins().values())
    heads = {its_id: ledger.head(row) for row, (its_id, _) in ledger.origins().items()}
    held = holds.counts(ledger)
    now_us = clock_from(dict(env))()
    found = []
    for name in dict.fromkeys((*peers, *known)):
        met = known.get(name, sync_holds.Met())
        if met.origin == own:
            continue
        peer = peers.get(name)
        due_us = next_try_us(peer, met) if peer else None
        lag = sum(max(0, head - met.vector.get(its_id, 0)) for its_id, head in heads.items())
        found.append(
            {
                "peer": name if name in peers else names.get(name, name),
                "host": (peer.host or name) if peer else None,
                "origin": met.origin or None,
                "machine": names.get(met.origin),
                "every": peer.every if peer else None,
                "last": format_rfc3339(met.at_us) if met.at_us else None,
                "lag": lag,
                "withheld": held.get(met.origin, 0),
                "next": None if due_us is None else format_rfc3339(max(due_us, now_us)),
                "problem": met.problem or None,
                "failures": met.failures,
            }
        )
    return found


def next_try_us(peer: Peer, met: sync_holds.Met) -> int | None:
    """When a machine is due by its `every`: later, the oftener it did not answer; None where that is off."""
    if peer.every == "off":
        return None
    last_us = max(met.at_us, met.tried_us)
    return last_us + duration_us(peer.every) * 2 ** min(met.failures, _BACK_OFF_MAX) if last_us else 0


def machines(ledger: Ledger) -> dict[str, Any]:
    """This machine, and which one compiles."""
    its_id, name = ledger.origin
    return {"origin": its_id, "machine": name, "compiles_on": compile_on.elsewhere(ledger) or name}
