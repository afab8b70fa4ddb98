"""What reading a Gemini CLI session remembers between lines, and the messages of both formats as events."""

import re

from msgspec import Struct

from afterword.capture.harness.gemini_records import Message, ToolCall
from afterword.capture.harness.gemini_tools import MASKED, called, ended, pictures, result, spoken
from afterword.capture.harness.texts import tidy, without_blocks
from afterword.capture.harness.times import moment
from afterword.domain import events
from afterword.domain.events import Decoded, Facts, Item, Skipped
from afterword.domain.items import ExitStatus, Kind, SaidBy

_BLOCKS = ("session_context", "hook_context")
_INJECTED = tuple(f"<{name}>" for name in _BLOCKS)
_SNAPSHOT = re.compile(r"\s*<state_snapshot>|.*?<state_snapshot>.*</state_snapshot>", re.DOTALL)
_REFERENCED = "\n--- Content from referenced files ---"
"""What follows is the text of files that a prompt names with `@`."""
_COMMAND = re.compile(r"(?:/[A-Za-z][\w:-]*(?:\s|\Z)|\?\w*\Z)")
_SPEECH, _TOOLS, _TOOL_SLOTS = 1000, 2000, 100


class State(Struct):
    """Decoder state of one session's file."""

    stem: str = ""
    parent: str = ""
    """The native id of the session that spawned this one, from the folder it lies in."""
    first: str = ""
    """The first session id of the file, part of every key."""
    session: str = ""
    """The session id that holds now."""
    cwd: str = ""
    model: str = ""

    @property
    def native(self) -> str:
        """The native id of the session the next line belongs to."""
        own = self.session or self.stem
        return f"{self.parent}/{own}" if self.parent else own


def named(
    state: State, session: str | None, directories: list[str] | None, started: str | float | None
) -> Facts | None:
    """Take in what a record says of the session; None when it says nothing."""
    if not session:
        return None
    before = state.native if state.session and session != state.session else None
    state.session = session
    state.first = state.first or session
    if not state.cwd and directories:
        state.cwd = directories[0]
    return Facts(
        state.native,
        cwd=state.cwd or None,
        parent=state.parent or None,
        continued_from=before,
        started_us=moment(started),
    )


def titled(state: State, summary: str | None) -> list[Decoded]:
    """The title that a summary of the session is."""
    title = " ".join((summary or "").split())
    return [Facts(state.native, title=title, title_rank=3)] if title else []


class Speaker:
    """Makes events of one message, appending them to `out`."""

    def __init__(self, state: State, message: Message, out: list[Decoded], *, lesser: bool) -> None:
        self._state = state
        self._message = message
        self._out = out
        self._lesser = lesser
        self._time = moment(message.timestamp)
        self._id = message.id or ""

    def speak(self) -> None:
        """Append everything the message says."""
        message = self._message
        self._out.append(events.Message(self._id))
        match message.type:
            case "user":
                self._user()
            case "gemini":
                self._model()
            case "error":
                text, _, _ = spoken(message.content)
                if text:
                    self._item(Kind.META, tidy(text), SaidBy.MACHINE, (0,), 0)
            case "info" | "warning":
                pass
            case _:
                self._out.append(Skipped(f"message {message.type or 'without a type'}"))

    def _user(self) -> None:
        text, _, answers = spoken(self._message.content)
        if not answers:
            shown, _, _ = spoken(self._message.display_content)
            if "<state_snapshot>" in text and _SNAPSHOT.match(text):
                self._item(Kind.SUMMARY, "", SaidBy.MACHINE, (0,), 0)
                return
            text = without_blocks(text, _BLOCKS)
            if text.lstrip().startswith(_INJECTED):
                return
            text = tidy(without_blocks(shown or text.partition(_REFERENCED)[0], _BLOCKS).strip())
            text = "\n".join(filter(None, (text, *pictures(self._message.content))))
            if text and not text.startswith(_INJECTED) and not _COMMAND.match(text):
                said_by = SaidBy.AGENT if self._state.parent else SaidBy.PERSON
                self._item(Kind.PROMPT, text, said_by, (0,), _SPEECH)

    def _model(self) -> None:
        message, state = self._message, self._state
        if message.model and message.model != state.model:
            state.model = message.model
            self._out.append(Facts(state.native, model=message.model))
        text, inside, _ = spoken(message.content)
        thoughts = [": ".join(filter(None, (each.subject, each.description))) for each in message.thoughts or []]
        times = [moment(each.timestamp) for each in message.thoughts or []]
        for n, thought in enumerate([*thoughts, *inside][:_SPEECH]):
            if thought.strip():
                at = times[n] if n < len(times) and times[n] is not None else self._time
                self._item(Kind.THINKING, tidy(thought.strip()), SaidBy.AGENT, (n,), n, at=at)
        if text.strip():
            self._item(Kind.REPLY, tidy(text.strip()), SaidBy.AGENT, (0,), _SPEECH)
        for n, call in enumerate(message.tool_calls or []):
            self._call(call, n)

    def _call(self, call: ToolCall, n: int) -> None:
        at = moment(call.timestamp) or self._time
        output = result(call)
        status = ended(call, output)
        name = call.id or n
        slot = _TOOLS + n * _TOOL_SLOTS
        for k, made in enumerate(called(call, self._state.cwd)[: _TOOL_SLOTS - 1]):
            part = (name, k) if k else (name,)
            self._item(made.kind, made.text, SaidBy.AGENT, part, slot + k, at=at, path=made.path, status=status)
        if output:
            self._item(Kind.OUTPUT, output, SaidBy.MACHINE, (name,), slot + _TOOL_SLOTS - 1, at=at)

    def _item(
        self,
        kind: Kind,
        text: str,
        said_by: SaidBy,
        part: tuple[str | int, ...],
        nth: int,
        *,
        at: int | None = None,
        path: str | None = None,
        status: ExitStatus = None,
    ) -> None:
        state = self._state
        key = (state.first or state.stem, self._id, *part)
        time = self._time if at is None else at
        lesser = self._lesser or MASKED in text
        self._out.append(Item(state.native, key, kind, text, time, said_by, path, status, nth=nth, lesser=lesser))
