"""What reading a Codex rollout remembers between lines: ids, counters and fingerprints, all bounded.

The one path in it is the working folder, which relative patch paths are resolved against.
"""

from msgspec import Struct, field

CALLS = 256
RUNNING = 32
PROMPTS = 128
LOGGED = 64
TWINS = 64


class Call(Struct):
    """A tool call without its result. `files` counts the edits of a patch, 0 for anything else."""

    thread: str
    kind: int
    files: int = 0


class Prompt(Struct):
    """A prompt known from a response item only, which the first user event confirms or refutes."""

    key: tuple[str | int, ...]
    print: str


class Twins(Struct):
    """Texts of one kind in this turn that came as an event or as a response item, and wait for the other."""

    events: list[tuple[int, str]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    answered: bool = False
    """The turn has a response item of this kind: events without one are no texts of their own."""


class State(Struct):
    """Decoder state of one rollout, or of the index of titles."""

    index: bool = False
    log: bool = False
    """It is the log of all prompts."""
    logged: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Session → second of its last prompt in that log, and which in that second it was."""
    archived: bool = False
    stem: str = ""
    thread: str = ""
    """Whose file this is."""
    above: str = ""
    """The thread of the last `session_meta`."""
    created_us: int | None = None
    forked: str = ""
    copying: bool = False
    """Inside the copied history of another thread."""
    settled: bool = False
    """Something of this thread's own was read."""
    sub_agent: bool = False
    paginated: bool = False
    base: int = 0
    """The ordinal from which a paginated thread goes on in this file."""
    shift: int | None = None
    """What is added to the ordinals of this file, known from its first."""
    place: int = -1
    cwd: str = ""
    cwd_told: bool = False
    model: str = ""
    turn: str = "#0"
    turns: int = 0
    used: bool = False
    """The turn has content."""
    counts: dict[str, int] = field(default_factory=dict)
    """Kind → how many in this turn."""
    replies: Twins = field(default_factory=Twins)
    thoughts: Twins = field(default_factory=Twins)
    events_seen: bool = False
    """A prompt came as an event: from now on only events are prompts."""
    prompts: list[Prompt] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    """Process session → call of a command that has not finished yet."""
    continuing: dict[str, str] = field(default_factory=dict)
    """Call that goes on with a running command → that command's call."""
