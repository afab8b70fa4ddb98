"""Whether two statements from two sessions show one thing that neither shows alone: any doubt is no.

What is compared are causes, lessons and decisions, each in its sentence; how alike whole articles are does not count.
The names of things may differ: the same cause with another table's name is what a recurrence looks like.
"""

import re
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.compile.likeness import Likeness, cosine, counted, fold, is_light
from afterword.compile.same import opposed
from afterword.compile.statements import names_cause
from afterword.compile.wording import label
from afterword.domain.articles import Claim

Role: TypeAlias = Literal["cause", "lesson", "decision", ""]
Relation: TypeAlias = Literal["cause", "lesson", "unheeded", "consequence"]
"""Two failures of one cause; one lesson learned twice; a lesson, later what it warned of; what a decision led to."""

_MEANT: Final = 0.64
"""Of statements that show nothing together the nearest with words in common was at 0.62."""
_MEANT_ACROSS: Final = 0.66
"""The same for sentences without words in common: in two languages."""
_MEANT_WHEN_SAID: Final = 0.40
"""The same where the later sentence says itself that this was met before, or names the decision."""
_MEANT_AND_WORDED: Final = ((0.45, 0.34), (0.50, 0.22))
"""Either pair is enough for statements with so many words in common as `_SHARED_BY_WORDS`."""
_WORDED_ALONE: Final = 0.50
"""Where there is no embedder, or none that knows the script."""
_SHARED: Final = 2
_SHARED_BY_WORDS: Final = 3
_SAID: Final = re.compile(
    r"\bsame (?:root )?(?:cause|mistake|reason|bug|problem|fault|race|pattern)\b"
    r"|\b(?:die|der)selbe\w* (?:ursache|fehler|grund)|\bgleiche\w* (?:ursache|fehler|grund)"
    r"|\bt[aę] sam[aą] przyczyn|\bten sam (?:błąd|powód)|та же причина|та же ошибка"
    r"|\bmême (?:cause|erreur)\b|\bmism[ao] (?:causa|error)\b|\bstess[ao] (?:causa|errore)\b"
    r"|\bmesm[ao] (?:causa|erro)\b"
    r"|同じ(?:原因|ミス|間違い)|同样的(?:原因|错误)|같은 (?:원인|실수)|אותה סיבה|אותה טעות",
    re.IGNORECASE,
)
_FOLLOWS: Final = re.compile(
    r"\b(?:since|after|because) we (?:\w+ )?(?:moved|switched|decided|chose|changed|dropped|went|put|introduced|made)\b"
    r"|\b(?:our|that|the|last \w+) decision\b|\bwe had decided\b|\b(?:seit|weil|nachdem) wir\b|\bunsere entscheidung\b"
    r"|\bodkąd\b|\bnasza decyzja\b|с тех пор как|после того как мы|наше решение|\bdepuis que\b|\bnotre décision\b"
    r"|\bdesde que\b|\bnuestra decisión\b|\bda quando\b|\bnossa decisão\b|に(?:移行|変更)したため|自从|改用",
    re.IGNORECASE,
)
_OPPOSED: Final = tuple(
    frozenset(map(fold, row.split()))
    for row in (
        "short long", "early late", "before after", "many few", "high low", "large small", "big small", "missing twice",
        "missing duplicate", "enabled disabled", "old new", "first last", "never always", "slow fast", "wide narrow",
        "kurz lang", "früh spät", "groß klein", "krótki długi", "wcześnie późno", "короткий длинный",
    )
)  # fmt: skip


class Told(msgspec.Struct, frozen=True):
    """A claim with what is compared of it. `when` orders it among others: (day, time, section)."""

    claim: Claim
    role: Role
    words: dict[str, float]
    when: tuple[str, str, str] = ("", "", "")


def told(claim: Claim, when: tuple[str, str, str] = ("", "", "")) -> Told:
    """What is compared of a claim; its role is empty when it can be no evidence."""
    return Told(claim, role_of(claim), dict(counted(claim.text, pairs=False)), when)


def role_of(claim: Claim) -> Role:
    """Whether a claim names a cause, a lesson or a decision; empty for anything else, and for what is history."""
    if claim.until:
        return ""
    named = label(claim.quote)[0]
    if named == "lesson":
        return "lesson"
    if named == "cause" or (named != "decision" and names_cause(claim.text)):
        return "cause"
    return "decision" if named == "decision" else ""


def relation(one: Told, other: Told, near: float, likeness: Likeness) -> tuple[Relation, float] | None:
    """(what two claims show together, how sure); `other` is the later one, `near` how near they are by meaning, 0 where
    nobody can tell."""
    kind = _kind(one, other)
    if kind is None or (near and near < _MEANT_WHEN_SAID):
        return None
    common = [word for word in one.words if word in other.words and not is_light(word)]
    if not near and len(common) < _SHARED_BY_WORDS:
        return None
    worded = cosine(likeness.vector(one.words), likeness.vector(other.words))
    said = kind == "consequence" or bool(_SAID.search(f"{other.claim.text} {other.claim.quote}"))
    if len(common) < _SHARED:
        enough = kind != "consequence" and near >= _MEANT_ACROSS
    else:
        enough = near >= (_MEANT_WHEN_SAID if said else _MEANT)
    if not enough and len(common) >= _SHARED_BY_WORDS:
        both = any(near >= meant and worded >= floor for meant, floor in _MEANT_AND_WORDED)
        enough = both or (near == 0 and worded >= _WORDED_ALONE)
    if not enough or opposed(one.claim.text, other.claim.text, _OPPOSED):
        return None
    return kind, round(near + worded, 4)


def _kind(one: Told, other: Told) -> Relation | None:
    match one.role, other.role:
        case "cause", "cause":
            return "cause"
        case "lesson", "lesson":
            return "lesson"
        case "lesson", "cause":
            return "unheeded"
        case "decision", "cause" if _FOLLOWS.search(other.claim.text):
            return "consequence"
    return None
