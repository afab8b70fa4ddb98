"""What is going on: one screen for a person, one object for a script."""

from typing import Any

import msgspec

from afterword.app.config import Config
from afterword.capture.sweep import StoreView
from afterword.domain.clock import format_rfc3339
from afterword.store import lock
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger
from afterword.store.notes import read_card


class Counts(msgspec.Struct, frozen=True):
    """How much the ledger holds."""

    sessions: int
    items: int
    log: int
    sections: int
    articles: int


def counts(ledger: Ledger) -> Counts:
    one = "SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM item), (SELECT count(*) FROM log),"
    found = ledger.db.execute(
        one + " (SELECT count(*) FROM register WHERE kind = 8 AND forgotten = 0"
        " AND json_extract(value, '$.withdrawn_by') IS NULL)"
    ).fetchone()
    return Counts(*found, articles=0)


def status(config: Config, ledger: Ledger, views: list[StoreView]) -> dict[str, Any]:
    """The fields of `status --json`; what this version does not do yet is null."""
    holder = lock.holder(config.places.state)
    last_us = ledger.meta("last_capture_us")
    dirty = ledger.db.execute("SELECT count(*) FROM session WHERE dirty > 0").fetchone()[0]
    owed = ledger.db.execute("SELECT count(*) FROM text_pending").fetchone()[0]
    unplaced = ledger.db.execute(
        "SELECT count(*) FROM register r LEFT JOIN placed p ON p.key = r.key"
        " WHERE r.kind = 8 AND r.forgotten = 0 AND (p.rev IS NULL OR p.rev < r.rev)"
    ).fetchone()[0]
    vault = config.vault
    return {
        "daemon": {"running": holder is not None, **(holder or {})},
        "vault": {"path": str(vault) if vault else None, "there": bool(vault and read_card(vault))},
        "roots": [
            {
                "harness": view.harness,
                "path": str(root),
                "mode": _mode(ledger, str(root)) if view.reads else "not read yet",
            }
            for view in views
            for root in view.present
        ],
        "last_capture": format_rfc3339(last_us) if isinstance(last_us, int) else None,
        "pending": {"sessions": dirty, "texts": owed, "sections": unplaced},
        "last_compile": None,
        "index": {"semantic": "off"},
        "spend": None,
        "peers": [],
        "ledger": msgspec.to_builtins(counts(ledger)),
    }


def _mode(ledger: Ledger, root: str) -> str:
    found = ledger.meta(f"watch:{root}")
    return found if isinstance(found, str) else "idle"


class SourceSum(msgspec.Struct, frozen=True):
    """One harness in `sources --json`."""

    harness: str
    root: str
    present: bool
    files: int
    sessions: int
    messages: int
    bad_lines: int
    skipped: int
    problem: str | None


def source_sums(ledger: Ledger | None, views: list[StoreView]) -> list[SourceSum]:
    """What every harness has on this machine, and what was read of it."""
    sums = []
    for view in views:
        read = list(sources.every(ledger, view.harness)) if ledger else []
        problems = sorted({f.problem for f in view.found if f.problem} | {s.problem for s in read if s.problem})
        if view.present and not view.reads:
            problems = ["not read yet"]
        elif view.reads and read and not _count(ledger, "membership", view.harness) and not problems:
            problems = ["files were found, but no message in them could be read"]
        sums.append(
            SourceSum(
                harness=view.harness,
                root=":".join(str(root) for root in (view.present or view.roots)),
                present=bool(view.present),
                files=sum(not f.problem for f in view.found),
                sessions=_count(ledger, "session", view.harness),
                messages=_count(ledger, "membership", view.harness),
                bad_lines=sum(s.bad for s in read),
                skipped=sum(s.skipped for s in read) + sum(bool(f.problem) for f in view.found),
                problem="; ".join(problems) or None,
            )
        )
    return sums


def _count(ledger: Ledger | None, what: str, harness: str) -> int:
    if ledger is None:
        return 0
    query = {
        "session": "SELECT count(*) FROM session WHERE harness = ?",
        "membership": "SELECT count(DISTINCT m.item) FROM membership m JOIN session s ON s.row = m.session"
        " JOIN item i ON i.row = m.item WHERE s.harness = ? AND m.state < 2 AND i.kind IN (1, 2)",
    }[what]
    found: int = ledger.db.execute(query, (harness,)).fetchone()[0]
    return found
