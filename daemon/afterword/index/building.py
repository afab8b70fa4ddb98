"""What is to be done so that the index holds what the ledger holds, and doing it, a slice of time at a time.

Order of one document's change: vectors into the cache → Chroma (old ids out, new ids in) → manifest. Killed anywhere,
it is done again: the vectors are there, Chroma's ids name their content, and what Chroma has that the manifest does
not know is taken out when it is opened. A collection is named by embedder, dimension and way of cutting; another name
is built beside and replaces the old one when everything is in it.
"""

import logging
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
from afterword.index.keeper import Entry, Keeper
from afterword.index.manifest import Build, Listed, Manifest
from afterword.index.standing import DocumentKind, collection_name
from afterword.store.ledger.ledger import Ledger

_log = logging.getLogger(__name__)

_EMBED_AT_ONCE = 8
"""A question that comes meanwhile waits for so many."""
_APPLY_AT = 256
"""Chunks after which what is ready goes to Chroma: one-row writes are thirty times slower than batches."""


# How Chroma was left: what its files looked like when it was closed, or one of these.
_OPEN = "open"
_SUSPECT = "it failed"
_OPEN_AGAIN = "open, after it failed"
_CONDEMNED = "it failed twice"
_AFTER_FAILURE = {_OPEN: _SUSPECT, _OPEN_AGAIN: _CONDEMNED}


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
        self._folder = folder
        self._lock_fd = lock_fd
        self._ledger = ledger
        self._embedder = embedder
        self._articles = articles or NoArticles()
        self._max_chunks = max_chunks
        self._name = collection_name(embedder.signature)
        self._manifest: Manifest = manifest.open_writer(folder, ledger.origin[0])
        self._keeper: Keeper | None = None
        self._tasks: deque[_Task] | None = None
        self._heads = ""
        self._taken: int | None = None
        self._again = False
        self._changed = False
        self._ready = _Ready()
        self._counts = {"documents": 0, "embedded": 0, "added": 0, "removed": 0, "of": 0}

    def step(self, budget_s: float = 0.25) -> bool:
        """Work for about so long; whether more is left. Costs a few queries when there is nothing to do."""
        end = time.monotonic() + budget_s
        build = self._build()
        if self._tasks is None:
            self._plan(build)
        tasks = self._tasks
        assert tasks is not None
        while tasks:
            if not self._take(build, tasks[0], end):
                return True
            tasks.popleft()
            self._counts["documents"] += 1
            if self._ready.chunks >= _APPLY_AT:
                self._apply(build)
            if time.monotonic() >= end and tasks:
                return True
        self._apply(build)
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
        if thorough:
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
        if self._keeper:
            self._keeper.close()
            self._keeper = None
        for name in self._manifest.builds():
            self._manifest.drop(name)
        keeper.remove(self._folder)
        self._tasks = None
        self._ready = _Ready()

    def close(self) -> None:
        """Close what is open. What was ready but not written is done again next time."""
        if self._keeper:
            self._keeper.close()
            self._manifest.set_meta("chroma", keeper.state_of(self._folder))
        self._manifest.close()

    # What is to be done.

    def _build(self) -> Build:
        return self._manifest.begin(self._name, self._embedder.signature)

    def _plan(self, build: Build) -> None:
        if self._keeper is None and keeper.state_of(self._folder) != self._manifest.meta("chroma"):
            # The files are not as we left them: look in another process, then compare every id.
            self._reconcile(build)
            build = self._build()
        self._heads = heads(self._ledger)
        self._ready = _Ready([], [], 0)
        tasks = self._changed_documents(build, "article", self._articles.prints())
        if self._heads != build.heads:
            tasks += self._changed_documents(build, "diary", diary_prints(self._ledger))
            tasks += self._changed_sessions(build)
        self._tasks = deque(tasks)
        self._counts["of"] += len(tasks)

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

    def _take(self, build: Build, task: _Task, end: float) -> bool:
        """Cut a document and embed what is new in it; False when the time is up before all of it is embedded."""
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

    def _apply(self, build: Build) -> None:
        """Bring what is ready into Chroma, then into the manifest."""
        ready, self._ready = self._ready, _Ready([], [], 0)
        if not ready.documents and not ready.gone:
            return
        before = {
            its_id
            for ref in [(d.kind, d.ref) for d, _ in ready.documents] + [(g.kind, g.ref) for g in ready.gone]
            for its_id in self._manifest.chunk_ids(build, ref)
        }
        after = {chunk.id: (document, chunk) for document, chunks in ready.documents for chunk in chunks}
        new = [pair for its_id, pair in after.items() if its_id not in before]
        gone = sorted(before - after.keys())
        if new or gone:
            vectors = self._manifest.vectors(self._embedder.signature, [chunk.hash for _, chunk in new])
            matrix = np.zeros((len(new), self._embedder.dim), np.float32)
            for row, (_, chunk) in enumerate(new):
                matrix[row] = vectors[chunk.hash]
            self._write(build, gone, [_entry(document, chunk) for document, chunk in new], matrix)
        self._manifest.store(build, ready.documents, ready.gone)
        self._changed = True
        self._counts["added"] += len(new)
        self._counts["removed"] += len(gone)

    def _write(self, build: Build, gone: list[str], entries: list[Entry], matrix: Matrix) -> None:
        if self._keeper is None:
            # What the manifest turns out to lack is done in another pass, right after this one.
            self._again = self._reconcile(build)
        assert self._keeper is not None
        try:
            self._keeper.replace(self._name, self._embedder.signature, gone, entries, matrix)
        except keeper.StoreFailed:
            self._keeper.close()
            self._keeper = None
            self._tasks = None
            self._manifest.set_meta("chroma", _AFTER_FAILURE[self._manifest.meta("chroma")])
            raise

    def _finish(self, build: Build) -> None:
        if self._heads == build.heads and build.complete and not self._changed:
            return
        self._trim(build)
        self._manifest.finish(build, self._heads)
        self._changed = False
        for name in self._manifest.builds():
            if name != self._name:
                self._manifest.drop(name)
        if self._keeper:
            for name in self._keeper.names():
                if name != self._name:
                    self._keeper.drop(name)

    def _trim(self, build: Build) -> None:
        """Take the oldest sessions out that newer ones leave no room for."""
        listed = self._manifest.listed(build, "message")
        taken = 0
        for ref, _ in sessions_by_age(self._ledger):
            if ref in listed:
                if taken >= self._max_chunks:
                    self._ready.gone.append(listed[ref])
                taken += listed[ref].chunks
        self._apply(build)

    def _reconcile(self, build: Build) -> bool:
        """Open Chroma and make its ids the manifest's; whether the manifest listed some that are not there."""
        if self._keeper is None:
            left = self._manifest.meta("chroma")
            found = keeper.state_of(self._folder)
            if found and (left == _CONDEMNED or (found != left and not keeper.sound(self._folder, self._lock_fd))):
                _log.warning("the vector store was damaged, it is put aside and made again")
                keeper.quarantine(self._folder)
            self._manifest.set_meta("chroma", _OPEN_AGAIN if left == _SUSPECT else _OPEN)
            self._keeper = Keeper(self._folder, self._lock_fd)
        there, listed = self._keeper.ids(self._name, self._embedder.signature), self._manifest.chunk_ids(build)
        if there != listed:
            _log.info("the vector store and its list are made equal", extra={"ids": len(there ^ listed)})
            too_much = sorted(there - listed)
            self._keeper.replace(self._name, self._embedder.signature, too_much, [], np.zeros((0, 0), np.float32))
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
