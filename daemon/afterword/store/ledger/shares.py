"""Sessions that were shared: into which file, so that what is retracted later is not told by it for ever."""

import msgspec

from afterword.redact.text import Redacted
from afterword.store.ledger.ledger import Ledger


class Share(msgspec.Struct, frozen=True):
    """A file that was written. `session` is a session's id, `form` html or md, `sha256` that of the bytes we wrote."""

    path: str
    session: str
    form: str
    made_us: int
    sha256: str


def remember(ledger: Ledger, path: Redacted, share: Share) -> None:
    """Note a file by its place; in a transaction of its own."""
    with ledger.transaction():
        ledger.db.execute(
            "INSERT INTO share VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET session = excluded.session,"
            " form = excluded.form, made_us = excluded.made_us, sha256 = excluded.sha256",
            (path, share.session, share.form, share.made_us, share.sha256),
        )


def every(ledger: Ledger) -> list[Share]:
    """All of them, the newest first."""
    rows = ledger.db.execute("SELECT path, session, form, made_us, sha256 FROM share ORDER BY made_us DESC, path")
    return [Share(*row) for row in rows]
