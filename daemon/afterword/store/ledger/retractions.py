"""What was retracted together, so that it is taken back together: SETTING registers by an id of their own.

What is retracted itself is said by the edits of the articles and facts; this only holds them together.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind

_PREFIX: Final = "retraction/"


class Retraction(msgspec.Struct, frozen=True, array_like=True):
    """Articles and facts by their ids, retracted on `day`. `learned` is the lesson that was said to hold in their
    place. `holds` is False once it was taken back."""

    id: str
    day: str
    articles: tuple[str, ...]
    facts: tuple[str, ...]
    holds: bool = True
    learned: str = ""


def id_of(day: str, members: Iterable[str]) -> str:
    """`r-` and 12 hex digits."""
    said = f"{day} {' '.join(sorted(members))}".encode()
    return f"r-{hashlib.blake2b(said, digest_size=6, person=b'afterword-retrac').hexdigest()}"


def every(ledger: Ledger) -> list[Retraction]:
    """Those that hold, the newest first."""
    found = [register.read(Retraction) for register in registers.below(ledger, RecordKind.SETTING, _PREFIX)]
    return sorted((one for one in found if one.holds), key=lambda one: (one.day, one.id), reverse=True)


def some(ledger: Ledger) -> bool:
    """Whether any article or fact is retracted: one quick question for every search."""
    return (
        ledger.db.execute(
            "SELECT 1 FROM register WHERE kind IN (?, ?) AND key LIKE '%/edits' AND (value LIKE ? OR value LIKE ?)"
            " LIMIT 1",
            (RecordKind.ARTICLE, RecordKind.FACT, '%"status":"retracted"%', '%"struck":[%'),
        ).fetchone()
        is not None
    )


def put(ledger: Ledger, redactor: Redactor, one: Retraction) -> None:
    """Store one, or that it was taken back; inside a transaction."""
    value = redactor.document(msgspec.to_builtins(one), plain=("",))
    registers.put(ledger, RecordKind.SETTING, _PREFIX + one.id, value, Rank.PERSON)
