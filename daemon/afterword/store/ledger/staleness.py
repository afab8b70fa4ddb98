"""Which articles may be out of date, and why: SETTING registers that any machine writes which sees it.

A mark holds for the article as it was on a day: what was told into it later lifts it, and so does a person who says
that it still holds. Nothing is deleted by it.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.ids import ArticleUid
from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind

Why: TypeAlias = Literal["", "files", "contradicted", "unused"]

_PREFIX: Final = "stale/"


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why an article may be out of date: `files` (named in `detail`, changed on `day`), `contradicted` (by the article
    in `detail`), `unused` since `day`; or nothing any more. `confirmed`: the day until which a person said it holds."""

    why: Why = ""
    day: str = ""
    detail: str = ""
    updated: str = ""
    """The article's day when it was marked: a later one lifts the mark."""
    confirmed: str = ""

    def holds(self, updated: str) -> bool:
        """Whether the mark counts for an article that was last told into on the day `updated`."""
        return bool(self.why) and updated <= self.updated and (self.why == "contradicted" or self.day > self.confirmed)

    @property
    def words(self) -> str:
        """The reason in a sentence."""
        match self.why:
            case "files":
                return f"{self.detail} changed on {self.day}"
            case "contradicted":
                return f"contradicted by {self.detail}"
            case "unused":
                return f"not used since {self.day}"
            case "":
                return ""


def every(ledger: Ledger) -> dict[ArticleUid, Mark]:
    """The marks by article, those that were lifted included."""
    return {
        ArticleUid(register.key.removeprefix(_PREFIX)): register.read(Mark)
        for register in registers.below(ledger, RecordKind.SETTING, _PREFIX)
    }


def of(ledger: Ledger, uid: ArticleUid) -> Mark:
    """The mark of one article."""
    found = registers.get(ledger, RecordKind.SETTING, _PREFIX + uid)
    return found.read(Mark) if found else Mark()


def stamp(ledger: Ledger) -> tuple[int, int]:
    """Changes whenever a mark does."""
    return registers.stamp(ledger, RecordKind.SETTING, _PREFIX)


def put(ledger: Ledger, redactor: Redactor, marks: Mapping[ArticleUid, Mark], rank: Rank = Rank.ENGINE) -> int:
    """Store marks; how many say something new. Inside a transaction."""
    changed = 0
    for uid, mark in sorted(marks.items()):
        before = registers.get(ledger, RecordKind.SETTING, _PREFIX + uid)
        # What a person confirmed is kept in every later mark, and so is their standing.
        standing = max(rank, Rank(before.rank)) if before else rank
        value = redactor.document(msgspec.to_builtins(mark), plain=("why", "day", "updated", "confirmed"))
        after = registers.put(ledger, RecordKind.SETTING, _PREFIX + uid, value, standing)
        changed += before is None or before.rev != after.rev
    return changed
