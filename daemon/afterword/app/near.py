"""What belongs to the note that is open: the articles beside it, and the sessions it was drawn from."""

from typing import Any, Final

import msgspec

from afterword.app import results
from afterword.app.config import Config
from afterword.app.results import Question
from afterword.app.searching import Searcher
from afterword.domain.articles import Current
from afterword.store.ledger import article_files, articles, views
from afterword.store.ledger.ledger import Ledger

_TEXT_MOST: Final = 2_000
"""So much of a note is looked for by meaning."""
_SESSIONS_MOST: Final = 20


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The note's path in the vault, and of a note that is not ours some of its text."""

    path: str
    text: str = ""
    limit: int = 8


def near(config: Config, ledger: Ledger, asked: Asked, searcher: Searcher) -> dict[str, Any]:
    """`article` is what stands at the path, `notes` what is related, `sessions` where it comes from; all empty for a
    note of which nothing is known and nothing is said."""
    paths = {uid: file.path for uid, file in article_files.every(ledger).items()}
    every = {each.uid: each for each in articles.current(ledger)}
    here = next((every[uid] for uid, path in paths.items() if path == asked.path and uid in every), None)
    limit = max(1, min(20, asked.limit))
    notes: list[dict[str, Any]] = []
    if here is not None:
        notes += [_note(every[one.uid], paths, "linked") for one in here.article.related if one.uid in every]
    else:
        written = _drawn_from(ledger, asked.path)
        notes += [_note(each, paths, "written here") for each in every.values() if written & set(each.article.sections)]
    notes = [row for row in notes if row["status"] != "retracted"]
    text = asked.text if here is None else f"{here.article.title} " + " ".join(p.text for p in here.article.points[:5])
    if text.strip() and len(notes) < limit:
        notes += _alike(
            config, ledger, text[:_TEXT_MOST], limit, {asked.path, *(row["path"] for row in notes)}, searcher
        )
    return {
        "path": asked.path,
        "article": None if here is None else _about(here, paths),
        "notes": notes[:limit],
        "sessions": [] if here is None else _sessions(ledger, here),
    }


def _about(each: Current, paths: dict[Any, str]) -> dict[str, Any]:
    article = each.article
    return {
        **_note(each, paths, ""),
        "updated": article.updated,
        "stale": each.stale or None,
        "retracted_on": article.retracted_on or None,
        "reason": article.retract_reason or None,
    }


def _note(each: Current, paths: dict[Any, str], why: str) -> dict[str, Any]:
    article = each.article
    return {
        "uid": each.uid, "kind": article.kind, "title": article.title, "path": paths.get(each.uid, ""),
        "status": article.status, "why": why,
    }  # fmt: skip


def _drawn_from(ledger: Ledger, path: str) -> set[str]:
    """The keys of the sections that stand in a daily note."""
    return {key for (key,) in ledger.db.execute("SELECT key FROM placed WHERE path = ?", (path,))}


def _alike(
    config: Config, ledger: Ledger, text: str, limit: int, but: set[str], searcher: Searcher
) -> list[dict[str, Any]]:
    """Articles that mean something like it; none where there is no index by meaning."""
    if config.settings.index.embedder == "off":
        return []
    question = Question(" ".join(text.split()), kind="article", limit=limit + len(but), mode="semantic")
    rows = results.as_json_fields(ledger, question, results.ask(config, ledger, question, searcher, counts=False))
    return [
        {"uid": row["id"], "kind": "article", "title": row["title"], "path": row["path"], "status": "active",
         "why": "alike"}
        for row in rows["results"]
        if row["path"] and row["path"] not in but
    ]  # fmt: skip


def _sessions(ledger: Ledger, each: Current) -> list[dict[str, Any]]:
    found = []
    for key in each.article.sections[:_SESSIONS_MOST]:
        place = views.placed(ledger, key)
        if place is not None:
            said = next(claim.text for claim in each.article.points if claim.section == key)
            found.append({"section": key, "path": place[0], "block": place[1], "says": said})
    return found
