"""What may be taken in: sessions of projects that are left out stop here, before anything of them is written.

A file is looked at before its source has a row: where the folder it begins in is left out, nothing of the file is
known to the ledger, not even its path. While it is read every event passes `Passing`: where a session goes into such a
folder later, or comes from a session that is left out, the reading ends before that line (`Shut`), and the position
stays there, so that all of it is read once the folder is let in again.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, cast

import msgspec

from afterword.capture import document
from afterword.capture.exclusion import Exclusions
from afterword.capture.tail.content import Content, opened
from afterword.domain.events import (
    Agent,
    Assembler,
    Decoded,
    Decoder,
    Facts,
    Fingerprint,
    Found,
    Item,
    PartsReader,
    SideLogs,
    Unreadable,
)
from afterword.store.ledger import left_out, sessions, sources
from afterword.store.ledger.ledger import Ledger

_HEAD_BYTES: Final = 4 << 20
_HEAD_LINES: Final = 400
_PIECE_BYTES: Final = 64 << 10
_UNIT_LINES: Final = 40
_LINES_AFTER: Final = 3
"""Lines looked at behind the one that names the folder: what a session was forked from may follow it."""
_ANCESTORS_MAX: Final = 8


class Shut(Exception):
    """What follows from the place `pos` on is not to be read now. Raised inside a transaction, which is given up.

    `still` says whether that holds as before, `waiting` that it is only a matter of time.
    """

    def __init__(self, still: Callable[[], bool], *, waiting: bool = False) -> None:
        super().__init__("the session is left out from here on")
        self.pos = 0
        self.still = still
        self.waiting = waiting


class Head(msgspec.Struct):
    """How a conversation begins: the folder it was held in, its sessions, and those it comes from.

    `name` is the store's own name for the project, for want of a folder; `speaks`: something was said before any folder
    was named.
    """

    folder: str = ""
    name: str = ""
    sessions: set[str] = msgspec.field(default_factory=set)
    parents: set[str] = msgspec.field(default_factory=set)
    speaks: bool = False

    def notice(self, events: Sequence[Decoded]) -> None:
        for event in events:
            match event:
                case Facts():
                    self.sessions.add(event.session)
                    self.parents |= {link for link in links(event) if link != event.session}
                    self.folder = self.folder or event.cwd or ""
                    self.name = self.name or event.folder or ""
                case Item():
                    self.sessions.add(event.session)
                    self.speaks = self.speaks or not self.folder
                case _:
                    pass


def links(facts: Facts) -> set[str]:
    """The sessions that one comes from."""
    return {link for link in (facts.parent, facts.forked_from, facts.continued_from) if link}


class Gate:
    """Belongs to a `Capture`; raw folders and ids are in memory only."""

    def __init__(self, ledger: Ledger, exclusions: Exclusions, folders: left_out.Folders, document_max: int) -> None:
        self._ledger = ledger
        self.exclusions = exclusions
        self._remembered = folders
        self._document_max = document_max
        self._heads: dict[tuple[str, Path], list[Head]] = {}
        self._out: set[tuple[str, str]] = set()
        self._reasons: dict[tuple[str, str], Callable[[], bool]] = {}
        """Sessions that were shut when they were read, and whether that still holds."""
        self.rewound = False
        """Whether sources are to be read again from their start because a session was let in."""
        self._asked: set[tuple[str, str]] = set()
        self._ends: dict[tuple[str, Path], tuple[tuple[object, ...], list[Callable[[], bool]]]] = {}
        self._parts: dict[tuple[str, Path, str], tuple[str, Callable[[], bool]]] = {}

    def refresh(self) -> None:
        """A new look at everything begins."""
        self.exclusions.refresh()
        self._remembered.flush()

    def keeps_out(self, harness: str, path: Path) -> bool:
        """Whether a file is known to be left out, and still is. Costs no look into it."""
        heads = self._heads.get((harness, path))
        return bool(heads) and all(self._is_out(harness, head) for head in heads or ())

    def knows(self, harness: str, path: Path) -> bool:
        """Whether this file was looked at."""
        return (harness, path) in self._heads

    def admits(self, harness: str, agent: Agent, found: Found, fingerprint: Fingerprint, *, quiet: bool) -> bool:
        """Whether a file may be read now. Where anything is left out at all, one that says nothing of its folder yet
        waits until it does or is quiet.

        Raises:
            OSError, Unreadable: it cannot be looked into.
        """
        if found.reader == "sqlite" or tells_of_others(agent, found.path):
            return True  # it holds conversations of many projects; each is looked at by itself
        key = harness, found.path
        heads = self._heads.get(key)
        if not heads or not (heads[-1].folder or quiet):
            heads = self._look(harness, agent, found, fingerprint)
        if heads and all(self._is_out(harness, head) for head in heads):
            self._heads[key] = heads
            self._out.update((harness, native) for head in heads for native in head.sessions)
            self._remembered.flush()
            return False
        unsaid = any(head.speaks and not (head.folder or head.name) for head in heads)
        if unsaid and not quiet and self.exclusions.active:
            return False
        self._heads[key] = heads
        self._let_in(harness, {native for head in heads for native in head.sessions})
        return True

    def survey(self, files: Sequence[tuple[str, Agent, Found]], fingerprint: Fingerprint) -> None:
        """Look at how all these files begin before any is read: what a session comes from may lie in a later one."""
        for harness, agent, found in files:
            if found.reader != "sqlite" and (harness, found.path) not in self._heads:
                # What cannot be looked into now is seen to when it is read.
                with contextlib.suppress(OSError, Unreadable, ValueError):
                    self.admits(harness, agent, found, fingerprint, quiet=True)
        while True:
            shut = {
                (harness, native)
                for (harness, _), heads in self._heads.items()
                if heads and all(self._is_out(harness, head) for head in heads)
                for head in heads
                for native in head.sessions
            }
            if shut <= self._out:
                return
            self._out |= shut

    def _is_out(self, harness: str, head: Head) -> bool:
        if self.exclusions.excludes(head.folder or head.name):
            return True
        return any(self.session_out(harness, parent) for parent in head.parents)

    def _let_in(self, harness: str, natives: set[str]) -> None:
        """These are not left out (any more): what was read past of them is read after all."""
        for native in natives:
            self._out.discard((harness, native))
            key = left_out.session_key(self._ledger, harness, native)
            owed = left_out.sources_with(self._ledger, key)
            if owed:
                with self._ledger.transaction():
                    for row in owed:
                        sources.rewind(self._ledger, row)
                    left_out.taken_back(self._ledger, key)
                self.rewound = True
        self._remembered.flush()

    def session_out(self, harness: str, native: str, depth: int = 0) -> bool:
        """Whether a session is left out, by what was seen of it, or what the ledger knows of it and its parents."""
        named = {(harness, native), (harness, native.partition("/")[0])}
        if not named.isdisjoint(self._out) or any(map(self._holds, named)):
            return True
        if not self.exclusions.active or depth > _ANCESTORS_MAX:
            return False
        row = sessions.known_row(self._ledger, harness, native)
        if row is None:
            return False
        facts = sessions.facts_of(self._ledger, row)
        if self.exclusions.excludes(facts.cwd or facts.folder, facts.root):
            return True
        above = {facts.parent, facts.forked_from, facts.continued_from} - {"", native}
        return any(self.session_out(harness, link, depth + 1) for link in above)

    def _holds(self, session: tuple[str, str]) -> bool:
        """Whether a session that was shut still is; one that comes from itself, around corners, is not for that."""
        still = self._reasons.get(session)
        if still is None or session in self._asked:
            return False
        self._asked.add(session)
        try:
            return still()
        finally:
            self._asked.discard(session)

    def knows_any_out(self, harness: str) -> bool:
        """Whether any session of a harness may be left out, so that each has to be asked for."""
        return self.exclusions.active or any(owner == harness for owner, _ in self._out | self._reasons.keys())

    def leave_out(self, harness: str, native: str, still: Callable[[], bool]) -> None:
        """Remember, while this process runs, that a session is left out as long as the reason holds."""
        self._reasons[harness, native] = still

    def shut(self, harness: str, path: Path, looks: tuple[object, ...], still: Sequence[Callable[[], bool]]) -> None:
        """Not all of a file was read, for these reasons, when it looked like this."""
        self._ends[harness, path] = looks, list(still)

    def rests(self, harness: str, path: Path, looks: tuple[object, ...]) -> bool:
        """Whether a file that was not read to its end looks as it did then, and every reason still holds."""
        found = self._ends.get((harness, path))
        return found is not None and found[0] == looks and all(holds() for holds in found[1])

    def shut_part(self, harness: str, path: Path, name: str, version: str, still: Callable[[], bool]) -> None:
        """A conversation inside a file is left out, as it was at this version."""
        self._parts[harness, path, name] = version, still

    def part_rests(self, harness: str, path: Path, name: str, version: str) -> Callable[[], bool] | None:
        """The reason why a conversation was left out, where it did not change since and the reason still holds."""
        found = self._parts.get((harness, path, name))
        return found[1] if found and version and found[0] == version and found[1]() else None

    def _look(self, harness: str, agent: Agent, found: Found, fingerprint: Fingerprint) -> list[Head]:
        if found.reader == "document":
            return self._look_into(harness, cast("PartsReader", agent), found, fingerprint)
        head = Head()
        left = _LINES_AFTER
        for events in _beginning(cast("Decoder", agent), found.path, fingerprint):
            left -= bool(head.folder)
            head.notice(events)
            if not left:
                break
        return [head]

    def _look_into(self, harness: str, reader: PartsReader, found: Found, fingerprint: Fingerprint) -> list[Head]:
        """The conversations of a document, up to the first that is not left out."""
        whole = replace(document.opened(found.path, self._document_max), fingerprint=fingerprint)
        heads = []
        for part in reader.parts(whole, {}):
            if part.name.startswith("."):
                continue  # a note of the reader's
            head = Head()
            for events in reader.events(whole, part, fingerprint):
                head.notice(events)
                if head.folder:
                    break
            heads.append(head)
            if not self._is_out(harness, head):
                break
        return heads


class Passing:
    """What the events of one source pass on their way in, during one reading of it.

    `patient`: the file tells of sessions whose own files lie elsewhere, so lines of those that are left out are passed
    over; with `wait` such a file may not have been seen yet.
    """

    def __init__(self, gate: Gate, harness: str, source: int, *, patient: bool, wait: bool) -> None:
        self._gate = gate
        self._harness = harness
        self._source = source
        self._patient = patient
        self._wait = wait
        self._strict = gate.knows_any_out(harness)

    def __call__(self, ledger: Ledger, events: Sequence[Decoded], pos: int) -> Sequence[Decoded]:
        """The events of the line at `pos` that may go on; inside a transaction.

        Raises:
            Shut: from this line on the file is not to be read now.
        """
        try:
            return self._passed(ledger, events)
        except Shut as shut:
            shut.pos = pos
            raise

    def _passed(self, ledger: Ledger, events: Sequence[Decoded]) -> Sequence[Decoded]:
        gate = self._gate
        for event in events:
            if isinstance(event, Facts) and (event.cwd or event.parent or event.forked_from or event.continued_from):
                self._facts(event)
        if not self._strict:
            return events
        kept = []
        for event in events:
            native = getattr(event, "session", None)
            if native is None:
                kept.append(event)
            elif gate.session_out(self._harness, native):
                if self._patient:
                    left_out.passed_over(ledger, self._source, left_out.session_key(ledger, self._harness, native))
            elif self._wait and sessions.known_row(ledger, self._harness, native) is None:
                raise Shut(lambda: False, waiting=True)
            else:
                kept.append(event)
        return kept

    def _facts(self, event: Facts) -> None:
        exclusions = self._gate.exclusions
        if event.cwd and exclusions.excludes(cwd := event.cwd):
            raise Shut(lambda: exclusions.excludes(cwd))
        for link in links(event) - {event.session}:
            if self._gate.session_out(self._harness, link):
                still = partial(self._gate.session_out, self._harness, link)
                self._gate.leave_out(self._harness, event.session, still)
                raise Shut(still)


def tells_of_others(agent: Agent, path: Path) -> bool:
    """Whether a line log tells of sessions that have files of their own."""
    return hasattr(agent, "tells_of_others") and cast("SideLogs", agent).tells_of_others(path)


def _beginning(decoder: Decoder, path: Path, fingerprint: Fingerprint) -> Iterator[Sequence[Decoded]]:
    """What the first lines of a log give, line by line."""
    state = decoder.start(path)
    with opened(path) as content:
        lines = islice(_first_lines(content), _HEAD_LINES)
        if hasattr(decoder, "decode_unit"):
            unit = cast("Assembler", decoder).decode_unit(list(islice(lines, _UNIT_LINES)), state, fingerprint)
            yield [event for _, events in unit for event in events]
            return
        for data in lines:
            yield decoder.decode(data, state, fingerprint)


def _first_lines(content: Content) -> Iterator[bytes]:
    """Complete lines from the start on, read in small pieces: most often the first one is enough."""
    content.seek(0)
    pending = b""
    left = _HEAD_BYTES
    while left > 0 and (chunk := content.read(_PIECE_BYTES)):
        left -= len(chunk)
        *whole, pending = (pending + chunk).split(b"\n")
        yield from (line for line in whole if line and not line.isspace())
