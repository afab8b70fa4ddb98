"""What every engine promises, and the check every digest passes whichever engine made it."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from afterword.compile.sentences import cut, normal, plain
from afterword.domain.articles import CompileInput, Pair, Proposal, Verdict
from afterword.domain.digest import Digest, DigestInput, Passage, Point
from afterword.domain.errors import TransientError
from afterword.domain.items import Kind, SaidBy

MAX_TEXT = 240
MAX_CONTEXT = 320
MAX_QUOTE = 300
MIN_QUOTE = 4
"""A shorter quote proves nothing, unless it is the whole item."""
MAX_ITEMS = 8
MAX_EXCHANGES = 6
MAX_DECISIONS = 5
MAX_LESSONS = 5
MAX_ACTIONS = 6

_SURROGATE = re.compile("[\ud800-\udfff]")


class Waiting(TransientError):
    """A model was asked and has not answered yet: the same is to be asked again when it has. Nothing is wrong."""

    kind = "waiting"


class Engine(Protocol):
    """Writes segments and days up. Touches no file; what it returns goes through `check`."""

    name: str
    paid: bool
    """Whether every word costs: then only what is new in a day is given to it, and what it wrote stands."""

    def digest(self, segment: DigestInput) -> Digest:
        """The write-up of one segment."""

    def compile(self, day: CompileInput) -> list[Proposal]:
        """The articles of one day, as data; they go through `validate.valid`."""

    def compare(self, day: str, pairs: Sequence[Pair]) -> list[Verdict]:
        """What the later of each two tellings, met while a day is compiled, is to the earlier; empty where that is left
        to what is measured. Any doubt is `distinct`."""

    def nothing(self, day: CompileInput) -> None:
        """Told that not one article of a day stands after both rounds. What it raises keeps the day pending."""


Choose: TypeAlias = Callable[[str, str], Engine]
"""(day, name of the engine that wrote it before or nothing) → who writes it now."""


def check(digest: Digest, segment: DigestInput) -> Digest:
    """The digest with every point proved by its quote, bounded, and said once; the context is always there.

    A point goes when its quote is in none of its items (white space normalised), when it has no text, or when an
    earlier point says the same. The more telling parts come first: decisions, lessons, actions, then exchanges.
    """
    proof = _Proof(segment)
    context = proof.check(digest.context, MAX_CONTEXT) or fallback(segment)
    said = {_bare(context.text)}

    def keep(points: Iterable[Point], most: int) -> tuple[Point, ...]:
        kept: list[Point] = []
        for point in points:
            checked = proof.check(point, MAX_TEXT)
            if checked is None or _bare(checked.text) in said:
                continue
            said.add(_bare(checked.text))
            kept.append(checked)
            if len(kept) == most:
                break
        return tuple(kept)

    decisions = keep(digest.decisions, MAX_DECISIONS)
    lessons = keep(digest.lessons, MAX_LESSONS)
    actions = keep(digest.actions, MAX_ACTIONS)
    return Digest(context, keep(digest.exchanges, MAX_EXCHANGES), decisions, lessons, actions)


def fallback(segment: DigestInput) -> Point:
    """A context from the first live prompt, else from whatever text there is."""
    prompts = [p for p in segment.passages if p.kind is Kind.PROMPT and p.text.strip()]
    persons = [p for p in prompts if p.said_by is SaidBy.PERSON]
    for passage in [*persons, *prompts, *(p for p in segment.passages if p.text.strip())]:
        quote = _quotable(normal(passage.text[: 4 * MAX_CONTEXT]))
        text = cut(plain(quote), MAX_CONTEXT)
        if quote and _bare(text):
            return Point(text, (passage.item,), _short(quote))
    return Point(cut(_whole(plain(segment.title)), MAX_CONTEXT) or segment.project or segment.harness, (), "")


class _Proof:
    """The texts of a segment, normalised when first asked for."""

    def __init__(self, segment: DigestInput) -> None:
        self._passages: dict[str, list[Passage]] = {}
        for passage in (*segment.passages, *segment.reports):
            self._passages.setdefault(passage.item, []).append(passage)
        self._texts: dict[str, list[str]] = {}

    def check(self, point: Point, limit: int) -> Point | None:
        text = cut(_whole(normal(point.text)), limit)
        quote = _short(_quotable(normal(point.quote)))
        items = tuple(item for item in dict.fromkeys(point.items) if item in self._passages)[:MAX_ITEMS]
        if not quote or not _bare(text):
            return None
        if not any(self._holds(item, quote) for item in items):
            return None
        return Point(text, items, quote)

    def _holds(self, item: str, quote: str) -> bool:
        if item not in self._texts:
            self._texts[item] = [normal(passage.text) for passage in self._passages[item]]
        return any(quote in text and (len(quote) >= MIN_QUOTE or quote == text) for text in self._texts[item])


def _whole(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _quotable(quote: str) -> str:
    """The longest stretch that can be written as UTF-8."""
    return max(_SURROGATE.split(quote), key=len).strip()


def _short(quote: str) -> str:
    """At most MAX_QUOTE characters, ending at a word where there is one: still a substring."""
    if len(quote) <= MAX_QUOTE:
        return quote
    at = quote.rfind(" ", MAX_QUOTE // 2, MAX_QUOTE + 1)
    return quote[: at if at > 0 else MAX_QUOTE].strip()


def _bare(text: str) -> str:
    """For comparison: letters and digits only, case folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
