"""Sections from the ledger into the vault's daily notes, each exactly once, whatever is killed in between.

The bytes and the place of an append are in the ledger before the first of them is in the note, and are confirmed
after. What a kill left is judged by `domain.daily.half_written`. A confirmed section that is found in no daily note
any more comes back; text a person wrote is never changed.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from afterword.domain.conflicts import merging
from afterword.domain.daily import (
    HalfWritten,
    Written,
    append_text,
    half_written,
    without_doubles,
)
from afterword.domain.day_names import DayNames
from afterword.domain.errors import UserError
from afterword.domain.ids import SegmentKey
from afterword.domain.sections import (
    goes_on_line,
    link,
    ref,
    texts_of,
)
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.article_notes import property_types
from afterword.store.day_files import day_notes
from afterword.store.ledger import articles, neighbours, segments, told
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.registers import Register
from afterword.store.ledger.segments import SectionRecord
from afterword.store.section_text import SectionText, block_of, keys_in, shared
from afterword.store.vault_card import may_write

_TYPING_S = 5.0
"""Editors save while one types, every two seconds: an append waits for so long a pause."""
_REST_S = 60.0
"""Whatever changes more than the end of a note waits for so long a one."""

Busy: TypeAlias = Callable[[Path, float], bool]
"""Whether somebody saved a note within the last so many seconds."""


class DailyNotes:
    """The one writer of daily notes in a vault."""

    def __init__(self, vault: Path, days: DayNames, ledger: Ledger, redactor: Redactor) -> None:
        self._vault = vault
        self._days = days
        self._ledger = ledger
        self._text = SectionText(days, ledger, redactor)
        self.problems: dict[str, str] = {}
        """Note → why it could not be written at the last `sync`."""
        self.waiting = False
        """Whether the last `sync` left a note to a person who is at work on it."""

    def sync(
        self,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
        busy: Busy = lambda _path, _rest_s: False,
    ) -> int:
        """Finish what a kill left, bring back what vanished, append what is new.

        A note is left for later while `busy` says that somebody saved it within the last so many seconds.

        Returns:
            How many sections were appended. Nothing is done while the vault is not there; notes that could not be
            written are in `problems`.
        """
        self.problems.clear()
        self.waiting = False
        if not may_write(self._vault, self._ledger) or not self.recover():
            return 0
        self._look(busy)
        todo = segments.unplaced(self._ledger)
        if not todo:
            return 0
        present = self._present()
        appended = 0
        for done, (register, record) in enumerate(todo):
            if stop():
                break
            on_progress(done, len(todo))
            try:
                appended += self._append(register, record, present, busy)
            except (OSError, UserError) as err:
                # One day that cannot be written must not keep the others from it.
                self.problems[self._days.name(record.day)] = getattr(err, "strerror", None) or str(err)
        on_progress(len(todo), len(todo))
        return appended

    def _place(self, own: str) -> str | None:
        """The note a section stands in, as last looked at."""
        rows = self._ledger.db.execute("SELECT path, keys FROM note ORDER BY path")
        return next((path for path, keys in rows if own in keys.split()), None)

    def _present(self) -> set[str]:
        """The keys in all daily notes, as last looked at."""
        return {key for (keys,) in self._ledger.db.execute("SELECT keys FROM note") for key in keys.split()}

    def recover(self) -> bool:
        """Finish appends that were not confirmed; False when somebody is writing there now: next time, then."""
        rows = self._ledger.db.execute("SELECT row, path, offset, bytes, sections FROM append ORDER BY row").fetchall()
        for row, name, offset, planned, placed in rows:
            path = files.inside(self._vault, name)
            try:
                note = _read(path)
            except OSError as err:
                self.problems[name] = err.strerror or str(err)
                continue
            remains = half_written(note or b"", offset, planned) if note is not None else None
            if isinstance(remains, HalfWritten):
                assert note is not None
                if not files.swap(path, note, note[: remains.start] + note[remains.end :]):
                    return False
            with self._ledger.transaction(durable=True):
                self._ledger.db.execute("DELETE FROM append WHERE row = ?", (row,))
                if isinstance(remains, Written):
                    key, rev = msgspec.json.decode(placed, type=tuple[str, int])
                    self._confirm(key, rev, name)
        return True

    def _look(self, busy: Busy) -> None:
        """Read the markers of notes that changed; sections found in no note any more are to be appended again, and one
        that stands twice in a note, byte for byte, goes once."""
        db = self._ledger.db
        known = {row[0]: row[1:] for row in db.execute("SELECT path, size, mtime_ns, inode, keys FROM note")}
        here: dict[str, tuple[tuple[int, int, int], Path]] = {}
        for name, path in day_notes(self._vault, self._days):
            with contextlib.suppress(OSError):
                here[name] = (files.stamp(path), path)
        changed = {name: entry for name, entry in here.items() if known.get(name, ())[:3] != entry[0]}
        # What a cloud keeps elsewhere for now is there.
        gone = {name for name in known.keys() - here.keys() if not files.placeholder(self._vault / name)}
        if not changed and not gone:
            return
        with self._ledger.transaction():
            for name in gone:
                db.execute("DELETE FROM note WHERE path = ?", (name,))
            for name, (at, path) in changed.items():
                try:
                    note = _read(path) or b""
                except OSError as err:
                    self.problems[name] = err.strerror or str(err)
                    continue
                once = note if merging(note) else without_doubles(note, self._untouched)
                if once == note:
                    self._saw(name, at, keys_in(note))
                elif not self._left_to(busy, name, path, _REST_S) and self._swap(name, path, note, once):
                    self._saw(name, files.stamp_of(path, once), keys_in(once), ours=True)
            told.sweep(self._ledger)
        where: dict[str, list[str]] = {}
        for name, keys in db.execute("SELECT path, keys FROM note ORDER BY path"):
            for key in keys.split():
                where.setdefault(key, []).append(name)
        missing, moved = [], []
        for key, rev, name in db.execute(
            "SELECT p.key, p.rev, p.path FROM placed p JOIN register r ON r.key = p.key AND r.kind = 8"
            " WHERE json_extract(r.value, '$.withdrawn_by') IS NULL"
        ):
            found = where.get(ref(key, rev))
            if not found:
                missing.append((key,))
            elif name not in found:
                moved.append((found[0], key))
        if missing or moved:
            with self._ledger.transaction():
                db.executemany("DELETE FROM placed WHERE key = ?", missing)
                db.executemany("UPDATE placed SET path = ? WHERE key = ?", moved)
                # Articles link to where a section stands.
                self._ledger.set_meta(articles.OWED, 1)

    def _untouched(self, key: SegmentKey, block: bytes) -> bool:
        found = self._ledger.db.execute("SELECT print FROM placed WHERE key = ?", (key,)).fetchone()
        return bool(found) and found[0] == self._print(block)

    def _print(self, block: bytes) -> bytes:
        return self._ledger.keyed_hash(block.rstrip(b"\n"), 16)

    def _swap(self, name: str, path: Path, old: bytes, new: bytes) -> bool:
        """Replace a note unless it changed meanwhile; one that was left is looked at again the next time."""
        try:
            return files.swap(path, old, new)
        except OSError as err:
            self.problems[name] = err.strerror or str(err)
            return False

    def _left_to(self, busy: Busy, name: str, path: Path, rest_s: float) -> bool:
        """Whether somebody else saved a note so lately that it is left to them for now."""
        ours = self._ledger.db.execute(
            "SELECT size, mtime_ns, inode FROM note WHERE path = ? AND ours = 1", (name,)
        ).fetchone()
        try:
            left = ours != files.stamp(path) and busy(path, rest_s)
        except FileNotFoundError:
            return False
        self.waiting |= left
        return left

    def _append(self, register: Register, record: SectionRecord, present: set[str], busy: Busy) -> bool:
        """Append one section, unless it stands somewhere already; whether it was appended."""
        name = self._days.name(record.day)
        path = files.inside(self._vault, name)
        key = SegmentKey(register.key)
        own = f"{key}!" if record.withdrawn_by else ref(key, register.rev)
        # A section that was withdrawn before it was ever written leaves nothing.
        owed = own not in present and (not record.withdrawn_by or _was_written(key, present))
        if owed and self._left_to(busy, name, path, _TYPING_S):
            return False
        if owed:
            if files.placeholder(path):
                raise UserError("it is in the cloud and not on this disk", "open it once in Obsidian")
            path.parent.mkdir(parents=True, exist_ok=True)
            note = _read(path)
            # Whoever saved it just now may have brought it back.
            owed = note is None or own not in keys_in(note)
        block, all_ours = "", True
        if owed:
            said = None if record.withdrawn_by else self._text.section(key, register.rev, record, note or b"")
            block = block_of(key, record, said, note or b"")
            types = property_types(self._vault) if not note else {}
            planned = append_text(note, block, record.day, types)
            with self._ledger.transaction(durable=True):
                self._ledger.db.execute(
                    "INSERT INTO append (path, offset, bytes, sections) VALUES (?, ?, ?, ?)",
                    (name, len(note or b""), planned, msgspec.json.encode((key, register.rev)).decode()),
                )
                if said:
                    ours = shared(said.texts, texts_of(record.digest))
                    told.put(self._ledger, key, register.rev, ours)
                    # A person's words that came back with it are never the double that goes.
                    all_ours = ours == said.texts and not said.done
            files.append(path, planned)
            present.add(own)
        with self._ledger.transaction():
            self._ledger.db.execute("DELETE FROM append WHERE path = ?", (name,))
            place = name if owed else self._place(own) or name
            self._confirm(key, register.rev, place, self._print(block.encode()) if owed and all_ours else b"")
        if owed:
            self._appended(name, path, planned)
        if owed and not record.withdrawn_by:
            self._tell_before(key, register.rev, record, name, busy)
        return owed

    def _tell_before(self, key: SegmentKey, rev: int, record: SectionRecord, name: str, busy: Busy) -> None:
        """Append to the note of the section before this one, if it is another, where the session went on.

        Once only, and not again where a person took the line out; a kill in between leaves it out, and so does a person
        who is at work there: the way back is in the section anyway.
        """
        last = neighbours.before(self._ledger, record.session, record.start_us)
        if last is None or last.path == name:
            return
        path = files.inside(self._vault, last.path)
        to = link(name.removesuffix(".md"), ref(key, rev), f"{record.day} {record.time}")
        note = _read(path)
        if to is None or note is None or merging(note) or self._left_to(busy, last.path, path, _TYPING_S):
            return
        with self._ledger.transaction(durable=True):
            owed = neighbours.tell_once(self._ledger, last.key, key)
        if owed:
            planned = append_text(note, goes_on_line(last.key, key, last.time, to), record.day)
            files.append(path, planned)
            self._appended(last.path, path, planned)

    def _appended(self, name: str, path: Path, planned: bytes) -> None:
        """Take a note as seen after an append, and as ours unless somebody else has been there meanwhile."""
        at, note = files.stamp(path), _read(path) or b""
        if not merging(note) and without_doubles(note, self._untouched) != note:
            # A merge came in between: as changed, so that the next look takes out what stands there twice.
            at, self.waiting = files.SAVED_SINCE, True
        with self._ledger.transaction():
            self._saw(name, at, keys_in(note), ours=note.endswith(planned))

    def _confirm(self, key: str, rev: int, name: str, its_print: bytes = b"") -> None:
        self._ledger.db.execute(
            "INSERT INTO placed (key, rev, path, print) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET rev = excluded.rev, path = excluded.path, print ="
            " CASE WHEN excluded.print = x'' AND excluded.rev = rev THEN print ELSE excluded.print END",
            (key, rev, name, its_print),
        )

    def _saw(self, name: str, at: tuple[int, int, int], keys: list[str], *, ours: bool = False) -> None:
        self._ledger.db.execute(
            "INSERT INTO note VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET size = excluded.size,"
            " mtime_ns = excluded.mtime_ns, inode = excluded.inode, keys = excluded.keys, ours = excluded.ours",
            (name, *at, " ".join(keys), ours),
        )


def _was_written(key: SegmentKey, present: set[str]) -> bool:
    return any(found == key or found.startswith(f"{key}-r") for found in present)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
