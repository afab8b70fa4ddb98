"""What an agent may read of an article, and have taken back: nothing without a word that confirms what was shown."""

import os
from typing import Any, Final

import msgspec

from afterword.app import retract as retracting
from afterword.app.client import Refused, ask_door, follow
from afterword.app.config import Config
from afterword.app.reading import reader, zones_of
from afterword.app.retract_asking import Asked, answer
from afterword.domain.articles import Current, key_points
from afterword.domain.clock import clock_from
from afterword.domain.errors import AfterwordError
from afterword.domain.ids import ArticleUid
from afterword.store import use_log
from afterword.store.ledger import articles
from afterword.store.ledger.ledger import Ledger

PROPERTIES: Final[dict[str, Any]] = {
    "what": {
        "type": "string", "maxLength": 2000,
        "description": "the wrong statement in a sentence, or the id of an article (a-…) or a lesson (f-…, l-…)",
    },
    "reason": {"type": "string", "maxLength": 500, "description": "why it does not hold; shown wherever it was told"},
    "replacement": {"type": "string", "maxLength": 2000, "description": "what holds instead, if that is known"},
    "confirm": {"type": "string", "description": "the word that the first call gave, once the person consented"},
}  # fmt: skip


def retract(config: Config, arguments: dict[str, Any]) -> dict[str, Any]:
    """Show where something is told, or with the word that confirms it have it retracted."""
    asked = msgspec.convert(arguments, Asked)
    with reader(config) as ledger:
        fields, job = answer(ledger, asked)
    if job is None:
        return fields
    said = ask_door(config.places.state, "/v1/retract", msgspec.to_builtins(asked))
    if said is None:
        from afterword.app.program import writer  # noqa: PLC0415  # without a daemon only

        with writer(config, os.environ, "retract") as program:
            done = retracting.retract(program, job, _quiet, lambda: False)
            retracting.do_index(program, _quiet, lambda: False)
        return {**fields, **done}
    for line in follow(config.places.state, str(said["job"])):
        if line.get("state") == "done":
            return {**fields, **line["result"]}
        if line.get("state") == "failed":
            raise Refused(line["error"])
    raise AfterwordError("the daemon went away before it was done", "the job is kept and done when it starts again")


def article(config: Config, ledger: Ledger, its_id: str, room_bytes: int, start: int) -> dict[str, Any] | None:
    """An article in full, by its uid or its note's path, as much as there is room for; None where it is none. It counts
    as opened."""
    found = _found(ledger, its_id)
    if found is None:
        return None
    use_log.note(config.places.state, "opened", [found.uid], zones_of(config, ledger).day(clock_from(os.environ)()))
    told = found.article
    text = "\n".join(
        [f"# {told.title}", "", *(f"- {point}" for point in key_points(found)), "", *told.details.split("\n")]
    )
    part = text[start : start + room_bytes].encode("utf-8", "replace")[:room_bytes].decode("utf-8", "ignore")
    answer: dict[str, Any] = {
        "id": found.uid, "kind": "article", "title": told.title, "updated": told.updated, "status": told.status,
        "text": part, "sections": list(told.sections),
    }  # fmt: skip
    if found.stale:
        answer["may_be_out_of_date"] = found.stale
    if start + len(part) < len(text):
        answer["next"] = f"call `show` again with start={start + len(part)}"
    return answer


def _found(ledger: Ledger, its_id: str) -> Current | None:
    if its_id.startswith("a-") and (found := articles.one(ledger, ArticleUid(its_id))):
        return found if found.live else None
    path = its_id.partition("#")[0]
    return articles.standing_at(ledger, path) if path.endswith(".md") else None


def _quiet(_phase: str, _unit: str, _done: int, _all: int, _word: str) -> None:
    return
