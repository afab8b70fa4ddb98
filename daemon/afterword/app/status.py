"""What is going on: one screen for a person, one object for a script."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from afterword.app import excluded, sync_status
from afterword.app.config import Config
from afterword.app.indexing import index_status
from afterword.app.reading import zones_of
from afterword.app.spending import spend
from afterword.app.underway import underway
from afterword.capture.stores import StoreView
from afterword.domain.clock import clock_from, format_rfc3339
from afterword.store import lock
from afterword.store.ledger import article_files, drift, jobs, sources, views
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import read_card


def status(config: Config, env: Mapping[str, str], ledger: Ledger, stores: list[StoreView]) -> dict[str, Any]:
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
                "files": sum(not found.problem for found in view.found if found.path.is_relative_to(root)),
                "problem": _problem(ledger, view, root),
            }
            for view in stores
            for root in view.present
        ],
        "last_capture": format_rfc3339(last_us) if isinstance(last_us, int) else None,
        "pending": msgspec.to_builtins(views.pending(ledger)),
        "underway": msgspec.to_builtins(underway(ledger)) if holder is not None else None,
        "jobs": {
            "waiting": jobs.waiting(ledger),
            "failed": [
                {"name": job.name, "error": msgspec.json.decode(job.error.encode()).get("message")}
                for job in jobs.failures(ledger)
            ],
        },
        "last_compile": format_rfc3339(compiled_us) if isinstance(compiled_us, int) else None,
        "excluded": excluded.stored(config, ledger),
        "in_question": [path for _, path, state in article_files.places(ledger) if state == "question"],
        "index": index_status(config, ledger),
        "spend": spend(
            config, env, ledger, zones_of(config, ledger), clock_from(dict(env))(), running=holder is not None
        ),
        "lessons": msgspec.to_builtins(views.learned(ledger)),
        "peers": sync_status.status(config, env, ledger),
        "ledger": msgspec.to_builtins(views.counts(ledger)),
    }


def _mode(ledger: Ledger, root: str, *, running: bool) -> str:
    found = ledger.meta(f"watch:{root}") if running else None
    return found if isinstance(found, str) else "idle"


def _problem(ledger: Ledger, view: StoreView, root: Path) -> str | None:
    """What could not be read in a root."""
    said = {found.problem for found in view.found if found.problem and found.path.is_relative_to(root)}
    said |= {s.problem for s in sources.every(ledger, view.harness) if s.problem and s.path.startswith(str(root))}
    return "; ".join(sorted(said)) or None


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
    drift: list[drift.Drift]
    """Where the agent writes what this version does not know, by the agent's version."""
    problem: str | None


def source_sums(ledger: Ledger | None, stores: list[StoreView]) -> list[SourceSum]:
    """What every harness has on this machine, and what was read of it."""
    sums = []
    odd = drift.report(ledger) if ledger else []
    for view in stores:
        read = list(sources.every(ledger, view.harness)) if ledger else []
        messages = views.message_count(ledger, view.harness) if ledger else 0
        bad, left_out = sources.unread(ledger, view.harness) if ledger else (0, 0)
        problems = sorted({f.problem for f in view.found if f.problem} | {s.problem for s in read if s.problem})
        if view.present and not view.reads:
            problems = ["not read yet"]
        elif ledger and view.reads and not messages and not problems and sources.hold_talk(ledger, view.harness):
            problems = ["files were found, but no message in them could be read"]
        drifted = [one for one in odd if one.harness == view.harness]
        problems += [words for one in drifted for words in drift_words(one)]
        sums.append(
            SourceSum(
                harness=view.harness,
                root=":".join(str(root) for root in (view.present or view.roots)),
                present=bool(view.present),
                files=sum(not f.problem for f in view.found),
                sessions=views.session_count(ledger, view.harness) if ledger else 0,
                messages=messages,
                bad_lines=bad,
                skipped=left_out + sum(bool(f.problem) for f in view.found),
                drift=drifted,
                problem="; ".join(problems) or None,
            )
        )
    return sums


def drift_words(one: drift.Drift) -> list[str]:
    """What is odd about a version of an agent, one sentence each."""
    version = f"version {one.version}" if one.version else "an unnamed version"
    words = []
    if one.unknown:
        kinds = ", ".join(f"{name} ({amount:,})" for name, amount in list(one.unknown.items())[:5])
        more = f" and {len(one.unknown) - 5} more" if len(one.unknown) > 5 else ""
        words.append(f"{version} writes records of an unknown type: {kinds}{more}")
    if one.silent:
        files = "one file" if one.silent == 1 else f"{one.silent:,} files"
        words.append(f"{version}: {files}, but no message in them could be read")
    return words
