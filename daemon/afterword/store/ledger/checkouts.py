"""Working folders and the main checkout each belongs to, remembered because folders go. All paths are redacted."""

from collections.abc import Sequence

from afterword.redact.text import Redacted, stored
from afterword.store.ledger.ledger import Ledger


def remember(ledger: Ledger, folder: Redacted, root: Redacted) -> None:
    """What a folder belongs to; a later word stands. Inside a transaction."""
    ledger.db.execute(
        "INSERT INTO checkout VALUES (?, ?) ON CONFLICT (folder) DO UPDATE SET root = excluded.root"
        " WHERE root <> excluded.root",
        (folder, root),
    )


def root_of(ledger: Ledger, folders: Sequence[Redacted]) -> Redacted | None:
    """The checkout of the first of these folders that is known."""
    for folder in folders:
        found = ledger.db.execute("SELECT root FROM checkout WHERE folder = ?", (folder,)).fetchone()
        if found:
            return stored(found[0])
    return None
