"""opencode's JSON trees: a file for each session, message and part, all rewritten whole.

Newest (before 1.2): `storage/{session/<project>/<session>, message/<session>/<message>, part/<message>/<part>}.json`.
Oldest: `project/<folder>/storage/session/{info/<session>, message/<session>/<message>, part/<session>/…}.json`.
Ids come from the names of files; the JSON need not repeat them.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from afterword.capture.harness import stores
from afterword.capture.harness.lenient import part
from afterword.capture.harness.opencode_reading import RECORD_MAX, Conversation, Head, Record, facts
from afterword.capture.harness.opencode_shapes import MESSAGE, SESSION, Revert, Session, Times
from afterword.domain.events import Decoded, Document, Found, Unreadable

OLDEST, TREE = 0, 1
"""Authorities of the two trees."""


def sources(root: Path) -> Iterator[Found]:
    """The sessions of both trees, older tree first."""
    for project in stores.entries(root / "project"):
        base = Path(project.path) / "storage" / "session"
        yield from _sessions(base / "info", base / "message", base / "part", OLDEST)
    base = root / "storage"
    for project in stores.entries(base / "session"):
        if stores.is_folder(project):
            yield from _sessions(Path(project.path), base / "message", base / "part", TREE)


def _sessions(folder: Path, messages: Path, parts: Path, authority: int) -> Iterator[Found]:
    """Those of one project; a folder that cannot be listed is named and keeps no other from being read."""
    try:
        inside = stores.entries(folder)
    except PermissionError:
        yield Found(folder, "none", stores.NOT_LISTED)
        return
    for entry in inside:
        try:
            yield from _session(entry, messages, parts, authority)
        except PermissionError:
            yield Found(Path(entry.path), "none", stores.NOT_LISTED)


def _session(entry: os.DirEntry[str], messages: Path, parts: Path, authority: int) -> Iterator[Found]:
    if not entry.name.endswith(".json") or entry.name.startswith("."):
        return
    session = entry.name.removesuffix(".json")
    own = messages / session
    below = parts / session if authority == OLDEST else parts
    beside = [own, *(below / message for message in _names(own))]
    yield Found(Path(entry.path), "document", authority=authority, beside=tuple(beside))


def _names(folder: Path) -> list[str]:
    """The ids that the JSON files of a folder are named by."""
    names = (entry.name for entry in stores.entries(folder))
    return [name.removesuffix(".json") for name in names if name.endswith(".json") and not name.startswith(".")]


def session_id(opened: Document) -> str:
    return opened.path.name.removesuffix(".json")


def updated_ms(opened: Document) -> float | None:
    """When the session says it was last written to.

    Raises:
        Unreadable: the file holds no JSON object (it may be half written).
    """
    times = _read(opened).time
    return times.updated if times else None


def events(opened: Document) -> Iterator[list[Decoded]]:
    """The conversation of a session's file."""
    read = _read(opened)
    times = read.time or Times()
    head = Head(
        session_id(opened),
        directory=read.directory or "",
        title=read.title or "",
        parent=read.parent or "",
        created=times.created,
        archived=times.archived is not None,
        revert=read.revert or Revert(),
    )
    yield [facts(head)]
    talk = Conversation(head)
    folder = opened.path.parent
    if folder.name == "info":
        messages, parts = folder.parent / "message" / head.id, folder.parent / "part" / head.id
    else:
        messages, parts = folder.parents[1] / "message" / head.id, folder.parents[1] / "part"
    rows = [_record(messages / f"{name}.json", name) for name in _names(messages)]
    for row in _in_order(rows):
        yield from talk.message(row, [_record(parts / row.id / f"{n}.json", n) for n in _names(parts / row.id)])


def _read(opened: Document) -> Session:
    read = part(opened.data, SESSION)
    if read is None:
        raise Unreadable("not JSON")
    return read


def _record(path: Path, its_id: str) -> Record:
    """One file of a conversation; what is no file and never will be one is a record that cannot be read.

    Raises:
        OSError: it is gone, or cannot be read now.
    """
    if path.is_symlink() and not path.exists():
        return Record(its_id, None)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        at = os.fstat(fd)
        if not stat.S_ISREG(at.st_mode) or at.st_size > RECORD_MAX:
            return Record(its_id, None, at.st_size)
        with os.fdopen(fd, "rb", closefd=False) as file:
            return Record(its_id, file.read(RECORD_MAX + 1))
    finally:
        os.close(fd)


def _in_order(rows: list[Record]) -> list[Record]:
    """By the time of their making, then by id; one that cannot be read comes where its id would."""
    last = 0.0
    placed: list[tuple[float, str, Record]] = []
    for row in rows:
        read = part(row.raw, MESSAGE) if row.raw is not None else None
        created = read.time.created if read and read.time else None
        last = created if created is not None else last
        placed.append((last, row.id, row))
    return [row for _, _, row in sorted(placed, key=lambda place: place[:2])]
