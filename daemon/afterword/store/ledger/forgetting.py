"""What is to be forgotten, from the moment it is asked for until nothing of it is left.

`ask` notes ids, `mark` makes of them what holds at once and for good, in one transaction: tombstones, and nothing of it
is shown any more. It also notes what is to be done, as rows, days and keyed hashes, so that a kill at any point later
loses nothing of the plan and the plan holds no text. `store.ledger.erasing` does it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.escape import plain
from afterword.domain.ids import ArticleUid, ItemId, LessonUid, SegmentKey, SessionId
from afterword.redact.redactor import Redactor
from afterword.redact.text import stored
from afterword.store.ledger import (
    articles,
    authority,
    lessons,
    registers,
    section_edits,
    segments,
    sessions,
    tombstones,
)
from afterword.store.ledger.ledger import Ledger, RecordKind, unpack
from afterword.store.ledger.tombstones import FACTS, Tombstone

Kind: TypeAlias = Literal[
    "ask-session",
    "ask-bare",
    "ask-title",
    "ask-item",
    "ask-lesson",
    "look",
    "item",
    "facts",
    "blank",
    "session",
    "section",
    "day",
    "article",
    "lesson",
]
"""ask-…: what somebody wants forgotten, by ids. look: people's notes were changed for it, and are looked at again.

The rest is what `mark` made of it, and goes when it is done: rows of items and sessions, keys of registers to blank,
sections in notes with the hashes of what a person wrote into them, days, articles with their slug, entries of the
journal and whether the file is `ours` or `theirs`."""

NO_EDITS: Final = '{"rev":0}'
AGAIN: Final = "again"
"""The value of a planned session that is to be written up here."""
VAULT_KINDS: Final[tuple[Kind, ...]] = ("section", "article", "lesson")
"""What only a vault that is there can be done with."""


_ASKED: Final[tuple[Kind, ...]] = ("ask-session", "ask-bare", "ask-title", "ask-item", "ask-lesson")


class Wanted(msgspec.Struct, frozen=True):
    """What is to be forgotten. `sessions` as such, later items included; of those in `bare` only what is known of them
    beside their items, of those in `titled` only the title. `items` are rows."""

    sessions: tuple[SessionId, ...] = ()
    bare: tuple[SessionId, ...] = ()
    titled: tuple[SessionId, ...] = ()
    items: tuple[int, ...] = ()
    lessons: tuple[LessonUid, ...] = ()
    look: bool = False
    """A person struck it out of their own notes: what the ledger has of those is taken in anew."""

    @property
    def empty(self) -> bool:
        return not (self.sessions or self.bare or self.titled or self.items or self.lessons)


def ask(ledger: Ledger, wanted: Wanted) -> None:
    """Note what is to be forgotten; inside a transaction."""
    for kind, keys in (
        ("ask-session", wanted.sessions),
        ("ask-bare", wanted.bare),
        ("ask-title", wanted.titled),
        ("ask-item", wanted.items),
        ("ask-lesson", wanted.lessons),
        ("look", ("",) if wanted.look else ()),
    ):
        ledger.db.executemany("INSERT OR IGNORE INTO forgetting (kind, key) VALUES (?, ?)", [(kind, k) for k in keys])


def owed(ledger: Ledger, *, vault: bool) -> bool:
    """Whether something is still to be done; with a vault that is away, what can be done without it."""
    where = "" if vault else f" WHERE kind NOT IN {VAULT_KINDS!r}"
    return ledger.db.execute(f"SELECT 1 FROM forgetting{where} LIMIT 1").fetchone() is not None


def planned(ledger: Ledger, kind: Kind) -> dict[str, str]:
    """What is planned of a kind: key → value."""
    return dict(ledger.db.execute("SELECT key, value FROM forgetting WHERE kind = ? ORDER BY key", (kind,)))


def rows(ledger: Ledger, kind: Kind) -> list[int]:
    """The rows planned of a kind."""
    return sorted(map(int, planned(ledger, kind)))


def done(ledger: Ledger, kind: Kind, keys: Iterable[object]) -> None:
    """Something of the plan is done; inside a transaction."""
    ledger.db.executemany("DELETE FROM forgetting WHERE kind = ? AND key = ?", [(kind, str(key)) for key in keys])


def apply(ledger: Ledger, stones: Iterable[Tombstone]) -> int:
    """Take in tombstones from elsewhere: an older copy of this ledger, another machine. Inside a transaction.

    What they forbid and is here is noted to be forgotten.

    Returns:
        How many were new.
    """
    new = [stone for stone in stones if tombstones.put(ledger, stone)]
    notice(ledger, new)
    return len(new)


def notice(ledger: Ledger, new: Iterable[Tombstone]) -> None:
    """Note what tombstones that are new here forbid; inside a transaction."""
    new = list(new)
    texts = {stone.key for stone in new if stone.kind == "text"}
    items = tombstones.same_texts(ledger, texts)
    told: list[SessionId] = []
    bare: list[SessionId] = []
    titled: list[SessionId] = []
    for stone in new:
        if stone.kind == "item":
            found = ledger.db.execute("SELECT row FROM item WHERE id = ?", (bytes.fromhex(stone.key),)).fetchone()
            items |= {found[0]} if found else set()
        elif stone.kind == "session":
            told.append(SessionId(stone.key))
        elif stone.kind == "facts":
            (titled if stone.fields == ("title",) else bare).append(SessionId(stone.key))
    gone = [LessonUid(stone.key) for stone in new if stone.kind == "lesson"]
    # A fact may have come without the entries it was made of.
    told_of = {uid for fact in lessons.stored_facts(ledger).values() for uid in fact.lessons} if gone else set()
    entries = tuple(uid for uid in gone if uid in told_of or lessons.lesson(ledger, uid) is not None)
    held = {row for its_id in told for row in owned_by(ledger, its_id)}
    ask(ledger, Wanted(tuple(told), tuple(bare), tuple(titled), tuple(sorted(items | held)), entries))


def notice_items(ledger: Ledger, rows: Iterable[int]) -> None:
    """Note items that something which came forbids; inside a transaction."""
    ask(ledger, Wanted(items=tuple(sorted(rows))))


def notice_articles(ledger: Ledger, emptied: Mapping[str, str]) -> None:
    """Note articles (uid → slug) that another machine has taken everything out of: what their files say goes here, too,
    and nothing in the ledger tells that any more."""
    for uid, slug in emptied.items():
        _plan(ledger, "article", uid, slug)


def notice_sections(ledger: Ledger, blanked: Iterable[str]) -> None:
    """Note sections that are not taken in, since they tell what was forgotten, and are not here: a ledger that was set
    back knows nothing of them any more, while the vault may have them as they were."""
    for key in blanked:
        _plan(ledger, "section", key)


def owned_by(ledger: Ledger, its_id: SessionId) -> set[int]:
    """The items that go with a session: all it holds but what it only inherited."""
    found = ledger.db.execute("SELECT row FROM session WHERE id = ?", (its_id,)).fetchone()
    if found is None:
        return set()
    rows = ledger.db.execute(
        "SELECT m.item FROM membership m WHERE m.session = ?1 AND (m.state < 3 OR NOT EXISTS"
        " (SELECT 1 FROM membership o WHERE o.item = m.item AND o.session <> ?1 AND o.state < 3))",
        (found[0],),
    ).fetchall()
    every = {row for (row,) in rows}
    return every - sessions.inherited_items(ledger, found[0])


def mark(ledger: Ledger, redactor: Redactor) -> bool:
    """Make what was asked for hold; whether there was anything. Inside a transaction."""
    asked = {kind: planned(ledger, kind) for kind in _ASKED}
    if not any(asked.values()):
        return False
    touched: set[int] = set()
    named: set[SegmentKey] = set()
    stones: tuple[tuple[Kind, str, tuple[str, ...]], ...] = (
        ("ask-session", "session", ()),
        ("ask-bare", "facts", FACTS),
        ("ask-title", "facts", ("title",)),
    )
    for kind, stone, fields in stones:
        for its_id in planned(ledger, kind):
            tombstones.put(ledger, msgspec.convert({"kind": stone, "key": its_id, "fields": fields}, Tombstone))
            found = ledger.db.execute("SELECT row FROM session WHERE id = ?", (its_id,)).fetchone()
            # A title or a project's name is in whatever was made of the session, but by who has forgotten it already.
            by = tombstones.author(ledger, f"{stone}:{its_id}")
            named |= {
                SegmentKey(register.key)
                for register, _ in segments.sections(ledger, its_id)
                if by == 1 or registers.author(ledger, register) != by
            }
            if found:
                touched.add(found[0])
                _plan(ledger, "facts", found[0], stone if fields != ("title",) else "title")
    # What a session said since it was asked for goes as well.
    told = {item for its_id in asked["ask-session"] for item in owned_by(ledger, SessionId(its_id))}
    erased = {item for (item,) in ledger.db.execute("SELECT item FROM erased")}
    items = _with_aliases(ledger, {int(key) for key in asked["ask-item"]} | (told - erased))
    for item in sorted(items):
        its_id, kind_, blob, packed = ledger.db.execute(
            "SELECT id, kind, text, packed FROM item WHERE row = ?", (item,)
        ).fetchone()
        text = unpack(blob, packed)
        tombstones.remember_print(ledger, item, text)
        tombstones.put(ledger, tombstones.of_item(ItemId(its_id)))
        tombstones.put_text(ledger, kind_, text)
        _plan(ledger, "item", item)
        holders = ledger.db.execute("SELECT session FROM membership WHERE item = ?", (item,)).fetchall()
        touched |= {session for (session,) in holders}
    for session in sorted(touched):
        authority.settle(ledger, session)
    _lessons(ledger, map(LessonUid, asked["ask-lesson"]))
    blank = _sections(ledger, redactor, items, touched, named)
    for session in sorted(touched):
        # What another machine reads and has taken out of its write-up already stays its to write up.
        mine = session in blank or sessions.read_here(ledger, session)
        if mine:
            sessions.mark_dirty(ledger, session, 0)
        _plan(ledger, "session", session, AGAIN if mine else "")
    ledger.db.execute("DELETE FROM forgetting WHERE kind LIKE 'ask-%'")
    return True


def _plan(ledger: Ledger, kind: Kind, key: object, value: str = "") -> None:
    ledger.db.execute(
        "INSERT INTO forgetting VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value ="
        " CASE WHEN excluded.value = '' THEN value ELSE excluded.value END",
        (kind, str(key), value),
    )


def _with_aliases(ledger: Ledger, items: set[int]) -> set[int]:
    """With those that say the same at the same place of a session, under other ids."""
    found = set(items)
    for item in items:
        others = ledger.db.execute(
            "SELECT o.item, i.text, i.packed, mine.text, mine.packed FROM membership m"
            " JOIN membership o ON o.session = m.session AND o.pos = m.pos AND o.sub = m.sub AND o.item <> m.item"
            " JOIN item i ON i.row = o.item JOIN item mine ON mine.row = m.item"
            " WHERE m.item = ? AND i.kind = mine.kind",
            (item,),
        )
        found |= {row for row, *texts in others if unpack(*texts[:2]) == unpack(*texts[2:])}
    return found


def _sections(
    ledger: Ledger, redactor: Redactor, items: set[int], touched: set[int], named: set[SegmentKey]
) -> set[int]:
    """Take the sections that were made from items, and those that are named, out of sight; note them, their days and
    their articles. The sessions of those that have to be made anew here.

    A section that another machine has made anew already says nothing of it any more; what stands in our notes does.
    """
    stale = named | {key for session in touched for key in _emptied(ledger, session)}
    keys = set(stale)
    for item in items:
        for key, earlier in made_of(ledger, item):
            keys.add(key)
            if not earlier or _newest_is_placed(ledger, key):
                stale.add(key)
    blank: set[int] = set()
    if not keys:
        return blank
    edits = section_edits.every(ledger)
    for key in sorted(keys):
        found = segments.section(ledger, key)
        if found is None:
            continue
        register, record = found
        said = edits[key].added.values() if key in edits else ()
        hashes = {line_hash(ledger, redactor, text) for row in said for text in row}
        _plan(ledger, "section", key, " ".join(sorted(hashes)) or "-")
        _plan(ledger, "day", record.day)
        if key not in stale:
            _edits_of_old(ledger, key, edits[key].rev if key in edits else register.rev, register.rev)
            continue
        _plan(ledger, "blank", key)
        if row := sessions.row_by_id(ledger, record.session):
            blank.add(row)
        _lessons(ledger, drawn_from(ledger, register.row))
        if not record.withdrawn_by:
            gone = msgspec.structs.replace(record, withdrawn_by=key)
            rewrite(ledger, register, msgspec.json.encode(gone).decode())
    for uid, slug in _articles_of(ledger, keys):
        _plan(ledger, "article", uid, slug)
    return blank


def _edits_of_old(ledger: Ledger, key: SegmentKey, read_off: int, rev: int) -> None:
    """Empty a person's edits of a section as it was before another machine made it anew; those made since stand."""
    found = registers.get(ledger, RecordKind.SEGMENT, section_edits.key_of(key))
    if found is None:
        return
    if read_off < rev:
        rewrite(ledger, found, NO_EDITS)
    else:
        say_again(ledger, found)


def _newest_is_placed(ledger: Ledger, key: SegmentKey) -> bool:
    """Whether the newest revision of a section stands in a note: that is emptied, and a newer one has to come."""
    found = ledger.db.execute(
        "SELECT 1 FROM register r JOIN placed p ON p.key = r.key WHERE r.kind = ? AND r.key = ? AND p.rev >= r.rev",
        (RecordKind.SECTION, key),
    ).fetchone()
    return found is not None


def _lessons(ledger: Ledger, uids: Iterable[LessonUid]) -> None:
    """Have entries of the journal refused from now on, and note them."""
    for uid in uids:
        each = lessons.lesson(ledger, uid)
        tombstones.put(ledger, Tombstone("lesson", uid))
        theirs = each is not None and (each.lesson.source == "file" or each.edits.text is not None)
        _plan(ledger, "lesson", uid, "theirs" if theirs else "ours")


def drawn_from(ledger: Ledger, section: int) -> list[LessonUid]:
    """The entries of the journal that were drawn from a section (the row of its register)."""
    rows = ledger.db.execute(
        "SELECT r.key FROM derivation d JOIN register r ON r.row = d.dst"
        " WHERE d.src_kind = ? AND d.src = ? AND d.dst_kind = ? AND r.forgotten = 0",
        (RecordKind.SECTION, section, RecordKind.LESSON),
    ).fetchall()
    return [LessonUid(key) for (key,) in rows]


def line_hash(ledger: Ledger, redactor: Redactor, text: str) -> str:
    """What a line that a person wrote into a section is known by while that is taken out of its note."""
    said = plain(redactor.redact(text)).encode("utf-8", "surrogatepass")
    return ledger.keyed_hash(b"line\0" + said, 8).hex()


def _emptied(ledger: Ledger, session: int) -> Iterator[SegmentKey]:
    """The sections of a session that has nothing left in it, those that were withdrawn before included."""
    left = ledger.db.execute(
        "SELECT 1 FROM membership m LEFT JOIN erased e ON e.item = m.item"
        " WHERE m.session = ? AND m.state < 3 AND e.item IS NULL LIMIT 1",
        (session,),
    ).fetchone()
    if left is None:
        its_id = ledger.db.execute("SELECT id FROM session WHERE row = ?", (session,)).fetchone()[0]
        for register, _ in segments.sections(ledger, its_id):
            yield SegmentKey(register.key)


def made_of(ledger: Ledger, item: int) -> Iterator[tuple[SegmentKey, bool]]:
    """The keys of the sections that an item was written up in, and whether only an earlier revision was."""
    rows = ledger.db.execute(
        "SELECT r.key, d.earlier FROM derivation d JOIN register r ON r.row = d.dst"
        " WHERE d.src_kind = ? AND d.src = ? AND d.dst_kind = ?",
        (RecordKind.ITEM, item, RecordKind.DIGEST),
    )
    for key, earlier in rows.fetchall():
        yield SegmentKey(key), bool(earlier)


def _articles_of(ledger: Ledger, keys: set[SegmentKey]) -> list[tuple[ArticleUid, str]]:
    """(uid, slug) of the articles that have a point, or noted one when they were closed, from one of these sections."""
    found = []
    edits = {each.uid: each.edits for each in articles.current(ledger)}
    for uid, article in articles.stored(ledger).items():
        told = (*article.points, *(edits[uid].claims if uid in edits else ()))
        if any(claim.section in keys for claim in told):
            found.append((uid, article.slug))
    return found


def rewrite(ledger: Ledger, register: registers.Register, value: str) -> None:
    """Give a register a value that is less than it had, whatever its rank."""
    # Spelt as what comes from another machine is, or the same would not be known for the same.
    value = msgspec.json.encode(msgspec.json.decode(value), order="sorted").decode()
    if ledger.db.execute("SELECT 1 FROM register WHERE row = ? AND value = ?", (register.row, value)).fetchone():
        return  # another machine has done it
    ledger.db.execute(
        "UPDATE register SET value = ?, rev = rev + 1, origin = 1 WHERE row = ?", (stored(value), register.row)
    )
    rev, kind = ledger.db.execute("SELECT rev, kind FROM register WHERE row = ?", (register.row,)).fetchone()
    ledger.number(RecordKind(kind), register.row, rev)


def say_again(ledger: Ledger, register: registers.Register) -> None:
    """Number what stands once more if it is ours and was not changed: another machine, which had forgotten already what
    this may have been made of, did not take it."""
    found = ledger.db.execute("SELECT kind, rev, origin FROM register WHERE row = ?", (register.row,)).fetchone()
    if found[1:] == (register.rev, 1):
        ledger.number_again(RecordKind(found[0]), register.row, register.rev, 1)
