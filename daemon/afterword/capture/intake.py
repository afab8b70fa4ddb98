"""Events of one source → redacted items in the ledger, inside one transaction.

The way of every text: it is redacted here, before anything else sees it; raw text is never stored, not even as a
hash somebody else could test guesses on.
"""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from afterword.domain.clock import DAY_US
from afterword.domain.events import BadLine, Decoded, Drop, Facts, Finish, Item, Key, Rollback, Row, Skipped
from afterword.domain.ids import ItemId, item_id
from afterword.domain.items import Kind, SaidBy, Time
from afterword.redact.redactor import Redactor
from afterword.store.ledger import sessions, sources
from afterword.store.ledger.items import NewItem, State, Writer
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.tree import Placed, Tree

_YEAR_2000_US = 946_684_800_000_000
_SESSIONS_REMEMBERED = 32


class Memory(msgspec.Struct):
    """What the intake of a source remembers between transactions; stored beside the decoder's state."""

    last_us: dict[str, int] = {}
    """Session row → time of the last item, for items that come without one."""


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
    ) -> None:
        self._ledger = ledger
        self._redactor = redactor
        self._source = source
        self._writer = Writer(ledger, source.row, source.at.generation, changed_us)
        self._tree = Tree(ledger, source.row)
        self._now_us = now_us
        self._memory = memory
        self._rows: dict[str, int] = {}
        self._facts: dict[int, sessions.SessionFacts] = {}
        self._facts_read: dict[int, bytes] = {}
        self._drift: dict[str, int] = {}
        self.new_items = 0

    def start_over(self) -> None:
        """The source is about to be read again from its start."""
        self._tree.clear()
        sources.reset_counts(self._ledger, self._source.row)

    def line(self, decoded: Sequence[Decoded], pos: int, line_number: int) -> None:
        """Take in what one line gave."""
        placed: Placed | None = None
        for sub, event in enumerate(decoded):
            match event:
                case Row():
                    placed = self._tree.place(event.node, event.parent, pos, event.prompt)
                    if placed.rewound:
                        self._writer.abandon_turns(placed.rewound)
                case Item():
                    if not (placed and placed.repeated):
                        self._item(event, (pos, sub), placed)
                case Finish():
                    self._writer.finish(self._id(event.kind, event.key), event.exit_status)
                case Drop():
                    self._writer.hide(self._session(event.session), self._id(event.kind, event.key))
                case Rollback():
                    self._writer.rollback(self._session(event.session), event.turns, pos)
                case Facts():
                    self._learn(event)
                case BadLine():
                    sources.count_trouble(self._ledger, self._source.row, line_number, event.reason, bad=True)
                case Skipped():
                    self._drift[event.record_type] = self._drift.get(event.record_type, 0) + 1
                case _:
                    assert_never(event)

    def oversized(self, session: str, size: int, head: bytes, pos: int, line_number: int) -> None:
        """Note a line that was too long to read: a `meta` item of its size, found again by a hash of its head."""
        sources.count_trouble(
            self._ledger, self._source.row, line_number, f"a line of {size:,} bytes was left out", bad=False
        )
        note = Item(session, None, Kind.META, f"[left out: a line of {size:,} bytes]", None, SaidBy.MACHINE)
        self._item(note, (pos, 0), None, b"%d " % size + head)

    def close(self, *, whole: bool) -> None:
        """Settle what changed. `whole`: the source was read from its start to its end, so what it no longer shows
        is abandoned."""
        if whole:
            self._writer.vanish()
        for row, facts in self._facts.items():
            encoded = msgspec.json.encode(facts)
            if encoded != self._facts_read[row]:
                sessions.set_facts(
                    self._ledger, row, self._redactor.document(msgspec.to_builtins(facts), plain=sessions.PLAIN)
                )
        for record_type, count in self._drift.items():
            sources.count_drift(self._ledger, self._source.harness, self._redactor.redact(record_type[:60]), count)
        self._writer.settle()
        self.new_items = self._writer.new_items

    def _id(self, kind: Kind, key: Key) -> ItemId:
        return item_id(self._source.harness, kind.word, key)

    def _session(self, native: str) -> int:
        row = self._rows.get(native)
        if row is None:
            # A session is found again by its id: a person's own patterns must not change it.
            row = sessions.row_of(self._ledger, self._source.harness, self._redactor.plain(native))
            self._rows[native] = row
        return row

    def _item(self, event: Item, place: tuple[int, int], placed: Placed | None, raw: bytes | None = None) -> None:
        session = self._session(event.session)
        time_us, time_flag = self._time(event.time_us, session)
        text = self._redactor.redact(event.text)
        fresh_print: bytes | None = None
        if event.key is not None:
            its_id = self._id(event.kind, event.key)
        else:
            its_id, fresh_print = self._keyless(event, session, time_us, raw)
        row = self._writer.item(
            NewItem(
                id=its_id,
                kind=event.kind,
                said_by=event.said_by,
                text=text,
                time_us=time_us,
                time_flag=time_flag,
                given_us=event.time_us if time_flag is Time.ODD else None,
                path=self._redactor.redact(event.path) if event.path else None,
                exit_status=event.exit_status,
            ),
            session,
        )
        if fresh_print:
            self._writer.remember_keyless(session, fresh_print, row)
        state = State.ABANDONED if placed and placed.dead else State.LIVE
        self._writer.member(session, row, place, placed.turn if placed else None, state)
        if event.kind is Kind.PROMPT and event.said_by is SaidBy.PERSON:
            facts = self._facts_of(session)
            if not facts.title_rank and not facts.title:
                facts.title = sessions.title_of(text)

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
        """Whether a time may be a session's: not 1970, not in the future."""
        return at_us is not None and _YEAR_2000_US <= at_us <= self._now_us + DAY_US

    def _keyless(self, event: Item, session: int, time_us: int, raw: bytes | None) -> tuple[ItemId, bytes | None]:
        """The id of an item without a key: its row by a keyed hash of the raw item, else the next free number.

        Returns:
            The id, and the hash to remember when the item is new.
        """
        data = raw if raw is not None else event.text.encode("utf-8", "surrogatepass")
        head = f"{event.kind.word}|{event.time_us or 0}|{len(data)}|".encode()
        raw_print = self._ledger.keyed_hash(head + data, 16)
        known = self._writer.find_keyless(session, raw_print)
        if known:
            return known, None
        number = 0
        while self._writer.taken(its_id := self._id(event.kind, (event.session, event.kind.word, time_us, number))):
            number += 1
        return its_id, raw_print

    def _facts_of(self, session: int) -> sessions.SessionFacts:
        facts = self._facts.get(session)
        if facts is None:
            facts = self._facts[session] = sessions.facts_of(self._ledger, session)
            self._facts_read[session] = msgspec.json.encode(facts)
        return facts

    def _learn(self, event: Facts) -> None:
        facts = self._facts_of(self._session(event.session))
        facts.cwd = facts.cwd or event.cwd or ""
        if facts.started_us is None and self._sane(event.started_us):
            facts.started_us = event.started_us
        if event.title and event.title_rank >= facts.title_rank:
            facts.title, facts.title_rank = event.title, event.title_rank
        if event.archived is not None:
            facts.archived = event.archived
        facts.branch = event.branch or facts.branch
        facts.model = event.model or facts.model
        facts.parent = event.parent or facts.parent
        facts.agent = event.agent or facts.agent
        facts.spawned_by = event.spawned_by or facts.spawned_by
        facts.forked_from = event.forked_from or facts.forked_from
        facts.continued_from = event.continued_from or facts.continued_from
