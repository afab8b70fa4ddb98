"""What articles are used for: noted where somebody asks, counted when articles are compiled.

Returned is to be among the first five results. Opened is a note that somebody opened, or that an agent read, as a file
or over MCP. Cited is a day that told more of an article or led to it, and a person who says that it was useful.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from afterword.app.config import Config
from afterword.domain.articles import Article, Use, name_key
from afterword.domain.clock import Zones
from afterword.domain.errors import NothingFound, NotSetUp, UsageError
from afterword.domain.ids import ArticleUid
from afterword.domain.items import Kind
from afterword.redact.redactor import Redactor
from afterword.store import use_log
from afterword.store.ledger import article_files, articles, uses
from afterword.store.ledger.ledger import Ledger

RANKS: Final = 5
"""What stands lower among results does not count as returned."""
_READ: Final = "use_read"


def opened(config: Config, path: str, now_us: int) -> None:
    """Note that the article at this path in the vault was opened, if it is one."""
    from afterword.app.reading import reader, zones_of  # noqa: PLC0415  # a search needs none of it

    try:
        with reader(config) as ledger:
            found = articles.standing_at(ledger, path)
            day = zones_of(config, ledger).day(now_us)
    except NotSetUp:
        return
    if found:
        use_log.note(config.places.state, "opened", [found.uid], day)


def useful(state: Path, ledger: Ledger, what: str, day: str) -> dict[str, str]:
    """Note that somebody found an article useful: it counts as cited. What is meant is its uid, path, slug or title.

    Raises:
        NothingFound: no live article answers to that.
        UsageError: several do.
    """
    from afterword.app.retract_places import named  # noqa: PLC0415  # not for every search

    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    found = [each for each in articles.current(ledger) if each.live and named(each, paths.get(each.uid, ""), what)]
    if not found:
        raise NothingFound(f"no article answers to {what!r}", "`afterword search --kind article` finds some")
    if len(found) > 1:
        raise UsageError(f"{len(found)} articles answer to {what!r}", "give the id (a-…)")
    use_log.note(state, "cited", [found[0].uid], day)
    return {"uid": found[0].uid, "title": found[0].article.title, "path": paths.get(found[0].uid, "")}


def settle(ledger: Ledger, redactor: Redactor, state: Path, vault: Path | None, zones: Zones) -> int:
    """Count what was noted since the last time, what agents read, and what the builds cite; how many articles that
    concerned. No transaction may be open."""
    taken, noted = use_log.take(state)
    stored = articles.stored(ledger)
    noted = Counter({each: times for each, times in noted.items() if each[0] in stored})
    read, upto = _read_by_agents(ledger, vault, zones)
    cited = _cited(ledger, stored)
    done = 0
    if noted or read or cited or upto != ledger.meta(_READ):
        with ledger.transaction():
            done = uses.add(ledger, redactor, taken, noted)
            done += uses.add(ledger, redactor, "", read)
            done += uses.cited(ledger, redactor, cited)
            if upto != ledger.meta(_READ):
                ledger.set_meta(_READ, upto)
            if done:
                ledger.set_meta(articles.OWED, 1)
    use_log.done(state)
    return done


def _read_by_agents(
    ledger: Ledger, vault: Path | None, zones: Zones
) -> tuple[Counter[tuple[str, use_log.Kind, use_log.Day]], int]:
    """What agents on this machine read of the articles in the vault since the last time, and how far that goes."""
    since = ledger.meta(_READ)
    since = since if isinstance(since, int) else 0
    upto: int = ledger.db.execute("SELECT coalesce(max(row), 0) FROM item").fetchone()[0]
    found: Counter[tuple[str, use_log.Kind, use_log.Day]] = Counter()
    if vault is None or upto == since:
        return found, upto
    by_path = {f"{vault}/{file.path}": file.uid for file in article_files.every(ledger).values()}
    rows = ledger.db.execute(
        "SELECT path, time_us FROM item WHERE row > ? AND row <= ? AND kind = ? AND origin = 1 AND path IS NOT NULL",
        (since, upto, Kind.READ),
    )
    for path, at_us in rows:
        if path in by_path:
            found[by_path[path], "opened", zones.day(at_us)] += 1
    return found, upto


def _cited(ledger: Ledger, stored: dict[ArticleUid, Article]) -> dict[ArticleUid, Use]:
    """Uid → on how many days after its first one something was told into it or led to it. A function of the builds, so
    it is the same on all machines."""
    names: dict[str, ArticleUid] = {}
    for uid, article in stored.items():
        for name in (uid, article.slug, *map(name_key, article.names)):
            names.setdefault(name, uid)
    found: dict[ArticleUid, Use] = {}
    for day, (_, record) in articles.builds(ledger).items():
        said = {names.get(to, names.get(name_key(to))) for p in record.proposals for to, _ in p.related}
        for one in {*said, *record.uids}:
            if one in stored and one is not None and stored[one].created < day:
                found[one] = found.get(one, Use()) + Use(cited=1, last=day)
    return found


def ranks(uids: Iterable[str], first: int) -> list[str]:
    """Of the articles on a page of results, in order ("" where a result is none), those that count as returned;
    `first` is the place of the page's first result."""
    return [uid for place, uid in enumerate(uids, first) if uid and place < RANKS]
