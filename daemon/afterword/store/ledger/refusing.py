"""What another machine says that must not come in, because it tells what was forgotten here.

Its author may not know of that yet. Whatever it says without it, or has made of the rest, comes under later numbers.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from afterword.domain.ids import ItemId, SegmentKey, digest_lesson_uid
from afterword.domain.items import Kind
from afterword.redact.text import Redacted
from afterword.store.ledger import entries, segments, tombstones
from afterword.store.ledger.entries import FORGOTTEN, Entry, ItemBody, RegisterBody
from afterword.store.ledger.ledger import Ledger, RecordKind


class Refusal:
    """What is refused in one batch, inside its transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._known = tombstones.Known(ledger)
        self._now: set[tuple[RecordKind, str]] = set()
        self.items: set[int] = set()
        """Items that are here and that something new forbids."""

    @property
    def nothing(self) -> bool:
        """Whether nothing was ever forgotten here."""
        return self._known.none

    def looked_up(self) -> None:
        """Tombstones were put: what is forbidden is looked up anew."""
        self._known = tombstones.Known(self._ledger)

    def note(self, kind: RecordKind, key: str) -> None:
        """Something was refused: what stands on it is not here either."""
        self._now.add((kind, key))

    def hidden(self, session: int, item: int) -> bool:
        """Whether an item that is here is not shown in a session that is."""
        return not self.nothing and (self._known.session(session) or self._known.erased(item))

    def fields(self, its_id: str, row: int) -> tuple[tombstones.Field, ...]:
        if row:
            return self._known.fields(row)
        return self._known.fields_of(its_id)

    def item(self, entry: Entry, body: ItemBody, row: int, kind: Kind, text: Redacted) -> bool:
        """Whether an item was forgotten, by itself, with its session or by its text."""
        if row and self._known.erased(row):
            return True
        if (
            self._known.item(ItemId(bytes.fromhex(entry.key)))
            or self._known.named_session(body.home.id)
            or self._known.text(kind, text)
        ):
            if row:
                self.items.add(row)
            return True
        return False

    def tells(self, kind: RecordKind, key: str, body: RegisterBody) -> bool:
        """Whether a value was made, by a machine that did not know yet, of what was forgotten here."""
        if kind in (RecordKind.DIGEST, RecordKind.SECTION, RecordKind.SEGMENT):
            session = body.value.get("session") if isinstance(body.value, dict) else None
            if isinstance(session, str) and self._known.named_session(session) and _says(body.value):
                return True
            if any(self._gone(item) for item in body.of.get("item", ())):
                return True
            return kind is RecordKind.SEGMENT and self._read_off_old(key.partition("/")[0], body.value)
        if kind is RecordKind.LESSON and self._known.lesson(key.partition("/")[0]):
            return True
        if kind is RecordKind.FACT and self._of_forgotten_lesson(key, body.value):
            return True
        if kind is RecordKind.LESSON and self._drawn_from_old(key, body.value):
            return True
        if kind in (RecordKind.ARTICLE, RecordKind.BUILD, RecordKind.LESSON, RecordKind.FACT):
            return any(not self._stands(*place) for place in _places(body.value))
        return False

    def _drawn_from_old(self, uid: str, value: Any) -> bool:
        """Whether an entry was drawn from a section as it was before something in it was forgotten here."""
        if (
            not isinstance(value, dict)
            or value.get("source") != "digest"
            or not self._tainted(_text(value, "evidence"))
        ):
            return False
        key = SegmentKey(_text(value, "evidence"))
        found = segments.section(self._ledger, key)
        return found is None or uid not in {digest_lesson_uid(key, each.quote) for each in found[1].digest.lessons}

    def _of_forgotten_lesson(self, key: str, value: Any) -> bool:
        """Whether a fact still says what an entry of the journal said that was forgotten here, or a person's words for
        it do. Its author leaves that out, and numbers what remains."""
        its_id, _, edits = key.partition("/")
        if not edits:
            uids = value.get("lessons") if isinstance(value, dict) else None
            return isinstance(uids, list) and any(isinstance(uid, str) and self._lesson_gone(uid) for uid in uids)
        tainted = self._lesson_gone(f"l{its_id[1:]}") or self._refused(RecordKind.FACT, its_id)
        stands = self._live(RecordKind.FACT, its_id)
        return tainted and (not stands or (isinstance(value, dict) and value.get("text") is not None))

    def _lesson_gone(self, uid: str) -> bool:
        return self._known.lesson(uid) or (
            self._refused(RecordKind.LESSON, uid) and not self._live(RecordKind.LESSON, uid)
        )

    def _refused(self, kind: RecordKind, key: str) -> bool:
        """Whether something of a register was not taken in here because of what was forgotten."""
        return (kind, key) in self._now or self._any(
            f"SELECT 1 FROM stub WHERE kind = ? AND key = ? AND why = '{FORGOTTEN}' LIMIT 1", kind, key
        )

    def _live(self, kind: RecordKind, key: str) -> bool:
        return self._any("SELECT 1 FROM register WHERE kind = ? AND key = ? AND forgotten = 0", kind, key)

    def _read_off_old(self, section: str, edits: Any) -> bool:
        """Whether a person's edits are of a section as it was before something in it was forgotten here."""
        if not _says(edits) or not self._tainted(section):
            return False
        row = self._db.execute("SELECT rev FROM register WHERE kind = 8 AND key = ?", (section,)).fetchone()
        rev = edits.get("rev") if isinstance(edits, dict) else None
        return row is None or not isinstance(rev, int) or rev < row[0]

    def _gone(self, item: str) -> bool:
        its_id = ItemId(bytes.fromhex(item))
        row = entries.ref_of(self._ledger, RecordKind.ITEM, item)
        return self._known.item(its_id) or bool(row and self._known.erased(row))

    def _tainted(self, section: str) -> bool:
        """Whether something of what a section was ever made of was forgotten."""
        return self._any(
            "SELECT 1 FROM register r JOIN derivation d ON d.dst_kind = r.kind AND d.dst = r.row AND d.src_kind = 3"
            " JOIN erased e ON e.item = d.src WHERE r.kind = 7 AND r.key = ? LIMIT 1",
            section,
        ) or self._refused(RecordKind.SECTION, section)

    def _stands(self, section: str, quote: str) -> bool:
        """Whether a quote still stands in its section, where something of that was forgotten."""
        if not self._tainted(section):
            return True
        found = self._db.execute("SELECT value FROM register WHERE kind = 8 AND key = ?", (section,)).fetchone()
        return bool(found) and quote in set(_strings(msgspec.json.decode(found[0])))

    def _any(self, query: str, *given: object) -> bool:
        return self._db.execute(query, given).fetchone() is not None


def _text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _places(value: Any) -> Iterable[tuple[str, str]]:
    """(section, quote) of every claim in a value."""
    if isinstance(value, dict):
        section, quote = value.get("section"), value.get("quote")
        if isinstance(section, str) and isinstance(quote, str):
            yield section, quote
        for inner in value.values():
            yield from _places(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _places(inner)


def _says(value: Any) -> bool:
    """Whether a write-up says anything, or is what is left of one."""
    return bool(value.get("made_of") or value.get("added") or value.get("removed") or _quotes(value))


def _quotes(value: Any) -> bool:
    context = value.get("digest", {}).get("context", {}) if isinstance(value.get("digest"), dict) else {}
    return bool(context.get("text")) or any(
        value["digest"].get(part) for part in ("exchanges", "decisions", "lessons", "actions") if "digest" in value
    )
