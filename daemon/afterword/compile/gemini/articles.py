"""The compile step: its prompt, the form of the answer, the check. A day with too much in it is asked for in parts."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from afterword.compile.gemini.answers import Question
from afterword.compile.gemini.data import RULES, Ground, acceptable, fenced, off_form, seen
from afterword.compile.gemini.transport import Request
from afterword.compile.sentences import normal
from afterword.compile.validate import said
from afterword.domain.articles import (
    MAX_PER_DAY,
    MIN_PER_DAY,
    RELATED,
    Claim,
    CompileInput,
    Proposal,
    SectionText,
    name_key,
)
from afterword.domain.slugs import slug

STEP: Final = "compile"
VERSION: Final = 1
MAX_OUTPUT: Final = 16_384
_MAX_POINTS: Final = 8
_MAX_TAGS: Final = 5
_MAX_ALIASES: Final = 3
_KNOWN_POINTS: Final = 3
_KNOWN_CHARS: Final = 160

SYSTEM: Final = f"""\
You keep a person's knowledge base. From the sections of one day's diary you write its articles: what is worth finding \
again in months. One matter is one article.

title: what a person would look it up under: a noun phrase or a short statement, no sentence fragment, no date.
points: two to {_MAX_POINTS} key points, whole sentences that can be understood by themselves. `section` is the id of \
the section, `quote` is copied out of the `quote` of one of that section's points.
details: one to four paragraphs that tell how it was, each with a section and a quote like the points.
related: at least {RELATED} other articles it has to do with, by the id of a known article or the title of one of \
yours, with the reason in a few words. Only what is there.
kind: `connection` only for what two or more sessions show together, with quotes from each of them; else `concept`.
tags: one to {_MAX_TAGS} lower-case words. aliases: other names it is looked up under, if any.

Where a section tells more about a known article, give your article that article's title: it is merged. One that is \
marked never_used was of no use to anybody so far: write no second one of its kind unless it is worth finding. Never \
state again what is listed as retracted.

{RULES}"""

_CLAIM: Final = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "section": {"type": "string"}, "quote": {"type": "string"}},
    "required": ["text", "section", "quote"],
}
_WORDS: Final = {"type": "array", "items": {"type": "string"}}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "articles": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["concept", "connection"]},
                    "title": {"type": "string"},
                    "points": {"type": "array", "items": _CLAIM},
                    "details": {"type": "array", "items": _CLAIM},
                    "tags": _WORDS,
                    "aliases": _WORDS,
                    "related": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"to": {"type": "string"}, "reason": {"type": "string"}},
                            "required": ["to", "reason"],
                        },
                    },
                },
                "required": ["kind", "title", "points", "details", "tags", "aliases", "related"],
            },
        }
    },
    "required": ["articles"],
}


class _Claim(msgspec.Struct, frozen=True):
    text: str
    section: str
    quote: str


class _Link(msgspec.Struct, frozen=True):
    to: str
    reason: str


class _Article(msgspec.Struct, frozen=True):
    kind: Literal["concept", "connection"]
    title: str
    points: list[_Claim]
    details: list[_Claim]
    tags: list[str]
    aliases: list[str]
    related: list[_Link]


class _Answer(msgspec.Struct, frozen=True):
    articles: list[_Article]


def parts(day: CompileInput, bound_bytes: int) -> list[CompileInput]:
    """The day cut at sections, each piece under the bound."""
    aside = _size_bytes(_asides(day))
    while day.known and aside > bound_bytes // 3:
        day = msgspec.structs.replace(day, known=day.known[:-1])  # the least related
        aside = _size_bytes(_asides(day))
    room = max(2_000, bound_bytes - len(SYSTEM.encode()) - aside - 2_000)
    rows: list[list[SectionText]] = [[]]
    used = 0
    for section in day.sections:
        size = _size_bytes([_row("s000", section)])
        if rows[-1] and used + size > room:
            rows.append([])
            used = 0
        rows[-1].append(section)
        used += size
    return [msgspec.structs.replace(day, sections=tuple(row)) for row in rows]


def halved(piece: CompileInput) -> list[CompileInput]:
    """Two smaller pieces, or none where it has but one section."""
    half = len(piece.sections) // 2
    if not half:
        return []
    return [
        msgspec.structs.replace(piece, sections=piece.sections[:half]),
        msgspec.structs.replace(piece, sections=piece.sections[half:]),
    ]


def question(piece: CompileInput, model: str, *, alone: bool) -> Question:
    """What a model is asked about a day, or a piece of it; `alone`: this is all that is asked about the day."""
    rows = [_row(f"s{n}", section) for n, section in enumerate(piece.sections, 1)]
    if not alone:
        wanted = f"This is a part of the day: write one to {min(3, piece.most)} articles."
    elif piece.most < MAX_PER_DAY:
        wanted = f"The day has articles already: write none to {piece.most} more."
    else:
        wanted = f"Write {MIN_PER_DAY} to {MAX_PER_DAY} articles."
    again = "\nYour first answer had the faults named as `fault`. Answer anew, whole." if piece.fault else ""
    text = f"The day is {piece.day}.\n\n{fenced((*_asides(piece), *rows))}\n\n{wanted}{again}"
    made_of = hashlib.blake2b(
        json.dumps((rows, piece.most, alone, bool(piece.fault))).encode(), digest_size=16
    ).digest()
    return Question(
        step=STEP,
        subject=piece.day,
        made_of=made_of,
        version=VERSION,
        request=Request(model, SYSTEM, text, SCHEMA, MAX_OUTPUT),
        check=lambda answer: read(answer, piece),
        divisible=bool(halved(piece)),
    )


def read(answer: str, piece: CompileInput) -> list[Proposal]:
    """The articles an answer holds; what of them is not proved by the sections is left out.

    Raises:
        ModelFault: it has not the form that was asked for.
    """
    try:
        found = msgspec.json.decode(answer.encode(), type=_Answer)
    except (msgspec.DecodeError, UnicodeEncodeError) as err:
        raise off_form(err) from err
    proof = _Proof(piece)
    return [proposal for each in found.articles if (proposal := proof.proposal(each))]


class _Proof:
    """What the sections say, for holding articles against it."""

    def __init__(self, piece: CompileInput) -> None:
        self._sections = {f"s{n}": section for n, section in enumerate(piece.sections, 1)}
        self._said = {ref: normal(seen(said(section.digest))) for ref, section in self._sections.items()}
        self._ground = {ref: Ground((text, self._sections[ref].project)) for ref, text in self._said.items()}
        self._known: Mapping[str, str] = {f"k{n}": known.uid for n, known in enumerate(piece.known, 1)}

    def proposal(self, given: _Article) -> Proposal | None:
        title = normal(seen(given.title))
        if not acceptable(title):
            return None
        points = tuple(claim for each in given.points if (claim := self._claim(each)))[:_MAX_POINTS]
        details = [claim for each in given.details if (claim := self._claim(each))]
        if not points:
            return None
        sections = [section for section in self._sections.values() if section.key in {c.section for c in points}]
        return Proposal(
            kind=given.kind,
            title=title,
            points=points,
            details="\n\n".join(dict.fromkeys(claim.text for claim in details)),
            tags=tuple(dict.fromkeys(slug(tag) for tag in given.tags if _word(tag)))[:_MAX_TAGS],
            projects=tuple(dict.fromkeys(s.project for s in sections if s.project != "unknown")),
            aliases=self._aliases(given.aliases, title),
            related=self._related(given.related),
            weight=round(len(points) + 0.5 * len(sections), 2),
        )

    def _claim(self, given: _Claim) -> Claim | None:
        section = self._sections.get(given.section)
        text, quote = normal(seen(given.text)), normal(seen(given.quote))
        if section is None or not quote or quote not in self._said[given.section]:
            return None
        if not acceptable(text) or not self._ground[given.section].bears(text):
            return None
        return Claim(text, section.key, quote)

    def _related(self, given: Sequence[_Link]) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        for link in given:
            to, reason = normal(seen(link.to)), normal(seen(link.reason))[:200]
            if to and acceptable(reason):
                found.setdefault(self._known.get(to, to), reason)
        return tuple(found.items())

    @staticmethod
    def _aliases(given: Sequence[str], title: str) -> tuple[str, ...]:
        names = (normal(seen(alias)) for alias in given)
        kept = [name for name in names if acceptable(name) and len(name) <= 80 and name_key(name) != name_key(title)]
        return tuple(dict.fromkeys(kept))[:_MAX_ALIASES]


def _word(tag: str) -> bool:
    return bool(normal(seen(tag))) and len(tag) <= 40 and acceptable(tag)


def _row(ref: str, section: SectionText) -> dict[str, Any]:
    digest = section.digest
    named = (
        ("context", (digest.context,)),
        ("exchange", digest.exchanges),
        ("decision", digest.decisions),
        ("lesson", digest.lessons),
        ("action", digest.actions),
    )
    return {
        "id": ref,
        "session": hashlib.blake2b(section.session.encode(), digest_size=3).hexdigest(),
        "time": section.time,
        "agent": section.harness,
        "project": section.project,
        "title": seen(section.title),
        "points": [
            {"part": part, "text": seen(point.text), "quote": seen(point.quote)} for part, row in named for point in row
        ],
    }


def _size_bytes(rows: Sequence[Mapping[str, Any]]) -> int:
    return sum(len(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")) + 1 for row in rows)


def _asides(day: CompileInput) -> list[dict[str, Any]]:
    """What a model is told beside the sections: the articles there are, and what was retracted."""
    known = [
        {
            "id": f"k{n}",
            "known_article": seen(article.title),
            "says": [seen(point)[:_KNOWN_CHARS] for point in article.points[:_KNOWN_POINTS]],
            **({"never_used": True} if article.unused else {}),
        }
        for n, article in enumerate(day.known, 1)
    ]
    fault = [{"fault": day.fault}] if day.fault else []
    return [*known, *({"retracted": seen(claim)} for claim in day.retracted), *fault]
