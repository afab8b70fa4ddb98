"""What is going on: one screen for a person, one object for a script."""

from typing import Any

import msgspec

from afterword.app.config import Config
from afterword.app.indexing import index_status
from afterword.capture.sweep import StoreView
from afterword.domain.clock import format_rfc3339
from afterword.store import lock
from afterword.store.ledger import article_files, jobs, sources, views
from afterword.store.ledger.ledger import Ledger
from afterword.store.notes import read_card


def status(config: Config, ledger: Ledger, stores: list[StoreView]) -> dict[str, Any]:
    """The fields of `status --json`; what this version does not do yet is null."""
    holder = lock.holder(config.places.state)
    last_us = ledger.meta("last_capture_us")
    compiled_us = ledger.meta("last_compile_us")
    vault = config.vault
    return {
        "daemon": {"running": holder is not None, **(holder or {})},
        "vault": {"path": str(vault) if vault else None, "there": bool(vault and read_card(vault))},
        "roots": [
            {
                "harness": view.harness,
                "path": str(root),
                "mode": _mode(ledger, str(root), running=holder is not None) if view.reads else "not read yet",
            }
            for view in stores
            for root in view.present
        ],
        "last_capture": format_rfc3339(last_us) if isinstance(last_us, int) else None,
        "pending": msgspec.to_builtins(views.pending(ledger)),
        "jobs": {
            "waiting": jobs.waiting(ledger),
            "failed": [
                {"name": job.name, "error": msgspec.json.decode(job.error.encode()).get("message")}
                for job in jobs.failures(ledger)
            ],
        },
        "last_compile": format_rfc3339(compiled_us) if isinstance(compiled_us, int) else None,
        "in_question": [path for _, path, state in article_files.places(ledger) if state == "question"],
        "index": index_status(config, ledger),
        "spend": None,
        "peers": [],
        "ledger": msgspec.to_builtins(views.counts(ledger)),
    }


def _mode(ledger: Ledger, root: str, *, running: bool) -> str:
    found = ledger.meta(f"watch:{root}") if running else None
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


def source_sums(ledger: Ledger | None, stores: list[StoreView]) -> list[SourceSum]:
    """What every harness has on this machine, and what was read of it."""
    sums = []
    for view in stores:
        read = list(sources.every(ledger, view.harness)) if ledger else []
        messages = views.message_count(ledger, view.harness) if ledger else 0
        problems = sorted({f.problem for f in view.found if f.problem} | {s.problem for s in read if s.problem})
        if view.present and not view.reads:
            problems = ["not read yet"]
        elif view.reads and read and not messages and not problems:
            problems = ["files were found, but no message in them could be read"]
        sums.append(
            SourceSum(
                harness=view.harness,
                root=":".join(str(root) for root in (view.present or view.roots)),
                present=bool(view.present),
                files=sum(not f.problem for f in view.found),
                sessions=views.session_count(ledger, view.harness) if ledger else 0,
                messages=messages,
                bad_lines=sum(s.bad for s in read),
                skipped=sum(s.skipped for s in read) + sum(bool(f.problem) for f in view.found),
                problem="; ".join(problems) or None,
            )
        )
    return sums
