"""What was learned: entries of the journal, the facts they come to, and whom a fact concerns."""

from typing import Final, Literal, TypeAlias

import msgspec

from afterword.domain.ids import FactId, LessonUid
from afterword.domain.slugs import slug

LessonKind: TypeAlias = Literal["lesson", "dead-end", "local-fact"]
"""What holds · what was tried and does not work · what holds on one machine alone."""
Source: TypeAlias = Literal["learn", "remember", "digest", "file", "edit"]
"""The command line · an agent over MCP · a session's write-up · a file a person dropped · an edit of a file of ours."""
LessonStatus: TypeAlias = Literal["active", "draft", "retracted", "deleted", "withdrawn"]
"""draft: waits for a person's word · deleted: a person took it away · withdrawn: what it came from says it no more."""
FactStatus: TypeAlias = Literal["active", "draft", "superseded", "retracted", "deleted", "withdrawn"]

TEXT_MAX: Final = 2_000
"""Characters of one lesson: it says one thing."""
GENERAL: Final = "general"
"""The topic of what has no other."""
AGENT_LINES: Final = 200
AGENT_BYTES: Final = 25 * 1024
"""What an agent loads when it starts holds no more."""
DEFAULT_AGENT: Final = "claude"
"""Who is written for while no agent is known at all: the one the hooks speak for by themselves."""


class Lesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry of the journal, the value of a LESSON register. It is written once and never rewritten.

    `by` is the agent that says it, a slug; empty for a person. `agents`, `project` and `machine` say whom it concerns:
    empty means all of them. `topic` is a slug, empty where `distill` is to find one. `evidence` is a section's key, a
    link or some words. `supersedes` are ids of facts or lessons. `day` is the vault's local day.
    """

    text: str
    kind: LessonKind
    at_us: int
    day: str
    source: Source
    by: str = ""
    agents: tuple[str, ...] = ()
    project: str = ""
    topic: str = ""
    machine: str = ""
    evidence: str = ""
    supersedes: tuple[str, ...] = ()
    status: LessonStatus = "active"
    pinned: bool = False


class LessonEdits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person said of an entry since, in Obsidian or by a command; None: nothing."""

    text: str | None = None
    status: LessonStatus | None = None
    retract_reason: str = ""
    retracted_on: str = ""
    pinned: bool | None = None


class CurrentLesson(msgspec.Struct, frozen=True):
    """An entry as it stands: `lesson` has the person's edits laid over it."""

    uid: LessonUid
    lesson: Lesson
    edits: LessonEdits = LessonEdits()

    @property
    def counts(self) -> bool:
        """Whether facts may be drawn from it."""
        return self.lesson.status == "active"


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that holds, stated once, the value of a FACT register. `lessons` are the entries that say it, oldest
    first; `agents` whom it concerns (empty: all), `machine` where it holds (empty: everywhere).

    A fact that another took the place of is `superseded`, by `superseded_by`; `why` says how that was seen.
    """

    text: str
    kind: LessonKind
    topic: str
    lessons: tuple[LessonUid, ...]
    created: str
    updated: str
    at_us: int
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    machine: str = ""
    status: FactStatus = "active"
    superseded_by: str = ""
    why: Literal["", "said", "newer"] = ""
    pinned: bool = False
    engine: str = "extractive"


class FactEdits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person said of a fact; None: nothing. `replaced_by` is a link or some words."""

    text: str | None = None
    status: FactStatus | None = None
    retract_reason: str = ""
    retracted_on: str = ""
    replaced_by: str = ""
    pinned: bool | None = None
    topic: str | None = None


class CurrentFact(msgspec.Struct, frozen=True):
    """A fact as it stands: `fact` has the person's edits laid over it."""

    id: FactId
    fact: Fact
    edits: FactEdits = FactEdits()

    @property
    def live(self) -> bool:
        """Whether anything may tell it as current."""
        return self.fact.status == "active"

    def concerns(self, agent: str, machine: str) -> bool:
        """Whether it is for this agent, on this machine."""
        mine = not self.fact.agents or agent in self.fact.agents
        return mine and self.fact.machine in ("", machine)


class Placing(msgspec.Struct, frozen=True):
    """Where an entry belongs: a fact of its own, one that says the same (`of`), or one in the place of another.

    `of` is the id of a fact, or the uid of an earlier entry of the same row. `text` is how the fact is worded from now
    on; `topic` is a slug. Both may be empty: then the entry's own hold.
    """

    verdict: Literal["new", "same", "replaces"]
    of: str = ""
    topic: str = ""
    text: str = ""


class Known(msgspec.Struct, frozen=True):
    """A fact as an engine is told of it."""

    id: FactId
    fact: Fact


def lesson_laid_over(lesson: Lesson, edits: LessonEdits) -> Lesson:
    """The entry with a person's words in place of ours."""
    changed = {name: value for name in ("text", "status", "pinned") if (value := getattr(edits, name)) is not None}
    return msgspec.structs.replace(lesson, **changed) if changed else lesson


def fact_laid_over(fact: Fact, edits: FactEdits) -> Fact:
    """The fact with a person's words in place of ours."""
    names = ("text", "status", "pinned", "topic")
    changed = {name: value for name in names if (value := getattr(edits, name)) is not None}
    return msgspec.structs.replace(fact, **changed) if changed else fact


_AGENTS: Final = {
    "claude-code": "claude",
    "gemini-cli": "gemini",
    "grok-build": "grok",
    "copilot-cli": "copilot",
    "qwen-code": "qwen",
    "codex-cli": "codex",
}


def agent_name(harness: str) -> str:
    """What an agent is called in `lessons/agents/<agent>.md` and by its hook: `claude` for `claude-code`; a slug."""
    name = slug(harness, fallback="")
    return _AGENTS.get(name, name)
