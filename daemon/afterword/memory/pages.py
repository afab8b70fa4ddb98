"""Topics and agents' files, from the facts in the ledger into the vault.

A topic is brought up to date line by line, an agent's file is written whole. What a write will have made is in the
ledger before the file is replaced and confirmed after, so that a kill in between is never taken for somebody's edit.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from afterword.domain.article_note import Wanted, Written, fields_of, splice
from afterword.domain.conflicts import merging
from afterword.domain.escape import label, prose
from afterword.domain.frontmatter import Value, Word, emit
from afterword.domain.ids import FactId, topic_uid
from afterword.domain.lessons import CurrentFact
from afterword.domain.topic_note import FactLine, TopicView, fact_line, merged, new_note
from afterword.memory.agent_file import agent_file
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import faults, files
from afterword.store.ledger import lesson_files, lessons
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.lesson_files import AGENT, LessonFile, Stat
from afterword.store.matter import read_matter
from afterword.store.vault_card import may_write

TOPICS: Final = "topics"
AGENTS: Final = "agents"
BEFORE: Final = "before"
"""In the agents' folder: files that were there before ours."""
_SECTION: Final = {"lesson": "Facts", "dead-end": "Dead ends", "local-fact": "On one machine"}
_TITLED: Final = {"ci": "CI", "api": "API", "cli": "CLI", "ui": "UI"}


class Change(msgspec.Struct, frozen=True):
    """A file to write: `old` is what it held when it was read, None when it is new."""

    key: str
    path: str
    old: bytes | None
    new: bytes
    fields: dict[str, str | list[str]]


class Pages:
    """The one writer of topics and agents' files in a vault."""

    def __init__(
        self, vault: Path, folder: str, ledger: Ledger, redactor: Redactor, agents: Callable[[], Sequence[str]]
    ) -> None:
        """`folder` is the lessons' folder in the vault; `agents` are those that are known, by their names."""
        self._vault = vault
        self._folder = folder
        self._ledger = ledger
        self._redactor = redactor
        self._agents = agents
        self.problems: dict[str, str] = {}
        """Path in the vault → why it could not be written at the last `render`."""
        self._wrote: dict[str, Stat] = {}

    def render(self, *, quiet: Callable[[Path], bool] = lambda _path: False) -> int:
        """Write what changed; how many files. Files for which `quiet` says that somebody is at work on them wait."""
        self.problems.clear()
        if not may_write(self._vault, self._ledger):
            return 0
        for name in (TOPICS, AGENTS):
            with contextlib.suppress(OSError):
                files.sweep_temporaries(self._vault / self._folder / name)
        facts = lessons.facts(self._ledger)
        known = lesson_files.every(self._ledger)
        done = 0
        for make in (self._topics, self._agent_files):
            for change in make(facts, known, quiet):
                done += self._write(change, known.get(change.key))
        return done + self._remove(facts, known)

    # Topics

    def _topics(
        self, facts: Sequence[CurrentFact], known: Mapping[str, LessonFile], quiet: Callable[[Path], bool]
    ) -> Iterable[Change]:
        by_topic: dict[str, list[CurrentFact]] = {}
        for each in facts:
            if each.fact.status != "withdrawn":
                by_topic.setdefault(each.fact.topic, []).append(each)
        every = {each.id: each for each in facts}
        places = {key: file.path for key, file in known.items() if key.startswith("l-") and not file.state}
        taken = {file.path.casefold() for file in known.values()}
        for topic, row in sorted(by_topic.items()):
            key = topic_uid(topic)
            view, front = self._view(topic, row, every, places)
            file = known.get(key)
            name = file.path if file else self._free(topic, key, taken)
            try:
                change = self._topic(key, name, file, view, front, {each.id for each in facts}, quiet)
            except OSError as err:
                self.problems[name] = err.strerror or str(err)
                continue
            if change:
                yield change

    def _free(self, topic: str, key: str, taken: Collection[str]) -> str:
        """Where a new topic's note lies: a file that is there already is somebody's."""
        name = f"{self._folder}/{TOPICS}/{topic}.md"
        if name.casefold() in taken or (self._vault / name).exists():
            values = None
            path = self._vault / name
            if path.is_file() and not path.is_symlink():
                values = read_matter(path.read_bytes())
            if (values or {}).get("uid") != key:
                name = f"{self._folder}/{TOPICS}/{topic}-{key[2:6]}.md"
        return name

    def _view(
        self,
        topic: str,
        row: Sequence[CurrentFact],
        every: Mapping[FactId, CurrentFact],
        places: Mapping[str, str],
    ) -> tuple[TopicView, tuple[tuple[str, Value], ...]]:
        lines: dict[str, list[FactLine]] = {}
        for each in sorted(row, key=lambda each: (each.fact.created, each.fact.at_us, each.id)):
            section, line = self._line(each, every, places)
            if line:
                lines.setdefault(section, []).append(line)
        title = _TITLED.get(topic, topic.replace("-", " ").capitalize())
        live = [each.fact for each in row if each.live]
        days = [fact.created for fact in live] or [each.fact.created for each in row]
        front: list[tuple[str, Value]] = [
            ("type", Word("topic")),
            ("uid", topic_uid(topic)),
            ("title", title),
            ("slug", topic),
            ("projects", sorted({name for fact in live for name in fact.projects})),
            ("agents", sorted({name for fact in live for name in fact.agents})),
            ("created", dt.date.fromisoformat(min(days))),
            ("updated", dt.date.fromisoformat(max(each.fact.updated for each in row))),
            ("status", Word("active" if live else "stale")),
        ]
        return TopicView(f"# {title}\n", {name: tuple(found) for name, found in lines.items()}), tuple(front)

    def _line(
        self, each: CurrentFact, every: Mapping[FactId, CurrentFact], places: Mapping[str, str]
    ) -> tuple[str, FactLine | None]:
        fact = each.fact
        text = leave("lesson", fact.text, self._redactor)
        if fact.status == "active":
            scope = [f"for {name}" for name in fact.agents] + [f"in {name}" for name in fact.projects]
            scope += [f"on {fact.machine}"] if fact.machine else []
            scope += ["pinned"] if fact.pinned else []
            link = self._link(each, places)
            meta = "; ".join([link, *(str(label(word)) for word in scope)]) if link else ""
            return _SECTION[fact.kind], FactLine(each.id, fact_line(each.id, prose(text), meta), str(text))
        if fact.status == "superseded":
            other = every.get(FactId(fact.superseded_by))
            by = f"in its place: ^{other.id}" if other else "something newer holds"
            said = f"~~{prose(text)}~~ {by.replace('^', '')}, since {other.fact.updated if other else fact.updated}"
            return "No longer held", FactLine(each.id, f"- {said} ^{each.id}", "")
        if fact.status == "retracted":
            on = each.edits.retracted_on or fact.updated
            reason = prose(leave("lesson", each.edits.retract_reason, self._redactor) or "no reason was given")
            instead = leave("lesson", each.edits.replaced_by, self._redactor)
            said = f"Retracted on {on}: {reason}{f'. In its place: {prose(instead)}' if instead else ''}"
            return "No longer held", FactLine(each.id, f"- {said} ^{each.id}", "")
        return "", None

    def _link(self, each: CurrentFact, places: Mapping[str, str]) -> str:
        """A link to the newest entry that says it."""
        path = next((places[uid] for uid in reversed(each.fact.lessons) if uid in places), "")
        return f"[[{path.removesuffix('.md')}|{each.fact.updated}]]" if path else ""

    def _topic(
        self,
        key: str,
        name: str,
        file: LessonFile | None,
        view: TopicView,
        front: tuple[tuple[str, Value], ...],
        ids: Collection[str],
        quiet: Callable[[Path], bool],
    ) -> Change | None:
        if not files.lies_inside(self._vault, name):
            return None
        path = files.inside(self._vault, name)
        fields = fields_of(Wanted(front, {}))
        if files.placeholder(path):
            return None
        if not path.exists():
            return Change(key, name, None, new_note(emit(front), view), fields) if any(view.lines.values()) else None
        if not path.is_file() or (self._wrote.get(key) != stat_of(path) and quiet(path)):
            return None
        old = path.read_bytes()
        if file is None or lesson_files.bytes_hash(self._ledger, old) != file.made:
            return None  # somebody wrote into it since it was looked at
        values = read_matter(old)
        if values is None or merging(old):
            self.problems[name] = "its front matter cannot be read, or it holds the markers of a merge"
            return None
        ours = lesson_files.hashes(file)
        rows = (line.rstrip() for line in old.decode("utf-8", "surrogateescape").split("\n"))
        lines = {row for row in rows if row and lesson_files.line_hash(self._ledger, row) in ours}
        new = merged(old, view, {*ids, *lesson_files.facts_in(file)}, lines)
        done = splice(new, values, Wanted(front, {}), Written(file.fields))
        if done.note == old and done.written.fields == file.fields:
            return None
        return Change(key, name, old, done.note, done.written.fields)

    # Agents' files

    def _agent_files(
        self, facts: Sequence[CurrentFact], known: Mapping[str, LessonFile], quiet: Callable[[Path], bool]
    ) -> Iterable[Change]:
        machine = self._ledger.origin[1]
        for agent in sorted(set(self._agents())):
            key, name = AGENT + agent, f"{self._folder}/{AGENTS}/{agent}.md"
            if not files.lies_inside(self._vault, name):
                continue
            path = files.inside(self._vault, name)
            new = agent_file(agent, facts, machine, f"{self._folder}/{TOPICS}", self._out)
            try:
                if files.placeholder(path):
                    continue
                old = path.read_bytes() if path.is_file() else None
                file = known.get(key)
                if (old == new and file and file.made) or (old is None and not facts):
                    continue
                if old is not None and (file is None or (self._wrote.get(key) != stat_of(path) and quiet(path))):
                    continue  # nobody looked at it yet, or somebody is at work on it
                if old is not None and file and lesson_files.bytes_hash(self._ledger, old) != file.made:
                    continue  # somebody wrote into it since it was looked at
            except OSError as err:
                self.problems[name] = err.strerror or str(err)
                continue
            yield Change(key, name, old, new, {})

    def _remove(self, facts: Sequence[CurrentFact], known: Mapping[str, LessonFile]) -> int:
        """Take away topics that hold nothing any more and files of agents that are unknown, if every byte is ours."""
        topics = {topic_uid(each.fact.topic) for each in facts if each.fact.status not in ("withdrawn", "deleted")}
        agents = {AGENT + agent for agent in self._agents()}
        done = 0
        for key, file in known.items():
            if key.startswith("l-") or key in topics or key in agents:
                continue
            path = self._vault / file.path
            note = path.read_bytes() if path.is_file() and not path.is_symlink() else None
            if note is not None:
                ours = lesson_files.hashes(file)
                rows = [row for row in note.decode("utf-8", "surrogateescape").split("\n") if row.strip()]
                if any(lesson_files.line_hash(self._ledger, row) not in ours for row in rows):
                    continue
                path.unlink(missing_ok=True)
                files.sync_folder(path.parent)
                done += 1
            with self._ledger.transaction():
                lesson_files.drop(self._ledger, [key])
        return done

    # Writing

    def _write(self, change: Change, file: LessonFile | None) -> bool:
        ledger = self._ledger
        row = file or LessonFile(change.key, change.path)
        marks = lesson_files.lines_of(ledger, change.new)
        planned = lesson_files.bytes_hash(ledger, change.new)
        before = lesson_files.hashes(row)
        # What is only planned was not taken out by anybody, where a kill keeps it from being written.
        new = tuple(lesson_files.FRESH + mark for mark in marks if lesson_files.hash_of(mark) not in before)
        both = (*row.lines, *new)
        path = files.inside(self._vault, change.path)
        if change.old != change.new:
            with ledger.transaction(durable=True):
                self._save(msgspec.structs.replace(row, path=change.path, plan=planned, lines=both))
            faults.hit("lesson.plan")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                good = (
                    files.create(path, change.new) if change.old is None else files.swap(path, change.old, change.new)
                )
            except OSError as err:
                self.problems[change.path] = err.strerror or str(err)
                return False
            faults.hit("lesson.placed")
            if not good:
                return False
        at = stat_of(path)
        theirs = self._theirs(change, row)
        with ledger.transaction():
            kept = tuple(
                mark if lesson_files.hash_of(mark) in before else lesson_files.FRESH + mark
                for mark in marks
                if lesson_files.hash_of(mark) not in theirs
            )
            self._save(LessonFile(change.key, change.path, at, made=planned, fields=change.fields, lines=kept))
        self._wrote[change.key] = at
        return change.old != change.new

    def _theirs(self, change: Change, row: LessonFile) -> set[str]:
        """The hashes of lines that were in the file before and are not ours: they stay a person's."""
        if change.old is None or change.key.startswith(AGENT):
            return set()
        before = set(map(lesson_files.hash_of, lesson_files.lines_of(self._ledger, change.old)))
        theirs = before - lesson_files.hashes(row)
        for line in change.new.decode("utf-8", "surrogateescape").split("\n"):
            # A point of theirs that got the id of its fact.
            bare, _, its_id = line.rstrip().rpartition(" ^")
            if its_id and lesson_files.line_hash(self._ledger, bare) in theirs:
                theirs.add(lesson_files.line_hash(self._ledger, line))
        return theirs

    def _save(self, file: LessonFile) -> None:
        lesson_files.save(self._ledger, self._redactor, file)

    def _out(self, text: str) -> str:
        return leave("lesson", text, self._redactor)


def stat_of(path: Path) -> Stat:
    """Size, time and inode of a file."""
    at = path.stat()
    return at.st_size, at.st_mtime_ns, at.st_ino
