"""What every compile engine's proposals must pass before anything is written, whichever engine made them."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from afterword.compile.sentences import normal
from afterword.compile.titles import is_placeholder
from afterword.domain.articles import Claim, Proposal, SectionText, name_key
from afterword.domain.digest import Digest, Point
from afterword.domain.escape import plain

Texts = Callable[[Iterable[str]], Sequence[str]]
"""Item ids → their texts."""

MIN_QUOTE = 4
MAX_TITLE = 140
MAX_POINT = 600
MAX_POINTS = 12
MAX_DETAILS = 6_000


def valid(
    proposals: Iterable[Proposal], sections: Mapping[str, SectionText], texts: Texts, most: int
) -> tuple[list[Proposal], list[str]]:
    """The proposals with every claim proved, the `most` best of them, and what was left out and why.

    A claim goes when its quote is not found in its section and in an item of it, or in what a person wrote there. An
    article goes without claims, with a placeholder for a title, or, as a connection, with evidence from fewer than two
    sessions.
    """
    proof = _Proof(sections, texts)
    kept: list[Proposal] = []
    faults: list[str] = []
    names: set[str] = set()
    for proposal in proposals:
        title = plain(proposal.title)[:MAX_TITLE]
        points = tuple(claim for claim in map(proof.checked, proposal.points) if claim)[:MAX_POINTS]
        if len(points) < len(proposal.points):
            faults.append(f"{len(proposal.points) - len(points)} points of {title!r} have no quote that is found")
        sessions = {sections[claim.section].session for claim in points}
        details = "\n\n".join(part for raw in proposal.details.split("\n\n") if (part := plain(raw)))
        if not points or not name_key(title):
            faults.append(f"nothing of {title!r} is proved")
        elif is_placeholder(title) or any(is_placeholder(claim.text) for claim in points):
            faults.append(f"{title!r} is a placeholder")
        elif proposal.kind == "connection" and len(sessions) < 2:
            faults.append(f"{title!r} connects nothing: all its evidence is from one session")
        elif name_key(title) in names:
            faults.append(f"{title!r} is there twice")
        else:
            names.add(name_key(title))
            kept.append(msgspec.structs.replace(proposal, title=title, points=points, details=details[:MAX_DETAILS]))
    if len(kept) > most:
        best = sorted(kept, key=lambda p: (-p.weight, -len(p.points), p.uid))[:most]
        faults += [f"{p.title!r} is one too many" for p in kept if p not in best]
        kept = [p for p in kept if p in best]
    return kept, faults


class _Proof:
    """Sections and their items, normalised when first asked for."""

    def __init__(self, sections: Mapping[str, SectionText], texts: Texts) -> None:
        self._sections = sections
        self._texts = texts
        self._said: dict[str, str] = {}
        self._items: dict[str, list[str]] = {}

    def checked(self, claim: Claim) -> Claim | None:
        text, quote = plain(claim.text)[:MAX_POINT], normal(claim.quote)
        section = self._sections.get(claim.section)
        if section is None or len(quote) < MIN_QUOTE or not text:
            return None
        if claim.section not in self._said:
            self._said[claim.section] = said(section.digest)
            ids = dict.fromkeys(item for point in points_of(section.digest) for item in point.items)
            self._items[claim.section] = [normal(each) for each in (*self._texts(ids), *section.written)]
        if quote not in self._said[claim.section] or not any(quote in item for item in self._items[claim.section]):
            return None
        return Claim(text, claim.section, quote)


def points_of(digest: Digest) -> tuple[Point, ...]:
    """Every point of a digest, in order."""
    return (digest.context, *digest.exchanges, *digest.decisions, *digest.lessons, *digest.actions)


def said(digest: Digest) -> str:
    """All a section says, texts and quotes; sentences that follow each other follow each other here."""
    row = points_of(digest)
    return " ".join(normal(point.quote) for point in row) + " ¶ " + " ".join(normal(point.text) for point in row)
