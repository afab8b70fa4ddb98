"""Reads the updates of one unit of a Grok Build session: chunks joined, calls put together, prompts counted."""

import re
from typing import TypeVar

from msgspec import Struct, field

from afterword.capture.harness.grok_lines import Content, Record
from afterword.capture.harness.grok_tools import Call, Called
from afterword.capture.harness.texts import decoded_size, image_note, tidy, without_blocks
from afterword.capture.harness.times import moment
from afterword.domain.events import Decoded, Facts, Finish, Item, Key, Message, Rewind, Skipped
from afterword.domain.items import Kind, SaidBy

T = TypeVar("T")

_BLOCKS = ("fork-context", "resume-context")
_OPEN = re.compile(r"\A\s*<(?:fork|resume)-context>.*", re.DOTALL)
_QUERY = re.compile(r"\A\s*<user_query>\s*|\s*</user_query>\s*\Z")
_CHUNKS = {"user_message_chunk": Kind.PROMPT, "agent_message_chunk": Kind.REPLY, "agent_thought_chunk": Kind.THINKING}
_PASSED_OVER = frozenset(
    {
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "retry_state",
        "hook_execution",
        "subagent_progress",
        "subagent_finished",
        "turn_completed",
    }
)
_CALLS, _EVENTS = 256, 256
_OUTPUT = 90
_JITTER_US = 60_000_000
_MS_US = 1000


class Known(Struct):
    """A call that was told: whose it is, and the kind of its first item."""

    owner: str
    kind: int
    run: int
    """How many prompts there were before it."""
    dead: bool = False
    """It was undone."""


class State(Struct):
    """Decoder state of one session's log, before a unit: ids, counters and times."""

    session: str = ""
    folder: str = ""
    """The session by its folder's name."""
    cwd: str = ""
    parent: str = ""
    forked_from: str = ""
    agent: str = ""
    sub_agent: bool = False
    hidden: bool = False
    copying: bool = False
    """Records may still be copies of the session this one was forked from."""
    forked_us: int | None = None
    told: bool = False
    model: str = ""
    high_us: int = 0
    """The place of the last message."""
    runs: int = 0
    """How many prompts there were, the undone ones included."""
    live: list[int] = field(default_factory=list)
    """The numbers of the prompts that stand."""
    indexed: list[int] = field(default_factory=list)
    """Those of them that carry an index."""
    counts_indexed: bool = False
    """A prompt carried an index: only such prompts count from now on."""
    compactions: int = 0
    in_turn: dict[str, int] = field(default_factory=dict)
    """Kind → how many messages without an event id there were since the last prompt."""
    events: dict[str, int] = field(default_factory=dict)
    """Event id → how many messages began with it."""
    calls: dict[str, Known] = field(default_factory=dict)


class _Open(Struct):
    """Chunks of one message, which stands where the first of them does."""

    first: Record
    kind: Kind
    at: int
    texts: list[str]
    index: int | None = None


class Reading:
    """Walks over the records of a unit in the order of events."""

    def __init__(self, state: State, records: list[Record]) -> None:
        self._state = state
        self._records = records
        self._out: list[tuple[int, list[Decoded]]] = []
        self._at: int | None = None
        self._open: _Open | None = None
        self._calls: dict[str, Call] = {}
        self._told: set[str] = set()
        for record in records:
            if record.update.call:
                self._calls.setdefault(record.update.call, Call()).take(record.update)

    def read(self) -> list[tuple[int, list[Decoded]]]:
        """What each record gave, by its index in the unit."""
        if not self._state.hidden:
            for record in self._records:
                self._record(record)
            self._close()
        return self._out

    def _say(self, record: Record, *events: Decoded) -> None:
        self._out.append((record.number, list(events)))

    def _record(self, record: Record) -> None:
        state, kind = self._state, record.update.kind
        if record.session and record.session != state.session:
            self._close()
            state.session, state.told = record.session, False
        if not state.told:
            state.told = True
            self._say(record, self._facts())
        self._copying(record)
        at = self._place(record)
        if kind in _CHUNKS:
            self._chunk(record, _CHUNKS[kind], at)
            return
        self._close()
        match kind:
            case "tool_call" | "tool_call_update" if record.update.call:
                self._tool(record, record.update.call, at)
            case "rewind_marker":
                self._rewind(record)
            case "compaction_checkpoint":
                state.compactions += 1
                key = (state.session, "compaction", state.compactions)
                item = self._item(record, Kind.SUMMARY, "", SaidBy.MACHINE, key, positional=True)
                self._say(record, Message(f"c{state.compactions}", at), item)
            case "subagent_spawned":
                if record.update.child:
                    agent = record.update.child_type or None
                    self._say(record, Facts(record.update.child, parent=state.session, agent=agent))
            case "model_changed":
                update = record.update
                self._model(record, update.model_id or update.model_camel or update.model or "")
            case _:
                if kind not in _PASSED_OVER and not kind.startswith("task_"):
                    self._say(record, Skipped(f"update {kind or 'without a kind'}"))

    def _facts(self) -> Facts:
        state = self._state
        own = state.session == state.folder
        return Facts(
            state.session,
            cwd=state.cwd or None,
            parent=(state.parent or None) if own else None,
            agent=(state.agent or None) if own else None,
            forked_from=(state.forked_from or None) if own else None,
        )

    def _copying(self, record: Record) -> None:
        """Notice where a fork's own records begin: ids of its own, or events after the fork."""
        state = self._state
        if not state.copying:
            return
        after = False
        if state.forked_us is not None:
            own_us = record.ms * _MS_US if record.ms is not None else None
            written_us = (record.seconds - 1) * 1_000_000 if record.seconds else None
            told_us = own_us if own_us is not None else written_us
            after = told_us is not None and told_us > state.forked_us
        if after or (record.owner and record.owner == state.folder):
            state.copying = False

    def _place(self, record: Record) -> int:
        """Where the record stands: by its own time, else right after the one before it.

        An event written late stands where it belongs; a clock that was set back does not turn the session round.
        """
        high, last = self._state.high_us, self._at
        if record.ms is None:
            at = (high if last is None else last) + 1
        else:
            at = int(record.ms * _MS_US)
            if last is not None:
                at = max(at, last + 1)
            elif at < high - _JITTER_US:
                at = high + 1
        self._at = at
        self._state.high_us = max(high, at)
        return at

    def _model(self, record: Record, model: str) -> None:
        if model and model != self._state.model:
            self._state.model = model
            self._say(record, Facts(self._state.session, model=model))

    def _chunk(self, record: Record, kind: Kind, at: int) -> None:
        self._model(record, record.model)
        if kind is Kind.PROMPT and record.host:
            self._close()
            return
        if self._open and (self._open.kind is not kind or self._another(record)):
            self._close()
        if self._open is None:
            self._open = _Open(record, kind, at, [])
            if kind is Kind.PROMPT:
                self._count()
        if kind is Kind.PROMPT and record.index is not None:
            self._open.index = record.index
            self._index()
        content = record.update.content
        self._open.texts.append(_shown(content) if isinstance(content, Content) else "")

    def _another(self, record: Record) -> bool:
        """Whether a chunk belongs to another prompt than the open one, by its index."""
        return (
            self._open is not None and None not in (self._open.index, record.index) and self._open.index != record.index
        )

    def _count(self) -> None:
        """A prompt begins."""
        state = self._state
        state.live.append(state.runs)
        state.runs += 1
        state.in_turn = {}

    def _index(self) -> None:
        """The open prompt carries an index."""
        state = self._state
        state.counts_indexed = True
        if state.runs - 1 not in state.indexed[-1:]:
            state.indexed.append(state.runs - 1)

    def _close(self) -> None:
        """The chunks so far are all there is of their message."""
        done, self._open = self._open, None
        if done is None:
            return
        state, first, text = self._state, done.first, "".join(done.texts)
        if done.kind is Kind.PROMPT:
            number = state.runs - 1
            self._say(first, Message(f"p{number}", done.at))
            text = typed(text)
            if text:
                said_by = SaidBy.AGENT if state.sub_agent else SaidBy.PERSON
                key: Key = (state.session, number)
                self._say_here(self._item(first, Kind.PROMPT, text, said_by, key, positional=True))
            return
        text = tidy(text.strip())
        if not text:
            return
        if first.event:
            n = state.events.get(first.event, 0)
            _remember(state.events, first.event, n + 1, _EVENTS)
            key = (first.owner or state.session, first.event, *((n,) if n else ()))
        else:
            n = state.in_turn.get(done.kind.word, 0)
            state.in_turn[done.kind.word] = n + 1
            key = (state.session, state.runs, n)
        item = self._item(first, done.kind, text, SaidBy.AGENT, key, positional=not first.event)
        self._say(first, Message(f"{done.kind.word} {key}", done.at), item)

    def _tool(self, record: Record, its_id: str, at: int) -> None:
        """Tell a call where its first record stands, with all that the unit says of it."""
        if its_id in self._told:
            return
        self._told.add(its_id)
        state, call = self._state, self._calls[its_id]
        known = state.calls.get(its_id)
        if known and known.dead:
            return
        owner = known.owner if known else record.owner or state.session
        if known and known.kind == Kind.COMMAND:
            call.tool = "execute"
        told = known is not None and not call.has_diffs
        made = [] if told or not call.named else call.items()
        self._say(record, Message(f"tool {owner} {its_id}", at))
        for n, each in enumerate(made):
            key = (owner, its_id, *((n,) if n else ()))
            self._say_here(self._item(record, each.kind, each.text, SaidBy.AGENT, key, made=each, call=call, nth=n))
        if known:
            if call.ended is not None:
                self._say_here(Finish(state.session, (owner, its_id), Kind(known.kind), call.ended))
        elif made:
            _remember(state.calls, its_id, Known(owner, int(made[0].kind), state.runs), _CALLS)
        output = call.output()
        if output:
            self._say_here(self._item(record, Kind.OUTPUT, output, SaidBy.MACHINE, (owner, its_id), nth=_OUTPUT))

    def _rewind(self, record: Record) -> None:
        state, update = self._state, record.update
        target = update.target if update.target is not None else update.target_camel
        standing = state.indexed if state.counts_indexed else state.live
        if target is None or not 0 <= target < len(standing):
            return
        cut = standing[target]
        state.live = [number for number in state.live if number < cut]
        state.indexed = [number for number in state.indexed if number < cut]
        state.in_turn = {}
        for known in state.calls.values():
            known.dead = known.dead or known.run > cut
        self._say(record, Rewind(f"p{cut}"))

    def _say_here(self, event: Decoded) -> None:
        """Add to what was said last."""
        self._out[-1][1].append(event)

    def _item(
        self,
        record: Record,
        kind: Kind,
        text: str,
        said_by: SaidBy,
        key: Key,
        *,
        positional: bool = False,
        made: Called | None = None,
        call: Call | None = None,
        nth: int = 0,
    ) -> Item:
        state = self._state
        copy = state.copying and key[0] == state.folder
        return Item(
            state.session,
            key,
            kind,
            text,
            moment(record.ms if record.ms is not None else record.seconds),
            said_by,
            made.path if made else None,
            call.ended if call else None,
            positional=positional,
            nth=nth,
            copy_of=state.forked_from if copy else None,
        )


def _shown(content: Content) -> str:
    """The text of a chunk; a picture is a note of its size on a line of its own."""
    if content.type != "image":
        return content.text or ""
    data = bytes(content.data).strip(b'"')
    return f"\n{image_note(content.mime_type, decoded_size(data[-2:].decode('latin-1'), len(data)))}\n"


def typed(text: str) -> str:
    """What a person typed of a prompt: without what the program put before it, also when that is not all there yet."""
    text = without_blocks(text, _BLOCKS)
    text = _QUERY.sub("", _OPEN.sub("", text))
    return tidy(text.strip())


def _remember(known: dict[str, T], key: str, value: T, most: int) -> None:
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
