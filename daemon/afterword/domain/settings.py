"""Every setting there is, with its default: the types of `config.toml`."""

import re
from typing import Annotated, Literal

import msgspec

from afterword.domain.errors import UsageError

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|m|h|d)?")
_UNIT_US = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}


def duration_us(text: str, what: str = "a duration") -> int:
    """Microseconds of `0`, `2s`, `10m`, `1.5h`, `30d`; a bare number counts seconds.

    Raises:
        UsageError: it is none of these.
    """
    found = _DURATION.fullmatch(text.strip())
    if not found:
        raise UsageError(f"{what}: {text!r} is not a duration", "write it like 0, 2s, 10m or 1h")
    return round(float(found[1]) * _UNIT_US[found[2] or "s"])


_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([KMG]?)(?:i?B)?", re.IGNORECASE)
_SIZE_SHIFT = {"": 0, "K": 10, "M": 20, "G": 30}


def size_bytes(text: str, what: str = "a size") -> int:
    """Bytes of `4096`, `64K`, `256M`, `1G`; K, M and G are powers of 1,024.

    Raises:
        UsageError: it is none of these.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise UsageError(f"{what}: {text!r} is not a size", "write it like 64K, 256M or 1G")
    return round(float(found[1]) * (1 << _SIZE_SHIFT[found[2].upper()]))


def period_us(text: str, what: str = "a period") -> int | None:
    """Microseconds of a period of a second or more, None for `off`.

    Raises:
        UsageError: it is neither.
    """
    if text.strip() == "off":
        return None
    length_us = duration_us(text, what)
    if length_us < _UNIT_US["s"]:
        raise UsageError(f"{what} is under a second", "write it like 1m, or off")
    return length_us


class Vault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[vault]"""

    path: str = ""
    """The vault's folder; written by `init`."""
    daily: str = "daily"
    """The folder of the daily notes in it."""
    daily_format: str = "YYYY-MM-DD"
    """What a daily note is called, as in Obsidian's settings; may have folders: YYYY/MM/YYYY-MM-DD."""
    knowledge: str = "knowledge"
    """The folder of the articles in it."""
    lessons: str = ""
    """The folder of the lessons in it; beside the articles' when empty."""
    day_starts_at: str = "00:00"
    """When a day begins, HH:MM: work after midnight may still belong to the evening before."""


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[machine]"""

    name: str = ""
    """This machine's name in notes; the host's name when empty. Read when the ledger is made."""


class Capture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[capture]"""

    quiet: str = "10m"
    """How long a file must rest before its last line is taken without a newline and all its bytes are compared."""
    sweep: str = "60s"
    """How often all stores are looked at, whatever the watcher says."""
    jobs: Annotated[int, msgspec.Meta(ge=0, le=64)] = 0
    """How many processes read a large history the first time; 0 is one for each core, 1 none beside the program."""
    jobs_from: str = "32M"
    """What is smaller than this is read by the program alone, before other processes have started."""
    preview_from: str = "256M"
    """From so much on that nobody has read yet, what people and agents said is looked through before all of it is
    read, so that it is found early."""
    document_max: str = "256M"
    """A document (a transcript that is one file rewritten whole) over this is named and not read."""
    exclude_projects: tuple[str, ...] = ()
    """Projects whose sessions are left out: folders (`~/clients/*`) or names (`secret-*`). `.afterwordignore` in a
    folder does the same for it."""
    copy_max: str = "1G"
    """A database whose write-ahead log its writer left behind is copied up to this; over it only what is in the
    main file is read."""


class Segment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[segment]"""

    gap: str = "30m"
    """A pause in a session that begins a new section."""
    settle: str = "10m"
    """How long a session must rest before its last section is written; 0 writes at once."""


class Redact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[redact]"""

    engine: Annotated[str, msgspec.Meta(pattern="^(auto|hyperscan|re2|python)$")] = "auto"
    """auto, hyperscan, re2 or python; all give the same text, they differ in speed."""
    extra: tuple[str, ...] = ()
    """More patterns (regular expressions) to redact."""
    allow: tuple[str, ...] = ()
    """Patterns that are never redacted."""


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[index]"""

    embedder: Annotated[str, msgspec.Meta(pattern="^(local|minilm|gemini|off)$")] = "local"
    """local (in this process, no key, no download), minilm (a second model beside it knows English better, and takes
    three times as long: `pip install 'afterword[minilm]'`), gemini (sends redacted texts over the network), or off:
    exact search only. Another one makes a new index beside the old one."""
    gemini_model: str = "gemini-embedding-001"
    """With `gemini`: the embedding model."""
    gemini_dim: Annotated[int, msgspec.Meta(ge=64, le=3072)] = 768
    """With `gemini`: how many numbers a vector has."""
    gemini_batch: Annotated[int, msgspec.Meta(ge=1, le=250)] = 100
    """With `gemini`: how many texts go into one request."""
    max_chunks: Annotated[int, msgspec.Meta(ge=0)] = 20_000
    """How many stretches of conversation are found by meaning, the newest first; notes always are."""


class Chroma(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[chroma]"""

    url: str = ""
    """A Chroma server, https://host:8000, for who has one; empty keeps it in the state folder."""
    token_file: str = ""
    """A file with the server's token alone, readable by its owner alone. The variable AFTERWORD_CHROMA_TOKEN comes
    first."""
    token_header: Annotated[str, msgspec.Meta(pattern="^(authorization|x-chroma-token)$")] = "authorization"  # noqa: S105
    """How the token is sent: authorization (as a bearer token), or x-chroma-token."""
    ca_file: str = ""
    """The certificate of the authority that the server's is signed by, where the system does not know it."""
    tenant: str = "default_tenant"
    """The tenant on the server."""
    database: str = "default_database"
    """The database of the tenant; it must be there."""


class Compile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[compile]"""

    at: str = "03:30"
    """When finished days become articles, HH:MM in the vault's zone; a missed run is made up. "off": by hand."""
    every: str = "off"
    """How often the running daemon compiles what is new or changed besides, today too: 1m, 1h. "off": only at `at`."""
    min_words: int = 60
    """A day whose digests have fewer words is skipped."""
    engine: Annotated[str, msgspec.Meta(pattern="^(auto|gemini|extractive)$")] = "auto"
    """Who writes up from now on: gemini, extractive (no key, no network), or auto: gemini where there is a key."""
    stale_after: str = "180d"
    """An article that nobody came upon, opened or cited for so long is marked as stale, and ranks lower; or "off"."""
    keep_builds: Annotated[int, msgspec.Meta(ge=0)] = 30
    """For how many days what a model was asked and what it answered is kept, redacted."""


class Lessons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[lessons]"""

    auto: Literal["yes", "review", "no"] = "yes"
    """Whether what a session's write-up calls a lesson goes into the journal by itself: yes, review (it waits for your
    word there), or no."""
    every: str = "10m"
    """How often the running daemon distils the journal, where something is new in it: 10m, 1h. "off": by hand."""


class Recall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[recall]"""

    tokens: Annotated[int, msgspec.Meta(ge=0, le=50_000)] = 2_500
    """How much a session begins with, in tokens (of about four characters): an agent pays for it every time."""


class Gemini(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[gemini]"""

    model: str = "gemini-3.8-flash"
    """The model that writes up; a specific version."""
    base_url: str = ""
    """Another address that speaks the same protocol, such as a proxy of the company's."""
    key_file: str = ""
    """A file with the key alone, readable by its owner alone; `gemini.key` beside config.toml when empty. The variables
    GEMINI_API_KEY and GOOGLE_API_KEY come first."""
    vertex: bool = False
    """Whether to go through Google Cloud, with its application credentials, instead of a key."""
    project: str = ""
    """With `vertex`: the Google Cloud project."""
    location: str = ""
    """With `vertex`: the region, such as europe-west4."""
    daily_tokens: Annotated[int, msgspec.Meta(ge=0)] = 1_000_000
    """No call is made that could bring a day's tokens over this."""
    beyond: Annotated[str, msgspec.Meta(pattern="^(wait|extractive)$")] = "wait"
    """When the day's tokens are spent: wait for the next day, or go on with the extractive engine."""
    deadline: str = "2m"
    """How long one answer may take in all."""
    prompt_max: str = "96K"
    """What is longer is asked for in parts."""


class Door(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[door]"""

    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0
    """The loopback port of the running daemon; 0 takes a free one at every start."""


class Log(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[log]"""

    level: Annotated[str, msgspec.Meta(pattern="^(debug|info|warning|error)$")] = "warning"
    """How much is said on stderr beside results: debug, info, warning or error. Never a text of a session."""


class Peer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[peers.NAME]"""

    host: str = ""
    """The machine, as you would give it to ssh: an alias of `~/.ssh/config`, or user@host. NAME when empty."""
    every: str = "off"
    """How often the running daemon exchanges with it: 15m, 1h. "off": by hand."""
    withhold: tuple[str, ...] = ()
    """Projects of which it gets nothing: names (`secret-*`), or folders and what is below them (`/srv/clients/*`)."""
    command: str = ""
    """Where afterword is on that machine, if it is not found by itself."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """config.toml"""

    vault: Vault = Vault()
    machine: Machine = Machine()
    capture: Capture = Capture()
    segment: Segment = Segment()
    compile: Compile = Compile()
    lessons: Lessons = Lessons()
    recall: Recall = Recall()
    redact: Redact = Redact()
    index: Index = Index()
    chroma: Chroma = Chroma()
    gemini: Gemini = Gemini()
    door: Door = Door()
    log: Log = Log()
    peers: dict[str, Peer] = {}
