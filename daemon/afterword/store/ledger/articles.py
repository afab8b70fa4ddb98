"""Articles and builds: what compile writes and everybody reads, with a person's edits laid over."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

import msgspec

from afterword.domain import old_notes
from afterword.domain.articles import Article, Current, Edits, Proposal, Ruling, Use, laid_over
from afterword.domain.ids import ArticleUid, ItemId, SegmentKey
from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store import faults
from afterword.store.ledger import registers, segments, staleness, uses
from afterword.store.ledger.ledger import Ledger, RecordKind

ArticleRecord: TypeAlias = Article
"""The value of an ARTICLE register whose key is a uid; under `uid/edits` it is `Edits`."""

_EDITS = "/edits"
OWED = "articles_owed"
"""The small fact that the vault is behind the ledger: 1 from a change of articles on until their files are written."""


FOLD = "build_fold"
"""The small fact that names how the articles were folded last."""
PLAIN: Final = (
    *("sent", "sent_hash", "engine", "state", "status", "kind", "uid", "uids", "section", "day", "stamp"),
    *("created", "updated", "merged", "retracted_on", "rulings", "linked"),
)
"""What is ours in articles and builds: a person's own patterns must not break it."""


class BuildRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of a BUILD register, keyed by day. `sent` are (section key, rev); `sent_hash` is taken of what was
    sent. `proposals` passed validation; `uids` are the articles they became part of. `rulings` are what the engine said
    about them and the articles there were."""

    sent: tuple[tuple[str, int], ...]
    sent_hash: str
    engine: str
    state: str
    reason: str = ""
    proposals: tuple[Proposal, ...] = ()
    uids: tuple[ArticleUid, ...] = ()
    created: tuple[ArticleUid, ...] = ()
    updated: tuple[ArticleUid, ...] = ()
    merged: tuple[ArticleUid, ...] = ()
    rulings: tuple[Ruling, ...] = ()


def builds(ledger: Ledger) -> dict[str, tuple[registers.Register, BuildRecord]]:
    """Every build by its day, in the order of days."""
    return {found.key: (found, found.read(BuildRecord)) for found in registers.every(ledger, RecordKind.BUILD)}


def stored(ledger: Ledger) -> dict[ArticleUid, Article]:
    """Every article as the engine has it, by uid."""
    return {
        ArticleUid(found.key): found.read(Article)
        for found in registers.every(ledger, RecordKind.ARTICLE)
        if not found.key.endswith(_EDITS)
    }


def current(ledger: Ledger) -> list[Current]:
    """Every article as it stands, those that are not live included, by uid."""
    texts: dict[ArticleUid, Article] = {}
    edits: dict[ArticleUid, Edits] = {}
    for found in registers.every(ledger, RecordKind.ARTICLE):
        if found.key.endswith(_EDITS):
            edits[ArticleUid(found.key.removesuffix(_EDITS))] = found.read(Edits)
        else:
            texts[ArticleUid(found.key)] = found.read(Article)
    used, marks = uses.every(ledger), staleness.every(ledger)
    titles = {uid: article.title for uid, article in texts.items()}
    return [
        _current(uid, article, edits.get(uid, Edits()), used.get(uid, Use()), marks.get(uid, staleness.Mark()), titles)
        for uid, article in texts.items()
    ]


def _current(
    uid: ArticleUid,
    article: Article,
    edits: Edits,
    use: Use,
    mark: staleness.Mark,
    titles: Mapping[ArticleUid, str],
) -> Current:
    article = laid_over(article, edits)
    if article.status != "active" or edits.status or edits.pinned or not mark.holds(article.updated):
        return Current(uid, article, edits, use)
    if mark.why == "contradicted":
        mark = msgspec.structs.replace(mark, detail=titles.get(ArticleUid(mark.detail), mark.detail))
    return Current(uid, msgspec.structs.replace(article, status="stale"), edits, use, mark.words)


def one(ledger: Ledger, uid: ArticleUid) -> Current | None:
    """An article as it stands; None without one."""
    found = registers.get(ledger, RecordKind.ARTICLE, uid)
    if found is None:
        return None
    mark = staleness.of(ledger, uid)
    return _current(uid, found.read(Article), edits_of(ledger, uid), uses.of(ledger, uid), mark, {})


def standing_at(ledger: Ledger, path: str) -> Current | None:
    """The live article at this path in the vault, as far as the last look goes; None without one."""
    rows = ledger.db.execute("SELECT uid FROM article_file WHERE path = ? AND state = ''", (path,)).fetchall()
    for (uid,) in rows:
        found = one(ledger, ArticleUid(uid))
        if found and found.live:
            return found
    return None


def edits_key(uid: ArticleUid) -> str:
    """The key of the register that holds a person's edits of an article."""
    return uid + _EDITS


def edits_of(ledger: Ledger, uid: ArticleUid) -> Edits:
    """A person's edits of an article."""
    found = registers.get(ledger, RecordKind.ARTICLE, uid + _EDITS)
    return found.read(Edits) if found else Edits()


def put_edits(ledger: Ledger, redactor: Redactor, uid: ArticleUid, edits: Edits) -> bool:
    """Store a person's edits of an article; whether they say something new. Inside a transaction."""
    before = registers.get(ledger, RecordKind.ARTICLE, uid + _EDITS)
    after = registers.put(
        ledger,
        RecordKind.ARTICLE,
        uid + _EDITS,
        redactor.document(msgspec.to_builtins(edits), plain=PLAIN),
        Rank.PERSON,
    )
    return before is None or before.rev != after.rev


def put_build(
    ledger: Ledger, redactor: Redactor, changed: Mapping[ArticleUid, Article], made: Iterable[tuple[str, BuildRecord]]
) -> dict[ArticleUid, Article]:
    """Store articles and the builds they come from; inside one transaction, so that a set is there whole or not.

    Returns:
        The articles as they are stored.
    """
    held = {}
    for uid, article in sorted(changed.items()):
        register = registers.put(
            ledger, RecordKind.ARTICLE, uid, redactor.document(msgspec.to_builtins(article), plain=PLAIN)
        )
        faults.hit("build.article")
        sources = [found[0].row for key in article.sections if (found := segments.section(ledger, key))]
        ledger.derive((RecordKind.ARTICLE, register.row), [(RecordKind.SECTION, source) for source in sources])
        held[uid] = register.read(Article)
    for day, record in made:
        registers.put(ledger, RecordKind.BUILD, day, redactor.document(msgspec.to_builtins(record), plain=PLAIN))
    ledger.set_meta(OWED, 1)
    faults.hit("build.commit")
    return held


def unfolded(ledger: Ledger) -> None:
    """Say that builds came which no fold of this machine has seen: the next one here is over all of them. Inside a
    transaction."""
    ledger.set_meta(FOLD, "")


def stamp(ledger: Ledger, *, edits: bool = False) -> tuple[int, int]:
    """(how many, sum of revisions) of the articles as the engine has them, or with people's `edits`: it changes
    whenever one of them does."""
    found = ledger.db.execute(
        f"SELECT count(*), coalesce(sum(rev), 0) FROM register WHERE kind = {int(RecordKind.ARTICLE)}"
        + ("" if edits else f" AND key NOT LIKE '%{_EDITS}'")
    ).fetchone()
    return found[0], found[1]


def item_texts(ledger: Ledger, ids: Iterable[str]) -> list[Redacted]:
    """The texts of items by their hex ids."""
    found = []
    for its_id in ids:
        row = ledger.db.execute("SELECT row FROM item WHERE id = ?", (ItemId(bytes.fromhex(its_id)),)).fetchone()
        if row:
            found.append(segments.text_of(ledger, row[0])[0])
    return found


def cited(ledger: Ledger, keys: Iterable[SegmentKey]) -> dict[SegmentKey, tuple[str, str, int, str]]:
    """Section key → (day, time, newest revision in the vault or else in the ledger, path of its note or nothing). Of a
    person's own note, which is no note of ours, the revision is 0."""
    found: dict[SegmentKey, tuple[str, str, int, str]] = {}
    for key in keys:
        section = segments.section(ledger, key)
        if section:
            register, record = section
            placed = ledger.db.execute("SELECT rev, path FROM placed WHERE key = ?", (key,)).fetchone()
            rev, path = placed or (register.rev, "")
            found[key] = (record.day, record.time, 0 if record.harness == old_notes.NAME else rev, path)
    return found
