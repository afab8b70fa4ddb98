"""Gemini CLI: `tmp/<project>/chats/`, operation logs (`.jsonl`) and, before 0.39, whole documents (`.json`).

A log's lines change what earlier ones mean: the same message comes again and again, whole lists replace the list so
far, a rewind cuts it off. Both formats of a session give the same keys.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from afterword.capture.harness import gemini_stores
from afterword.capture.harness.gemini_messages import Speaker, State, named, titled
from afterword.capture.harness.gemini_records import LINES, SESSION, Fields, Line, Session, whole
from afterword.capture.harness.lenient import part as part_of
from afterword.capture.harness.lenient import records
from afterword.domain.events import (
    BadLine,
    Decoded,
    Document,
    Fingerprint,
    Found,
    Opened,
    Part,
    Rewind,
    Skipped,
    Unreadable,
    Where,
)

name = "gemini-cli"
label = "Gemini CLI"
state_type = State

NO_ID = BadLine("a message without an id")


def roots(where: Where) -> list[Path]:
    """Every `.gemini` folder."""
    return gemini_stores.roots(where)


def sources(root: Path) -> Iterator[Found]:
    """Main sessions, then sub-agents; checkpoints and the second copy of the prompts are no sessions."""
    return gemini_stores.sources(root)


def start(path: Path) -> State:
    """The state before the first line of a session's file."""
    return State(stem=path.stem, parent=gemini_stores.parent_of(path), cwd=gemini_stores.project_of(path))


def session_of(state: State) -> str:
    """The session the next line belongs to, as far as is known."""
    return state.native


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:  # noqa: ARG001  # the protocol's
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for record in records(line, LINES, whole):
        if isinstance(record, BadLine):
            out.append(record)
        elif record.rewind_to is not None:
            out.append(Rewind(record.rewind_to))
        elif record.changes is not None:
            _set(record.changes, state, out)
        elif record.id:
            Speaker(state, record, out, lesser=False).speak()
        elif record.session_id and record.project_hash:
            _metadata(record, state, out)
        else:
            out.append(Skipped(record.type or "a record without a type"))
    return out


def _metadata(record: Line, state: State, out: list[Decoded]) -> None:
    facts = named(state, record.session_id, record.directories, record.start_time)
    if facts:
        out.append(facts)
    out += titled(state, record.summary)


def _set(changes: Fields, state: State, out: list[Decoded]) -> None:
    if changes.session_id and changes.session_id != state.session:
        facts = named(state, changes.session_id, changes.directories, None)
        if facts:
            out.append(facts)
    out += titled(state, changes.summary)
    # What falls out of the list was compacted and stays; what stays may be shortened.
    for message in changes.messages or []:
        if message.id:
            Speaker(state, message, out, lesser=True).speak()


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:  # noqa: ARG001  # the protocol's
    """The one session of a document; compared by what it gives, since nothing in it says when it changed."""
    yield Part(_session(opened).session_id or opened.path.stem, "")


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:  # noqa: ARG001
    """What a document says of its session, then its messages."""
    session, state = _session(opened), start(opened.path)
    facts = named(state, session.session_id or state.stem, session.directories, session.start_time)
    yield [*([facts] if facts else []), *titled(state, session.summary)]
    for message in session.messages or []:
        out: list[Decoded] = []
        if message.id:
            Speaker(state, message, out, lesser=False).speak()
        else:
            out.append(NO_ID)
        yield out


def _session(opened: Opened) -> Session:
    found = part_of(opened.data, SESSION) if isinstance(opened, Document) else None
    if found is None:
        raise Unreadable("it is no whole JSON document; it is read again when it changes")
    return found
