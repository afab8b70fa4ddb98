"""Grok Build: `sessions/<group>/<id>/updates.jsonl`, the log of what agent and terminal told each other.

Messages come in chunks, not always in order, and the last one is open; a turn is decoded as a whole. A rewind is a
marker behind what it undoes. The summary beside the log is a document of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from afterword.capture.harness import grok_stores
from afterword.capture.harness.grok_lines import KIND, LINES, SUMMARY, Record, Summary, in_order, record, whole
from afterword.capture.harness.grok_reading import Reading, State
from afterword.capture.harness.lenient import part as part_of
from afterword.capture.harness.lenient import records
from afterword.capture.harness.times import moment
from afterword.domain.events import (
    BadLine,
    Decoded,
    Document,
    Fingerprint,
    Found,
    Opened,
    Part,
    Skipped,
    Unreadable,
    Where,
)

name = "grok-build"
label = "Grok Build"
state_type = State

_LAST = frozenset({b"turn_completed", b"rewind_marker"})
_PROMPT = b"user_message_chunk"


def roots(where: Where) -> list[Path]:
    """Every folder that holds `sessions`."""
    return grok_stores.roots(where)


def sources(root: Path) -> Iterator[Found]:
    """Each session's log and summary, older sessions first."""
    return grok_stores.sources(root)


def start(path: Path) -> State:
    """The state before the first line of a log."""
    summary = grok_stores.summary_of(path)
    session = path.parent.name
    by_agent = grok_stores.spawned(path, summary)
    said = grok_stores.facts(path, summary, session, by_agent)
    return State(
        session=session,
        folder=session,
        cwd=said.cwd or "",
        parent=said.parent or "",
        forked_from=said.forked_from or "",
        agent=said.agent or "",
        sub_agent=by_agent is not None,
        hidden=bool(summary.hidden) and by_agent is None,
        copying=bool(said.forked_from),
        forked_us=moment(summary.forked_at),
    )


def session_of(state: State) -> str:
    """The session the next line belongs to, as far as is known."""
    return state.session


def ends_unit(before: bytes, line: bytes) -> bool:
    """Whether a turn ends between two lines: behind its end or a rewind, and before a prompt."""
    last = _kind(before)
    return last in _LAST or (_kind(line) == _PROMPT and last != _PROMPT)


def _kind(line: bytes) -> bytes:
    found = KIND.search(line)
    return found[1] if found else b""


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:
    """Decode one complete line as a unit of its own, changing `state`."""
    return [event for _, events in decode_unit([line], state, fingerprint) for event in events]


def decode_unit(
    lines: Sequence[bytes],
    state: State,
    fingerprint: Fingerprint,  # noqa: ARG001  # the protocol's
) -> list[tuple[int, list[Decoded]]]:
    """Decode the lines of a turn, changing `state`."""
    out: list[tuple[int, list[Decoded]]] = []
    found: list[Record] = []
    for number, line in enumerate(lines):
        for entry in records(line, LINES, whole) if line and not line.isspace() else ():
            if isinstance(entry, BadLine):
                out.append((number, [entry]))
                continue
            made = record(entry, number)
            if made is None:
                out.append((number, [Skipped("a record without an update")]))
            else:
                found.append(made)
    return [*out, *Reading(state, in_order(found)).read()]


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:  # noqa: ARG001  # the protocol's
    """What a summary says is one part."""
    yield Part(opened.path.parent.name, "")


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:  # noqa: ARG001
    """What a summary says of its session."""
    summary: Summary | None = part_of(opened.data, SUMMARY) if isinstance(opened, Document) else None
    if summary is None:
        raise Unreadable("it is no whole JSON document; it is read again when it changes")
    by_agent = grok_stores.by_summary(summary)
    if not summary.hidden or by_agent:
        yield [grok_stores.facts(opened.path, summary, summary.info.id or part.name, by_agent)]
