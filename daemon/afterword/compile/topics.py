"""Which statements of a session belong together: its main matter, and lessons that stand apart from it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterword.compile.likeness import Likeness, cosine, counted, is_light
from afterword.compile.statements import Statement

ANCHOR = 3.2
"""From this weight on a statement can be a matter of its own."""
_JOINED = 0.11
"""Anchors at least this alike are about one matter."""
_NEAR = 0.09
_TIED = 0.2
"""A lesson this alike to anything else that was said belongs to the main matter."""
_COMMON = 4
"""Words in more statements of a session tie nothing together."""
_APART = 0.10
"""Less alike to the session's main matter than this, a labelled lesson stands apart."""
_APART_EAGER = 0.22


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """Statements about one matter, in their order. `main` is the matter the session was about."""

    statements: tuple[Statement, ...]
    main: bool
    title: str
    """The session's own title, for its main matter."""

    @property
    def key_statements(self) -> list[Statement]:
        return [s for s in self.statements if s.weight >= 1.0 and s.stands and not s.personal]

    @property
    def weight(self) -> float:
        """How much evidence there is."""
        return sum(sorted((s.weight for s in self.key_statements), reverse=True)[:6])


def topics(
    rows: Sequence[Statement], title: str, likeness: Likeness, *, most_apart: int, eager: bool = False
) -> list[Topic]:
    """The topics of one session's statements, the main one first.

    `most_apart` bounds how many lessons beside the main matter become topics of their own; `eager` lets those stand
    apart too that are about something related.
    """
    if not rows:
        return []
    vectors = {id(s): likeness.vector(s.words) for s in rows}
    anchors = [s for s in rows if s.weight >= ANCHOR and s.stands]
    groups = _joined(anchors, vectors)
    opening = sum((s.words for s in rows if s.role == "context"), Counter(counted(title)))
    about = likeness.vector(opening)
    centre = likeness.vector(sum((s.words for s in rows if s.weight > 0), Counter()))

    def near(group: Sequence[Statement]) -> float:
        weight = sum(s.weight for s in group)
        return (
            max(cosine(vectors[id(s)], about) for s in group)
            + 0.6 * _mean(cosine(vectors[id(s)], centre) for s in group)
            + 0.02 * weight
        )

    groups.sort(key=lambda group: (-near(group), group[0].order))
    # Where nothing stands out, the whole session is one matter.
    main = list(groups[0]) if groups else [s for s in rows if s.weight > 0]
    apart: list[list[Statement]] = []
    seen = Counter(word for s in rows for word in s.words)
    common = {word for word, count in seen.items() if count > _COMMON}
    named = {word for word in counted(title, pairs=False) if not is_light(word)} - common
    anchored = {id(s) for s in anchors}
    loose = [s for s in rows if id(s) not in anchored and s.weight > 0]
    for group in groups[1:]:
        so_far = likeness.vector(sum((s.words for s in main), Counter(opening)))
        own = likeness.vector(sum((s.words for s in group), Counter()))
        tied = any(word in named for s in group for word in s.words) or any(
            _tied(s, o, vectors, common) for s in group for o in (*main, *(loose if title else ()))
        )
        free = cosine(own, so_far) < (_APART_EAGER if eager else _APART) and (eager or not tied)
        if any(s.labelled for s in group) and free and len(apart) < most_apart:
            apart.append(list(group))
        else:
            main += group
    whole = likeness.vector(sum((s.words for s in main), Counter()))
    taken = {id(s) for group in (main, *apart) for s in group}
    for s in rows:
        if id(s) not in taken:
            home = _nearest(s, main, apart, vectors)
            if home is not None:
                home.append(s)
            elif title or cosine(vectors[id(s)], whole) >= _NEAR:
                main.append(s)
    made = [Topic(_ordered(main), main=True, title=title)] if main else []
    return made + [Topic(_ordered(group), main=False, title="") for group in apart]


def _joined(anchors: Sequence[Statement], vectors: dict[int, dict[str, float]]) -> list[list[Statement]]:
    groups: list[list[Statement]] = []
    for s in anchors:
        near = [
            group for group in groups if any(cosine(vectors[id(s)], vectors[id(other)]) >= _JOINED for other in group)
        ]
        merged = [s, *(other for group in near for other in group)]
        groups = [group for group in groups if not any(group is other for other in near)]
        groups.append(sorted(merged, key=lambda each: (each.section.key, each.order)))
    return groups


def _tied(one: Statement, other: Statement, vectors: dict[int, dict[str, float]], common: set[str]) -> bool:
    if cosine(vectors[id(one)], vectors[id(other)]) >= _TIED:
        return True
    return len({word for word in one.words if word in other.words and word not in common and not is_light(word)}) >= 2


def _nearest(
    s: Statement, main: list[Statement], apart: list[list[Statement]], vectors: dict[int, dict[str, float]]
) -> list[Statement] | None:
    best, most = None, _NEAR
    for group in (main, *(apart if s.role != "context" else ())):
        found = max((cosine(vectors[id(s)], vectors[id(other)]) for other in group), default=0.0)
        if found > most:
            best, most = group, found
    return best


def _ordered(group: Iterable[Statement]) -> tuple[Statement, ...]:
    return tuple(sorted(group, key=lambda s: (s.section.day, s.section.time, s.section.key, s.order)))


def _mean(values: Iterable[float]) -> float:
    row = list(values)
    return sum(row) / len(row) if row else 0.0
