"""Qwen Code: `projects/<folder>/chats/<session>.jsonl` and its sub-agents, a tree of records with Gemini's messages.

What lives is the way from the root to the last record: a rewind goes on from an earlier one. Records of the same uuid
are pieces of one message. `/branch` copies records into a file of its own, under their old ids.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from afterword.capture.harness import qwen_stores
from afterword.capture.harness.gemini_records import Part as GeminiPart
from afterword.capture.harness.gemini_records import ToolCall
from afterword.capture.harness.gemini_tools import absolute, called, ended, picture
from afterword.capture.harness.lenient import records
from afterword.capture.harness.qwen_lines import BESIDE, INJECTED, LINES, QUIET, Line, Outcome, Part, whole
from afterword.capture.harness.texts import tidy, without_blocks
from afterword.capture.harness.times import moment
from afterword.domain.events import BadLine, Decoded, Facts, Fingerprint, Finish, Found, Item, Row, Skipped, Where
from afterword.domain.items import Kind, SaidBy

name = "qwen-code"
label = "Qwen Code"

_CALLS, _PIECES, _BESIDES = 256, 64, 64
_PIECE = 1000
_BLOCKS = ("qwen:user-prompt-submit-context", "system-reminder", "session_context")
_REFERENCED = "\n--- Content from referenced files ---"
_MID_TURN = "[User message received during tool execution]:"
_STATUS = {"failed": "error", "error": "error", "cancelled": "cancelled", "success": "success"}


class Call(Struct):
    """A tool call without its result."""

    tool: str
    keys: list[tuple[int, tuple[str | int, ...]]]


class State(Struct):
    """Decoder state of one file: ids and counters only."""

    session: str = ""
    agent: str = ""
    agent_type: str | None = None
    spawned_by: str | None = None
    archived: bool = False
    cwd: str = ""
    model: str = ""
    version: str = ""
    branch: str = ""
    """A fingerprint."""
    told: bool = False
    forked: bool = False
    tip: str = ""
    """The node the last record of the conversation is."""
    pieces: dict[str, int] = field(default_factory=dict)
    """How many records the messages met last consist of."""
    stands_for: dict[str, str] = field(default_factory=dict)
    """A record's uuid → the node that its children hang from, where that is another."""
    calls: dict[str, Call] = field(default_factory=dict)


state_type = State


def roots(where: Where) -> list[Path]:
    """Every folder that holds `projects`."""
    return qwen_stores.roots(where)


def sources(root: Path) -> Iterator[Found]:
    """Each project's sessions, older ones first, then sub-agents."""
    return qwen_stores.sources(root)


def start(path: Path) -> State:
    """The state before the first line of a file."""
    by = qwen_stores.spawned(path)
    if by is None:
        return State(session=path.stem, archived=qwen_stores.is_archived(path))
    session, meta = by
    agent = path.stem.removeprefix("agent-")
    return State(session=session, agent=agent, agent_type=meta.agent_type, spawned_by=meta.tool_use_id)


def session_of(state: State) -> str:
    """The session the file is in, as far as is known."""
    return f"{state.session}/{state.agent}" if state.agent else state.session


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for record in records(line, LINES, whole):
        if isinstance(record, BadLine):
            out.append(record)
        else:
            _Record(record, state, fingerprint, out).read()
    return out


class _Record:
    """One record being read."""

    def __init__(self, line: Line, state: State, fingerprint: Fingerprint, out: list[Decoded]) -> None:
        self._line = line
        self._state = state
        self._fingerprint = fingerprint
        self._out = out
        self._time = moment(line.timestamp)
        self._first = 0
        if line.session_id:
            state.session = line.session_id
        self._session = session_of(state)

    def read(self) -> None:
        line = self._line
        self._facts()
        self._stand()
        match line.type:
            case "user":
                self._user()
            case "assistant":
                self._assistant()
            case "tool_result":
                self._result()
            case "system":
                self._system()
            case kind:
                self._out.append(Skipped(kind or "a record without a type"))

    def _facts(self) -> None:
        line, state = self._line, self._state
        changes: dict[str, str | int | bool] = {}
        if not state.told:
            state.told = True
            if self._time is not None and not line.forked_from:
                changes["started_us"] = self._time
            if state.archived:
                changes["archived"] = True
            if state.agent:
                changes["parent"] = state.session
                agent = state.agent_type or line.agent_name
                changes |= {"agent": agent} if agent else {}
                changes |= {"spawned_by": state.spawned_by} if state.spawned_by else {}
        if line.cwd and not state.cwd:
            state.cwd = changes["cwd"] = line.cwd
        if line.model and line.model != state.model:
            state.model = changes["model"] = line.model
        version = (line.version or "")[:40]
        if version and version != state.version:
            state.version = changes["version"] = version
        if line.git_branch and (branch := self._fingerprint(line.git_branch)) != state.branch:
            state.branch = branch
            changes["branch"] = line.git_branch
        if line.forked_from and line.forked_from.session_id and not state.forked:
            state.forked = True
            changes["forked_from"] = line.forked_from.session_id
        if changes:
            self._out.append(Facts(self._session, **changes))  # type: ignore[arg-type]  # keys and types are the ones above

    def _stand(self) -> None:
        """Say where the record stands in the tree."""
        line, state = self._line, self._state
        if not line.uuid:
            return
        before = state.pieces.pop(line.uuid, 0)
        state.pieces[line.uuid] = before + 1
        _bound(state.pieces, _PIECES)
        node, parent = line.uuid, line.parent_uuid or ""
        if before:
            # A further piece of a message hangs from the piece before it; what follows the message, from the last.
            self._first = before * _PIECE
            node, parent = f"{line.uuid}#{before}", state.stands_for.get(line.uuid, line.uuid)
            self._stands_for(line.uuid, node)
        else:
            parent = state.stands_for.get(parent, parent)
        if parent != state.tip and line.subtype in BESIDE:
            self._stands_for(line.uuid, parent)
            return
        self._out.append(Row(self._session, node, parent or None, path="next" if parent == state.tip else "jump"))
        state.tip = node

    def _stands_for(self, uuid: str, node: str) -> None:
        self._state.stands_for.pop(uuid, None)
        self._state.stands_for[uuid] = node
        _bound(self._state.stands_for, _BESIDES)

    def _parts(self) -> list[Part]:
        return (self._line.message.parts if self._line.message else None) or []

    def _texts(self) -> str:
        return "\n".join(piece.text or _picture(piece) for piece in self._parts() if piece.text or piece.inline_data)

    def _user(self) -> None:
        line = self._line
        if line.subtype in INJECTED:
            return
        if line.subtype not in (None, "", "mid_turn_user_message"):
            self._out.append(Skipped(f"user {line.subtype}"))
            return
        shown = line.system_payload.display_text if line.system_payload else None
        text = shown
        if text is None:
            text = without_blocks(self._texts(), _BLOCKS).partition(_REFERENCED)[0].strip().removeprefix(_MID_TURN)
        text = tidy(text).strip()
        if text:
            self._item(Kind.PROMPT, text, SaidBy.AGENT if self._state.agent else SaidBy.PERSON, 0)

    def _assistant(self) -> None:
        said: list[str] = []
        for n, piece in enumerate(self._parts()):
            if piece.function_call is not None:
                self._reply(said)
                self._call(n, piece)
            elif piece.text and piece.thought:
                if piece.text.strip():
                    self._item(Kind.THINKING, tidy(piece.text.strip()), SaidBy.AGENT, n)
            elif piece.text:
                said.append(piece.text)
        self._reply(said)

    def _reply(self, said: list[str]) -> None:
        """What was said before a call, or at the end; pieces of a text are one text."""
        text = "".join(said).strip()
        said.clear()
        if text:
            n = sum(isinstance(event, Item) and event.kind is Kind.REPLY for event in self._out)
            self._item(Kind.REPLY, tidy(text), SaidBy.AGENT, n)

    def _call(self, n: int, piece: Part) -> None:
        call, state = piece.function_call, self._state
        assert call is not None
        keys: list[tuple[int, tuple[str | int, ...]]] = []
        for k, made in enumerate(called(ToolCall(name=call.name, args=call.args), state.cwd)):
            part = (n, k) if k else (n,)
            keys.append((made.kind, self._key(*part)))
            self._item(made.kind, made.text, SaidBy.AGENT, *part, path=made.path)
        if call.id:
            state.calls[call.id] = Call(call.name or "", keys)
            _bound(state.calls, _CALLS)

    def _result(self) -> None:
        outcome = self._line.tool_call_result or Outcome()
        answers = [piece for piece in self._parts() if piece.function_response is not None] or [Part()]
        for n, piece in enumerate(answers):
            answer = piece.function_response
            response = answer.response if answer else None
            output = (response.output or response.error or "") if response else ""
            if len(answers) == 1 and not output:
                output = self._texts()
                if not output and isinstance(outcome.result_display, str):
                    output = outcome.result_display
            output = tidy(output)
            call = self._state.calls.pop((answer.id if answer else None) or outcome.call_id or "", None)
            if call:
                status = _STATUS.get(outcome.status or "", "error" if response and response.error else "success")
                exit_status = ended(ToolCall(name=call.tool, status=status), output)
                for kind, key in call.keys:
                    self._out.append(Finish(self._session, key, Kind(kind), exit_status))
            if output:
                self._item(Kind.OUTPUT, output, SaidBy.MACHINE, n)

    def _system(self) -> None:
        kind, said = self._line.subtype, self._line.system_payload
        match kind:
            case "chat_compression":
                status = said.info.compression_status if said and said.info else None
                if status in (None, 1) or isinstance(status, str):
                    self._item(Kind.SUMMARY, "", SaidBy.MACHINE, 0)
            case "custom_title" if said:
                title = " ".join((said.custom_title or "").split())
                if title:
                    rank = 4 if said.title_source in (None, "manual") else 3
                    self._out.append(Facts(self._session, title=title, title_rank=rank))  # type: ignore[arg-type]  # 3 or 4
            case "session_model" if said and said.model_id:
                self._state.model = said.model_id
                self._out.append(Facts(self._session, model=said.model_id))
            case "parent_session" if said and said.parent_session_id:
                self._out.append(Facts(self._session, parent=said.parent_session_id))
            case "at_command" if said:
                for n, each in enumerate(said.files_read or []):
                    path = absolute(each, self._state.cwd)
                    self._item(Kind.READ, path, SaidBy.PERSON, n, path=path)
            case _ if kind not in QUIET:
                self._out.append(Skipped(f"system {kind or 'without a subtype'}"))

    def _key(self, *part: int) -> tuple[str | int, ...]:
        origin = self._line.forked_from
        own = (origin.message_uuid if origin else None) or self._line.uuid or ""
        return (own, self._first + part[0], *part[1:])

    def _item(self, kind: Kind, text: str, said_by: SaidBy, *part: int, path: str | None = None) -> None:
        origin = self._line.forked_from
        owner = origin.session_id if origin else None
        key = self._key(*part) if self._line.uuid else None
        self._out.append(Item(self._session, key, kind, text, self._time, said_by, path, owner=owner))


def _picture(piece: Part) -> str:
    return picture(GeminiPart(inline_data=piece.inline_data))


def _bound(known: dict[str, int] | dict[str, str] | dict[str, Call], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]
