"""The article engine without a model: a day's statements, put together by what they are about.

Purely a function of the day's sections, in the conversations' own sentences: nothing is drawn, timed or made up.
"""

from collections.abc import Iterable, Sequence

from afterword.compile.likeness import Likeness, cosine, is_light
from afterword.compile.rank import alike
from afterword.compile.sentences import plain
from afterword.compile.statements import Statement, of_day
from afterword.compile.tagging import tags_of
from afterword.compile.titles import best, choice, session_title
from afterword.compile.topics import Topic, topics
from afterword.domain.articles import MIN_PER_DAY, CompileInput, Proposal, SectionText

_MOST_POINTS = 6
_MOST_SENTENCES = 12
_LEAST_WEIGHT = 2.6
"""A topic with less evidence is no article."""
_LEAST_WHEN_FEW = 1.4
"""The same when a first round gave too few."""
_REPEATED = 0.75
_APART_PER_SESSION = 2
_APART_ON_QUIET_DAYS = 3
_APART_WHEN_FEW = 5
_NARRATIVE = {"context": 0, "fact": 1, "cause": 1, "fix": 2, "decision": 3, "lesson": 3, "outcome": 4}


def proposals(given: CompileInput) -> list[Proposal]:
    """The day's articles, those with the most evidence first; at most `given.most`.

    With a `fault` it is the second round: lessons stand apart more easily, and less evidence will do.
    """
    everything = of_day(given.sections)
    likeness = Likeness()
    for statement in everything:
        likeness.add(statement.words)
    by_session: dict[str, list[Statement]] = {}
    for statement in everything:
        by_session.setdefault(statement.section.session or statement.section.key, []).append(statement)
    apart = _APART_PER_SESSION if len(by_session) >= MIN_PER_DAY else _APART_ON_QUIET_DAYS
    apart = _APART_WHEN_FEW if given.fault else apart
    least = _LEAST_WHEN_FEW if given.fault else _LEAST_WEIGHT
    found: list[Topic] = []
    for rows in by_session.values():
        title = session_title(rows[0].section.title)
        found += topics(rows, title, likeness, most_apart=apart, eager=bool(given.fault))
    made = [proposal for topic in found if (proposal := _proposal(topic, likeness, least, everything))]
    made.sort(key=lambda proposal: (-proposal.weight, proposal.uid))
    return made[: given.most]


def _proposal(topic: Topic, likeness: Likeness, least: float, everything: Sequence[Statement]) -> Proposal | None:
    points = _points(topic, likeness)
    if not points or topic.weight < least or _only_plans(points):
        return None
    title = _title(topic, points)
    if not title:
        return None
    return Proposal(
        kind="concept",
        title=title,
        points=tuple(s.claim for s in points),
        details=_details(topic, points, everything),
        tags=tags_of(title, [s.text for s in topic.statements if s.stands]),
        projects=tuple(dict.fromkeys(s.section.project for s in topic.statements if s.section.project != "unknown")),
        weight=round(topic.weight + 0.5 * len({s.section.key for s in points}), 2),
    )


def _points(topic: Topic, likeness: Likeness) -> list[Statement]:
    """The statements that carry the topic, said once each: explanations first, then what was settled."""
    ranked = sorted(topic.key_statements, key=lambda s: (-s.weight, s.section.time, s.section.key, s.order))
    chosen: list[Statement] = []
    for s in ranked:
        if s.role == "context" or any(_repeats(s, other, likeness) for other in chosen):
            continue
        chosen.append(s)
        if len(chosen) == _MOST_POINTS:
            break
    return chosen


def _only_plans(points: Sequence[Statement]) -> bool:
    """Whether a plan for one day is all that carries a topic."""
    rest = [s for s in points if not s.planned]
    return len(rest) < len(points) and not any(s.labelled or s.role in ("cause", "lesson", "decision") for s in rest)


def _title(topic: Topic, points: Sequence[Statement]) -> str:
    told = [s for s in points if s.labelled] or [s for s in points if s.role in ("cause", "lesson", "decision")]
    asked = [choice(s.text) for s in topic.statements if s.role == "context"] if topic.main else []
    return topic.title or next(filter(None, asked), "") or best(s.text for s in (*told, *points))


def _details(topic: Topic, points: Sequence[Statement], everything: Sequence[Statement]) -> str:
    """A paragraph for each section: what it was about, what was found, what was done, how it came out."""
    told = {id(s) for s in points}
    sections: dict[str, SectionText] = {s.section.key: s.section for s in topic.statements}
    paragraphs = []
    for key, section in sections.items():
        rows = [s for s in topic.statements if s.section.key == key and (id(s) not in told)]
        rows = [s for s in rows if s.role in ("context", "fix") or s.tells]
        if not topic.main:
            rows = [s for s in rows if s.role != "fix"]
        if not any(s.role != "context" for s in rows):
            # Only the beginning is left to tell: what came of the session is told with it, or else the points.
            rest = [s for s in everything if s.section.key == key and s.tells and id(s) not in told]
            rows += (_around(rest, points) if not topic.main else []) or [s for s in points if s.section.key == key][:2]
        rows = sorted(rows, key=lambda s: (_NARRATIVE[s.role], s.order))[:_MOST_SENTENCES]
        if rows:
            beside = f" ({plain(section.title)})" if section.title and not topic.main else ""
            paragraphs.append(f"{section.day}, {section.project}{beside}: " + _flowing(s.text for s in rows))
    return "\n\n".join(paragraphs)


def _around(rest: Sequence[Statement], points: Sequence[Statement]) -> list[Statement]:
    """How a session began, and what was said beside a lesson that stands apart from its main matter."""
    items = {item for s in points for item in s.items}
    words = {word for s in points for word in s.words if not is_light(word)}
    began = [s for s in rest if s.role == "context"][:1]
    beside = [s for s in rest if s.role != "context" and items & set(s.items) and words & s.words.keys()]
    return began + beside[:2]


def _flowing(texts: Iterable[str]) -> str:
    row = list(dict.fromkeys(texts))
    return " ".join(row)


def _repeats(one: Statement, other: Statement, likeness: Likeness) -> bool:
    if alike(frozenset(one.words), frozenset(other.words)):
        return True
    return cosine(likeness.vector(one.words), likeness.vector(other.words)) >= _REPEATED
