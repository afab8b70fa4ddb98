"""What the numbers of the log say, as another machine is told: a row of the table for each kind of record.

A number refers to a row and a revision. While that revision stands it has a body; later it is a number alone, with the
reason. From `RecordKind.SETTING` on a record is a register, and a new kind of those travels without a word here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from afterword.store.ledger.ledger import Ledger, RecordKind, unpack

AT_ONCE: Final = 500
SUPERSEDED: Final = "superseded"
FORGOTTEN: Final = "forgotten"
RESCRUBBED: Final = "rescrubbed"
WITHHELD: Final = "withheld"


class Entry(msgspec.Struct, frozen=True):
    """A number of an origin's log. `body` is a JSON object; without one `why` says what became of it."""

    n: int
    kind: str
    key: str
    rev: int
    body: bytes | None
    why: str = ""


class Owner(msgspec.Struct, frozen=True):
    """The session an item was first seen in."""

    id: str
    harness: str
    native: str


Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""What fits into a column."""


class OriginBody(msgspec.Struct, frozen=True):
    """A machine's name."""

    name: str


class SessionBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """What transcripts say of a session. `by`: the origin of the revision, where that is not the record's."""

    harness: str
    native: str
    facts: dict[str, Any]
    rank: Whole
    by: str = ""


class ItemBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """An item; numbers as the ledger stores them, times in UTC microseconds."""

    kind: Whole
    said_by: Whole
    time_us: Whole
    time_flag: Whole
    text: str
    home: Owner
    rank: Whole
    given_us: Whole | None = None
    path: str | None = None
    exit: Whole | str | None = None
    by: str = ""


class MembershipBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """What sources say of an item in a session: its place, and live, abandoned or hidden."""

    pos: Whole
    sub: Whole
    said: Whole
    authority: Whole
    rank: Whole
    rolled: Whole | None = None
    by: str = ""


class RegisterBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of a register, and what it was made of: name of a kind → keys."""

    value: Any
    rank: Whole
    of: dict[str, list[str]] = {}
    by: str = ""


class Standing(msgspec.Struct, frozen=True):
    """What stands under a key now: its revision, by whom, its body without the author, or why there is none."""

    key: str
    rev: int
    by: int
    body: Callable[[str], msgspec.Struct] | None
    why: str = ""
    sessions: tuple[str, ...] = ()
    """The ids of the sessions it is about, as far as its row tells."""
    lowered: bool = False
    """Whether newer rules took something out of it."""


def name_of(kind: RecordKind) -> str:
    """What a kind is called between machines."""
    return kind.name.lower().replace("_", "-")


KINDS: Final[Mapping[str, RecordKind]] = {name_of(kind): kind for kind in RecordKind}
"""Every kind of record there is, by the name it has between machines."""
EARLY: Final = name_of(RecordKind.TOMBSTONE)
"""What goes before everything else."""


def kind_of(name: str) -> RecordKind:
    return KINDS[name]


def key_of_membership(session: str, item: bytes) -> str:
    return f"{session}/{item.hex()}"


def read(ledger: Ledger, origin_row: int, first: int, last: int, kind: RecordKind | None = None) -> Iterator[Entry]:
    """The numbers `first` to `last` of an origin as they stand now, in order, of one kind or all."""
    for entry, _ in standing(ledger, origin_row, first, last, kind):
        yield entry


def standing(
    ledger: Ledger, origin_row: int, first: int, last: int, kind: RecordKind | None = None
) -> Iterator[tuple[Entry, Standing | None]]:
    """The same, each with what stands under its key; None where nothing is here."""
    names = {row: its_id for row, (its_id, _) in ledger.origins().items()}
    after = first - 1
    while after < last:
        rows = ledger.db.execute(
            "SELECT l.n, l.kind, l.ref, l.rev, s.key, s.why, s.body, a.by FROM log l"
            " LEFT JOIN stub s ON s.origin = l.origin AND s.n = l.n"
            " LEFT JOIN issued_again a ON a.origin = l.origin AND a.n = l.n"
            " WHERE l.origin = ? AND l.n > ? AND l.n <= ? AND (? IS NULL OR l.kind = ?) ORDER BY l.n LIMIT ?",
            (origin_row, after, last, kind, kind, AT_ONCE),
        ).fetchall()
        if not rows:
            return
        for n, kind_, ref, rev, key, why, body, by in rows:
            record_kind = RecordKind(kind_)
            found = TABLE[record_kind](ledger, ref) if ref else None
            name = name_of(record_kind)
            if found is None:
                waits = body.encode() if body else None
                yield Entry(n, name, key or f"{FORGOTTEN}:{ref}", rev, waits, "" if waits else why or SUPERSEDED), None
                continue
            author = by or origin_row
            if why:
                yield Entry(n, name, found.key, rev, None, why), found
            elif found.rev == rev and found.by == author:
                if found.body is None:
                    yield Entry(n, name, found.key, rev, None, found.why), found
                else:
                    said = msgspec.json.encode(found.body(names[author] if by else ""), order="sorted")
                    yield Entry(n, name, found.key, rev, said), found
            else:
                gone = found.why or (RESCRUBBED if found.lowered and rev < found.rev else SUPERSEDED)
                yield Entry(n, name, found.key, rev, None, gone), found
        after = rows[-1][0]


def withheld(ledger: Ledger) -> dict[str, list[tuple[int, int]]]:
    """The numbers of other machines that came without a body because it was held back: (first, last) by origin."""
    found: dict[str, list[tuple[int, int]]] = {}
    rows = ledger.db.execute(
        "SELECT o.id, s.n FROM stub s JOIN origin o ON o.row = s.origin WHERE s.why = ? AND s.origin <> 1"
        " ORDER BY o.id, s.n",
        (WITHHELD,),
    )
    for its_id, n in rows:
        runs = found.setdefault(its_id, [])
        if runs and runs[-1][1] == n - 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return found


def _origin(ledger: Ledger, ref: int) -> Standing | None:
    found = ledger.db.execute("SELECT id, name, rev FROM origin WHERE row = ?", (ref,)).fetchone()
    if found is None:
        return None
    its_id, name, rev = found
    return Standing(its_id, rev, ref, lambda _by: OriginBody(name))


def _session(ledger: Ledger, ref: int) -> Standing | None:
    found = ledger.db.execute(
        "SELECT id, harness, native, facts, rev, rank, coalesce(by, origin) FROM session WHERE row = ?", (ref,)
    ).fetchone()
    if found is None:
        return None
    its_id, harness, native, facts, rev, rank, by = found

    def body(author: str) -> SessionBody:
        return SessionBody(harness, native, msgspec.json.decode(facts), rank, author)

    return Standing(its_id, rev, by, body, sessions=(its_id,), lowered=rank == _PARTIAL)


def _item(ledger: Ledger, ref: int) -> Standing | None:
    found = ledger.db.execute(
        "SELECT i.id, i.kind, i.said_by, i.time_us, i.time_flag, i.given_us, i.path, i.exit_status, i.text, i.packed,"
        " i.rev, i.rank, i.origin, e.item, s.id, s.harness, s.native FROM item i"
        " LEFT JOIN erased e ON e.item = i.row JOIN session s ON s.row = i.home WHERE i.row = ?",
        (ref,),
    ).fetchone()
    if found is None:
        return None
    its_id, kind, said_by, time_us, time_flag, given_us, path, exit_status, blob, packed, rev, rank, by = found[:13]
    home = Owner(*found[14:])
    if found[13] is not None:
        return Standing(its_id.hex(), rev, by, None, FORGOTTEN, (home.id,))

    def body(author: str) -> ItemBody:
        text = str(unpack(blob, packed))
        return ItemBody(
            kind, said_by, time_us, time_flag, text, home, rank, given_us, path, exit_status, author
        )  # fmt: skip

    return Standing(its_id.hex(), rev, by, body, sessions=(home.id,), lowered=rank == _PARTIAL)


def _membership(ledger: Ledger, ref: int) -> Standing | None:
    found = ledger.db.execute(
        "SELECT s.id, i.id, m.pos, m.sub, m.said, m.authority, m.rank, m.rolled, m.rev, m.origin FROM membership m"
        " JOIN session s ON s.row = m.session JOIN item i ON i.row = m.item WHERE m.row = ?",
        (ref,),
    ).fetchone()
    if found is None:
        return None
    session, item, pos, sub, said, rank_of_source, rank, rolled, rev, by = found
    key = key_of_membership(session, item)
    return Standing(
        key,
        rev,
        by,
        lambda author: MembershipBody(pos, sub, said, rank_of_source, rank, rolled, author),
        sessions=(session,),
    )


def _register(ledger: Ledger, ref: int) -> Standing | None:
    found = ledger.db.execute(
        "SELECT kind, key, value, rev, rank, origin, forgotten FROM register WHERE row = ?", (ref,)
    ).fetchone()
    if found is None:
        return None
    kind, key, value, rev, rank, by, forgotten = found
    if forgotten:
        return Standing(key, rev, by, None, FORGOTTEN)

    def body(author: str) -> RegisterBody:
        return RegisterBody(msgspec.json.decode(value), rank, made_of(ledger, RecordKind(kind), ref), author)

    return Standing(key, rev, by, body, lowered=rank == _PARTIAL)


_PARTIAL: Final = 2
"""`Rank.PARTIAL`: what newer rules masked."""

TABLE: Final[Mapping[RecordKind, Callable[[Ledger, int], Standing | None]]] = {
    RecordKind.ORIGIN: _origin,
    RecordKind.SESSION: _session,
    RecordKind.ITEM: _item,
    RecordKind.MEMBERSHIP: _membership,
    **{kind: _register for kind in RecordKind if kind >= RecordKind.SETTING},
}
"""How a kind's row is read."""


def made_of(ledger: Ledger, kind: RecordKind, ref: int) -> dict[str, list[str]]:
    """What the revision of a register that stands was made of: name of a kind → keys. A section: of its digest's items
    too."""
    found: dict[str, list[str]] = {}
    rows = ledger.db.execute(
        "SELECT src_kind, src FROM derivation WHERE dst_kind = ? AND dst = ? AND earlier = 0", (kind, ref)
    ).fetchall()
    if kind is RecordKind.SECTION:
        rows += ledger.db.execute(
            "SELECT i.src_kind, i.src FROM derivation d JOIN derivation i ON i.dst_kind = d.src_kind AND i.dst = d.src"
            " AND i.earlier = 0 WHERE d.dst_kind = ? AND d.dst = ? AND d.earlier = 0 AND i.src_kind = ?",
            (kind, ref, RecordKind.ITEM),
        ).fetchall()
    for src_kind, src in sorted(set(rows)):
        key = key_at(ledger, RecordKind(src_kind), src)
        if key is not None:
            found.setdefault(name_of(RecordKind(src_kind)), []).append(key)
    return {name: sorted(keys) for name, keys in sorted(found.items())}


def key_at(ledger: Ledger, kind: RecordKind, ref: int) -> str | None:
    """The key of a row; None when it is not there."""
    if kind is RecordKind.ITEM:
        found = ledger.db.execute("SELECT id FROM item WHERE row = ?", (ref,)).fetchone()
        return found[0].hex() if found else None
    standing_now = TABLE[kind](ledger, ref)
    return standing_now.key if standing_now else None


def ref_of(ledger: Ledger, kind: RecordKind, key: str) -> int:
    """The row under a key; 0 when there is none."""
    if kind is RecordKind.ORIGIN:
        query, given = "SELECT row FROM origin WHERE id = ?", (key,)
    elif kind is RecordKind.SESSION:
        query, given = "SELECT row FROM session WHERE id = ?", (key,)
    elif kind is RecordKind.ITEM:
        return _one(ledger, "SELECT row FROM item WHERE id = ?", (_bytes(key),))
    elif kind is RecordKind.MEMBERSHIP:
        session, _, item = key.partition("/")
        return _one(
            ledger,
            "SELECT m.row FROM membership m JOIN session s ON s.row = m.session JOIN item i ON i.row = m.item"
            " WHERE s.id = ? AND i.id = ?",
            (session, _bytes(item)),
        )
    else:
        return _one(ledger, "SELECT row FROM register WHERE kind = ? AND key = ?", (kind, key))
    return _one(ledger, query, given)


def _bytes(key: str) -> bytes:
    try:
        return bytes.fromhex(key)
    except ValueError:
        return b""


def _one(ledger: Ledger, query: str, given: tuple[object, ...]) -> int:
    found = ledger.db.execute(query, given).fetchone()
    return int(found[0]) if found else 0
