"""What handlers of the loopback API work with."""

from collections.abc import Callable, Mapping

import msgspec

from afterword.app.config import Config
from afterword.app.pulse import Waiting
from afterword.app.searching import Searcher
from afterword.domain.clock import Clock
from afterword.redact.redactor import Redactor
from afterword.serve import jobs as work
from afterword.serve.hand import Hand
from afterword.serve.pairing import Codes
from afterword.store.ledger.ledger import Ledger, open_reader


class Room(msgspec.Struct, frozen=True):
    """What handlers work with. They run in threads of the door: every one opens the ledger for itself."""

    config: Config
    env: Mapping[str, str]
    clock: Clock
    redactor: Redactor
    lines: work.Lines
    searcher: Searcher
    """The index in memory, one for all callers."""
    wake: Callable[[], None]
    """Makes the loop look for jobs now."""
    hand: Hand
    """Has the loop's thread do something now."""
    exchange: Callable[[], list[str]] = list
    """Has the daemon exchange with the other machines now; their names."""
    codes: Codes = msgspec.field(default_factory=Codes)
    waiting: Waiting = msgspec.field(default_factory=Waiting)
    """Counts what waits for a person's word."""

    def ledger(self) -> Ledger:
        """The ledger, read-only."""
        return open_reader(self.config.places.state)
