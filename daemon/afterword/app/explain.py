"""What each record of a transcript becomes, scrubbed: so that a person can show us a format we read wrongly.

Reads one file with the decoder of its harness, without a ledger, and writes nothing.
"""

import dataclasses
import hashlib
import itertools
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from afterword.app.config import Config
from afterword.capture import database, document
from afterword.capture.database import Reach
from afterword.capture.harness import table
from afterword.capture.parts import Limits
from afterword.capture.tail.content import opened as log_opened
from afterword.capture.tail.lines import Batch, Line, Oversized
from afterword.capture.tail.lines import read as read_lines
from afterword.capture.tail.prefix import PrefixHash
from afterword.domain.errors import UsageError
from afterword.domain.events import (
    Agent,
    Assembler,
    BadLine,
    Decoded,
    Decoder,
    Drop,
    Facts,
    Fingerprint,
    Finish,
    Found,
    Item,
    Message,
    Opened,
    PartsReader,
    Row,
    Skipped,
    Unreadable,
    Where,
)
from afterword.domain.items import Kind
from afterword.domain.settings import size_bytes
from afterword.redact.redactor import Json, Redactor

TEXT_MAX = 120
_RECORDS_TRIED = 300
_SQLITE = b"SQLite format 3\0"
_WORD = re.compile(r"[\w./-]{1,60}")
_PLAIN = ("event", "kind", "said_by", "session", "key", "node", "parent", "owner", "harness", "type", "part")
_ANY = msgspec.json.Decoder(dict[str, Any])


class Record(msgspec.Struct, frozen=True):
    """One line, or one record of a conversation in a document or database, and what it became.

    `type` is the record's own word for what it is, `fields` its top-level names where nothing came of it.
    """

    number: int
    type: str
    became: list[dict[str, Json]]
    fields: list[str] = []
    part: str = ""


class Explained(msgspec.Struct):
    """A file under the eyes of a harness's decoder; `records` may be asked for once."""

    harness: str
    label: str
    file: str
    problem: str
    """Why the capture does not read it, if so."""
    records: Iterator[Record]
    sums: Counter[str]
    """How many events of each kind there were, bad lines and unknown types too; whole once all were asked for."""


def explain(path: Path, config: Config, where: Where, redactor: Redactor, harness: str | None = None) -> Explained:
    """Look at a file as the capture would.

    Raises:
        UsageError: no harness is known by that name, or none of them can read the file.
        OSError, Unreadable: it cannot be read; also while its records are asked for.
    """
    given = config.settings.capture
    limits = Limits(size_bytes(given.document_max), Reach(size_bytes(given.copy_max), config.places.state))
    chosen, found = _chosen(path, where, limits, harness)
    sums: Counter[str] = Counter()
    scrub = _Scrub(redactor, sums, str(where.home))
    records = (scrub.record(*each) for each in _records(chosen.load(), found, limits))
    return Explained(chosen.name, chosen.label, scrub.text(str(path)), found.problem, records, sums)


def _chosen(path: Path, where: Where, limits: Limits, harness: str | None) -> tuple[table.Harness, Found]:
    """The harness whose store the file is in, else the one whose reader makes most of it."""
    if harness is not None and harness not in table.BY_NAME:
        raise UsageError(f"no agent is called {harness!r}", "use one of " + ", ".join(table.BY_NAME))
    asked = [one for one in table.HARNESSES if one.reads and harness in (None, one.name)]
    for one in asked:
        found = _in_store(one, path, where)
        if found is None:
            continue
        if found.reader == "none":
            raise UsageError(f"{one.label} keeps {path}, but it is not read: {found.problem}")
        return one, found
    if not path.is_file():
        raise UsageError(f"{path} is not a regular file")
    ways = [(one, guess) for one in asked for guess in _guesses(one.load(), path)]
    best = max(ways, key=lambda way: _liking(way[0].load(), way[1], limits), default=None)
    if best is None or (harness is None and _liking(best[0].load(), best[1], limits) <= 0):
        raise UsageError(f"no agent known here writes {path}", "name it: --harness NAME")
    return best


def _in_store(one: table.Harness, path: Path, where: Where) -> Found | None:
    agent = one.load()
    real = path.resolve()
    for root in agent.roots(where):
        if real.is_relative_to(root.resolve()):
            for found in agent.sources(root):
                if found.path == path or found.path.resolve() == real:
                    return found
    return None


def _guesses(agent: Agent, path: Path) -> list[Found]:
    """The ways in which a harness may read a file of unknown origin."""
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            return [Found(path, "sqlite")] if hasattr(agent, "parts") else []
    lines = [Found(path)] if hasattr(agent, "decode") else []
    return [*lines, *([Found(path, "document")] if hasattr(agent, "parts") else [])]


def _liking(agent: Agent, found: Found, limits: Limits) -> int:
    """How much a reader makes of the beginning of a file; nothing is made of an unknown format."""
    good = prompts = 0
    try:
        for _, _, events, _ in itertools.islice(_records(agent, found, limits), _RECORDS_TRIED):
            for event in events:
                prompts += isinstance(event, Item) and event.kind is Kind.PROMPT
                good += (
                    1
                    if isinstance(event, Item | Row | Message | Facts)
                    else -1
                    if isinstance(event, BadLine | Skipped)
                    else 0
                )
    except (OSError, Unreadable):
        return 0
    return good if prompts else 0


def _fingerprint() -> Fingerprint:
    key = secrets.token_bytes(16)
    return lambda text: hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).hexdigest()


_Read: TypeAlias = tuple[int, bytes | None, list[Decoded], str]
"""Number of a record, its bytes where it is a line, what became of it, the conversation it is in."""


def _records(agent: Agent, found: Found, limits: Limits) -> Iterator[_Read]:
    match found.reader:
        case "lines":
            yield from _log(cast("Decoder", agent), found.path)
        case "document":
            read = document.opened(found.path, limits.document_max_bytes)
            yield from _parts(cast("PartsReader", agent), read)
        case _:
            with database.opened(found.path, limits.reach) as lease:
                if lease is not None:
                    yield from _parts(cast("PartsReader", agent), lease.database)


def _log(decoder: Decoder, path: Path) -> Iterator[_Read]:
    """Every line of a log; a last one without newline too."""
    state = decoder.start(path)
    fingerprint = _fingerprint()
    assembler = cast("Assembler", decoder) if hasattr(decoder, "ends_unit") else None
    unit: list[tuple[int, bytes]] = []

    def assembled() -> Iterator[_Read]:
        if assembler is not None and unit:
            became: dict[int, list[Decoded]] = {}
            for n, events in assembler.decode_unit([data for _, data in unit], state, fingerprint):
                became.setdefault(n, []).extend(events)
            yield from ((number, data, became.get(n, []), "") for n, (number, data) in enumerate(unit))
            unit.clear()

    for number, line in enumerate(_lines(path), 1):
        if isinstance(line, Oversized):
            yield from assembled()
            yield number, None, [BadLine(f"a line of {line.size:,} bytes is left out")], ""
        elif assembler is None and line.data.strip():
            yield number, line.data, decoder.decode(line.data, state, fingerprint), ""
        elif assembler is not None and line.data.strip():
            if unit and assembler.ends_unit(unit[-1][1], line.data):
                yield from assembled()
            unit.append((number, line.data))
    yield from assembled()


def _lines(path: Path) -> Iterator[Line | Oversized]:
    with log_opened(path) as content:
        for batch in read_lines(content, PrefixHash(secrets.token_bytes(16))):
            if isinstance(batch, Batch):
                yield from batch.lines
            elif batch.data:
                yield Line(batch.pos, batch.data)


def _parts(reader: PartsReader, opened: Opened) -> Iterator[_Read]:
    """Every record of every conversation in a document or a database."""
    fingerprint = _fingerprint()
    opened = dataclasses.replace(opened, fingerprint=fingerprint)
    with database.said_plainly():
        for part in reader.parts(opened, {}):
            for number, events in enumerate(reader.events(opened, part, fingerprint), 1):
                yield number, None, events, part.name


class _Scrub:
    """Makes of events what may be shown to anybody."""

    def __init__(self, redactor: Redactor, sums: Counter[str], home: str) -> None:
        self._redactor = redactor
        self._home = re.compile(rf"{re.escape(home)}(?=/|\b)") if len(home) > 1 else None
        self._sums = sums

    def record(self, number: int, raw: bytes | None, events: list[Decoded], part: str = "") -> Record:
        became = [self._event(event) for event in events]
        for event in became:
            self._sums[" ".join(str(event[name]) for name in ("event", "kind") if event.get(name))] += 1
        if not became:
            self._sums["nothing"] += 1
        type_, fields = _looks(raw)
        if any(not isinstance(event, Skipped) for event in events):
            fields = []
        return Record(number, self.text(type_), became, [self.text(name) for name in fields], self.text(part))

    def _event(self, event: Decoded) -> dict[str, Json]:
        shown: dict[str, Json] = {"event": type(event).__name__.lower()}
        match event:
            case Item():
                # Cut when it is redacted: half a secret would not be known for one.
                text = self.text(event.text)
                shown |= {
                    "kind": event.kind.word,
                    "said_by": event.said_by.name.lower(),
                    "session": event.session,
                    "key": [str(each) for each in event.key] if event.key is not None else None,
                    "text": text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}… ({len(text):,} characters)",
                }
                for name in ("path", "exit_status", "owner", "time_us"):
                    if getattr(event, name) is not None:
                        shown[name] = getattr(event, name)
            case Finish() | Drop():
                shown |= {"kind": event.kind.word, "session": event.session, "key": [str(each) for each in event.key]}
                if isinstance(event, Finish):
                    shown["exit_status"] = event.exit_status
            case Skipped():
                shown |= {"event": "unknown type", "type": event.record_type}
            case BadLine():
                shown |= {"event": "bad line", "reason": event.reason}
            case _:
                # Not as it is encoded: between processes events travel as bare rows.
                given = {name: msgspec.to_builtins(value) for name, value in msgspec.structs.asdict(event).items()}
                shown |= {name: value for name, value in given.items() if value is not None}
                if not isinstance(event, Facts) or event.title is None:
                    shown.pop("title_rank", None)
        shown = {name: self._without_home(value) for name, value in shown.items()}
        clean = self._redactor.tree(shown, plain=_PLAIN)
        return cast("dict[str, Json]", clean)

    def text(self, text: str) -> str:
        return str(self._redactor.redact(str(self._without_home(text))))

    def _without_home(self, value: Json) -> Json:
        """Whose machine it is, is nobody's business."""
        return self._home.sub("~", value) if self._home and isinstance(value, str) else value


def _looks(raw: bytes | None) -> tuple[str, list[str]]:
    """(type, field names) of a line of JSON, without any value."""
    try:
        found = _ANY.decode(raw or b"")
    except (ValueError, RecursionError):
        return "", []
    words = [found.get("type")]
    payload = found.get("payload")
    if isinstance(payload, dict):
        words.append(payload.get("type"))
    named = [word for word in words if isinstance(word, str) and _WORD.fullmatch(word)]
    return "/".join(named), [name if _WORD.fullmatch(name) else "…" for name in found][:40]
