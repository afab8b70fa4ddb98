"""How much a sentence counts as a decision, a lesson or an action.

Cue phrases first. Where there is none, where the sentence stands and how it is built: what a person answers the agent
with, unless it orders work or tells what is the case, settles something; what the agent states about the code
before it edits, in the third person and with a cause or a limit in it, explains something.
"""

from collections.abc import Sequence

from afterword.compile.candidates import Candidate, Session
from afterword.compile.cues import is_yes
from afterword.compile.fixes import Fix

THRESHOLD = 2.0
PARTS = ("action", "decision", "lesson")
_ANNOUNCED = 2.5


def part_of(c: Candidate) -> str:
    """The part a sentence belongs to, or nothing: it is in one at most."""
    best, most = "", THRESHOLD
    for part in PARTS:
        points = c.points.get(part, 0.0)
        if points >= most and (points > most or not best):
            best, most = part, points
    return best


def weigh(session: Session, fixed: Sequence[Fix]) -> None:
    """Fill in the points of every sentence for each part."""
    windows = [(fix.failed, fix.passed + 6) for fix in fixed]
    last_turn = max((c.turn for c in session.candidates), default=0)
    first = session.requests[0].at if session.requests else -1
    for c in session.candidates:
        if c.question or not c.prose:
            continue
        if c.person:
            _weigh_person(c, first)
        elif not ("chatter" in c.cues and not c.listed and max(map(c.cue, PARTS)) <= 2.5):
            _weigh_agent(c, session, last=c.turn == last_turn, fixing=any(a <= c.at <= b for a, b in windows))
        _announce(c)
    _accept_proposals(session)


def _weigh_person(c: Candidate, first: int) -> None:
    hedge = 0.5 * c.cue("hedge")
    decision, lesson = 1.25 * c.cue("decision"), 1.1 * c.cue("lesson")
    action = c.cue("action") - (0.4 if c.cue("action") < 3 else 0.0)
    limits = 0.5 * bool(c.cue("limit")) + 0.4 * c.technical + 0.3 * bool(c.cue("connect"))
    if c.cue("request"):
        standing, lesson = 0.0, 0.0
    elif c.cue("observe") or "chatter" in c.cues or c.short:
        standing = 0.0
    elif c.at == first:
        standing = 0.0 if c.opens else 1.2 + limits
    else:
        standing = 2.0 + limits
    if action >= THRESHOLD:
        standing = 0.0
    c.weak = max(decision, lesson) < THRESHOLD
    decision = max(decision, standing) + 0.4 * min(decision, standing) + (0.4 if decision >= 1.5 and lesson else 0.0)
    if decision >= THRESHOLD and lesson < 3.3:
        lesson = min(lesson, decision - 0.1)
    size = -0.5 if c.short else 0.0
    c.points = {"decision": decision - hedge + size, "lesson": lesson - hedge + size, "action": action + size}


def _weigh_agent(c: Candidate, session: Session, *, last: bool, fixing: bool) -> None:
    hedge, done = 0.75 * c.cue("hedge"), c.cue("done")
    decision, lesson, action = c.cue("decision"), c.cue("lesson"), c.cue("action")
    if lesson and fixing:
        lesson += 0.5
    standing = 0.8 + 0.4 * (not c.cue("self")) + 0.4 * c.technical + 0.5 * bool(c.cue("limit"))
    standing += 0.5 * bool(c.cue("connect")) + 0.4 * session.edits_after(c.at) - 0.4 * min(2.0, done)
    if session.diagnosing(c) or (c.closing and not c.opens):
        standing += 0.4
    elif c.closing:
        standing -= 0.8  # the report of the work
    if c.announced in ("action", "chatter") or c.short or "chatter" in c.cues:
        standing = 0.0
    elif c.untried:
        standing -= 0.5
    c.weak = max(decision, lesson) < THRESHOLD
    lesson = max(lesson, standing) + 0.3 * min(lesson, standing)
    if decision >= 1.5 and c.cue("lesson"):
        decision += 0.4
    if action:
        action += (1.0 if last and not c.opens else 0.5 if last else 0.0) if c.closing else -1.0
        action -= 0.8 if done >= 2 else 0.0
    size = -0.5 if c.short or len(c.text) > 240 else 0.0
    c.points = {"decision": decision - hedge + size, "lesson": lesson - hedge + size, "action": action + size}


def _announce(c: Candidate) -> None:
    """Headings and checkboxes say what a list is of."""
    if c.announced in PARTS and c.points and (c.listed or "chatter" not in c.cues):
        c.points[c.announced] += _ANNOUNCED
        c.weak = False
    if c.announced == "chatter" and c.points:
        c.points["decision"] -= 2.0
        c.points["action"] -= 2.0
    if c.box == "x":
        c.points["action"] = 0.0
    elif c.box == " ":
        c.points["action"] = c.points.get("action", 0.0) + 3.0


def _accept_proposals(session: Session) -> None:
    """What the agent proposed and the person then said yes to was decided."""
    proposals: dict[int, list[Candidate]] = {}
    for c in session.candidates:
        if c.cue("proposal") and c.prose and not c.question and not c.person:
            proposals.setdefault(c.next_prompt, []).append(c)
    for prompt in session.prompts:
        for c in proposals.get(prompt.at, [])[-2:] if is_yes(prompt.text) else []:
            c.points["decision"] = max(c.points.get("decision", 0.0), 0.0) + 3.0
            c.weak = False


def is_done(session: Session, c: Candidate) -> bool:
    """Whether an action was reported as done, or asked for again, later in the segment."""

    def same(other: Candidate, least: float) -> bool:
        return other.points.get("action", 0.0) < THRESHOLD and session.centre.overlap(c.bag, other.bag) >= least

    return any(
        same(other, 0.6) if other.person else other.cue("done") >= 1 and other.prose and same(other, 0.45)
        for other in session.candidates
        if other.at > c.at and (not other.person or other.turn > max(0, c.turn))
    )
