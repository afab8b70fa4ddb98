"""Events of one source → redacted items in the ledger, inside one transaction.

The way of every text: it is redacted here, before anything else sees it; raw text is never stored, not even as a
hash somebody else could test guesses on.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

import msgspec

from afterword.capture.gate import Passing
from afterword.capture.places import Places
from afterword.capture.prepared import Prepare, Ready, ReadyFacts, ReadyItem
from afterword.capture.project import Looked, look, remembered
from afterword.domain.clock import DAY_US
from afterword.domain.events import (
    BadLine,
    Decoded,
    Drop,
    Facts,
    Finish,
    Item,
    Key,
    Message,
    Place,
    Revert,
    Rewind,
    Rollback,
    Row,
    Skipped,
    Window,
)
from afterword.domain.ids import ItemId, SessionId, item_id, session_id
from afterword.domain.items import Kind, SaidBy, Time
from afterword.redact.redactor import Redactor
from afterword.store.ledger import drift, sessions, sources
from afterword.store.ledger.body import Body
from afterword.store.ledger.copies import Copies
from afterword.store.ledger.generations import Generations, Ids
from afterword.store.ledger.items import NewItem, State, Writer
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.tree import Placed, Tree

_YEAR_2000_US = 946_684_800_000_000
_SESSIONS_REMEMBERED = 32
_REVERTS_MAX = 200
UNKNOWN_REWIND = "a rewind to a message that is not there abandoned everything before it"
_LAST_WINS = ("branch", "model", *sessions.PLAIN)


def _guessed(cwd: str) -> bool:
    """Whether a working folder is only a name that was made from its path: a path stands instead once one is given."""
    return "/" not in cwd and "\\" not in cwd


class Memory(msgspec.Struct):
    """What the intake of a source remembers between transactions; stored beside the decoder's state."""

    last_us: dict[str, int] = {}
    """Session row → time of the last item, for items that come without one."""
    version: str = ""
    """The agent's, as said last."""
    counted: int = 0
    """The last line whose troubles were counted; a line may be read several times before the position passes it."""
    copied: dict[str, list[int]] = {}
    """How far the session that one was forked from is matched: see `copies`."""


class Intake:
    """Takes one source's decoded lines in. Lives for one transaction; `close` before the commit."""

    def __init__(
        self,
        ledger: Ledger,
        redactor: Redactor,
        source: sources.Source,
        *,
        changed_us: int,
        now_us: int,
        memory: Memory,
        passing: Passing | None = None,
    ) -> None:
        """`passing` says what of the events may come in; without one all of them do."""
        self._ledger = ledger
        self._passing = passing
        self._redactor = redactor
        self._source = source
        self._writer = Writer(ledger, source.row, source.at.generation, changed_us, source.authority)
        self._places = Places(Generations(ledger, source.row, source.at.generation), self._writer)
        self._copies = Copies(ledger, memory.copied)
        self._again = False
        self._window: int | None = None
        self._tree = Tree(ledger, source.row)
        self._now_us = now_us
        self._memory = memory
        self._rows: dict[str, int] = {}
        self._facts: dict[int, sessions.SessionFacts] = {}
        self._facts_read: dict[int, bytes] = {}
        self._drift: dict[tuple[str, str], int] = {}
        self._prepare = Prepare(redactor, ledger)
        self._before_open: bytes | None = None
        self.new_items = 0

    def start_over(self) -> None:
        """The source is about to be read again from its start, and to its end."""
        self._again = True
        self._tree.clear()
        sources.reset_counts(self._ledger, self._source.row)

    def open_unit(self) -> None:
        """What comes now is decoded again, with what follows, when the file has grown."""
        self._writer.open = True
        self._before_open = msgspec.json.encode(self._memory)

    @property
    def memory(self) -> Memory:
        """What is to be remembered when the next transaction goes on from here: nothing that an open unit said, but
        that its troubles were counted."""
        if self._before_open is None:
            return self._memory
        before = msgspec.json.decode(self._before_open, type=Memory)
        before.counted = self._memory.counted
        return before

    def resume(self, since: int, last_us: dict[str, int]) -> None:
        """Everything from record `since` on is about to be read again; before it all is as it was, and `last_us` has
        the time of the last item there by its session."""
        self._again = True
        self._writer.go_back(since)
        sources.reset_counts(self._ledger, self._source.row)
        for native, time_us in last_us.items():
            self._time(time_us, self._session(native))

    def line(self, decoded: Sequence[Decoded], pos: int, line_number: int) -> None:
        """Take in what one line gave.

        Raises:
            Shut: it belongs to a session that is left out: nothing of it, nor of what follows, is to be taken in.
        """
        if self._passing:
            decoded = self._passing(self._ledger, decoded, pos)
        self._take(self._prepare.events(decoded), pos, line_number)

    def take(self, ready: Sequence[Ready], pos: int, line_number: int) -> None:
        """The same with events that somebody has made ready; nothing in their facts may be masked that decides whether
        a session is left out."""
        if self._passing:
            plain = [_plain(event) for event in ready]
            kept = set(map(id, self._passing(self._ledger, plain, pos)))
            ready = [event for event, own in zip(ready, plain, strict=True) if id(own) in kept]
        self._take(ready, pos, line_number)

    def _take(self, ready: Sequence[Ready], pos: int, line_number: int) -> None:
        placed: Placed | None = None
        message: int | None = None
        messages = 0
        counted = line_number <= self._memory.counted
        self._memory.counted = max(self._memory.counted, line_number)
        for sub, event in enumerate(ready):
            match event:
                case Message():
                    message = self._tree.message(event.node, pos + messages if event.at is None else event.at)
                    messages += 1
                case Row():
                    placed = self._tree.place(event.node, event.parent, pos, event.prompt, event.path)
                    self._writer.abandon_turns(placed.rewound)
                    self._writer.revive_turns(placed.revived)
                case ReadyItem():
                    if not (placed and placed.repeated):
                        at = pos if message is None else message
                        nth = sub if event.event.nth is None else event.event.nth
                        self._item(event, (at, nth), placed, message=message is not None)
                case Finish():
                    self._writer.finish(self._meant(event), event.exit_status)
                case Drop():
                    self._writer.hide(self._session(event.session), self._meant(event))
                case Place():
                    pos = event.pos
                case Revert():
                    self._revert(event)
                case Rollback():
                    self._writer.rollback(self._session(event.session), event.turns, pos)
                case Rewind():
                    self._rewind(event, pos, None if counted else line_number)
                case Window():
                    self._window = event.at
                case ReadyFacts():
                    self._learn(event.facts, event.looked)
                case BadLine():
                    if not counted:
                        sources.count_trouble(self._ledger, self._source.row, line_number, event.reason, bad=True)
                case Skipped():
                    if not counted:
                        unknown = (self._memory.version, event.record_type)
                        self._drift[unknown] = self._drift.get(unknown, 0) + 1
                case _:
                    assert_never(event)

    def _rewind(self, event: Rewind, pos: int, line_number: int | None) -> None:
        stood = self._tree.cut(event.node, pos)
        if stood is None and line_number is not None:
            sources.count_trouble(self._ledger, self._source.row, line_number, UNKNOWN_REWIND, bad=False)
        self._writer.rewind(stood)

    def oversized(self, session: str, size: int, head: bytes, pos: int, line_number: int) -> None:
        """Note a line that was too long to read: a `meta` item of its size, found again by a hash of its head."""
        self.take_oversized(self._prepare.oversized(session, size, head), size, pos, line_number)

    def take_oversized(self, note: ReadyItem, size: int, pos: int, line_number: int) -> None:
        """The same with a note that somebody has made ready."""
        self.left_out(line_number, f"a line of {size:,} bytes was left out")
        self._item(note, (pos, 0), None)

    def left_out(self, line_number: int, reason: str) -> None:
        """Count something that was not read, by the line it stands at or begins with."""
        sources.count_trouble(self._ledger, self._source.row, line_number, reason, bad=False)

    def close(self, *, whole: bool) -> None:
        """Settle what changed. `whole`: the source was read from its start to its end, so what it no longer shows
        is abandoned."""
        self._places.settle()
        if not self._again:
            self._writer.forget_open()
        if whole:
            self._writer.vanish(self._window)
        for row, facts in self._facts.items():
            self._leave_out(facts, row)
            encoded = msgspec.json.encode(facts)
            if encoded != self._facts_read[row]:
                sessions.set_facts(
                    self._ledger, row, self._redactor.document(msgspec.to_builtins(facts), plain=sessions.PLAIN)
                )
        for (version, record_type), count in self._drift.items():
            said = self._redactor.redact(version or self._memory.version), self._redactor.redact(record_type[:60])
            drift.count(self._ledger, self._source.row, *said, count)
        if self.bare:
            sources.hide_path(self._ledger, self._source.row)
        self._writer.settle()
        self.new_items = self._writer.new_items

    def _id(self, kind: Kind, key: Key) -> ItemId:
        return item_id(self._source.harness, kind.word, key)

    def _ids(self, kind: Kind, key: Key) -> Ids:
        """The ids of a positional key's generations; the first is the plain key's."""
        made: list[ItemId] = []

        def its(generation: int) -> ItemId:
            while len(made) <= generation:
                made.append(self._id(kind, (*key, f"~{len(made)}") if made else key))
            return made[generation]

        return its

    def _meant(self, event: Finish | Drop) -> ItemId:
        """The id of the earlier item that an event is about."""
        if event.positional:
            return self._places.current(self._session(event.session), self._ids(event.kind, event.key))
        return self._id(event.kind, event.key)

    def _session(self, native: str) -> int:
        row = self._rows.get(native)
        if row is None:
            # A session is found again by its id: a person's own patterns must not change it.
            row = sessions.row_of(self._ledger, self._source.harness, self._redactor.plain(native))
            self._rows[native] = row
        return row

    def _item(self, ready: ReadyItem, place: tuple[int, int], placed: Placed | None, *, message: bool = False) -> None:
        event, body = ready.event, ready.body
        session = self._session(event.session)
        time_us, time_flag = self._time(event.time_us, session)
        ids = self._ids(event.kind, event.key or ())
        self._writer.refuses(session, self._parent(session))
        if not event.positional and event.key is not None and self._writer.stood_here(session, place, event.kind, body):
            self._writer.forget(ids(0))
        new = NewItem(
            id=ids(0),
            kind=event.kind,
            said_by=event.said_by,
            body=body,
            time_us=time_us,
            time_flag=time_flag,
            given_us=event.time_us if time_flag is Time.ODD else None,
            path=ready.path,
            exit_status=event.exit_status,
            lesser=event.lesser,
        )
        copied = self._copied(event, session, body) if event.copy_of else None
        if copied:
            row = self._writer.item(msgspec.structs.replace(new, id=copied), session)
            self._writer.member(session, row, place, None, State.LIVE, message=True)
        elif event.positional and event.key is not None:
            row, replaced = self._places.put(new, session, ids, place, whole=self._again)
            if event.rewinds and (replaced or self._writer.stands_at(place[0], row)):
                self._writer.rewind(place[0], row)
        else:
            fresh_print: bytes | None = None
            if ready.raw_print is not None:
                its_id, fresh_print = self._keyless(event, session, time_us, ready.raw_print)
                new = msgspec.structs.replace(new, id=its_id)
            row = self._writer.item(new, session)
            if fresh_print:
                self._writer.remember_keyless(session, fresh_print, row)
            left = event.abandoned or (placed and placed.dead) or self._facts_of(session).reverted(place[0], time_us)
            state = State.ABANDONED if left else State.LIVE
            self._writer.member(session, row, place, placed.turn if placed else None, state, message=message)
        if event.kind is Kind.PROMPT and event.said_by is SaidBy.PERSON and not self._writer.erased(row):
            self._name_by(sessions.title_of(body.text), session, row)

    def _parent(self, session: int) -> SessionId | None:
        parent = self._facts_of(session).parent
        return session_id(self._source.harness, parent) if parent else None

    def _leave_out(self, facts: sessions.SessionFacts, session: int) -> None:
        """Take out of a session's facts what was forgotten of it."""
        for name in self._writer.left_out(session, self._parent(session)):
            if name != "title" or facts.title_rank or self._writer.refuses(session, None):
                setattr(facts, name, "")
                facts.title_rank = facts.title_rank if name != "title" else 0

    @property
    def bare(self) -> bool:
        """Whether nothing is kept of where all sessions read here were held: that was forgotten."""
        return bool(self._rows) and all(
            "cwd" in self._writer.left_out(row, self._parent(row)) for row in self._rows.values()
        )

    def _name_by(self, prompt: str, session: int, row: int) -> None:
        """A session without a title goes by its first prompt, also when that was not all there at first."""
        facts = self._facts_of(session)
        grown = bool(facts.title) and prompt != facts.title and prompt.startswith(facts.title)
        if not facts.title_rank and (not facts.title or (grown and self._writer.first_prompt(session) == row)):
            facts.title = prompt

    def _time(self, given: int | None, session: int) -> tuple[int, Time]:
        """The time an item is filed under, and how far it can be trusted."""
        last = self._memory.last_us
        key = str(session)
        if given is not None and self._sane(given):
            last.pop(key, None)
            last[key] = given
            if len(last) > _SESSIONS_REMEMBERED:
                del last[next(iter(last))]
            return given, Time.GIVEN
        filed = last.get(key)
        if filed is None:
            started = self._facts_of(session).started_us
            filed = started if started is not None else self._source.at.first_us
            if not self._sane(filed):
                filed = self._now_us
        return filed, Time.DERIVED if given is None else Time.ODD

    def _sane(self, at_us: int | None) -> bool:
        return sane(at_us, self._now_us)

    def _keyless(self, event: Item, session: int, time_us: int, raw_print: bytes) -> tuple[ItemId, bytes | None]:
        """The id of an item without a key: its row by a keyed hash of the raw item, else the next free number.

        Returns:
            The id, and the hash to remember when the item is new.
        """
        known = self._writer.find_keyless(session, raw_print)
        if known:
            return known, None
        number = 0
        while self._writer.taken(its_id := self._id(event.kind, (event.session, event.kind.word, time_us, number))):
            number += 1
        return its_id, raw_print

    def _copied(self, event: Item, session: int, body: Body) -> ItemId | None:
        """The item of the session it was forked from that an item is a copy of."""
        assert event.copy_of is not None
        assert event.key is not None
        own = self._ids(event.kind, event.key)
        if self._places.holds(session, own, body.text) if event.positional else self._writer.taken(own(0)):
            return None
        origin = sessions.known_row(self._ledger, self._source.harness, event.copy_of)
        return None if origin is None else self._copies.find(session, origin, event.kind, body.text)

    def _facts_of(self, session: int) -> sessions.SessionFacts:
        facts = self._facts.get(session)
        if facts is None:
            facts = self._facts[session] = sessions.facts_of(self._ledger, session)
            self._facts_read[session] = msgspec.json.encode(facts)
        return facts

    def _revert(self, event: Revert) -> None:
        session = self._session(event.session)
        facts = self._facts_of(session)
        if (event.pos, event.time_us) not in facts.reverts:
            facts.reverts = sorted([*facts.reverts, (event.pos, event.time_us)])[-_REVERTS_MAX:]
        self._writer.revert(session, event.pos, event.time_us)

    def _learn(self, event: Facts, looked: Looked | None) -> None:
        session = self._session(event.session)
        facts = self._facts_of(session)
        facts.parent = facts.parent or event.parent or ""
        if "cwd" in self._writer.left_out(session, self._parent(session)):
            event = msgspec.structs.replace(event, cwd=None, folder=None, branch=None, title=None, model=None)
        if event.cwd and (not facts.cwd or (_guessed(facts.cwd) and not _guessed(event.cwd))):
            facts.cwd = event.cwd
        if event.cwd and not facts.root:
            if looked is None or facts.cwd != event.cwd:
                looked = look(self._redactor, facts.cwd, Path.home())
            facts.root = str(remembered(self._ledger, self._redactor, looked) or "")
        facts.folder = facts.folder or event.folder or ""
        if event.version and event.version != self._memory.version:
            said = self._redactor.redact(event.version)
            self._memory.version = str(said)
            drift.written_by(self._ledger, self._source.row, said)
        facts.version = event.version or facts.version
        if facts.started_us is None and self._sane(event.started_us):
            facts.started_us = event.started_us
        if self._source.authority < facts.authority:
            self._fill(facts, event)
            return
        facts.authority = self._source.authority
        if event.title and event.title_rank >= facts.title_rank:
            facts.title, facts.title_rank = event.title, event.title_rank
        if event.archived is not None:
            facts.archived = event.archived
        for name in _LAST_WINS:
            setattr(facts, name, getattr(event, name) or getattr(facts, name))

    def _fill(self, facts: sessions.SessionFacts, event: Facts) -> None:
        """A source of a lower authority only says what no higher one said."""
        if event.title and not facts.title_rank:
            facts.title, facts.title_rank = event.title, event.title_rank
        for name in _LAST_WINS:
            setattr(facts, name, getattr(facts, name) or getattr(event, name) or "")


def _plain(event: Ready) -> Decoded:
    """The event as its decoder gave it, but for its texts."""
    if isinstance(event, ReadyItem):
        return event.event
    return event.facts if isinstance(event, ReadyFacts) else event


def sane(at_us: int | None, now_us: int) -> bool:
    """Whether a time may be a session's: not 1970, not in the future."""
    return at_us is not None and _YEAR_2000_US <= at_us <= now_us + DAY_US
