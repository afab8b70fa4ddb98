"""How often articles were returned, opened and cited: a SETTING register for each machine and article.

A machine writes its own counts alone, so that machines add up and nothing is counted twice however often they meet.
Ids, numbers and a day; no text.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Final

import msgspec

from afterword.domain.articles import LIVE, Article, Use
from afterword.domain.ids import ArticleUid
from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers
from afterword.store.ledger.ledger import Ledger, RecordKind
from afterword.store.use_log import Day, Kind

_PREFIX: Final = "use/"
COMPILE: Final = "compile"
"""In the place of a machine: what follows from the builds, which is the same on all of them."""
_TAKEN: Final = "use_taken"
_GRACE_DAYS: Final = 30
"""What is younger had no time to be of use."""


def every(ledger: Ledger) -> dict[ArticleUid, Use]:
    """Uid → how often it was made use of, on all machines together."""
    found: dict[ArticleUid, Use] = {}
    for register in registers.below(ledger, RecordKind.SETTING, _PREFIX):
        uid = ArticleUid(register.key.rpartition("/")[2])
        use = register.read(Use)
        found[uid] = found[uid] + use if uid in found else use
    return found


def of(ledger: Ledger, uid: ArticleUid) -> Use:
    """The same of one article."""
    found = Use()
    for writer in (COMPILE, *(its_id for its_id, _ in ledger.origins().values())):
        register = registers.get(ledger, RecordKind.SETTING, f"{_PREFIX}{writer}/{uid}")
        if register:
            found += register.read(Use)
    return found


def cited(ledger: Ledger, redactor: Redactor, found: Mapping[ArticleUid, Use]) -> int:
    """Store what follows from the builds; how many say something new. Inside a transaction."""
    changed = 0
    for uid, use in sorted(found.items()):
        value = redactor.document(msgspec.to_builtins(use), plain=("",))
        before = registers.get(ledger, RecordKind.SETTING, f"{_PREFIX}{COMPILE}/{uid}")
        after = registers.put(ledger, RecordKind.SETTING, f"{_PREFIX}{COMPILE}/{uid}", value, Rank.ENGINE)
        changed += before is None or before.rev != after.rev
    return changed


def never(ledger: Ledger, stored: Mapping[ArticleUid, Article], day: Day) -> frozenset[ArticleUid]:
    """The live articles that were there for a month by `day` and never made use of."""
    since = (dt.date.fromisoformat(day) - dt.timedelta(days=_GRACE_DAYS)).isoformat()
    used = every(ledger)
    return frozenset(
        uid for uid, article in stored.items() if article.status in LIVE and article.created < since and uid not in used
    )


def stamp(ledger: Ledger) -> tuple[int, int]:
    """Changes whenever a count does."""
    return registers.stamp(ledger, RecordKind.SETTING, _PREFIX)


def add(ledger: Ledger, redactor: Redactor, taken: str, noted: Mapping[tuple[str, Kind, Day], int]) -> int:
    """Count what was noted, once for each name of what was `taken`; how many articles that concerned. Inside a
    transaction."""
    if taken and ledger.meta(_TAKEN) == taken:
        return 0  # a kill came between the commit and the file's end
    mine: dict[str, Use] = {}
    for (uid, kind, day), times in noted.items():
        now = mine.get(uid, Use())
        changed = {kind: getattr(now, kind) + times, "last": max(now.last, day)}
        mine[uid] = msgspec.structs.replace(now, **changed)
    origin = ledger.origin[0]
    for uid, use in sorted(mine.items()):
        key = f"{_PREFIX}{origin}/{uid}"
        before = registers.get(ledger, RecordKind.SETTING, key)
        total = before.read(Use) + use if before else use
        registers.put(
            ledger, RecordKind.SETTING, key, redactor.document(msgspec.to_builtins(total), plain=("",)), Rank.ENGINE
        )
    if taken:
        ledger.set_meta(_TAKEN, taken)
    return len(mine)
