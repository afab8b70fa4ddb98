"""What reading a Claude Code transcript remembers between lines: ids, counters and fingerprints, all bounded."""

from msgspec import Struct, field

from afterword.domain.events import Fingerprint

ANSWERS = 128
MARKS = 256
"""Texts remembered of one answer; what follows goes by its place in its row."""
CALLS = 256
QUEUE = 64
SESSIONS = 64
LEAVES = 64
CHAINED = 256

Mark = tuple[int, str]
"""Length and fingerprint of a text."""


class Seen(Struct):
    """What was already told of one session, so that it is not told with every line."""

    told: bool = False
    cwd: bool = False
    at: str = ""
    """Fingerprint of the folder it is in now."""
    started: bool = False
    branch: str = ""
    model: str = ""
    version: str = ""
    forked: bool = False
    heard: bool = False
    """A user-role text was met."""
    warm: bool = False
    """So far only a warm-up call: nothing of it is told."""


class Answer(Struct):
    """The texts known of one API answer, which arrives in several growing rows."""

    texts: list[Mark] = field(default_factory=list)
    thoughts: list[Mark] = field(default_factory=list)


class Call(Struct):
    """A tool call without its result."""

    key: tuple[str | int, ...]
    kind: int


class Queued(Struct):
    """A prompt known from a queue operation only."""

    session: str
    key: tuple[str | int, ...]
    mark: Mark
    taken: bool = False
    """It left the queue for the conversation, so nothing takes it back any more."""


class State(Struct):
    """Decoder state of one transcript."""

    stem: str = ""
    folder: str = ""
    """The project's folder in the store: a name for want of a better one, never decoded."""
    agent: str = ""
    agent_type: str | None = None
    spawned_by: str | None = None
    session: str = ""
    boundary: bool = False
    """A compaction boundary was the last thing met: its summary follows."""
    seen: dict[str, Seen] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    queue: list[Queued] = field(default_factory=list)
    queued_at: int = 0
    queued_n: int = 0
    leaves: list[str] = field(default_factory=list)
    chains: dict[str, str] = field(default_factory=dict)
    """Node → root of a sidechain without agent id inside a main file."""


def seen(state: State, session: str) -> Seen:
    known = state.seen.get(session)
    if known is None:
        known = state.seen[session] = Seen()
        if len(state.seen) > SESSIONS:
            del state.seen[next(iter(state.seen))]
    return known


def answer(state: State, message: str) -> Answer:
    """The answer with this message id, now the last to be forgotten."""
    known = state.answers.pop(message, None) or Answer()
    state.answers[message] = known
    if len(state.answers) > ANSWERS:
        del state.answers[next(iter(state.answers))]
    return known


def remember_call(state: State, tool: str, call: Call) -> None:
    state.calls[tool] = call
    if len(state.calls) > CALLS:
        del state.calls[next(iter(state.calls))]


def remember_leaf(state: State, node: str) -> None:
    state.leaves.append(node)
    if len(state.leaves) > LEAVES:
        del state.leaves[0]


def chain_root(state: State, node: str | None, parent: str | None) -> str:
    """The first row of the sidechain this row belongs to."""
    root = state.chains.get(parent or "") or node or "sidechain"
    if node:
        state.chains[node] = root
        if len(state.chains) > CHAINED:
            del state.chains[next(iter(state.chains))]
    return root


def mark(text: str, fingerprint: Fingerprint) -> Mark:
    return len(text), fingerprint(text)


def place(known: list[Mark], texts: list[str], fingerprint: Fingerprint) -> list[int]:
    """The index of each text within its answer; `known` grows or learns the later editions.

    A text that starts with a known one is its later edition, unless it equals another. A row whose first text is
    an edition of the answer's first holds the whole answer so far.
    """
    marks = [mark(text, fingerprint) for text in texts]
    # The first row of an answer holds new texts only, also where two are equal.
    aligned = not known or _edition(known, set(), texts[0], marks[0], fingerprint) == 0
    places: list[int] = []
    taken: set[int] = set()
    for n, text in enumerate(texts):
        at = n if aligned else _edition(known, taken, text, marks[n], fingerprint)
        if at < len(known):
            known[at] = marks[n]
        elif len(known) < MARKS:
            at = len(known)
            known.append(marks[n])
        else:
            at = MARKS + n
        places.append(at)
        taken.add(at)
    return places


def _edition(known: list[Mark], taken: set[int], text: str, own: Mark, fingerprint: Fingerprint) -> int:
    """Which known text this is, or becomes; `len(known)` for a new one."""
    free = [n for n in range(len(known)) if n not in taken]
    for n in free:
        if known[n] == own:
            return n
    for n in free:
        length, print_ = known[n]
        if length < len(text) and fingerprint(text[:length]) == print_:
            return n
    return len(known)
