"""Questions about the ledger as a whole, and a session's items in order: what `show`, `status`, `sources` print."""

from collections.abc import Iterator

import msgspec

from afterword.domain import old_notes
from afterword.domain.ids import ItemId
from afterword.domain.items import PROSE_KINDS, ExitStatus, Kind, SaidBy
from afterword.redact.text import Redacted
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger, RecordKind, unpack

_SECTION = int(RecordKind.SECTION)
_ARTICLE = int(RecordKind.ARTICLE)


class Counts(msgspec.Struct, frozen=True):
    """How much the ledger holds."""

    sessions: int
    items: int
    log: int
    sections: int
    articles: int


class Pending(msgspec.Struct, frozen=True):
    """What is still to be done: sessions to write up, texts to index, sections to put into the vault."""

    sessions: int
    texts: int
    sections: int


class Learned(msgspec.Struct, frozen=True):
    """How much was learned: facts that hold, entries that wait for a person's word, entries in all."""

    facts: int
    drafts: int
    entries: int


class Placed(msgspec.Struct, frozen=True):
    """An item with its place in a session, in the session's order."""

    row: int
    id: ItemId
    kind: Kind
    said_by: SaidBy
    text: Redacted
    time_us: int
    exit_status: ExitStatus
    path: str | None
    state: State


def counts(ledger: Ledger) -> Counts:
    found = ledger.db.execute(
        "SELECT (SELECT count(DISTINCT session) FROM membership WHERE state < 3),"
        " (SELECT count(*) FROM item) - (SELECT count(*) FROM erased),"
        " (SELECT count(*) FROM log),"
        f" (SELECT count(*) FROM register WHERE kind = {_SECTION} AND forgotten = 0"
        " AND json_extract(value, '$.withdrawn_by') IS NULL),"
        f" (SELECT count(*) FROM register a LEFT JOIN register e ON e.kind = {_ARTICLE} AND e.forgotten = 0"
        f" AND e.key = a.key || '/edits' WHERE a.kind = {_ARTICLE} AND a.forgotten = 0 AND a.key NOT LIKE '%/edits'"
        " AND coalesce(json_extract(e.value, '$.status'), json_extract(a.value, '$.status'), 'active')"
        " IN ('active', 'stale', 'draft'))"
    ).fetchone()
    return Counts(found[0], found[1], found[2], found[3], found[4])


def learned(ledger: Ledger) -> Learned:
    """How much was learned, as it stands with what people said of it."""

    def count(kind: RecordKind, status: str | None) -> int:
        found: tuple[int] = ledger.db.execute(
            "SELECT count(*) FROM register a LEFT JOIN register e ON e.kind = a.kind AND e.forgotten = 0"
            " AND e.key = a.key || '/edits' WHERE a.kind = ?1 AND a.forgotten = 0 AND a.key NOT LIKE '%/edits'"
            " AND (?2 IS NULL OR ?2 ="
            "  coalesce(json_extract(e.value, '$.status'), json_extract(a.value, '$.status'), 'active'))",
            (int(kind), status),
        ).fetchone()
        return found[0]

    return Learned(
        facts=count(RecordKind.FACT, "active"),
        drafts=count(RecordKind.LESSON, "draft"),
        entries=count(RecordKind.LESSON, None),
    )


def pending(ledger: Ledger) -> Pending:
    found = ledger.db.execute(
        "SELECT (SELECT count(*) FROM session WHERE dirty > 0), (SELECT count(*) FROM text_pending),"
        " (SELECT count(*) FROM register r LEFT JOIN placed p ON p.key = r.key"
        f" WHERE r.kind = {_SECTION} AND r.forgotten = 0 AND (p.rev IS NULL OR p.rev < r.rev)"
        f" AND json_extract(r.value, '$.harness') <> '{old_notes.NAME}')"
    ).fetchone()
    return Pending(found[0], found[1], found[2])


def session_count(ledger: Ledger, harness: str) -> int:
    found: int = ledger.db.execute(
        "SELECT count(*) FROM session s WHERE s.harness = ?"
        " AND EXISTS (SELECT 1 FROM membership WHERE session = s.row AND state < 3)",
        (harness,),
    ).fetchone()[0]
    return found


def message_count(ledger: Ledger, harness: str) -> int:
    """How many prompts and replies of a harness there are, each counted once."""
    kinds = ",".join(str(int(kind)) for kind in sorted(PROSE_KINDS))
    found: int = ledger.db.execute(
        "SELECT count(DISTINCT m.item) FROM membership m JOIN session s ON s.row = m.session"
        f" JOIN item i ON i.row = m.item WHERE s.harness = ? AND m.state < 2 AND i.kind IN ({kinds})",
        (harness,),
    ).fetchone()[0]
    return found


def spoken(ledger: Ledger) -> int:
    """How many live prompts and replies there are, each counted once."""
    kinds = ",".join(str(int(kind)) for kind in sorted(PROSE_KINDS))
    found: int = ledger.db.execute(
        "SELECT count(DISTINCT m.item) FROM membership m JOIN item i ON i.row = m.item"
        f" WHERE m.state = 0 AND i.kind IN ({kinds}) AND i.chars > 0"
    ).fetchone()[0]
    return found


def newest_prose(ledger: Ledger, limit: int) -> Iterator[Redacted]:
    """The newest prompts and replies, at most `limit`."""
    kinds = ",".join(str(int(kind)) for kind in sorted(PROSE_KINDS))
    rows = ledger.db.execute(
        f"SELECT text, packed FROM item WHERE kind IN ({kinds}) AND chars > 0 ORDER BY row DESC LIMIT ?", (limit,)
    )
    return (unpack(blob, packed) for blob, packed in rows)


def in_order(ledger: Ledger, session: int) -> Iterator[Placed]:
    """A session's items in order, hidden copies included (their state says so)."""
    rows = ledger.db.execute(
        "SELECT i.row, i.id, i.kind, i.said_by, i.text, i.packed, i.time_us, i.exit_status, i.path, m.state"
        " FROM membership m JOIN item i ON i.row = m.item WHERE m.session = ? ORDER BY m.pos, m.sub, i.id",
        (session,),
    )
    for row, its_id, kind, said_by, blob, packed, time_us, exit_status, path, state in rows:
        yield Placed(
            row,
            ItemId(its_id),
            Kind(kind),
            SaidBy(said_by),
            unpack(blob, packed),
            time_us,
            exit_status,
            path,
            State(state),
        )


def written_in(ledger: Ledger, item: int) -> tuple[str, str] | None:
    """(path in the vault, block) of the section an item was written up in; None when it is in none."""
    found = ledger.db.execute(
        "SELECT p.path, p.key, p.rev FROM derivation d JOIN derivation e ON e.src_kind = d.dst_kind AND e.src = d.dst"
        " JOIN register r ON r.row = e.dst JOIN placed p ON p.key = r.key"
        " WHERE d.src_kind = ? AND d.src = ? AND d.dst_kind = ? AND e.dst_kind = ? LIMIT 1",
        (RecordKind.ITEM, item, RecordKind.DIGEST, RecordKind.SECTION),
    ).fetchone()
    return (found[0], f"{found[1]}-r{found[2]}" if found[2] > 1 else found[1]) if found else None


def shown_item(ledger: Ledger, item: int) -> tuple[Kind, Redacted, str] | None:
    """(kind, text, native id of its session) of an item that is shown in any session."""
    found = ledger.db.execute(
        "SELECT i.kind, i.text, i.packed, s.native FROM item i JOIN membership m ON m.item = i.row AND m.state < 2"
        " JOIN session s ON s.row = m.session WHERE i.row = ? ORDER BY m.state, m.row LIMIT 1",
        (item,),
    ).fetchone()
    return (Kind(found[0]), unpack(found[1], found[2]), found[3].rpartition("/")[2]) if found else None


def item_row(ledger: Ledger, item: str) -> int | None:
    """The row of the item with this id (32 hex digits)."""
    try:
        its_id = bytes.fromhex(item)
    except ValueError:
        return None
    found = ledger.db.execute("SELECT row FROM item WHERE id = ?", (its_id,)).fetchone()
    return found[0] if found else None


def section_stands(ledger: Ledger, key: str) -> bool:
    """Whether a section by its key is neither withdrawn nor forgotten."""
    found = ledger.db.execute(
        f"SELECT 1 FROM register WHERE kind = {_SECTION} AND key = ? AND forgotten = 0"
        " AND json_extract(value, '$.withdrawn_by') IS NULL",
        (key,),
    ).fetchone()
    return found is not None


def session_of_section(ledger: Ledger, key: str) -> str:
    """The id of the session a section by its key is of; empty where there is none."""
    found = ledger.db.execute(
        f"SELECT json_extract(value, '$.session') FROM register WHERE kind = {_SECTION} AND key = ? AND forgotten = 0",
        (key,),
    ).fetchone()
    return found[0] or "" if found else ""


def some_facts(ledger: Ledger) -> bool:
    """Whether anything was learned, that holds or not."""
    found = ledger.db.execute(f"SELECT 1 FROM register WHERE kind = {int(RecordKind.FACT)} LIMIT 1").fetchone()
    return found is not None


def placed(ledger: Ledger, section: str) -> tuple[str, str] | None:
    """(path in the vault, block) of a section by its key, with or without a revision; None when it is in no note."""
    key, _, rev = section.partition("-r")
    found = ledger.db.execute("SELECT path, rev FROM placed WHERE key = ?", (key,)).fetchone()
    if found is None or (rev and not rev.isdigit()):
        return None
    shown = int(rev) if rev else found[1]
    return (found[0], f"{key}-r{shown}" if shown > 1 else key) if shown <= found[1] else None


def all_items(ledger: Ledger) -> Iterator[tuple[int, ItemId, Kind, Redacted, str | None, ExitStatus]]:
    """(row, id, kind, text, path, exit status) of every item."""
    for row, its_id, kind, blob, packed, path, exit_status in ledger.db.execute(
        "SELECT row, id, kind, text, packed, path, exit_status FROM item"
    ):
        yield row, ItemId(its_id), Kind(kind), unpack(blob, packed), path, exit_status


def damage(ledger: Ledger) -> str:
    """What SQLite's quick check says is wrong; empty when nothing is."""
    said: str = ledger.db.execute("PRAGMA quick_check(1)").fetchone()[0]
    return "" if said == "ok" else said
