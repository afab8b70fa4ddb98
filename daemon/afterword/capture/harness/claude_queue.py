"""Prompts queued while the agent worked, known to older versions only from `queue-operation` records.

An enqueued prompt is an item until the same text comes as a row (then it is that row) or leaves the queue unsaid.
"""

from afterword.capture.harness.claude_state import QUEUE, Mark, Queued, State, mark
from afterword.domain.events import Decoded, Drop, Fingerprint, Item
from afterword.domain.items import Kind, SaidBy


def operation(
    state: State, session: str, word: str | None, text: str, time_us: int | None, fingerprint: Fingerprint
) -> list[Decoded]:
    """What a queue operation means for the session's prompts; `text` is its speech, possibly empty."""
    match word:
        case "enqueue" if text:
            return [_enqueue(state, session, text, time_us, fingerprint)]
        case "dequeue":
            taken = _waiting(state, session, text, fingerprint)
            if taken is not None:
                taken.taken = True
        case "remove":
            removed = _waiting(state, session, text, fingerprint)
            return [_drop(state, removed)] if removed is not None else []
        case "popAll":
            waiting = [queued for queued in state.queue if queued.session == session and not queued.taken]
            return [_drop(state, queued) for queued in waiting]
    return []


def found(state: State, session: str, text: str, fingerprint: Fingerprint) -> list[Decoded]:
    """Drops of the queued prompts that this row's text is, alone or several joined by line breaks."""
    for first in range(len(state.queue)):
        same = _joined(state.queue[first:], session, text, fingerprint)
        if same:
            return [_drop(state, queued) for queued in same]
    return []


def _joined(queue: list[Queued], session: str, text: str, fingerprint: Fingerprint) -> list[Queued]:
    met: list[Queued] = []
    rest = text
    for queued in queue:
        length, print_ = queued.mark
        if queued.session == session and len(rest) >= length and fingerprint(rest[:length]) == print_:
            met.append(queued)
            rest = rest[length:]
            if not rest.strip():
                return met
            if not rest.startswith("\n"):
                return []
            rest = rest.lstrip("\n")
        elif not met:
            return []
    return []


def _enqueue(state: State, session: str, text: str, time_us: int | None, fingerprint: Fingerprint) -> Item:
    at = time_us or 0
    state.queued_n = state.queued_n + 1 if state.queued_at == at else 0
    state.queued_at = at
    key = (session, at, state.queued_n)
    state.queue.append(Queued(session, key, mark(text, fingerprint)))
    if len(state.queue) > QUEUE:
        del state.queue[0]
    return Item(session, key, Kind.PROMPT, text, time_us, SaidBy.PERSON)


def _waiting(state: State, session: str, text: str, fingerprint: Fingerprint) -> Queued | None:
    """The queued prompt meant: the one with this text, else (no text given) the oldest."""
    wanted: Mark | None = mark(text, fingerprint) if text else None
    for queued in state.queue:
        if queued.session == session and not queued.taken and wanted in (None, queued.mark):
            return queued
    return None


def _drop(state: State, queued: Queued) -> Drop:
    state.queue.remove(queued)
    return Drop(queued.session, queued.key, Kind.PROMPT)
