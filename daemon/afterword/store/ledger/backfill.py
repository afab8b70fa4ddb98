"""What of the past an engine has not written up yet, and how far taking it through that engine has come."""

from typing import Any, Final

import msgspec

from afterword.domain.ids import SegmentKey
from afterword.domain.items import PROSE_KINDS
from afterword.redact.redactor import Redactor
from afterword.store.ledger import articles, section_edits
from afterword.store.ledger.ledger import Ledger, RecordKind

ASKED: Final = "backfill"
"""The small fact that a person asked for the past to be taken through the model: `Asked` as JSON, or nothing."""
_SAID_CHARS: Final = 60_000
_OTHER_CHARS: Final = 6_000


class Segment(msgspec.Struct, frozen=True):
    """A section to be written up again; `chars` of its items would be sent."""

    key: SegmentKey
    chars: int


class Day(msgspec.Struct, frozen=True):
    """A day with something left to do: segments to be written up, and whether its articles are still another
    engine's, or older than its sections. `digest_bytes` is how much its sections say by now."""

    day: str
    segments: tuple[Segment, ...]
    articles: bool
    digest_bytes: int


class Asked(msgspec.Struct, frozen=True):
    """A backfill that a person asked for and that is not over. `sections` and `days` are how many there were to write
    up; the daemon goes on with it from `until_us` on, also where a kill left it. `reason` says why it waits."""

    sections: int
    days: int
    until_us: int
    reason: str = ""
    failed: tuple[tuple[str, str], ...] = ()
    """(day or section, a word for why) of what was tried and did not work out."""


def left(ledger: Ledger, engine: str) -> list[Day]:
    """The days on which something was not written up by this engine, oldest first."""
    rows: dict[str, list[Segment]] = {}
    for key, day, chars in ledger.db.execute(_SEGMENTS, (engine,)):
        rows.setdefault(day, []).append(Segment(SegmentKey(key), chars))
    edited = section_edits.revs(ledger)
    sizes: dict[str, int] = {}
    now: dict[str, set[tuple[str, int]]] = {}
    for key, rev, day, size in ledger.db.execute(_SECTIONS):
        sizes[day] = sizes.get(day, 0) + size
        now.setdefault(day, set()).add((key, rev + edited.get(SegmentKey(key), 0)))
    built = {day: record for day, (_, record) in articles.builds(ledger).items() if record.engine == engine}
    due = {day for day, sent in now.items() if day not in built or set(built[day].sent) != sent}
    return [Day(day, tuple(rows.get(day, ())), day in due, sizes[day]) for day in sorted(due | rows.keys())]


_PROSE: Final = ",".join(str(int(kind)) for kind in sorted(PROSE_KINDS))
_LIVE: Final = (
    f"s.kind = {int(RecordKind.SECTION)} AND s.forgotten = 0 AND json_extract(s.value, '$.withdrawn_by') IS NULL"
)
# A digest of another machine is that machine's to write again: it has the session and pays for it. One of this machine
# under an earlier name (its home was copied, a backup put back) is its own: it reads the session.
_SEGMENTS: Final = f"""
SELECT s.key, json_extract(s.value, '$.day'),
  coalesce((SELECT sum(min(i.chars, CASE WHEN i.kind IN ({_PROSE}) THEN {_SAID_CHARS} ELSE {_OTHER_CHARS} END))
    FROM derivation f JOIN item i ON i.row = f.src
    WHERE f.dst_kind = {int(RecordKind.DIGEST)} AND f.dst = d.row AND f.src_kind = {int(RecordKind.ITEM)}), 0)
FROM register s JOIN register d ON d.kind = {int(RecordKind.DIGEST)} AND d.key = s.key
  AND d.forgotten = 0 AND (d.origin = 1 OR EXISTS (
    SELECT 1 FROM session x JOIN membership m ON m.session = x.row JOIN shown h ON h.membership = m.row
    WHERE x.id = json_extract(s.value, '$.session')))
WHERE {_LIVE} AND json_extract(d.value, '$.engine') <> ?
ORDER BY json_extract(s.value, '$.day'), json_extract(s.value, '$.start_us'), s.key
"""
_SECTIONS: Final = f"SELECT s.key, s.rev, json_extract(s.value, '$.day'), length(s.value) FROM register s WHERE {_LIVE}"


def asked(ledger: Ledger) -> Asked | None:
    """The backfill that is under way or waits to go on."""
    found = ledger.meta(ASKED)
    return msgspec.json.decode(found.encode(), type=Asked) if isinstance(found, str) and found else None


def note(ledger: Ledger, redactor: Redactor, what: Asked | None) -> None:
    """Remember how far it is, or with None that there is none."""
    if what is None and not ledger.meta(ASKED):
        return
    said: Any = "" if what is None else redactor.document(msgspec.to_builtins(what))
    with ledger.transaction():
        ledger.set_meta(ASKED, said)
