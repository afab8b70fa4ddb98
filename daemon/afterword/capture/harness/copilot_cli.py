"""GitHub Copilot CLI: `session-state/<id>/events.jsonl`, an event a line, and `workspace.yaml` beside it.

The events of sub-agents stand among those of the session that spawned them. Whether a rewind cuts the log or leaves a
marker in it is no difference: what was undone is abandoned.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from afterword.capture.harness import copilot_stores
from afterword.capture.harness.copilot_lines import LINES, Data, Line, quiet, whole
from afterword.capture.harness.copilot_tools import called, ended, result
from afterword.capture.harness.lenient import records
from afterword.capture.harness.texts import tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import (
    BadLine,
    Decoded,
    Document,
    Facts,
    Fingerprint,
    Found,
    Item,
    Key,
    Message,
    Opened,
    Part,
    Rewind,
    Skipped,
    Unreadable,
    Where,
)
from afterword.domain.events import Finish as Ended
from afterword.domain.items import Kind, SaidBy

name = "copilot-cli"
label = "GitHub Copilot CLI"

_CALLS, _AGENTS = 256, 64
_INJECTED = ("agent", "autopilot", "command", "jit-", "schedule", "skill", "snippy", "system", "thinking-")
"""How the sources of messages begin that stand in the user's role and were typed by nobody."""


class Call(Struct):
    """A tool call without its result."""

    session: str
    keys: list[tuple[int, tuple[str | int, ...]]]


class State(Struct):
    """Decoder state of one log: ids and counters only."""

    session: str = ""
    cwd: str = ""
    model: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    """A sub-agent's id → the tool call that spawned it."""
    told: list[str] = field(default_factory=list)
    """Sub-agents whose parent was told."""


state_type = State


def roots(where: Where) -> list[Path]:
    """Every folder that holds `session-state`."""
    return copilot_stores.roots(where)


def sources(root: Path) -> Iterator[Found]:
    """Each session's log and notes, older sessions first."""
    return copilot_stores.sources(root)


def start(path: Path) -> State:
    """The state before the first line of a log."""
    return State(session=copilot_stores.session_of(path))


def session_of(state: State) -> str:
    """The session the next line belongs to, as far as is known."""
    return state.session


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:  # noqa: ARG001  # the protocol's
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for record in records(line, LINES, whole):
        if isinstance(record, BadLine):
            out.append(record)
        else:
            _Event(record, state, out).read()
    return out


class _Event:
    """One event being read."""

    def __init__(self, line: Line, state: State, out: list[Decoded]) -> None:
        self._line = line
        self._data = line.data or Data()
        self._state = state
        self._out = out
        self._agent = ""
        self._time = moment(line.timestamp)

    def read(self) -> None:
        line, data = self._line, self._data
        kind = line.type or ""
        if kind in ("session.start", "session.resume"):
            self._begins(kind)
        self._settle()
        if line.id:
            self._out.append(Message(line.id))
        match kind:
            case "session.start" | "session.resume":
                pass
            case "session.snapshot_rewind" if data.up_to_event_id:
                self._out.append(Rewind(data.up_to_event_id))
            case "session.model_change":
                self._model(data.new_model)
            case "session.title_changed":
                self._title(data.title)
            case "session.context_changed":
                self._place(data.cwd, data.branch)
            case "session.compaction_complete":
                if data.success is not False:
                    self._item(Kind.SUMMARY, "", SaidBy.MACHINE)
            case "user.message":
                self._user()
            case "assistant.message":
                self._model(data.model)
                self._text(Kind.THINKING, data.reasoning_text)
                self._text(Kind.REPLY, data.content)
            case "tool.execution_start":
                self._call()
            case "tool.execution_complete":
                self._result()
            case "subagent.started":
                pass
            case _ if not quiet(kind):
                self._out.append(Skipped(kind or "an event without a type"))

    @property
    def _session(self) -> str:
        return f"{self._state.session}/{self._agent}" if self._agent else self._state.session

    def _begins(self, kind: str) -> None:
        data, state = self._data, self._state
        if data.session_id:
            state.session = data.session_id
        where = data.context
        if where and where.cwd and not state.cwd:
            state.cwd = where.cwd
        started = moment(data.start_time) or self._time
        self._out.append(
            Facts(
                state.session,
                cwd=where.cwd if where else None,
                branch=where.branch if where else None,
                version=data.copilot_version[:40] if data.copilot_version else None,
                model=data.selected_model or None,
                started_us=started if kind == "session.start" else None,
            )
        )
        state.model = data.selected_model or state.model

    def _settle(self) -> None:
        """Find out whose event this is: the session's, or a sub-agent's in it."""
        line, data, state = self._line, self._data, self._state
        started = line.type == "subagent.started"
        if started and line.agent_id and data.tool_call_id:
            state.agents[line.agent_id] = data.tool_call_id
            _bound(state.agents, _AGENTS)
        spawned = data.tool_call_id if started else data.parent_tool_call_id
        self._agent = spawned or (state.agents.get(line.agent_id, line.agent_id) if line.agent_id else "")
        if not self._agent or (self._agent in state.told and not started):
            return
        if self._agent not in state.told:
            state.told = [*state.told[-_AGENTS:], self._agent]
        self._out.append(
            Facts(
                self._session,
                parent=state.session,
                agent=data.agent_name if started else None,
                spawned_by=self._agent,
                cwd=state.cwd or None,
                model=data.model if started else None,
                started_us=self._time,
            )
        )

    def _place(self, cwd: str | None, branch: str | None) -> None:
        if not self._agent and (cwd or branch):
            self._state.cwd = self._state.cwd or cwd or ""
            self._out.append(Facts(self._session, cwd=cwd, branch=branch))

    def _model(self, model: str | None) -> None:
        if self._agent:
            if model:
                self._out.append(Facts(self._session, model=model))
        elif model and model != self._state.model:
            self._state.model = model
            self._out.append(Facts(self._session, model=model))

    def _title(self, title: str | None) -> None:
        text = " ".join((title or "").split())
        if text and not self._agent:
            self._out.append(Facts(self._session, title=text, title_rank=3))

    def _user(self) -> None:
        text = tidy(self._data.content or "").strip()
        if text and not (self._data.source or "user").startswith(_INJECTED):
            self._item(Kind.PROMPT, text, SaidBy.AGENT if self._agent else SaidBy.PERSON)

    def _text(self, kind: Kind, text: str | None) -> None:
        if text and text.strip():
            self._item(kind, tidy(text.strip()), SaidBy.AGENT)

    def _call(self) -> None:
        state, tool = self._state, self._data.tool_call_id
        keys: list[tuple[int, tuple[str | int, ...]]] = []
        for n, made in enumerate(called(self._data, state.cwd)):
            key = self._key(n)
            if key:
                keys.append((made.kind, key))
            self._item(made.kind, made.text, SaidBy.AGENT, n, made.path)
        if tool and keys:
            state.calls[tool] = Call(self._session, keys)
            _bound(state.calls, _CALLS)

    def _result(self) -> None:
        call = self._state.calls.pop(self._data.tool_call_id or "", None)
        output = result(self._data)
        if call:
            status = ended(self._data, output)
            self._out += [Ended(call.session, key, Kind(kind), status) for kind, key in call.keys]
            # A result does not always say whose it is.
            self._agent = call.session.removeprefix(self._state.session).removeprefix("/")
        if output:
            self._item(Kind.OUTPUT, output, SaidBy.MACHINE)

    def _key(self, n: int) -> Key | None:
        return (self._line.id, n) if self._line.id else None

    def _item(self, kind: Kind, text: str, said_by: SaidBy, n: int = 0, path: str | None = None) -> None:
        self._out.append(Item(self._session, self._key(n), kind, text, self._time, said_by, path))


def _bound(known: dict[str, object] | dict[str, str] | dict[str, Call], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:  # noqa: ARG001  # the protocol's
    """What the notes of a session say is one part."""
    session = copilot_stores.told_by_log(opened.path)
    if session:
        yield Part(session, "")


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:  # noqa: ARG001
    """What the notes of a session say of it: its name, and where it works."""
    if not isinstance(opened, Document):
        raise Unreadable("it is no file of notes")
    said = copilot_stores.scalars(opened.data)
    title = " ".join((said.get("name") or said.get("summary") or "").split())
    yield [
        Facts(
            part.name,
            cwd=said.get("cwd") or None,
            branch=said.get("branch") or None,
            title=title or None,
            title_rank=4 if said.get("name") else 3,
        )
    ]
