"""How much a sentence counts as a decision, a lesson or an action.

Cue phrases first. Where there is none, where the sentence stands and how it is built: what a person answers the agent
with, unless it orders work or tells what is the case, settles something; what the agent states about the code
before it edits, in the third person and with a cause or a limit in it, explains something.
"""

import re
from collections import Counter
from collections.abc import Sequence

from afterword.compile.candidates import Candidate, Session
from afterword.compile.cues import is_yes, lexicon
from afterword.compile.fixes import Fix
from afterword.compile.heads import affirms, unlabelled
from afterword.compile.matter import stems

THRESHOLD = 2.0
PARTS = ("action", "decision", "lesson")
_ANNOUNCED = 2.5
_FOUND = -1.1
"""For what is said to be open before the work begins: it is what the work is about."""
_PLAIN, _BEYOND_DOUBT = 2.5, 3.0
"""The weights of phrases that are hardly ever, and of those that are never used but for a decision."""


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
    first = _first_said(session)
    for c in session.candidates:
        if c.question or not c.prose:
            continue
        if c.empty or (not c.person and affirms(c.text)):
            continue
        if c.person:
            _weigh_person(c, first, session.language)
        elif not ("chatter" in c.cues and not c.listed and max(map(c.cue, PARTS)) <= 2.5):
            _weigh_agent(c, session, last=c.turn == last_turn, fixing=any(a <= c.at <= b for a, b in windows))
        _announce(c)
    _accept_proposals(session)
    _settle(session)


def _first_said(session: Session) -> int:
    """Where the prompt stands that says what the matter is: the first with a word of it."""
    for turn, request in enumerate(session.requests):
        said = any(c.person and c.at == request.at and not c.thin for c in session.of_turn(turn))
        if said or turn in session.worked:
            return request.at
    return session.requests[0].at if session.requests else -1


_ASIDE = re.compile(
    r"(?:[,;–—]\s*(?:because|since|so that|otherwise|or else|bo|żeby|aby|gdyż|inaczej|weil|damit|sonst|denn|car|sinon"
    r"|pour|porque|para|si no|perché|altrimenti|pois|потому|чтобы|иначе|כי|כדי|אחרת)|\b(?:when|if|unless|until)\s+(?:it"
    r"|they|this|that|one|nothing))\b.*",
    re.IGNORECASE,
)


_MYSELF = re.compile(r"[,;–—]\s*(?:i|i'll|i'd|ich|je|j'|yo|io|eu|я|אני)\b.*", re.IGNORECASE)
_FOR_NOW = re.compile(
    r"\b(?:for|not|until|by) now\b|\bna razie\b|\bпока\b|\bvorerst\b|pour l'instant|por ahora|per ora|por enquanto"
    r"|בינתיים|一旦|当面|暂时|일단",
    re.IGNORECASE,
)


_DONE_ALREADY = re.compile(
    r"\b(?:already (?:done|fixed|in place|taken care of|handled)|(?:done|handled|fixed)\b.*\balready"
    r"|już (?:zrobion|gotow)\w*"
    r"|уже (?:сделан|готов|исправлен)\w*|(?:schon|bereits) (?:erledigt|gemacht|fertig)|déjà fait\w*|ya (?:está"
    r"|están) hech\w*"
    r"|già fatt\w*|já (?:feit|foi|foram)\w*)|כבר (?:נעש|עשיתי|טופל|בוצע)|もう済|既に対応|已经(?:做|处理|完成)"
    r"|이미 (?:했|처리|완료)",
    re.IGNORECASE,
)
"""How it is said that there is nothing left to do."""


def _to_do(c: Candidate, language: str) -> float:
    """The points as an action: what is told as a reason, a condition or of oneself is none."""
    if not c.cue("action"):
        return 0.0
    main = _ASIDE.sub("", c.said)
    main = _MYSELF.sub("", main) if c.cue("request") else main
    if main == c.said:
        return c.cue("action")
    return lexicon().weigh(main, person=c.person, language=language).get("action", 0.0)


def _weigh_person(c: Candidate, first: int, language: str) -> None:
    hedge = 0.5 * c.cue("hedge")
    decision, lesson = 1.25 * c.cue("decision"), 1.1 * c.cue("lesson")
    action = _to_do(c, language)
    action -= 0.4 if action < 3 else 0.0
    limits = 0.5 * bool(c.cue("limit")) + 0.4 * c.technical + 0.3 * bool(c.cue("connect"))
    passing = (c.cue("now") > c.cue("action") and not _FOR_NOW.search(c.said)) or c.cue("need") or c.cue("doing")
    if c.cue("request") or c.cue("order") or passing:
        standing = 0.0
        lesson = 0.0 if c.cue("request") else lesson
    elif c.cue("observe") or "chatter" in c.cues or c.short or _DONE_ALREADY.search(c.text):
        standing = 0.0
    elif c.at <= first:
        standing = 0.0 if c.opens else 1.2 + limits
    else:
        standing = 2.0 + limits
    if (c.cue("order") and c.cue("decision") < _BEYOND_DOUBT) or (c.cue("doing") and c.cue("decision") < _PLAIN):
        decision = 0.0
    if c.at <= first:
        # What is the matter is told with "instead of" and "no longer" as well; deadlines are those of the work ahead.
        decision = decision if c.cue("decision") >= (_BEYOND_DOUBT if c.opens else _PLAIN) else 0.0
        action -= 1.5
    action -= 1.0 if c.cue("need") else 0.0
    if action >= THRESHOLD:
        standing = 0.0
    c.weak = max(decision, lesson) < THRESHOLD
    decision = max(decision, standing) + 0.4 * min(decision, standing) + (0.4 if decision >= 1.5 and lesson else 0.0)
    if decision >= THRESHOLD and lesson < 3.3:
        lesson = min(lesson, decision - 0.1)
    size = -0.5 if c.short else 0.0
    c.points = {"decision": decision - hedge + size, "lesson": lesson - hedge + size, "action": action + size}


_OUTCOME = re.compile(
    r"\bas (?:you )?(?:asked|requested|suggested|wanted)\b|\bwent through\b"
    r"|^(?:the |my |our )?[\w` -]{3,40} (?:is|are) (?:now )?(?:(?:working|done|in place"
    r"|up and running|complete)\b|(?:in|live|ready|up)(?=[.,:;!]|$))"
    r"|\btak jak (?:chciałeś|prosiłeś)\b|\bкак (?:ты|вы) (?:просил|хотел)\w*|\bwie (?:gewünscht|besprochen)\b"
    r"|כמו שביקשת"
    r"|\bcomme (?:demandé|convenu)\b|\bcomo (?:pediste|pediu)\b|\bcome (?:richiesto|chiesto)\b",
    re.IGNORECASE,
)
"""How it is reported that the work is there: it explains nothing."""


def _weigh_agent(c: Candidate, session: Session, *, last: bool, fixing: bool) -> None:
    hedge, done = 0.75 * c.cue("hedge"), c.cue("done")
    decision, lesson, action = c.cue("decision"), c.cue("lesson"), _to_do(c, session.language)
    if lesson and fixing:
        lesson += 0.5
    standing = 0.8 + 0.4 * (not c.cue("self")) + 0.4 * c.technical + 0.5 * bool(c.cue("limit"))
    standing += 0.5 * bool(c.cue("connect")) + 0.4 * session.edits_after(c.at) - 0.4 * min(2.0, done)
    if session.diagnosing(c) or (c.closing and not c.opens):
        standing += 0.4
    elif c.closing:
        standing -= 0.8  # the report of the work
    if c.announced in ("action", "chatter", "changes") or c.short or "chatter" in c.cues or _OUTCOME.search(c.text):
        standing = 0.0
    elif c.untried:
        standing -= 0.5
    if c.cue("proposal") and not c.announced:
        standing, lesson = 0.0, 0.0
    standing -= 0.4 if c.leans and not c.opens else 0.0
    c.weak = max(decision, lesson) < THRESHOLD
    lesson = max(lesson, standing) + 0.3 * min(lesson, standing)
    if decision >= 1.5 and c.cue("lesson"):
        decision += 0.4
    if action:
        action += (1.0 if last and not c.opens else 0.5 if last else 0.0) if c.closing else -1.0
        action += _FOUND if not last and session.diagnosing(c) and session.goes_on(c) else 0.0
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
    affirmed = {c.at for c in session.candidates if c.person and c.opens and affirms(c.text)}
    for prompt in session.prompts:
        said_yes = is_yes(prompt.text) or prompt.at in affirmed
        for c in proposals.get(prompt.at, [])[-2:] if said_yes else []:
            if c.points.get("action", 0.0) >= THRESHOLD:
                continue
            c.points["decision"] = max(c.points.get("decision", 0.0), 0.0) + 3.0
            c.weak = False


_CLAUSE = re.compile(r"\s*[,;:–—(。：、]")
_ENOUGH = 2
_YES_CHARS = 12
_LOOKED_AT = 200


def wanted(c: Candidate, language: str) -> frozenset[str]:
    """The stems of what an action says is to be done: those of the clause that says so, or of the first with enough."""
    text = unlabelled(c.said, "action")
    clauses = _CLAUSE.split(text)
    open_ones = [n for n, part in enumerate(clauses) if _action(part, language) >= THRESHOLD]
    first = ""
    for part in clauses[open_ones[0] :] if open_ones else clauses:
        first = f"{first} {part}"
        if len(stems(first)) >= _ENOUGH:
            return stems(first)
    return stems(text)


def _action(text: str, language: str) -> float:
    return lexicon().weigh(text, person=False, language=language).get("action", 0.0)


def _settle(session: Session) -> None:
    """Mark the actions that are reported as done, or asked for again, later; a report of them explains nothing."""
    actions = [c for c in session.candidates if part_of(c) == "action"][-_LOOKED_AT:]
    if not actions:
        return
    reports: dict[str, list[Candidate]] = {}
    asked = [c for c in session.candidates if c.person and not c.thin and c.points.get("action", 0.0) < THRESHOLD]
    for other in session.candidates:
        if _may_report(other):
            for stem in other.stems:
                reports.setdefault(stem, []).append(other)
    for c in actions:
        to_do = wanted(c, session.language)
        common = Counter(other.order for stem in to_do for other in reports.get(stem, ()) if other.at > c.at)
        told = [session.candidates[order] for order, count in common.items() if _reported(to_do, count, session, order)]
        c.done = bool(told) or any(_asked_again(session, c, other) for other in asked) or _taken_up(session, c)
        for other in sorted(told, key=lambda other: other.order)[:1]:
            if other.weak and other.points.get("lesson", 0.0) >= THRESHOLD:
                other.points["lesson"] = 0.0


def _taken_up(session: Session, c: Candidate) -> bool:
    """Whether the person answers that it is done already, or asks for it at once and something is reported done."""
    answers = [other for other in session.candidates if other.person and other.at == c.next_prompt]
    if c.person or not answers or not any(c.stems & other.stems for other in answers):
        return False
    named = [other for other in answers if c.stems & other.stems]
    if any(_DONE_ALREADY.search(other.text) for other in named):
        return True
    asked = any(
        (other.cue("request") or affirms(other.said[:_YES_CHARS])) and not other.cue("action") for other in named
    )
    if not asked:
        return False
    stems_named = {stem for other in named for stem in c.stems & other.stems}
    after = [o for o in session.candidates if not o.person and o.turn > c.turn and o.closing]
    reported = {o.at for o in after if o.cue("done") >= 1 or _OUTCOME.search(o.text)}
    return any(o.at in reported and stems_named & o.stems for o in after)


def _may_report(c: Candidate) -> bool:
    if c.person or c.question or c.announced == "action" or c.points.get("action", 0.0) >= THRESHOLD:
        return False
    return (c.prose or c.cue("done") >= 1) and not (c.cue("proposal") or c.cue("hedge") or c.untried)


def _reported(to_do: frozenset[str], common: int, session: Session, order: int) -> bool:
    least = 0.5 if session.candidates[order].cue("done") >= 1 else 0.75
    return common >= min(_ENOUGH, len(to_do)) and common / len(to_do) >= least


def _asked_again(session: Session, c: Candidate, other: Candidate) -> bool:
    return other.at > c.at and other.turn > max(0, c.turn) and session.centre.overlap(c.bag, other.bag) >= 0.6
