"""What another machine says of a key becomes a row here, if it wins: one method for each shape of record.

Everything goes through the redactor once more; ids stay. What a tombstone forbids becomes no row.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from afterword.domain.articles import Article
from afterword.domain.errors import DataError
from afterword.domain.ids import ItemId
from afterword.domain.items import Kind, SaidBy, Time
from afterword.domain.registers import Rank, wins
from afterword.domain.slugs import slug
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger import articles, authority, entries, lessons, masked, sessions, shapes, tombstones
from afterword.store.ledger.entries import (
    FORGOTTEN,
    Entry,
    ItemBody,
    MembershipBody,
    OriginBody,
    RegisterBody,
    SessionBody,
)
from afterword.store.ledger.ledger import Ledger, RecordKind, pack, unpack
from afterword.store.ledger.refusing import Refusal
from afterword.store.ledger.rescrub import PLAIN

if TYPE_CHECKING:
    from afterword.store.ledger.tombstones import Tombstone

B = TypeVar("B", bound=msgspec.Struct)

_HEX_32: Final = 32
_NAME: Final = re.compile(r"[a-z][a-z0-9_.-]{0,39}")
_WORD: Final = re.compile(r"[a-z][a-z_-]{0,29}")
_REV_MAX: Final = 2**53
_NO_FACTS: Final = "{}"


class Unfit(DataError):
    """A record says what its kind does not allow: all of its batch is refused."""

    kind = "refused"


class Admitted(msgspec.Struct, frozen=True):
    """What became of a body: the row it is about (0: none), and why it is not in it, if so. `waits` for its session
    and item."""

    ref: int
    why: str = ""
    waits: bool = False


class Rows:
    """Writes the rows of one batch, inside its transaction; then `settle`."""

    def __init__(self, ledger: Ledger, redactor: Redactor) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._redactor = redactor
        self._names = {row: its_id for row, (its_id, _) in ledger.origins().items()}
        self._origins = {its_id: row for row, its_id in self._names.items()}
        self.refusal = Refusal(ledger)
        self._unsettled = authority.Unsettled(ledger)
        self._masked = masked.Change()
        self._touched: set[int] = set()
        self._awaited = self._any("SELECT 1 FROM derives LIMIT 1")
        self.stones: list[Tombstone] = []
        """Tombstones that are new, or say more than before."""
        self.blanked: set[str] = set()
        """Sections that are not here, and not taken in for the same reason."""
        self.emptied: dict[str, str] = {}
        """Articles of which nothing is left, since what they said was forgotten, and what their file was called."""

    def origin_row(self, its_id: str) -> int:
        """The row of a machine, made when it is new."""
        found = self._origins.get(its_id)
        if found is None:
            found = self._db.execute(
                "INSERT INTO origin (id, name, rev) VALUES (?, ?, 0)", (its_id, its_id[:8])
            ).lastrowid
            assert found is not None
            self._origins[its_id] = found
            self._names[found] = its_id
        return found

    def admit(self, entry: Entry, origin: str) -> Admitted:
        """Apply a record that has a body."""
        kind = entries.KINDS[entry.kind]
        self.check_key(entry)
        done = self._admitted(kind, entry, origin)
        if done.why == FORGOTTEN:
            self.refusal.note(kind, entry.key)
            if kind is RecordKind.SECTION and not done.ref:
                self.blanked.add(entry.key)
        return done

    def _admitted(self, kind: RecordKind, entry: Entry, origin: str) -> Admitted:
        if kind is RecordKind.ORIGIN:
            return self._machine(entry, origin, self._body(entry, OriginBody))
        if kind is RecordKind.SESSION:
            return self._session(entry, origin, self._body(entry, SessionBody))
        if kind is RecordKind.ITEM:
            return self._item(entry, origin, self._body(entry, ItemBody))
        if kind is RecordKind.MEMBERSHIP:
            return self._membership(entry, origin, self._body(entry, MembershipBody))
        return self._register(kind, entry, origin, self._body(entry, RegisterBody))

    def check_key(self, entry: Entry) -> None:
        """Raise Unfit unless a record of its kind can have its key, which is kept as it is, and revision."""
        if entry.rev > _REV_MAX:
            raise Unfit(f"number {entry.n}: a revision after which there is none")
        try:
            shapes.check_key(entries.KINDS[entry.kind], entry.key)
        except ValueError as err:
            raise Unfit(f"number {entry.n}: a {entry.kind} that is none: {err}") from err
        if self._redactor.plain(entry.key) != entry.key:
            raise Unfit(f"number {entry.n}: a key that holds a secret")

    def _body(self, entry: Entry, shape: type[B]) -> B:
        assert entry.body is not None
        try:
            return msgspec.json.decode(entry.body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            # The message names a field and a type, never a value.
            raise Unfit(f"number {entry.n}: a {entry.kind} that is none: {err}") from err

    def _author(self, origin: str, by: str) -> tuple[int, str]:
        author = by or origin
        if len(author) != _HEX_32 or set(author) - set("0123456789abcdef"):
            raise Unfit("an author that is no machine's id")
        return self.origin_row(author), author

    def _machine(self, entry: Entry, origin: str, body: OriginBody) -> Admitted:
        if entry.key != origin:
            raise Unfit(f"number {entry.n}: one machine names another")
        row = self.origin_row(origin)
        self._db.execute(
            "UPDATE origin SET name = ?, rev = ? WHERE row = ? AND rev < ?",
            (slug(self._redactor.redact(body.name), fallback="machine"), entry.rev, row, entry.rev),
        )
        return Admitted(row)

    def _session(self, entry: Entry, origin: str, body: SessionBody) -> Admitted:
        by, author = self._author(origin, body.by)
        row = entries.ref_of(self._ledger, RecordKind.SESSION, entry.key)
        native, harness = self._redactor.plain(body.native), self._harness(body.harness)
        said = dict(body.facts)
        if not self.refusal.nothing:
            gone = self.refusal.fields(entry.key, row)
            if gone == tombstones.FACTS and not row:
                return Admitted(0, FORGOTTEN)
            for name in gone:
                said.pop(name, None)
        facts = self._redactor.document(said, plain=sessions.PLAIN)
        try:
            msgspec.json.decode(facts.encode(), type=sessions.SessionFacts)
        except msgspec.DecodeError as err:
            raise Unfit(f"number {entry.n}: facts of a session that are none: {err}") from err
        rank = self._rank(body.rank, facts, body.facts)
        if not row:
            row = self._made(
                "INSERT INTO session (id, harness, native, facts, rev, rank, origin) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (entry.key, harness, native, facts, entry.rev, rank, by),
            )
            self._touched.add(row)
            return Admitted(row)
        old = self._db.execute(
            "SELECT rank, rev, coalesce(by, origin), facts FROM session WHERE row = ?", (row,)
        ).fetchone()
        if wins((False, rank, entry.rev, author), (False, old[0], old[1], self._id(old[2]))):
            self._db.execute(
                "UPDATE session SET facts = ?, rev = ?, rank = ?, by = ? WHERE row = ?",
                (facts, entry.rev, rank, by, row),
            )
            if facts != old[3]:
                self._touched.add(row)
        return Admitted(row)

    def _item(self, entry: Entry, origin: str, body: ItemBody) -> Admitted:
        by, author = self._author(origin, body.by)
        its_id = ItemId(_bytes(entry.key, entry))
        _bytes(body.home.id, entry)
        kind, said_by, flag = self._enums(entry, body)
        row = entries.ref_of(self._ledger, RecordKind.ITEM, entry.key)
        text = self._redactor.redact(body.text)
        if not self.refusal.nothing and self.refusal.item(entry, body, row, kind, text):
            return Admitted(row, FORGOTTEN)
        if isinstance(body.exit, str) and not _WORD.fullmatch(body.exit):
            raise Unfit(f"number {entry.n}: an item that ended in a way there is none")
        path = self._redactor.redact(body.path) if body.path is not None else None
        rank = self._rank(body.rank, (text, path), (body.text, body.path))
        blob, packed = pack(text)
        said = (kind, said_by, body.time_us, flag, body.given_us, path, body.exit, blob, packed, len(text))
        if not row:
            row = self._made(
                "INSERT INTO item (kind, said_by, time_us, time_flag, given_us, path, exit_status, text, packed, chars,"
                " id, home, rev, rank, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*said, its_id, self._home(body, origin), entry.rev, rank, by),
            )
            self._masked.text(text)
            if text:
                self._db.execute("INSERT INTO text_pending (item) VALUES (?)", (row,))
            if self._awaited:
                self._derive_awaited(row, its_id)
            return Admitted(row)
        old = self._db.execute("SELECT rank, rev, origin, text, packed FROM item WHERE row = ?", (row,)).fetchone()
        if wins((False, rank, entry.rev, author), (False, old[0], old[1], self._id(old[2]))):
            before = unpack(old[3], old[4])
            self._db.execute(
                "UPDATE item SET kind = ?, said_by = ?, time_us = ?, time_flag = ?, given_us = ?, path = ?,"
                " exit_status = ?, text = ?, packed = ?, chars = ?, rev = ?, rank = ?, origin = ? WHERE row = ?",
                (*said, entry.rev, rank, by, row),
            )
            if before != text:
                self._db.execute(
                    "INSERT INTO text_pending (item, old, old_packed) VALUES (?, ?, ?)", (row, old[3], old[4])
                )
                self._masked.text(text, before)
            for (session,) in self._db.execute("SELECT session FROM membership WHERE item = ?", (row,)).fetchall():
                self._touched.add(session)
                self._unsettled.moved(session)
        return Admitted(row)

    def _membership(self, entry: Entry, origin: str, body: MembershipBody) -> Admitted:
        by, author = self._author(origin, body.by)
        session_id, _, item_hex = entry.key.partition("/")
        if body.said not in (0, 1, 2) or body.rank not in list(Rank):
            raise Unfit(f"number {entry.n}: a membership in no state there is")
        session = entries.ref_of(self._ledger, RecordKind.SESSION, session_id)
        item = entries.ref_of(self._ledger, RecordKind.ITEM, item_hex)
        if not (session and item):
            return Admitted(0, waits=True)
        self.member(session, item, body, entry.rev, by, author)
        return Admitted(entries.ref_of(self._ledger, RecordKind.MEMBERSHIP, entry.key))

    def member(self, session: int, item: int, body: MembershipBody, rev: int, by: int, author: str) -> None:
        """An item in a session, both of which are here."""
        place = (body.pos, body.sub)
        old = self._db.execute(
            "SELECT row, rank, rev, origin, state, said FROM membership WHERE session = ? AND item = ?",
            (session, item),
        ).fetchone()
        if old is None:
            self._unsettled.placed(session, place, body.authority)
            self._db.execute(
                "INSERT INTO membership (session, item, pos, sub, said, state, rolled, authority, rev, rank, origin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (session, item, *place, body.said, body.said, body.rolled, body.authority, rev, body.rank, by),
            )
            if self.refusal.hidden(session, item):
                self._unsettled.moved(session)
            self._touch(session, item)
        elif wins((False, body.rank, rev, author), (False, old[1], old[2], self._id(old[3]))):
            self._db.execute(
                "UPDATE membership SET pos = ?, sub = ?, said = ?, state = CASE WHEN state = said THEN ? ELSE state"
                " END, rolled = ?, authority = ?, rev = ?, rank = ?, origin = ? WHERE row = ?",
                (*place, body.said, body.said, body.rolled, body.authority, rev, body.rank, by, old[0]),
            )
            self._unsettled.moved(session)
            self._touch(session, item)

    def _register(self, kind: RecordKind, entry: Entry, origin: str, body: RegisterBody) -> Admitted:
        by, author = self._author(origin, body.by)
        row = entries.ref_of(self._ledger, kind, entry.key)
        for item in body.of.get(entries.name_of(RecordKind.ITEM), ()):
            _bytes(item, entry)
        if kind is not RecordKind.TOMBSTONE and not self.refusal.nothing and self.refusal.tells(kind, entry.key, body):
            return Admitted(row, FORGOTTEN)
        value = self._redactor.document(body.value, plain=PLAIN.get(kind, ()))
        try:
            shapes.check(kind, entry.key, value)
        except (ValueError, RecursionError) as err:  # also msgspec's: a field and a type, never a value
            raise Unfit(f"number {entry.n}: a {entry.kind} that is none: {err}") from err
        rank = self._rank(body.rank, msgspec.json.decode(value.encode()), body.value)
        new = (False, rank, entry.rev, author)
        if not row:
            row = self._made(
                "INSERT INTO register (kind, key, rev, rank, origin, value) VALUES (?, ?, ?, ?, ?, ?)",
                (kind, entry.key, entry.rev, rank, by, value),
            )
        else:
            old = self._db.execute(
                "SELECT forgotten, rank, rev, origin, value FROM register WHERE row = ?", (row,)
            ).fetchone()
            if not wins(new, (bool(old[0]), old[1], old[2], self._id(old[3]))):
                return Admitted(row)
            self._db.execute(
                "UPDATE register SET rev = ?, rank = ?, origin = ?, value = ? WHERE row = ?",
                (entry.rev, rank, by, value, row),
            )
            if old[4] == value and kind is not RecordKind.DIGEST:
                return Admitted(row)
            if kind is RecordKind.ARTICLE and not entry.key.endswith("/edits"):
                self._emptied(entry.key, old[4], value)
        self._made_of(kind, row, body.of)
        self._news(kind, entry.key, value)
        return Admitted(row)

    def _emptied(self, uid: str, before: str, value: str) -> None:
        slug, now = (msgspec.json.decode(each.encode(), type=Article).slug for each in (before, value))
        if slug and not now:
            self.emptied[uid] = slug

    def _news(self, kind: RecordKind, key: str, value: Redacted) -> None:
        """What has to be done here because a register says something else now."""
        if kind is RecordKind.TOMBSTONE:
            self.stones.append(tombstones.read(key, value))
        elif kind in (RecordKind.ARTICLE, RecordKind.BUILD):
            self._ledger.set_meta(articles.OWED, 1)
            if kind is RecordKind.BUILD:
                articles.unfolded(self._ledger)
        elif kind in (RecordKind.LESSON, RecordKind.FACT):
            self._ledger.set_meta(lessons.OWED, 1)
        elif kind in (RecordKind.DIGEST, RecordKind.SECTION):
            session = msgspec.json.decode(value.encode()).get("session")
            if isinstance(session, str) and (row := entries.ref_of(self._ledger, RecordKind.SESSION, session)):
                self._touched.add(row)

    def _made_of(self, kind: RecordKind, row: int, of: dict[str, list[str]]) -> None:
        found: list[tuple[RecordKind, int]] = []
        for name, keys in of.items():
            source = entries.KINDS.get(name)
            if source is None or (kind is RecordKind.SECTION and source is RecordKind.ITEM):
                continue
            for key in keys:
                ref = entries.ref_of(self._ledger, source, key)
                if ref:
                    found.append((source, ref))
                elif source is RecordKind.ITEM:
                    self._db.execute("INSERT OR IGNORE INTO derives VALUES (?, ?, ?)", (bytes.fromhex(key), kind, row))
                    self._awaited = True
        self._ledger.derive_anew((kind, row), found)

    def _derive_awaited(self, row: int, its_id: ItemId) -> None:
        for dst_kind, dst in self._db.execute("SELECT dst_kind, dst FROM derives WHERE item = ?", (its_id,)).fetchall():
            self._db.execute(
                "INSERT OR IGNORE INTO derivation VALUES (?, ?, ?, ?, 0)", (dst_kind, dst, RecordKind.ITEM, row)
            )
        self._db.execute("DELETE FROM derives WHERE item = ?", (its_id,))

    def settle(self) -> None:
        """Work out what follows from it here: what is hidden, and what is to be written up again."""
        for session, item in self._unsettled.settle():
            self._touch(session, item)
        for session in sorted(self._touched):
            # What only other machines read, they write up.
            if sessions.read_here(self._ledger, session):
                sessions.mark_dirty(self._ledger, session, 0)
        self._masked.save(self._ledger)

    def _touch(self, session: int, item: int) -> None:
        self._touched.add(session)
        for (holder,) in self._db.execute("SELECT session FROM membership WHERE item = ?", (item,)):
            self._touched.add(holder)

    # Small things.

    def _rank(self, given: int, clean: object, said: object) -> int:
        """A masked text stands less high than the whole one."""
        if given not in list(Rank):
            raise Unfit("a rank that is none")
        return given if clean == said else min(given, Rank.PARTIAL)

    def _enums(self, entry: Entry, body: ItemBody) -> tuple[Kind, SaidBy, Time]:
        try:
            return Kind(body.kind), SaidBy(body.said_by), Time(body.time_flag)
        except ValueError as err:
            raise Unfit(f"number {entry.n}: an item of a kind that is none") from err

    def _home(self, body: ItemBody, origin: str) -> int:
        """The row of the session an item was first seen in. Its facts may come later."""
        row = entries.ref_of(self._ledger, RecordKind.SESSION, body.home.id)
        if row:
            return row
        native, harness = self._redactor.plain(body.home.native), self._harness(body.home.harness)
        return self._made(
            "INSERT INTO session (id, harness, native, facts, rev, rank, origin) VALUES (?, ?, ?, ?, 0, ?, ?)",
            (body.home.id, harness, native, _NO_FACTS, Rank.ENGINE, self.origin_row(origin)),
        )

    def _harness(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise Unfit("an agent's name that is none")
        return name

    def _id(self, origin_row: int) -> str:
        return self._names[origin_row]

    def _made(self, query: str, given: Iterable[object]) -> int:
        row = self._db.execute(query, tuple(given)).lastrowid
        assert row is not None
        return row

    def _any(self, query: str, *given: object) -> bool:
        return self._db.execute(query, given).fetchone() is not None


def _bytes(text: str, entry: Entry) -> bytes:
    if len(text) != _HEX_32 or set(text) - set("0123456789abcdef"):
        raise Unfit(f"number {entry.n}: the key of this {entry.kind} is no id")
    return bytes.fromhex(text)
