"""pi: `sessions/--<folder>--/<time>_<session>.jsonl`, a header and then a tree of entries.

A person walks about in the tree; what lives is the way from its root to the last entry. A fork is a file of its own
that begins with the same entries, so a key is an entry's id and time: the id alone is short, the session another.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from afterword.capture.harness import stores
from afterword.capture.harness.lenient import records
from afterword.capture.harness.pi_lines import LINES, QUIET, QUIET_ROLES, Block, Line, Spoken, whole
from afterword.capture.harness.pi_tools import called, ended, text_of, typed
from afterword.capture.harness.texts import tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import BadLine, Decoded, Facts, Fingerprint, Finish, Found, Item, Key, Row, Skipped, Where
from afterword.domain.items import ExitStatus, Kind, SaidBy

name = "pi"
label = "pi"

_LOG = re.compile(r".+\.jsonl", re.DOTALL)
_CALLS = 256


class State(Struct):
    """Decoder state of one session's file: ids and counters only."""

    session: str = ""
    cwd: str = ""
    model: str = ""
    tip: str = ""
    """The last entry."""
    last_us: int = -1
    same: int = 0
    """Of entries without an id: the time of the last one, and how many had it before."""
    unnamed: int = 0
    calls: dict[str, tuple[int, tuple[str | int, ...]]] = field(default_factory=dict)


state_type = State


def roots(where: Where) -> list[Path]:
    """The agent's folder; sessions may lie in one of their own."""
    own = stores.overridden(where, "PI")
    if own:
        return own
    agent = stores.listed(where, "PI_CODING_AGENT_DIR") or [where.home / ".pi" / "agent"]
    return [*agent, *stores.listed(where, "PI_CODING_AGENT_SESSION_DIR")]


def sources(root: Path) -> Iterator[Found]:
    """The sessions of each project, older ones first."""
    folder = root / "sessions" if (root / "sessions").is_dir() or root.name == "agent" else root
    found = list(stores.below(folder, _LOG, 1))
    yield from (entry for entry in found if isinstance(entry, Found))
    for entry in stores.oldest_first([entry for entry in found if not isinstance(entry, Found)]):
        yield stores.line_log(entry)


def _named_by(path: str) -> str:
    """The session that a file's name says: what follows its time."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl").rpartition("_")[2]


def start(path: Path) -> State:
    """The state before the first line of a file."""
    return State(session=_named_by(path.name))


def session_of(state: State) -> str:
    """The session the file is in."""
    return state.session


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:  # noqa: ARG001  # the protocol's
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for record in records(line, LINES, whole):
        if isinstance(record, BadLine):
            out.append(record)
        elif record.type == "session":
            _header(record, state, out)
        else:
            _Entry(record, state, out).read()
    return out


def _header(line: Line, state: State, out: list[Decoded]) -> None:
    state.session = line.id or state.session
    state.cwd = state.cwd or line.cwd or ""
    before = line.parent_session or line.branched_from
    out.append(
        Facts(
            state.session,
            cwd=line.cwd or None,
            version=f"format {line.version or 1}",
            model=line.model_id or None,
            forked_from=(_named_by(before) if before else None) or None,
            started_us=moment(line.timestamp),
        )
    )


class _Entry:
    """One entry being read."""

    def __init__(self, line: Line, state: State, out: list[Decoded]) -> None:
        self._line = line
        self._state = state
        self._out = out
        self._time = moment(line.timestamp)
        self._key: tuple[str | int, ...] = ()

    def read(self) -> None:
        line, state = self._line, self._state
        self._stand()
        match line.type:
            case "message" if line.message is not None:
                self._message(line.message)
            case "model_change":
                self._model(line.model_id)
            case "session_info":
                title = " ".join((line.name or "").split())
                if title:
                    self._out.append(Facts(state.session, title=title, title_rank=4))
            case "compaction":
                self._item(Kind.SUMMARY, "", SaidBy.MACHINE, 0)
            case kind if kind not in QUIET:
                self._out.append(Skipped(kind or "an entry without a type"))

    def _stand(self) -> None:
        """Say where the entry stands, and find its key. The first format has no ids: entries follow each other."""
        line, state = self._line, self._state
        if line.id:
            self._key = (line.id, self._time or 0)
            follows = (line.parent_id or "") == state.tip
            self._out.append(Row(state.session, line.id, line.parent_id, path="next" if follows else "jump"))
            state.tip = line.id
            return
        at = self._time or 0
        state.same = state.same + 1 if at == state.last_us else 0
        state.last_us = at
        state.unnamed += 1
        self._key = (state.session, at, state.same)
        node = f"#{state.unnamed}"
        self._out.append(Row(state.session, node, state.tip or None, path="next"))
        state.tip = node

    def _message(self, message: Spoken) -> None:
        match message.role:
            case "user":
                text = typed(message.content)
                if text:
                    self._item(Kind.PROMPT, text, SaidBy.PERSON, 0)
            case "assistant":
                self._model(message.model)
                content = message.content
                blocks = [Block(type="text", text=content)] if isinstance(content, str) else content or []
                for n, block in enumerate(blocks):
                    self._block(n, block)
            case "toolResult":
                self._result(message)
            case "bashExecution":
                status: ExitStatus = "interrupted" if message.cancelled else message.exit_code
                if message.command:
                    self._item(Kind.COMMAND, tidy(message.command), SaidBy.PERSON, 0, status=status)
                if message.output:
                    self._item(Kind.OUTPUT, tidy(message.output), SaidBy.MACHINE, 0)
            case role if role not in QUIET_ROLES:
                self._out.append(Skipped(f"message {role or 'without a role'}"))

    def _block(self, n: int, block: Block) -> None:
        if block.type == "text" and block.text and block.text.strip():
            self._item(Kind.REPLY, tidy(block.text.strip()), SaidBy.AGENT, n)
        elif block.type == "thinking" and block.thinking and block.thinking.strip():
            self._item(Kind.THINKING, tidy(block.thinking.strip()), SaidBy.AGENT, n)
        elif block.type == "toolCall":
            made = called(block, self._state.cwd)
            self._item(made.kind, made.text, SaidBy.AGENT, n, made.path)
            if block.id:
                calls = self._state.calls
                calls[block.id] = (made.kind, (*self._key, n))
                if len(calls) > _CALLS:
                    del calls[next(iter(calls))]

    def _result(self, message: Spoken) -> None:
        output = text_of(message.content)
        call = self._state.calls.pop(message.tool_call_id or "", None)
        if call:
            self._out.append(Finish(self._state.session, call[1], Kind(call[0]), ended(message, output)))
        if output:
            self._item(Kind.OUTPUT, output, SaidBy.MACHINE, 0)

    def _model(self, model: str | None) -> None:
        if model and model != self._state.model:
            self._state.model = model
            self._out.append(Facts(self._state.session, model=model))

    def _item(
        self, kind: Kind, text: str, said_by: SaidBy, n: int, path: str | None = None, status: ExitStatus = None
    ) -> None:
        key: Key = (*self._key, n)
        self._out.append(Item(self._state.session, key, kind, text, self._time, said_by, path, status))
