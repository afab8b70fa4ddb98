"""The engine without a model: it picks the sentences that tell, and the commands that failed and then passed.

Purely a function of its input: nothing is drawn, hashed or timed, and every order has a tie-break.
What a program printed is never a source of statements, only of the error line of a command that later passed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from afterword.compile.candidates import Candidate, Session, read
from afterword.compile.cues import asks_nothing
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
from afterword.compile.heads import affirms, contrasts
from afterword.compile.matter import overlap, substance
from afterword.compile.noted import noted
from afterword.compile.plans import open_steps
from afterword.compile.rank import alike
from afterword.compile.sentences import cut, normal, plain
from afterword.compile.telling import Told, join, tell
from afterword.compile.weigh import part_of, wanted, weigh
from afterword.domain import old_notes
from afterword.domain.articles import CompileInput, Pair, Proposal, Verdict
from afterword.domain.digest import Digest, DigestInput, Point
from afterword.domain.items import Kind

_LEAST_EXCHANGES = 2
_LEAST_OUTCOME = 0.9
_ALONE = 2.5
"""From this worth on an outcome is shown though the request says nothing and nothing was done."""
_MOST_FIXES = 3
_MATTER = 2
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
    paid = False

    def digest(self, segment: DigestInput) -> Digest:
        """The write-up of one segment, in the conversation's own sentences."""
        if segment.harness == old_notes.NAME:
            return check(noted(segment), segment)
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

    def compare(self, day: str, pairs: Sequence[Pair]) -> list[Verdict]:
        """Nothing: what is measured decides."""
        del day, pairs
        return []

    def nothing(self, day: CompileInput) -> None:
        """A day may have nothing in it that stands by itself."""


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


def _point(told: Told) -> Point:
    items = dict.fromkeys((told.quoted.item, *(c.item for c in told.uses)))
    return Point(cut(told.text, MAX_TEXT), tuple(items), told.quoted.raw)


def _pick(part: str, session: Session, chosen: _Chosen) -> list[Point]:
    """The sentences of a part, best first, each told so that it can be read alone, in the order of the talk."""

    def rank(c: Candidate) -> tuple[float, int]:
        return (-(c.points[part] + session.centre.near(c.terms) + (0.4 if c.closing else 0.0)), c.order)

    picked: list[Told] = []
    for c in sorted((c for c in session.candidates if part_of(c) == part), key=rank)[:_LOOKED_AT]:
        if c.weak and sum(told.quoted.weak for told in picked) >= _MOST_WEAK.get(part, MAX_ACTIONS):
            continue
        if not chosen.free(c) or (not c.person and session.echoes(c)):
            continue
        told = tell(session, c, part)
        if told is None:
            continue
        if part == "action" and c.done:
            continue
        if part == "action" and _is_repeated(told, picked, session.language):
            chosen.take(c)
            continue
        with_it = next((n for n, other in enumerate(picked) if set(other.uses) & set(told.uses)), None)
        if with_it is not None:
            _extend(picked, with_it, told, chosen)
            continue
        if any(session.centre.overlap(c.bag, other.quoted.bag) >= _SAME for other in picked):
            continue
        if not all(map(chosen.free, told.uses)):
            # What it leans on is said elsewhere.
            if (c.weak and part != "action") or contrasts(c.said, session.language):
                continue
            told = Told(c.said, (c,), c)
        for used in told.uses:
            chosen.take(used)
        picked.append(told)
        if len(picked) == _LIMITS[part]:
            break
    return [_point(told) for told in sorted(picked, key=lambda told: told.uses[0].order)]


def _extend(picked: list[Told], n: int, told: Told, chosen: _Chosen) -> None:
    """Let the point that already has the sentence before go on with this one, where there is room."""
    old = picked[n]
    if told.quoted.person and told.uses[0] is old.quoted and not old.quoted.person:
        picked[n] = told  # a person's answer narrows the agent's proposal
        chosen.take(told.quoted)
        return
    if told.quoted is old.quoted or told.quoted in old.uses or len(join(old.text, told.quoted.text)) > MAX_TEXT:
        return
    if old.uses[-1].order == told.quoted.order - 1:
        picked[n] = Told(join(old.text, told.quoted.text), (*old.uses, told.quoted), old.quoted)
        chosen.take(told.quoted)


def _is_repeated(told: Told, picked: Sequence[Told], language: str) -> bool:
    to_do = wanted(told.quoted, language)
    return any(overlap(to_do, wanted(other.quoted, language)) >= _SAME for other in picked)


def _context(session: Session, chosen: _Chosen, segment: DigestInput) -> Point:
    """What it was about: the first sentence of a person that names the matter, or the title where none does."""
    title = cut(plain(normal(segment.title)), MAX_TEXT)
    for turn, prompt in enumerate(session.requests):
        said = [c for c in session.of_turn(turn) if c.person and c.at == prompt.at and (c.prose or c.question)]
        said = [c for c in said if not c.empty and ("chatter" not in c.cues or c.question or len(said) == 1)]
        named = [c for c in said if not c.thin]
        if not named:
            if title and substance(title):
                return Point(title, (prompt.item,), said[0].raw if said else normal(prompt.text))
            # A request too short for a sentence ("fix tests/a.py") is still one; pasted code or a log is not.
            named = [c for c in session.of_turn(turn) if c.person and c.at == prompt.at and c.request_like and c.matter]
            if not named:
                continue
        free = [c for c in named if max(c.points.values(), default=0.0) < 3.0]
        if not free and title:
            return Point(title, (prompt.item,), named[0].raw)
        use = (free or named)[:1]
        use += [c for c in said if c.order == use[0].order + 1 and (c in free or (c.thin and not c.question))]
        if len(use) == 2 and (use[1].cues.get("request") or len(use[0].text) + len(use[1].text) >= MAX_CONTEXT):
            use = use[:1] if use[1].thin or len(use[0].text) + len(use[1].text) >= MAX_CONTEXT else use
        for c in use:
            chosen.take(c)
        text = use[0].said if len(use) == 1 else join(use[0].said, use[1].text)
        skipped = said and use[0] is not said[0]
        short = len(text) < 40 or skipped
        if title and short and not alike(frozenset(title.lower().split()), frozenset(text.lower().split())):
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
                points.append(_point(Told(c.said, (c,), c)))
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
        told = next(((value, found) for value, c in rated if (found := _alone(session, c, chosen))), None)
        spare += [pair for pair in rated if not told or pair[1] not in told[1].uses]
        edits = min(3, session.edits.get(turn, 0))
        if told and (request or edits or told[0] >= _ALONE or told[1].quoted.cue("done") >= 1):
            value, outcome = told
            if request and chosen.free(request) and _answers(request, outcome):
                text = f"{cut(request.said.rstrip('.。:'), 100)} {arrow} {outcome.text}"
                point = Point(cut(text, MAX_TEXT), (*_point(outcome).items, prompt.item), outcome.quoted.raw)
                offers.append(_Exchange(prompt.at, value + 0.3 * edits + 0.5, point, (request, *outcome.uses)))
            else:
                point = Point(cut(outcome.text, MAX_TEXT), (*_point(outcome).items, prompt.item), outcome.quoted.raw)
                offers.append(_Exchange(outcome.quoted.at, value + 0.3 * edits, point, outcome.uses))
        elif request and _asks(request) and not request.question and edits and not _shown(turn, chosen):
            offers.append(
                _Exchange(prompt.at, 0.5 + 0.3 * edits, _point(Told(request.said, (request,), request)), (request,))
            )
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
    spared = ((value, other) for value, c in rest if value >= 2.5 and (other := _alone(session, c, chosen)))
    add((_Exchange(other.quoted.at, value, _point(other), other.uses) for value, other in spared), most)
    return [offer.point for offer in sorted(picked, key=lambda offer: offer.at)]


def _asks(c: Candidate) -> bool:
    return c.question or c.cue("request") > 0


def _alone(session: Session, c: Candidate, chosen: _Chosen) -> Told | None:
    """An outcome that can be read alone and says something."""
    told = tell(session, c)
    if told is None or not all(map(chosen.free, told.uses)):
        return None
    named = substance(told.text)
    counted = c.cue("done") >= 1 and (named or any(map(str.isdigit, told.text)))
    return told if counted or named >= _MATTER else None


def _shown(turn: int, chosen: _Chosen) -> bool:
    """Whether something of a turn's replies is in the digest already."""
    return any(not c.person and c.turn == turn for c in chosen.taken)


def _answers(request: Candidate, outcome: Told) -> bool:
    """Whether a request and an outcome belong together: something is asked for, and both name one thing."""
    if not (_asks(request) or request.turn == 0):
        return False
    told: frozenset[str] = frozenset().union(*(c.stems for c in outcome.uses))
    return bool(request.stems & told) or (outcome.uses[0].opens and request.question)


def _request(session: Session, turn: int, chosen: _Chosen) -> Candidate | None:
    """The sentence of a prompt that says best what was wanted."""
    said = [c for c in session.of_turn(turn) if c.person and not c.thin and not c.empty and not asks_nothing(c.text)]
    said = [c for c in said if c.at == session.requests[turn].at]
    free = [c for c in said if (c.prose or c.question) and chosen.free(c) and (c.question or not c.leans)]
    if not free:
        return None
    first = free[0].order
    return max(free, key=lambda c: (_asks(c), session.centre.near(c.terms) + 1.0 / (1 + c.order - first), -c.order))


def _outcomes(
    session: Session, replies: Sequence[Candidate], request: Candidate | None, chosen: _Chosen
) -> list[tuple[float, Candidate]]:
    """The sentences that may tell what came out of a request, with their worth."""
    asked = request.bag if request else frozenset()
    rated: list[tuple[float, Candidate]] = []
    for c in replies:
        if (
            c.question
            or not c.prose
            or c.untried
            or c.empty
            or c.cue("proposal")
            or affirms(c.text)
            or "chatter" in c.cues
            or c.announced in ("action", "chatter")
            or c.box == " "
        ):
            continue
        if not chosen.free(c) or (part_of(c) and not (c.weak and part_of(c) == "lesson")):
            continue
        if part_of(c) and not (request and request.stems & c.stems):
            continue
        value = 0.8 * min(2.5, c.cues.get("done", 0.0)) + 1.5 * session.centre.overlap(c.bag, asked)
        value += session.centre.near(c.terms) + (0.8 if c.closing else 0.0) + (0.4 if c.opens else 0.0)
        value += 0.8 if c.opens and request and request.stems & c.stems else 0.0
        value -= 0.5 * c.cues.get("hedge", 0.0) + (0.6 if c.short else 0.0)
        if value >= _LEAST_OUTCOME and not session.echoes(c):
            rated.append((value, c))
    return rated
