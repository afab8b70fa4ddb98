"""How it goes, in a few numbers: what the status bar of an editor shows. Cheap enough to be asked every few seconds."""

from collections.abc import Callable
from typing import Any

import msgspec

from afterword import __version__
from afterword.app.config import Config
from afterword.domain.clock import format_rfc3339
from afterword.store.ledger import jobs, views
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import read_card


class Waiting:
    """How many candidates wait for a person's word; counted again only when something was noted since."""

    def __init__(self) -> None:
        self._key: tuple[int, ...] = ()
        self._count = 0

    def count(self, ledger: Ledger) -> int:
        from afterword.app.review import candidates  # noqa: PLC0415  # it knows of jobs, and they of everything

        key = tuple(ledger.head(row) for row in sorted(ledger.origins()))
        if key != self._key or not key:
            self._count = len(candidates(ledger))
            self._key = key
        return self._count


def pulse(config: Config, ledger: Ledger, semantic: str, waiting: Callable[[Ledger], int]) -> dict[str, Any]:
    """`state` is `idle`, `working` (a job runs or is queued), `review` (something waits for a person) or `error`."""
    card = read_card(config.vault) if config.vault else None
    last_us = ledger.meta("last_capture_us")
    running = jobs.running(ledger)
    failed = jobs.failures(ledger, 1)
    queued = jobs.waiting(ledger)
    review = waiting(ledger)
    problem = "" if card else "the vault is not there"
    state = "error" if problem else "working" if running or queued else "review" if review else "idle"
    return {
        "afterword": __version__,
        "state": state,
        "problem": problem or None,
        "vault": {"id": card.id if card else None, "name": config.vault.name if config.vault else None},
        "last_capture": format_rfc3339(last_us) if isinstance(last_us, int) else None,
        "pending": msgspec.to_builtins(views.pending(ledger)),
        "jobs": {
            "running": running[0].name if running else None,
            "waiting": queued,
            "failed": failed[0].name if failed else None,
        },
        "review": review,
        "index": semantic,
    }
