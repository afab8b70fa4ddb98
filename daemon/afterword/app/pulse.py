"""How it goes, in a few numbers: what the status bar of an editor shows. Cheap enough to be asked every few seconds."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from afterword import __version__
from afterword.app.config import Config
from afterword.domain.clock import format_rfc3339
from afterword.store.ledger import article_files, jobs, reviews, views
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import read_card

_COUNTED_S: Final = 60.0


class Waiting:
    """How many candidates wait for a person's word. Counting them takes long, so one caller does it, and only when
    something was decided, an article came or went, or much else was noted since long; the others get the last count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = threading.Lock()
        self._key: object = None
        self._heads: tuple[int, ...] = ()
        self._count = 0
        self._again = 0.0

    def count(self, ledger: Ledger) -> int:
        from afterword.app.review import candidates  # noqa: PLC0415  # it knows of jobs, and they of everything

        if not self._turn.acquire(blocking=self._key is None):
            return self._count
        try:
            key = len(reviews.every(ledger)), article_files.places(ledger)
            heads = tuple(ledger.head(row) for row in sorted(ledger.origins()))
            if key != self._key or (heads != self._heads and self._clock() >= self._again):
                self._count = len(candidates(ledger))
                self._key, self._heads, self._again = key, heads, self._clock() + _COUNTED_S
            return self._count
        finally:
            self._turn.release()


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
