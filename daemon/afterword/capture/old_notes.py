"""A folder of dated notes that we did not write, read like an agent's store: a note is a session, a block an item.

It is read when a person says so (`backfill FOLDER`), never watched. A note keeps the id it got at first sight, also
when its file is moved; what is taken out of it is abandoned, and a note that is gone takes nothing with it.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from afterword.domain import old_notes
from afterword.domain.daily import spans
from afterword.domain.events import Decoded, Document, Facts, Fingerprint, Found, Item, Opened, Part, Where
from afterword.domain.items import Kind, SaidBy
from afterword.store.matter import read_matter

_ID: Final = ".id"
_MOST: Final = 400
"""Blocks of one note that are taken."""
_NOON_US: Final = 12 * 3_600_000_000
_OURS: Final = b"%% afterword"
_LINK: Final = re.compile(rb"^ {0,3}%% afterword-link [^\n]*%%[ \t]*\r?\n[^\n]*$", re.MULTILINE)
"""Where a session went on in another day's note: our mark, and the line below it."""


class OldNotes:
    """The reader of such a folder; a `PartsReader`. `start_of` gives when a local day begins, UTC microseconds."""

    name = old_notes.NAME
    label = "Notes of your own"

    def __init__(self, root: Path, start_of: Callable[[str], int | None]) -> None:
        self._root = root
        self._start_of = start_of
        self.undated: list[str] = []
        """Names of files that are of no day; they are left out."""
        self.ours = 0
        """Files that we wrote ourselves."""

    def roots(self, where: Where) -> list[Path]:
        """The folder alone."""
        del where
        return [self._root]

    def sources(self, root: Path) -> Iterator[Found]:
        """Every dated Markdown file below the folder that holds something that is not ours, by path."""
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(folder, name)
                if not name.endswith(".md") or name.startswith(".") or path.is_symlink() or not path.is_file():
                    continue
                try:
                    data = path.read_bytes()
                except OSError as err:
                    yield Found(path, "none", err.strerror or str(err))
                    continue
                if not _theirs(data):
                    self.ours += 1
                elif self._day(path, data) is None:
                    self.undated.append(path.relative_to(root).as_posix())
                else:
                    yield Found(path, "document")

    def parts(self, opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:
        """The note's id, then the note."""
        assert isinstance(opened, Document)
        day = self._day(opened.path, opened.data)
        if day is None or not _theirs(opened.data):
            return
        its_id = known.get(_ID) or f"{day}-{_short(opened.path.relative_to(self._root).as_posix())}"
        yield Part(_ID, its_id)
        yield Part(its_id, opened.fingerprint(f"{day}\n{_text(opened.data)}"))

    def events(self, opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
        """The note's blocks, after its name."""
        del fingerprint
        assert isinstance(opened, Document)
        day = self._day(opened.path, opened.data)
        start_us = self._start_of(day) if day else None
        if part.name == _ID or start_us is None:
            return
        noon_us = start_us + _NOON_US
        session, title = part.name, opened.path.stem
        yield [Facts(session, folder=self._root.name, title=title, title_rank=4, started_us=noon_us)]
        yield [Item(session, (session, "name", 0), Kind.PROMPT, title, noon_us, SaidBy.PERSON, positional=True)]
        for n, block in enumerate(old_notes.blocks(_text(opened.data))[:_MOST]):
            kind = Kind.READ if block.code else Kind.REPLY
            key = (session, "block", n)
            yield [Item(session, key, kind, block.text, noon_us, SaidBy.PERSON, positional=True)]

    def _day(self, path: Path, data: bytes) -> str | None:
        day = old_notes.day_of(path.name, read_matter(data) or {})
        return day if day and self._start_of(day) is not None else None


def _theirs(data: bytes) -> str:
    """What in a note is not ours; nothing of an article."""
    if b"\nuid:" in data[:4096] and str((read_matter(data) or {}).get("uid", ""))[:2] in ("a-", "l-", "t-"):
        return ""
    text = _text(data)
    if _OURS not in data:
        return text
    # Only headings are left of a day that nobody but us wrote into.
    return text if any(not block.heading for block in old_notes.blocks(text)) else ""


def _text(data: bytes) -> str:
    """The note without the sections that we appended to it."""
    if _OURS in data:
        for span in reversed(spans(data)):
            data = data[: span.start] + data[span.end :]
        data = _LINK.sub(b"", data)
    return data.decode("utf-8", "replace")


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
