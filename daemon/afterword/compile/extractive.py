"""The engine without a model: it picks the sentences that tell, and the commands that failed and then passed.

Purely a function of its input: nothing is drawn, hashed or timed, and every order has a tie-break.
What a program printed is never a source of statements, only of the error line of a command that later passed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from afterword.compile.candidates import Candidate, Session, read
from afterword.compile.cues import asks_nothing, past_approval
from afterword.compile.engine import (
    MAX_ACTIONS,
    MAX_CONTEXT,
    MAX_DECISIONS,
    MAX_EXCHANGES,
    MAX_LESSONS,
    MAX_TEXT,
    check,
    fallback,
)
from afterword.compile.extractive_articles import proposals
from afterword.compile.fixes import Fix, fixes
from afterword.compile.plans import open_steps
from afterword.compile.rank import alike
from afterword.compile.sentences import cut, normal, plain
from afterword.compile.weigh import is_done, part_of, weigh
from afterword.domain.articles import CompileInput, Proposal
from afterword.domain.digest import Digest, DigestInput, Point
from afterword.domain.items import Kind

_ANSWER = 60
_LEAST_EXCHANGES = 2
_LEAST_OUTCOME = 0.9
_MOST_FIXES = 3
_LIMITS = {"decision": MAX_DECISIONS, "lesson": MAX_LESSONS, "action": MAX_ACTIONS}
_MOST_WEAK = {"decision": 4, "lesson": 3}
"""How many sentences without a cue phrase a part takes."""
_LOOKED_AT = 100
"""How many sentences of one part are looked at, best first."""
_SAME = 0.65
"""From this shared weight on, two sentences of one part tell the same."""
_RIGHT_TO_LEFT = frozenset(("he", "ar", "fa"))


class Extractive:
    """The engine used when there is no key."""

    name = "extractive"

    def digest(self, segment: DigestInput) -> Digest:
        """The write-up of one segment, in the conversation's own sentences."""
        session = read(segment)
        fixed = fixes(segment.passages, session.language)
        weigh(session, fixed)
        chosen = _Chosen(session)
        context = _context(session, chosen, segment)
        parts = {part: _pick(part, session, chosen) for part in ("decision", "lesson", "action")}
        actions = [*parts["action"], *_left_open(session, chosen, segment)][:MAX_ACTIONS]
        exchanges = _exchanges(session, fixed, chosen)
        digest = Digest(
            context=context,
            exchanges=tuple(exchanges),
            decisions=tuple(parts["decision"]),
            lessons=tuple(parts["lesson"]),
            actions=tuple(actions),
        )
        return check(digest, segment)

    def compile(self, day: CompileInput) -> list[Proposal]:
        """The articles of one day, in the conversations' own sentences."""
        return proposals(day)


@dataclass(slots=True)
class _Chosen:
    """What the digest says already: a sentence, or one nearly like it, is said once."""

    session: Session
    taken: list[Candidate] = field(default_factory=list)

    def free(self, candidate: Candidate) -> bool:
        return not any(
            candidate is other or candidate.text == other.text or alike(candidate.bag, other.bag)
            for other in self.taken
        )

    def take(self, candidate: Candidate) -> None:
        self.taken.append(candidate)


def _point(candidate: Candidate) -> Point:
    return Point(cut(_shown(candidate), MAX_TEXT), (candidate.item,), candidate.raw)


def _shown(c: Candidate) -> str:
    return past_approval(c.text) if c.person else c.text


def _answer(c: Candidate, session: Session) -> Point:
    """The point of a sentence; a short answer gets the agent's question before it, or nobody knows what it settles."""
    asked = session.asked_before(c) if c.person and len(c.text) < _ANSWER else None
    if asked is None:
        return _point(c)
    return Point(cut(f"{cut(asked.text, 150)} – {c.text}", MAX_TEXT), (c.item, asked.item), c.raw)


def _pick(part: str, session: Session, chosen: _Chosen) -> list[Point]:
    def rank(c: Candidate) -> tuple[float, int]:
        return (-(c.points[part] + session.centre.near(c.terms) + (0.4 if c.closing else 0.0)), c.order)

    picked: list[Candidate] = []
    for c in sorted((c for c in session.candidates if part_of(c) == part), key=rank)[:_LOOKED_AT]:
        if c.weak and sum(other.weak for other in picked) >= _MOST_WEAK.get(part, MAX_ACTIONS):
            continue
        if any(session.centre.overlap(c.bag, other.bag) >= _SAME for other in picked):
            continue
        if part == "action" and is_done(session, c):
            continue
        if chosen.free(c) and not (not c.person and session.echoes(c)):
            chosen.take(c)
            picked.append(c)
            if len(picked) == _LIMITS[part]:
                break
    return [_answer(c, session) for c in sorted(picked, key=lambda c: c.order)]


def _context(session: Session, chosen: _Chosen, segment: DigestInput) -> Point:
    """What it was about: the first real request, or the title where the request says little."""
    title = cut(plain(normal(segment.title)), MAX_TEXT)
    for turn, prompt in enumerate(session.requests):
        said = [c for c in session.of_turn(turn) if c.person and (c.prose or c.question)]
        said = [c for c in said if "chatter" not in c.cues or c.question or len(said) == 1]
        free = [c for c in said if max(c.points.values(), default=0.0) < 3.0]
        if not free and title:
            said = said[:1] or [c for c in session.of_turn(turn) if c.person][:1]
            return Point(title, (prompt.item,), said[0].raw if said else normal(prompt.text))
        use = (free or said)[:2]
        if not use:
            # A request too short for a sentence ("fix tests/a.py") is still one; pasted code or a log is not.
            use = [c for c in session.of_turn(turn) if c.person and c.request_like][:1]
        if not use:
            continue
        if len(use) == 2 and (use[1].order != use[0].order + 1 or len(use[0].text) + len(use[1].text) >= MAX_CONTEXT):
            use = use[:1]
        for c in use:
            chosen.take(c)
        text = "".join(_shown(c) + ("" if c.text[-1] in "。！？" else " ") for c in use).strip()
        if title and len(text) < 40 and not alike(frozenset(title.lower().split()), frozenset(text.lower().split())):
            text = f"{title} – {text}"
        return Point(cut(text, MAX_CONTEXT), (prompt.item,), use[0].raw)
    return fallback(segment)


def _left_open(session: Session, chosen: _Chosen, segment: DigestInput) -> list[Point]:
    """Open steps of the agent's last plan, and a last request nothing came of."""
    points = [
        point
        for point in open_steps(segment.passages)
        if not any(point.text == c.text or session.says(point.text, c) for c in chosen.taken)
        and not any(
            session.says(point.text, c) for c in session.candidates if not c.person and c.cues.get("done", 0.0) >= 2
        )
    ]
    if session.requests:
        last = session.requests[-1]
        worked = (Kind.REPLY, Kind.COMMAND, Kind.EDIT, Kind.CALL, Kind.READ, Kind.THINKING)
        if len(session.requests) > 1 and not any(p.kind in worked for p in segment.passages[last.at :]):
            asked = [c for c in session.candidates if c.person and c.at == last.at and c.prose and chosen.free(c)]
            asked = [c for c in asked if "request" in c.cues and not part_of(c)]
            for c in asked[:1]:
                chosen.take(c)
                points.append(_point(c))
    return points


@dataclass(slots=True)
class _Exchange:
    at: int
    value: float
    point: Point
    uses: tuple[Candidate, ...] = ()


def _exchanges(session: Session, fixed: Sequence[Fix], chosen: _Chosen) -> list[Point]:
    arrow = "←" if session.language in _RIGHT_TO_LEFT else "→"
    offers = [_Exchange(fix.passed, 2.2 + 0.2 * min(fix.runs, 4), fix.point) for fix in fixed]
    offers = sorted(offers, key=lambda offer: (-offer.value, offer.at))[:_MOST_FIXES]
    spare: list[tuple[float, Candidate]] = []
    for turn, prompt in enumerate(session.requests):
        request = _request(session, turn, chosen)
        replies = [c for c in session.of_turn(turn) if not c.person]
        rated = sorted(_outcomes(session, replies, request, chosen), key=lambda pair: (-pair[0], pair[1].order))
        outcome = rated[0] if rated else None
        spare += rated[1:]
        edits = min(3, session.edits.get(turn, 0))
        if outcome and request and chosen.free(request):
            text = f"{cut(_shown(request).rstrip('.。:'), 100)} {arrow} {outcome[1].text}"
            point = Point(cut(text, MAX_TEXT), (outcome[1].item, prompt.item), outcome[1].raw)
            offers.append(_Exchange(prompt.at, outcome[0] + 0.3 * edits + 0.5, point, (request, outcome[1])))
        elif outcome:
            point = Point(cut(outcome[1].text, MAX_TEXT), (outcome[1].item, prompt.item), outcome[1].raw)
            offers.append(_Exchange(outcome[1].at, outcome[0] + 0.3 * edits, point, (outcome[1],)))
        elif request and _asks(request) and chosen.free(request) and (edits or session.answered(turn)):
            offers.append(_Exchange(prompt.at, 0.5 + 0.3 * edits, _point(request), (request,)))
    picked: list[_Exchange] = []

    def add(found: Iterable[_Exchange], most: int) -> None:
        for offer in found:
            if len(picked) < most and all(map(chosen.free, offer.uses)):
                picked.append(offer)
                for c in offer.uses:
                    chosen.take(c)

    add(sorted(offers, key=lambda offer: (-offer.value, offer.at)), MAX_EXCHANGES)
    rest = sorted(spare, key=lambda pair: (-pair[0], pair[1].order))
    most = max(_LEAST_EXCHANGES, min(4, len(picked) + 1))
    add((_Exchange(c.at, value, _point(c), (c,)) for value, c in rest if value >= 2.5), most)
    return [offer.point for offer in sorted(picked, key=lambda offer: offer.at)]


def _asks(c: Candidate) -> bool:
    return c.question or c.cue("request") > 0


def _request(session: Session, turn: int, chosen: _Chosen) -> Candidate | None:
    """The sentence of a prompt that says best what was wanted."""
    said = [c for c in session.of_turn(turn) if c.person and not asks_nothing(c.text)]
    said = [c for c in said if c.at == session.requests[turn].at]
    free = [c for c in said if (c.prose or c.question) and chosen.free(c)]
    if not free:
        return None
    first = free[0].order
    return max(free, key=lambda c: (session.centre.near(c.terms) + 1.0 / (1 + c.order - first), -c.order))


def _outcomes(
    session: Session, replies: Sequence[Candidate], request: Candidate | None, chosen: _Chosen
) -> list[tuple[float, Candidate]]:
    """The sentences that may tell what came out of a request, with their worth."""
    wanted = request.bag if request else frozenset()
    rated: list[tuple[float, Candidate]] = []
    for c in replies:
        if (
            c.question
            or not c.prose
            or c.untried
            or "chatter" in c.cues
            or c.announced in ("action", "chatter")
            or c.box == " "
        ):
            continue
        if part_of(c) or not chosen.free(c) or session.echoes(c):
            continue
        value = 0.8 * min(2.5, c.cues.get("done", 0.0)) + 1.5 * session.centre.overlap(c.bag, wanted)
        value += session.centre.near(c.terms) + (0.8 if c.closing else 0.0) + (0.4 if c.opens else 0.0)
        value -= 0.5 * c.cues.get("hedge", 0.0) + (0.6 if c.short else 0.0)
        if value >= _LEAST_OUTCOME:
            rated.append((value, c))
    return rated
