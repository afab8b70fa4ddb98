"""Where an article comes from: sections, builds, and what a model was asked and answered, as far as that is kept."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from afterword.domain.articles import Claim, Current, name_key
from afterword.domain.clock import format_rfc3339
from afterword.domain.errors import NothingFound, UsageError
from afterword.domain.ids import SegmentKey
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger import article_files, articles, model_calls, registers, segments, sessions
from afterword.store.ledger.ledger import Ledger, RecordKind

_UID_LEAST: Final = 5


class Drawn(msgspec.Struct, frozen=True):
    """A section that an article was drawn from; `standing` is false when it was withdrawn or is gone."""

    key: SegmentKey
    day: str
    time: str
    harness: str
    project: str
    session: str
    title: str
    engine: str
    path: str
    standing: bool
    calls: tuple[model_calls.Kept, ...]


class Build(msgspec.Struct, frozen=True):
    """The build of a day that the article is in. `calls` are a model's, the failed ones as well."""

    day: str
    engine: str
    state: str
    articles: int
    calls: tuple[model_calls.Kept, ...]


class Origin(msgspec.Struct, frozen=True):
    """An article with all it was made from. `merged` are proposals that proved to be it."""

    uid: str
    title: str
    path: str
    status: str
    engine: str
    created: str
    updated: str
    merged: int
    points: tuple[Claim, ...]
    sections: tuple[Drawn, ...]
    builds: tuple[Build, ...]


def find(ledger: Ledger, what: str) -> Current:
    """The article that is meant: by its uid or the beginning of it, its path in the vault, title, alias or slug.

    Raises:
        NothingFound: there is none.
        UsageError: several answer to it.
    """
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    asked = what.removeprefix("./")
    row = articles.current(ledger)
    found = [each for each in row if asked in (each.uid, paths.get(each.uid), each.article.slug)]
    found = found or [each for each in row if f"{asked}.md" == paths.get(each.uid)]
    found = found or [each for each in row if name_key(asked) in map(name_key, each.article.names) and name_key(asked)]
    if not found and asked.startswith("a-") and len(asked) >= _UID_LEAST:
        found = [each for each in row if each.uid.startswith(asked)]
    shown = [each for each in found if each.live] or found
    if not shown:
        raise NothingFound(f"there is no article {what!r}", "`afterword search` shows their titles, paths and ids")
    if len(shown) > 1:
        names = ", ".join(f"{each.uid} ({each.article.title})" for each in shown[:5])
        raise UsageError(f"{len(shown)} articles answer to {what!r}: {names}", "give one's id")
    return shown[0]


def days_of(ledger: Ledger, each: Current) -> list[str]:
    """The days whose builds the article is part of."""
    return [day for day, (_, record) in articles.builds(ledger).items() if _is_in(each, record)]


def _is_in(each: Current, record: articles.BuildRecord) -> bool:
    """By uid, or, as a connection is in no build of an engine's, by what it quotes."""
    if each.uid in record.uids:
        return True
    places = {claim.place for claim in each.article.points}
    return any(claim.place in places for proposal in record.proposals for claim in proposal.points)


def origin(ledger: Ledger, each: Current) -> Origin:
    """Everything an article was made from."""
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    article = each.article
    builds = []
    for day, (_, record) in articles.builds(ledger).items():
        if _is_in(each, record):
            calls = model_calls.about(ledger, "compile", day) if record.engine == "gemini" else ()
            builds.append(Build(day, record.engine, record.state, len(record.uids), tuple(calls)))
    return Origin(
        uid=each.uid,
        title=article.title,
        path=paths.get(each.uid, ""),
        status=article.status,
        engine=article.engine,
        created=article.created,
        updated=article.updated,
        merged=len(article.merged),
        points=article.points,
        sections=tuple(_drawn(ledger, key) for key in article.sections),
        builds=tuple(builds),
    )


def _drawn(ledger: Ledger, key: SegmentKey) -> Drawn:
    found = segments.section(ledger, key)
    if found is None:
        return Drawn(key, "", "", "", "", "", "", "", "", standing=False, calls=())
    _, record = found
    held = sessions.load(ledger, "WHERE s.id = ?", (record.session,))
    digest = registers.get(ledger, RecordKind.DIGEST, key)
    engine = digest.read(segments.DigestRecord).engine if digest else ""
    placed = ledger.db.execute("SELECT path FROM placed WHERE key = ?", (key,)).fetchone()
    return Drawn(
        key=key,
        day=record.day,
        time=record.time,
        harness=record.harness,
        project=record.project,
        session=held[0].shown_native if held else record.session,
        title=held[0].facts.title if held else "",
        engine=engine,
        path=placed[0] if placed else "",
        standing=not record.withdrawn_by,
        calls=tuple(model_calls.about(ledger, "digest", key)) if engine == "gemini" else (),
    )


def fields(found: Origin, redactor: Redactor, *, texts: bool) -> dict[str, Any]:
    """The fields of `explain --json`; with `texts` what a model was asked and what it answered, where it is kept."""

    def calls(row: Sequence[model_calls.Kept]) -> list[dict[str, Any]]:
        return [_call(call, redactor, texts=texts) for call in row]

    every = [call for build in found.builds for call in build.calls]
    every += [call for drawn in found.sections for call in drawn.calls]
    return {
        "article": {
            name: getattr(found, name)
            for name in ("uid", "title", "path", "status", "engine", "created", "updated", "merged")
        },
        "points": [
            {"text": claim.text, "section": claim.section, "quote": claim.quote, "until": claim.until or None}
            for claim in found.points
        ],
        "builds": [
            {"day": build.day, "engine": build.engine, "state": build.state, "articles": build.articles}
            | {"calls": calls(build.calls)}
            for build in found.builds
        ],
        "sections": [
            {name: getattr(each, name) for name in Drawn.__struct_fields__ if name != "calls"}
            | {"calls": calls(each.calls)}
            for each in found.sections
        ],
        "cost": {
            "calls": len(every),
            "tokens_in": sum(call.tokens_in for call in every),
            "tokens_out": sum(call.tokens_out for call in every),
        },
    }


def _call(call: model_calls.Kept, redactor: Redactor, *, texts: bool) -> dict[str, Any]:
    def out(text: Redacted) -> str | None:
        return str(leave("explain", text, redactor)) if text else None

    return {
        "model": call.model,
        "prompt_version": call.version,
        "state": call.state,
        "reason": str(call.reason) or None,
        "at": format_rfc3339(call.at_us),
        "took_ms": call.took_ms,
        "tokens_in": call.tokens_in,
        "tokens_out": call.tokens_out,
        "estimated": bool(call.estimated),
        "kept": bool(call.request or call.reply),
        **({"request": out(call.request), "reply": out(call.reply)} if texts else {}),
    }
