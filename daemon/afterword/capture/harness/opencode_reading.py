"""Messages of opencode → events: the two shapes a message has, with the same keys for the same things."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from afterword.capture.harness.lenient import NOT_JSON, part
from afterword.capture.harness.opencode_shapes import (
    ENTRY,
    MESSAGE,
    PART,
    Attached,
    Entry,
    Message,
    Model,
    Number,
    Part,
    Revert,
)
from afterword.capture.harness.opencode_tools import called
from afterword.capture.harness.texts import image_url_note, tidy
from afterword.capture.harness.times import moment
from afterword.domain.events import BadLine, Decoded, Facts, Item, Key, Skipped
from afterword.domain.items import ExitStatus, Kind, SaidBy

RECORD_MAX = 16 << 20
"""Characters of one message or part from which on it is left out."""

_SILENT_PARTS = frozenset({"step-start", "step-finish", "snapshot", "retry", "agent", "compaction"})
_SILENT_ENTRIES = frozenset(
    {"synthetic", "system", "skill", "idle", "agent-switched", "model-switched", "location-switched"}
)
_BY_PERSON = "The following tool was executed by the user"
_DEFAULT_TITLES = ("New session - ", "Child session - ")
_TITLE_MAX = 300


class Record(msgspec.Struct, frozen=True):
    """A stored JSON text with the id that its row or file name gives; None and its size where it is too big."""

    id: str
    raw: str | bytes | None
    size: int = 0
    created: Number = None


class Head(msgspec.Struct, frozen=True):
    """What a store says of a session beside its messages. Times are epoch milliseconds."""

    id: str
    directory: str = ""
    title: str = ""
    parent: str = ""
    forked_from: str = ""
    created: Number = None
    archived: bool = False
    revert: Revert = Revert()


def facts(head: Head) -> Facts:
    """The facts of a session."""
    title = " ".join(head.title.split())[:_TITLE_MAX]
    return Facts(
        head.id,
        cwd=head.directory or None,
        title=None if title.startswith(_DEFAULT_TITLES) else title or None,
        parent=head.parent or None,
        forked_from=head.forked_from or None,
        archived=head.archived,
        started_us=moment(head.created),
    )


@dataclass
class Conversation:
    """Reads the messages of one session in their order."""

    head: Head
    undone: bool = False
    """Whether the message that the person went back to was met."""
    shells: set[str] = field(default_factory=set)
    """Messages that only say that the person ran a command of their own: the next one holds it."""

    def message(self, given: Record, parts: Sequence[Record]) -> Iterator[list[Decoded]]:
        """A message of the first two eras: one record for itself, one for each part, and one for what they leave.

        As many when it cannot be read, so that everything else keeps its place.
        """
        going_back = self.head.revert.message_id == given.id
        self.undone = self.undone or (going_back and not self.head.revert.part_id)
        read = part(given.raw, MESSAGE) if given.raw is not None else None
        if read is None or read.role not in ("user", "assistant"):
            yield [_lost(given) if read is None else Skipped(f"role/{read.role}")]
            yield from ([] for _ in range(len(parts) + 1))
            self.undone = self.undone or going_back
            return
        here = _Message(self, given.id, moment(_created(read.time, given.created)))
        if read.role == "assistant":
            self._model(here, read)
        for row in parts:
            self.undone = self.undone or (going_back and row.id == self.head.revert.part_id)
            here.next_record()
            found = part(row.raw, PART) if row.raw is not None else None
            if found is None:
                here.out.append(_lost(row))
            else:
                self._part(here, read, found)
        yield from here.done()
        self.undone = self.undone or going_back

    def entry(self, given: Record, kind: str) -> list[Decoded]:
        """A message of the third era, one record; its role is the row's type."""
        self.undone = self.undone or self.head.revert.message_id == given.id
        if kind in _SILENT_ENTRIES:
            return []
        if kind not in ("user", "assistant", "shell", "compaction"):
            return [Skipped(f"message/{kind}")]
        read = part(given.raw, ENTRY) if given.raw is not None else None
        if read is None:
            return [_lost(given)]
        here = _Message(self, given.id, moment(_created(read.time, given.created)))
        match kind:
            case "user":
                here.prompt(read.text)
                for file in read.files or []:
                    here.attached(file)
            case "assistant":
                self._answer(here, read)
            case "shell":
                here.add(Kind.COMMAND, read.command, SaidBy.PERSON, exit_status=read.exit)
                here.add(Kind.OUTPUT, read.output, SaidBy.MACHINE)
            case _:
                here.divider()
        return [event for record in here.done() for event in record]

    def _model(self, here: "_Message", read: Message) -> None:
        agent = read.agent or read.mode
        here.out.append(
            Facts(
                self.head.id,
                cwd=read.path.cwd if read.path else None,
                model=read.model,
                agent=agent if self.head.parent else None,
            )
        )

    def _part(self, here: "_Message", message: Message, given: Part) -> None:
        person = message.role == "user"
        match given.type:
            case "text":
                if given.synthetic or given.ignored:
                    if person and (given.text or "").startswith(_BY_PERSON):
                        self.shells.add(here.id)
                elif message.summary is True:
                    here.divider()
                elif person:
                    here.prompt(given.text)
                else:
                    here.add(Kind.REPLY, given.text, SaidBy.AGENT, time=_start(given))
            case "reasoning":
                here.add(Kind.THINKING, given.text, SaidBy.AGENT, time=_start(given))
            case "tool":
                here.tool(given, by=SaidBy.PERSON if message.parent in self.shells else SaidBy.AGENT)
            case "file":
                here.attached(Attached(url=given.url, mime=given.mime, name=given.filename))
            case "patch":
                here.touched(given.files or [])
            case "subtask":
                here.add(Kind.CALL, f"subtask {given.prompt or ''}".strip(), SaidBy.MACHINE)
            case kind if kind not in _SILENT_PARTS:
                here.out.append(Skipped(f"part/{kind}"))

    def _answer(self, here: "_Message", read: Entry) -> None:
        model = read.model.id or read.model.modelID if isinstance(read.model, Model) else read.model
        here.out.append(Facts(self.head.id, model=model, agent=read.agent if self.head.parent else None))
        for piece in read.content or []:
            match piece.type:
                case "text":
                    here.add(Kind.REPLY, piece.text, SaidBy.AGENT)
                case "reasoning":
                    here.add(Kind.THINKING, piece.text, SaidBy.AGENT)
                case "tool":
                    here.tool(piece, by=SaidBy.AGENT)
                case kind:
                    here.out.append(Skipped(f"content/{kind}"))


class _Message:
    """The items of one message: the n-th of its kind, or what has the id of a call."""

    def __init__(self, conversation: Conversation, its_id: str, time_us: int | None) -> None:
        self.id = its_id
        self.out: list[Decoded] = []
        """The record that is being made."""
        self._records = [self.out]
        self._in = conversation
        self._time_us = time_us
        self._counts: dict[Kind, int] = {}
        self._edited: set[str] = set()
        self._touched: list[str] = []
        self._notes: list[str] = []

    def next_record(self) -> None:
        self.out = []
        self._records.append(self.out)

    def prompt(self, text: str | None) -> None:
        """What was typed; in a sub-agent's session the agent that called it says it."""
        self.add(Kind.PROMPT, text, SaidBy.AGENT if self._in.head.parent else SaidBy.PERSON)

    def add(
        self,
        kind: Kind,
        text: str | None,
        said_by: SaidBy,
        *,
        time: Number = None,
        exit_status: ExitStatus = None,
        call: str | None = None,
        path: str | None = None,
    ) -> None:
        """Add an item, unless it says nothing."""
        said = tidy(text or "")
        if not said.strip() and path is None:
            return
        key: Key = (self.id, call) if call else (self.id, self._count(kind))
        self.out.append(
            Item(
                self._in.head.id,
                key,
                kind,
                said,
                moment(time) if time is not None else self._time_us,
                said_by,
                path=path,
                exit_status=exit_status,
                abandoned=self._in.undone,
                copy_of=self._copied_from,
            )
        )

    @property
    def _copied_from(self) -> str | None:
        """The session a fork copied this message from: it is older than the fork itself, under an id of its own."""
        head = self._in.head
        forked_us = moment(head.created)
        old = forked_us is not None and self._time_us is not None and self._time_us < forked_us
        return head.forked_from or None if old else None

    def divider(self) -> None:
        """The agent's own compaction; its text is not kept."""
        if not self._counts.get(Kind.SUMMARY):
            key = (self.id, self._count(Kind.SUMMARY))
            self.out.append(
                Item(
                    self._in.head.id, key, Kind.SUMMARY, "", self._time_us, SaidBy.MACHINE,
                    abandoned=self._in.undone, copy_of=self._copied_from,
                )
            )  # fmt: skip

    def tool(self, given: Part, *, by: SaidBy) -> None:
        """A call with its output."""
        call_id = given.call or given.id
        call = called(given, self._in.head.directory)
        times = given.state.time if given.state and given.state.time else given.time
        begun = (times.start if times.start is not None else times.created) if times else None
        ended = (times.end if times.end is not None else times.completed) if times else None
        for n, (text, path) in enumerate(call.items):
            key = call_id if n == 0 or call_id is None else f"{call_id}#{n}"
            self.add(call.kind, text, by, time=begun, exit_status=call.exit_status, call=key, path=path)
            if call.kind is Kind.EDIT and path:
                self._edited.add(path)
        self.add(Kind.OUTPUT, call.output, SaidBy.MACHINE, time=ended if ended is not None else begun, call=call_id)
        child = given.state.metadata.session if given.state and given.state.metadata else None
        if child and call_id and child != self._in.head.id:
            self.out.append(Facts(child, parent=self._in.head.id, spawned_by=call_id))

    def attached(self, file: Attached) -> None:
        """A file given with a prompt: a picture is a note in the prompt, anything else was read."""
        url = file.url or file.uri or ""
        if url.startswith("data:"):
            self._notes.append(image_url_note(url) if url.startswith("data:image/") else "[file]")
        elif url.startswith("file://"):
            path = url.removeprefix("file://").partition("?")[0]
            self.add(Kind.READ, path, SaidBy.MACHINE, path=path)

    def touched(self, files: list[str]) -> None:
        """Files that changed while the agent worked, whoever changed them."""
        self._touched += files

    def done(self) -> list[list[Decoded]]:
        """All records of the message."""
        if self._notes:
            self._noted("\n".join(self._notes))
        self.next_record()
        for path in dict.fromkeys(self._touched):
            if path not in self._edited:
                self.add(Kind.EDIT, "", SaidBy.MACHINE, path=path)
        return self._records

    def _noted(self, notes: str) -> None:
        """Put the notes of pictures into the last prompt of the message."""
        for record in reversed(self._records):
            for n, event in enumerate(record):
                if isinstance(event, Item) and event.kind is Kind.PROMPT:
                    record[n] = msgspec.structs.replace(event, text=f"{event.text}\n{notes}")
                    return
        self.prompt(notes)

    def _count(self, kind: Kind) -> int:
        n = self._counts.get(kind, 0)
        self._counts[kind] = n + 1
        return n


def _lost(given: Record) -> Decoded:
    return NOT_JSON if given.raw is not None else BadLine(f"a record of {given.size:,} characters was left out")


def _created(times: object, row: Number) -> Number:
    given: Number = getattr(times, "created", None)
    return given if given is not None else row


def _start(given: Part) -> Number:
    return given.time.start if given.time else None
