"""Old rows under newer redaction rules: every text in the ledger passes them once, in steps that survive a kill.

The version of the rules that the rows went through is a small fact of the ledger; a person's own patterns are part of
it. While it differs from the redactor's, another fact says how far the work has come; a step and that fact commit
together. A masked text is a new revision of rank *partial* at most: where another machine's rules leave more of it,
that edition stands.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from typing import Any, Final, Literal, TypeAlias

import msgspec

from afterword.domain.items import Kind, SaidBy
from afterword.domain.registers import Rank
from afterword.domain.slugs import article_slug, slug
from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted, stored
from afterword.store import faults
from afterword.store.ledger import articles, drift, lessons, masked, model_calls, segments, sessions
from afterword.store.ledger.ledger import Ledger, RecordKind, pack, unpack

VERSION: Final = "rules_version"
_PROGRESS: Final = "rescrub"
_OURS: Final = frozenset({VERSION, _PROGRESS, "masked"})
_STEP_CHARS: Final = 4 << 20
_STEP_ROWS: Final = 500

Progress: TypeAlias = Callable[[int, int], None]

PLAIN: Final[dict[int, Collection[str]]] = {
    RecordKind.SETTING: ("", "why", "day", "updated", "confirmed"),
    RecordKind.SEGMENT: segments.PLAIN,
    RecordKind.DIGEST: segments.PLAIN,
    RecordKind.SECTION: segments.PLAIN,
    RecordKind.BUILD: articles.PLAIN,
    RecordKind.ARTICLE: articles.PLAIN,
    RecordKind.TOMBSTONE: ("fields",),
    RecordKind.LESSON: lessons.PLAIN,
    RecordKind.FACT: lessons.PLAIN,
}
"""What is ours in the value of a register, by kind: see `Redactor.document`."""


Holds: TypeAlias = Literal["text", "ours", "passing"]
COLUMNS: Final[dict[str, Holds]] = {
    **dict.fromkeys(
        ("meta.key", "meta.value", "source.path", "source.state", "source.problem", "source.name", "source.version"),
        "text",
    ),
    **dict.fromkeys(
        ("trouble.reason", "drift.version", "written_by.version", "checkout.folder", "checkout.root"), "text"
    ),
    **dict.fromkeys(("drift.record_type", "session.native", "session.facts"), "text"),
    **dict.fromkeys(("item.path", "item.text", "register.value", "article_file.fields", "lesson_file.fields"), "text"),
    **dict.fromkeys(("job.arguments", "job.progress", "job.result", "job.error"), "text"),
    # Keyed hashes, ids and rows; an article's slug in `forgetting.value` is gone when all of it is.
    **dict.fromkeys(("erased.print", "forgetting.kind", "forgetting.key", "forgetting.value"), "ours"),
    **dict.fromkeys(("model_call.request", "model_call.reply", "model_call.reason"), "text"),
    # Texts on their way: gone when the note, the file or the full text has them.
    **dict.fromkeys(("append.bytes", "append.sections", "text_pending.old", "article_file.plan"), "passing"),
    # Ids, hashes, states, slugs and names of ours, and paths in the vault, which name files that are there.
    **dict.fromkeys(("origin.id", "origin.name", "source.harness", "source.path_key", "source.head"), "ours"),
    **dict.fromkeys(("source.tail", "source.chain", "source.part", "source.open_hash"), "ours"),
    **dict.fromkeys(("session.id", "session.harness", "item.id", "item.exit_status", "keyless.print"), "ours"),
    **dict.fromkeys(("register.key", "append.path", "placed.key", "placed.path", "note.path", "note.keys"), "ours"),
    **dict.fromkeys(("job.id", "job.name", "job.state", "article_file.uid", "article_file.path"), "ours"),
    **dict.fromkeys(("article_file.made", "article_file.parts", "article_file.state", "other_file.path"), "ours"),
    **dict.fromkeys(("other_file.uid", "build_logged.day"), "ours"),
    **dict.fromkeys(("told.key", "told.prints", "placed.print", "went_on.key", "went_on.next"), "ours"),
    **dict.fromkeys(("left_out.session", "left_out_folder.folder", "backup.path", "backup.sha256"), "ours"),
    "backup.origin": "ours",
    **dict.fromkeys(("share.path", "share.session", "share.form", "share.sha256"), "ours"),
    **dict.fromkeys(("lesson_file.key", "lesson_file.path", "lesson_file.made", "lesson_file.plan"), "ours"),
    **dict.fromkeys(("lesson_file.lines", "lesson_file.state"), "ours"),
    **dict.fromkeys(("model_call.key", "model_call.step", "model_call.subject", "model_call.model"), "ours"),
    **dict.fromkeys(("model_call.state", "model_call.why", "model_call.day"), "ours"),
    # Numbers, places and ids: what waits in `body` is a membership.
    **dict.fromkeys(("stub.key", "stub.why", "stub.body", "stub.session", "stub.item", "derives.item"), "ours"),
}
"""Every column that is no number, and what it holds; a test holds the schema against it."""


class At(msgspec.Struct, omit_defaults=True):
    """How far it is: `to` is the version it leads to, `stage` what is worked on, `after` the last row done there."""

    to: str
    stage: int = 0
    after: int = 0
    done: int = 0
    changed: int = 0
    masked: dict[str, int] = {}


def version(ledger: Ledger, redactor: Redactor) -> str:
    """The name of the rules: their number, and a keyed hash of a person's own patterns where there are any."""
    if not any(redactor.patterns):
        return str(redactor.version)
    own = ledger.keyed_hash(json.dumps(redactor.patterns).encode(), 8)
    return f"{redactor.version}+{own.hex()}"


def stored_version(ledger: Ledger) -> str:
    """The name of the rules that all rows went through; empty while there are none."""
    found = ledger.meta(VERSION)
    return "" if found is None else str(found)


def owed(ledger: Ledger, redactor: Redactor) -> bool:
    """Whether rows went through other rules than the redactor's."""
    return stored_version(ledger) != version(ledger, redactor)


class Rescrub:
    """The work on one ledger, under the writer's lock. `said` names what in a decoder's state a transcript says."""

    def __init__(self, ledger: Ledger, redactor: Redactor, said: Collection[str]) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._redactor = redactor
        self._said = said
        self._stages: tuple[Callable[[int], int | None], ...] = (
            self._sessions,
            self._items,
            self._registers,
            self._sources,
            self._jobs,
            self._calls,
            self._small,
        )
        found = ledger.meta(_PROGRESS)
        to = version(ledger, redactor)
        at = msgspec.json.decode(found.encode(), type=At) if isinstance(found, str) else At(to)
        # Rules that changed again meanwhile begin at the start; what changed is still owed to the vault.
        self.at = at if at.to == to else At(to, changed=at.changed)

    def rows(self, on_progress: Progress = lambda _done, _all: None) -> int:
        """Put every text through the rules; how many rows changed, those of an interrupted run included."""
        total = self._total()
        while self.at.stage < len(self._stages):
            with self._ledger.transaction():
                after = self._stages[self.at.stage](self.at.after)
                if after is None:
                    self.at.stage, self.at.after = self.at.stage + 1, 0
                else:
                    self.at.after = after
                self._ledger.set_meta(_PROGRESS, msgspec.json.encode(self.at).decode())
                faults.hit("rescrub.step")
            on_progress(min(self.at.done, total), total)
        return self.at.changed

    def finish(self) -> None:
        """Say that the ledger is under these rules now."""
        with self._ledger.transaction(durable=True):
            masked.put(self._ledger, self.at.masked)
            self._ledger.set_meta(VERSION, self.at.to)
            self._db.execute("DELETE FROM meta WHERE key = ?", (_PROGRESS,))

    def files(self) -> None:
        """What the ledger remembers of articles' files: only when they were brought up to date, because it tells what
        is ours in them."""
        with self._ledger.transaction():
            for table, key in (("article_file", "uid"), ("lesson_file", "key")):
                for name, fields in self._db.execute(f"SELECT {key}, fields FROM {table}").fetchall():
                    clean = self._document(fields, ())
                    if clean != fields:
                        self._db.execute(f"UPDATE {table} SET fields = ? WHERE {key} = ?", (clean, name))

    # Stages: each does the rows after one and returns the last it did, None when there are no more.

    def _sessions(self, after: int) -> int | None:
        rows = self._batch("SELECT row, native, facts, rev, rank FROM session WHERE row > ?", after)
        for row, native, facts, rev, rank in rows:
            clean = self._titled(row, self._document(facts, sessions.PLAIN))
            own = self._redactor.plain(native)
            if own != native:
                self._db.execute("UPDATE session SET native = ? WHERE row = ?", (own, row))
            if (clean, own) != (facts, native):
                self._db.execute(
                    "UPDATE session SET facts = ?, rev = ?, rank = ?, by = 1 WHERE row = ?",
                    (clean, rev + 1, _lower(rank), row),
                )
                self._ledger.number(RecordKind.SESSION, row, rev + 1)
                sessions.mark_dirty(self._ledger, row, 0)
                self.at.changed += 1
        return rows[-1][0] if rows else None

    def _titled(self, session: int, facts: Redacted) -> Redacted:
        """A title that is the beginning of a prompt is taken anew: a secret that was cut is not known by itself."""
        known = msgspec.json.decode(facts.encode(), type=sessions.SessionFacts)
        if known.title_rank or not known.title:
            return facts
        prompts = self._db.execute(
            "SELECT i.text, i.packed FROM membership m JOIN item i ON i.row = m.item"
            " WHERE m.session = ? AND i.kind = ? AND i.said_by = ? ORDER BY m.pos, m.sub LIMIT 20",
            (session, Kind.PROMPT, SaidBy.PERSON),
        )
        for blob, packed in prompts:
            text = unpack(blob, packed)
            if self._redactor.redact(sessions.title_of(text)) == known.title:
                known.title = sessions.title_of(self._redactor.redact(text))
                return self._redactor.document(msgspec.to_builtins(known), plain=sessions.PLAIN)
        return facts

    def _items(self, after: int) -> int | None:
        last = None
        chars = 0
        counts = Counter(self.at.masked)
        changed = []
        rows = self._db.execute(
            "SELECT row, text, packed, chars, path, rev, rank FROM item WHERE row > ? ORDER BY row", (after,)
        )
        with closing(rows):
            for row, blob, packed, size, path, rev, rank in rows:
                text = unpack(blob, packed)
                clean = self._redactor.redact(text)
                counts.update(masked.kinds_in(clean))
                new_path = self._redactor.redact(path) if path else path
                if (clean, new_path) != (text, path):
                    changed.append((row, rev, rank, blob, packed, text, clean, new_path))
                last = row
                self.at.done += size
                chars += size
                if chars > _STEP_CHARS:
                    break
        for row, rev, rank, blob, packed, text, clean, new_path in changed:
            if clean != text:
                new_blob, new_packed = pack(clean)
                self._db.execute(
                    "UPDATE item SET text = ?, packed = ?, chars = ? WHERE row = ?",
                    (new_blob, new_packed, len(clean), row),
                )
                self._db.execute(
                    "INSERT INTO text_pending (item, old, old_packed) VALUES (?, ?, ?)", (row, blob, packed)
                )
            self._db.execute(
                "UPDATE item SET path = ?, rev = ?, rank = ?, origin = 1 WHERE row = ?",
                (new_path, rev + 1, _lower(rank), row),
            )
            self._ledger.number(RecordKind.ITEM, row, rev + 1)
            holders = self._db.execute("SELECT session FROM membership WHERE item = ?", (row,)).fetchall()
            for (session,) in holders:
                sessions.mark_dirty(self._ledger, session, 0)
        self.at.changed += len(changed)
        self.at.masked = dict(counts)
        return last

    def _registers(self, after: int) -> int | None:
        rows = self._batch("SELECT row, kind, rev, rank, value FROM register WHERE row > ?", after)
        for row, kind, rev, rank, value in rows:
            clean = self._register(kind, value)
            if clean != value:
                self._db.execute(
                    "UPDATE register SET value = ?, rev = ?, rank = ?, origin = 1 WHERE row = ?",
                    (clean, rev + 1, _lower(rank), row),
                )
                self._ledger.number(RecordKind(kind), row, rev + 1)
                if kind in (RecordKind.ARTICLE, RecordKind.BUILD):
                    self._ledger.set_meta(articles.OWED, 1)
                if kind in (RecordKind.LESSON, RecordKind.FACT):
                    self._ledger.set_meta(lessons.OWED, 1)
                self.at.changed += 1
        return rows[-1][0] if rows else None

    def _register(self, kind: int, value: str) -> Redacted:
        plain = PLAIN.get(kind, ())
        clean = self._document(value, plain)
        if kind == RecordKind.ARTICLE and clean != value:
            said = json.loads(clean)
            if "slug" in said:
                # It names a file: a marker in it becomes a word.
                clean = self._redactor.document(said | {"slug": slug(said["slug"])}, plain=plain)
        if kind in (RecordKind.LESSON, RecordKind.FACT) and clean != value:
            said = json.loads(clean)
            if said.get("topic"):
                clean = self._redactor.document(said | {"topic": article_slug(said["topic"])}, plain=plain)
        return clean

    def _sources(self, after: int) -> int | None:
        there = {name for _, name, *_ in self._db.execute("PRAGMA table_info(source)")}
        names = [name for name in ("path", "problem", "name", "version") if name in there]
        rows = self._batch(f"SELECT row, state, {', '.join(names)} FROM source WHERE row > ?", after)
        for row, state, *given in rows:
            clean = [self._state(state), *map(self._redactor.redact, given)]
            if clean != [state, *given]:
                sets = ", ".join(f"{name} = ?" for name in ("state", *names))
                self._db.execute(f"UPDATE source SET {sets} WHERE row = ?", (*clean, row))
                self.at.changed += 1
        return rows[-1][0] if rows else None

    def _jobs(self, after: int) -> int | None:
        rows = self._batch("SELECT row, arguments, progress, result, error FROM job WHERE row > ?", after)
        for row, *given in rows:
            clean = [self._document(text, ()) if text else text for text in given]
            if clean != given:
                self._db.execute(
                    "UPDATE job SET arguments = ?, progress = ?, result = ?, error = ? WHERE row = ?", (*clean, row)
                )
                self.at.changed += 1
        return rows[-1][0] if rows else None

    def _calls(self, after: int) -> int | None:
        rows = self._batch(
            "SELECT row, request, request_packed, reply, reply_packed, reason FROM model_call WHERE row > ?", after
        )
        for row, request, request_packed, reply, reply_packed, reason in rows:
            asked, said = unpack(request, request_packed), unpack(reply, reply_packed)
            clean = self._redactor.redact(asked), model_calls.clean(self._redactor, said), self._redactor.redact(reason)
            if clean != (asked, said, reason):
                model_calls.rewrite(self._ledger, row, *clean)
                self.at.changed += 1
        return rows[-1][0] if rows else None

    def _small(self, _after: int) -> int | None:
        """The tables of a few short rows, at once."""
        for source, line, reason in self._db.execute("SELECT source, line, reason FROM trouble").fetchall():
            clean = self._redactor.redact(reason)
            if clean != reason:
                self._db.execute(
                    "UPDATE OR REPLACE trouble SET reason = ? WHERE source = ? AND line = ? AND reason = ?",
                    (clean, source, line, reason),
                )
        for source, release, name, count in self._db.execute("SELECT * FROM drift").fetchall():
            both = self._redactor.redact(release), self._redactor.redact(name)
            if both != (release, name):
                self._db.execute(
                    "DELETE FROM drift WHERE source = ? AND version = ? AND record_type = ?", (source, release, name)
                )
                drift.count(self._ledger, source, *both, count)
        for source, version in self._db.execute("SELECT source, version FROM written_by").fetchall():
            clean = self._redactor.redact(version)
            if clean != version:
                self._db.execute("DELETE FROM written_by WHERE source = ? AND version = ?", (source, version))
                drift.written_by(self._ledger, source, clean)
        for given in self._db.execute("SELECT folder, root FROM checkout").fetchall():
            folder, root = map(self._redactor.redact, given)
            if (folder, root) != given:
                self._db.execute("DELETE FROM checkout WHERE folder = ?", given[:1])
                self._db.execute("INSERT OR REPLACE INTO checkout VALUES (?, ?)", (folder, root))
        for key, value in self._db.execute("SELECT key, value FROM meta WHERE typeof(value) = 'text'").fetchall():
            if key in _OURS:
                continue
            fact, clean = self._redactor.redact(key), self._fact(value)
            if (fact, clean) != (key, value):
                self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
                self._ledger.set_meta(fact, clean)
        return None

    def _fact(self, value: str) -> Redacted:
        try:
            return self._document(value, articles.PLAIN) if value[:1] in "[{" else self._redactor.redact(value)
        except ValueError:
            return self._redactor.redact(value)

    def _state(self, state: str) -> Redacted:
        """A decoder's state: all of it is ours, but for what the transcript says."""
        if not state:
            return stored("")
        return self._document(state, set(_keys(json.loads(state))) - {"decoder", *self._said})

    def _document(self, text: str, plain: Collection[str]) -> Redacted:
        return self._redactor.document(json.loads(text), plain=plain)

    def _batch(self, query: str, after: int) -> list[Any]:
        return self._db.execute(f"{query} ORDER BY row LIMIT {_STEP_ROWS}", (after,)).fetchall()

    def _total(self) -> int:
        found: int = self._db.execute("SELECT coalesce(sum(chars), 0) FROM item").fetchone()[0]
        return max(found, self.at.done)


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _lower(rank: int) -> int:
    return min(rank, Rank.PARTIAL)
