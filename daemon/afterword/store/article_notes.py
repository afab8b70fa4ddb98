"""Articles from the ledger into the vault: new ones whole, existing ones by splicing, each change planned before.

What a write will have made is in the ledger before the file is replaced, and confirmed after; a kill between leaves a
plan whose file either holds the planned bytes or does not. A person's bytes are never written over: the file is read,
spliced, and replaced only if it still holds what was read.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from afterword.domain.article_note import Wanted, Written, only_ours, splice, whole, written_of
from afterword.domain.articles import Current
from afterword.domain.conflicts import merging
from afterword.domain.day_names import DayNames
from afterword.domain.ids import ArticleUid, SegmentKey
from afterword.domain.note_names import linked
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import faults, files
from afterword.store.article_text import Source, Target, source_of, wanted
from afterword.store.ledger import article_files, articles
from afterword.store.ledger.article_files import UNSEEN, ArticleFile, Planned, Stat
from afterword.store.ledger.ledger import Ledger
from afterword.store.matter import read_matter
from afterword.store.vault_card import may_write, read_card

FOLDERS = {"concept": "concepts", "connection": "connections"}
_SHOWN = frozenset({"active", "stale", "draft", "retracted"})
_AT_ONCE = 40


class Change(msgspec.Struct, frozen=True):
    """A file to write: `old` is what it held when it was read, None when it is new; `at` its stamp before that."""

    current: Current
    path: str
    old: bytes | None
    new: bytes
    made: str
    written: Written
    at: Stat


class ArticleNotes:
    """The one writer of articles in a vault."""

    def __init__(self, vault: Path, days: DayNames, knowledge: str, ledger: Ledger, redactor: Redactor) -> None:
        self._vault = vault
        self._days = days
        self._knowledge = knowledge
        self._ledger = ledger
        self._redactor = redactor
        self.problems: dict[str, str] = {}
        """Path in the vault → why it could not be written at the last `sync`."""
        self._wrote: dict[ArticleUid, Stat] = {}
        """The files nobody touched since this process wrote them: nobody is at work on these."""

    def sync(self, *, quiet: Callable[[Path], bool] = lambda _path: False) -> int:
        """Write what changed; how many files. Nothing is done while the vault is not there.

        A file that cannot be written keeps no other one from it. Files that are missing, cannot be read, are locked,
        or for which `quiet` says that somebody is at work on them, are left alone.
        """
        self.problems.clear()
        if not may_write(self._vault, self._ledger):
            return 0
        self.recover()
        current = articles.current(self._ledger)
        self._withdraw(current)
        known = article_files.every(self._ledger)
        done = 0
        for chunk in _chunks(self.changes(current, known, quiet=quiet)):
            done += self._write(chunk, known)
        return done

    def recover(self) -> None:
        """Confirm or forget what a kill left planned, and take away what it left half made."""
        open_plans = [file for file in article_files.every(self._ledger).values() if file.plan]
        if not may_write(self._vault, self._ledger):
            return
        for folder in ("", *(f"/{name}" for name in FOLDERS.values())):
            files.sweep_temporaries(files.inside(self._vault, self._knowledge + folder))
        for file in open_plans:
            files.sweep_temporaries(files.inside(self._vault, file.path).parent)
        if not open_plans:
            return
        with self._ledger.transaction():
            for file in open_plans:
                plan = msgspec.json.decode(file.plan, type=Planned)
                path = files.inside(self._vault, plan.path)
                at = files.stamp(path) if path.is_file() else UNSEEN
                if at != UNSEEN and _digest(path.read_bytes()) == plan.digest:
                    self._save(file, path=plan.path, at=at, made=plan.made, written=plan.written, plan="")
                elif file.at == UNSEEN and not path.is_file():
                    article_files.drop(self._ledger, file.uid)
                else:
                    self._save(file, plan="")

    def changes(
        self,
        current: Iterable[Current],
        known: dict[ArticleUid, ArticleFile],
        *,
        quiet: Callable[[Path], bool] = lambda _path: False,
        leaving: Collection[ArticleUid] = (),
    ) -> list[Change]:
        """What would have to be written so that the vault shows these articles. Reads files, writes none. The files of
        those in `leaving` are there and will be gone by then: their names are free."""
        # What was withdrawn and is still there is a person's too: its links are ours to keep right.
        row = [
            each
            for each in current
            if each.article.status in _SHOWN or (_left(each, known) and each.uid not in leaving)
        ]
        paths = self.places(row, known, leaving)
        # What vanished together with too many others may come back, but a link to it would lead nowhere now.
        there = [each for each in row if each.uid not in known or known[each.uid].state != "question"]
        targets = self.targets(there, paths)
        types = property_types(self._vault)
        gone: dict[str, list[Target]] = {}
        for target in targets.values():
            for uid in target.linked:
                gone.setdefault(uid, []).append(target)
        found = []
        for each in row:
            sources = self._sources(each)
            want = wanted(each, sources, targets, self._out, types, gone.get(each.uid, ()))
            made = _digest(msgspec.json.encode((want.parts, [(key, str(value)) for key, value in want.front])))
            try:
                change = self._change(each, paths[each.uid], known.get(each.uid), want, made, quiet)
            except OSError as err:
                self.problems[paths[each.uid]] = err.strerror or str(err)
                continue
            if change:
                found.append(change)
        return found

    def places(
        self, row: Iterable[Current], known: dict[ArticleUid, ArticleFile], leaving: Collection[ArticleUid] = ()
    ) -> dict[ArticleUid, str]:
        """Where each article lies or will lie, relative to the vault."""
        free = {known[uid].path for uid in leaving}
        taken = {file.path.casefold() for uid, file in known.items() if file.state != "deleted" and uid not in leaving}
        spelled = self._spelled() if any(each.uid not in known for each in row) else {}
        paths: dict[ArticleUid, str] = {}
        for each in row:
            if each.uid in known:
                paths[each.uid] = known[each.uid].path
                continue
            folder = f"{self._knowledge}/{FOLDERS[each.article.kind]}"
            for name in (each.article.slug, f"{each.article.slug}-{each.uid[2:6]}", each.uid):
                path = f"{folder}/{name}.md"
                # On a Mac, or in its copy on one, two names that differ in case alone are one file.
                other = spelled.get(path.casefold(), path) != path
                if path.casefold() not in taken and not other and (path in free or not self._foreign(path, each.uid)):
                    break
            taken.add(path.casefold())
            paths[each.uid] = path
        return paths

    def targets(self, row: Iterable[Current], paths: dict[ArticleUid, str]) -> dict[ArticleUid, Target]:
        """The articles as targets of links."""
        return {each.uid: _target(linked(paths[each.uid]), each) for each in row if each.uid in paths}

    def _spelled(self) -> dict[str, str]:
        """The files in our folders as they are spelled there, by their path in lower case."""
        found: dict[str, str] = {}
        for folder in FOLDERS.values():
            place = f"{self._knowledge}/{folder}"
            with contextlib.suppress(OSError):
                found |= {f"{place}/{name}".casefold(): f"{place}/{name}" for name in os.listdir(self._vault / place)}
        return found

    def _foreign(self, name: str, uid: ArticleUid) -> bool:
        if not files.lies_inside(self._vault, name):
            return True
        path = files.inside(self._vault, name)
        if not path.exists():
            return False
        values = read_matter(path.read_bytes()) if path.is_file() else None
        return (values or {}).get("uid") != uid

    def _change(
        self, each: Current, name: str, file: ArticleFile | None, want: Wanted, made: str, quiet: Callable[[Path], bool]
    ) -> Change | None:
        if not files.lies_inside(self._vault, name):
            return None  # a person's link to a place outside the vault
        path = files.inside(self._vault, name)
        theirs = frozenset(each.edits.bodies)
        if files.placeholder(path):
            return None
        if file is None and not path.exists():
            return Change(each, name, None, whole(want), made, written_of(want, theirs), UNSEEN)
        if each.edits.locked or (file and file.state) or not path.is_file():
            return None
        at = files.stamp(path)
        if file and file.made == made and file.at == at:
            return None
        if self._wrote.get(each.uid) != at and quiet(path):
            return None
        old = path.read_bytes()
        values = read_matter(old)
        if values is None or merging(old):
            return None
        done = splice(old, values, want, file.written if file else Written(), theirs)
        return Change(each, name, old, done.note, made, done.written, at)

    def _write(self, chunk: list[Change], known: dict[ArticleUid, ArticleFile]) -> int:
        with self._ledger.transaction(durable=True):
            for change in chunk:
                if change.old != change.new:
                    plan = Planned(change.path, _digest(change.new), change.made, change.written)
                    self._save(self._row(change, known), plan=msgspec.json.encode(plan).decode())
        written: list[Change] = []
        done = 0
        for change in chunk:
            path = files.inside(self._vault, change.path)
            if change.old == change.new:
                written.append(change)
                continue
            faults.hit("article.plan")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                good = (
                    files.create(path, change.new) if change.old is None else files.swap(path, change.old, change.new)
                )
            except OSError as err:
                self.problems[change.path] = err.strerror or str(err)
                continue
            faults.hit("article.written")
            if good:
                written.append(change)
                done += 1
        kept = {id(change) for change in written}
        with self._ledger.transaction():
            for change in chunk:
                file = self._row(change, known)
                path = files.inside(self._vault, change.path)
                if id(change) in kept and path.is_file():
                    at = files.stamp_of(path, change.new) if change.old != change.new else change.at
                    if change.old != change.new:
                        self._wrote[change.current.uid] = at
                    if change.old is not None and file.at != change.at:
                        at = files.SAVED_SINCE  # what somebody did to it is to be looked at before this counts as seen
                    self._save(file, at=at, made=change.made, written=change.written, plan="")
                elif file.at == UNSEEN:
                    article_files.drop(self._ledger, file.uid)
                else:
                    self._save(file, plan="")
        return done

    def _row(self, change: Change, known: dict[ArticleUid, ArticleFile]) -> ArticleFile:
        uid = change.current.uid
        return known.get(uid) or ArticleFile(uid, change.path, UNSEEN, "", Written(), "", 0, "")

    def withdrawn(self, current: Iterable[Current]) -> Iterator[tuple[ArticleUid, str, bytes]]:
        """(article, path, what it holds) of the files of articles that nothing leads to any more, if every byte of them
        is still ours."""
        known = article_files.every(self._ledger)
        for each in current:
            file = known.get(each.uid)
            if (
                each.article.status != "withdrawn"
                or file is None
                or file.state
                or each.edits.locked
                or each.edits.bodies
            ):
                continue
            path = self._vault / file.path
            if path.is_symlink() or not path.is_file() or file.at != files.stamp(path):
                continue
            note = path.read_bytes()
            if only_ours(note, read_matter(note), file.written):
                yield each.uid, file.path, note

    def _withdraw(self, current: Iterable[Current]) -> None:
        """Take those files away."""
        for uid, name, _ in self.withdrawn(current):
            path = self._vault / name
            try:
                path.unlink()
            except OSError as err:
                self.problems[name] = err.strerror or str(err)
                continue
            files.sync_folder(path.parent)
            with self._ledger.transaction():
                article_files.drop(self._ledger, uid)

    def _sources(self, each: Current) -> dict[SegmentKey, Source]:
        found = articles.cited(self._ledger, each.article.sections)
        return {key: source_of(day, at, key, rev, path, self._days) for key, (day, at, rev, path) in found.items()}

    def _save(self, file: ArticleFile, **changed: str | Stat | Written) -> None:
        article_files.save(self._ledger, self._redactor, msgspec.structs.replace(file, **changed))

    def _out(self, text: str) -> str:
        return leave("article", text, self._redactor)


def _target(note: str, each: Current) -> Target:
    article = each.article
    if article.status != "retracted":
        return Target(note, article.title, each.live)
    return Target(
        note, article.title, each.live, article.retracted_on, article.retract_reason, article.replaced_by,
        each.edits.linked,
    )  # fmt: skip


def property_types(vault: Path) -> dict[str, str]:
    """The types that the vault's `types.json` gives to properties; none where it cannot be read."""
    card = read_card(vault)
    try:
        return msgspec.json.decode(
            (vault / (card.config if card else "") / "types.json").read_bytes(), type=_Types
        ).types
    except (OSError, msgspec.MsgspecError):
        return {}


class _Types(msgspec.Struct, frozen=True):
    types: dict[str, str]


def _left(each: Current, known: Mapping[ArticleUid, ArticleFile]) -> bool:
    """Whether an article nothing leads to any more has its file still, because a person worked on it."""
    # One that has not even a name is forgotten: its file is relieved of it, and never brought up to date.
    named = each.article.status == "withdrawn" and bool(each.article.slug)
    return named and each.uid in known and bool(known[each.uid].written.parts)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _chunks(row: list[Change]) -> Iterable[list[Change]]:
    for at in range(0, len(row), _AT_ONCE):
        yield row[at : at + _AT_ONCE]
