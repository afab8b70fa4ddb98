"""What a day's digests state, each with its quote, its weight and whether it can be read alone."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from afterword.compile import cues, wording
from afterword.compile.fixes import is_fix
from afterword.compile.likeness import counted
from afterword.compile.sentences import normal, plain
from afterword.domain.articles import Claim, SectionText
from afterword.domain.digest import Point

Role: TypeAlias = Literal["context", "cause", "decision", "lesson", "fact", "outcome", "fix"]

_CAUSE = re.compile(
    r"root cause|\bthe cause\b|\bcaused by\b|\bbecause\b|\breason\b|\bturned out\b|\bwhat fixed it\b"
    r"|przyczyn|ponieważ|bo \w|причин|потому что|из-за|הסיבה|כי |בגלל"
    r"|ursache|weil |cause |parce que|porque|perché|原因|なぜなら|ため|因为|때문",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:at|um|o|в|à|a las|alle|às) \d{1,2}(?::\d\d|\s?[ap]m|\s?uhr)\b"
    r"|\b(?:tonight|tomorrow|this (?:morning|afternoon|evening)|heute (?:abend|nacht)"
    r"|dziś|dzisiaj|jutro|сегодня|завтра|ce soir|demain|esta noche|mañana por|stasera|domani"
    r"|hoje|amanhã)\b|今夜|今晩|明日|今晚|明天|오늘 밤|내일|מחר|הלילה",
    re.IGNORECASE,
)
_EACH_TIME = re.compile(
    r"\b(?:every|each|daily|nightly|hourly|weekly|always|cron|schedul\w+|jede[nrs]?|täglich|nächtlich|każd\w+|co noc"
    r"|codziennie|кажд\w+|ежедневно|chaque|tous les|cada|todos|ogni|whenever|never)\b|毎|每|매일|כל ",
    re.IGNORECASE,
)
_ARROWS = (" → ", " ← ")
_REDACTED = "[redacted:"


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One sentence or two. `weight` says how much it is worth as a key point; below 1 it is none."""

    section: SectionText
    order: int
    role: Role
    text: str
    quote: str
    labelled: bool
    """The speaker called it a lesson or a decision."""
    stands: bool
    tells: bool
    """It can be told in the account of its session."""
    personal: bool
    """Somebody speaks of themselves: told, but no point of an article."""
    weight: float
    words: Counter[str]
    items: tuple[str, ...]

    @property
    def planned(self) -> bool:
        """It is a plan, not knowledge."""
        return self.role == "decision" and is_plan(self.text)

    @property
    def claim(self) -> Claim:
        return Claim(self.text, self.section.key, self.quote)


def names_cause(text: str) -> bool:
    """Whether a sentence says why something is so."""
    return bool(_CAUSE.search(text))


def is_plan(text: str) -> bool:
    """Whether a sentence sets a time for something that happens once; over by the time that somebody reads it."""
    return bool(_ONCE.search(text)) and not _EACH_TIME.search(text)


def statements(section: SectionText) -> list[Statement]:
    """Everything a section says, in its order."""
    made = []
    for order, (part, point) in enumerate(_joined(section)):
        statement = _statement(section, order, part, point)
        if statement:
            made.append(statement)
    return made


def _joined(section: SectionText) -> Iterator[tuple[str, Point]]:
    """The points with sentences put together that an ellipsis inside had parted ("SELECT … FOR UPDATE")."""
    held: tuple[str, Point] | None = None
    for part, point in _points(section):
        if held and held[1].text.endswith("…") and held[0] == part and held[1].items == point.items:
            before = held[1]
            held = (part, Point(f"{before.text} {point.text}", point.items, f"{before.quote} {point.quote}"))
            continue
        if held:
            yield held
        held = (part, point)
    if held:
        yield held


def _points(section: SectionText) -> Iterator[tuple[str, Point]]:
    digest = section.digest
    yield "context", digest.context
    for part in ("exchanges", "decisions", "lessons"):
        for point in getattr(digest, part):
            yield part, point


def _statement(section: SectionText, order: int, part: str, point: Point) -> Statement | None:
    text, quote = normal(point.text), normal(point.quote)
    if not quote or not text or _REDACTED in text or _REDACTED in quote:
        return None
    arrow = next((arrow for arrow in _ARROWS if arrow in text), "")
    fix = part == "exchanges" and not arrow and is_fix(text)
    if part == "exchanges" and arrow:
        text = plain(quote)
    elif text[0].islower() and quote.endswith(f"I {text}"):
        text = f"I {text}"
    if part == "context" and text.endswith(("?", "？")) and " – " in text:
        text = text.partition(" – ")[0]
    # The digest shows a sentence without its label; the quote still has it.
    named, rest = wording.label(text)
    named = named or wording.label(quote)[0]
    text = rest if fix else wording.start(rest)
    role = _role(part, named, text, fix=fix)
    labelled = named in ("lesson", "decision")
    stands = fix or wording.stands(text)
    return Statement(
        section=section,
        order=order,
        role=role,
        text=wording.ended(text),
        quote=quote,
        labelled=labelled,
        stands=stands,
        tells=stands or (part in ("decisions", "lessons") and wording.tells(text)),
        personal=not labelled and wording.personal(text),
        weight=_weight(part, role, text, labelled=labelled, stands=stands),
        words=counted(text, pairs=False),
        items=point.items,
    )


def _role(part: str, named: str, text: str, *, fix: bool) -> Role:
    if part == "context":
        return "context"
    if fix:
        return "fix"
    if named == "decision" or (part == "decisions" and named != "lesson"):
        return "decision"
    if named == "cause" or names_cause(text):
        return "cause"
    if named == "lesson":
        return "lesson"
    return "outcome" if part == "exchanges" else "fact"


def _weight(part: str, role: Role, text: str, *, labelled: bool, stands: bool) -> float:
    weight = {"lessons": 2.0, "decisions": 1.8, "exchanges": 0.9, "context": 0.4}[part]
    weight += 2.5 if labelled else 0.0
    weight += 1.2 if role == "cause" else 0.0
    weight += 0.5 if cues.is_technical(text) else 0.0
    weight += 0.3 if 40 <= len(text) <= 220 else 0.0
    if part != "decisions" and len(text) < 48 and not labelled:
        weight -= 0.4
    if wording.personal(text):
        weight -= 1.6
    if not stands:
        weight -= 2.5
    if role == "fix":
        weight = min(weight, 0.5)
    return weight


def of_day(sections: Iterable[SectionText]) -> list[Statement]:
    """The statements of several sections, in order."""
    return [statement for section in sections for statement in statements(section)]
