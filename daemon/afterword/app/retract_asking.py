"""A retraction asked for by a program: first it is shown where something stands, with a word that confirms that."""

import hashlib
from typing import Any

import msgspec

from afterword.app.retract import Retract, Undo, to_undo, token
from afterword.app.retract_places import as_json, find
from afterword.domain.errors import UsageError
from afterword.store.ledger.ledger import Ledger


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked. Without `confirm` nothing is changed."""

    what: str
    reason: str
    replacement: str | None = None
    confirm: str | None = None


def answer(ledger: Ledger, asked: Asked) -> tuple[dict[str, Any], Retract | None]:
    """Where it stands, and what to do about it where that was confirmed.

    Raises:
        NothingFound: it stands nowhere.
        UsageError: there is no reason, or the word confirms other places: something changed since it was given.
    """
    if not asked.reason.strip():
        raise UsageError("there is no reason", "say why it does not hold")
    found = find(ledger, asked.what)
    word = token(found, asked.reason)
    fields: dict[str, Any] = as_json(found)
    if asked.confirm is None:
        return {
            **fields, "dry": True, "confirm": word,
            "next": "nothing was changed; with the person's consent call again with this `confirm`",
        }, None  # fmt: skip
    if asked.confirm != word:
        raise UsageError(
            "this word does not confirm what would be retracted now",
            "ask without `confirm`, show what comes, and confirm that",
        )
    return {**fields, "dry": False}, Retract(found.members, asked.reason, asked.replacement, found.parts)


class Back(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked to hold again: the id of a retraction, an article or a fact, or an article's path or title."""

    what: str
    confirm: str | None = None


def back(ledger: Ledger, today: str, asked: Back) -> tuple[dict[str, Any], Undo | None]:
    """What would hold again, and what to do about it where that was confirmed.

    Raises:
        NothingFound: nothing that was retracted answers to it.
        UsageError: several do, or the word confirms something else.
        UserError: it is too long ago.
    """
    found = to_undo(ledger, today, asked.what)
    said = msgspec.json.encode(sorted((place.uid, place.retracted_on) for place in found))
    word = hashlib.blake2b(said, digest_size=6, person=b"afterword-restor").hexdigest()
    fields: dict[str, Any] = {
        "restores": [
            {"uid": place.uid, "kind": place.kind, "title": place.title, "path": place.path or None,
             "retracted_on": place.retracted_on, "reason": place.reason or None}
            for place in found
        ]
    }  # fmt: skip
    if asked.confirm is None:
        return {**fields, "dry": True, "confirm": word}, None
    if asked.confirm != word:
        raise UsageError("this word does not confirm what would be restored now", "ask without `confirm` first")
    return {**fields, "dry": False}, Undo(asked.what)
