"""A segment as the engine reads it: turns, and the sentences of people and agents, within a budget."""

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from afterword.compile import cues
from afterword.compile.heads import affirms, headed, labelled_part, leans
from afterword.compile.matter import stems, substance
from afterword.compile.rank import Centre, terms
from afterword.compile.sentences import Sentence, normal, sentences
from afterword.domain.digest import DigestInput, Passage
from afterword.domain.items import Kind, SaidBy

BUDGET = 240_000
"""Characters of prose read from one segment."""
PROMPT_SHARE = (4_000, 2_000)
REPLY_SHARE = (3_000, 6_000)
"""Characters read from the beginning and the end of a long text."""
MAX_SENTENCE = 1_200
ECHO_BUDGET = 2_000_000
_ECHO_SHARE = 20_000
_ECHO_LEAST = 25
_SOON = 12
_LEAST_MATTER = 2
_EMPTY_WORDS = 9
_EMPTY_EAST = 16
_SETTLED = 2.0
_WORK = frozenset((Kind.COMMAND, Kind.OUTPUT, Kind.READ, Kind.EDIT, Kind.CALL))


@dataclass(slots=True)
class Prompt:
    at: int
    item: str
    text: str


@dataclass(slots=True, eq=False)
class Candidate:
    """A sentence and what is known of it; `points` is filled in when it is weighed."""

    order: int
    at: int
    """The index of its passage in the segment."""
    item: str
    raw: str
    text: str
    person: bool
    turn: int
    """The index of the request it follows (or is part of); -1 before the first."""
    next_prompt: int
    closing: bool
    """In the last reply before the next prompt of a person."""
    opens: bool
    """The first sentence of its reply."""
    untried: bool
    """Nothing was run, read or edited yet since the prompt before, and something will be: an announcement."""
    listed: bool
    announced: str
    """decision, lesson, action, chatter or changes, when it stands under such a heading."""
    box: str
    question: bool
    prose: bool
    short: bool
    technical: bool
    cues: dict[str, float]
    block: int
    """The number of its paragraph in its passage."""
    said: str
    """The text without a person's leading "OK, and"."""
    leans: bool
    """Understood only together with the sentence before it."""
    empty: bool
    """Assent, thanks or a farewell without content of its own."""
    matter: int
    """How many words of it name something."""
    stems: frozenset[str]
    terms: list[str]
    bag: frozenset[str]
    points: dict[str, float] = field(default_factory=dict)
    done: bool = False
    """To be done, and reported as done later on."""
    weak: bool = False
    """Chosen for where it stands and how it is built, without a cue phrase."""

    @property
    def thin(self) -> bool:
        """Whether it does not say what it is about: "Options?", "Write it"."""
        return self.matter < _LEAST_MATTER

    @property
    def request_like(self) -> bool:
        return not cues.is_log_like(self.text) and len(self.text) <= 160

    def cue(self, part: str) -> float:
        return self.cues.get(part, 0.0)


@dataclass(slots=True)
class Session:
    """One segment, read."""

    prompts: list[Prompt]
    """Every prompt of a person."""
    requests: list[Prompt]
    """Those that ask for something."""
    candidates: list[Candidate]
    turns: dict[int, list[Candidate]]
    centre: Centre
    language: str
    edits: dict[int, int]
    """Turn → how many edits."""
    edited_at: list[int]
    replied: frozenset[int]
    worked: frozenset[int]
    """The turns in which something was run, read or edited."""
    outputs: list[tuple[int, str]]

    def of_turn(self, turn: int) -> list[Candidate]:
        """The sentences of a request and of what was said after it, in order."""
        return self.turns.get(turn, [])

    def asked_before(self, c: Candidate) -> Candidate | None:
        """The agent's question that a person's sentence answers: the last sentence said before it."""
        if not c.opens or not c.order:
            return None
        before = self.candidates[c.order - 1]
        return before if not before.person and before.question and before.next_prompt == c.at else None

    def before(self, c: Candidate) -> Candidate | None:
        """The sentence before it in the same passage."""
        found = self.candidates[c.order - 1] if c.order else None
        return found if found and found.at == c.at else None

    def after(self, c: Candidate) -> Candidate | None:
        """The sentence after it in the same paragraph."""
        found = self.candidates[c.order + 1] if c.order + 1 < len(self.candidates) else None
        return found if found and found.at == c.at and found.block == c.block else None

    def said_before(self, c: Candidate) -> Candidate | None:
        """What the agent said last before this opening sentence of a person."""
        before = self.candidates[c.order - 1] if c.opens and c.order else None
        return before if before and not before.person and before.next_prompt == c.at else None

    def proposed_before(self, c: Candidate) -> Candidate | None:
        """What the agent proposed last before this sentence of a person."""
        for other in reversed(self.candidates[max(0, c.order - 30) : c.order]):
            if not other.person and other.next_prompt == c.at and other.cue("proposal") and not other.question:
                return other
        return None

    def edits_after(self, at: int) -> bool:
        """Whether files are edited soon after this passage."""
        n = bisect.bisect_left(self.edited_at, at)
        return n < len(self.edited_at) and self.edited_at[n] - at <= _SOON

    def diagnosing(self, c: Candidate) -> bool:
        """Whether nothing was edited yet between the request and this sentence."""
        start = self.requests[c.turn].at if 0 <= c.turn < len(self.requests) else 0
        n = bisect.bisect_left(self.edited_at, start)
        return n >= len(self.edited_at) or self.edited_at[n] > c.at

    def goes_on(self, c: Candidate) -> bool:
        """Whether something is run, read or edited in a later turn."""
        return bool(self.worked) and max(self.worked) > c.turn

    def answered(self, turn: int) -> bool:
        return turn in self.replied

    def echoes(self, c: Candidate) -> bool:
        """Whether an agent's sentence only repeats what a program printed before."""
        start = c.text[:80]
        if len(start) < _ECHO_LEAST:
            return False
        return any(start in text or c.raw[:80] in text for at, text in self.outputs if at < c.at)

    def says(self, text: str, c: Candidate) -> bool:
        """Whether a sentence tells of the same thing as this text."""
        return self.centre.overlap(frozenset(terms(text)), c.bag) >= 0.5


@dataclass(slots=True)
class _Source:
    at: int
    passage: Passage
    turn: int
    closing: bool
    untried: bool
    next_prompt: int
    rank: int
    """Smaller is read first when the budget is short."""


def read(segment: DigestInput) -> Session:
    """The segment's people's and agents' sentences, with the facts the engine weighs."""
    prompts = [
        Prompt(at, p.item, p.text)
        for at, p in enumerate(segment.passages)
        if p.kind is Kind.PROMPT and p.said_by is SaidBy.PERSON and p.text.strip()
    ]
    requests = [prompt for prompt in prompts if not cues.asks_nothing(prompt.text[:200])] or prompts[:1]
    sources = list(_sources(segment, prompts, requests))
    sources = _affordable(sources)
    language = cues.language(" ".join(source.passage.text[:400] for source in sources[:60]))
    candidates: list[Candidate] = []
    turns: dict[int, list[Candidate]] = {}
    bags: list[list[str]] = []
    for source in sources:
        for n, sentence in enumerate(_sentences(source.passage)):
            candidate = _candidate(len(candidates), source, sentence, language, opens=n == 0)
            candidates.append(candidate)
            turns.setdefault(candidate.turn, []).append(candidate)
            bags.append(candidate.terms)
    turn_of = _turns(len(segment.passages), requests)
    edits: dict[int, int] = {}
    replied: set[int] = set()
    for at, passage in enumerate(segment.passages):
        if passage.kind is Kind.EDIT:
            edits[turn_of[at]] = edits.get(turn_of[at], 0) + 1
        elif passage.kind in (Kind.REPLY, Kind.COMMAND):
            replied.add(turn_of[at])
    return Session(
        prompts=prompts,
        requests=requests,
        candidates=candidates,
        turns=turns,
        centre=Centre(bags),
        language=language,
        edits=edits,
        edited_at=[at for at, passage in enumerate(segment.passages) if passage.kind is Kind.EDIT],
        replied=frozenset(replied),
        worked=frozenset(turn_of[at] for at, passage in enumerate(segment.passages) if passage.kind in _WORK),
        outputs=_outputs(segment.passages),
    )


def _turns(count: int, requests: Sequence[Prompt]) -> list[int]:
    starts = {request.at: n for n, request in enumerate(requests)}
    turn, turns = -1, []
    for at in range(count):
        turn = starts.get(at, turn)
        turns.append(turn)
    return turns


def _sources(segment: DigestInput, prompts: Sequence[Prompt], requests: Sequence[Prompt]) -> Iterator[_Source]:
    turns = _turns(len(segment.passages), requests)
    person_at = {prompt.at for prompt in prompts}
    following = len(segment.passages)
    later_reply = False
    found: list[_Source] = []
    worked: list[bool] = []
    for at, passage in enumerate(segment.passages):
        before = bool(worked) and worked[-1] and at not in person_at
        worked.append(before or passage.kind in _WORK)
    for at in range(len(segment.passages) - 1, -1, -1):
        passage = segment.passages[at]
        if at in person_at:
            found.append(_Source(at, passage, turns[at], False, False, following, 0 if turns[at] == 0 else 1))
            following, later_reply = at, False
        elif passage.kind is Kind.REPLY and passage.said_by is not SaidBy.MACHINE and passage.text.strip():
            closing = not later_reply
            later_reply = True
            untried = not closing and not worked[at]
            found.append(_Source(at, passage, turns[at], closing, untried, following, 1 if closing else 2))
    yield from reversed(found)
    end = len(segment.passages)
    for n, report in enumerate(segment.reports):
        if report.kind is Kind.REPLY and report.said_by is not SaidBy.MACHINE and report.text.strip():
            yield _Source(end + n, report, len(requests) - 1, False, False, end, 2)


def _affordable(sources: Sequence[_Source]) -> list[_Source]:
    """As many sources as the budget pays for: the first prompt, other prompts and closing replies, then the rest.

    A group that does not fit is thinned evenly, so that the whole session stays in sight.
    """
    left = BUDGET
    kept: list[_Source] = []
    for rank in (0, 1, 2):
        group = [source for source in sources if source.rank == rank]
        sizes = [min(len(source.passage.text), sum(_share(source.passage))) for source in group]
        total = sum(sizes)
        if total > left:
            step = -(-total // max(1, left)) | 1  # odd: prompts and replies alternate
            group = group[::-step][::-1] if left > 0 else []
            total = sum(min(len(source.passage.text), sum(_share(source.passage))) for source in group)
        kept += group
        left -= total
    return sorted(kept, key=lambda source: source.at)


def _share(passage: Passage) -> tuple[int, int]:
    return PROMPT_SHARE if passage.kind is Kind.PROMPT else REPLY_SHARE


def _sentences(passage: Passage) -> Iterable[Sentence]:
    head, tail = _share(passage)
    text = passage.text
    if len(text) <= head + tail:
        found = sentences(text)
    else:
        end = text[-tail:]
        if end.count("```") % 2:
            end = end.split("```", 1)[1]
        # The sentences at the two cut edges are halves.
        found = sentences(text[:head])[:-1] + sentences(end)[1:]
    return [
        sentence for sentence in found if len(sentence.raw) <= MAX_SENTENCE and not cues.is_injection(sentence.text)
    ]


def _candidate(order: int, source: _Source, sentence: Sentence, language: str, *, opens: bool) -> Candidate:
    person = source.passage.kind is Kind.PROMPT
    prose = cues.is_prose(sentence.text)
    words = terms(sentence.text)
    said = headed(sentence.text, language) if person else sentence.text
    announced = labelled_part(sentence.text) or cues.heading_part(cues.label(sentence.text))
    announced = announced or cues.heading_part(sentence.heading)
    weights = cues.lexicon().weigh(said, person=person, language=language)
    return Candidate(
        order=order,
        at=source.at,
        item=source.passage.item,
        raw=sentence.raw,
        text=sentence.text,
        person=person,
        turn=source.turn,
        next_prompt=source.next_prompt,
        closing=source.closing and not person,
        opens=opens,
        untried=source.untried,
        listed=sentence.listed or bool(labelled_part(sentence.text) or cues.label(sentence.text)),
        announced=announced,
        box=sentence.box,
        question=cues.is_question(sentence.text, person=person),
        prose=prose,
        short=len(sentence.text) < 16 and len(words) < 5,
        technical=cues.is_technical(sentence.text),
        cues=weights,
        block=sentence.block,
        said=said,
        leans=leans(said, language),
        empty=_is_empty(sentence.text, said, weights, person=person),
        matter=substance(said),
        stems=stems(said),
        terms=words,
        bag=frozenset(words),
    )


def _is_empty(text: str, said: str, weights: dict[str, float], *, person: bool) -> bool:
    if weights.get("empty") and len(said.split()) <= _EMPTY_WORDS and (" " in said or len(said) <= _EMPTY_EAST):
        return True
    settled = max(weights.get("decision", 0.0), weights.get("action", 0.0))
    return person and affirms(text) and substance(said) < _LEAST_MATTER and settled < _SETTLED


def _outputs(passages: Sequence[Passage]) -> list[tuple[int, str]]:
    left = ECHO_BUDGET
    found: list[tuple[int, str]] = []
    for at, passage in enumerate(passages):
        if passage.kind in (Kind.OUTPUT, Kind.READ) and left > 0:
            text = normal(passage.text[:_ECHO_SHARE])
            left -= len(text)
            found.append((at, text))
    return found
