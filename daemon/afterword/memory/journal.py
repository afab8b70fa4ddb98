"""The journal, both ways: files in the vault and in the spool → registers, and registers that have no file → files.

Each entry is one new file, so nobody's can collide with another's. A file that cannot be read as an entry is named and
left alone. One of ours that vanished counts as deleted when two looks agree and only few vanished.
"""

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.article_note import Wanted, Written, layout, splice
from afterword.domain.clock import Clock, Zones
from afterword.domain.conflicts import copy_of
from afterword.domain.frontmatter import Word
from afterword.domain.ids import LessonUid, dropped_lesson_uid
from afterword.domain.lesson_note import Bad, Entry, markdown, name_of
from afterword.domain.lessons import CurrentLesson, Lesson, LessonEdits
from afterword.domain.note_names import is_note
from afterword.domain.registers import Rank
from afterword.memory.entries import masked, read_entry
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import faults, files
from afterword.store.ledger import lesson_files, lessons, tombstones
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.lesson_files import LessonFile, Stat
from afterword.store.matter import read_matter
from afterword.store.vault_card import may_write, read_card

FOLDER: Final = "journal"
SPOOL: Final = "lessons"
"""Where in the state folder entries wait while there is no vault."""
_FEW: Final = 3
_SHARE: Final = 0.05
_STALE_S: Final = 600
_SHOWN: Final = frozenset({"active", "draft"})
_COPY: Final = "is a sync tool's copy of an entry in conflict"


class Seen(msgspec.Struct, frozen=True):
    """What a look found: entries that are new, that a person changed, that are gone or wait for a second look, and
    those that vanished together with too many others."""

    new: int = 0
    edited: int = 0
    gone: int = 0
    waiting: int = 0
    question: int = 0

    @property
    def anything(self) -> bool:
        return bool(self.new or self.edited or self.gone)


class Journal:
    """The journal of one vault. `folder` is the lessons' folder in it; without a vault there is the spool alone."""

    def __init__(
        self,
        vault: Path | None,
        folder: str,
        state: Path,
        ledger: Ledger,
        redactor: Redactor,
        zones: Zones,
        clock: Clock,
    ) -> None:
        self._vault = vault
        self._folder = f"{folder}/{FOLDER}"
        self._spool = state / SPOOL
        self._ledger = ledger
        self._redactor = redactor
        self._zones = zones
        self._clock = clock
        self.bad: dict[str, str] = {}
        """Path → what is wrong with a file in the journal, or in the spool, as of the last look."""
        self._looked: dict[str, tuple[Stat, str]] = {}
        """Files that were found bad: not read again while they stay as they are."""
        self._quiet: list[tuple[Path, Stat]] = []
        self._quiet_bad: dict[str, str] = {}
        """The files as they were at a look that found nothing, and what was wrong with some: looked at again when one
        changed."""

    def look(self) -> Seen:
        """Take in what is new in the spool and the journal, and what a person did to entries there."""
        self.bad = {}
        found = self._drain()
        if self._vault is None or read_card(self._vault) is None:
            return Seen(new=found)
        there = list(self._listed(self._vault / self._folder))
        if there and there == self._quiet:
            self.bad |= self._quiet_bad
            return Seen(new=found)
        self._quiet = []
        known = lesson_files.every(self._ledger)
        by_path = {file.path: file for key, file in known.items() if key.startswith("l-")}
        new = edited = 0
        changed: list[tuple[str, Stat, Path]] = []
        for path, at in there:
            name = f"{self._folder}/{path.name}"
            file = by_path.get(name)
            if file is None or file.at != at or file.looks or file.state:
                changed.append((name, at, path))
        paths = {f"{self._folder}/{path.name}" for path, _ in there}
        for start in range(0, len(changed), 200):
            with self._ledger.transaction():
                for name, its_stat, path in changed[start : start + 200]:
                    did = self._take(name, its_stat, path, by_path.get(name), paths, known)
                    new += did == "new"
                    edited += did == "edited"
        gone, waiting, question = self._vanished(paths)
        if not (new or edited or gone or waiting or question):
            self._quiet, self._quiet_bad = there, dict(self.bad)
        return Seen(found + new, edited, gone, waiting, question)

    def render(self, most: int = 0) -> tuple[int, bool]:
        """Give every entry without a file one, or the first `most`, and say in ours that an entry was retracted; how
        many were written, and whether that is all."""
        if self._vault is None or not may_write(self._vault, self._ledger):
            return 0, True
        self._sweep(self._vault / self._folder)
        known = lesson_files.every(self._ledger)
        bare: list[CurrentLesson] = []
        done = 0
        for each in lessons.lessons(self._ledger):
            file = known.get(each.uid)
            if file is None and each.lesson.status in _SHOWN:
                bare.append(each)
            elif file and not file.state and each.edits.status == "retracted" and each.lesson.source != "file":
                done += self._mark(each, file)
        some = bare[:most] if most else bare
        for start in range(0, len(some), 50):
            made = [file for each in some[start : start + 50] if (file := self._create(each))]
            # A kill before this leaves files that the next look knows by their uid.
            with self._ledger.transaction():
                for file in made:
                    self._save(file)
            done += len(made)
        return done, len(some) == len(bare)

    def forget(self, gone: Mapping[str, str]) -> list[str]:
        """Take away the files of entries that were forgotten (uid → `ours` or `theirs`); a person's own stay.

        Returns:
            The files that could not be taken away.
        """
        left = []
        known = lesson_files.every(self._ledger)
        for key, whose in gone.items():
            file = known.get(key)
            if file is None or self._vault is None:
                continue
            path = self._vault / file.path
            if whose == "ours" and path.is_file() and not path.is_symlink():
                try:
                    path.unlink()
                    files.sync_folder(path.parent)
                except OSError:
                    left.append(file.path)
                    continue
            with self._ledger.transaction():
                lesson_files.drop(self._ledger, [key])
        return left

    def name_of(self, each: CurrentLesson) -> str:
        """Where an entry without a file will lie, relative to the vault."""
        return f"{self._folder}/{name_of(each.uid, each.lesson, self._zones.local(each.lesson.at_us))}"

    # Spool

    def _drain(self) -> int:
        """What waits in the spool, into the ledger; its file goes when it is there."""
        new = 0
        for path, _ in self._listed(self._spool):
            entry = read_entry(path, self._zones)
            if isinstance(entry, Bad):
                self.bad[str(path)] = entry.problem
                continue
            uid = LessonUid(entry.uid or dropped_lesson_uid(path.name))
            with self._ledger.transaction(durable=True):
                if not self._forgotten(uid) and lessons.lesson(self._ledger, uid) is None:
                    self._put(uid, entry)
                    new += 1
            faults.hit("lesson.drained")
            path.unlink(missing_ok=True)
        return new

    # Files of the journal

    def _listed(self, folder: Path) -> Iterator[tuple[Path, Stat]]:
        """The notes in a folder, by name."""
        try:
            found = sorted(os.listdir(folder))
        except OSError:
            return
        for name in found:
            if name.startswith(".") or not is_note(name):
                continue
            path = folder / name
            with contextlib.suppress(OSError):
                at = path.lstat()
                if not stat.S_ISDIR(at.st_mode):
                    yield path, (at.st_size, at.st_mtime_ns, at.st_ino)

    def _take(
        self, name: str, at: Stat, path: Path, file: LessonFile | None, paths: set[str], known: dict[str, LessonFile]
    ) -> str:
        """Take a file in that is new or changed; what became of it."""
        cached = self._looked.get(name)
        entry: Entry | Bad
        if files.placeholder(path):
            return ""
        if cached and cached[0] == at:
            entry = Bad(cached[1])
        else:
            entry = Bad(_COPY) if copy_of(path.name) and file is None else read_entry(path, self._zones)
        uid = LessonUid("")
        if isinstance(entry, Entry):
            uid = LessonUid(entry.uid or (file.key if file else dropped_lesson_uid(path.name)))
            other = known.get(uid)
            if other and other.path != name and other.path in paths and not other.state:
                entry = Bad(f"has the uid of {other.path}; leave the uid out to make it an entry of its own")
            elif self._forgotten(uid):
                entry = Bad("says what was forgotten; it is not taken in again")
        if isinstance(entry, Bad):
            self.bad[name] = entry.problem
            self._looked[name] = (at, entry.problem)
            if file and file.state != "bad":
                self._save(msgspec.structs.replace(file, state="bad", looks=0))
            return ""
        self._looked.pop(name, None)
        fields = self._fields(entry)
        standing = lessons.lesson(self._ledger, uid)
        if file and file.key != uid:
            lesson_files.drop(self._ledger, [file.key])
            file = None
        before = file or known.get(uid)
        self._save(LessonFile(uid, name, at, fields=fields))
        known[uid] = LessonFile(uid, name, at, fields=fields)
        if standing is None:
            self._put(uid, entry)
            return "new"
        return "edited" if before and self._edit(uid, entry, standing, before) else ""

    def _edit(self, uid: LessonUid, entry: Entry, standing: CurrentLesson, before: LessonFile) -> bool:
        """What a person changed in an entry since it was looked at last."""
        now = self._fields(entry)
        if before.state == "gone" and standing.edits.status == "deleted":
            edits = msgspec.structs.replace(standing.edits, status=None)
        elif now == before.fields:
            return False
        else:
            edits = standing.edits
        if standing.lesson.source == "file":
            told = self._own(entry.lesson)
            told = msgspec.structs.replace(told, at_us=standing.lesson.at_us, day=standing.lesson.day)
            new = lessons.put_lesson(self._ledger, self._redactor, uid, told, Rank.PERSON)
            return (
                lessons.put_lesson_edits(self._ledger, self._redactor, uid, edits) if edits != standing.edits else new
            )
        if now.get("text") != before.fields.get("text"):
            edits = msgspec.structs.replace(edits, text=entry.lesson.text)
        if now.get("status") != before.fields.get("status"):
            on = self._zones.day(self._clock()) if entry.lesson.status == "retracted" else ""
            edits = msgspec.structs.replace(
                edits, status=entry.lesson.status, retract_reason=entry.reason, retracted_on=on
            )
        if now.get("pinned") != before.fields.get("pinned"):
            edits = msgspec.structs.replace(edits, pinned=entry.lesson.pinned)
        return edits != standing.edits and lessons.put_lesson_edits(self._ledger, self._redactor, uid, edits)

    def _fields(self, entry: Entry) -> dict[str, str | list[str]]:
        """What of an entry a person may change, as it is compared; of its text a keyed hash."""
        text = self._redactor.redact(entry.lesson.text)
        return {
            "status": entry.lesson.status,
            "pinned": "true" if entry.lesson.pinned else "false",
            "text": lesson_files.line_hash(self._ledger, text),
            **({"all": self._all(entry)} if entry.lesson.source == "file" else {}),
        }

    def _all(self, entry: Entry) -> str:
        said = msgspec.json.encode(msgspec.structs.replace(entry.lesson, at_us=0, day="")).decode()
        return lesson_files.line_hash(self._ledger, said)

    def _own(self, lesson: Lesson) -> Lesson:
        """With the machine that a local fact is about."""
        if lesson.kind != "local-fact" or lesson.machine:
            return lesson
        return msgspec.structs.replace(lesson, machine=self._ledger.origin[1])

    def _put(self, uid: LessonUid, entry: Entry) -> None:
        lesson = self._own(entry.lesson)
        rank = Rank.PERSON if lesson.source == "file" else Rank.ENGINE
        lessons.put_lesson(self._ledger, self._redactor, uid, lesson, rank)
        if entry.lesson.status == "retracted" and entry.reason:
            edits = LessonEdits(status="retracted", retract_reason=entry.reason, retracted_on=lesson.day)
            lessons.put_lesson_edits(self._ledger, self._redactor, uid, edits)

    def _forgotten(self, uid: LessonUid) -> bool:
        return tombstones.lesson_forgotten(self._ledger, uid)

    def _vanished(self, paths: set[str]) -> tuple[int, int, int]:
        """(gone, waiting for a second look, in question) of the entries whose file is not there."""
        known = [file for key, file in lesson_files.every(self._ledger).items() if key.startswith("l-")]
        missing = [file for file in known if file.path not in paths and file.state != "gone"]
        if not missing:
            return 0, 0, 0
        there = self._vault is not None and (self._vault / self._folder).is_dir()
        few = there and len(missing) < max(_FEW, _SHARE * len(known))
        gone = waiting = question = 0
        with self._ledger.transaction():
            for file in missing:
                if not few:
                    question += 1
                    state = "question"
                elif file.looks:
                    state = "gone"
                    gone += 1
                    uid = LessonUid(file.key)
                    edits = msgspec.structs.replace(lessons.lesson_edits(self._ledger, uid), status="deleted")
                    lessons.put_lesson_edits(self._ledger, self._redactor, uid, edits)
                else:
                    waiting += 1
                    state = ""
                self._save(msgspec.structs.replace(file, looks=file.looks + 1, state=state))
        return gone, waiting, question

    # Writing

    def _create(self, each: CurrentLesson) -> LessonFile | None:
        assert self._vault is not None
        name = self.name_of(each)
        if not files.lies_inside(self._vault, name):
            return None
        path = files.inside(self._vault, name)
        shown = msgspec.structs.replace(
            each.lesson,
            text=leave("lesson", each.lesson.text, self._redactor),
            evidence=leave("lesson", each.lesson.evidence, self._redactor),
        )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not files.create(path, markdown(each.uid, shown)):
                return None
            faults.hit("lesson.written")
            at = path.stat()
        except OSError as err:
            self.bad[name] = err.strerror or str(err)
            return None
        fields = self._fields(Entry(each.uid, shown))
        return LessonFile(each.uid, name, (at.st_size, at.st_mtime_ns, at.st_ino), fields=fields)

    def _mark(self, each: CurrentLesson, file: LessonFile) -> bool:
        """Say in an entry's front matter that it was retracted; its text stays what was said."""
        assert self._vault is not None
        path = self._vault / file.path
        try:
            old = path.read_bytes()
        except OSError:
            return False
        values = read_matter(old)
        if values is None or values.get("status") == "retracted" or layout(old).matter is None or path.is_symlink():
            return False
        reason = leave("lesson", each.edits.retract_reason, self._redactor)
        front = (("status", Word("retracted")), ("retracted_on", each.edits.retracted_on), ("retract_reason", reason))
        new = splice(old, values, Wanted(front, {}), Written({"status": str(values.get("status", ""))})).note
        if new == old or not files.swap(path, old, new):
            return False
        at = path.stat()
        with self._ledger.transaction():
            fields = file.fields | {"status": "retracted"}
            self._save(
                msgspec.structs.replace(file, at=(at.st_size, at.st_mtime_ns, at.st_ino), fields=fields, looks=0)
            )
        return True

    def mask(self) -> int:
        """Under newer redaction rules: put entries of ours through them, in place; how many were changed. What a
        person wrote stays."""
        if self._vault is None or not may_write(self._vault, self._ledger):
            return 0
        standing = {each.uid: each for each in lessons.lessons(self._ledger)}
        done = 0
        for key, file in lesson_files.every(self._ledger).items():
            each = standing.get(LessonUid(key))
            path = self._vault / file.path
            theirs = each is None or each.lesson.source == "file" or each.edits.text is not None
            if theirs or each is None or path.is_symlink() or not path.is_file():
                continue
            old = path.read_bytes()
            new = masked(old, self._redactor)
            if new != old and not files.swap(path, old, new):
                continue
            name = file.path
            if self._redactor.redact(name) != name:
                name = self.name_of(each)
                target = self._vault / name
                if target.exists():
                    continue
                path = path.rename(target)
                files.sync_folder(path.parent)
            elif new == old:
                continue
            at = path.stat()
            fields = file.fields | {"text": lesson_files.line_hash(self._ledger, each.lesson.text)}
            with self._ledger.transaction():
                now = (at.st_size, at.st_mtime_ns, at.st_ino)
                self._save(msgspec.structs.replace(file, path=name, at=now, fields=fields))
            done += 1
        return done

    def _sweep(self, folder: Path) -> None:
        """Take away what a kill left half made; others may be writing just now, so only what is old."""
        now_us = self._clock()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                old = entry.name.startswith(".") and entry.name.endswith(".afterword.tmp")
                if old and now_us - entry.stat().st_mtime_ns // 1000 > _STALE_S * 1_000_000:
                    Path(entry.path).unlink(missing_ok=True)

    def _save(self, file: LessonFile) -> None:
        lesson_files.save(self._ledger, self._redactor, file)
