"""opencode: databases (two shapes in one file) and JSON trees (two older ones), which stay when a newer one takes over.

A session that is there in several is shown as the newest has it; the ids are the same in all of them.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from afterword.capture.harness import opencode_tables as tables
from afterword.capture.harness import opencode_tree as tree
from afterword.capture.harness import stores
from afterword.domain.events import Decoded, Document, Fingerprint, Found, Opened, Part, Where

name = "opencode"
label = "opencode"

_DATABASE = re.compile(r"opencode(?:-[\w.+-]+)?\.db")
_BACKUP = re.compile(r"backup|\bbak\b|\bold\b|\bcopy\b", re.IGNORECASE)


def roots(where: Where) -> list[Path]:
    """The data folder; and a database that lies elsewhere, as `OPENCODE_DB` says."""
    own = stores.overridden(where, "OPENCODE")
    if own:
        return own
    data = (stores.listed(where, "XDG_DATA_HOME") or [where.home / ".local" / "share"])[0] / "opencode"
    named = where.env.get("OPENCODE_DB", "")
    if not named or named == ":memory:":
        return [data]
    database = data / named
    return [data] if database.parent == data and _DATABASE.fullmatch(database.name) else [data, database]


def sources(root: Path) -> Iterator[Found]:
    """The sessions of the trees, then the databases, the one that was written to last at the end."""
    if root.is_file():
        yield Found(root, "sqlite", authority=tables.ROWS)
        return
    yield from tree.sources(root)
    found = [
        entry
        for entry in stores.entries(root)
        if _DATABASE.fullmatch(entry.name) and not _BACKUP.search(entry.name.removeprefix("opencode"))
    ]
    for entry in stores.oldest_first(found):
        regular = stores.line_log(entry)
        yield regular if regular.problem else Found(Path(entry.path), "sqlite", authority=tables.ROWS)


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:  # noqa: ARG001  # the protocol's
    """The session of a tree's file, or those of a database."""
    if isinstance(opened, Document):
        updated = tree.updated_ms(opened)
        yield Part(tree.session_id(opened), "", changed_us=int(updated * 1000) if updated else None)
    else:
        yield from tables.parts(opened.db)


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:  # noqa: ARG001
    """One session, message by message."""
    if isinstance(opened, Document):
        yield from tree.events(opened)
    else:
        yield from tables.events(opened.db, part)
