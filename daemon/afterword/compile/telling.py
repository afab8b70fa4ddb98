"""How a sentence is shown so that it can be read alone: without its label, together with the neighbour it leans on."""

from typing import NamedTuple

from afterword.compile.candidates import Candidate, Session
from afterword.compile.engine import MAX_TEXT
from afterword.compile.heads import contrasts, is_labelled, labelled_part, leans, unanswered, unjoined, unlabelled
from afterword.compile.sentences import cut
from afterword.compile.wording import advised

_ANSWER = 60
_TAIL = 45
_EAST_TAIL = 20
_PROPOSAL = 150
_THEN = " then."
_ALONE = 5
"""From this many words on a sentence does without its leading "and" or "then"."""
_FULL = 4
"""From this many naming words on the first sentence of a reply is understood from what was asked."""
_STRONG = 2.5
_DONE = 2.0


class Told(NamedTuple):
    text: str
    uses: tuple[Candidate, ...]
    """The sentences in it, in order; the first is the one that was asked for, unless it leans on the one before."""
    quoted: Candidate


def tell(session: Session, c: Candidate, part: str = "") -> Told | None:
    """The sentence as it is shown in a part; None where it says nothing without a neighbour it cannot be joined to."""
    text = unlabelled(c.said, part)
    text = text if c.person else unanswered(advised(text) if part == "decision" else text, session.language)
    if is_labelled(c.said, part):
        return _with_next(session, c, text)
    if c.person:
        answered = _answering(session, c, text, part)
        if answered or (part == "decision" and (not c.matter or (c.weak and c.thin and not c.technical))):
            return answered
    if not (c.leans or _is_tail(c, part)):
        return Told(unjoined(text, session.language, so=c.person) if _sayable(c, text, session) else text, (c,), c)
    alone = unjoined(text, session.language, so=c.person)
    whole = alone != text and len(alone.split()) >= _ALONE and not leans(alone, session.language)
    if c.person and whole:
        return Told(alone, (c,), c)
    before = session.before(c)
    if _starts_an_act(c, part):
        return None
    if before and before.prose and not (before.question or before.empty or _is_aside(before)):
        joined = join(unlabelled(before.said, part), c.text)
        if len(joined) <= MAX_TEXT:
            return Told(joined, (before, c), c)
    if not c.leans:
        return None if c.text.endswith(_THEN) else Told(text, (c,), c)
    if whole:
        return Told(alone, (c,), c)
    answers = c.opens and not c.person and c.matter >= _FULL
    strong = (answers or c.cue(part) >= _STRONG) and not contrasts(text, session.language)
    return Told(text, (c,), c) if strong else None


def join(one: str, other: str) -> str:
    """Two sentences of one paragraph as they are written after one another."""
    return one + ("" if one[-1:] in "。！？" else " ") + other


def _sayable(c: Candidate, text: str, session: Session) -> bool:
    alone = unjoined(text, session.language, so=c.person)
    return alone != text and (len(alone.split()) >= _ALONE or " " not in alone) and not c.leans


def _is_aside(c: Candidate) -> bool:
    """Whether an agent's sentence only says what it will do next."""
    return not c.person and ("chatter" in c.cues or c.announced in ("action", "chatter"))


def _starts_an_act(c: Candidate, part: str) -> bool:
    return _is_tail(c, part) and not c.leans and bool(c.cue("now")) and not c.cue("done") >= _STRONG


def _is_tail(c: Candidate, part: str) -> bool:
    """Whether an agent's sentence is too short to be told apart from the one before."""
    if not c.weak or c.person or c.listed or part == "action":
        return False
    return len(c.text) < (_TAIL if " " in c.text else _EAST_TAIL) or c.text.endswith(_THEN)


def _with_next(session: Session, c: Candidate, text: str) -> Told:
    """A labelled sentence, with the next one where it is short or points at it."""
    after = session.after(c)
    short = len(text) < (_TAIL if " " in text else _EAST_TAIL)
    own = after is not None and (after.cue("action") >= _STRONG or labelled_part(after.text))
    if after and not own and after.prose and not after.question and (short or leans(text, session.language)):
        joined = join(text, after.text)
        if len(joined) <= MAX_TEXT:
            return Told(joined, (c, after), c)
    return Told(text, (c,), c)


def _answering(session: Session, c: Candidate, text: str, part: str) -> Told | None:
    """A short answer with the agent's question before it, "but …" and "that way" with the proposal they answer."""
    asked = session.asked_before(c) if len(c.text) < _ANSWER else None
    if asked:
        return Told(cut(f"{cut(asked.text, _PROPOSAL)} – {c.text}", MAX_TEXT), (asked, c), c)
    before = session.before(c)
    narrows = c.leans and contrasts(text, session.language) and (before is None or before.empty)
    if narrows or (part == "decision" and c.thin):
        proposed = session.proposed_before(c)
        if proposed:
            return _after(proposed, text, c)
    said = session.said_before(c)
    if part == "action" and c.thin and said and said.prose and not said.empty:
        return _after(said, text, c)
    return None


def _after(said: Candidate, text: str, c: Candidate) -> Told:
    room = max(_PROPOSAL // 2, MAX_TEXT - len(text) - 3)
    return Told(cut(f"{cut(said.text, room)} – {text}", MAX_TEXT), (said, c), c)
