"""Entries, topics and agents' files as files of this machine's vault: where they lie, and which bytes in them are ours.

Of what we wrote only keyed hashes are kept, of the whole and of each line: with them a line that somebody else wrote is
told from ours. Nothing of it leaves the machine.
"""

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

from afterword.domain.article_note import Fields
from afterword.redact.redactor import Redactor
from afterword.store.ledger.ledger import Ledger

Stat: TypeAlias = tuple[int, int, int]
"""Size, mtime in nanoseconds, inode."""
UNSEEN: Final[Stat] = (-1, 0, 0)
AGENT: Final = "agent/"
"""What the key of an agent's file begins with; those of entries and topics are their uids."""
FRESH: Final = "+"
"""Before the mark of a line that was not there before our last write: whoever saves an older copy of the file did not
take it out."""
_FACT: Final = re.compile(r"\^(f-[0-9a-f]{12})$")
_COLUMNS: Final = "key, path, size, mtime_ns, inode, made, plan, fields, lines, looks, state"


class LessonFile(msgspec.Struct, frozen=True):
    """A file. `made` is the keyed hash of its bytes as we wrote or last took them in, `plan` of bytes on their way;
    `lines` are hashes of the lines that are ours. `state` is empty, `question` (vanished with too many others), `bad`
    (somebody made it unreadable) or `gone` (a person took it away)."""

    key: str
    path: str
    at: Stat = UNSEEN
    made: str = ""
    plan: str = ""
    fields: Fields = {}
    lines: tuple[str, ...] = ()
    looks: int = 0
    state: str = ""


def every(ledger: Ledger) -> dict[str, LessonFile]:
    """Every file by its key."""
    rows = ledger.db.execute(f"SELECT {_COLUMNS} FROM lesson_file ORDER BY key")
    return {file.key: file for file in map(_file, rows)}


def get(ledger: Ledger, key: str) -> LessonFile | None:
    """One file."""
    found = ledger.db.execute(f"SELECT {_COLUMNS} FROM lesson_file WHERE key = ?", (key,)).fetchone()
    return _file(found) if found else None


def save(ledger: Ledger, redactor: Redactor, file: LessonFile) -> None:
    """Store what is known of a file; inside a transaction."""
    ledger.db.execute(
        f"INSERT OR REPLACE INTO lesson_file ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            file.key, redactor.redact(file.path), *file.at, file.made, file.plan,
            redactor.document(msgspec.to_builtins(file.fields)), " ".join(file.lines), file.looks, file.state,
        ),
    )  # fmt: skip


def drop(ledger: Ledger, keys: Iterable[str]) -> None:
    """Know nothing of these files any more; inside a transaction."""
    ledger.db.executemany("DELETE FROM lesson_file WHERE key = ?", [(key,) for key in keys])


def line_hash(ledger: Ledger, line: str) -> str:
    """What a line of ours is known by; white space at its end does not count."""
    return ledger.keyed_hash(b"lesson line\0" + line.rstrip().encode("utf-8", "surrogatepass"), 8).hex()


def lines_of(ledger: Ledger, note: bytes) -> tuple[str, ...]:
    """The marks of a note's lines that say something: a hash, behind the id of the fact where there is one."""
    found: dict[str, None] = {}
    for line in note.decode("utf-8", "surrogateescape").split("\n"):
        if line.strip():
            its_id = _FACT.search(line.rstrip())
            found[(f"{its_id[1]}=" if its_id else "") + line_hash(ledger, line)] = None
    return tuple(found)


def hashes(file: LessonFile) -> frozenset[str]:
    """The hashes of a file's lines that are ours."""
    return frozenset(map(hash_of, file.lines))


def hash_of(mark: str) -> str:
    """The hash in a mark."""
    return mark.removeprefix(FRESH).rpartition("=")[2]


def facts_in(file: LessonFile, *, settled: bool = False) -> frozenset[str]:
    """The ids of the facts that we wrote into a file; without those that were written just now, if `settled`."""
    marks = [mark for mark in file.lines if "=" in mark and not (settled and mark.startswith(FRESH))]
    return frozenset(mark.removeprefix(FRESH).partition("=")[0] for mark in marks)


def kept(file: LessonFile, marks: Iterable[str]) -> tuple[str, ...]:
    """Of the marks of a note as it is now those that are ours, fresh where they were."""
    known = {hash_of(mark): mark for mark in file.lines}
    return tuple(known[hash_of(mark)] for mark in marks if hash_of(mark) in known)


def bytes_hash(ledger: Ledger, note: bytes) -> str:
    """What a file's bytes are known by."""
    return ledger.keyed_hash(b"lesson file\0" + note, 16).hex()


def _file(row: tuple[str, str, int, int, int, str, str, str, str, int, str]) -> LessonFile:
    key, path, size, mtime_ns, inode, made, plan, fields, lines, looks, state = row
    known = msgspec.json.decode(fields, type=dict[str, str | list[str]])
    return LessonFile(key, path, (size, mtime_ns, inode), made, plan, known, tuple(lines.split()), looks, state)
