"""Days → articles in the ledger. What an engine returns is validated, merged and stored whole, a day at a time.

Articles are a fold over the builds in the order of days: a day that came later is put on top, an older one that
changed lets the fold run again from the stored proposals. So it does not matter in which runs, or after how many
kills, the builds were made.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from afterword.compile.doubts import ruled
from afterword.compile.engine import Choose, Engine, Waiting
from afterword.compile.folding import Folding
from afterword.compile.related import Relations
from afterword.compile.retracting import Closed, settle
from afterword.compile.same import Meaning
from afterword.compile.validate import points_of, valid
from afterword.domain.articles import MAX_PER_DAY, MIN_PER_DAY, Article, CompileInput, Proposal, SectionText
from afterword.domain.errors import AfterwordError
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.domain.section_edits import laid_over
from afterword.redact.redactor import Redactor
from afterword.store import faults
from afterword.store.ledger import articles, registers, section_edits, segments, sessions, uses
from afterword.store.ledger.articles import BuildRecord
from afterword.store.ledger.ledger import Ledger

State: TypeAlias = Literal["compiled", "skipped", "failed", "unchanged", "waiting"]

_log = logging.getLogger(__name__)
_RETRACTED = 60
_FAULTS_TOLD = 6
_SETTLED_AT_ONCE = 20
"""So many older days are folded in together while a model still thinks about the next."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


class DayResult(msgspec.Struct, frozen=True):
    """What became of a day. The uids are of articles."""

    day: str
    state: State
    reason: str = ""
    created: tuple[ArticleUid, ...] = ()
    updated: tuple[ArticleUid, ...] = ()
    merged: tuple[ArticleUid, ...] = ()
    why: str = ""
    """A word for what was wrong, where a model was at fault (`gemini.faults.Why`)."""


class Outcome(msgspec.Struct, frozen=True):
    """Days with their results, and the articles that changed."""

    days: tuple[DayResult, ...]
    changed: dict[ArticleUid, Article]


class Compile:
    """Compiles days. With `dry`, nothing is stored and the outcome says what would have been."""

    def __init__(
        self,
        ledger: Ledger,
        redactor: Redactor,
        engine: Engine,
        *,
        min_words: int,
        meaning: Meaning | None = None,
        choose: Choose | None = None,
    ) -> None:
        """`choose` says who writes a day up; without it `engine` does."""
        self._ledger = ledger
        self._redactor = redactor
        self._choose: Choose = choose or (lambda _day, _before: engine)
        self._min_words = min_words
        self._meaning = meaning
        self._relations = Relations()

    def all_days(self) -> list[str]:
        """Every day that has sections or a build, in order."""
        return sorted(set(self._sections()) | set(articles.builds(self._ledger)))

    def due(self, days: Iterable[str] | None = None) -> list[str]:
        """The days that are new or changed, in order; of `days`, when given."""
        now, built = self._sections(), articles.builds(self._ledger)
        wanted = sorted(set(now) | set(built)) if days is None else sorted(set(days))
        return [day for day in wanted if self._changed(day, now.get(day, ()), built)]

    def run(
        self,
        days: Sequence[str],
        *,
        again: bool = False,
        redo: bool = False,
        dry: bool = False,
        choose: Choose | None = None,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """Compile these days, oldest first; unchanged ones only with `again`, and of those what an engine that costs
        wrote stands, unless with `redo`. `choose` says for this run who writes. Where a model has not answered yet
        the run ends; what came so far is kept.

        A day that fails leaves everything as it was and says why; the others go on. Where something was retracted, or
        the embedder is another, all articles are folded anew even if no day is due.
        """
        sections, built = self._sections(), articles.builds(self._ledger)
        todo = sorted(set(days))
        closed = settle(self._ledger, self._redactor, self._meaning, dry=dry)
        state = Folding(self._ledger, {day: record for day, (_, record) in built.items()}, closed, self._meaning)
        results: dict[str, DayResult] = {}
        changed: dict[ArticleUid, Article] = {}
        last = max(state.records, default="")
        fresh = state.fresh
        older: dict[str, BuildRecord] = {}
        for done, day in enumerate(todo):
            if stop():
                break
            on_progress(done, len(todo))
            now = sections.get(day, ())
            before = built[day][1] if day in built else None
            changed_since = self._changed(day, now, built)
            if not (again or redo) and not changed_since:
                results[day] = DayResult(day, "unchanged")
                continue
            try:
                engine = (choose or self._choose)(day, before.engine if before else "")
                mine = before if before is not None and before.engine == engine.name and not redo else None
                if engine.paid and mine is not None and not changed_since:
                    results[day] = DayResult(day, "unchanged")
                    continue
                record = self._propose(day, now, state.stored, closed, engine, mine)
                record = ruled(record, day, engine, state, mine)
            except Waiting:
                results[day] = DayResult(day, "waiting", "the model has not answered yet")
                if not fresh or len(older) >= _SETTLED_AT_ONCE:
                    self._settle(state, older, results, changed, dry=dry, stop=stop)
                break
            except AfterwordError as err:
                _log.warning("a day could not be compiled, it stays pending", extra={"day": day})
                results[day] = DayResult(day, "failed", err.message, why=getattr(err, "why", ""))
                continue
            if not fresh or day < last or (day == last and (older or not state.undo(day))):
                older[day] = record
                continue
            if older:
                if not self._settle(state, older, results, changed, dry=dry, stop=stop):
                    break
                older = {}
            self._store(state, {day: record}, state.on_top(day, record), results, changed, dry=dry)
        else:  # not stopped
            if older or not fresh:
                self._settle(state, older, results, changed, dry=dry, stop=stop)
        on_progress(len(todo), len(todo))
        return Outcome(tuple(results[day] for day in todo if day in results), changed)

    def _settle(
        self,
        state: Folding,
        older: dict[str, BuildRecord],
        results: dict[str, DayResult],
        changed: dict[ArticleUid, Article],
        *,
        dry: bool,
        stop: Callable[[], bool],
    ) -> bool:
        """Days before the newest one changed: the fold runs once more over all builds; False when `stop` ended it."""
        folded = state.again(older, stop)
        if folded is None:
            return False
        _, records = folded
        mine = {day: records[day] for day in older}
        self._store(state, mine, folded, results, changed, dry=dry, refolded=True)
        return True

    def _store(
        self,
        state: Folding,
        mine: dict[str, BuildRecord],
        made: tuple[dict[ArticleUid, Article], dict[str, BuildRecord]],
        results: dict[str, DayResult],
        changed: dict[ArticleUid, Article],
        *,
        dry: bool,
        refolded: bool = False,
    ) -> None:
        after, records = made
        before = state.stored
        moved = {uid: article for uid, article in after.items() if before.get(uid) != article}
        if not dry:
            with self._ledger.transaction(durable=True):
                held = articles.put_build(
                    self._ledger, self._redactor, moved, [(day, records[day]) for day in sorted(mine)]
                )
                state.remember(self._redactor, records, moved, refolded=refolded)
            faults.hit("build.committed")
            after = after | held
        state.accept(after, records)
        changed |= moved
        for day in mine:
            word: State = "skipped" if records[day].state == "skipped" else "compiled"
            results[day] = _result(day, word, records[day], before, moved)

    def _propose(
        self,
        day: str,
        now: Sequence[SectionText],
        stored: Mapping[ArticleUid, Article],
        closed: Closed,
        engine: Engine,
        before: BuildRecord | None,
    ) -> BuildRecord:
        """The build of a day; `before` is what the same engine wrote about it and what stands."""
        edited = section_edits.revs(self._ledger)
        sent = tuple((section.key, self._rev(section.key) + edited.get(section.key, 0)) for section in now)
        record = BuildRecord(sent, self._hash(now), engine.name, "compiled")
        count = sum(map(_words, now))
        if count < self._min_words:
            reason = f"{count} words, fewer than {self._min_words}" if now else "nothing is left of it"
            return msgspec.structs.replace(record, state="skipped", reason=reason)
        retracted = tuple(closed.claims()[-_RETRACTED:])
        unused = uses.never(self._ledger, stored, day) if engine.paid else ()
        given = CompileInput(day, tuple(now), self._relations.known(now, stored, unused), retracted)
        standing: list[Proposal] = []
        if engine.paid and before is not None and before.state == "compiled":
            standing, fresh = self._standing(now, sent, before)
            given = msgspec.structs.replace(given, sections=fresh, most=max(0, MAX_PER_DAY - len(standing)))
        kept = self._articles(engine, given, least=MIN_PER_DAY - len(standing))
        kept = [*standing, *kept]
        if not kept:
            if given.sections:
                engine.nothing(given)
            _log.warning("a day gave no article", extra={"day": day})
            return msgspec.structs.replace(record, state="skipped", reason="nothing in it stands by itself")
        if len(kept) < MIN_PER_DAY:
            _log.info("a day gave few articles", extra={"day": day, "articles": len(kept)})
        record = msgspec.structs.replace(record, proposals=tuple(kept))
        # As it will come back out of the ledger, so that a later fold is given the same.
        return msgspec.json.decode(
            self._redactor.document(msgspec.to_builtins(record), plain=articles.PLAIN).encode(), type=BuildRecord
        )

    def _articles(self, engine: Engine, given: CompileInput, least: int) -> list[Proposal]:
        """What an engine proposes, after a second round with the fault named where it is less than wanted."""
        if not given.sections or not given.most:
            return []
        kept, faulty = self._asked(engine, given)
        if len(kept) >= least:
            return kept
        # One repair round with the fault named; what it finds besides is taken, the rest stands.
        fault = f"{len(kept)} articles, {MIN_PER_DAY} to {MAX_PER_DAY} are wanted"
        if engine.paid:
            fault = "; ".join((fault, *faulty[:_FAULTS_TOLD]))
        more, _ = self._asked(engine, msgspec.structs.replace(given, fault=fault))
        return more if len(more) > len(kept) else kept

    def _standing(
        self, now: Sequence[SectionText], sent: Sequence[tuple[str, int]], before: BuildRecord
    ) -> tuple[list[Proposal], tuple[SectionText, ...]]:
        """What a paid engine wrote about the day and is still proved, and the sections that are new since."""
        known = set(before.sent)
        old: dict[str, SectionText] = {
            section.key: section for section, as_sent in zip(now, sent, strict=True) if as_sent in known
        }
        proposals = []
        for proposal in before.proposals:
            points = tuple(claim for claim in proposal.points if claim.section in old)
            if points:
                proposals.append(msgspec.structs.replace(proposal, points=points))
        standing, _ = valid(proposals, old, lambda ids: articles.item_texts(self._ledger, ids), MAX_PER_DAY)
        return standing, tuple(section for section in now if section.key not in old)

    def _asked(self, engine: Engine, given: CompileInput) -> tuple[list[Proposal], list[str]]:
        """What the engine proposes for a day, validated, and what was left out."""
        by_key: dict[str, SectionText] = {section.key: section for section in given.sections}
        kept, faulty = valid(
            engine.compile(given), by_key, lambda ids: articles.item_texts(self._ledger, ids), given.most
        )
        for fault in faulty:
            _log.warning("left out of a day's articles", extra={"day": given.day, "fault": fault})
        return kept, faulty

    def _sections(self) -> dict[str, tuple[SectionText, ...]]:
        """The newest sections by day, with people's edits laid over."""
        edits = section_edits.every(self._ledger)
        titles: dict[str, str] = {}
        found: dict[str, list[SectionText]] = {}
        for register, record in segments.sections(self._ledger):
            if record.withdrawn_by:
                continue
            if record.session not in titles:
                held = sessions.load(self._ledger, "WHERE s.id = ?", (record.session,))
                titles[record.session] = held[0].facts.title if held and held[0].facts.title_rank else ""
            key = SegmentKey(register.key)
            digest, written = laid_over(record.digest, edits[key]) if key in edits else (record.digest, ())
            found.setdefault(record.day, []).append(
                SectionText(
                    key,
                    record.day,
                    record.time,
                    record.harness,
                    record.project,
                    record.session,
                    titles[record.session],
                    digest,
                    written,
                )
            )
        return {day: tuple(sorted(row, key=lambda s: (s.time, s.key))) for day, row in found.items()}

    def _changed(
        self, day: str, now: Sequence[SectionText], built: Mapping[str, tuple[registers.Register, BuildRecord]]
    ) -> bool:
        if day not in built:
            return bool(now)
        return built[day][1].sent_hash != self._hash(now)

    def _hash(self, now: Sequence[SectionText]) -> str:
        """A name for exactly what is sent, and whether it is enough to be sent."""
        enough = sum(map(_words, now)) >= self._min_words
        return hashlib.blake2b(msgspec.json.encode((now, enough)), digest_size=16).hexdigest()

    def _rev(self, key: SegmentKey) -> int:
        found = segments.section(self._ledger, key)
        return found[0].rev if found else 0


def _result(
    day: str,
    state: State,
    record: BuildRecord,
    before: Mapping[ArticleUid, Article],
    moved: Mapping[ArticleUid, Article],
) -> DayResult:
    """What a build did to the articles that were there: one built again as it was is not news."""
    standing = {uid for uid, article in before.items() if article.status != "withdrawn"}
    created = tuple(uid for uid in record.uids if uid not in standing and uid in moved)
    updated = tuple(uid for uid in record.uids if uid in standing and uid in moved)
    return DayResult(day, state, record.reason, created, updated, tuple(u for u in record.merged if u in updated))


def _words(section: SectionText) -> int:
    count = 0
    for point in points_of(section.digest):
        east = len(_EAST.findall(point.text))
        count += len(_WORD.findall(_EAST.sub(" ", point.text))) + east // 2
    return count
