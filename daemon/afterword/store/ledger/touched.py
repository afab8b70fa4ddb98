"""Which sessions read or edited a file."""

import posixpath
from collections.abc import Iterator

import msgspec

from afterword.domain.ids import SegmentKey
from afterword.domain.items import Kind
from afterword.store.ledger.ledger import Ledger, RecordKind
from afterword.store.ledger.sessions import SessionFacts


class Touch(msgspec.Struct, frozen=True):
    """An item that read or edited a file. `path` is whole where the session's folder makes it so."""

    session: int
    item: int
    kind: Kind
    time_us: int
    path: str


def named(ledger: Ledger, name: str) -> Iterator[Touch]:
    """Every live read and edit of a file of this name (the last part of a path), oldest first."""
    rows = ledger.db.execute(
        "SELECT m.session, i.row, i.kind, i.time_us, i.path, s.facts"
        " FROM (SELECT rowid AS row FROM item INDEXED BY item_path WHERE path IS NOT NULL AND kind IN (6, 7)"
        " AND (path = ?1 OR path LIKE '%/' || ?2 ESCAPE '!' OR path LIKE '%\\' || ?2 ESCAPE '!')) hit"
        " JOIN item i ON i.row = hit.row"
        " JOIN membership m ON m.item = i.row AND m.state = 0 JOIN session s ON s.row = m.session"
        " ORDER BY i.time_us, i.row",
        (name, name.replace("!", "!!").replace("%", "!%").replace("_", "!_")),
    )
    for session, item, kind, time_us, path, facts in rows:
        given = path.replace("\\", "/")
        known = msgspec.json.decode(facts, type=SessionFacts)
        whole = given if given.startswith("/") or given[1:3] == ":/" else posixpath.join(known.cwd or known.root, given)
        yield Touch(session, item, Kind(kind), time_us, posixpath.normpath(whole))


def sections_of(ledger: Ledger, items: list[int]) -> list[SegmentKey]:
    """The keys of the sections in which these items were written up."""
    rows = ledger.db.execute(
        "SELECT DISTINCT r.key FROM derivation d JOIN derivation e ON e.src_kind = d.dst_kind AND e.src = d.dst"
        " JOIN register r ON r.row = e.dst WHERE d.src_kind = ? AND d.src IN (SELECT value FROM json_each(?))"
        " AND d.dst_kind = ? AND e.dst_kind = ? AND r.forgotten = 0"
        " AND json_extract(r.value, '$.withdrawn_by') IS NULL ORDER BY r.key",
        (RecordKind.ITEM, msgspec.json.encode(items).decode(), RecordKind.DIGEST, RecordKind.SECTION),
    )
    return [SegmentKey(key) for (key,) in rows]
