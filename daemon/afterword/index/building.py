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
    load_diary,
    load_session,
    sessions_by_age,
)
from afterword.index.embedder import Embedder, Matrix
from afterword.index.keeper import Entry
from afterword.index.manifest import Build, Listed, Manifest
from afterword.index.opening import Store
from afterword.index.standing import DocumentKind, collection_name
from afterword.store.ledger.ledger import Ledger

_log = logging.getLogger(__name__)

_EMBED_AT_ONCE = 8
"""A question that comes meanwhile waits for so many."""
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
    """Documents whose vectors are all there, and what goes out, not yet in Chroma."""

    documents: list[tuple[Document, list[Chunk]]] = []
    gone: list[Listed] = []
    chunks: int = 0


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
    ) -> None:
        self._redact = redact
        self._ledger = ledger
        self._embedder = embedder
        self._articles = articles or NoArticles()
        self._max_chunks = max_chunks
        self._name = collection_name(embedder.signature)
        self._folder = folder
        self._lock_fd = lock_fd
        self._manifest: Manifest = manifest.open_writer(folder, ledger.origin[0])
        self._opened = manifest.identity(folder)
        self._store = Store(folder, lock_fd, self._manifest)
        self._wake: Callable[[], None] | None = None
        self._tasks: deque[_Task] | None = None
        self._heads = ""
        self._taken: int | None = None
        self._again = False
        self._changed = False
        self._ready = _Ready()
        self._counts = {"documents": 0, "embedded": 0, "added": 0, "removed": 0, "of": 0}

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
        self._manifest = manifest.open_writer(self._folder, self._ledger.origin[0])
        self._opened = manifest.identity(self._folder)
        self._store = Store(self._folder, self._lock_fd, self._manifest)
        self._tasks = None
        self._ready = _Ready()

    def _step(self, budget_s: float, wake: Callable[[], None] | None) -> bool:
        self._wake = wake
        end = time.monotonic() + budget_s
        build = self._build()
        if self._tasks is None and not self._plan(build):
            return False
        build = self._build()
        tasks = self._tasks
        assert tasks is not None
        while tasks:
            if not self._take(build, tasks[0], end):
                return self._prepared()
            tasks.popleft()
            self._counts["documents"] += 1
            if self._ready.chunks >= _APPLY_AT and not self._apply(build):
                return False
            if time.monotonic() >= end and tasks:
                return True
        if not self._apply(build):
            return False
        self._tasks = None
        if self._again:
            self._again = False
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
            self._open(self._build())
            self._reconcile(self._build())
            self._manifest.look_again(self._build())
            self._tasks = None
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
        """Begin again from nothing; known vectors are used again. No byte of deleted texts is left in Chroma."""
        for name in self._manifest.builds():
            self._manifest.drop(name)
        self._store.remove()
        self._tasks = None
        self._ready = _Ready()

    def close(self) -> None:
        """Close what is open. What was ready but not written is done again next time."""
        self._store.close()
        self._manifest.close()

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
        self._ready = _Ready([], [], 0)
        tasks = self._changed_documents(build, "article", self._articles.prints())
        if self._heads != build.heads:
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

    def _prepared(self) -> bool:
        """Whether vectors are made at once."""
        return self._wake is None or self._embedder.ready(self._wake)

    def _take(self, build: Build, task: _Task, end: float) -> bool:
        """Cut a document and embed what is new in it; False when the time is up before all of it is embedded, or what
        makes vectors is not loaded yet."""
        listed = self._manifest.listed_one(build, task.kind, task.ref)
        room = task.kind != "message" or self._taken is None or self._taken < self._max_chunks
        document = self._load(task) if room else None
        if document is None:
            if listed:
                self._ready.gone.append(listed)
            return True
        if listed and listed.print == document.print and listed.time_us == document.time_us:
            self._count(task, listed.chunks)
            return True
        chunks = cut(document, self._redact)
        known = self._manifest.known(self._embedder.signature, [chunk.hash for chunk in chunks])
        missing = list({chunk.hash: chunk for chunk in chunks if chunk.hash not in known}.values())
        if missing and not self._prepared():
            self._open(build)  # what is embedded will be written: both are loaded at the same time
            return False
        while missing:
            batch, missing = missing[:_EMBED_AT_ONCE], missing[_EMBED_AT_ONCE:]
            matrix = self._embedder.embed([chunk.text for chunk in batch])
            self._manifest.add_vectors(self._embedder.signature, [chunk.hash for chunk in batch], matrix)
            self._counts["embedded"] += len(batch)
            if missing and time.monotonic() >= end:
                return False
        self._ready.documents.append((document, chunks))
        self._ready.chunks += len(chunks)
        self._count(task, len(chunks))
        return True

    def _count(self, task: _Task, chunks: int) -> None:
        """In a pass over all sessions: how much room the newer ones took."""
        if task.kind == "message" and self._taken is not None:
            self._taken += chunks

    def _load(self, task: _Task) -> Document | None:
        match task.kind:
            case "article":
                return self._articles.load(task.ref)
            case "diary":
                return load_diary(self._ledger, task.ref)
            case "message":
                return load_session(self._ledger, task.ref)

    def _apply(self, build: Build) -> bool:
        """Bring what is ready into Chroma, then into the manifest; False while Chroma is being opened."""
        ready = self._ready
        if not ready.documents and not ready.gone:
            return True
        before = {
            its_id
            for ref in [(d.kind, d.ref) for d, _ in ready.documents] + [(g.kind, g.ref) for g in ready.gone]
            for its_id in self._manifest.chunk_ids(build, ref)
        }
        after = {chunk.id: (document, chunk) for document, chunks in ready.documents for chunk in chunks}
        new = [pair for its_id, pair in after.items() if its_id not in before]
        gone = sorted(before - after.keys())
        if (new or gone) and self._store.keeper is None:
            # Once it is open, what the manifest lists may be less.
            return self._open(build) and self._apply(build)
        self._ready = _Ready([], [], 0)
        if new or gone:
            vectors = self._manifest.vectors(self._embedder.signature, [chunk.hash for _, chunk in new])
            matrix = np.zeros((len(new), self._embedder.dim), np.float32)
            for row, (_, chunk) in enumerate(new):
                matrix[row] = vectors[chunk.hash]
            self._write(gone, [_entry(document, chunk) for document, chunk in new], matrix)
        self._manifest.store(build, ready.documents, ready.gone)
        self._changed = True
        self._counts["added"] += len(new)
        self._counts["removed"] += len(gone)
        return True

    def _write(self, gone: list[str], entries: list[Entry], matrix: Matrix) -> None:
        assert self._store.keeper is not None
        try:
            self._store.keeper.replace(self._name, self._embedder.signature, gone, entries, matrix)
        except keeper.StoreFailed:
            self._tasks = None
            self._store.failed()
            raise

    def _finish(self, build: Build) -> None:
        if self._heads == build.heads and build.complete and not self._changed:
            return
        if not self._trim(build):
            return
        self._manifest.finish(build, self._heads)
        self._changed = False
        for name in self._manifest.builds():
            if name != self._name:
                self._manifest.drop(name)
        if self._store.keeper:
            for name in self._store.keeper.names():
                if name != self._name:
                    self._store.keeper.drop(name)

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
        """Have Chroma open, and its ids the manifest's; False while another thread opens it."""
        if self._store.keeper is not None:
            return True
        if self._store.open(self._wake) is None:
            return False
        # What the manifest turns out to lack is done in another pass, right after this one.
        self._again = self._reconcile(build)
        return True

    def _reconcile(self, build: Build) -> bool:
        """Make the ids in Chroma the manifest's; whether the manifest listed some that are not there."""
        assert self._store.keeper is not None
        there, listed = self._store.keeper.ids(self._name, self._embedder.signature), self._manifest.chunk_ids(build)
        if there != listed:
            _log.info("the vector store and its list are made equal", extra={"ids": len(there ^ listed)})
            too_much = sorted(there - listed)
            self._store.keeper.replace(self._name, self._embedder.signature, too_much, [], np.zeros((0, 0), np.float32))
            self._manifest.unlist(build, sorted(listed - there))
        return bool(listed - there)


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
) -> Iterator[Index]:
    """The index with its lock held.

    Raises:
        Busy: another process has it open.
    """
    with keeper.lock(folder) as lock_fd:
        index = Index(folder, ledger, embedder, lock_fd, max_chunks=max_chunks, redact=redact, articles=articles)
        try:
            yield index
        finally:
            index.close()
