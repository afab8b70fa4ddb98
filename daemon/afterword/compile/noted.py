"""The write-up of a person's own note: its sentences, in the part that their heading names or their words show."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from afterword.compile.cues import language, lexicon
from afterword.compile.engine import MAX_ACTIONS, MAX_DECISIONS, MAX_EXCHANGES, MAX_LESSONS, MAX_TEXT, fallback
from afterword.compile.sentences import cut, plain, sentences
from afterword.domain.digest import Digest, DigestInput, Passage, Point
from afterword.domain.items import Kind

_PARTS: Final = ("decision", "lesson", "action")
_HEADINGS: Final = {
    "decision": r"\bdecisions?\b|\bdecided\b|entscheid|beschl(?:uss|üsse|ossen)|d[ée]cisions?|decyzj|ustaleni"
    r"|решени|החלט",
    "lesson": r"\blessons?\b|learn(?:ed|t|ings?)\b|\bTIL\b|gotchas?|pitfalls?|insights?|erkenntnis|gelernt|wniosk|lekcj"
    r"|nauczy|appris|aprendid|вывод|урок|узнал|לקח|תובנ|root cause|findings?",
    "action": r"\bto-?dos?\b|actions?\b|next steps?|open (?:points|questions|items)|follow[ -]?ups?|offen"
    r"|nächste schritte|à faire|zadani|do zrobienia|pendientes|сделать|задач|משימ|לביצוע",
}
_HEADED: Final = tuple((part, re.compile(words, re.IGNORECASE)) for part, words in _HEADINGS.items())
_LEAST: Final = 2.0
_LEAST_CHARS: Final = 12
_LIMITS: Final = {
    "decision": MAX_DECISIONS, "lesson": MAX_LESSONS, "action": MAX_ACTIONS, "exchange": MAX_EXCHANGES,
}  # fmt: skip


def noted(segment: DigestInput) -> Digest:
    """The digest of a note. The first sentence says what it is about; code and what is ticked off is no action."""
    speaks = language(" ".join(passage.text[:400] for passage in segment.passages[:60]))
    found: dict[str, list[Point]] = {part: [] for part in _LIMITS}
    context: Point | None = None
    for passage, headed in _under_headings(segment.passages):
        for sentence in sentences(passage.text):
            text = sentence.text
            if len(text) < _LEAST_CHARS:
                continue
            point = Point(cut(text, MAX_TEXT), (passage.item,), sentence.raw)
            part = _part(text, headed, speaks, sentence.box)
            if context is None and part == "exchange":
                name = plain(segment.title)
                context = Point(cut(f"{name}: {text}" if name else text, MAX_TEXT), point.items, point.quote)
                continue
            if len(found[part]) < _LIMITS[part]:
                found[part].append(point)
    return Digest(
        context or fallback(segment),
        tuple(found["exchange"]),
        tuple(found["decision"]),
        tuple(found["lesson"]),
        tuple(found["action"]),
    )


def _under_headings(blocks: Sequence[Passage]) -> Iterator[tuple[Passage, str]]:
    """The blocks of text with the part that the heading above them names, or nothing."""
    headed = ""
    for passage in blocks:
        if passage.kind is not Kind.REPLY:
            continue
        line = passage.text.lstrip()
        if line.startswith("#"):
            headed = next((part for part, words in _HEADED if words.search(line)), "")
        elif "\n" not in line and line.rstrip("*_").endswith(":") and len(line) <= 60:
            headed = next((part for part, words in _HEADED if words.search(line)), headed)
        else:
            yield passage, headed


def _part(text: str, headed: str, speaks: str, box: str) -> str:
    if box:
        return "action" if box == " " else "exchange"
    if headed:
        return headed
    weights = lexicon().weigh(text, person=True, language=speaks)
    best = max(_PARTS, key=lambda part: weights.get(part, 0.0))
    return best if weights.get(best, 0.0) >= _LEAST else "exchange"
