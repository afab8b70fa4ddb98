"""What an agent may have remembered over MCP: one lesson, as a new entry of the journal."""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from afterword.app import learning
from afterword.app.config import Config
from afterword.app.program import machine_name
from afterword.domain.clock import clock_from
from afterword.domain.lessons import LessonKind

CLIENT: Final = "client"
"""The argument in which the server says which client it speaks to; no agent is asked for it."""


class RememberAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `remember`. `client` is put in by the server."""

    text: str
    kind: LessonKind = "lesson"
    topic: str = ""
    folder: str | None = None
    everywhere: bool = False
    only_me: bool = False
    evidence: str = ""
    supersedes: tuple[str, ...] = ()
    client: str = ""


PROPERTIES: Final[dict[str, Any]] = {
    "text": {
        "type": "string", "maxLength": 2000,
        "description": "what was learned, in one sentence that makes sense without this session: what holds, and where",
    },
    "kind": {
        "type": "string", "enum": ["lesson", "dead-end", "local-fact"],
        "description": "lesson: what holds; dead-end: what was tried and does not work; local-fact: this machine alone",
    },
    "topic": {"type": "string", "maxLength": 60, "description": "what it is about, in a word or two"},
    "folder": {"type": "string", "description": "the project's folder; the one you work in by default"},
    "everywhere": {"type": "boolean", "description": "it is about no project in particular"},
    "only_me": {"type": "boolean", "description": "it concerns you alone, not other agents"},
    "evidence": {"type": "string", "maxLength": 300, "description": "what shows it: an id, a link, some words"},
    "supersedes": {
        "type": "array", "items": {"type": "string"}, "description": "ids of facts (f-…) that it takes the place of",
    },
}  # fmt: skip


def remember(config: Config, arguments: dict[str, Any]) -> dict[str, Any]:
    """Put a lesson into the journal."""
    asked = msgspec.convert(arguments, RememberAsked)
    agent = learning.client_agent(asked.client)
    done = learning.learn(
        config,
        learning.Said(
            text=asked.text,
            source="remember",
            kind=asked.kind,
            folder=Path(asked.folder or os.getcwd()).absolute(),  # noqa: PTH109
            everywhere=asked.everywhere,
            by=agent,
            only_agents=(agent,) if asked.only_me and agent else (),
            topic=asked.topic,
            evidence=asked.evidence,
            supersedes=asked.supersedes,
        ),
        clock_from(os.environ),
        machine_name(config),
    )
    said: dict[str, Any] = {"remembered": done.uid, "text": done.lesson.text}
    if done.lesson.project:
        said["project"] = done.lesson.project
    if done.spooled:
        said["note"] = "there is no vault to write into now: it waits in the spool"
    return said
