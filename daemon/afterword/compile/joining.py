"""A proposal taken into an article about the same matter: what is new is added, what it replaces becomes history."""

import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from afterword.compile.likeness import counted, is_light
from afterword.compile.rank import alike
from afterword.compile.replacing import denies
from afterword.compile.same import Meaning, differs, names_more
from afterword.compile.wording import label
from afterword.domain.articles import Article, Claim, Proposal, name_key
from afterword.domain.ids import ArticleUid

_MOST_POINTS = 24
_MOST_PARAGRAPHS = 12
_MOST_TAGS = 5
_MOST_ALIASES = 8
_SAID_AGAIN = 0.84
"""From this likeness by meaning on one point repeats another, unless a name or a number differs."""
_RETOLD = 0.52
_KNOWN_WORDS = 3
_LEADING = ("lesson", "decision", "cause")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")


def joined(
    article: Article,
    day: str,
    proposal: Proposal,
    uid: ArticleUid,
    *,
    meaning: Meaning | None = None,
    replaced: Mapping[int, int] | None = None,
) -> Article:
    """The article with what is new of a proposal about the same matter; days move only with content.

    `replaced`: number of a point of the proposal → number of the article's point it takes the place of. The new one
    leads then, and the old one stays as history.
    """
    replaced = replaced or {}
    history = {old: proposal.points[new] for new, old in replaced.items()}
    points = [
        msgspec.structs.replace(claim, until=day) if n in history and not claim.until else claim
        for n, claim in enumerate(article.points)
    ]
    lead = [proposal.points[new] for new in sorted(replaced)]
    points = [*(claim for claim in lead if claim.quote not in {p.quote for p in points}), *points]
    for claim in proposal.points:
        told = any(says(claim, other, meaning) for other in points) or _adds_nothing(claim, points, meaning)
        if len(points) < _MOST_POINTS and not told:
            points.append(claim)
    leading = {claim.quote for claim in lead}
    points.sort(
        key=lambda claim: (bool(claim.until), claim.quote not in leading, label(claim.quote)[0] not in _LEADING)
    )
    paragraphs = article.details.split("\n\n")
    paragraphs += [part for part in proposal.details.split("\n\n") if part not in paragraphs]
    title = article.title
    if any(_is_title(article.points[old], title) for old in history):
        title = proposal.title
    names = {name_key(title)}
    aliases: list[str] = []
    for name in (article.title, *article.aliases, proposal.title, *proposal.aliases):
        if name_key(name) not in names and len(aliases) < _MOST_ALIASES:
            names.add(name_key(name))
            aliases.append(name)
    changed = msgspec.structs.replace(
        article,
        title=title,
        points=tuple(points),
        details="\n\n".join(paragraphs[:_MOST_PARAGRAPHS]),
        tags=tuple(dict.fromkeys((*article.tags, *proposal.tags)))[:_MOST_TAGS],
        projects=tuple(dict.fromkeys((*article.projects, *proposal.projects))),
        aliases=tuple(aliases),
        merged=article.merged if uid in article.merged else (*article.merged, uid),
    )
    same = (changed.points, changed.details, changed.aliases) == (article.points, article.details, article.aliases)
    return changed if same else msgspec.structs.replace(changed, updated=max(article.updated, day))


def says(claim: Claim, other: Claim, meaning: Meaning | None = None, near: float = _SAID_AGAIN) -> bool:
    """Whether two claims say the same: by quote, by words, or by meaning where no name or number differs."""
    if claim.quote == other.quote or name_key(claim.text) == name_key(other.text):
        return True
    if alike(frozenset(counted(claim.text, pairs=False)), frozenset(counted(other.text, pairs=False))):
        return not differs(claim.text, other.text)
    if meaning is None or not meaning.alike([claim.text], [other.text])[0][0] >= near:
        return False
    return not differs(claim.text, other.text)


def _adds_nothing(claim: Claim, points: Collection[Claim], meaning: Meaning | None) -> bool:
    """Whether a sentence only tells in other words what stands there: nearly all its words do, none of its own is a
    name or a number, and it means about the same as one that denies as much. A lesson or decision always adds."""
    if meaning is None or label(claim.quote)[0] in ("lesson", "decision") or not points:
        return False
    own = {word for word in counted(claim.text, pairs=False) if not is_light(word)}
    there = {word for point in points for word in counted(point.text, pairs=False)}
    texts = [point.text for point in points]
    if len(own & there) < _KNOWN_WORDS or len(own - there) > 1 or names_more(claim.text, texts):
        return False
    near = meaning.alike([claim.text], texts)[0]
    return any(
        how >= _RETOLD and denies(text) == denies(claim.text) and not differs(claim.text, text)
        for how, text in zip(near, texts, strict=True)
    )


def without(proposal: Proposal, blocked: Collection[Claim], meaning: Meaning | None) -> Proposal | None:
    """The proposal without the claims that say one of `blocked`, and without their sentences; None without claims."""
    gone = [claim for claim in proposal.points if any(says(claim, other, meaning) for other in blocked)]
    if not gone:
        return proposal
    points = tuple(claim for claim in proposal.points if claim not in gone)
    if not points:
        return None
    paragraphs = [_cleared(part, (*gone, *blocked), meaning) for part in proposal.details.split("\n\n")]
    title = proposal.title
    if any(_is_title(claim, title) for claim in (*gone, *blocked)):
        title = points[0].text.rstrip(".。")
    return msgspec.structs.replace(
        proposal, title=title, points=points, details="\n\n".join(part for part in paragraphs if part)
    )


def _cleared(paragraph: str, blocked: Iterable[Claim], meaning: Meaning | None) -> str:
    head, _, told = paragraph.partition(": ")
    section = next(iter(blocked)).section
    kept = [
        sentence
        for sentence in _SENTENCE.split(told)
        if sentence and not any(says(Claim(sentence, section, sentence), other, meaning) for other in blocked)
    ]
    return f"{head}: {' '.join(kept)}" if kept else ""


def _is_title(claim: Claim, title: str) -> bool:
    wanted = name_key(title)
    return bool(wanted) and (
        wanted in name_key(claim.text)
        or alike(frozenset(counted(title, pairs=False)), frozenset(counted(claim.text, pairs=False)))
    )
