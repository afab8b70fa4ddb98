"""Due segments → digests → sections in the ledger. Notes are written from there, by `store.notes`."""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Collection

import msgspec

from afterword.compile.engine import Choose, Engine, Waiting, check
from afterword.domain.clock import Zones
from afterword.domain.digest import DigestInput, Passage
from afterword.domain.errors import AfterwordError
from afterword.domain.ids import SegmentKey
from afterword.domain.items import Kind
from afterword.domain.segments import Segment, cut
from afterword.domain.slugs import slug
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger import registers, segments, sessions
from afterword.store.ledger.ledger import Ledger, RecordKind
from afterword.store.ledger.segments import DigestRecord, Dirty, Entry, SectionRecord

_log = logging.getLogger(__name__)

_AGAIN_MAX_US = 30_000_000
_FAILED_AGAIN_US = 600_000_000
_SAID_CHARS = 60_000
_OTHER_CHARS = 6_000


class Flush:
    """Writes sessions up, segment by segment; one transaction a session."""

    def __init__(
        self,
        ledger: Ledger,
        redactor: Redactor,
        engine: Engine,
        zones: Zones,
        *,
        gap_us: int,
        settle_us: int,
        choose: Choose | None = None,
    ) -> None:
        """`choose` says who writes a day's segments up; without it `engine` does."""
        self._ledger = ledger
        self._redactor = redactor
        self._choose: Choose = choose or (lambda _day, _before: engine)
        self._zones = zones
        self._gap_us = gap_us
        self._settle_us = settle_us
        # A session that is still talked in is looked at now and then only: all its items are read for it.
        self._again_us = min(_AGAIN_MAX_US, settle_us // 2)
        self._looked_at: dict[int, tuple[int, int]] = {}
        self._failed: dict[int, int] = {}
        self._waiting: set[int] = set()
        """Sessions about which a model was asked, that has not answered yet."""

    def run(
        self,
        now_us: int,
        *,
        settle_us: int | None = None,
        ended: Collection[int] = (),
        only: Collection[int] | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Write up everything that is due.

        A segment is due when something follows it in its session, or when the session has been quiet for `settle`
        (always, when settle is 0), or when it is among `ended` (session rows). Sessions with nothing new since the
        last look are passed over. `settle_us` is for this run alone; with `only`, so are these sessions.

        Returns:
            How many sections were made or changed.
        """
        self._hand_up()
        settle_us = self._settle_us if settle_us is None else settle_us

        def settled(found: Dirty) -> bool:
            return settle_us == 0 or now_us - found.changed_us >= settle_us or found.row in ended

        dirty = segments.dirty_sessions(self._ledger)
        todo = [
            found
            for found in dirty
            if found.row not in self._waiting
            and (only is None or found.row in only)
            and self._failed.get(found.row, 0) <= now_us
            and (settled(found) or self._due_us(found) <= now_us)
        ]
        made = 0
        for done, session in enumerate(todo):
            if stop():
                break
            on_progress(done, len(todo))
            try:
                made += self._session(session, settled=settled(session))
                self._failed.pop(session.row, None)
            except (sqlite3.Error, OSError):
                raise
            except Waiting:
                self._waiting.add(session.row)
                continue
            except AfterwordError as err:
                _log.warning("a session could not be written up, it is tried again later: %s", err.message)
                self._failed[session.row] = now_us + _FAILED_AGAIN_US
            except Exception:  # noqa: BLE001  # one session that cannot be written up must not keep the others from it
                _log.exception("a session could not be written up, it is tried again later")
                self._failed[session.row] = now_us + _FAILED_AGAIN_US
            self._looked_at[session.row] = (session.dirty, now_us)
        on_progress(len(todo), len(todo))
        return made

    def rewrite(self, key: SegmentKey, engine: Engine) -> bool:
        """Write one segment up once more, by another engine; whether its section says something new.

        A segment that is there no more, or that this engine wrote up as it is now, is left as it is.

        Raises:
            Waiting: a model was asked and has not answered yet.
            AfterwordError: it could not be written up; what stood stands.
        """
        held = segments.section(self._ledger, key)
        if held is None or held[1].withdrawn_by:
            return False
        session = sessions.load(self._ledger, "WHERE s.id = ?", (held[1].session,))[0]
        entries = segments.owned(self._ledger, session.row)
        by_id = {entry.member.item: entry for entry in entries}
        cuts = cut([entry.member for entry in entries], self._gap_us, self._zones.day)
        segment = next((segment for segment in cuts if segment.key == key and segment.written), None)
        if segment is None:
            return False
        reported = _within(segment, segments.reports(self._ledger, session))
        members = [by_id[member.item] for member in segment.members]
        record = self._digest(session, segment, members, reported, engine)
        if record is None:
            return False
        with self._ledger.transaction():
            return self._store(session, segment, record, [*members, *reported])

    def answered(self) -> None:
        """A model answered: the sessions that wait for one are due again."""
        self._waiting.clear()

    def held_up(self) -> int:
        """How many sessions could not be written up and wait for another try: nothing is to wait for those."""
        return sum(found.row in self._failed for found in segments.dirty_sessions(self._ledger))

    @property
    def waits(self) -> bool:
        """Whether a session waits for a model."""
        return bool(self._waiting)

    def next_due_us(self) -> int | None:
        """When the next session is to be looked at; None when none is, or all wait for a model."""
        dirty = [found for found in segments.dirty_sessions(self._ledger) if found.row not in self._waiting]
        return min(map(self._due_us, dirty), default=None)

    def _due_us(self, dirty: Dirty) -> int:
        """When a session is to be looked at: settled, or changed a while after the last look."""
        last = self._looked_at.get(dirty.row)
        if dirty.row in self._failed:
            return self._failed[dirty.row]
        if last is None or self._settle_us == 0:
            return 0
        settled_us = dirty.changed_us + self._settle_us
        return settled_us if last[0] == dirty.dirty else min(settled_us, last[1] + self._again_us)

    def _hand_up(self) -> None:
        """A sub-agent gets no section: its last reply joins its parent's digest, so the parent is looked at again."""
        for dirty in segments.dirty_sessions(self._ledger):
            session = sessions.load(self._ledger, "WHERE s.row = ?", (dirty.row,))[0]
            if not session.facts.parent:
                continue
            parents = sessions.load(
                self._ledger, "WHERE s.harness = ? AND s.native = ?", (session.harness, session.facts.parent)
            )
            with self._ledger.transaction():
                for parent in parents:
                    sessions.mark_dirty(self._ledger, parent.row, dirty.changed_us)
                segments.clean(self._ledger, dirty)

    def _session(self, dirty: Dirty, *, settled: bool) -> int:
        session = sessions.load(self._ledger, "WHERE s.row = ?", (dirty.row,))[0]
        entries = segments.owned(self._ledger, dirty.row)
        by_id = {entry.member.item: entry for entry in entries}
        cuts = cut([entry.member for entry in entries], self._gap_us, self._zones.day)
        reported = segments.reports(self._ledger, session)
        # The engine may take its time: it runs before the transaction, not in it.
        written = []
        waiting: Waiting | None = None
        for segment in cuts if settled else cuts[:-1]:
            if segment.written:
                members = [by_id[member.item] for member in segment.members]
                try:
                    record = self._digest(session, segment, members, _within(segment, reported))
                except Waiting as err:
                    waiting = err  # the others are asked about meanwhile
                    continue
                if record:
                    written.append((segment, record, members))
        if waiting is not None:
            raise waiting
        made = 0
        with self._ledger.transaction():
            for segment, record, members in written:
                made += self._store(session, segment, record, [*members, *_within(segment, reported)])
            if settled:
                made += self._withdraw(session, cuts)
                segments.clean(self._ledger, dirty)
        return made

    def _digest(
        self,
        session: sessions.Session,
        segment: Segment,
        entries: list[Entry],
        reported: list[Entry],
        engine: Engine | None = None,
    ) -> DigestRecord | None:
        """The write-up of a segment; None when it stands already for exactly these items, by `engine` where one is
        named."""
        made_of = _made_of(entries, reported)
        found = registers.get(self._ledger, RecordKind.DIGEST, segment.key)
        old = found.read(DigestRecord) if found else None
        if old and old.made_of == made_of and (engine is None or old.engine == engine.name):
            return None
        live = [entry for entry in entries if not entry.member.abandoned]
        source = DigestInput(
            key=segment.key,
            harness=session.harness,
            project=session.facts.project,
            # Without a title of its own a session is called by its first prompt, which may be another session's.
            title=session.facts.title if session.facts.title_rank else "",
            passages=tuple(map(self._passage, live)),
            reports=tuple(map(self._passage, reported)),
        )
        engine = engine or self._choose(self._zones.day(segment.start_us), old.engine if old else "")
        return DigestRecord(session.id, made_of, engine.name, check(engine.digest(source), source))

    def _store(self, session: sessions.Session, segment: Segment, record: DigestRecord, entries: list[Entry]) -> bool:
        """Store a digest and its section; whether the section says something new."""
        digest = registers.put(
            self._ledger,
            RecordKind.DIGEST,
            segment.key,
            self._redactor.document(msgspec.to_builtins(record), plain=segments.PLAIN),
        )
        sources = [(RecordKind.ITEM, entry.row) for entry in entries if not entry.forgotten]
        self._ledger.derive((RecordKind.DIGEST, digest.row), sources)
        before = registers.get(self._ledger, RecordKind.SECTION, segment.key)
        section = SectionRecord(
            session=session.id,
            day=self._zones.day(segment.start_us),
            time=self._zones.local(segment.start_us).strftime("%H:%M"),
            start_us=segment.start_us,
            harness=slug(session.harness),
            project=slug(session.facts.project),
            origin=slug(self._ledger.origins()[session.origin][1]),
            digest=record.digest,
        )
        after = registers.put(
            self._ledger,
            RecordKind.SECTION,
            segment.key,
            self._redactor.document(msgspec.to_builtins(section), plain=segments.PLAIN),
        )
        self._ledger.derive((RecordKind.SECTION, after.row), [(RecordKind.DIGEST, digest.row)])
        return before is None or before.rev != after.rev

    def _document(self, record: DigestRecord | SectionRecord) -> Redacted:
        return self._redactor.document(msgspec.to_builtins(record), plain=segments.PLAIN)

    def _withdraw(self, session: sessions.Session, cuts: list[Segment]) -> int:
        """Withdraw sections of this session whose segment is no longer there, or has no live prompt any more."""
        standing = {segment.key: segment for segment in cuts if segment.written}
        made = 0
        for register, record in segments.sections(self._ledger, session.id):
            if register.key in standing or record.withdrawn_by:
                continue
            by = _successor(record, list(standing.values())) or register.key
            gone = msgspec.structs.replace(record, withdrawn_by=by)
            registers.put(
                self._ledger,
                RecordKind.SECTION,
                register.key,
                self._redactor.document(msgspec.to_builtins(gone), plain=segments.PLAIN),
            )
            made += 1
        return made

    def _passage(self, entry: Entry) -> Passage:
        text, path, exit_status = segments.text_of(self._ledger, entry.row)
        member = entry.member
        limit = _SAID_CHARS if member.kind in (Kind.PROMPT, Kind.REPLY) else _OTHER_CHARS
        shown = text if len(text) <= limit else f"{text[: limit // 2]}\n…\n{text[-limit // 2 :]}"
        return Passage(member.item.hex(), member.kind, shown, member.said_by, path, exit_status)


def _within(segment: Segment, reported: list[Entry]) -> list[Entry]:
    return [entry for entry in reported if segment.start_us <= entry.member.time_us <= segment.end_us]


def _made_of(entries: list[Entry], reported: list[Entry]) -> str:
    """A short name for exactly these items in exactly these revisions."""
    digest = hashlib.blake2b(digest_size=12)
    for entry in (*entries, *reported):
        digest.update(entry.member.item + b"%d%d" % (entry.member.abandoned, entry.rev))
    return digest.hexdigest()


def _successor(record: SectionRecord, standing: list[Segment]) -> SegmentKey | None:
    """The segment that covers the time of a withdrawn one, or the last before it."""
    before = [segment for segment in standing if segment.start_us <= record.start_us]
    return before[-1].key if before else None
