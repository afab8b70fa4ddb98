"""The fold of builds into articles, in memory: a newer day on top, or all days again.

`stored` is what the ledger holds. So that the newest day can be built again without folding the whole past, what it
changed is remembered beside the ledger, for as long as nothing else touched the articles.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import msgspec

from afterword.compile.connections import Where
from afterword.compile.merge import Knowledge
from afterword.compile.retracting import Closed
from afterword.compile.rulings import Rulings
from afterword.compile.same import Meaning
from afterword.domain.articles import MIN_PER_DAY, Article, Edits, Ruling
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.redact.redactor import Redactor
from afterword.store.ledger import articles, partings, segments
from afterword.store.ledger.articles import BuildRecord
from afterword.store.ledger.ledger import Ledger

Folded = tuple[dict[ArticleUid, Article], dict[str, BuildRecord]]
"""All articles, and all builds, after a fold."""

_UNDO = "build_undo"
_VERSION = 3
"""Of how proposals are put together; a new one lets all articles be folded again once."""


class Undo(msgspec.Struct, frozen=True):
    """What articles were before the newest day's build; `stamp` says whether that still holds."""

    day: str
    stamp: tuple[int, int]
    before: dict[ArticleUid, Article | None]


class Folding:
    """Articles and builds as they are, while days are compiled."""

    def __init__(
        self, ledger: Ledger, records: dict[str, BuildRecord], closed: Closed, meaning: Meaning | None
    ) -> None:
        self._ledger = ledger
        self.records = records
        self.stored = articles.stored(ledger)
        current = articles.current(ledger)
        self._closed = closed
        self._meaning = meaning
        self._parted = [parting.ruling for parting in partings.every(ledger)]
        self._sign = fold_sign(closed, meaning, self._parted)
        self._theirs = {each.uid for each in current if each.edits != Edits()}
        self._origins: dict[SegmentKey, Where | None] = {}
        self._base: dict[ArticleUid, Article] | None = None
        self._knowledge: Knowledge | None = None

    def _origin(self, key: SegmentKey) -> Where | None:
        if key not in self._origins:
            found = segments.section(self._ledger, key)
            self._origins[key] = _where(found[1]) if found else None
        return self._origins[key]

    @property
    def fresh(self) -> bool:
        """Whether the articles were folded as they would be now: with what is closed now, and by the same meaning."""
        return not self.records or self._ledger.meta(articles.FOLD) == self._sign

    def undo(self, day: str) -> bool:
        """Go back to before the newest day's build, for a fold on top of that; False when it cannot be done."""
        found = self._ledger.meta(_UNDO)
        if not isinstance(found, str) or found == "null":
            return False
        said = msgspec.json.decode(found.encode(), type=Undo)
        if said.day != day or said.stamp != articles.stamp(self._ledger):
            return False
        base = dict(self.stored)
        for uid, article in said.before.items():
            if article is None:
                base.pop(uid, None)
            else:
                base[uid] = article
        self._base = base
        return True

    def on_top(self, day: str, record: BuildRecord) -> Folded:
        """A day that is newer than all others, or the newest one again after `undo`."""
        if self._knowledge is None:
            self._knowledge = self._standing(self.stored if self._base is None else self._base)
        self._knowledge.rulings.add(record.rulings)
        made = built(self._knowledge, day, record)
        return self._kept(self._knowledge.articles), self.records | {day: made}

    def beside(self) -> Knowledge:
        """The articles as they are stored, to compare with; nothing is to be built on it."""
        return self._standing(self.stored)

    def _standing(self, base: Mapping[ArticleUid, Article]) -> Knowledge:
        standing = {uid: article for uid, article in base.items() if article.status != "withdrawn"}
        return Knowledge(standing, self._closed, self._meaning, self._origin, self._rulings(self.records))

    def _rulings(self, records: Mapping[str, BuildRecord]) -> Rulings:
        return Rulings([*self._parted, *(said for record in records.values() for said in record.rulings)])

    def again(self, changed: Mapping[str, BuildRecord], stop: Callable[[], bool] = lambda: False) -> Folded | None:
        """The fold over all builds, some of which changed; None when `stop`, asked before each, said so."""
        records = dict(self.records) | dict(changed)
        self._knowledge = Knowledge(None, self._closed, self._meaning, self._origin, self._rulings(records))
        for day in sorted(records):
            if stop():
                return None
            records[day] = built(self._knowledge, day, records[day])
        return self._kept(self._knowledge.articles), records

    def _kept(self, folded: Mapping[ArticleUid, Article]) -> dict[ArticleUid, Article]:
        """With articles that nothing leads to any more: withdrawn, or kept if they are a person's too."""
        after = dict(folded)
        for uid, article in self.stored.items():
            if uid not in after:
                mine = uid in self._theirs or article.status == "withdrawn"
                after[uid] = article if mine else msgspec.structs.replace(article, status="withdrawn", related=())
        return after

    def remember(
        self,
        redactor: Redactor,
        records: Mapping[str, BuildRecord],
        moved: Mapping[ArticleUid, Article],
        *,
        refolded: bool,
    ) -> None:
        """Note how to undo the newest day's build, if it was put on top; inside its transaction, after the articles
        are put."""
        self._ledger.set_meta(articles.FOLD, self._sign)
        if not records or refolded:
            self._ledger.set_meta(_UNDO, redactor.document(None))
            return
        newest = max(records)
        base = self.stored if self._base is None else self._base
        if newest in self.records and self._base is None:
            self._ledger.set_meta(_UNDO, redactor.document(None))
            return
        before = {uid: base.get(uid) for uid in {*moved, *(uid for uid in self.stored if uid not in base)}}
        if self._base is not None:
            before |= {uid: article for uid, article in base.items() if self.stored.get(uid) != article}
        said = Undo(newest, articles.stamp(self._ledger), before)
        self._ledger.set_meta(_UNDO, redactor.document(msgspec.to_builtins(said), plain=articles.PLAIN))

    def accept(self, after: dict[ArticleUid, Article], records: dict[str, BuildRecord]) -> None:
        """What was made stands now."""
        self.stored = after
        self.records = records
        self._base = None


def rulings_of(ledger: Ledger) -> Rulings:
    """All that a person or an engine said about two tellings so far."""
    parted = [parting.ruling for parting in partings.every(ledger)]
    return Rulings([*parted, *(said for _, record in articles.builds(ledger).values() for said in record.rulings)])


def unsettle(ledger: Ledger) -> None:
    """Have all articles folded anew at the next compile; inside a transaction."""
    ledger.set_meta(articles.FOLD, "")
    ledger.set_meta(articles.OWED, 1)


def _where(record: segments.SectionRecord) -> Where:
    return Where(record.session, record.day, record.time, record.project)


def built(knowledge: Knowledge, day: str, record: BuildRecord) -> BuildRecord:
    """Take a build into the articles; the build with what became of its proposals."""
    done = knowledge.build(day, record.engine, record.proposals)

    def those(*wanted: str) -> tuple[ArticleUid, ...]:
        return tuple(uid for uid, outcome in done.items() if outcome in wanted)

    proposed = {proposal.uid for proposal in record.proposals}
    own = [uid for uid in those("created", "merged") if uid not in proposed]
    connected = sum(knowledge.articles[uid].kind == "connection" for uid in own)
    few = 0 < len(record.proposals) < MIN_PER_DAY - connected
    return msgspec.structs.replace(
        record,
        reason="thin" if few else "" if record.proposals else record.reason,
        uids=tuple(done),
        created=those("created"),
        updated=those("updated", "merged"),
        merged=those("merged"),
    )


def fold_sign(closed: Closed, meaning: Meaning | None, parted: Sequence[Ruling]) -> str:
    """Names all that articles depend on besides the builds; with another one they are folded anew."""
    said = (_VERSION, meaning.signature if meaning else "words", closed.key(), *([parted] if parted else []))
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=12).hexdigest()
