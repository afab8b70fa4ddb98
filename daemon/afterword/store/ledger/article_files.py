"""Articles as files of this machine's vault, as last seen and as last written; nothing of it leaves the machine."""

from collections.abc import Iterator

import msgspec

from afterword.domain.article_note import Written
from afterword.domain.ids import ArticleUid
from afterword.redact.redactor import Redactor
from afterword.store.ledger.ledger import Ledger

Stat = tuple[int, int, int]
"""Size, mtime in nanoseconds, inode."""
UNSEEN: Stat = (-1, 0, 0)


class ArticleFile(msgspec.Struct, frozen=True):
    """Where an article lies. `made` names what it was rendered from; `state` is empty, `question` (it vanished with too
    many others), `odd` (its front matter cannot be read) or `deleted` (what we wrote there is still known)."""

    uid: ArticleUid
    path: str
    at: Stat
    made: str
    written: Written
    plan: str
    looks: int
    state: str


class Planned(msgspec.Struct, frozen=True):
    """A write that is not confirmed: where, what the bytes hash to, and what is ours of them."""

    path: str
    digest: str
    made: str
    written: Written


_COLUMNS = "uid, path, size, mtime_ns, inode, made, fields, parts, plan, looks, state"


def every(ledger: Ledger) -> dict[ArticleUid, ArticleFile]:
    """Every article's file by uid."""
    rows = ledger.db.execute(f"SELECT {_COLUMNS} FROM article_file ORDER BY uid")
    return {file.uid: file for file in map(_file, rows)}


def places(ledger: Ledger) -> list[tuple[str, str, str]]:
    """(uid, path, state) of every article's file: quick to ask, and changes when one comes, goes or moves."""
    return ledger.db.execute("SELECT uid, path, state FROM article_file ORDER BY uid").fetchall()


def _file(row: tuple[str, str, int, int, int, str, str, str, str, int, str]) -> ArticleFile:
    uid, path, size, mtime_ns, inode, made, fields, parts, plan, looks, state = row
    written = Written(
        msgspec.json.decode(fields, type=dict[str, str | list[str]]), msgspec.json.decode(parts, type=dict[str, str])
    )
    return ArticleFile(ArticleUid(uid), path, (size, mtime_ns, inode), made, written, plan, looks, state)


def save(ledger: Ledger, redactor: Redactor, file: ArticleFile) -> None:
    """Store what is known of a file; inside a transaction."""
    ledger.db.execute(
        f"INSERT INTO article_file ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (uid) DO UPDATE SET path = excluded.path, size = excluded.size, mtime_ns = excluded.mtime_ns,"
        " inode = excluded.inode, made = excluded.made, fields = excluded.fields, parts = excluded.parts,"
        " plan = excluded.plan, looks = excluded.looks, state = excluded.state",
        (
            file.uid, redactor.redact(file.path), *file.at, file.made,
            redactor.document(msgspec.to_builtins(file.written.fields)),
            msgspec.json.encode(file.written.parts).decode(), file.plan, file.looks, file.state,
        ),
    )  # fmt: skip


def drop(ledger: Ledger, uid: ArticleUid) -> None:
    """Forget a file; inside a transaction."""
    ledger.db.execute("DELETE FROM article_file WHERE uid = ?", (uid,))


def others(ledger: Ledger) -> Iterator[tuple[str, Stat, str]]:
    """(path, stat, uid it claims) of files that are no article of ours."""
    for path, size, mtime_ns, inode, uid in ledger.db.execute(
        "SELECT path, size, mtime_ns, inode, uid FROM other_file ORDER BY path"
    ):
        yield path, (size, mtime_ns, inode), uid


def set_others(ledger: Ledger, redactor: Redactor, found: dict[str, tuple[Stat, str]]) -> None:
    """Remember the files that are not ours; inside a transaction."""
    ledger.db.execute("DELETE FROM other_file")
    ledger.db.executemany(
        "INSERT INTO other_file VALUES (?, ?, ?, ?, ?)",
        [(redactor.redact(path), *at, uid) for path, (at, uid) in sorted(found.items())],
    )
