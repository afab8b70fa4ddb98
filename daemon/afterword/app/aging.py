"""Which articles may be out of date: files they name changed, another article says otherwise, nobody uses them.

Marks only. What a person confirmed, pinned or gave a status themselves is left as they want it.
"""

import datetime as dt
import logging
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from afterword.compile.folding import rulings_of
from afterword.compile.overlaps import Overlaps
from afterword.domain.articles import Current, key_points
from afterword.domain.clock import SECOND_US, Zones
from afterword.domain.ids import ArticleUid
from afterword.domain.items import Kind
from afterword.redact.redactor import Redactor
from afterword.store.contexts import checkout_of
from afterword.store.ledger import articles, segments, staleness
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.staleness import Mark

_log = logging.getLogger(__name__)
_SINCE: Final = "use_since"
_GIT_S: Final = 10.0
_FILES_SHOWN: Final = 3
_NAMED: Final = re.compile(
    r"[\w@~+-][\w@~+./-]*\.[A-Za-z][\w]{0,9}|(?<![\w.])(?:Makefile|Dockerfile|Justfile)(?![\w.])"
)


class Changed(msgspec.Struct, frozen=True):
    """A file that an article names, and the last local day on which it changed; `path` from its checkout on."""

    path: str
    day: str


def mark(
    ledger: Ledger,
    redactor: Redactor,
    zones: Zones,
    today: str,
    *,
    unused_days: int | None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Look at all live articles once; how many are marked otherwise than before. No transaction may be open.

    `unused_days`: after how many days without use an article is marked; None for never.
    """
    row = [each for each in articles.current(ledger) if each.live and not each.edits.pinned]
    before = staleness.every(ledger)
    since = ledger.meta(_SINCE)
    if not isinstance(since, str):
        since = today
        with ledger.transaction():
            ledger.set_meta(_SINCE, today)
    old = _contradicted(ledger, row)
    files = Files(ledger, zones)
    found: dict[ArticleUid, Mark] = {}
    for each in row:
        if stop():
            return 0
        known = before.get(each.uid, Mark())
        now = _mark(each, known, old, files.changed(each), since, today, unused_days)
        if now != known:
            found[each.uid] = now
    if not found:
        return 0
    with ledger.transaction():
        done = staleness.put(ledger, redactor, found)
        ledger.set_meta(articles.OWED, 1)
    return done


def _mark(
    each: Current,
    known: Mark,
    old: Mapping[ArticleUid, ArticleUid],
    changed: Iterable[Changed],
    since: str,
    today: str,
    unused_days: int | None,
) -> Mark:
    updated = each.article.updated
    kept = msgspec.structs.replace(known, why="", day="", detail="", updated=updated)
    if each.uid in old:
        return msgspec.structs.replace(kept, why="contradicted", detail=old[each.uid])
    newer = sorted(
        (one for one in changed if one.day > max(updated, known.confirmed)), key=lambda o: (o.day, o.path), reverse=True
    )
    if newer:
        shown = ", ".join(one.path for one in newer[:_FILES_SHOWN])
        shown += f" and {len(newer) - _FILES_SHOWN} more" if len(newer) > _FILES_SHOWN else ""
        return msgspec.structs.replace(kept, why="files", day=newer[0].day, detail=shown)
    if known.why == "files" and known.holds(updated):
        return known  # another machine saw it, which has that checkout
    last = max(updated, each.use.last, since, known.confirmed)
    if known.why == "unused" and known.holds(updated) and last <= known.day:
        return known
    if unused_days is not None and (dt.date.fromisoformat(today) - _date(last)).days > unused_days:
        return msgspec.structs.replace(kept, why="unused", day=last)
    return kept if known.why else known


def _contradicted(ledger: Ledger, row: Iterable[Current]) -> dict[ArticleUid, ArticleUid]:
    """Earlier article → the later one that says otherwise."""
    found: dict[ArticleUid, ArticleUid] = {}
    overlaps = Overlaps({each.uid: each.article for each in row}, rulings_of(ledger))
    for (later, earlier), _ in overlaps.contradictions():
        found.setdefault(earlier, later)
    return found


class Files:
    """The files that articles name, and when they changed: asked of git once for each checkout, else of the files."""

    def __init__(self, ledger: Ledger, zones: Zones) -> None:
        self._ledger = ledger
        self._zones = zones
        self._checkouts: dict[Path, Path] = {}
        self._commits: dict[Path, dict[str, int] | None] = {}
        self._touched: dict[str, list[str]] = {}

    def changed(self, each: Current) -> Iterator[Changed]:
        """The named files that changed after the article's day, those that are gone included."""
        end_us = self._zones.start_of(_next(each.article.updated)) or 0
        for path in self.named(each):
            at_us = self._last_us(path)
            if at_us is not None and at_us >= end_us:
                root = self._checkout(path.parent)
                shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
                yield Changed(shown, self._zones.day(at_us))

    def named(self, each: Current) -> list[Path]:
        """The files the article names that the sessions it was drawn from read or edited."""
        said = " ".join((*each.article.names, *key_points(each), each.article.details))
        words = {word.rstrip(".").removeprefix("./") for word in _NAMED.findall(said)}
        if not words:
            return []
        touched = {path for key in each.article.sections for path in self._of_section(key)}
        return [
            Path(path)
            for path in sorted(touched)
            if path.startswith("/") and any(path == word or path.endswith(f"/{word}") for word in words)
        ]

    def _of_section(self, key: str) -> list[str]:
        found = segments.section(self._ledger, key)  # type: ignore[arg-type]  # a section's key
        session = found[1].session if found else ""
        if session not in self._touched:
            rows = self._ledger.db.execute(
                "SELECT DISTINCT i.path FROM session s JOIN membership m ON m.session = s.row JOIN item i"
                " ON i.row = m.item WHERE s.id = ? AND i.kind IN (?, ?) AND i.path IS NOT NULL AND m.state < 2",
                (session, Kind.READ, Kind.EDIT),
            )
            self._touched[session] = [path for (path,) in rows]
        return self._touched[session]

    def _checkout(self, folder: Path) -> Path:
        if folder not in self._checkouts:
            try:
                self._checkouts[folder] = _top(folder)
            except (OSError, RuntimeError, ValueError):
                self._checkouts[folder] = folder
        return self._checkouts[folder]

    def _last_us(self, path: Path) -> int | None:
        """When a file changed last, microseconds; None where that is not to be known: it is another machine's, or its
        whole checkout is away."""
        try:
            at_us = path.stat().st_mtime_ns // 1000 if path.is_file() else None
        except OSError:
            return None
        root = self._checkout(path.parent)
        if not root.is_dir():
            return None
        if root not in self._commits:
            self._commits[root] = commits(root) if (root / ".git").exists() else None
        known = self._commits[root]
        if known is None:
            return at_us
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
        committed = known.get(name)
        if at_us is not None and (committed is None or _differs(root, name)):
            # No commit knows it, or somebody is at work on it: then its own time counts. A fresh checkout's does not.
            return at_us if committed is None else max(at_us, committed)
        return committed


def _top(folder: Path) -> Path:
    """The checkout itself that a folder is in, also where that is a worktree, or the nearest folder that is there."""
    at = folder
    while not at.is_dir() and at != at.parent:
        at = at.parent
    real = at.resolve()
    return next((one for one in (real, *real.parents) if (one / ".git").exists()), checkout_of(real))


def commits(root: Path) -> dict[str, int] | None:
    """File → when a commit touched it last, microseconds; None where git cannot say."""
    said = _git(root, "log", "--no-renames", "--name-only", "--format=format:%x00%ct", "-n", "5000")
    if said is None:
        return None
    found: dict[str, int] = {}
    for block in said.split("\0")[1:]:
        at, *names = block.split("\n")
        for name in names:
            if name:
                found.setdefault(name, int(at) * SECOND_US)
    return found


def _differs(root: Path, name: str) -> bool:
    said = _git(root, "status", "--porcelain", "--untracked-files=no", "--", name)
    return bool(said and said.strip())


def _git(root: Path, *words: str) -> str | None:
    """What git prints; None where it is not there, fails, or takes too long. It runs no program of the checkout's."""
    command = ("git", "-c", "core.quotePath=off", "-c", "core.fsmonitor=false", "-C", str(root), *words)
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_GIT_S, check=False, env=env, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        _log.info("git did not say which files changed")
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _next(day: str) -> str:
    return (_date(day) + dt.timedelta(days=1)).isoformat()


def _date(day: str) -> dt.date:
    try:
        return dt.date.fromisoformat(day)
    except ValueError:
        return dt.date.max - dt.timedelta(days=1)
