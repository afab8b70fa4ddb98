"""Knowledge articles: what an engine proposes, what the ledger holds, how a person's edits lie over it."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.digest import Digest
from afterword.domain.escape import unescape
from afterword.domain.ids import ArticleUid, SegmentKey, article_uid

ArticleKind: TypeAlias = Literal["concept", "connection"]
Status: TypeAlias = Literal["active", "stale", "retracted", "draft", "deleted", "withdrawn"]

LIVE: Final = frozenset({"active", "stale", "draft"})
"""Statuses of articles that are linked to and counted. `deleted`: a person took the file away; `withdrawn`: what the
article was made of says something else now."""
MAX_PER_DAY: Final = 7
MIN_PER_DAY: Final = 3
RELATED: Final = 2
"""How many related links an article has at least, as far as there are other articles."""


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement with the section it was made in and a quote found there. `until` is the day from which on another
    one holds in its place; it is history then."""

    text: str
    section: SegmentKey
    quote: str
    until: str = ""

    @property
    def place(self) -> tuple[SegmentKey, str]:
        """Section and quote: where it was said."""
        return self.section, self.quote

    @property
    def mark(self) -> str:
        """A name for the place that holds no text."""
        return article_uid(self.section, self.quote)


class Related(msgspec.Struct, frozen=True):
    """A link to another article, and why."""

    uid: ArticleUid
    reason: str


class Article(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an article says, as stored. `details` are paragraphs with an empty line between them; days are
    `YYYY-MM-DD`. `merged` are the uids of the proposals that proved to be this article."""

    kind: ArticleKind
    title: str
    slug: str
    points: tuple[Claim, ...]
    details: str
    created: str
    updated: str
    engine: str
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    merged: tuple[str, ...] = ()
    status: Status = "active"
    retract_reason: str = ""
    retracted_on: str = ""
    replaced_by: str = ""

    @property
    def sections(self) -> tuple[SegmentKey, ...]:
        """The sections it was drawn from, in the order of its points."""
        return tuple(dict.fromkeys(claim.section for claim in self.points))

    @property
    def names(self) -> tuple[str, ...]:
        """Title and aliases."""
        return tuple(dict.fromkeys((self.title, *self.aliases)))


class Proposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """An article as an engine returns it. `related` are (title, slug or uid of another article, reason)."""

    kind: ArticleKind
    title: str
    points: tuple[Claim, ...]
    details: str
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    related: tuple[tuple[str, str], ...] = ()
    weight: float = 0.0
    """How much evidence there is; of too many the heaviest stay."""

    @property
    def uid(self) -> ArticleUid:
        """The uid of the article it becomes unless it is merged: made from its first evidence."""
        return article_uid(self.points[0].section, self.points[0].quote)


class SectionText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A section as compile sees it, a person's edits laid over. `session` is the session's id, `title` its given title
    or nothing. `written` are the texts a person wrote into it: they prove themselves."""

    key: SegmentKey
    day: str
    time: str
    harness: str
    project: str
    session: str
    title: str
    digest: Digest
    written: tuple[str, ...] = ()


class Known(msgspec.Struct, frozen=True):
    """An article that exists, as an engine is told of it."""

    uid: ArticleUid
    title: str
    slug: str
    points: tuple[str, ...]
    unused: bool = False
    """Nobody came upon it, opened or cited it so far."""


class Telling(msgspec.Struct, frozen=True):
    """An article, or what would become one, as it is put beside another: its newest day, title, and what it says."""

    day: str
    title: str
    points: tuple[str, ...]


class Pair(msgspec.Struct, frozen=True):
    """Two tellings that may be of one matter, in the order of their days."""

    earlier: Telling
    later: Telling


Verdict: TypeAlias = Literal["same", "supersedes", "contradicts", "distinct"]
"""What the later of two tellings is to the earlier one; any doubt is distinct."""


class Ruling(msgspec.Struct, frozen=True, array_like=True):
    """That what says one of `later` is this to what says one of `earlier`; both are marks of claims."""

    verdict: Verdict
    later: tuple[str, ...]
    earlier: tuple[str, ...]


class CompileInput(msgspec.Struct, frozen=True):
    """A day's sections, the most related articles, claims that were retracted, and how many articles there may be.
    `fault` is what was wrong with the first answer; empty at first."""

    day: str
    sections: tuple[SectionText, ...]
    known: tuple[Known, ...] = ()
    retracted: tuple[str, ...] = ()
    most: int = MAX_PER_DAY
    fault: str = ""


class Struck(msgspec.Struct, frozen=True, omit_defaults=True):
    """A point that a person retracted of an article that holds otherwise: when, why, and what holds in its place."""

    claim: Claim
    day: str
    reason: str = ""
    instead: str = ""


class Edits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person changed in a note, laid over the article. None or absent: not touched."""

    title: str | None = None
    aliases: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    projects: tuple[str, ...] | None = None
    status: Status | None = None
    retract_reason: str | None = None
    retracted_on: str | None = None
    replaced_by: str | None = None
    locked: bool = False
    pinned: bool = False
    bodies: dict[str, str] = {}
    """Generated section → its Markdown as the person left it."""
    seen: tuple[str, ...] = ()
    """Quotes of the points that were there when Key Points were edited: what is not among them is new evidence."""
    claims: tuple[Claim, ...] = ()
    """What the article said when a person retracted or deleted it: none of this comes back."""
    spared: tuple[str, ...] = ()
    """Uids of proposals that had told something like it by then, in this article or in others: those stay."""
    struck: tuple[Struck, ...] = ()
    """Points that were retracted: none of these comes back, here or elsewhere."""
    linked: tuple[str, ...] = ()
    """Uids of the articles that led to it when it was retracted: those say that it was."""


class Use(msgspec.Struct, frozen=True, array_like=True):
    """How often an article was among the first five results, opened, and cited; `last` is the day of the last time."""

    returned: int = 0
    opened: int = 0
    cited: int = 0
    last: str = ""

    def __add__(self, other: "Use") -> "Use":
        return Use(
            self.returned + other.returned,
            self.opened + other.opened,
            self.cited + other.cited,
            max(self.last, other.last),
        )

    @property
    def weight(self) -> float:
        """What opened and cited come to, from 0 to 1: the first few times count most, and no number of them more
        than 1."""
        return 1.0 - math.exp2(-(self.opened + self.cited) / 4)


class Current(msgspec.Struct, frozen=True):
    """An article as it stands: the engine's text with the person's edits laid over it. `stale` is why it may be out of
    date, where that was found and nobody said otherwise."""

    uid: ArticleUid
    article: Article
    edits: Edits = Edits()
    use: Use = Use()
    stale: str = ""

    @property
    def live(self) -> bool:
        return self.article.status in LIVE


def laid_over(article: Article, edits: Edits) -> Article:
    """The article with a person's front matter in place of ours; edited sections stay in `Edits.bodies`."""
    changed: dict[str, object] = {}
    for field in ("title", "aliases", "tags", "projects", "status", "retract_reason", "retracted_on", "replaced_by"):
        value = getattr(edits, field)
        if value is not None:
            changed[field] = value
    gone = {struck.claim.place for struck in edits.struck}
    if gone and any(claim.place in gone for claim in article.points):
        changed["points"] = tuple(claim for claim in article.points if claim.place not in gone)
    return msgspec.structs.replace(article, **changed) if changed else article


_BULLET: Final = re.compile(r"^\s*[-*+]\s+")


def key_points(each: Current) -> list[str]:
    """The key points that hold, as the person left them where one changed them, without the markers of lists."""
    body = each.edits.bodies.get("Key Points")
    if body is None:
        return [claim.text for claim in each.article.points if not claim.until]
    rows = [line for line in body.splitlines() if line.strip() and not line.startswith("#")]
    return [unescape(_BULLET.sub("", line)) for line in rows]


def claims(proposals: Iterable[Proposal]) -> Iterator[Claim]:
    """Every claim of some proposals."""
    for proposal in proposals:
        yield from proposal.points


_NOT_NAME = re.compile(r"[\W_]+")


def name_key(text: str) -> str:
    """A title, alias or slug for comparison: NFKC, case folded, only letters, digits and the signs of C++ and C#."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("++", "pp").replace("#", "sharp")
    return _NOT_NAME.sub(" ", folded).strip()
