"""What people did to articles in the vault → registers: edits, a changed status, renames, deletions.

Only reads files. A file is known by the `uid` in its front matter; what it held when we last wrote it tells a person's
change from ours. A file that vanished counts as deleted when two looks agree and only few vanished.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.article_note import GENERATED, Written, comparable, layout, same_part, text_of
from afterword.domain.articles import Article, Edits, Status
from afterword.domain.conflicts import copy_of, merging
from afterword.domain.ids import ArticleUid
from afterword.domain.note_names import is_note, linked
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.ledger import article_files, articles
from afterword.store.ledger.article_files import ArticleFile, Stat
from afterword.store.ledger.ledger import Ledger
from afterword.store.matter import read_matter
from afterword.store.vault_card import may_write

_PAGES: Final = frozenset({"index.md", "log.md"})
_STATUSES: Final[dict[str, Status]] = {"active": "active", "stale": "stale", "retracted": "retracted", "draft": "draft"}
_UID: Final = re.compile(r"a-[0-9a-f]{12}")
_LEAST_MANY: Final = 3
_SHARE_MANY: Final = 0.05
_MATTER_MAX: Final = 64 << 10


class Seen(msgspec.Struct, frozen=True):
    """What a look found. `waiting` files are missing and are looked for once more; `question` ones are too many."""

    edited: int = 0
    moved: int = 0
    deleted: int = 0
    restored: int = 0
    waiting: int = 0
    question: int = 0
    odd: int = 0
    copies: tuple[str, ...] = ()


class VaultWatch:
    """Looks over the articles of a vault."""

    def __init__(self, vault: Path, knowledge: str, ledger: Ledger, redactor: Redactor) -> None:
        self._vault = vault
        self._knowledge = knowledge
        self._ledger = ledger
        self._redactor = redactor

    def look(self, today: str) -> Seen:
        """Take in what changed since the last look. Nothing is done while the vault is not there."""
        if not may_write(self._vault, self._ledger):
            return Seen()
        known = article_files.every(self._ledger)
        standing = {uid: file for uid, file in known.items() if file.state != "deleted"}
        here = dict(self._files(self._knowledge)) | dict(self._moved_out(standing.values()))
        by_path = {file.path: file for file in standing.values()}
        missing = [
            file for file in by_path.values() if file.path not in here and not file.plan and not self._there(file)
        ]
        fresh = self._read(here, by_path)
        ousted = [
            file
            for name, (_, values, _n) in fresh.items()
            if (file := by_path.get(name)) and not file.plan and _ousted(file, values, known)
        ]
        missing += ousted
        if missing:
            # Anywhere in the vault; of the notes that are not ours, only those that name a uid are looked at.
            here |= dict(self._files(""))
            fresh = self._read(here, by_path)
        if not missing and not fresh and all(path in here for path, _, _ in article_files.others(self._ledger)):
            return Seen(copies=_copies({path: (at, uid) for path, at, uid in article_files.others(self._ledger)}))
        moved, copies = self._homes(known, here, fresh)
        gone = [file for file in missing if file.uid not in moved]
        changed = dict(moved)
        for name, (at, values, note) in fresh.items():
            file = by_path.get(name)
            if file and not file.plan and values is not None and values.get("uid") == file.uid:
                changed[file.uid] = (name, at, values, note)
        odd = [file for name, (_, values, _n) in fresh.items() if values is None and (file := by_path.get(name))]
        away = {file.uid for file in ousted}
        return self._store(known, changed, moved, gone, away, copies, odd, here, today)

    def _there(self, file: ArticleFile) -> bool:
        path = self._vault / file.path
        return path.is_file() or files.placeholder(path)

    def _moved_out(self, row: Iterable[ArticleFile]) -> Iterator[tuple[str, Stat]]:
        """(path, stat) of articles that people moved out of the folder of knowledge."""
        for file in row:
            if not file.path.startswith(f"{self._knowledge}/") and (at := self._stat(file.path)):
                yield file.path, at

    def _stat(self, name: str) -> Stat | None:
        """Of a regular file in the vault; None of anything else, such as a link that leads out of it."""
        path = self._vault / name
        try:
            at = path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(at.st_mode) or (path.is_symlink() and not files.lies_inside(self._vault, name)):
            return None
        return at.st_size, at.st_mtime_ns, at.st_ino

    def _files(self, folder: str) -> Iterator[tuple[str, Stat]]:
        """(path in the vault, stat) of every note below a folder; dot names and conflict copies are left out."""
        root = files.inside(self._vault, folder) if folder else self._vault
        for where, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not is_note(name) or name.startswith(".") or copy_of(name):
                    continue
                path = Path(where) / name
                relative = path.relative_to(self._vault).as_posix()
                if relative.removeprefix(f"{self._knowledge}/") in _PAGES:
                    continue
                if at := self._stat(relative):
                    yield relative, at

    def _read(
        self, here: dict[str, Stat], by_path: dict[str, ArticleFile]
    ) -> dict[str, tuple[Stat, dict[str, object] | None, bytes]]:
        """Files that are not as they were when last seen, with their front matter and bytes."""
        others = {path: at for path, at, _ in article_files.others(self._ledger)}
        fresh = {}
        for name, at in here.items():
            file = by_path.get(name)
            if (file and file.at == at and not file.looks and not file.state) or (
                file is None and others.get(name) == at
            ):
                continue
            try:
                note = files.inside(self._vault, name).read_bytes()
            except OSError:
                continue
            if file is None and not name.startswith(f"{self._knowledge}/") and b"uid" not in note[:_MATTER_MAX]:
                continue
            # Two sides of a conflict are nobody's edit: left alone like broken front matter, until it is resolved.
            fresh[name] = (at, None if merging(note) else read_matter(note), note)
        return fresh

    def _homes(
        self,
        known: dict[ArticleUid, ArticleFile],
        here: dict[str, Stat],
        fresh: dict[str, tuple[Stat, dict[str, object] | None, bytes]],
    ) -> tuple[dict[ArticleUid, tuple[str, Stat, dict[str, object], bytes]], dict[str, tuple[Stat, str]]]:
        """Where articles moved to, and files that are no article of ours with the uid they claim."""
        stored = articles.stored(self._ledger)
        claims: dict[ArticleUid, list[str]] = {}
        strangers: dict[str, tuple[Stat, str]] = {}
        by_path = {file.path: file.uid for file in known.values() if file.state != "deleted"}
        for name, (at, values, _) in fresh.items():
            uid = (values or {}).get("uid")
            if name in by_path and (uid == by_path[name] or values is None):
                continue
            if isinstance(uid, str) and _UID.fullmatch(uid) and uid in stored:
                claims.setdefault(ArticleUid(uid), []).append(name)
            elif name.startswith(f"{self._knowledge}/"):
                strangers[name] = (at, uid if isinstance(uid, str) else "")
        for path, at, uid in article_files.others(self._ledger):
            if path in here and here[path] == at and path not in fresh:
                if uid in stored and not self._held(known.get(ArticleUid(uid))):
                    claims.setdefault(ArticleUid(uid), []).append(path)
                else:
                    strangers[path] = (at, uid)
        moved = {}
        for uid, names in claims.items():
            file = known.get(uid)
            if self._held(file):
                strangers |= {name: (here[name], str(uid)) for name in names}
                continue
            names.sort(key=lambda name: self._likely(name, here[name], file))
            first, *rest = names
            strangers |= {name: (here[name], str(uid)) for name in rest}
            if first in fresh:
                at, values, note = fresh[first]
            else:
                note = files.inside(self._vault, first).read_bytes()
                at, values = here[first], None if merging(note) else read_matter(note)
            if values is not None:
                moved[uid] = (first, at, values, note)
        return moved, strangers

    def _held(self, file: ArticleFile | None) -> bool:
        """Whether the article's own file is still where it was; by its exact name, so that a change of case shows."""
        if file is None or file.state == "deleted":
            return False
        path = self._vault / file.path
        if not path.is_file() or path.name not in os.listdir(path.parent):
            return False
        values = read_matter(path.read_bytes())
        return values is None or values.get("uid") == file.uid

    def _likely(self, name: str, at: Stat, file: ArticleFile | None) -> tuple[bool, bool, bool, str]:
        if file is None:
            return (False, False, False, name)
        return (
            at[2] != file.at[2],
            name.casefold() != file.path.casefold(),
            name.rpartition("/")[2].casefold() != file.path.rpartition("/")[2].casefold(),
            name,
        )

    def _store(
        self,
        known: dict[ArticleUid, ArticleFile],
        changed: dict[ArticleUid, tuple[str, Stat, dict[str, object], bytes]],
        moved: dict[ArticleUid, tuple[str, Stat, dict[str, object], bytes]],
        gone: list[ArticleFile],
        away: set[ArticleUid],
        copies: dict[str, tuple[Stat, str]],
        odd: list[ArticleFile],
        here: dict[str, Stat],
        today: str,
    ) -> Seen:
        stored = articles.stored(self._ledger)
        standing = sum(file.state != "deleted" for file in known.values())
        many = len(gone) >= max(_LEAST_MANY, _SHARE_MANY * standing)
        edited = restored = deleted = waiting = 0
        before = {path: (at, uid) for path, at, uid in article_files.others(self._ledger)}
        if not (changed or gone or odd) and copies == before:
            return Seen(copies=_copies(copies))
        with self._ledger.transaction():
            for uid, (name, at, values, note) in changed.items():
                if uid not in stored:
                    continue
                file = known.get(uid) or ArticleFile(uid, name, at, "", Written(), "", 0, "")
                old = articles.edits_of(self._ledger, uid)
                new = edits_in(note, values, file.written, old, stored[uid], today) if file.written.parts else old
                if new.status == "deleted":
                    # It comes back as its note says it is, which may be retracted.
                    new = _restored(new, values, stored[uid], today)
                    restored += 1
                edited += articles.put_edits(self._ledger, self._redactor, uid, new) if new != old else 0
                # Saved from an older copy it may hold older links and values of ours: it is looked over once more.
                self._save(file, path=name, at=at, looks=0, state="", made="")
            if changed or (many and any(file.state != "question" for file in gone)):
                self._ledger.set_meta(articles.OWED, 1)
            for file in gone:
                # Where another article's file lies in its place, it has none any more.
                path = f"{linked(file.path)} ({file.uid}).md" if file.uid in away else file.path
                if many:
                    self._save(file, path=path, state="question", looks=0)
                elif file.looks < 1:
                    self._save(file, path=path, looks=1, state="")
                    waiting += 1
                else:
                    edits = msgspec.structs.replace(articles.edits_of(self._ledger, file.uid), status="deleted")
                    articles.put_edits(self._ledger, self._redactor, file.uid, edits)
                    # What we wrote there is kept: if it comes back, a person's changes in it are told from ours.
                    self._save(file, path=path, state="deleted", looks=0)
                    deleted += 1
            for file in odd:
                self._save(file, state="odd", at=here[file.path])
            article_files.set_others(self._ledger, self._redactor, copies)
        return Seen(
            edited=edited,
            moved=len(moved),
            deleted=deleted,
            restored=restored,
            waiting=waiting,
            question=len(gone) if many else 0,
            odd=len(odd),
            copies=_copies(copies),
        )

    def _save(self, file: ArticleFile, **changed: str | int | Stat) -> None:
        article_files.save(self._ledger, self._redactor, msgspec.structs.replace(file, **changed))


def _ousted(file: ArticleFile, values: dict[str, object] | None, known: dict[ArticleUid, ArticleFile]) -> bool:
    """Whether the file of another article lies where an article's own one was."""
    uid = (values or {}).get("uid")
    return isinstance(uid, str) and uid != file.uid and uid in known


def _restored(edits: Edits, values: dict[str, object], article: Article, today: str) -> Edits:
    status = _status(values)
    when = edits.retracted_on or today if status == "retracted" else None
    return msgspec.structs.replace(edits, status=None if status == article.status else status, retracted_on=when)


def _status(values: dict[str, object]) -> Status | None:
    """The status a note tells, however it is written: Obsidian also makes a list of it."""
    said = comparable(values.get("status"))
    if isinstance(said, list):
        said = said[0] if len(said) == 1 else ""
    return _STATUSES.get(said.strip().casefold())


def _one(value: str | list[str]) -> str | None:
    """A value of which there is one, also where the vault's type for it makes a list of it; None of several."""
    if isinstance(value, str):
        return value
    return value[0] if len(value) == 1 else None if value else ""


def _many(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def _copies(found: dict[str, tuple[Stat, str]]) -> tuple[str, ...]:
    return tuple(sorted(path for path, (_, uid) in found.items() if _UID.fullmatch(uid)))


def edits_in(
    note: bytes, values: dict[str, object], written: Written, old: Edits, article: Article, today: str
) -> Edits:
    """A person's edits of an article as its note shows them now; what is as we wrote it leaves them as they were.

    `today` is when something was retracted.
    """
    changed: dict[str, object] = {}
    for field in ("title", "retract_reason", "replaced_by"):
        now = _one(comparable(values.get(field)))
        if field in values and now is not None and now != _one(written.fields.get(field, "")):
            changed[field] = now or None
    for field in ("aliases", "tags", "projects"):
        row = _many(comparable(values.get(field)))
        if row != _many(written.fields.get(field, [])):
            changed[field] = tuple(row)
    status = _status(values)
    if status and status != _one(written.fields.get("status", "")):
        changed["status"] = status
        since = old.retracted_on if old.status == "retracted" else None
        changed["retracted_on"] = since or today if status == "retracted" else None
        if status != "retracted":
            changed["retract_reason"] = None
    for flag in ("locked", "pinned"):
        changed[flag] = values.get(flag) is True
    where = layout(note)
    bodies, seen = dict(old.bodies), old.seen
    for name in GENERATED:
        part = where.part(name)
        if name not in written.parts:
            continue
        # A section that was taken out is one that says nothing.
        text = text_of(note, part) if part else ""
        if part and same_part(text, written.parts[name]):
            bodies.pop(name, None)
        else:
            if name == "Key Points" and name not in bodies:
                seen = tuple(claim.quote for claim in article.points)
            bodies[name] = text
    return msgspec.structs.replace(old, **changed, bodies=bodies, seen=seen if "Key Points" in bodies else ())
