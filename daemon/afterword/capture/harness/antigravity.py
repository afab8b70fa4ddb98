"""Antigravity, the editor and the `agy` command line: `brain/<uuid>/.system_generated/logs/transcript*.jsonl`.

A line is a step; its number is its place, and neither a name nor in order: the log may be a window that starts in the
middle, steps come again, longer or otherwise, and numbers fall back when a person went back.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from afterword.capture.harness import antigravity_stores
from afterword.capture.harness.antigravity_steps import (
    KIND_OF,
    STEPS,
    Step,
    called,
    chosen_model,
    cut,
    ended,
    result,
    touched,
    typed,
    whole,
)
from afterword.capture.harness.lenient import records
from afterword.capture.harness.texts import tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import (
    BadLine,
    Decoded,
    Facts,
    Fingerprint,
    Finish,
    Found,
    Item,
    Message,
    Skipped,
    Where,
    Window,
)
from afterword.domain.items import ExitStatus, Kind, SaidBy

name = "antigravity"
label = "Antigravity"

_NO_STEP = BadLine("a record without a step number")
_INJECTED = ("CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE", "KNOWLEDGE_")
_CALLS = 64


class State(Struct):
    """Decoder state of one transcript: who it is about, and the calls of the last step that made some."""

    session: str = ""
    cwd: str = ""
    told: bool = False
    begun: bool = False
    model: str = ""
    planner: int = -1
    calls: list[int] = field(default_factory=list)
    """Kinds of the calls of step `planner`."""
    results: dict[str, int] = field(default_factory=dict)
    """Step of a result → which result after `planner` it is."""


state_type = State


def roots(where: Where) -> list[Path]:
    """Every `antigravity*` folder."""
    return antigravity_stores.roots(where)


def sources(root: Path) -> Iterator[Found]:
    """The transcripts of every conversation, the full one first, and what cannot be read."""
    return antigravity_stores.sources(root)


def start(path: Path) -> State:
    """The state before the first line of a transcript."""
    return State(session=antigravity_stores.session_of(path), cwd=antigravity_stores.folder_of(path))


def session_of(state: State) -> str:
    """The conversation, which only the folder names."""
    return state.session


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:  # noqa: ARG001  # the protocol's
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for step in records(line, STEPS, whole):
        if isinstance(step, BadLine):
            out.append(step)
        elif step.step_index is None:
            out.append(_NO_STEP)
        else:
            _Reading(state, step, step.step_index, out).read()
    return out


class _Reading:
    """Makes events of one step, appending them to `out`."""

    def __init__(self, state: State, step: Step, number: int, out: list[Decoded]) -> None:
        self._state = state
        self._step = step
        self._number = number
        self._out = out

    def read(self) -> None:
        step, kind = self._step, self._step.type or ""
        if not self._state.told and self._state.cwd:
            self._state.told = True
            self._out.append(Facts(self._state.session, cwd=self._state.cwd))
        if not self._state.begun:
            self._state.begun = True
            if self._number > 0:
                self._out.append(Window(self._number))
        self._out.append(Message(f"step {self._number}", at=self._number))
        if kind == "USER_INPUT":
            self._user(step.content or "")
        elif kind == "PLANNER_RESPONSE":
            self._planner()
        elif kind == "CHECKPOINT":
            self._item(Kind.SUMMARY, "", SaidBy.MACHINE, 1)
        elif kind.startswith(_INJECTED):
            pass
        elif step.source == "MODEL" or kind in KIND_OF:
            self._result()
        else:
            self._out.append(Skipped(f"step {kind or 'without a type'}"))

    def _user(self, content: str) -> None:
        model = chosen_model(content)
        if model and model != self._state.model:
            self._state.model = model
            self._out.append(Facts(self._state.session, model=model))
        text = typed(content)
        if text:
            self._item(Kind.PROMPT, text, SaidBy.PERSON, 1, rewinds=True)

    def _planner(self) -> None:
        step, state = self._step, self._state
        if step.thinking and step.thinking.strip():
            self._item(Kind.THINKING, tidy(step.thinking.strip()), SaidBy.AGENT, 0)
        if step.content and step.content.strip():
            self._item(Kind.REPLY, tidy(step.content.strip()), SaidBy.AGENT, 1)
        calls = [called(call) for call in (step.tool_calls or [])[:_CALLS]]
        if calls and state.planner != self._number:
            state.results.clear()
        if calls:
            state.planner, state.calls = self._number, [int(call.kind) for call in calls]
        for n, call in enumerate(calls):
            self._item(call.kind, call.text, SaidBy.AGENT, 2 + n, part=(n,), path=call.path)
            if call.cwd and not state.told:
                state.told, state.cwd = True, call.cwd
                self._out.append(Facts(state.session, cwd=call.cwd))

    def _result(self) -> None:
        step, state = self._step, self._state
        text = result(step)
        status = ended(step, text)
        belongs = KIND_OF.get(step.type or "", Kind.CALL)
        n = state.results.get(str(self._number), len(state.results))
        if n < _CALLS:
            state.results[str(self._number)] = n
        paired = self._number > state.planner and n < len(state.calls) and state.calls[n] == belongs
        if paired and status is not None:
            key = (state.session, state.planner, n)
            self._out.append(Finish(state.session, key, belongs, status, positional=True))
        elif not paired and belongs in (Kind.READ, Kind.EDIT):
            path = touched(step, text)
            if path:
                shown = path if belongs is Kind.READ else ""
                self._item(belongs, shown, SaidBy.AGENT, 0, path=path, status=status)
        if text:
            self._item(Kind.OUTPUT, text, SaidBy.MACHINE, 1)

    def _item(
        self,
        kind: Kind,
        text: str,
        said_by: SaidBy,
        nth: int,
        *,
        part: tuple[int, ...] = (),
        path: str | None = None,
        status: ExitStatus = None,
        rewinds: bool = False,
    ) -> None:
        session = self._state.session
        self._out.append(
            Item(
                session,
                (session, self._number, *part),
                kind,
                text,
                moment(self._step.created_at),
                said_by,
                path,
                status,
                positional=True,
                rewinds=rewinds,
                nth=nth,
                lesser=cut(self._step),
            )
        )
