"""What is to be done so that the index holds what the ledger holds, and doing it, a slice of time at a time.

Order of one document's change: vectors into the cache → Chroma (old ids out, new ids in) → manifest. Killed anywhere,
it is done again: the vectors are there, Chroma's ids name their content, and what Chroma has that the manifest does
not know is taken out when it is opened. A collection is named by embedder, dimension and way of cutting; another name
is built beside and replaces the old one when everything is in it.
"""

import contextlib
import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np

from afterword.index import keeper, manifest
from afterword.index.chunks import Chunk, cut
from afterword.index.documents import (
    ArticleSource,
    Document,
    NoArticles,
    changed_sessions,
    diary_prints,
    heads,
    lesson_prints,
    load_diary,
    load_lesson,
    load_session,
    sessions_by_age,
)
from afterword.index.embedder import Embedder
from afterword.index.gathering import Gathering
from afterword.index.keeper import Entry
from afterword.index.manifest import Build, Listed, Manifest
from afterword.index.opening import Store
from afterword.index.place import Place
from afterword.index.room import give_back
from afterword.index.standing import DocumentKind, collection_name
from afterword.store.ledger.ledger import Ledger

_log = logging.getLogger(__name__)

_IDLE_S = 60.0
_APPLY_AT = 256
"""Chunks after which what is ready goes to Chroma: one-row writes are thirty times slower than batches."""


class Progress(msgspec.Struct, frozen=True):
    """How far a pass is: documents looked at, of how many, and chunks embedded by it."""

    documents: int
    of: int
    embedded: int


class Done(msgspec.Struct, frozen=True):
    """What a pass did."""

    documents: int
    embedded: int
    added: int
    removed: int
    chunks: int
    complete: bool


class _Task(msgspec.Struct, frozen=True):
    kind: DocumentKind
    ref: str


class _Ready(msgspec.Struct):
    """Documents whose vectors are all there, and what goes out, not yet in Chroma. `strays` are ids in Chroma that the
    manifest does not know."""

    documents: list[tuple[Document, list[Chunk]]] = []
    gone: list[Listed] = []
    strays: set[str] = set()
    chunks: int = 0

    def __bool__(self) -> bool:
        return bool(self.documents or self.gone or self.strays)


class _Written(msgspec.Struct, frozen=True):
    """What is on its way into Chroma, and then into the manifest."""

    ready: _Ready
    added: int
    removed: int


class Index:
    """The writer's side; make it with `open_index`. Everything in it is used from one thread."""

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        embedder: Embedder,
        lock_fd: int,
        *,
        max_chunks: int,
        redact: Callable[[str], str],
        articles: ArticleSource | None = None,
        place: Place | None = None,
        idle_s: float = _IDLE_S,
    ) -> None:
        self._redact = redact
        self._ledger = ledger
        self._embedder = embedder
        self._articles = articles or NoArticles()
        self._max_chunks = max_chunks
        self._name = collection_name(embedder.signature)
        self._folder = folder
        self._lock_fd = lock_fd
        self._place = place
        self._wake: Callable[[], None] | None = None
        self._idle_s = idle_s
        self._used_s = 0.0
        """When Chroma was needed last."""
        self._heads = ""
        self._counts = {"documents": 0, "embedded": 0, "added": 0, "removed": 0, "of": 0}
        self._begin()

    def _begin(self) -> None:
        """Open the list."""
        self._manifest: Manifest = manifest.open_writer(self._folder, self._ledger.origin[0])
        self._opened = manifest.identity(self._folder)
        self._store = Store(self._folder, self._lock_fd, self._manifest, self._place)
        self._clear()

    def _clear(self) -> None:
        """Begin a pass from its start: what was ready is found again, its vectors are kept."""
        self._tasks: deque[_Task] | None = None
        self._gathering = Gathering(self._manifest, self._embedder)
        self._ready = _Ready([], [], set(), 0)
        self._writing: _Written | None = None
        self._taken: int | None = None
        self._again = False
        self._changed = False

    def step(self, budget_s: float = 0.25, wake: Callable[[], None] | None = None) -> bool:
        """Work for about so long; whether to call it again at once. Costs a few queries when there is nothing to do.

        With `wake` the embedder and Chroma, which take seconds to load, are loaded by other threads: it returns False
        meanwhile, and `wake` is called there when it is time for the next step.
        """
        if manifest.identity(self._folder) != self._opened:
            _log.warning("the list of what is indexed was deleted, it is made again")
            self._begin_again()
        try:
            return self._step(budget_s, wake)
        except sqlite3.DatabaseError as err:
            if isinstance(err, sqlite3.OperationalError):
                raise  # a full disk, a file in use
            _log.warning("the list of what is indexed is damaged, it is made again")
            self._begin_again()
            return True

    def _begin_again(self) -> None:
        """Open the list anew; Chroma is compared with it then."""
        with contextlib.suppress(sqlite3.DatabaseError):
            self._store.close()
        self._manifest.close()
        self._begin()

    def _step(self, budget_s: float, wake: Callable[[], None] | None) -> bool:
        self._wake = wake
        end = time.monotonic() + budget_s
        build = self._build()
        if self._tasks is None and not self._plan(build):
            return False
        build = self._build()
        tasks = self._tasks
        assert tasks is not None
        while tasks or self._gathering:
            if tasks and not self._gathering.due(last=False):
                self._cut(build, tasks.popleft())
                self._counts["documents"] += 1
            if self._gathering.due(last=not tasks):
                way, count = self._gathering.embed(self._wake, end)
                self._counts["embedded"] += count
                if way == "late":
                    return True
                if way == "waiting":
                    self._open(build)  # what is embedded will be written: both are loaded at the same time
                    return False
                taken = self._gathering.take()
                self._ready.documents += taken
                self._ready.chunks += sum(len(chunks) for _, chunks in taken)
            if self._ready.chunks >= _APPLY_AT and not self._apply(build):
                return False
            if time.monotonic() >= end and (tasks or self._gathering):
                return True
        if not self._apply(build):
            return False
        if self._again:
            self._clear()
            return True
        self._finish(build)
        return False

    def catch_up(
        self,
        *,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        stop: Callable[[], bool] = lambda: False,
        thorough: bool = False,
    ) -> Done:
        """Work until everything is in or `stop` says so. `thorough` also compares every document and every id."""
        self._counts = dict.fromkeys(self._counts, 0)
        self._wake = None
        if thorough:
            self._let_go()
            self._clear()
            self._open(self._build())
            self._manifest.look_again(self._build())
        more = True
        while more and not stop():
            more = self.step(0.5)
            on_progress(Progress(self._counts["documents"], self._counts["of"], self._counts["embedded"]))
        build = self._build()
        return Done(
            documents=self._counts["documents"],
            embedded=self._counts["embedded"],
            added=self._counts["added"],
            removed=self._counts["removed"],
            chunks=self._manifest.sizes(build).chunks,
            complete=build.complete and not more,
        )

    def rebuild(self) -> None:
        """Begin again from nothing; known vectors are used again. No byte of deleted texts is left in Chroma.

        Raises:
            StoreFailed: the server it is on does not answer.
        """
        for name in self._manifest.builds():
            self._manifest.drop(name)
        self._store.remove()
        self._clear()

    def close(self) -> None:
        """Close what is open. What was ready but not written is done again next time."""
        with contextlib.suppress(keeper.StoreFailed, sqlite3.DatabaseError):
            self._let_go()
        self._manifest.close()

    def _let_go(self) -> None:
        """Close Chroma, once what is on its way is there and listed."""
        try:
            if self._store.settle() and self._writing:
                self._note(self._build())
        finally:
            self._store.close()

    # What is to be done.

    def _build(self) -> Build:
        return self._manifest.begin(self._name, self._embedder.signature)

    def _plan(self, build: Build) -> bool:
        """Find out what is to be done; False while Chroma, which has to be looked at for that, is being opened."""
        if self._store.strange:
            # The files are not as we left them: look in another process, then compare every id.
            if not self._open(build):
                return False
            self._again = False
            build = self._build()
        self._heads = heads(self._ledger)
        self._ready = _Ready([], [], self._ready.strays, 0)
        tasks = self._changed_documents(build, "article", self._articles.prints())
        if self._heads != build.heads:
            tasks += self._changed_documents(build, "lesson", lesson_prints(self._ledger))
            tasks += self._changed_documents(build, "diary", diary_prints(self._ledger))
            tasks += self._changed_sessions(build)
        self._tasks = deque(tasks)
        self._counts["of"] += len(tasks)
        return True

    def _changed_documents(self, build: Build, kind: DocumentKind, prints: Mapping[str, str]) -> list[_Task]:
        listed = self._manifest.listed(build, kind)
        self._ready.gone += [old for ref, old in listed.items() if ref not in prints]
        return [_Task(kind, ref) for ref, found in prints.items() if ref not in listed or listed[ref].print != found]

    def _changed_sessions(self, build: Build) -> list[_Task]:
        """The sessions to look at, newest first; all of them when it is not known how far the index has come."""
        by_age = [ref for ref, _ in sessions_by_age(self._ledger)]
        standing = set(by_age)
        self._ready.gone += [o for ref, o in self._manifest.listed(build, "message").items() if ref not in standing]
        self._taken = None if build.heads else 0
        touched = changed_sessions(self._ledger, build.heads) if build.heads else standing
        return [_Task("message", ref) for ref in by_age if ref in touched]

    # Doing it.

    def _cut(self, build: Build, task: _Task) -> None:
        """Cut a document if it is another one than is listed."""
        listed = self._manifest.listed_one(build, task.kind, task.ref)
        room = task.kind != "message" or self._taken is None or self._taken < self._max_chunks
        document = self._load(task) if room else None
        if document is None:
            if listed:
                self._ready.gone.append(listed)
            return
        if listed and listed.print == document.print and listed.time_us == document.time_us:
            self._count(task, listed.chunks)
            return
        chunks = cut(document, self._redact)
        self._gathering.add(document, chunks)
        self._count(task, len(chunks))

    def _count(self, task: _Task, chunks: int) -> None:
        """In a pass over all sessions: how much room the newer ones took."""
        if task.kind == "message" and self._taken is not None:
            self._taken += chunks

    def _load(self, task: _Task) -> Document | None:
        match task.kind:
            case "article":
                return self._articles.load(task.ref)
            case "lesson":
                return load_lesson(self._ledger, task.ref)
            case "diary":
                return load_diary(self._ledger, task.ref)
            case "message":
                return load_session(self._ledger, task.ref)

    def _apply(self, build: Build) -> bool:
        """Bring what is ready into Chroma, then into the manifest; False while another thread opens it or writes."""
        try:
            if not self._store.ended():
                return False
        except keeper.StoreFailed:
            self._clear()
            raise
        if self._writing:
            self._note(build)
        if not self._ready:
            return True
        ready = self._ready
        before = {
            its_id
            for ref in [(d.kind, d.ref) for d, _ in ready.documents] + [(g.kind, g.ref) for g in ready.gone]
            for its_id in self._manifest.chunk_ids(build, ref)
        }
        after = {chunk.id: (document, chunk) for document, chunks in ready.documents for chunk in chunks}
        new = [pair for its_id, pair in after.items() if its_id not in before]
        gone = sorted((before | ready.strays) - after.keys())
        if (new or gone) and self._store.keeper is None:
            # Once it is open, what the manifest lists may be less.
            return self._open(build) and self._apply(build)
        self._ready = _Ready([], [], set(), 0)
        self._writing = _Written(ready, len(new), len(gone))
        if new or gone:
            self._write(gone, new)
        return self._apply(build)

    def _write(self, gone: list[str], new: list[tuple[Document, Chunk]]) -> None:
        """Begin to bring it into Chroma."""
        vectors = self._manifest.vectors(self._embedder.signature, [chunk.hash for _, chunk in new])
        matrix = np.zeros((len(new), self._embedder.dim), np.float32)
        for row, (_, chunk) in enumerate(new):
            matrix[row] = vectors[chunk.hash]
        entries = [_entry(document, chunk) for document, chunk in new]
        name, embedder = self._name, self._embedder.signature
        self._store.begin(lambda held: held.replace(name, embedder, gone, entries, matrix), self._wake)

    def _note(self, build: Build) -> None:
        """List what is in Chroma by now."""
        written, self._writing = self._writing, None
        assert written is not None
        self._manifest.store(build, written.ready.documents, written.ready.gone)
        self._changed = True
        self._counts["added"] += written.added
        self._counts["removed"] += written.removed

    def _finish(self, build: Build) -> None:
        """End a pass, or come again while another thread is at work for it."""
        if self._heads != build.heads or not build.complete or self._changed:
            if not self._trim(build):
                return
            self._manifest.finish(build, self._heads)
            for name in self._manifest.builds():
                if name != self._name:
                    self._manifest.drop(name)
            self._store.sweep_folder()
            if self._store.keeper:
                name = self._name
                self._store.begin(lambda held: held.only(name), self._wake)
            self._used_s = time.monotonic()
            give_back()
        elif self._store.keeper and time.monotonic() - self._used_s > self._idle_s:
            # Chroma takes as much memory as all the rest, and is open again in two seconds when there is something.
            self._store.close()
        self._clear()

    def _trim(self, build: Build) -> bool:
        """Take the oldest sessions out that newer ones leave no room for; False while Chroma is being opened."""
        listed = self._manifest.listed(build, "message")
        taken = 0
        for ref, _ in sessions_by_age(self._ledger):
            if ref in listed:
                if taken >= self._max_chunks:
                    self._ready.gone.append(listed[ref])
                taken += listed[ref].chunks
        return self._apply(build)

    def _open(self, build: Build) -> bool:
        """Have Chroma open, and its ids compared with the manifest's; False while another thread opens it."""
        if self._store.keeper is not None:
            return True
        there = self._store.open(self._name, self._embedder.signature, self._wake)
        if there is None:
            return False
        listed = self._manifest.chunk_ids(build)
        if there != listed:
            _log.info("the vector store and its list are made equal", extra={"ids": len(there ^ listed)})
            self._manifest.unlist(build, sorted(listed - there))
        self._ready.strays = set(there - listed)
        # What the manifest turned out to lack is done in another pass, right after this one.
        self._again = bool(listed - there)
        return True


def _entry(document: Document, chunk: Chunk) -> Entry:
    facts: dict[str, str | int] = {
        "kind": document.kind,
        "ref": document.ref,
        "title": document.title,
        "heading": chunk.heading,
        "day": document.day,
        "time_us": document.time_us,
        "project": document.project,
        "harness": document.harness,
        "session": document.session,
    }
    return Entry(chunk.id, chunk.text, facts)


@contextmanager
def open_index(
    folder: Path,
    ledger: Ledger,
    embedder: Embedder,
    *,
    max_chunks: int,
    redact: Callable[[str], str],
    articles: ArticleSource | None = None,
    place: Place | None = None,
) -> Iterator[Index]:
    """The index with its lock held.

    Raises:
        Busy: another process has it open.
    """
    with keeper.lock(folder) as lock_fd:
        index = Index(
            folder, ledger, embedder, lock_fd, max_chunks=max_chunks, redact=redact, articles=articles, place=place
        )
        try:
            yield index
        finally:
            index.close()
