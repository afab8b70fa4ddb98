"""How formats drift: record types nobody knows, and versions of an agent of which files but no messages were read."""

import msgspec

from afterword.domain.items import PROSE_KINDS
from afterword.redact.text import Redacted
from afterword.store.ledger.ledger import Ledger

_LINES_MIN = 10
"""Fewer lines than this without a message are an agent that was started and left again."""


class Drift(msgspec.Struct, frozen=True):
    """What is odd about one version of an agent; `version` is "" where nothing told it.

    `unknown` is record type → how many, `silent` how many files there are when no message was read of any of them.
    """

    harness: str
    version: str
    unknown: dict[str, int]
    silent: int


def written_by(ledger: Ledger, source: int, version: Redacted) -> None:
    """Say that this version of the agent wrote in a source; inside a transaction."""
    ledger.db.execute("INSERT OR IGNORE INTO written_by VALUES (?, ?)", (source, version))


def count(ledger: Ledger, source: int, version: Redacted, record_type: Redacted, amount: int) -> None:
    """Count records of a type nobody knows; inside a transaction."""
    ledger.db.execute(
        "INSERT INTO drift VALUES (?, ?, ?, ?) ON CONFLICT (source, version, record_type)"
        " DO UPDATE SET count = count + excluded.count",
        (source, version, record_type, amount),
    )


def reset(ledger: Ledger, source: int) -> None:
    """Forget what was counted of a source that is read again; inside a transaction."""
    ledger.db.execute("DELETE FROM drift WHERE source = ?", (source,))
    ledger.db.execute("DELETE FROM written_by WHERE source = ?", (source,))


def report(ledger: Ledger) -> list[Drift]:
    """What is odd, by harness and version."""
    unknown: dict[tuple[str, str], dict[str, int]] = {}
    rows = ledger.db.execute(
        "SELECT s.harness, d.version, d.record_type, sum(d.count) FROM drift d JOIN source s ON s.row = d.source"
        " GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3"
    )
    for harness, version, record_type, amount in rows:
        unknown.setdefault((harness, version), {})[record_type] = amount
    silent = _silent(ledger)
    return [
        Drift(harness, version, unknown.get((harness, version), {}), silent.get((harness, version), 0))
        for harness, version in sorted(unknown.keys() | silent.keys())
    ]


def _silent(ledger: Ledger) -> dict[tuple[str, str], int]:
    """(harness, version) → files, of versions that wrote files but, as far as we can read them, no message."""
    kinds = ",".join(str(int(kind)) for kind in sorted(PROSE_KINDS))
    rows = ledger.db.execute(
        "SELECT s.harness, w.version, count(*), max(s.lines) FROM written_by w JOIN source s ON s.row = w.source"
        " GROUP BY 1, 2 HAVING NOT max(EXISTS (SELECT 1 FROM shown h JOIN membership m ON m.row = h.membership"
        f" JOIN item i ON i.row = m.item WHERE h.source = s.row AND i.kind IN ({kinds})))"
    )
    return {(harness, version): files for harness, version, files, lines in rows if lines >= _LINES_MIN}
