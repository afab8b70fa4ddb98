"""A retraction asked for by a program: first it is shown where something stands, with a word that confirms that."""

from typing import Any

import msgspec

from afterword.app.retract import Retract, token
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
