"""Which section of a session stands before another one in the vault, and which notes were told where it went on."""

import msgspec

from afterword.domain.ids import SegmentKey
from afterword.store.ledger.ledger import Ledger


class Neighbour(msgspec.Struct, frozen=True):
    """A section that stands in a note: the revision, the note's path in the vault, its local day and time."""

    key: SegmentKey
    rev: int
    path: str
    day: str
    time: str


def before(ledger: Ledger, session: str, start_us: int) -> Neighbour | None:
    """The last section of a session that begins before this time and stands in a note."""
    row = ledger.db.execute(
        "SELECT r.key, p.rev, p.path, json_extract(r.value, '$.day'), json_extract(r.value, '$.time')"
        " FROM register r JOIN placed p ON p.key = r.key"
        " WHERE r.kind = 8 AND r.forgotten = 0 AND json_extract(r.value, '$.session') = ?"
        " AND json_extract(r.value, '$.start_us') < ? AND json_extract(r.value, '$.withdrawn_by') IS NULL"
        " ORDER BY json_extract(r.value, '$.start_us') DESC LIMIT 1",
        (session, start_us),
    ).fetchone()
    return Neighbour(*row) if row else None


def tell_once(ledger: Ledger, key: SegmentKey, by: SegmentKey) -> bool:
    """Whether a section's note is to be told now that its session went on elsewhere; inside a transaction."""
    done = ledger.db.execute("INSERT INTO went_on VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (key, by))
    return done.rowcount == 1
