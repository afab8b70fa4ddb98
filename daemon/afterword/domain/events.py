"""What a harness decoder makes of bytes: raw events, not yet redacted, that only `capture` may touch.

A decoder knows its format and nothing else: no offsets, no ledger, no redaction. It names every thing with the
key tuple its harness page gives (no text and no path in a key), and says what happened in file order.

Encoded, an event is a list that begins with its name: so one process may hand it to another.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec

from afterword.domain.ids import KeyPart
from afterword.domain.items import ExitStatus, Kind, SaidBy

if TYPE_CHECKING:
    import sqlite3  # the domain opens nothing

Key: TypeAlias = tuple[KeyPart, ...]

TitleRank: TypeAlias = Literal[1, 2, 3, 4, 5]
"""1 summary of a leaf here, 2 last prompt, 3 generated title, 4 a name a person or an index gave, 5 reserved."""


class Item(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """One thing in a session.

    `session` is the native id (a sub-agent: `parent/agent`). `key` is the tuple of the harness page, without
    harness and kind; None when the format has no key at all (then the capture finds the row by a keyed hash).
    `time_us` is UTC microseconds as given, None when missing. `path` is the file an edit or read is about.
    `owner` is the native id of the session this line says it was copied from.
    `positional`: the key counts, it does not name. It means a row only while that row's text is equal to this one or
    begins it; otherwise that row is abandoned in the session and the key gets its next generation.
    `rewinds`: when something else stood at its place, that and everything after it is abandoned.
    `nth` is its place inside its message, None the n-th event of the line. `lesser`: it may be a shortened edition,
    so a longer text that is known stands.
    `copy_of` is the session this may be a copy from: an item of that session with the same kind and text is meant.
    """

    session: str
    key: Key | None
    kind: Kind
    text: str
    time_us: int | None
    said_by: SaidBy
    path: str | None = None
    exit_status: ExitStatus = None
    owner: str | None = None
    abandoned: bool = False
    """The source itself says that this was undone, and still shows it."""
    positional: bool = False
    rewinds: bool = False
    nth: int | None = None
    lesser: bool = False
    copy_of: str | None = None


class Message(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """The message that the items after it, up to the next one, belong to, in a log of operations.

    A `node` seen before in this file is a new edition of that message: its items stand where they stood. `at` says
    where it stands when that is not the place of its line; one number orders all messages of the file. A message
    that was abandoned and is shown again lives again.
    """

    node: str
    at: int | None = None


class Rewind(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """The message `node` and everything that stands after it are abandoned; one that is not there: everything."""

    node: str


class Window(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """The log begins at this place: what stood before it left the log, not the conversation, and stays as it was."""

    at: int


class Row(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """The place of the line's items in a conversation tree (Claude Code); comes before them.

    A line whose `node` was already seen in this file is a repetition: its items are ignored.
    `prompt` is "typed" for a real prompt (a later typed sibling rewinds the earlier ones), "queued" for a prompt
    that was queued while the agent worked (can be rewound, does not rewind), None for everything else.
    `path` instead, where the way from the root to the last line is what lives, and a person walks about in the tree:
    "next" for a child of the line before, "jump" for a child of any other, or a root. A branch that is left is
    abandoned, one that is come back to lives again; a parent nobody knows is the line before.
    """

    session: str
    node: str
    parent: str | None
    prompt: Literal["typed", "queued"] | None = None
    path: Literal["next", "jump"] | None = None


class Finish(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """The result of an earlier command, call, edit or read: sets its exit status.

    `positional` as it was in the item: the row that this file shows at the key now is meant.
    """

    session: str
    key: Key
    kind: Kind
    exit_status: ExitStatus
    positional: bool = False


class Drop(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """An item this decoder gave earlier proved to be a copy or no speech at all: it is hidden in the session."""

    session: str
    key: Key
    kind: Kind
    positional: bool = False


class Rollback(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """The last `turns` live prompts of the session, and everything after the first of them, are abandoned."""

    session: str
    turns: int


class Place(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """Where the line stands in its session, when that is not its byte position; comes before the line's items.

    For conversations that lie in several files of one kind: places go on from file to file.
    """

    pos: int


class Revert(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """A conversation goes on from an earlier place in a file of its own: what was said before `time_us` (UTC
    microseconds) at `pos` or behind it, in whatever file, is abandoned."""

    session: str
    pos: int
    time_us: int


class Facts(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """What a line says of its session; None means "says nothing". Later facts win over earlier ones.

    `cwd` is kept from the first line that gives one (the project of a session), `model` and the agent's `version`
    from the last. `folder` names the project where no line has a `cwd`: the store's own name for it, never decoded.
    `title` wins by (title_rank, later). `parent`, `forked_from`, `continued_from` are native ids.
    """

    session: str
    cwd: str | None = None
    folder: str | None = None
    version: str | None = None
    branch: str | None = None
    model: str | None = None
    title: str | None = None
    title_rank: TitleRank = 3
    parent: str | None = None
    agent: str | None = None
    spawned_by: str | None = None
    forked_from: str | None = None
    continued_from: str | None = None
    archived: bool | None = None
    started_us: int | None = None


class BadLine(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """A complete line, or part of one, that could not be read. Counted and named; never stops the file."""

    reason: str
    """A short constant sentence ("not JSON", "not an object"); never text of the line."""


class Skipped(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """A line of a record type this decoder does not know: counted per type, as a drift alarm."""

    record_type: str


Event: TypeAlias = Item | Message | Rewind | Window | Row | Place | Finish | Drop | Rollback | Revert | Facts
Decoded: TypeAlias = Event | BadLine | Skipped


class Found(msgspec.Struct, frozen=True):
    """A file in a store that is, or could be, a source."""

    path: Path
    reader: Literal["lines", "document", "sqlite", "none"] = "lines"
    problem: str = ""
    """Why it is not read, a constant sentence ("compressed rollouts are not read yet"); empty when it is."""
    authority: int = 0
    """Which kind of source this is, where a harness keeps one session in several: what only lower ones show of a
    session is hidden in it. Ids of items that are the same in both kinds stay one item."""
    beside: tuple[Path, ...] = ()
    """Of a document: files, and folders with the files right in them, that its reader looks at as well. A change of
    one is a change of the document. (A database's write-ahead log needs no mention.)"""
    at: os.stat_result | None = None
    """How the file was when it was listed, if that was looked at."""


class Where(msgspec.Struct, frozen=True):
    """What decides where a harness's stores are: the environment, the home folder, the platform.

    `folders` are those in which agents worked, as far as is known: some agents keep their store there.
    """

    env: dict[str, str]
    home: Path
    platform: str
    folders: tuple[Path, ...] = ()


Fingerprint: TypeAlias = Callable[[str], str]
"""A keyed hash of a text as 16 hex digits. Decoder state must hold no text: it holds these."""


class Unreadable(Exception):
    """A document or database, or one conversation in it, cannot be read at all; nothing was changed.

    The message is a short constant sentence that is shown to the person ("an unknown schema: there is no column
    `data` in `part`"); it holds no text of a conversation.
    """


class Part(msgspec.Struct, frozen=True):
    """One conversation inside a document or a database.

    `name` tells it from the others in this file (the native session id; a prefix where one conversation is there in
    two shapes; a dot before a reader's own note, which is no conversation) and is kept: no text of a person, no path.
    `version` is opaque: equal means that nothing changed since it was read last; "" compares what `events` gives.
    `authority` as in Found, None means the file's. `changed_us` is when it was last written to, UTC microseconds,
    None means the file's time.
    """

    name: str
    version: str
    authority: int | None = None
    changed_us: int | None = None


def _unkeyed(_text: str) -> str:
    raise RuntimeError("opened without a key")


def _nowhere(_name: str) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Document:
    """A whole file.

    `elsewhere` gives the versions that a part of this name had in the harness's other documents; `fingerprint` makes
    a version of what a reader must not keep. In `notes` a reader keeps what it found, as long as this is open.
    """

    path: Path
    data: bytes
    fingerprint: Fingerprint = _unkeyed
    elsewhere: Callable[[str], Iterable[str]] = _nowhere
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Database:
    """An SQLite file opened only to read; text that is not UTF-8 comes with replacement characters.

    `partial`: the newest rows lie in a write-ahead log that was too big to be looked at. The rest as in Document.
    """

    path: Path
    db: "sqlite3.Connection"
    partial: bool = False
    fingerprint: Fingerprint = _unkeyed
    notes: dict[str, Any] = field(default_factory=dict)


Opened: TypeAlias = Document | Database


class Agent(Protocol):
    """One harness: where its stores are and what in them is a source. Implemented by modules of `capture.harness`.

    A module is a `Decoder` when it has line logs, a `PartsReader` when it has documents or databases, or both;
    `Found.reader` says which is asked for a file.
    """

    name: str
    label: str

    def roots(self, where: Where) -> list[Path]:
        """Every folder this harness's stores may lie in; they need not exist."""

    def sources(self, root: Path) -> Iterator[Found]:
        """The files in `root` that are sources, in an order in which parents come before their forks."""


class Decoder(Agent, Protocol):
    """How the lines of a harness's logs become events.

    `state_type` is a msgspec Struct that survives `msgspec.json` round trips; the capture stores it with the
    checkpoint and goes on from it after a restart, so everything `decode` remembers lies in it. It holds ids,
    counters and fingerprints, never text of a person or a tool, and its size is bounded (tens of KB).
    """

    state_type: type[Any]

    def start(self, path: Path) -> Any:
        """The state before the first line of this file."""

    def decode(self, line: bytes, state: Any, fingerprint: Fingerprint) -> list[Decoded]:
        """Decode one complete line (without its newline), changing `state`.

        Never raises for bad input: what cannot be read comes back as BadLine.
        """

    def session_of(self, state: Any) -> str:
        """The session the file is in at this state; before any line said so, what the file's name says."""


class SideLogs(Decoder, Protocol):
    """A decoder some of whose logs tell of sessions that have files of their own elsewhere."""

    def tells_of_others(self, path: Path) -> bool:
        """Whether this file is one of them: what a session is left out by is said in its own file."""


class Assembler(Decoder, Protocol):
    """A decoder whose messages are spread over lines, or whose lines are out of order: it decodes units of lines.

    The last unit of a file is open: it is decoded for what it holds so far, and again, from its start, when it has
    grown. So the state never has to hold a text. A unit that grows over some MiB is taken as ended.
    """

    def ends_unit(self, before: bytes, line: bytes) -> bool:
        """Whether `line` begins a new unit after `before`."""

    def decode_unit(
        self, lines: Sequence[bytes], state: Any, fingerprint: Fingerprint
    ) -> list[tuple[int, list[Decoded]]]:
        """Decode the lines of a unit, changing `state`: (index of the line, what it gave), in the order of events."""


class PartsReader(Agent, Protocol):
    """How a harness's documents and databases become events, one conversation (part) at a time."""

    def parts(self, opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:
        """Every conversation that is in it now, those with lower authority first.

        `known` has the version last read by the name of the part. What is not given any more stays as it was read.

        Raises:
            Unreadable: it has an unknown shape, or is no such file at all.
        """

    def events(self, opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
        """The whole conversation, one list for each record, in order.

        What the last reading showed and this one does not is abandoned, unless a BadLine says that something could
        not be read. Rows of one conversation may be read in steps; they are one snapshot.
        """
