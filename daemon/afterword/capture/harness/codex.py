"""Codex CLI: `sessions/Y/M/D/rollout-*.jsonl`, one thread per file, legacy and paginated, and its index of titles.

Most texts come twice, as the model saw them (response items) and as the person saw them (events); which one counts
is decided while reading, by fingerprints.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from afterword.capture.harness import stores
from afterword.capture.harness.codex_lines import BARE, LINES, Line, whole
from afterword.capture.harness.codex_reading import Reading
from afterword.capture.harness.codex_speech import typed
from afterword.capture.harness.codex_state import LOGGED, State
from afterword.capture.harness.lenient import part as part_of
from afterword.capture.harness.lenient import records
from afterword.capture.harness.times import moment
from afterword.domain.events import (
    BadLine,
    Decoded,
    Document,
    Facts,
    Fingerprint,
    Found,
    Item,
    Opened,
    Part,
    Unreadable,
    Where,
)
from afterword.domain.items import Kind, SaidBy

name = "codex"
label = "Codex CLI"
state_type = State

_INDEX = "session_index.jsonl"
_LOG = "history.jsonl"
_ROLLOUT_AUTHORITY = 1
_ROLLOUT = re.compile(r"rollout-.+\.(?:jsonl|jsonl\.zst|json)")
_THREAD = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)")
_TITLE_MAX = 300
_NO_HEADER = Raw(b"{}")


class Named(Struct, gc=False):
    """The header of a rollout of the first format, as far as it names the thread."""

    id: str | None = None


class FirstRollout(Struct, gc=False):
    """A rollout of the first format: one document with a header and bare response items."""

    session: Raw = _NO_HEADER
    items: list[Raw] = []


_NAMED = msgspec.json.Decoder(Named)
_FIRST = msgspec.json.Decoder(FirstRollout)


def roots(where: Where) -> list[Path]:
    """The folders that hold `sessions` and `archived_sessions`."""
    return stores.overridden(where, "CODEX") or stores.listed(where, "CODEX_HOME") or [where.home / ".codex"]


def sources(root: Path) -> Iterator[Found]:
    """Rollouts by the time in their names, archived ones after, then the log of prompts and the index of titles."""
    active: set[str] = set()
    for folder, depth in (("sessions", 3), ("archived_sessions", 0)):
        found = list(stores.below(root / folder, _ROLLOUT, depth))
        logs = [entry for entry in found if not isinstance(entry, Found)]
        plain = {entry.name for entry in logs if entry.name.endswith(".jsonl")}
        for entry in sorted(logs, key=lambda entry: entry.name):
            twin = entry.name.removesuffix(".zst")
            if entry.name in active or (twin != entry.name and twin in plain | active):
                continue
            log = stores.line_log(entry, _ROLLOUT_AUTHORITY)
            yield log if log.problem or twin.endswith(".jsonl") else msgspec.structs.replace(log, reader="document")
        active |= {entry.name for entry in logs} | plain
        yield from (entry for entry in found if isinstance(entry, Found))
    for entry in stores.entries(root):
        if entry.name == _INDEX:
            yield stores.line_log(entry, _ROLLOUT_AUTHORITY)
        elif entry.name == _LOG:
            yield stores.line_log(entry)


def tells_of_others(path: Path) -> bool:
    """Whether this is the log or the index, whose sessions have rollouts of their own."""
    return path.name in (_INDEX, _LOG)


def start(path: Path) -> State:
    """The state before the first line of a rollout or of the index."""
    stem = path.name.removesuffix(".zst").removesuffix(".jsonl").removesuffix(".json")
    named = _THREAD.fullmatch(stem)
    return State(
        index=path.name == _INDEX,
        log=path.name == _LOG,
        archived=path.parent.name == "archived_sessions",
        stem=named[1] if named else stem,
    )


def session_of(state: State) -> str:
    """The session the next line belongs to, as far as is known."""
    return state.thread or state.stem


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    found = records(line, LINES, whole_title if state.index else whole_prompt if state.log else whole)
    for record in found:
        if isinstance(record, BadLine):
            out.append(record)
        elif state.index:
            out.extend(_titled(record))
        elif state.log:
            out.extend(_logged(record, state))
        elif record.payload is None and len(found) == 1:
            out.extend(_bare(line, record, state, fingerprint))
        else:
            Reading(state, fingerprint, out).line(record)
    return out


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:  # noqa: ARG001  # the protocol's
    """The one thread of a rollout of the first format; compared by what it gives."""
    named = part_of(bytes(_first(opened).session), _NAMED)
    yield Part((named and named.id) or start(opened.path).stem, "")


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:  # noqa: ARG001
    """The header and the items, which are what the lines of the first logs are."""
    rollout, state = _first(opened), start(opened.path)
    for record in (rollout.session, *rollout.items):
        yield decode(bytes(record), state, fingerprint)


def _first(opened: Opened) -> FirstRollout:
    found = part_of(opened.data, _FIRST) if isinstance(opened, Document) else None
    if found is None:
        raise Unreadable("it is no whole JSON document; it is read again when it changes")
    return found


def whole_title(line: Line) -> bool:
    """Whether what was found behind a broken half is a line of the index."""
    return bool(line.id and line.thread_name)


def whole_prompt(line: Line) -> bool:
    """Whether what was found behind a broken half is a line of the log of prompts."""
    return bool(line.text and (line.session_id or line.conversation_id))


def _logged(line: Line, state: State) -> list[Decoded]:
    """A prompt as the log of all prompts has it; it counts where its session's rollout is gone."""
    session, text = line.session_id or line.conversation_id, typed(line.text or "")
    if not session or not text:
        return []
    second = int(line.ts or 0)
    before, n = state.logged.pop(session, (second, -1))
    n = n + 1 if before == second else 0
    state.logged[session] = second, n
    if len(state.logged) > LOGGED:
        del state.logged[next(iter(state.logged))]
    return [Item(session, (session, "log", second, n), Kind.PROMPT, text, moment(line.ts), SaidBy.PERSON)]


def _titled(line: Line) -> list[Decoded]:
    title = " ".join((line.thread_name or "").split())[:_TITLE_MAX]
    return [Facts(line.id, title=title, title_rank=4)] if line.id and title else []


def _bare(line: bytes, record: Line, state: State, fingerprint: Fingerprint) -> list[Decoded]:
    """Lines of the first `.jsonl` rollouts: a header with an id and no type, then bare response items."""
    out: list[Decoded] = []
    for payload in records(line, BARE, lambda _: False):
        if isinstance(payload, BadLine):
            continue
        kind = record.type and "response_item"
        if not record.type and payload.id:
            kind = "session_meta"
        if kind:
            Reading(state, fingerprint, out).line(Line(record.timestamp, kind, payload))
    return out
