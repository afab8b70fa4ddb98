"""What is wrong with lessons in a vault: files an agent edited by hand, over budget, facts in two places, bad entries.

Reads only. `lint` says it, and the git hook of the vault holds commits to it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from afterword.app.config import Config
from afterword.app.reading import zones_of
from afterword.compile.likeness import tokens
from afterword.domain.conflicts import copy_of
from afterword.domain.lesson_note import Bad
from afterword.domain.lessons import AGENT_BYTES, AGENT_LINES
from afterword.domain.note_names import NOTES
from afterword.domain.topic_note import shown
from afterword.memory.entries import read_entry
from afterword.memory.journal import FOLDER
from afterword.memory.pages import AGENTS, TOPICS
from afterword.store.ledger import lesson_files, lessons
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.lesson_files import AGENT

_SHOWN: Final = 120
Found = tuple[str, str, str]
"""(kind, path relative to the vault, what is wrong)."""


def examine(config: Config, ledger: Ledger) -> Iterator[Found]:
    """Every fault of the lessons of a vault that is there."""
    assert config.vault is not None
    folder = config.vault / config.lessons
    yield from _agents(config, ledger, folder / AGENTS)
    yield from _topics(config, ledger, folder / TOPICS)
    yield from _entries(config, ledger, folder / FOLDER)


def _named(config: Config, path: Path) -> str:
    assert config.vault is not None
    return path.relative_to(config.vault).as_posix()


def _notes(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(NOTES) if path.is_file()) if folder.is_dir() else []


def _agents(config: Config, ledger: Ledger, folder: Path) -> Iterator[Found]:
    known = {file.path: file for key, file in lesson_files.every(ledger).items() if key.startswith(AGENT)}
    for path in _notes(folder):
        name, note = _named(config, path), path.read_bytes()
        lines, size = note.count(b"\n") + 1, len(note)
        if lines > AGENT_LINES + 1 or size > AGENT_BYTES:
            yield "budget", name, f"{lines:,} lines, {size >> 10} KiB: an agent loads 200 lines, 25 KiB"
        file = known.get(name)
        if file is None:
            yield "by-hand", name, "is no file of ours yet; `afterword distill` takes it into the journal"
        elif lesson_files.bytes_hash(ledger, note) not in (file.made, file.plan):
            yield "by-hand", name, "was edited by hand; `afterword distill` takes that into the journal"


def _topics(config: Config, ledger: Ledger, folder: Path) -> Iterator[Found]:
    places: dict[str, str] = {}
    for path in _notes(folder):
        name = _named(config, path)
        for line in shown(path.read_bytes()):
            other = places.setdefault(line.id, name)
            if other != name:
                yield "fact-twice", name, f"{line.id} stands in {other} as well"
    said: dict[tuple[str, ...], str] = {}
    for each in lessons.facts(ledger):
        words = (each.fact.machine, *sorted(set(tokens(each.fact.text))))
        if each.live and len(words) > 1:
            other = said.setdefault(words, each.id)
            if other != each.id:
                place = places.get(each.id, f"{config.lessons}/{TOPICS}/{each.fact.topic}.md")
                yield "fact-twice", place, f"{each.fact.text[:_SHOWN]!r} ({each.id}) says what {other} says"


def _entries(config: Config, ledger: Ledger, folder: Path) -> Iterator[Found]:
    zones = zones_of(config, ledger)
    uids: dict[str, str] = {}
    for path in _notes(folder):
        name = _named(config, path)
        if copy_of(path.name):
            yield "conflict", name, "is a sync tool's copy of an entry in conflict"
            continue
        entry = read_entry(path, zones)
        if isinstance(entry, Bad):
            yield "bad-entry", name, entry.problem
        elif entry.uid and uids.setdefault(entry.uid, name) != name:
            yield "bad-entry", name, f"has the uid of {uids[entry.uid]}"
