"""What people and agents did to topics and agents' files → entries of the journal and edits of facts. Reads files.

A direct edit of an agent's file is neither lost nor obeyed: what was added becomes entries, and the file is made again.
In a topic a changed line is the person's wording of that fact, a line that was taken out takes its fact out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.article_note import layout
from afterword.domain.clock import Clock, Zones
from afterword.domain.conflicts import copy_of, merging
from afterword.domain.escape import plain, unescape
from afterword.domain.ids import FactId, LessonUid, topic_uid
from afterword.domain.lessons import TEXT_MAX, CurrentFact, FactEdits, Lesson, LessonKind, agent_name
from afterword.domain.note_names import NOTES
from afterword.domain.topic_note import Shown, added, shown, text_of
from afterword.memory.pages import AGENTS, BEFORE, TOPICS, stat_of
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.ledger import lesson_files, lessons, tombstones
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.lesson_files import AGENT, LessonFile
from afterword.store.matter import read_matter
from afterword.store.vault_card import may_write, read_card

_MAX_BYTES: Final = 1 << 20
_FEW: Final = 3
_SHARE: Final = 0.05
_FRESH_US: Final = 120_000_000
"""So long after a write of ours an editor may hold the file as it was before."""
_KINDS: Final[dict[str, LessonKind]] = {"Facts": "lesson", "Dead ends": "dead-end", "On one machine": "local-fact"}
_MARKER: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6}|>)[ \t]+(?:\[.\][ \t]+)?")
_ID: Final = re.compile(r"[ \t]*\^(f-[0-9a-f]{12})[ \t]*\Z")
_SAYS: Final = re.compile(r"\w.*\w")


class Taken(msgspec.Struct, frozen=True):
    """What a look took in: entries made of what somebody wrote, facts a person changed or took out, and files in which
    too much was missing at once to believe it."""

    entries: int = 0
    edited: int = 0
    removed: int = 0
    question: int = 0

    @property
    def anything(self) -> bool:
        return bool(self.entries or self.edited or self.removed or self.question)


class PageWatch:
    """Looks at the topics and agents' files of one vault."""

    def __init__(
        self, vault: Path, folder: str, ledger: Ledger, redactor: Redactor, zones: Zones, clock: Clock
    ) -> None:
        self._vault = vault
        self._folder = folder
        self._ledger = ledger
        self._redactor = redactor
        self._zones = zones
        self._clock = clock
        self.problems: dict[str, str] = {}
        """Path in the vault → why it could not be looked at last."""
        self._at: object = None
        """What the files were like after a look that found nothing."""

    def look(self) -> Taken:
        """Take in what was done since the last look."""
        if read_card(self._vault) is None:
            self.problems = {}
            return Taken()
        if self._at is not None and self._at == self._now():
            return Taken()
        self.problems = {}
        self._at = None
        done = self._look()
        # What could not be looked at, or was written just now, is looked at again.
        if not self.problems and not done.anything:
            self._at = self._now()
        return done

    def _now(self) -> object:
        """What the files are like, at the price of their stats."""
        known = lesson_files.every(self._ledger)
        pages = {key: file for key, file in known.items() if not key.startswith("l-")}
        found: dict[str, object] = {}
        for name in (TOPICS, AGENTS):
            folder = self._vault / self._folder / name
            paths = [path for path in folder.glob(NOTES) if folder.is_dir()]
            found |= {str(path): stat_of(path) for path in paths if path.is_file()}
        return found, [(file.path, file.made, file.plan) for file in pages.values()]

    def _look(self) -> Taken:
        self._strangers()
        known = lesson_files.every(self._ledger)
        facts = {each.id: each for each in lessons.facts(self._ledger)}
        self._adopt(known, facts)
        agents = self._agents(known, facts)
        return self._topics(lesson_files.every(self._ledger), facts, agents)

    def _adopt(self, known: Mapping[str, LessonFile], facts: Mapping[FactId, CurrentFact]) -> None:
        """Topics of ours that another ledger wrote into this vault: what carries a fact's id in them is ours."""
        folder = self._vault / self._folder / TOPICS
        wanted = {topic_uid(each.fact.topic) for each in facts.values()} - known.keys()
        paths = {file.path for file in known.values()}
        for path in sorted(folder.glob(NOTES)) if wanted and folder.is_dir() else []:
            name = f"{self._folder}/{TOPICS}/{path.name}"
            note = self._read(name) if name not in paths else None
            values = read_matter(note) if note is not None else None
            uid = str((values or {}).get("uid"))
            if note is None or uid not in wanted:
                continue
            wanted.discard(uid)
            marks = tuple(mark for mark in lesson_files.lines_of(self._ledger, note) if "=" in mark)
            made = lesson_files.bytes_hash(self._ledger, note)
            with self._ledger.transaction():
                self._save(LessonFile(uid, name, made=made, lines=marks))

    # Agents' files

    def _strangers(self) -> None:
        """A file that was there before ours is taken in like an edit, and kept aside as it was."""
        folder = self._vault / self._folder / AGENTS
        if not folder.is_dir() or not may_write(self._vault, self._ledger):
            return
        known = {file.path for file in lesson_files.every(self._ledger).values()}
        for path in sorted(folder.glob(NOTES)):
            name = f"{self._folder}/{AGENTS}/{path.name}"
            if name in known or path.is_symlink() or not path.is_file() or copy_of(path.name):
                continue
            agent = agent_name(path.stem)
            note = self._read(name)
            if not agent or note is None:
                continue
            if not (path.stem == agent and self._ours(note)):
                kept = folder / BEFORE / path.name
                kept.parent.mkdir(exist_ok=True)
                if not files.create(kept, note):
                    self.problems[name] = f"a file of this name is in {BEFORE}/ already; move one of them away"
                    continue
                with self._ledger.transaction():
                    for text, _ in _said(note, lambda _line: False):
                        self._entry("agent", agent, text, agents=(agent,))
                path.unlink()
                files.sync_folder(folder)
                continue
            with self._ledger.transaction():
                # Ours, from another ledger of this vault: it is made again from what this one knows.
                made = lesson_files.bytes_hash(self._ledger, note)
                marks = lesson_files.lines_of(self._ledger, note)
                self._save(LessonFile(AGENT + agent, name, made=made, lines=marks))

    def _ours(self, note: bytes) -> bool:
        return (read_matter(note) or {}).get("type") == "agent"

    def _agents(self, known: Mapping[str, LessonFile], facts: Mapping[FactId, CurrentFact]) -> int:
        entries = 0
        for key, file in known.items():
            if not key.startswith(AGENT):
                continue
            note = self._read(file.path)
            if note is None or self._confirmed(file, note):
                continue
            agent = key.removeprefix(AGENT)
            ours = lesson_files.hashes(file)
            told = list(_said(note, lambda line: lesson_files.line_hash(self._ledger, line) in ours))  # noqa: B023
            there = {mark.partition("=")[0] for mark in lesson_files.lines_of(self._ledger, note) if "=" in mark}
            with self._ledger.transaction():
                for text, its_id in told:
                    meant = facts.get(FactId(its_id)) if its_id else None
                    said = text.removesuffix(f" ({', '.join(meant.fact.projects)})") if meant else text
                    if meant is None or not self._same(said, meant.fact.text):
                        entries += self._entry("agent", agent, said, agents=(agent,), evidence=its_id)
                away = sorted(lesson_files.facts_in(file, settled=self._soon(file)) - there)
                gone = [fact for its_id in away if (fact := facts.get(FactId(its_id))) and fact.live]
                for fact in gone if len(gone) <= _FEW else ():
                    said = f"Taken out of the file of {agent} by hand: {fact.fact.text}"[:TEXT_MAX]
                    entries += self._entry("agent", agent, said, evidence=fact.id, draft=True)
                if len(gone) > _FEW:
                    said = f"{len(gone)} facts were taken out of the file of {agent} by hand at once"
                    entries += self._entry("agent", agent, said, draft=True)
                # From here on these bytes are known; the file is made again from the facts.
                self._save(
                    msgspec.structs.replace(
                        file,
                        made=lesson_files.bytes_hash(self._ledger, note),
                        plan="",
                        lines=lesson_files.lines_of(self._ledger, note),
                    )
                )
        return entries

    def _same(self, text: str, fact: str) -> bool:
        """Whether a line says what a fact says; a long one is cut in the file."""
        cut = text.removesuffix(" …")
        return self._redactor.redact(text) == fact or (cut != text and fact.startswith(cut))

    # Topics

    def _topics(self, known: Mapping[str, LessonFile], facts: Mapping[FactId, CurrentFact], entries: int) -> Taken:
        changed: list[tuple[LessonFile, bytes, str]] = []
        present: dict[FactId, str] = {}
        moved = self._moved(known)
        for key, before in known.items():
            if not key.startswith("t-"):
                continue
            file = msgspec.structs.replace(before, path=moved[key]) if key in moved else before
            note = self._read(file.path)
            if note is None:
                if not (self._vault / file.path).exists():
                    # A page that somebody deleted is made again: what it shows is in the journal.
                    with self._ledger.transaction():
                        lesson_files.drop(self._ledger, [key])
                continue
            confirmed = self._confirmed(file, note)
            topic = self._topic_of(note, file)
            for each in shown(note):
                present.setdefault(each.id, topic)
            if key in moved:
                with self._ledger.transaction():
                    self._save(msgspec.structs.replace(lesson_files.get(self._ledger, key) or file, path=file.path))
            if not confirmed:
                changed.append((file, note, topic))
        edited = removed = question = 0
        for file, note, topic in changed:
            with self._ledger.transaction():
                did = self._topic(file, note, topic, facts, present)
            entries, edited = entries + did.entries, edited + did.edited
            removed, question = removed + did.removed, question + did.question
        return Taken(entries, edited, removed, question)

    def _moved(self, known: Mapping[str, LessonFile]) -> dict[str, str]:
        """Topics whose file somebody renamed or moved, by the uid in it."""
        missing = {key for key, file in known.items() if key[:2] == "t-" and not (self._vault / file.path).exists()}
        found: dict[str, str] = {}
        if not missing:
            return found
        taken = {file.path for file in known.values()}
        for path in sorted((self._vault / self._folder).rglob(NOTES)):
            name = path.relative_to(self._vault).as_posix()
            if name in taken or path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
                continue
            uid = str((read_matter(path.read_bytes()) or {}).get("uid"))
            if uid in missing and uid not in found:
                found[uid] = name
        return found

    def _topic_of(self, note: bytes, file: LessonFile) -> str:
        said = file.fields.get("slug")
        return said if isinstance(said, str) and said else str((read_matter(note) or {}).get("slug") or "")

    def _topic(
        self,
        file: LessonFile,
        note: bytes,
        topic: str,
        facts: Mapping[FactId, CurrentFact],
        present: Mapping[FactId, str],
    ) -> Taken:
        if merging(note) or read_matter(note) is None:
            self.problems[file.path] = "its front matter cannot be read, or it holds the markers of a merge"
            return Taken()
        ours = lesson_files.hashes(file)
        entries = edited = removed = 0
        here: set[str] = set()
        for each in shown(note):
            here.add(each.id)
            fact = facts.get(each.id)
            if fact is None or each.section not in _KINDS or fact.fact.status != "active":
                continue
            if lesson_files.line_hash(self._ledger, each.line) not in ours:
                edited += self._line(each, fact, topic)
        gone = [
            fact
            for its_id in sorted(lesson_files.facts_in(file, settled=self._soon(file)) - here)
            if (fact := facts.get(FactId(its_id))) and fact.live and fact.fact.topic == topic
        ]
        away = [fact for fact in gone if fact.id not in present]
        few = len(away) < max(_FEW, _SHARE * len(lesson_files.facts_in(file)))
        for fact in gone:
            elsewhere = present.get(fact.id)
            if elsewhere and elsewhere != topic:
                edited += self._edit(fact.id, topic=elsewhere)
            elif few and not elsewhere:
                removed += self._edit(fact.id, status="deleted")
        for section, text in added(note):
            if section in _KINDS:
                entries += self._entry("topic", topic, text, topic=topic, kind=_KINDS[section])
        self._save(
            msgspec.structs.replace(
                file,
                made=lesson_files.bytes_hash(self._ledger, note),
                plan="",
                lines=lesson_files.kept(file, lesson_files.lines_of(self._ledger, note)),
            )
        )
        return Taken(entries, edited, removed, 0 if few else len(away))

    def _soon(self, file: LessonFile) -> bool:
        """Whether a file was saved so soon after our last write, or that was so surely cut short, that whoever saved it
        may not have seen the lines of that write."""
        path = self._vault / file.path
        after_us = (path.stat().st_mtime_ns - file.at[1]) // 1000
        return bool(file.plan) or 0 <= after_us < _FRESH_US

    def _line(self, each: Shown, fact: CurrentFact, topic: str) -> bool:
        """A person's wording of a fact."""
        done = False
        if not self._same(each.text, fact.fact.text):
            done = self._edit(each.id, text=each.text)
        if fact.fact.topic != topic and not done:
            done = self._edit(each.id, topic=topic)
        return done

    def _edit(self, its_id: FactId, **changed: str) -> bool:
        edits = lessons.fact_edits(self._ledger, its_id)
        new = msgspec.convert(msgspec.to_builtins(edits) | changed, FactEdits)
        return lessons.put_fact_edits(self._ledger, self._redactor, its_id, new)

    # Both

    def _confirmed(self, file: LessonFile, note: bytes) -> bool:
        """Whether a file is as it was written or taken in last; a write that a kill left unconfirmed is one."""
        found = lesson_files.bytes_hash(self._ledger, note)
        if found == file.plan:
            with self._ledger.transaction():
                kept = lesson_files.kept(file, lesson_files.lines_of(self._ledger, note))
                self._save(msgspec.structs.replace(file, made=found, plan="", lines=kept))
            return True
        return found == file.made

    def _entry(
        self,
        where: str,
        name: str,
        text: str,
        *,
        agents: tuple[str, ...] = (),
        topic: str = "",
        kind: LessonKind = "lesson",
        evidence: str = "",
        draft: bool = False,
    ) -> bool:
        """An entry of what somebody wrote into a file of ours; the same words in the same file are one entry."""
        text = text[:TEXT_MAX]
        data = f"{where}\0{name}\0{self._redactor.redact(text)}".encode("utf-8", "surrogatepass")
        uid = LessonUid(f"l-{self._ledger.keyed_hash(data, 6).hex()}")
        if tombstones.lesson_forgotten(self._ledger, uid) or lessons.lesson(self._ledger, uid) is not None:
            return False
        now_us = self._clock() // 1000 * 1000
        lesson = Lesson(
            text=text,
            kind=kind,
            at_us=now_us,
            day=self._zones.day(now_us),
            source="edit",
            by=name if where == "agent" else "",
            agents=agents,
            topic=topic,
            machine=self._ledger.origin[1] if kind == "local-fact" else "",
            evidence=evidence,
            status="draft" if draft else "active",
        )
        return lessons.put_lesson(self._ledger, self._redactor, uid, lesson)

    def _read(self, name: str) -> bytes | None:
        """A file's bytes; None where it is not there, or not to be looked at."""
        path = self._vault / name
        try:
            if files.placeholder(path) or path.is_symlink() or not path.is_file():
                return None
            if path.stat().st_size > _MAX_BYTES:
                self.problems[name] = "is too large to be looked at; it is left as it is"
                return None
            return path.read_bytes()
        except OSError as err:
            self.problems[name] = err.strerror or str(err)
            return None

    def _save(self, file: LessonFile) -> None:
        lesson_files.save(self._ledger, self._redactor, file)


def _said(note: bytes, known: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """(text, id of the fact its line carries or nothing) of what stands in a file besides the lines that are `known`:
    points one by one, other lines by paragraphs."""
    where = layout(note)
    start = 0 if where.matter is None else where.matter[1]
    body = note[start:].decode("utf-8", "replace")
    if where.matter is not None:
        body = body.partition("\n")[2]
    paragraph: list[str] = []
    for row in [*body.split("\n"), ""]:
        line = row.rstrip("\r")
        point = bool(_MARKER.match(line)) or bool(_ID.search(line))
        over = not line.strip() or known(line) or point
        if over and paragraph:
            yield from _pieces(" ".join(paragraph), "")
            paragraph = []
        if not line.strip() or known(line) or set(line.strip()) <= {"-", "=", "`", "~", "*", "_"}:
            continue
        if point:
            found = _ID.search(line)
            bare = _ID.sub("", line)
            heading = bare.lstrip().startswith("#")
            text = text_of(_MARKER.sub("", bare))
            if not heading or len(text.split()) > _FEW:
                yield from _pieces(text, found[1] if found else "")
        else:
            paragraph.append(plain(unescape(line)))


def _pieces(text: str, its_id: str) -> Iterator[tuple[str, str]]:
    while text:
        piece = text
        if len(text) > TEXT_MAX:
            piece = text[:TEXT_MAX].rpartition(" ")[0] or text[:TEXT_MAX]
        text = text[len(piece) :].strip()
        if _SAYS.search(piece):
            yield piece, its_id
