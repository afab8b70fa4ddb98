"""The digest step: its prompt, the form of the answer, the check. A long segment is asked for in parts."""

import hashlib
import json
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final

import msgspec

from afterword.compile.engine import MAX_ACTIONS, MAX_CONTEXT, MAX_DECISIONS, MAX_EXCHANGES, MAX_LESSONS, MAX_TEXT
from afterword.compile.gemini.answers import Question
from afterword.compile.gemini.data import RULES, Ground, acceptable, fenced, off_form, seen
from afterword.compile.gemini.faults import ModelFault
from afterword.compile.gemini.transport import Request
from afterword.compile.sentences import normal
from afterword.domain.digest import Digest, DigestInput, Passage, Point
from afterword.domain.items import SaidBy

STEP: Final = "digest"
VERSION: Final = 1
MAX_OUTPUT: Final = 8_192

SYSTEM: Final = f"""\
You write up one stretch of work of a person with a coding agent, for the person's own diary.

context: one sentence, what it was about and how it came out (at most {MAX_CONTEXT} characters).
exchanges: the turning points, in order, at most {MAX_EXCHANGES}.
decisions: what was decided, with the reason if one was given, at most {MAX_DECISIONS}.
lessons: what somebody will want to know next time: a cause and what made it go away, a limit, a trap; at most \
{MAX_LESSONS}.
actions: what is still to be done by somebody, at most {MAX_ACTIONS}.

Each is a whole sentence of at most {MAX_TEXT} characters that can be understood by itself. `items` are the ids of the
lines it rests on; its quote is in one of them. Decisions, lessons and actions rest on what the person or the agent
said, never on a program's output alone.

{RULES}"""

_POINT: Final = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "quote": {"type": "string"},
    },
    "required": ["text", "items", "quote"],
}
_PARTS: Final = ("exchanges", "decisions", "lessons", "actions")
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"context": _POINT, **{part: {"type": "array", "items": _POINT} for part in _PARTS}},
    "required": ["context", *_PARTS],
}


class _Point(msgspec.Struct, frozen=True):
    text: str
    items: list[str]
    quote: str


class _Digest(msgspec.Struct, frozen=True):
    context: _Point
    exchanges: list[_Point]
    decisions: list[_Point]
    lessons: list[_Point]
    actions: list[_Point]


def parts(segment: DigestInput, bound_bytes: int) -> list[DigestInput]:
    """The segment cut at items, each piece under the bound; an item that is longer is shortened in its middle."""
    room = max(1_000, bound_bytes - len(SYSTEM.encode()) - 2_000)
    rows: list[list[Passage]] = [[]]
    used = 0
    for passage in segment.passages:
        fits = _within(passage, room)
        size = _size(fits)
        if rows[-1] and used + size > room:
            rows.append([])
            used = 0
        rows[-1].append(fits)
        used += size
    reports = tuple(_within(report, room // 4) for report in segment.reports)
    while len(reports) > 1 and used + sum(map(_size, reports)) > room:
        reports = reports[1:]
    return [
        msgspec.structs.replace(segment, passages=tuple(row), reports=reports if n == len(rows) - 1 else ())
        for n, row in enumerate(rows)
    ]


def halved(piece: DigestInput) -> list[DigestInput]:
    """Two smaller pieces, or none where it has but one item."""
    half = len(piece.passages) // 2
    if not half:
        return []
    return [
        msgspec.structs.replace(piece, passages=piece.passages[:half], reports=()),
        msgspec.structs.replace(piece, passages=piece.passages[half:]),
    ]


def question(piece: DigestInput, model: str) -> Question:
    """What a model is asked about a piece of a segment."""
    rows = [_row(f"i{n}", passage) for n, passage in enumerate(_passages(piece), 1)]
    about = {"project": piece.project, "agent": piece.harness}
    text = f"{fenced((about, *rows))}\n\nWrite it up."
    made_of = hashlib.blake2b(json.dumps(rows).encode(), digest_size=16).digest()
    return Question(
        step=STEP,
        subject=piece.key,
        made_of=made_of,
        version=VERSION,
        request=Request(model, SYSTEM, text, SCHEMA, MAX_OUTPUT),
        check=lambda said: read(said, piece),
        divisible=bool(halved(piece)),
    )


def read(said: str, piece: DigestInput) -> Digest:
    """The digest an answer holds, its points proved.

    Raises:
        ModelFault: it has not the form that was asked for, or nothing in it is proved.
    """
    try:
        found = msgspec.json.decode(said.encode(), type=_Digest)
    except (msgspec.DecodeError, UnicodeEncodeError) as err:
        raise off_form(err) from err
    proof = _Proof(piece)
    context = proof.point(found.context)
    exchanges = proof.points(found.exchanges)
    decisions = proof.points(found.decisions, spoken=True)
    lessons = proof.points(found.lessons, spoken=True)
    actions = proof.points(found.actions, spoken=True)
    if context is None:
        rest = (*decisions, *lessons, *exchanges, *actions)
        if not rest:
            raise ModelFault("no point of the answer is proved by its quote", why="unproved")
        context = rest[0]
    return Digest(context, exchanges, decisions, lessons, actions)


def merged(digests: Sequence[Digest]) -> Digest:
    """One digest of those of the pieces, in order; where there is not room for all, each piece has its turn."""
    first = digests[0]
    if len(digests) == 1:
        return first

    def turns(part: str, most: int) -> tuple[Point, ...]:
        rows = [getattr(digest, part) for digest in digests]
        chosen = [point for row in zip_longest(*rows) for point in row if point is not None][:most]
        return tuple(point for row in rows for point in row if point in chosen)

    return Digest(
        first.context,
        turns("exchanges", MAX_EXCHANGES),
        turns("decisions", MAX_DECISIONS),
        turns("lessons", MAX_LESSONS),
        turns("actions", MAX_ACTIONS),
    )


class _Proof:
    """What the piece says, for holding points against it."""

    def __init__(self, piece: DigestInput) -> None:
        self._passages = {f"i{n}": passage for n, passage in enumerate(_passages(piece), 1)}
        self._texts = {ref: normal(seen(passage.text)) for ref, passage in self._passages.items()}
        paths = (passage.path or "" for passage in self._passages.values())
        self._ground = Ground((*self._texts.values(), *paths, piece.project))

    def points(self, given: Sequence[_Point], *, spoken: bool = False) -> tuple[Point, ...]:
        return tuple(point for each in given if (point := self.point(each, spoken=spoken)))

    def point(self, given: _Point, *, spoken: bool = False) -> Point | None:
        """The point with the items' own ids, or None; `spoken`: its quote is somebody's words, not a program's."""
        quote = normal(seen(given.quote))
        refs = [ref for ref in dict.fromkeys(given.items) if ref in self._passages]
        holding = [ref for ref in refs if quote and quote in self._texts[ref]]
        if spoken:
            holding = [ref for ref in holding if self._passages[ref].said_by is not SaidBy.MACHINE]
        text = normal(seen(given.text))
        if not holding or not acceptable(text) or not self._ground.bears(text):
            return None
        first = [holding[0], *(ref for ref in refs if ref != holding[0])]
        return Point(text, tuple(dict.fromkeys(self._passages[ref].item for ref in first)), quote)


def _passages(piece: DigestInput) -> tuple[Passage, ...]:
    return (*piece.passages, *piece.reports)


def _row(ref: str, passage: Passage) -> dict[str, Any]:
    row: dict[str, Any] = {"id": ref, "kind": passage.kind.word, "by": passage.said_by.name.lower()}
    if passage.path:
        row["path"] = seen(passage.path)
    if passage.exit_status is not None:
        row["exit"] = passage.exit_status
    return row | {"text": seen(passage.text)}


def _size(passage: Passage) -> int:
    return len(json.dumps(_row("i0000", passage), ensure_ascii=False).encode("utf-8", "replace")) + 1


def _within(passage: Passage, room: int) -> Passage:
    text = passage.text
    while _size(passage) > room and text:
        text = text[: len(text) * 2 // 3]
        half = len(text) // 2
        passage = msgspec.structs.replace(passage, text=f"{passage.text[:half]}\n…\n{passage.text[-half:]}")
        if half < 10:
            break
    return passage
