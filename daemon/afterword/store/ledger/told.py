"""What each revision of a section said when it was written into a note: keyed hashes of its texts, no text.

So a later revision need not say it again, and what a person wrote is told from what we wrote when the digest has
changed meanwhile.
"""

from collections.abc import Iterator
from typing import Final

from afterword.domain.escape import plain
from afterword.domain.ids import SegmentKey
from afterword.domain.section_edits import CONTEXT, Told
from afterword.domain.sections import PARTS, Texts
from afterword.store.ledger.ledger import Ledger

_SIZE: Final = 8


def put(ledger: Ledger, key: SegmentKey, rev: int, said: Texts) -> None:
    """Remember what a revision says; inside a transaction."""
    prints = b"".join(_print(ledger, part, text) for part, text in _texts(said))
    ledger.db.execute(
        "INSERT INTO told VALUES (?, ?, ?) ON CONFLICT (key, rev) DO UPDATE SET prints = excluded.prints",
        (key, rev, prints),
    )


def of(ledger: Ledger, key: SegmentKey) -> dict[int, Told]:
    """Of a section's revisions that were written: whether they said a text in a part."""
    rows = ledger.db.execute("SELECT rev, prints FROM told WHERE key = ?", (key,)).fetchall()
    return {rev: _told(ledger, prints) for rev, prints in rows}


def drop(ledger: Ledger) -> None:
    """Forget all of it, as the texts in the notes are about to change under new rules; inside a transaction."""
    ledger.db.execute("DELETE FROM told")


def sweep(ledger: Ledger) -> None:
    """Forget it of sections that were forgotten; inside a transaction."""
    ledger.db.execute("DELETE FROM told WHERE key IN (SELECT key FROM register WHERE kind = 8 AND forgotten = 1)")


def _told(ledger: Ledger, prints: bytes) -> Told:
    known = {prints[at : at + _SIZE] for at in range(0, len(prints), _SIZE)}
    return lambda part, text: _print(ledger, part, text) in known


def _print(ledger: Ledger, part: str, text: str) -> bytes:
    return ledger.keyed_hash(f"{part}\0{plain(text)}".encode("utf-8", "surrogatepass"), _SIZE)


def _texts(said: Texts) -> Iterator[tuple[str, str]]:
    yield CONTEXT, said.context
    for part, _ in PARTS:
        yield from ((part, text) for text in getattr(said, part))
