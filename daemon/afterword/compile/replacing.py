"""Whether a later statement replaces an earlier decision: only where it names what it replaces."""

import re
from collections.abc import Sequence
from typing import Final

from afterword.compile import cues
from afterword.compile.likeness import fold, is_light, tokens
from afterword.compile.wording import label
from afterword.domain.articles import Claim

_END: Final = (
    r"(?:(?=[.,;:!?…。、，；]|\s[–—-]\s"
    r"|\s(?:for|because|since|as|so|when|now|after|und|weil|für|bo|dla|потому|для)\b)|$)"
)
_INSTEAD: Final = (
    r"instead of|rather than|in place of|replac(?:es|ed|ing)|anstelle von|anstatt|statt|ersetzt|zamiast|вместо|заменяет"
    r"|au lieu de|à la place de|en lugar de|en vez de|invece di|al posto di|em vez de|במקום"
)
# Each finds, as `old`, the thing whose place is taken.
_VERBS: Final = (
    r"(?:(?:used?|uses|keeps?|kept|runs?|stored?|needs?|sent|made|goes|go|rely|through|with|in|on|from|by|at)\s+)*"
)
_CUES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_INSTEAD})\s+(?P<old>.{{2,60}}?){_END}",
        rf"\bno longer\s+{_VERBS}(?P<old>.{{2,60}}?){_END}",
        r"\b(?:mov|switch|migrat|chang)(?:e|ed|ing)?\b.{0,40}?\bfrom\s+(?P<old>.{2,40}?)\s+to\b",
        rf"\b(?:drop(?:ped)?|retired?|give up|gave up|got? rid of|reverted)\s+(?P<old>.{{2,40}}?){_END}",
        r"(?P<old>[^.,;]{2,40}?)\s+(?:is|are|was|were)\s+replaced by",
        rf"\bnicht mehr\s+(?:über|mit|in|auf)?\s*(?P<old>.{{2,40}}?){_END}",
        rf"\bjuż nie\s+(?:używamy|korzystamy z)?\s*(?P<old>.{{2,40}}?){_END}",
        rf"\bбольше не\s+(?:используем|храним в)?\s*(?P<old>.{{2,40}}?){_END}",
        r"(?P<old>[^。、]{2,20})(?:の代わりに|ではなく|をやめて)",
    )
)
_DENIED: Final = re.compile(rf"\b(?:not|no|never|without|nicht|kein\w*|nie|bez|не|без|{_INSTEAD})\b", re.IGNORECASE)
_SETTLED: Final = re.compile(
    r"\b(?:we (?:now )?(?:use|keep|run|store|cache|go)|is now|are now|use|uses|stays?|lives? in|goes|go(?:es)? to"
    r"|ab jetzt|jetzt|nehmen|teraz|używamy|od dziś|теперь|используем)\b|にする|使う",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;:–—、，]")
_COMMON_LEAST: Final = 1


def replaces(new: Sequence[Claim], old: Sequence[Claim]) -> dict[int, int]:
    """Number of a claim → number of the earlier decision it replaces. Any doubt is none.

    The new claim must settle something, name what it takes the place of, and the old one must be a decision for
    exactly that, about the same subject.
    """
    found: dict[int, int] = {}
    for n, claim in enumerate(new):
        if not _settles(claim):
            continue
        gone = replaced_things(claim.text)
        about = _content(claim.text)
        for m, earlier in enumerate(old):
            if earlier.until or earlier.section == claim.section or m in found.values() or not _decides(earlier):
                continue
            chosen = _content(_affirmed(earlier.text))
            before = _content(earlier.text)
            named = [thing for thing in gone if thing and thing <= chosen]
            if not named:
                continue
            thing = max(named, key=len)
            subject = (about & before) - thing - {word for word in about if is_light(word)}
            if len(subject) >= _COMMON_LEAST and not _content(_affirmed(_without_things(claim.text))) >= thing:
                found[n] = m
                break
    return found


def replaced_things(text: str) -> list[frozenset[str]]:
    """The words of each thing a sentence says is replaced."""
    return [_content(match["old"]) for cue in _CUES for match in cue.finditer(text)]


def denies(text: str) -> bool:
    """Whether a sentence denies something."""
    return bool(_DENIED.search(text))


def _without_things(text: str) -> str:
    """A sentence without the things it says are replaced."""
    for cue in _CUES:
        text = cue.sub(lambda match: match[0].replace(match["old"], " "), text)
    return text


def _settles(claim: Claim) -> bool:
    if label(claim.quote)[0] in ("decision", "lesson"):
        return True
    weights = cues.lexicon().weigh(claim.text, person=True, language=cues.language(claim.text))
    return bool(_SETTLED.search(claim.text)) or weights.get("decision", 0) >= 1


def _decides(claim: Claim) -> bool:
    named = label(claim.quote)[0]
    if named:
        return named == "decision"
    weights = cues.lexicon().weigh(claim.text, person=True, language=cues.language(claim.text))
    return weights.get("decision", 0) >= 1 or bool(_SETTLED.search(claim.text))


def _affirmed(text: str) -> str:
    """A sentence without what it denies: "Cache in SQLite, not Redis" → "Cache in SQLite"."""
    kept = []
    for clause in _CLAUSE.split(text):
        denied = _DENIED.search(clause)
        kept.append(clause[: denied.start()] if denied else clause)
    return " ".join(kept)


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in tokens(text) if word not in _SMALL)


_SMALL: Final = frozenset(map(fold, ("the", "a", "our", "der", "die", "das", "den", "im", "in", "na", "w")))
