"""Answers as values a script may rely on: what `search --json`, `show --json`, the door and MCP give alike."""

from typing import Any

import msgspec

from afterword.app.config import Config
from afterword.app.reading import zones_of
from afterword.app.searching import Searcher
from afterword.app.show import Whole, find
from afterword.domain.clock import DAY_US, Zones, format_rfc3339, parse_rfc3339
from afterword.domain.errors import UsageError
from afterword.domain.items import KIND_BY_WORD, ROLE_OF
from afterword.index.hybrid import Mode, Result, Results
from afterword.index.narrowing import Filters
from afterword.store.ledger import retractions
from afterword.store.ledger.ledger import Ledger

LIMIT_MAX = 100_000
KINDS = ("article", "lesson", "diary", "message", *KIND_BY_WORD)
_UNITS = {"h": DAY_US // 24, "d": DAY_US, "w": 7 * DAY_US}
_DAY = len("2026-06-10")


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody looks for, in the words of the command line. `since` and `until` are days or RFC 3339 times."""

    query: str
    project: str | None = None
    harness: str | None = None
    since: str | None = None
    until: str | None = None
    kind: str | None = None
    role: str | None = None
    machine: str | None = None
    session: str | None = None
    agent: str | None = None
    here: str | None = None
    """The project of the asker's folder; narrows nothing, counts a little."""
    limit: int = 10
    page: int = 1
    mode: Mode = "both"


def ask(config: Config, ledger: Ledger, wanted: Question, searcher: Searcher, *, counts: bool = True) -> Results:
    """Search, best first. `counts` is False where no person or agent looks at what is found.

    Raises:
        UsageError: a filter says something that cannot be.
        NothingFound: no session begins with the one that is named.
    """
    zones = zones_of(config, ledger)

    if not 1 <= wanted.limit <= LIMIT_MAX:
        raise UsageError(f"limit: {wanted.limit} is out of range", f"name a number from 1 to {LIMIT_MAX}")
    if not 1 <= wanted.page * wanted.limit <= LIMIT_MAX:
        raise UsageError(f"page: {wanted.page} is out of range", f"there are at most {LIMIT_MAX:,} results in all")
    if wanted.kind not in (None, *KINDS):
        raise UsageError(f"kind: there is no {wanted.kind!r}", "use one of " + ", ".join(KINDS))
    filters = Filters(
        project=wanted.project,
        harness=wanted.harness,
        since_us=time_of("--since", wanted.since, zones, searcher.now_us),
        until_us=time_of("--until", wanted.until, zones, searcher.now_us),
        kind=wanted.kind,
        role=wanted.role,
        machine=wanted.machine,
        session=find(ledger, wanted.session).row if wanted.session else None,
        agent=wanted.agent,
        here=wanted.here,
    )
    answer = searcher.search(ledger, wanted.query, filters, limit=wanted.limit, mode=wanted.mode, page=wanted.page)
    if counts and any(found.uid for found in answer.results):
        _note(config, answer, (wanted.page - 1) * wanted.limit, zones.day(searcher.now_us))
    return answer


def _note(config: Config, answer: Results, first: int, day: str) -> None:
    """Note which articles were among the first."""
    from afterword.app.using import ranks  # noqa: PLC0415  # exact search finds no articles
    from afterword.store import use_log  # noqa: PLC0415

    use_log.note(config.places.state, "returned", ranks([found.uid for found in answer.results], first), day)


def time_of(name: str, given: str | None, zones: Zones, now_us: int) -> int | None:
    """A time as people write it, UTC microseconds: a day, RFC 3339, `yesterday`, `7d`. `name` is the option's.

    Raises:
        UsageError: it is none of these.
    """
    if given is None:
        return None
    at = _ago(given, zones, now_us)
    at = at if at is not None else zones.start_of(given) if len(given) == _DAY else parse_rfc3339(given)
    if at is None:
        raise UsageError(
            f"{name}: {given!r} is neither a day nor a time", "write 2026-06-10, 2026-06-10T14:00Z, yesterday or 7d"
        )
    return at


def _ago(given: str, zones: Zones, now_us: int) -> int | None:
    """`today`, `yesterday`, or so many hours, days or weeks ago: `36h`, `7d`, `2w`; None for anything else."""
    if given in ("today", "yesterday"):
        return zones.start_of(zones.day(now_us - (DAY_US if given == "yesterday" else 0)))
    number, unit = given[:-1], given[-1:]
    if unit not in _UNITS or not (number.isascii() and number.isdigit() and len(number) < 5):
        return None
    return now_us - int(number) * _UNITS[unit]


def as_json_fields(ledger: Ledger, wanted: Question, answer: Results) -> dict[str, Any]:
    """The fields of `search --json`."""
    origins = ledger.origins()
    return {
        "query": wanted.query,
        "results": _marked(ledger, [_result(found, origins) for found in answer.results]),
        "total": answer.total,
        "cut": answer.cut,
        "complete": answer.complete,
        "page": wanted.page,
        "matched": answer.how,
        "instead": answer.words or None,
        "semantic": answer.semantic,
        "semantic_problem": answer.problem or None,
    }


def _marked(ledger: Ledger, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results; a record of the past that states what was retracted since says when and why it was."""
    if not retractions.some(ledger):
        return [{**row, "retracted": None} for row in rows]
    from afterword.app.retracted import Retractions  # noqa: PLC0415  # where something is retracted only

    gone = Retractions(ledger)
    done = []
    for row in rows:
        said = None
        if row["kind"] == "message":
            said = gone.of_item(row["id"])
        elif row["kind"] == "diary":
            said = next(iter(gone.of_section(row["id"])), None)
        said = said or (gone.of_text(row["snippet"]) if row["kind"] not in ("article", "lesson") else None)
        done.append({**row, "retracted": said and {"says": said.text, "why": said.words}})
    return done


def _result(found: Result, origins: dict[int, tuple[str, str]]) -> dict[str, Any]:
    session = found.session
    return {
        "id": found.id,
        "kind": found.kind,
        "item_kind": found.item_kind.word if found.item_kind else None,
        "role": ROLE_OF[found.item_kind] if found.item_kind else None,
        "title": found.title,
        "snippet": found.snippet,
        "path": found.path,
        "block": found.block,
        "session": session.shown_native if session else None,
        "harness": session.harness if session else None,
        "project": found.project,
        "origin": origins[session.origin][1] if session else None,
        # What another machine took in: said beside it, for a person.
        "from": origins[session.origin][1] if session and origins[session.origin][1] != origins[1][1] else None,
        "time": format_rfc3339(found.time_us),
        "abandoned": found.abandoned,
        "stale": found.stale,
        "score": found.score,
        "why": list(found.why),
    }


def session_fields(found: Whole) -> dict[str, Any]:
    """The fields of `show --json`."""
    session, facts = found.session, found.session.facts
    return {
        "session": {
            "id": session.id,
            "harness": session.harness,
            "native_id": session.shown_native,
            "project": facts.project,
            "cwd": facts.cwd or None,
            "checkout": facts.root or None,
            "title": facts.title or None,
            "model": facts.model or None,
            "branch": facts.branch or None,
            "agent": facts.agent or None,
            "version": facts.version or None,
            "started": _rfc(session.started_us),
            "updated": _rfc(session.updated_us),
            "parent": facts.parent or None,
            "spawned_by": facts.spawned_by or None,
            "forked_from": facts.forked_from or None,
            "continued_from": found.continued_from or None,
            "archived": facts.archived,
            "compactions": found.compactions,
            "inherited": sum(item.inherited for item in found.items),
            "origin": found.origin,
            "sections": [{"key": key, "day": day} for key, day in found.sections],
        },
        "messages": [
            {
                "id": item.id,
                "kind": item.kind.word,
                "role": item.role,
                "said_by": item.said_by.name.lower(),
                "text": item.text,
                "time": _rfc(item.time_us),
                "abandoned": item.abandoned,
                "inherited": item.inherited,
                "exit_status": item.exit_status,
                "path": item.path,
            }
            for item in found.items
        ],
    }


def _rfc(at_us: int | None) -> str | None:
    return None if at_us is None else format_rfc3339(at_us)
