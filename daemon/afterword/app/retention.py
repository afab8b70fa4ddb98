"""What agents will delete of their own soon, and whether all of it was taken in."""

from datetime import timedelta
from pathlib import Path

import msgspec

from afterword.capture.harness import claude_stores
from afterword.capture.stores import StoreView
from afterword.capture.tail.content import log_name
from afterword.store.ledger import sources
from afterword.store.ledger.ledger import Ledger

SOON_DAYS = 14


class Leaving(msgspec.Struct, frozen=True):
    """What of a store its agent deletes within `SOON_DAYS`; `unread` is how many of the `files` were not read whole."""

    root: Path
    days: int
    files: int
    unread: int


def leaving(ledger: Ledger | None, views: list[StoreView], now_us: int) -> list[Leaving]:
    """Every store of an agent that deletes its transcripts after some days."""
    found = []
    for view in views:
        if view.harness != "claude-code":
            continue
        for root in view.present:
            days = claude_stores.kept_days(root)
            if days is None:
                continue
            border_us = now_us - int(timedelta(days=days - SOON_DAYS) / timedelta(microseconds=1))
            files = unread = 0
            for each in view.found:
                if each.problem or not each.path.is_relative_to(root):
                    continue
                try:
                    at = each.path.stat()
                except OSError:
                    continue
                if at.st_mtime_ns // 1000 > border_us:
                    continue
                files += 1
                unread += not _read(ledger, view.harness, each.path, at.st_size)
            found.append(Leaving(root, days, files, unread))
    return found


def _read(ledger: Ledger | None, harness: str, path: Path, size: int) -> bool:
    if ledger is None:
        return False
    source = sources.find(ledger, sources.path_key(ledger, harness, log_name(path)))
    return source is not None and source.at.size == size and not source.problem
