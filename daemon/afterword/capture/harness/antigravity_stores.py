"""Where Antigravity's transcripts lie, what in its stores cannot be read, and which folder a conversation is about."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from afterword.capture.harness import stores
from afterword.capture.harness.antigravity_steps import path_of
from afterword.domain.events import Found, Where

T = TypeVar("T")
_CACHE_MAX = 64 << 20

EMPTY = "an empty transcript; what was said is only in the agent's own conversations folder"
BINARY = "a conversation without a transcript is not read"
_LOGS = Path(".system_generated/logs")
_NAMES = ("transcript_full.jsonl", "transcript.jsonl")


class Summary(Struct):
    uris: list[str] = field(default_factory=list, name="WorkspaceURIs")


class Conversation(Struct):
    summary: Summary = field(default_factory=Summary)


class Metadata(Struct):
    """`conversation_metadata.json`."""

    conversations: dict[str, Conversation] = {}


def roots(where: Where) -> list[Path]:
    """Every `antigravity*` folder: the editor's, the command line's and others."""
    bases = stores.overridden(where, "ANTIGRAVITY") or [where.home / ".gemini"]
    return [folder for base in bases for folder in sorted(base.glob("antigravity*")) or [base / "antigravity"]]


def sources(root: Path) -> Iterator[Found]:
    """The full and the short transcript of every conversation, then what cannot be read."""
    brain = root / "brain"
    try:
        sessions = [entry for entry in stores.entries(brain) if stores.is_folder(entry)]
    except PermissionError:
        yield Found(brain, "none", stores.NOT_LISTED)
        return
    read: set[str] = set()
    for session in sessions:
        folder = Path(session.path) / _LOGS
        try:
            logs = {entry.name: entry for entry in stores.entries(folder)}
        except PermissionError:
            yield Found(folder, "none", stores.NOT_LISTED)
            continue
        found = [stores.line_log(logs[name]) for name in _NAMES if name in logs]
        empty = [each for each in found if not each.problem and _size(each.path) == 0]
        if found:
            read.add(session.name)
        for each in found:
            if each in empty and len(empty) == len(found):
                yield Found(each.path, "none", EMPTY)
            elif each not in empty:
                yield each
    try:
        kept = stores.entries(root / "conversations")
    except PermissionError:
        return
    for entry in kept:
        path = Path(entry.path)
        if path.suffix in (".db", ".pb") and path.stem not in read:
            yield Found(path, "none", BINARY)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def session_of(path: Path) -> str:
    """The conversation a transcript belongs to, by the folder it lies in."""
    return path.parents[2].name if len(path.parents) > 2 else path.stem


def folder_of(path: Path) -> str:
    """The folder a conversation is about, as the store's caches say; empty when they don't."""
    if len(path.parents) < 5:
        return ""
    cache, session = path.parents[4] / "cache", session_of(path)
    known = _read(cache / "conversation_metadata.json", Metadata)
    if known and session in known.conversations:
        uris = known.conversations[session].summary.uris
        if uris:
            return path_of(uris[0])
    latest = _read(cache / "last_conversations.json", dict[str, str])
    return next((folder for folder, its in (latest or {}).items() if its == session), "")


def _read(path: Path, shape: type[T]) -> T | None:
    try:
        return msgspec.json.decode(stores.side_file(path, _CACHE_MAX), type=shape)
    except (ValueError, RecursionError):
        return None
