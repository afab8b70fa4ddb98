"""`blame`: which sessions touched a file, and what was decided and learned in them."""

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from afterword.app.retracted import Retractions
from afterword.domain.clock import format_rfc3339
from afterword.domain.digest import Digest
from afterword.domain.ids import SegmentKey
from afterword.domain.items import Kind
from afterword.domain.section_edits import laid_over
from afterword.index.narrowing import Filters
from afterword.store.ledger import section_edits, segments, sessions, touched, views
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.sessions import Head
from afterword.store.ledger.touched import Touch

LIMIT = 10
_MOST_POINTS = 4
_EVERY = Filters()


class Touched(msgspec.Struct, frozen=True):
    """A session that touched the file, with what its write-up says. Times are UTC microseconds."""

    session: Head
    path: str
    edits: int
    reads: int
    first_us: int
    last_us: int
    decisions: tuple[str, ...]
    lessons: tuple[str, ...]
    written_in: tuple[str, str] | None
    """(path in the vault, block) of the section it was written up in."""


class Blame(msgspec.Struct, frozen=True):
    """The newest sessions first, `total` of them in all. `paths` are the files they touched, as far as known."""

    sessions: list[Touched]
    total: int
    paths: list[str]


def blame(
    ledger: Ledger,
    path: str,
    folder: str,
    *,
    reads: bool = False,
    limit: int = LIMIT,
    page: int = 1,
    filters: Filters = _EVERY,
) -> Blame:
    """Which sessions edited `path` (with `reads` also: read it); `limit` sessions a page.

    `path` is taken from `folder` first. When nothing touched that very file, every file whose path ends so counts: a
    checkout elsewhere, a folder that was moved.
    """
    wanted = posixpath.normpath(path.replace("\\", "/"))
    whole = posixpath.normpath(posixpath.join(folder.replace(os.sep, "/"), wanted))
    end = "/" + wanted.lstrip("/").removeprefix("../")
    found = [
        touch
        for touch in touched.named(ledger, posixpath.basename(wanted))
        if (reads or touch.kind is Kind.EDIT)
        and (filters.since_us is None or touch.time_us >= filters.since_us)
        and (filters.until_us is None or touch.time_us < filters.until_us)
        and (touch.path == whole or f"/{touch.path}".endswith(end))
    ]
    found = [touch for touch in found if touch.path == whole] or found
    by_session: dict[int, list[Touch]] = defaultdict(list)
    for touch in found:
        by_session[touch.session].append(touch)
    newest = sorted(by_session, key=lambda row: (-by_session[row][-1].time_us, row))
    if filters.project or filters.harness:
        every = sessions.heads(ledger, newest)
        newest = [row for row in newest if _fits(every[row], filters)]
    shown = newest[(page - 1) * limit : page * limit]
    heads = sessions.heads(ledger, shown)
    return Blame(
        [_touched(ledger, heads[row], by_session[row]) for row in shown],
        len(newest),
        sorted({touch.path for touch in found}),
    )


def _fits(session: Head, filters: Filters) -> bool:
    return filters.project in (None, session.facts.project) and filters.harness in (None, session.harness)


def _touched(ledger: Ledger, session: Head, touches: list[Touch]) -> Touched:
    items = [touch.item for touch in touches]
    keys = touched.sections_of(ledger, items)
    digests = {key: digest for key in keys if (digest := _digest(ledger, key))}
    gone = Retractions(ledger)

    def told(part: str) -> Iterator[str]:
        """The points of a part; one that was retracted since says so."""
        for key, digest in digests.items():
            for point in getattr(digest, part):
                said = gone.of_point(key, point.quote, point.text) if gone else None
                yield f"{point.text} ({said.words})" if said else point.text

    return Touched(
        session=session,
        path=touches[-1].path,
        edits=sum(touch.kind is Kind.EDIT for touch in touches),
        reads=sum(touch.kind is Kind.READ for touch in touches),
        first_us=touches[0].time_us,
        last_us=touches[-1].time_us,
        decisions=_first(told("decisions")),
        lessons=_first(told("lessons")),
        written_in=next((place for key in keys if (place := views.placed(ledger, key))), None),
    )


def _digest(ledger: Ledger, key: SegmentKey) -> Digest | None:
    """A section's digest as people left it."""
    found = segments.section(ledger, key)
    return laid_over(found[1].digest, section_edits.get(ledger, key))[0] if found else None


def _first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[:_MOST_POINTS]


def as_json_fields(path: str, found: Blame, origins: dict[int, tuple[str, str]]) -> dict[str, Any]:
    """The fields of `blame --json`."""
    return {
        "path": path,
        "total": found.total,
        "paths": found.paths,
        "results": [
            {
                "session": one.session.shown_native,
                "harness": one.session.harness,
                "project": one.session.facts.project,
                "title": one.session.facts.title or None,
                "origin": origins[one.session.origin][1],
                "file": one.path,
                "edits": one.edits,
                "reads": one.reads,
                "first": format_rfc3339(one.first_us),
                "last": format_rfc3339(one.last_us),
                "decisions": list(one.decisions),
                "lessons": list(one.lessons),
                "path": one.written_in[0] if one.written_in else None,
                "block": one.written_in[1] if one.written_in else None,
            }
            for one in found.sessions
        ],
    }
