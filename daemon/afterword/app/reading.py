"""What reading commands need, and no more: they must start fast."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.app.config import Config, day_starts_at_min
from afterword.domain.clock import Zones
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers, sessions
from afterword.store.ledger.ledger import Ledger, RecordKind, open_reader

if TYPE_CHECKING:
    from afterword.domain.events import Where


def redactor(config: Config) -> Redactor:
    """The redactor as the settings want it."""
    wanted = config.settings.redact
    return Redactor(wanted.engine, wanted.extra, wanted.allow)


def where(config: Config, env: Mapping[str, str], ledger: Ledger | None = None) -> "Where":
    """What decides where the stores are; the folders that agents worked in come from the ledger."""
    from afterword.domain.events import Where  # noqa: PLC0415  # what only reads the ledger needs no decoder's types

    folders = tuple(map(Path, sessions.worked_in(ledger))) if ledger else ()
    return Where(dict(env), config.places.home, sys.platform, folders)


@contextmanager
def reader(config: Config) -> Iterator[Ledger]:
    """The ledger, read-only.

    Raises:
        NotSetUp: there is none yet.
    """
    ledger = open_reader(config.places.state)
    try:
        yield ledger
    finally:
        ledger.close()


def zones_of(config: Config, ledger: Ledger) -> Zones:
    """The vault's zones for a reader; UTC until a writer has settled them."""
    found = registers.get(ledger, RecordKind.SETTING, "vault.zone")
    changes = found.read(list[tuple[str, str]]) if found else []
    return Zones(changes, day_starts_at_min(config.settings))
