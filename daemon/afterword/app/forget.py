"""`forget` as values: what would go, doing it here or by the daemon, and what is still there afterwards."""

import unicodedata
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from afterword.app import forget_targets, passes, traces
from afterword.app.config import Config
from afterword.app.forget_targets import ArticleHit, Hit, Selector, Targets
from afterword.app.passes import Tell
from afterword.app.program import Program, writer
from afterword.app.reading import reader, zones_of
from afterword.app.vault_template import CONFIG
from afterword.assets import asset
from afterword.domain.clock import format_rfc3339
from afterword.domain.errors import NothingFound
from afterword.store import backups_holding
from afterword.store.contexts import FOLDER as CONTEXTS
from afterword.store.ledger import forgetting
from afterword.store.ledger.ledger import Ledger, open_reader
from afterword.store.vault_card import read_card

_BLOCK: Final = 4 << 20
_CHANCE_BYTES: Final = 6


class Preview(msgspec.Struct, frozen=True):
    """What would go, what of a person's text holds it, which backups do, and how to look for it later."""

    targets: Targets
    contexts: int
    lines: tuple[traces.Line, ...]
    backups: tuple[Path, ...]
    find: traces.Find
    ids: frozenset[bytes]


def preview(config: Config, selector: Selector) -> Preview:
    """Look, and change nothing.

    Raises:
        UsageError, NothingFound, NotSetUp, Ambiguous: as `forget_targets.resolve`.
    """
    with reader(config) as ledger:
        nothing: NothingFound | None = None
        try:
            targets = forget_targets.resolve(ledger, zones_of(config, ledger), config.settings.vault.daily, selector)
        except NothingFound as err:
            if not selector.match:
                raise
            targets, nothing = forget_targets.nothing(), err
        find = forget_targets.needles(ledger, targets, selector)
        lines = tuple(_lines(config, ledger, find))
        if nothing and not lines:
            raise nothing
        ids = frozenset(
            ledger.db.execute("SELECT id FROM item WHERE row = ?", (row,)).fetchone()[0] for row in targets.wanted.items
        )
        state = config.places.state
        return Preview(
            targets=targets,
            contexts=_contexts(state, targets.articles),
            lines=lines,
            backups=tuple(backups_holding.holding(backups_holding.candidates(ledger, state), state, ids)),
            find=find,
            ids=ids,
        )


def _contexts(state: Path, gone: tuple[ArticleHit, ...]) -> int:
    titles = [each.title for each in gone if each.title]
    texts = [path.read_text(errors="replace") for path in (state / CONTEXTS).glob("*.txt")]
    return sum(any(title in text for title in titles) for text in texts)


def _lines(config: Config, ledger: Ledger, find: traces.Find) -> list[traces.Line]:
    if config.vault is None or read_card(config.vault) is None:
        return []
    folders = config.settings.vault
    return traces.lines(config.vault, folders.daily, folders.knowledge, ledger, find)


def strike(config: Config, found: Preview) -> list[traces.Line]:
    """Take it out of a person's own text as well; the lines that could not be changed."""
    return traces.strike(config.vault, list(found.lines), found.find) if config.vault and found.lines else []


def do_here(
    config: Config, env: Mapping[str, str], selector: Selector, telling: Callable[[], Any], stop: Callable[[], bool]
) -> dict[str, Any]:
    """Forget it in this process, which takes the writer's lock; the numbers of `forget --json`."""
    with writer(config, env, "forget", telling=telling) as program:
        folders = config.settings.vault
        program.lessons.take_in()
        found = forget_targets.resolve(program.ledger, program.zones, folders.daily, selector)
        with program.ledger.transaction(durable=True):
            forgetting.ask(program.ledger, found.wanted)
        with telling() as tell:
            done = passes.forget(program, passes.Forget(), tell, stop)
            _index(program, tell, stop)
        return done


def _index(program: Program, tell: Tell, stop: Callable[[], bool]) -> None:
    """Without a daemon the index is made whole again at once."""
    passes.catch_up(program, tell, stop)


def remains(config: Config, selector: Selector, found: Preview) -> list[str]:
    """The files of ours that still hold it; for a text that was matched every byte is looked at."""
    left = []
    state = config.places.state
    selector = msgspec.structs.replace(selector, look=False)
    with closing(open_reader(state)) as ledger:
        try:
            forget_targets.resolve(ledger, zones_of(config, ledger), config.settings.vault.daily, selector)
        except NothingFound:
            pass
        else:
            if selector.match or selector.session:
                left.append(str(ledger.path))
        if selector.match and not _says_itself(ledger, selector.match):
            kept = set(found.backups)
            forms = {unicodedata.normalize(form, selector.match.casefold()).encode() for form in ("NFC", "NFD")}
            paths = [path for path in sorted(state.rglob("*")) if path not in kept and not _came_with_us(path)]
            left += [str(path) for path in paths if any(_holds(path, needle) for needle in forms)]
    return sorted(set(left))


def _says_itself(ledger: Ledger, match: str) -> bool:
    """Whether a text is so short that it comes up in packed bytes by chance, or is a word of our own tables and records
    (`claude`, `session`): the bytes say nothing of it then, and what the ledger holds was looked at."""
    if len(match.encode()) < _CHANCE_BYTES:
        return True
    own = [sql for (sql,) in ledger.db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
    own += [harness for (harness,) in ledger.db.execute("SELECT DISTINCT harness FROM session")]
    return any(match.casefold() in text.casefold() for text in own)


def _came_with_us(path: Path) -> bool:
    """Whether a file is the program of the editor, as it was put into a vault: its words are ours."""
    if "/plugins/" not in path.as_posix() or not path.is_file():
        return False
    own = asset("vault_template") / CONFIG / "plugins" / path.parent.name / path.name
    return own.is_file() and own.read_bytes() == path.read_bytes()


def _holds(path: Path, needle: bytes) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            tail = b""
            while block := file.read(_BLOCK):
                if needle in (tail + block).lower():
                    return True
                tail = block[-len(needle) :]
    except OSError:
        pass
    return False


def prune(found: Preview) -> list[Path]:
    """Delete the backups that hold it; those that are still there."""
    left = []
    for path in found.backups:
        try:
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name}.json").unlink(missing_ok=True)
        except OSError:
            left.append(path)
    return left


def fields(found: Preview) -> dict[str, Any]:
    """What `forget --json` says of what goes."""
    targets = found.targets
    by_note: dict[str, int] = {}
    for name, _ in targets.sections:
        by_note[name] = by_note.get(name, 0) + 1
    return {
        "sessions": [_session(hit) for hit in targets.sessions],
        "items": targets.items,
        "copies": targets.copies,
        "shared": targets.shared,
        "notes": [{"note": name, "sections": count} for name, count in sorted(by_note.items())],
        "articles": [
            {"uid": hit.uid, "title": hit.title, "path": hit.path, "points_lost": hit.points, "points": hit.of}
            for hit in targets.articles
        ],
        "lessons": targets.lessons,
        "contexts": found.contexts,
        "backups": [str(path) for path in found.backups],
        "your_text": [{"path": line.path, "line": line.line} for line in found.lines],
    }


def _session(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "harness": hit.harness,
        "native_id": hit.native,
        "project": hit.project,
        "title": hit.title,
        "started": None if hit.started_us is None else format_rfc3339(hit.started_us),
        "items": hit.items,
        "of": hit.of,
        "whole": hit.whole,
    }
