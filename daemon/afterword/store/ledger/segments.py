"""What the write-up reads and writes: sessions that changed, their items in order, sections and their origin."""

from typing import Final

import msgspec

from afterword.domain import old_notes
from afterword.domain.digest import Digest
from afterword.domain.ids import ItemId, SegmentKey
from afterword.domain.items import ExitStatus, Kind, SaidBy
from afterword.domain.segments import Member
from afterword.redact.text import Redacted, stored
from afterword.store.ledger import registers, sessions
from afterword.store.ledger.ledger import Ledger, RecordKind, unpack

PLAIN: Final = ("session", "made_of", "engine", "items", "day", "time", "harness", "project", "origin", "withdrawn_by")
"""What is ours in these records: a person's own patterns must not break it."""


_FORGOTTEN: Final = 3
"""`items.State.FORGOTTEN`"""


class DigestRecord(msgspec.Struct, frozen=True):
    """The value of a DIGEST register. `made_of` says of which items, in which revisions, it was made."""

    session: str
    made_of: str
    engine: str
    digest: Digest


class SectionRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of a SECTION register: what a vault renders a section from. `time` is local, `HH:MM`.

    A withdrawn section names the segment its items belong to now.
    """

    session: str
    day: str
    time: str
    start_us: int
    harness: str
    project: str
    origin: str
    digest: Digest
    withdrawn_by: str = ""


class Dirty(msgspec.Struct, frozen=True):
    """A session that changed `dirty` times since it was written up; last at `changed_us`."""

    row: int
    dirty: int
    changed_us: int


def dirty_sessions(ledger: Ledger) -> list[Dirty]:
    """The sessions to look at, oldest change first."""
    rows = ledger.db.execute("SELECT row, dirty, changed_us FROM session WHERE dirty > 0 ORDER BY changed_us, row")
    return [Dirty(*row) for row in rows]


def clean(ledger: Ledger, looked_at: Dirty) -> None:
    """All of a session is written up, unless it changed meanwhile; inside a transaction."""
    ledger.db.execute("UPDATE session SET dirty = 0 WHERE row = ? AND dirty = ?", (looked_at.row, looked_at.dirty))


class Entry(msgspec.Struct, frozen=True):
    """An item of a session as the write-up sees it."""

    row: int
    rev: int
    member: Member
    forgotten: bool = False


def owned(ledger: Ledger, session: int) -> list[Entry]:
    """The items a session owns, abandoned ones included, in the order (position, id). A forgotten one counts as
    abandoned: keys of segments stay."""
    inherited = sessions.inherited_items(ledger, session)
    rows = ledger.db.execute(
        "SELECT i.row, i.rev, i.id, i.kind, i.said_by, i.time_us, m.state"
        " FROM membership m JOIN item i ON i.row = m.item"
        " WHERE m.session = ? AND m.state <> 2 ORDER BY m.pos, m.sub, i.id",
        (session,),
    )
    return [
        Entry(row, rev, Member(ItemId(its_id), Kind(kind), SaidBy(said_by), time_us, bool(state)), state == _FORGOTTEN)
        for row, rev, its_id, kind, said_by, time_us, state in rows
        if row not in inherited
    ]


def text_of(ledger: Ledger, row: int) -> tuple[Redacted, str | None, ExitStatus]:
    """(text, path, exit status) of an item."""
    blob, packed, path, exit_status = ledger.db.execute(
        "SELECT text, packed, path, exit_status FROM item WHERE row = ?", (row,)
    ).fetchone()
    return unpack(blob, packed), path, exit_status


def reports(ledger: Ledger, session: sessions.Session) -> list[Entry]:
    """The last live reply of every sub-agent of a session."""
    found = []
    children = sessions.load(
        ledger, "WHERE s.harness = ? AND json_extract(s.facts, '$.parent') = ?", (session.harness, session.native)
    )
    for child in children:
        replies = [e for e in owned(ledger, child.row) if e.member.kind is Kind.REPLY and not e.member.abandoned]
        found += replies[-1:]
    return found


def sections(ledger: Ledger, session_id: str | None = None) -> list[tuple[registers.Register, SectionRecord]]:
    """Every section register, or those of one session, by key."""
    where = f"kind = {int(RecordKind.SECTION)} AND forgotten = 0"  # a literal, so that the partial index serves
    if session_id is not None:
        where += " AND json_extract(value, '$.session') = ?"
    rows = ledger.db.execute(
        f"SELECT row, key, rev, rank, value FROM register WHERE {where} ORDER BY key",
        (session_id,) if session_id else (),
    )
    return [_section(row) for row in rows.fetchall()]


def _section(found: tuple[int, str, int, int, str]) -> tuple[registers.Register, SectionRecord]:
    row, key, rev, rank, value = found
    register = registers.Register(row, key, rev, rank, stored(value))
    return register, register.read(SectionRecord)


def section(ledger: Ledger, key: SegmentKey) -> tuple[registers.Register, SectionRecord] | None:
    """A section register by its key."""
    found = registers.get(ledger, RecordKind.SECTION, key)
    return (found, found.read(SectionRecord)) if found else None


def is_placed(ledger: Ledger, key: SegmentKey, rev: int) -> bool:
    """Whether this revision of a section is known to stand whole in a note."""
    found = ledger.db.execute("SELECT 1 FROM placed WHERE key = ? AND rev = ?", (key, rev)).fetchone()
    return found is not None


def unplaced(ledger: Ledger) -> list[tuple[registers.Register, SectionRecord]]:
    """Sections whose newest revision is not confirmed in the vault, in the order they belong there. What was read off
    a person's own notes goes into none of ours."""
    rows = ledger.db.execute(
        "SELECT r.row, r.key, r.rev, r.rank, r.value FROM register r LEFT JOIN placed p ON p.key = r.key"
        " WHERE r.kind = ? AND r.forgotten = 0 AND (p.rev IS NULL OR p.rev < r.rev)"
        " AND json_extract(r.value, '$.harness') <> ?",
        (RecordKind.SECTION, old_notes.NAME),
    ).fetchall()
    return sorted(map(_section, rows), key=lambda pair: (pair[1].day, pair[1].start_us, pair[0].key))
