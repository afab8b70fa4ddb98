"""What is held back from whom: a register for each session and machine that holds it back, so that every machine that
passes things on heeds it. Only who holds something back lets it go.

Held back is what a session says, wherever it stands: its items, its write-up, the articles and lessons that were drawn
from it. When it is let go, all of that is numbered once more, so that machines which have the numbers get the words.
"""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from afterword.domain.registers import Rank
from afterword.redact.redactor import Redactor
from afterword.redact.text import stored
from afterword.store.ledger import entries, registers, sessions
from afterword.store.ledger.entries import Entry, Standing
from afterword.store.ledger.ledger import Ledger, RecordKind

ANYBODY: Final = None
"""Whoever reads a folder: everything that is held back from anyone is held back from them."""
_ALWAYS: Final = frozenset({RecordKind.ORIGIN, RecordKind.TOMBSTONE, RecordKind.HOLD, RecordKind.SETTING})
_NAMES: Final = re.compile(r"\b(?:[0-9a-f]{32}|[slf]-[0-9a-f]{12})\b")


def held(ledger: Ledger, peer: str | None, by: str = "") -> frozenset[str]:
    """The ids of the sessions that are held back from a machine, or from anyone, by one machine or any."""
    found = (
        (register.key.split("/"), register.read(list[str])) for register in registers.every(ledger, RecordKind.HOLD)
    )
    return frozenset(
        session
        for (session, holder), origins in found
        if origins and (peer is None or peer in origins) and by in ("", holder)
    )


def counts(ledger: Ledger) -> dict[str, int]:
    """Origin of a machine → how many sessions are held back from it."""
    found: dict[str, set[str]] = {}
    for register in registers.every(ledger, RecordKind.HOLD):
        for origin in register.read(list[str]):
            found.setdefault(origin, set()).add(register.key.partition("/")[0])
    return {origin: len(ids) for origin, ids in found.items()}


def move(ledger: Ledger, before: str, after: str) -> None:
    """What this machine holds back, under its new origin; inside a transaction."""
    for register in list(registers.every(ledger, RecordKind.HOLD)):
        session, _, holder = register.key.partition("/")
        if holder == before and register.value != "[]":
            registers.put(ledger, RecordKind.HOLD, f"{session}/{after}", register.value, Rank.PERSON)
            registers.put(ledger, RecordKind.HOLD, register.key, stored("[]"), Rank.PERSON)


def by_project(ledger: Ledger, patterns: Iterable[str]) -> dict[str, str]:
    """Session id → project, of the sessions of projects that are meant: a name, or a folder and what is below it; `*`
    stands for anything."""
    wanted = [pattern.rstrip("/") for pattern in patterns if pattern.strip("/")]
    rows = ledger.db.execute("SELECT id, facts FROM session").fetchall() if wanted else []
    found = {}
    for its_id, said in rows:
        facts = msgspec.json.decode(said, type=sessions.SessionFacts)
        if any(_meant(pattern, facts) for pattern in wanted):
            found[its_id] = facts.project
    return found


def _meant(pattern: str, facts: sessions.SessionFacts) -> bool:
    if "/" not in pattern:
        return fnmatchcase(facts.project.casefold(), pattern.casefold())
    places = [place for place in (facts.cwd, facts.root) if place]
    return any(fnmatchcase(place, pattern) or fnmatchcase(place, f"{pattern}/*") for place in places)


def settle(ledger: Ledger, redactor: Redactor, peer: str, patterns: Iterable[str]) -> tuple[int, int]:
    """Hold back from a machine what the settings say, and let go what they say no more.

    Returns:
        How many sessions were held back and let go.
    """
    wanted = set(by_project(ledger, patterns))
    now = set(held(ledger, peer, ledger.origin[0]))
    fresh, over = wanted - now, now - wanted
    if not fresh and not over:
        return 0, 0
    with ledger.transaction(durable=True):
        again = list(_withheld(ledger, Sieve(ledger, frozenset(over)))) if over else []
        for its_id in sorted(fresh | over):
            _put(ledger, redactor, its_id, peer, holds=its_id in fresh)
        still = Sieve(ledger, held(ledger, peer))
        for entry, standing, ref, kind in again:
            if not still.holds(entry, standing):
                ledger.number_again(kind, ref, entry.rev, standing.by)
    return len(fresh), len(over)


def _put(ledger: Ledger, redactor: Redactor, its_id: str, peer: str, *, holds: bool) -> None:
    key = f"{its_id}/{ledger.origin[0]}"
    before = registers.get(ledger, RecordKind.HOLD, key)
    origins = set(before.read(list[str])) if before else set()
    origins = origins | {peer} if holds else origins - {peer}
    registers.put(ledger, RecordKind.HOLD, key, redactor.document(sorted(origins), plain=("",)), Rank.PERSON)


def _withheld(ledger: Ledger, sieve: "Sieve") -> Iterator[tuple[Entry, Standing, int, RecordKind]]:
    """Everything with words in it that is held back, once."""
    seen = set()
    for row in ledger.origins():
        for entry, standing in entries.standing(ledger, row, 1, ledger.head(row)):
            kind = entries.KINDS[entry.kind]
            if standing is None or entry.body is None or not sieve.holds(entry, standing):
                continue
            if (kind, entry.key) not in seen:
                seen.add((kind, entry.key))
                yield entry, standing, entries.ref_of(ledger, kind, entry.key), kind


class Sieve:
    """What is not sent while some sessions are held back."""

    def __init__(self, ledger: Ledger, sessions_held: frozenset[str]) -> None:
        self._sessions = sessions_held
        self._names: set[str] = set(sessions_held)
        self._projects: set[str] = set()
        if not sessions_held:
            return
        rows = ledger.db.execute(
            "SELECT key, json_extract(value, '$.session') FROM register WHERE kind = ?", (RecordKind.DIGEST,)
        )
        self._names |= {key for key, session in rows if session in sessions_held}
        for its_id in sessions_held:
            head = sessions.head(ledger, its_id)
            if head is not None and head.facts.project:
                self._projects.add(head.facts.project)
        # A fact is held back with the lessons it comes to, wherever they say that they come from.
        for kind in (RecordKind.LESSON, RecordKind.FACT):
            for register in registers.every(ledger, kind):
                if self._mentions(register.value.encode()):
                    self._names.add(register.key.partition("/")[0])

    def holds(self, entry: Entry, standing: Standing | None) -> bool:
        """Whether a record is held back."""
        kind = entries.KINDS[entry.kind]
        if not self._sessions or kind in _ALWAYS:
            return False
        if kind is RecordKind.MEMBERSHIP or kind is RecordKind.SESSION:
            return entry.key.partition("/")[0] in self._sessions
        if kind is RecordKind.ITEM:
            return standing is not None and bool(self._sessions.intersection(standing.sessions))
        if entry.key.partition("/")[0] in self._names:
            return True
        return entry.body is not None and self._mentions(entry.body)

    def _mentions(self, body: bytes) -> bool:
        text = body.decode()
        if not self._names.isdisjoint(_NAMES.findall(text)):
            return True
        return any(f'"project":{msgspec.json.encode(project).decode()}' in text for project in self._projects)
