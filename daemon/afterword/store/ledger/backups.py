"""The backups that were made of this ledger: where they were put, so that `forget` finds them."""

import msgspec

from afterword.redact.text import Redacted
from afterword.store.ledger.ledger import Ledger


class Backup(msgspec.Struct, frozen=True):
    """A backup. `sha256` is empty while it is being made."""

    path: str
    made_us: int
    bytes: int
    sha256: str
    origin: str


def remember(ledger: Ledger, path: Redacted, backup: Backup) -> None:
    """Note a backup by its place, whether it is there yet or not; in a transaction of its own."""
    with ledger.transaction(durable=True):
        ledger.db.execute(
            "INSERT INTO backup VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET made_us = excluded.made_us,"
            " bytes = excluded.bytes, sha256 = excluded.sha256, origin = excluded.origin",
            (path, backup.made_us, backup.bytes, backup.sha256, backup.origin),
        )


def drop(ledger: Ledger, path: str) -> None:
    """Forget a backup that is gone; in a transaction of its own."""
    with ledger.transaction():
        ledger.db.execute("DELETE FROM backup WHERE path = ?", (path,))


def every(ledger: Ledger) -> list[Backup]:
    """All of them, the newest first."""
    rows = ledger.db.execute("SELECT path, made_us, bytes, sha256, origin FROM backup ORDER BY made_us DESC, path")
    return [Backup(*row) for row in rows]
