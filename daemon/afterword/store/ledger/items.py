"""Items and their memberships as the capture writes them: idempotent by id, one revision per real change."""

from enum import IntEnum

import msgspec

from afterword.domain.ids import ItemId, SessionId
from afterword.domain.items import ExitStatus, Kind, SaidBy, Time
from afterword.redact.text import Redacted
from afterword.store.ledger import authority, masked, sessions, tombstones
from afterword.store.ledger.body import Body
from afterword.store.ledger.edits import Edits
from afterword.store.ledger.ledger import Ledger, RecordKind, pack, unpack


class State(IntEnum):
    """What became of an item in a session; numbers are stored."""

    LIVE = 0
    ABANDONED = 1
    HIDDEN = 2
    """It proved to be a copy or no speech at all."""
    FORGOTTEN = 3
    """Its text was forgotten, or its session; derived here, no source says it."""


class NewItem(msgspec.Struct, frozen=True, gc=False):
    """An item as it goes in: everything redacted, the time settled."""

    id: ItemId
    kind: Kind
    said_by: SaidBy
    body: Body
    time_us: int
    time_flag: Time
    given_us: int | None
    path: Redacted | None
    exit_status: ExitStatus
    lesser: bool = False
    """A longer text that is known stands."""

    @property
    def text(self) -> Redacted:
        return self.body.text


class Writer:
    """Writes one source's items inside one transaction, then settles what changed.

    Memberships may flip several times while a file is read again from the start; only where the verdict at the
    end differs from the one before does it become a revision (`settle`).
    """

    def __init__(self, ledger: Ledger, source: int, generation: int, changed_us: int, rank: int = 0) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._source = source
        self._generation = generation
        self._changed_us = changed_us
        self._rank = rank
        """The source's authority: where a higher one speaks of a membership, this one's verdict does not count."""
        self._before: dict[int, tuple[int, int, int, int, int]] = {}
        self._unsettled = authority.Unsettled(ledger)
        self._touched: set[int] = set()
        self._masked = masked.Change()
        self._edits = Edits(ledger)
        self._forgotten = tombstones.Known(ledger)
        self._expect_new = True
        """Whether the last item was new: then the next is tried as a new one first."""
        self._fresh: int | None = None
        """The item that was just made and is in no session yet."""
        self.open = False
        """Whether what is shown from now on comes from lines that will be decoded again."""
        self._reopened = {
            row for (row,) in self._db.execute("SELECT membership FROM shown WHERE source = ? AND open = 1", (source,))
        }
        self.new_items = 0

    def refuses(self, session: int, parent: SessionId | None) -> bool:
        """Whether nothing of a session is taken in: it was forgotten, or the one it was spawned by was."""
        if self._forgotten.none or not self._forgotten.session(session, parent):
            return False
        its_id = self._db.execute("SELECT id FROM session WHERE row = ?", (session,)).fetchone()[0]
        tombstones.put(self._ledger, tombstones.Tombstone("session", its_id))
        return True

    def left_out(self, session: int, parent: SessionId | None) -> tuple[tombstones.Field, ...]:
        """The facts of a session that were forgotten."""
        return self._forgotten.fields(session, parent)

    def stood_here(self, session: int, place: tuple[int, int], kind: Kind, body: Body) -> bool:
        """Whether this very text was forgotten, under another id, at this place of the session."""
        return not self._forgotten.none and tombstones.stood_at(self._ledger, session, place, kind, body.text)

    def forget(self, item_id: ItemId) -> None:
        """An item that is about to come is one that was forgotten."""
        tombstones.put(self._ledger, tombstones.of_item(item_id))

    def erased(self, item: int) -> bool:
        """Whether an item has no text any more because it was forgotten."""
        return not self._forgotten.none and self._forgotten.erased(item)

    def find_keyless(self, session: int, raw_print: bytes) -> ItemId | None:
        """The id of the item without a key that has this keyed hash."""
        found = self._db.execute(
            "SELECT i.id FROM keyless k JOIN item i ON i.row = k.item WHERE k.session = ? AND k.print = ?",
            (session, raw_print),
        ).fetchone()
        return ItemId(found[0]) if found else None

    def remember_keyless(self, session: int, raw_print: bytes, item: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO keyless VALUES (?, ?, ?)", (session, raw_print, item))

    def taken(self, item_id: ItemId) -> bool:
        """Whether an item has this id already."""
        return self._db.execute("SELECT 1 FROM item WHERE id = ?", (item_id,)).fetchone() is not None

    def item(self, item: NewItem, session: int) -> int:
        """Store an item, first seen in `session`, or its new edition; returns its row."""
        if self._forgotten.none and self._expect_new and (new := self._made(item, session)):
            return new
        found = self._db.execute(
            "SELECT row, time_us, time_flag, text, packed, path, exit_status FROM item WHERE id = ?", (item.id,)
        ).fetchone()
        if not self._forgotten.none and self._is_forgotten(item, session, found[0] if found else None):
            return self._without_text(item, session, found[0] if found else None)
        self._expect_new = found is None
        if found is None:
            new = self._made(item, session)
            assert new is not None
            return new
        row: int = found[0]
        time_us, time_flag, blob, packed, path, exit_status = found[1:]
        old_text = unpack(blob, packed)
        if not self._forgotten.none and item.text != old_text and self._forgotten.text(item.kind, item.text):
            self._grown_into_forgotten(item, row, blob, packed)
            return row
        # A fork or an older copy may hold less of a growing answer: there the longer edition stands, however often it
        # is read.
        shorter = len(item.text) < len(old_text) and old_text.startswith(item.text)
        text = old_text if shorter and self._others_show(row) else item.text
        if item.lesser and len(item.text) < len(old_text):
            text = old_text
        # Copies get new times; the earliest given one is the true one whatever is read first.
        earlier = item.time_flag is Time.GIVEN and (time_flag != Time.GIVEN or item.time_us < time_us)
        new_time = (item.time_us, item.time_flag) if earlier else (time_us, time_flag)
        new_exit = exit_status if item.exit_status is None else item.exit_status
        new_path = item.path or path
        if (text, *new_time, new_exit, new_path) == (old_text, time_us, time_flag, exit_status, path):
            return row
        standing = authority.of_item(self._ledger, row)
        if standing > self._rank:
            text = old_text
            new_exit = item.exit_status if exit_status is None else exit_status
            new_path = path or item.path
        elif standing < self._rank:
            text = item.text
        if (text, *new_time, new_exit, new_path) == (old_text, time_us, time_flag, exit_status, path):
            return row
        self._edits.begin(row)
        if text != old_text:
            blob_new, packed_new = pack(text)
            self._db.execute(
                "UPDATE item SET text = ?, packed = ?, chars = ? WHERE row = ?", (blob_new, packed_new, len(text), row)
            )
            self._edits.owe(row, blob, packed)
            self._masked.text(text, old_text)
        self._db.execute(
            "UPDATE item SET time_us = ?, time_flag = ?, exit_status = ?, path = ? WHERE row = ?",
            (*new_time, new_exit, new_path, row),
        )
        return row

    def _is_forgotten(self, item: NewItem, session: int, row: int | None) -> bool:
        if row is not None:
            return self._forgotten.erased(row)
        return (
            self._forgotten.item(item.id)
            or self._forgotten.session(session)
            or self._forgotten.text(item.kind, item.text)
        )

    def _without_text(self, item: NewItem, session: int, row: int | None) -> int:
        """The row of an item that was forgotten, made when it is new: its id and its place, and nothing of it."""
        if row is None:
            row = self._db.execute(
                "INSERT INTO item (id, kind, said_by, time_us, time_flag, text, packed, chars, home, origin)"
                " VALUES (?, ?, ?, ?, ?, x'', 0, 0, ?, 1)",
                (item.id, item.kind, item.said_by, item.time_us, item.time_flag, session),
            ).lastrowid
            assert row is not None
            self._ledger.number(RecordKind.ITEM, row, 1)
            tombstones.remember_print(self._ledger, row, item.text)
            tombstones.put(self._ledger, tombstones.of_item(item.id))
        # Under newer rules the same text may read otherwise: its hash is taken anew whenever it comes by.
        tombstones.put_text(self._ledger, item.kind, item.text)
        return row

    def _grown_into_forgotten(self, item: NewItem, row: int, blob: bytes, packed: int) -> None:
        """A text that was not known by its beginning is one that was forgotten: the item goes."""
        self._edits.begin(row)
        self._db.execute(
            "UPDATE item SET text = x'', packed = 0, chars = 0, path = NULL, exit_status = NULL WHERE row = ?", (row,)
        )
        self._edits.owe(row, blob, packed)
        self._masked.text("", unpack(blob, packed))
        tombstones.remember_print(self._ledger, row, item.text)
        tombstones.put(self._ledger, tombstones.of_item(item.id))
        tombstones.owe(self._ledger)
        for (session,) in self._db.execute("SELECT session FROM membership WHERE item = ?", (row,)).fetchall():
            self._unsettled.moved(session)

    def _made(self, item: NewItem, session: int) -> int | None:
        """The row of an item that was not there; None when it is."""
        blob, packed = item.body.stored()
        chars = item.body.chars
        made = self._db.execute(
            "INSERT INTO item (id, kind, said_by, time_us, time_flag, given_us, path, exit_status, text, packed,"
            " chars, home, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO NOTHING",
            (
                item.id, item.kind, item.said_by, item.time_us, item.time_flag, item.given_us, item.path,
                item.exit_status, blob, packed, chars, session,
            ),
        )  # fmt: skip
        new = made.lastrowid if made.rowcount else None
        if new is not None:
            self._ledger.number(RecordKind.ITEM, new, 1)
            self._masked.kinds(item.body.kinds)
            self._edits.made(new, owed=bool(chars))
            self._fresh = new
            self.new_items += 1
        return new

    def finish(self, item_id: ItemId, exit_status: ExitStatus) -> None:
        """Set the exit status of an item that was stored before; without such an item nothing happens."""
        found = self._db.execute("SELECT row, exit_status FROM item WHERE id = ?", (item_id,)).fetchone()
        if found is None or found[1] == exit_status or exit_status is None:
            return
        if self.erased(found[0]):
            return
        self._edits.begin(found[0])
        self._db.execute("UPDATE item SET exit_status = ? WHERE row = ?", (exit_status, found[0]))

    def member(
        self, session: int, item: int, place: tuple[int, int], turn: int | None, state: State, *, message: bool = False
    ) -> None:
        """Say that this source shows `item` in `session` at `place` (byte position of its line, n-th in it).

        `message`: the place is that of a message, which can be cut off: shown again after it was abandoned in this
        reading, it lives again, at its new place.
        """
        fresh, self._fresh = item == self._fresh, None
        found = None if fresh else self._membership(session, item)
        if found is None:
            self._unsettled.placed(session, place, self._rank)
            row = self._db.execute(
                "INSERT INTO membership (session, item, pos, sub, said, state, authority, origin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
                (session, item, *place, state, state, self._rank),
            ).lastrowid
            assert row is not None
            self._ledger.number(RecordKind.MEMBERSHIP, row, 1)
            self._touched.add(session)
            if not fresh:
                self._touch_holders(item)
            if not self._forgotten.none and (self._forgotten.session(session) or self._forgotten.erased(item)):
                self._unsettled.moved(session)
        else:
            row = found[0]
            seen = self._db.execute(
                "SELECT generation FROM shown WHERE source = ? AND membership = ?", (self._source, row)
            ).fetchone()
            if seen and seen[0] == self._generation:
                self._reopen(row)
                if not (message and found[3] == State.ABANDONED and state is State.LIVE):
                    return  # A row appended again adds nothing: the first place stands.
                self._change(row, place, state)
            elif seen or found[4] < self._rank or not self._shown_elsewhere(row):
                self._change(row, place, state)
            elif found[3] != State.LIVE and state is State.LIVE:
                self._change(row, (found[1], found[2]), state)
        self._db.execute(
            "INSERT INTO shown (source, membership, generation, turn, at, open) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (source, membership) DO UPDATE SET"
            " generation = excluded.generation, turn = excluded.turn, at = excluded.at, open = excluded.open",
            (self._source, row, self._generation, turn, place[0] if message else None, self.open),
        )
        self._reopened.discard(row)

    def _membership(self, session: int, item: int) -> tuple[int, int, int, int, int] | None:
        """(row, pos, sub, said, authority)"""
        found: tuple[int, int, int, int, int] | None = self._db.execute(
            "SELECT row, pos, sub, said, authority FROM membership WHERE session = ? AND item = ?", (session, item)
        ).fetchone()
        return found

    def _reopen(self, row: int) -> None:
        """An item of an open unit is shown again, by the unit as it is now."""
        if row in self._reopened:
            self._reopened.remove(row)
            if not self.open:
                self._db.execute("UPDATE shown SET open = 0 WHERE source = ? AND membership = ?", (self._source, row))

    def forget_open(self) -> None:
        """Hide what the open unit showed when it was shorter and shows no more: it is something else now."""
        for row in self._reopened:
            pos, sub = self._db.execute("SELECT pos, sub FROM membership WHERE row = ?", (row,)).fetchone()
            self._db.execute("DELETE FROM shown WHERE source = ? AND membership = ?", (self._source, row))
            if not self._shown_elsewhere(row):
                self._change(row, (pos, sub), State.HIDDEN)
        self._reopened.clear()

    def first_prompt(self, session: int) -> int | None:
        """The first prompt of a session, by its place."""
        found = self._db.execute(
            "SELECT m.item FROM membership m JOIN item i ON i.row = m.item WHERE m.session = ? AND i.kind = ?"
            " ORDER BY m.pos, m.sub LIMIT 1",
            (session, Kind.PROMPT),
        ).fetchone()
        return found[0] if found else None

    def hide(self, session: int, item_id: ItemId) -> None:
        """Hide an item in this session."""
        found = self._db.execute(
            "SELECT m.row, m.pos, m.sub FROM membership m JOIN item i ON i.row = m.item"
            " WHERE m.session = ? AND i.id = ?",
            (session, item_id),
        ).fetchone()
        if found:
            self._change(found[0], (found[1], found[2]), State.HIDDEN)

    def supersede(self, membership: int) -> None:
        """Another text stands where this one stood: it is abandoned in its session."""
        pos, sub, said = self._db.execute(
            "SELECT pos, sub, said FROM membership WHERE row = ?", (membership,)
        ).fetchone()
        if said == State.LIVE:
            self._change(membership, (pos, sub), State.ABANDONED)

    def unshow(self, session: int, item_id: ItemId) -> State:
        """Take back that this reading showed an item, as if only an earlier one had; returns its state until now."""
        row, said = self._db.execute(
            "SELECT m.row, m.said FROM membership m JOIN item i ON i.row = m.item WHERE m.session = ? AND i.id = ?",
            (session, item_id),
        ).fetchone()
        self._db.execute(
            "UPDATE shown SET generation = ? WHERE source = ? AND membership = ?",
            (self._generation - 1, self._source, row),
        )
        return State(said)

    def stands_at(self, pos: int, but: int) -> bool:
        """Whether this source shows any live message at this place, in this reading, but the item `but`."""
        found = self._db.execute(
            "SELECT 1 FROM shown s JOIN membership m ON m.row = s.membership"
            " WHERE s.source = ? AND s.generation = ? AND m.said = 0 AND s.at = ? AND m.item <> ? LIMIT 1",
            (self._source, self._generation, pos, but),
        ).fetchone()
        return found is not None

    def rewind(self, pos: int | None, but: int | None = None) -> None:
        """Abandon all messages this source shows in this reading at `pos` (None: anywhere) and after, but one item."""
        rows = self._db.execute(
            "SELECT m.row, m.pos, m.sub FROM shown s JOIN membership m ON m.row = s.membership"
            " WHERE s.source = ? AND s.generation = ? AND m.said = 0 AND (? IS NULL OR s.at >= ?)"
            " AND m.item IS NOT ?",
            (self._source, self._generation, pos, pos, but),
        ).fetchall()
        for row, its_pos, sub in rows:
            self._change(row, (its_pos, sub), State.ABANDONED)

    def rollback(self, session: int, turns: int, before: int) -> None:
        """Abandon the last `turns` live prompts above byte position `before`, and all from the first of them on.

        What this very line abandoned before counts as live: it may be read twice (a last line without its newline).
        """
        prompts = self._db.execute(
            "SELECT m.pos FROM membership m JOIN item i ON i.row = m.item"
            " JOIN shown s ON s.membership = m.row AND s.source = ? AND s.generation = ?"
            " WHERE m.session = ? AND (m.said = 0 OR m.rolled = ?) AND m.pos < ? AND i.kind = ? AND i.said_by = ?"
            " ORDER BY m.pos DESC, m.sub DESC LIMIT ?",
            (self._source, self._generation, session, before, before, Kind.PROMPT, SaidBy.PERSON, max(0, turns)),
        ).fetchall()
        if not prompts:
            return
        rows = self._db.execute(
            "SELECT m.row, m.pos, m.sub FROM membership m"
            " JOIN shown s ON s.membership = m.row AND s.source = ? AND s.generation = ?"
            " WHERE m.session = ? AND m.said = 0 AND m.pos >= ? AND m.pos < ?",
            (self._source, self._generation, session, prompts[-1][0], before),
        ).fetchall()
        for row, pos, sub in rows:
            self._change(row, (pos, sub), State.ABANDONED, rolled=before)

    def revert(self, session: int, pos: int, time_us: int) -> None:
        """Abandon what was said before `time_us` at `pos` or behind it, whichever source shows it."""
        rows = self._db.execute(
            "SELECT m.row, m.pos, m.sub FROM membership m JOIN item i ON i.row = m.item"
            " WHERE m.session = ? AND m.said = 0 AND m.pos >= ? AND i.time_us < ?",
            (session, pos, time_us),
        ).fetchall()
        for row, at, sub in rows:
            self._change(row, (at, sub), State.ABANDONED)

    def abandon_turns(self, turns: list[int]) -> None:
        """Abandon every live membership that this source shows in one of these turns of its tree."""
        self._turn(turns, State.LIVE, State.ABANDONED)

    def revive_turns(self, turns: list[int]) -> None:
        """Let every abandoned membership that this source shows in one of these turns of its tree live again."""
        self._turn(turns, State.ABANDONED, State.LIVE)

    def _turn(self, turns: list[int], before: State, after: State) -> None:
        for turn in turns:
            rows = self._db.execute(
                "SELECT m.row, m.pos, m.sub FROM shown s JOIN membership m ON m.row = s.membership"
                " WHERE s.turn = ? AND s.source = ? AND m.said = ?",
                (turn, self._source, before),
            ).fetchall()
            for row, pos, sub in rows:
                self._change(row, (pos, sub), after)

    def go_back(self, pos: int) -> None:
        """Everything this source shows at `pos` and after it is about to be shown again, or not any more."""
        self._db.execute(
            "UPDATE shown SET generation = ? WHERE source = ? AND generation = ?"
            " AND membership IN (SELECT m.row FROM shown s JOIN membership m ON m.row = s.membership"
            "  WHERE s.source = ? AND m.pos >= ?)",
            (self._generation - 1, self._source, self._generation, self._source, pos),
        )

    def vanish(self, window: int | None = None) -> None:
        """After a whole reading: what this source showed before and no longer does, and no other does, is abandoned.

        Messages that stood before `window` stay as they were: the log begins there now.
        """
        gone = self._db.execute(
            "SELECT s.membership, m.pos, m.sub, m.said FROM shown s JOIN membership m ON m.row = s.membership"
            " WHERE s.source = ? AND s.generation < ? AND (? IS NULL OR s.at IS NULL OR s.at >= ?)",
            (self._source, self._generation, window, window),
        ).fetchall()
        for row, pos, sub, said in gone:
            self._db.execute("DELETE FROM shown WHERE source = ? AND membership = ?", (self._source, row))
            if said == State.LIVE and not self._shown_elsewhere(row):
                self._change(row, (pos, sub), State.ABANDONED)

    def settle(self) -> None:
        """Number what really changed, and mark the sessions it changed in."""
        for edited in self._edits.settle():
            self._touch_holders(edited)
        for session, item in self._unsettled.settle():
            self._touched.add(session)
            self._touch_holders(item)
        for row, before in self._before.items():
            pos, sub, said, rank, state, rev, session, item = self._db.execute(
                "SELECT pos, sub, said, authority, state, rev, session, item FROM membership WHERE row = ?", (row,)
            ).fetchone()
            if (pos, sub, said, rank) != before[:4]:
                self._db.execute("UPDATE membership SET rev = ?, origin = 1 WHERE row = ?", (rev + 1, row))
                self._ledger.number(RecordKind.MEMBERSHIP, row, rev + 1)
            if state != before[4]:
                self._touched.add(session)
                self._touch_holders(item)
        for session in sorted(self._touched):
            sessions.mark_dirty(self._ledger, session, self._changed_us)
        self._masked.save(self._ledger)
        self._before.clear()
        self._touched.clear()

    def _change(self, row: int, place: tuple[int, int], state: State, rolled: int | None = None) -> None:
        pos, sub, said, rank, shown_as, session = self._db.execute(
            "SELECT pos, sub, said, authority, state, session FROM membership WHERE row = ?", (row,)
        ).fetchone()
        if rank > self._rank:
            return
        self._before.setdefault(row, (pos, sub, said, rank, shown_as))
        self._db.execute(
            "UPDATE membership SET pos = ?, sub = ?, said = ?, rolled = ?, authority = ?,"
            " state = CASE WHEN state = said THEN ? ELSE state END WHERE row = ?",
            (*place, state, rolled, self._rank, state, row),
        )
        if (*place, state, self._rank) != (pos, sub, said, rank):
            self._unsettled.moved(session)

    def _others_show(self, item: int) -> bool:
        """Whether another source shows the item, in whatever session."""
        found = self._db.execute(
            "SELECT 1 FROM membership m JOIN shown s ON s.membership = m.row AND s.source <> ?"
            " WHERE m.item = ? LIMIT 1",
            (self._source, item),
        ).fetchone()
        return found is not None

    def _shown_elsewhere(self, membership: int) -> bool:
        """Whether another source that has at least this one's authority shows it."""
        found = self._db.execute(
            "SELECT 1 FROM shown s JOIN source o ON o.row = s.source"
            " WHERE s.membership = ? AND s.source <> ? AND o.authority >= ? LIMIT 1",
            (membership, self._source, self._rank),
        ).fetchone()
        return found is not None

    def _touch_holders(self, item: int) -> None:
        for (session,) in self._db.execute("SELECT session FROM membership WHERE item = ?", (item,)):
            self._touched.add(session)
