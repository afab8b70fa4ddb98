"""An agent of the tests whose conversations lie in documents or databases, and a ledger that reads them."""

import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from writer import NOW_US, REDACTOR

from afterword.capture import database, parts
from afterword.capture.linelog import Tools
from afterword.capture.taking import Recall
from afterword.domain.events import (
    BadLine,
    Database,
    Decoded,
    Document,
    Facts,
    Fingerprint,
    Found,
    Item,
    Opened,
    Part,
    Unreadable,
    Where,
)
from afterword.domain.items import Kind, SaidBy
from afterword.store.ledger import sessions, sources, views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import Ledger, open_writer


class Talk(msgspec.Struct):
    """What a document of the tests holds of one conversation."""

    name: str
    said: list[str]
    undone: int = 99
    keys: str = ""
    """What tells the keys of this talk's items from those of the same talk elsewhere."""
    title: str = ""
    authority: int | None = None


def time_of(text: str) -> int | None:
    """Some texts come without a time, some with one that cannot be."""
    if text.endswith("~"):
        return None
    return 1_000 if text.endswith("!") else NOW_US - 10**9 + zlib.crc32(text.encode()) % 10**8


class Talks:
    """An agent of the tests: a table `said(session, n, text)`, or a JSON list of talks."""

    name = "talks"
    label = "Talks"

    def __init__(self, *, versions: bool = True) -> None:
        self.versions = versions
        self.asked: list[str] = []

    def roots(self, where: Where) -> list[Path]:
        return [where.home]

    def sources(self, root: Path) -> Iterator[Found]:
        return (Found(path, "sqlite" if path.suffix == ".db" else "document") for path in sorted(root.iterdir()))

    def parts(self, opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:
        for talk in self._talks(opened):
            version = hashlib.sha256(msgspec.json.encode(talk)).hexdigest() if self.versions else ""
            yield Part(talk.name, version, talk.authority)

    def events(self, opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
        self.asked.append(part.name)
        for talk in self._talks(opened):
            if talk.name == part.name:
                yield [Facts(talk.name, title=talk.title or talk.name)]
                for n, text in enumerate(talk.said):
                    if text == "?":
                        yield [BadLine("not JSON")]
                        continue
                    yield [
                        Item(
                            talk.name, (talk.keys or talk.name, n), Kind.PROMPT, text, time_of(text), SaidBy.PERSON,
                            abandoned=n >= talk.undone,
                        )
                    ]  # fmt: skip

    def _talks(self, opened: Opened) -> list[Talk]:
        if isinstance(opened, Document):
            try:
                return msgspec.json.decode(opened.data, type=list[Talk])
            except msgspec.DecodeError as err:
                raise Unreadable("not JSON") from err
        assert isinstance(opened, Database)
        rows = opened.db.execute("SELECT session, text FROM said ORDER BY session, n").fetchall()
        found: dict[str, list[str]] = {}
        for session, text in rows:
            found.setdefault(session, []).append(text)
        return [Talk(name, said) for name, said in found.items()]


class World:
    """A ledger and a folder of sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "store"
        self.folder.mkdir()
        self.state = folder / "state"
        self.ledger: Ledger = open_writer(self.state, "box")
        self.copy_max = 1 << 30
        self.document_max = 1 << 20
        self.recall = Recall()

    def take(self, path: Path, reader: Talks) -> parts.Taken:
        ledger = self.ledger
        key = sources.path_key(ledger, "talks", path)
        with ledger.transaction():
            if sources.find(ledger, key) is None:
                sources.add(ledger, "talks", key, REDACTOR.redact(str(path)), NOW_US)
        source = sources.find(ledger, key)
        assert source
        found = Found(path, "sqlite" if path.suffix == ".db" else "document")
        limits = parts.Limits(self.document_max, database.Reach(self.copy_max, self.state))
        return parts.take(Tools(ledger, REDACTOR, lambda: NOW_US, 0), limits, reader, found, source, self.recall)

    def said(self, native: str) -> list[tuple[str, str]]:
        row = sessions.load(self.ledger, "WHERE s.native = ?", (native,))[0].row
        return [(str(i.text), State(i.state).name.lower()) for i in views.in_order(self.ledger, row)]

    def live(self, native: str) -> list[str]:
        return [text for text, state in self.said(native) if state == "live"]

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def left_over(self) -> list[Path]:
        return [p for folder in (Path("/dev/shm"), self.state) for p in folder.glob(f"afterword-copy-{os.getpid()}-*")]
