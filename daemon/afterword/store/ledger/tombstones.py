"""What was forgotten and stays away: tombstones of sessions, items, texts and facts, which hold no text.

A session's tombstone refuses its later items too, an item's only that item. A text's is an unkeyed hash, so that
another machine can hold its own items against it; it is kept of long speech only, because forgetting "yes" must not
block every "yes", and what tools print repeats by itself. Beside them each machine keeps a keyed hash of every text it
forgot (`erased`): with it a place, a fork or a second kind of source that shows the text again is known.
"""

import hashlib
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.ids import ItemId, LessonUid, SessionId, session_id
from afterword.domain.items import Kind
from afterword.domain.registers import Rank
from afterword.redact.text import Redacted, stored
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind, unpack

Field: TypeAlias = Literal["title", "cwd", "root", "folder", "branch", "model", "version"]
FACTS: Final[tuple[Field, ...]] = ("title", "cwd", "root", "folder", "branch", "model", "version")
"""What transcripts say of a session that is text."""
TEXT_MIN_CHARS: Final = 64
SPEECH: Final = frozenset({Kind.PROMPT, Kind.REPLY, Kind.THINKING, Kind.SUMMARY})
"""Kinds whose long texts are known by a hash."""
KEY: Final = r"(?:session|item|text|facts):[0-9a-f]{32}|lesson:l-[0-9a-f]{12}"
COUNT: Final = "tombstones"
"""The small fact of how many there are: while there are none nothing is looked up."""


class Tombstone(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of them. `key` is a session's id, an item's id or the hash of a text, as hex, or a lesson's uid; `fields` are
    the facts of a session that are not taken in again."""

    kind: Literal["session", "item", "text", "facts", "lesson"]
    key: str
    fields: tuple[Field, ...] = ()


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of its register."""

    fields: tuple[Field, ...] = ()


def of_item(its_id: ItemId) -> Tombstone:
    return Tombstone("item", its_id.hex())


def text_hash(kind: int, text: str) -> str:
    """What a long text of somebody's speech is known by; empty for any other. White space does not count."""
    said = " ".join(text.split())
    if len(said) < TEXT_MIN_CHARS or kind not in SPEECH:
        return ""
    data = said.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, person=b"afterword-text").hexdigest()


def print_of(ledger: Ledger, text: str) -> bytes:
    """The keyed hash of a text."""
    return ledger.keyed_hash(b"erased\0" + text.encode("utf-8", "surrogatepass"), 16)


def put(ledger: Ledger, stone: Tombstone) -> bool:
    """Store a tombstone; whether it says something new. Inside a transaction."""
    key = f"{stone.kind}:{stone.key}"
    before = registers.get(ledger, RecordKind.TOMBSTONE, key)
    fields = set(stone.fields) | set(before.read(Value).fields if before else ())
    value = stored(msgspec.json.encode(Value(tuple(name for name in FACTS if name in fields))).decode())
    if before and before.value == value:
        return False
    # The whole of a session's facts is more than its title, whichever machine says it first: so is its revision.
    rev = max(1, len(fields), before.rev if before else 0)
    registers.put(ledger, RecordKind.TOMBSTONE, key, value, Rank.PERSON, rev=rev)
    if before is None:
        ledger.set_meta(COUNT, count(ledger) + 1)
    return True


def put_text(ledger: Ledger, kind: int, text: str) -> bool:
    """Store the tombstone of a text, if it is long speech; inside a transaction."""
    found = text_hash(kind, text)
    return bool(found) and put(ledger, Tombstone("text", found))


def remember_print(ledger: Ledger, item: int, text: str) -> None:
    """Say that an item's text was forgotten; inside a transaction."""
    ledger.db.execute(
        "INSERT OR IGNORE INTO erased (item, print, chars) VALUES (?, ?, ?)", (item, print_of(ledger, text), len(text))
    )


def owe(ledger: Ledger) -> None:
    """Have the next start look for bytes of what was just found to be forgotten; inside a transaction."""
    ledger.db.execute("INSERT OR IGNORE INTO forgetting (kind, key) VALUES ('look', '')")


def count(ledger: Ledger) -> int:
    found = ledger.meta(COUNT)
    return found if isinstance(found, int) else 0


def counted(ledger: Ledger) -> int:
    """How many there are, looked up."""
    found: int = ledger.db.execute(
        "SELECT count(*) FROM register WHERE kind = ? AND forgotten = 0", (RecordKind.TOMBSTONE,)
    ).fetchone()[0]
    return found


def every(ledger: Ledger) -> list[Tombstone]:
    """All of them, by key: what another machine, or an older copy of this ledger, has to know first."""
    return [read(register.key, register.value) for register in registers.every(ledger, RecordKind.TOMBSTONE)]


def read(key: str, value: Redacted) -> Tombstone:
    """The tombstone in a register."""
    kind, _, its_key = key.partition(":")
    found = msgspec.json.decode(value.encode(), type=Value)
    return msgspec.convert({"kind": kind, "key": its_key, "fields": found.fields}, Tombstone)


def author(ledger: Ledger, key: str) -> int:
    """The row of the machine that put a tombstone; 0 when there is none."""
    found = ledger.db.execute(
        "SELECT origin FROM register WHERE kind = ? AND key = ?", (RecordKind.TOMBSTONE, key)
    ).fetchone()
    return int(found[0]) if found else 0


def session_forgotten(ledger: Ledger, its_id: SessionId) -> bool:
    """Whether a session was forgotten as such."""
    return count(ledger) > 0 and _has(ledger, f"session:{its_id}")


def lesson_forgotten(ledger: Ledger, uid: LessonUid) -> bool:
    """Whether an entry of the journal was forgotten."""
    return count(ledger) > 0 and _has(ledger, f"lesson:{uid}")


def hidden_in(ledger: Ledger, session: int) -> set[int]:
    """The items that are not shown in a session because they, or it, were forgotten."""
    if not count(ledger):
        return set()
    its_id = ledger.db.execute("SELECT id FROM session WHERE row = ?", (session,)).fetchone()[0]
    where = "" if _has(ledger, f"session:{its_id}") else " AND item IN (SELECT item FROM erased)"
    return {item for (item,) in ledger.db.execute(f"SELECT item FROM membership WHERE session = ?{where}", (session,))}


def erased_items(ledger: Ledger) -> set[int]:
    """The items that have no text any more because they were forgotten."""
    return {item for (item,) in ledger.db.execute("SELECT item FROM erased")}


def stood_at(ledger: Ledger, session: int, place: tuple[int, int], kind: Kind, text: Redacted) -> bool:
    """Whether a text was forgotten that stood at this place of a session, under whatever id."""
    rows = ledger.db.execute(
        "SELECT e.print FROM membership m JOIN erased e ON e.item = m.item JOIN item i ON i.row = m.item"
        " WHERE m.session = ? AND m.pos = ? AND m.sub = ? AND i.kind = ? AND e.chars = ?",
        (session, *place, kind, len(text)),
    ).fetchall()
    return bool(rows) and (print_of(ledger, text),) in rows


def same_texts(ledger: Ledger, hashes: Iterable[str]) -> set[int]:
    """The items whose long text has one of these hashes and is still there."""
    wanted = set(hashes)
    if not wanted:
        return set()
    kinds = ",".join(str(int(kind)) for kind in sorted(SPEECH))
    rows = ledger.db.execute(
        f"SELECT row, kind, text, packed FROM item WHERE kind IN ({kinds}) AND chars >= ?", (TEXT_MIN_CHARS,)
    )
    return {row for row, kind, blob, packed in rows if text_hash(kind, unpack(blob, packed)) in wanted}


def _has(ledger: Ledger, key: str) -> bool:
    found = ledger.db.execute(
        "SELECT 1 FROM register WHERE kind = ? AND key = ?", (RecordKind.TOMBSTONE, key)
    ).fetchone()
    return found is not None


class Known:
    """What one transaction of the capture asks. Costs one look while nothing was ever forgotten."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.none = not count(ledger)
        self._sessions: dict[int, bool] = {}

    def session(self, row: int, parent: SessionId | None = None) -> bool:
        """Whether nothing of a session is taken in. `parent` is the id of the one it was spawned by, where known."""
        if self._sessions.get(row):
            return True
        if row not in self._sessions:
            its_id, harness, native = self._ledger.db.execute(
                "SELECT id, harness, json_extract(facts, '$.parent') FROM session WHERE row = ?", (row,)
            ).fetchone()
            parents = [f"session:{session_id(harness, native)}"] if native else []
            self._sessions[row] = any(_has(self._ledger, key) for key in (f"session:{its_id}", *parents))
        if parent and not self._sessions[row]:
            self._sessions[row] = _has(self._ledger, f"session:{parent}")
        return self._sessions[row]

    def named_session(self, its_id: str) -> bool:
        """The same by its id, for a session that may not be here. Of its parent nothing is known then."""
        row = self._ledger.db.execute("SELECT row FROM session WHERE id = ?", (its_id,)).fetchone()
        return self.session(row[0]) if row else _has(self._ledger, f"session:{its_id}")

    def item(self, its_id: ItemId) -> bool:
        return _has(self._ledger, f"item:{its_id.hex()}")

    def lesson(self, uid: str) -> bool:
        return _has(self._ledger, f"lesson:{uid}")

    def text(self, kind: Kind, text: Redacted) -> bool:
        found = text_hash(kind, text)
        return bool(found) and _has(self._ledger, f"text:{found}")

    def erased(self, item: int) -> bool:
        found = self._ledger.db.execute("SELECT 1 FROM erased WHERE item = ?", (item,)).fetchone()
        return found is not None

    def fields(self, row: int, parent: SessionId | None = None) -> tuple[Field, ...]:
        """The facts of a session that are not taken in."""
        if self.none:
            return ()
        if self.session(row, parent):
            return FACTS
        return self.fields_of(self._ledger.db.execute("SELECT id FROM session WHERE row = ?", (row,)).fetchone()[0])

    def fields_of(self, its_id: str) -> tuple[Field, ...]:
        """The same by the session's id."""
        if _has(self._ledger, f"session:{its_id}"):
            return FACTS
        found = registers.get(self._ledger, RecordKind.TOMBSTONE, f"facts:{its_id}")
        return found.read(Value).fields if found else ()
