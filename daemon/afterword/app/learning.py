"""`learn` and `remember`: one new entry of the journal, with neither daemon nor ledger.

Redacted, written whole beside its place, synced, linked into the journal; without a vault that this machine writes it
goes into the spool, from which the next writer takes it.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from afterword.app.config import Config, day_starts_at_min
from afterword.app.reading import redactor
from afterword.capture.exclusion import Exclusions
from afterword.domain.clock import Clock, Zones
from afterword.domain.errors import NotSetUp, UsageError, UserError
from afterword.domain.escape import plain
from afterword.domain.ids import LessonUid
from afterword.domain.lesson_note import markdown, name_of, topic_slug
from afterword.domain.lessons import TEXT_MAX, Lesson, LessonKind, Source, agent_name
from afterword.domain.slugs import project_of, slug
from afterword.memory.entries import set_down
from afterword.memory.journal import FOLDER, SPOOL
from afterword.redact.exits import leave
from afterword.store import files
from afterword.store.contexts import checkout_of
from afterword.store.ledger.ledger import open_reader
from afterword.store.vault_card import VaultCard, read_card

INPUT_MAX_BYTES: Final = 64 << 10


class Said(msgspec.Struct, frozen=True):
    """What somebody wants remembered. `folder` is where they work: its project is the lesson's, unless `project` names
    another or the lesson holds `everywhere`. `only_agents` are those it is for, all when empty."""

    text: str
    source: Source
    kind: LessonKind = "lesson"
    folder: Path | None = None
    project: str | None = None
    everywhere: bool = False
    by: str = ""
    only_agents: tuple[str, ...] = ()
    topic: str = ""
    evidence: str = ""
    supersedes: tuple[str, ...] = ()
    pinned: bool = False


class Learned(msgspec.Struct, frozen=True):
    """What came of it: the entry's id, its file, and whether that waits in the spool."""

    uid: LessonUid
    path: Path
    spooled: bool
    lesson: Lesson


def learn(config: Config, said: Said, clock: Clock, machine: str) -> Learned:
    """Put it into the journal; on the disk when this returns.

    Raises:
        UsageError: there is nothing to remember, too much, or an id that is none.
        UserError: the folder's project is left out.
    """
    lesson = _lesson(config, said, clock, machine)
    uid = LessonUid(f"l-{secrets.token_hex(6)}")
    card = read_card(config.vault) if config.vault else None
    zones = Zones(card.zone if card else [], day_starts_at_min(config.settings))
    lesson = msgspec.structs.replace(lesson, day=zones.day(lesson.at_us))
    note = markdown(uid, lesson)
    name = name_of(uid, lesson, zones.local(lesson.at_us))
    if card and config.vault and _writes(config, card, machine):
        journal = f"{config.lessons}/{FOLDER}"
        if files.lies_inside(config.vault, journal):
            try:
                return Learned(uid, set_down(files.inside(config.vault, journal), name, note, _folder), False, lesson)
            except OSError:
                # A vault that takes nothing now must not lose it.
                pass
    path = set_down(config.places.state / SPOOL, name, note, _private)
    return Learned(uid, path, True, lesson)


def _folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)


def _private(path: Path) -> None:
    files.private_folder(path)


def _lesson(config: Config, said: Said, clock: Clock, machine: str) -> Lesson:
    clean = redactor(config)

    def out(text: str) -> str:
        return leave("lesson", plain(text), clean)

    text = out(said.text)
    if not text:
        raise UsageError("there is nothing to learn", "say it in a sentence")
    if len(text) > TEXT_MAX:
        raise UsageError(
            f"that has {len(text):,} characters; a lesson says one thing, in {TEXT_MAX:,} at most", "split it up"
        )
    for each in said.supersedes:
        if each[:2] not in ("f-", "l-") or not 4 <= len(each) - 2 <= 12 or not _is_hex(each[2:]):
            raise UsageError(
                f"--supersedes: {each!r} is no id of a fact (f-…) or a lesson (l-…)",
                "topics show them behind each fact",
            )
    at_us = clock() // 1000 * 1000
    return Lesson(
        text=text,
        kind=said.kind,
        at_us=at_us,
        day="",
        source=said.source,
        by=agent_name(said.by),
        agents=tuple(dict.fromkeys(filter(None, map(agent_name, said.only_agents)))),
        project=slug(out(_project(config, said)), fallback=""),
        topic=topic_slug(out(said.topic))[:60].strip("-"),
        machine=slug(machine) if said.kind == "local-fact" else "",
        evidence=out(said.evidence)[:300],
        supersedes=said.supersedes,
        pinned=said.pinned,
    )


def _project(config: Config, said: Said) -> str:
    """The project it belongs to: of a git worktree the main checkout's."""
    if said.folder is not None:
        rules = Exclusions(config.settings.capture.exclude_projects, config.places.home)
        if rules.excludes(str(said.folder)):
            raise UserError(
                "this project is left out of everything that is stored",
                "run it in another folder to store it all the same",
            )
    if said.everywhere:
        return ""
    if said.project is not None:
        return said.project
    if said.folder is None:
        return ""
    try:
        checkout = checkout_of(said.folder)
        return project_of(str(checkout)) if (checkout / ".git").exists() or checkout != said.folder.resolve() else ""
    except (OSError, ValueError, RuntimeError):
        return ""


def _writes(config: Config, card: VaultCard, machine: str) -> bool:
    """Whether this machine is the one that writes the vault; by its name in the ledger, where there is one."""
    if card.writer in ("", machine):
        return True
    try:
        ledger = open_reader(config.places.state)
    except (NotSetUp, OSError, UserError):
        return False
    try:
        return ledger.origin[1] == card.writer
    finally:
        ledger.close()


def _is_hex(text: str) -> bool:
    return all(char in "0123456789abcdef" for char in text)


def client_agent(name: str) -> str:
    """The agent that an MCP client's name stands for; its own name as a slug where it is none that is known."""
    low = slug(name, fallback="")
    for known in _CLIENTS:
        if known in low.split("-"):
            return known
    return agent_name(low)


_CLIENTS: Final = ("claude", "codex", "gemini", "opencode", "cursor", "antigravity", "grok", "copilot", "qwen", "aider")


def fields(done: Learned) -> Mapping[str, object]:
    """What `learn --json` says."""
    lesson = done.lesson
    return {
        "id": done.uid,
        "path": str(done.path),
        "spooled": done.spooled,
        "kind": lesson.kind,
        "text": lesson.text,
        "project": lesson.project or None,
        "topic": lesson.topic or None,
        "agents": list(lesson.agents),
    }
