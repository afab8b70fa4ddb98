"""What a harness decoder makes of bytes: raw events, not yet redacted, that only `capture` may touch.

A decoder knows its format and nothing else: no offsets, no ledger, no redaction. It names every thing with the
key tuple its harness page gives (no text and no path in a key), and says what happened in file order.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from afterword.domain.ids import KeyPart
from afterword.domain.items import ExitStatus, Kind, SaidBy

Key: TypeAlias = tuple[KeyPart, ...]

TitleRank: TypeAlias = Literal[1, 2, 3, 4, 5]
"""1 summary of a leaf here, 2 last prompt, 3 generated title, 4 a name a person or an index gave, 5 reserved."""


class Item(msgspec.Struct, frozen=True, gc=False):
    """One thing in a session.

    `session` is the native id (a sub-agent: `parent/agent`). `key` is the tuple of the harness page, without
    harness and kind; None when the format has no key at all (then the capture finds the row by a keyed hash).
    `time_us` is UTC microseconds as given, None when missing. `path` is the file an edit or read is about.
    `owner` is the native id of the session this line says it was copied from.
    `positional`: the key counts, it does not name. It means a row only while that row's text is equal to this one or
    begins it; otherwise that row is abandoned in the session and the key gets its next generation.
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
    positional: bool = False


class Row(msgspec.Struct, frozen=True, gc=False):
    """The place of the line's items in a conversation tree (Claude Code); comes before them.

    A line whose `node` was already seen in this file is a repetition: its items are ignored.
    `prompt` is "typed" for a real prompt (a later typed sibling rewinds the earlier ones), "queued" for a prompt
    that was queued while the agent worked (can be rewound, does not rewind), None for everything else.
    """

    session: str
    node: str
    parent: str | None
    prompt: Literal["typed", "queued"] | None = None


class Finish(msgspec.Struct, frozen=True, gc=False):
    """The result of an earlier command, call, edit or read: sets its exit status.

    `positional` as it was in the item: the row that this file shows at the key now is meant.
    """

    session: str
    key: Key
    kind: Kind
    exit_status: ExitStatus
    positional: bool = False


class Drop(msgspec.Struct, frozen=True, gc=False):
    """An item this decoder gave earlier proved to be a copy or no speech at all: it is hidden in the session."""

    session: str
    key: Key
    kind: Kind
    positional: bool = False


class Rollback(msgspec.Struct, frozen=True, gc=False):
    """The last `turns` live prompts of the session, and everything after the first of them, are abandoned."""

    session: str
    turns: int


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What a line says of its session; None means "says nothing". Later facts win over earlier ones.

    `cwd` is kept from the first line that gives one (the project of a session), `model` from the last.
    `title` wins by (title_rank, later). `parent`, `forked_from`, `continued_from` are native ids.
    """

    session: str
    cwd: str | None = None
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


class BadLine(msgspec.Struct, frozen=True, gc=False):
    """A complete line, or part of one, that could not be read. Counted and named; never stops the file."""

    reason: str
    """A short constant sentence ("not JSON", "not an object"); never text of the line."""


class Skipped(msgspec.Struct, frozen=True, gc=False):
    """A line of a record type this decoder does not know: counted per type, as a drift alarm."""

    record_type: str


Event: TypeAlias = Item | Row | Finish | Drop | Rollback | Facts
Decoded: TypeAlias = Event | BadLine | Skipped


class Found(msgspec.Struct, frozen=True):
    """A file in a store that is, or could be, a source."""

    path: Path
    reader: Literal["lines", "document", "sqlite", "none"] = "lines"
    problem: str = ""
    """Why it is not read, a constant sentence ("compressed rollouts are not read yet"); empty when it is."""


class Where(msgspec.Struct, frozen=True):
    """What decides where a harness's stores are: the environment, the home folder, the platform."""

    env: dict[str, str]
    home: Path
    platform: str


Fingerprint: TypeAlias = Callable[[str], str]
"""A keyed hash of a text as 16 hex digits. Decoder state must hold no text: it holds these."""


class Decoder(Protocol):
    """One harness: the three things it knows. Implemented by the modules of `capture.harness`.

    `state_type` is a msgspec Struct that survives `msgspec.json` round trips; the capture stores it with the
    checkpoint and goes on from it after a restart, so everything `decode` remembers lies in it. It holds ids,
    counters and fingerprints, never text of a person or a tool, and its size is bounded (tens of KB).
    """

    name: str
    label: str
    state_type: type[Any]

    def roots(self, where: Where) -> list[Path]:
        """Every folder this harness's stores may lie in; they need not exist."""

    def sources(self, root: Path) -> Iterator[Found]:
        """The files in `root` that are sources, in an order in which parents come before their forks."""

    def start(self, path: Path) -> Any:
        """The state before the first line of this file."""

    def decode(self, line: bytes, state: Any, fingerprint: Fingerprint) -> list[Decoded]:
        """Decode one complete line (without its newline), changing `state`.

        Never raises for bad input: what cannot be read comes back as BadLine.
        """

    def session_of(self, state: Any) -> str:
        """The session the file is in at this state; before any line said so, what the file's name says."""
