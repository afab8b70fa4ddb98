"""What is wrong with the articles of a vault: a literal table of checks over notes as they are now. Reads only."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from afterword.app.config import Config
from afterword.compile.folding import rulings_of
from afterword.compile.overlaps import Overlaps
from afterword.domain.article_note import layout
from afterword.domain.articles import RELATED, Current, name_key
from afterword.domain.conflicts import copy_of, merging
from afterword.domain.errors import NotSetUp
from afterword.domain.note_names import NOTES, linked
from afterword.store.ledger import article_files, articles
from afterword.store.ledger.ledger import Ledger
from afterword.store.matter import read_matter
from afterword.store.vault_card import read_card

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

MAX_BYTES: Final = 64 * 1024
AGENT_LINES: Final = 200
AGENT_BYTES: Final = 25 * 1024
"""What an agent loads when it starts holds no more."""
_SHOWN: Final = 120
_LINK = re.compile(r"(?<!\\)\[\[([^\]|#\n]*)(?:#([^\]|\n]*))?(?:\|[^\]\n]*)?\]\]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"`[^`\n]*`")


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong; `path` is relative to the vault."""

    kind: str
    path: str
    message: str


class Notes(msgspec.Struct, frozen=True):
    """The vault's notes, read once."""

    vault: Path
    daily: str
    knowledge: str
    texts: dict[str, str]
    current: tuple[Current, ...]
    places: dict[str, str]
    """uid → path of the article's own note."""
    others: tuple[tuple[str, str], ...]
    """(path, uid) of files in the knowledge folder that are no article of ours."""
    states: dict[str, str]
    sections: frozenset[str]
    overlaps: Overlaps


def examine(config: Config, ledger: Ledger) -> list[Fault]:
    """Every fault, by kind and path.

    Raises:
        NotSetUp: there is no vault, or it is not there now.
    """
    if config.vault is None or read_card(config.vault) is None:
        raise NotSetUp("the vault is not there", "mount it, or run `afterword init`")
    notes = _notes(config.vault, config.days.folder, config.settings.vault.knowledge, ledger)
    found = [fault for check in CHECKS for fault in check(notes)]
    return sorted(set(found), key=lambda fault: (fault.kind, fault.path, fault.message))


class Mend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the job is told: nothing."""


def mend(program: "Program", given: Mend, tell: "Tell", stop: Callable[[], bool]) -> dict[str, Any]:
    """Make anew what is ours in the notes; how many files were written."""
    del given
    tell("Mending", "days", 0, 1, "")
    return {"files": program.compiling.mend(stop=stop)}


def _notes(vault: Path, daily: str, knowledge: str, ledger: Ledger) -> Notes:
    texts: dict[str, str] = {}
    for path in sorted(vault.rglob(NOTES)):
        name = path.relative_to(vault)
        if not any(part.startswith(".") for part in name.parts) and path.is_file():
            texts[name.as_posix()] = path.read_bytes().decode("utf-8", "replace")
    known = article_files.every(ledger)
    current = tuple(articles.current(ledger))
    cited = {key for each in current for key in each.article.sections}
    return Notes(
        vault,
        daily,
        knowledge,
        texts,
        current,
        {uid: file.path for uid, file in known.items() if file.state != "deleted"},
        tuple((path, uid) for path, _, uid in article_files.others(ledger)),
        {uid: file.state for uid, file in known.items() if file.state not in ("", "deleted")},
        frozenset(articles.cited(ledger, cited)),
        Overlaps({each.uid: each.article for each in current if each.live}, rulings_of(ledger)),
    )


def links(text: str) -> Iterator[tuple[str, str]]:
    """(target, block or heading) of every wikilink outside of code."""
    fence = ""
    for line in text.split("\n"):
        tick = _FENCE.match(line)
        if tick and (not fence or (tick[1].startswith(fence) and not line.strip().strip(fence[0]))):
            fence = "" if fence else tick[1]
            continue
        if not fence:
            for found in _LINK.finditer(_CODE.sub("", line)):
                yield found[1].strip(), (found[2] or "").strip()


def _ours(notes: Notes) -> Iterator[tuple[str, str]]:
    """Notes whose links are checked: everything below the knowledge folder."""
    for name, text in notes.texts.items():
        if name.startswith(f"{notes.knowledge}/") or name in notes.places.values():
            yield name, text


def _broken(notes: Notes) -> Iterator[Fault]:
    exact = {linked(name).casefold(): name for name in notes.texts}
    short = Counter(name.rpartition("/")[2] for name in exact)
    assets = _assets(notes.vault)
    for name, text in _ours(notes):
        for target, block in links(text):
            if not target:
                continue
            wanted = linked(target).casefold()
            if wanted not in exact and wanted in short and short[wanted] > 1:
                yield Fault("ambiguous-link", name, f"[[{target}]] could be any of {short[wanted]} notes")
            elif wanted not in exact and wanted not in short and target.casefold() not in assets:
                yield Fault("broken-link", name, f"[[{target}]] leads nowhere")
            elif block.startswith("^") and wanted in exact and not _has_block(notes.texts[exact[wanted]], block):
                yield Fault("broken-link", name, f"[[{target}#{block}]]: the note has no such block")


def _assets(vault: Path) -> set[str]:
    found = set()
    for path in vault.rglob("*"):
        if path.suffix.lower() not in ("", ".md") and path.is_file():
            found |= {path.name.casefold(), path.relative_to(vault).as_posix().casefold()}
            found.add(path.stem.casefold())
    return found


def _has_block(text: str, block: str) -> bool:
    return re.search(rf"(?:^|\s){re.escape(block)}\s*$", text, re.MULTILINE | re.IGNORECASE) is not None


def _orphans(notes: Notes) -> Iterator[Fault]:
    away = {uid for uid, state in notes.states.items() if state == "question"}
    live = [each for each in notes.current if each.live and each.uid in notes.places and each.uid not in away]
    links_to: set[str] = set()
    index = f"{notes.knowledge}/index.md"
    for name, text in _ours(notes):
        if name not in (index, f"{notes.knowledge}/log.md"):
            links_to |= {target.casefold() for target, _ in links(text) if target != linked(name)}
    for each in live:
        path = notes.places[each.uid]
        if path not in notes.texts:
            continue
        out = {t.casefold() for t, _ in links(notes.texts[path])}
        others = {linked(notes.places[o.uid]).casefold() for o in live if o.uid != each.uid}
        if linked(path).casefold() not in links_to and not out & others and others:
            yield Fault("orphan", path, "no article links to it, and it links to none")
        elif len(out & others) < min(RELATED, len(others)) and not each.edits.bodies:
            yield Fault("few-links", path, f"{len(out & others)} links to other articles")


def _doubles(notes: Notes) -> Iterator[Fault]:
    live = [each for each in notes.current if each.live]
    names: dict[str, str] = {}
    for each in live:
        for name in each.article.names:
            holder = names.setdefault(name_key(name), each.uid)
            if holder != each.uid:
                yield Fault("double", _path(notes, each), f"{name!r} is also a name of {holder}")
    known = {each.uid: each for each in live}
    alike = set(notes.overlaps.doubles())
    for one, other in alike:
        title = known[one].article.title
        yield Fault("double", _path(notes, known[other]), f"tells the same as {title!r} ({one})")
    for (one, other), text in notes.overlaps.facts():
        if (one, other) not in alike and (other, one) not in alike:
            where = _path(notes, known[one])
            yield Fault("fact-twice", _path(notes, known[other]), f"{text[:_SHOWN]!r} stands in {where} as well")
    for (later, earlier), text in notes.overlaps.contradictions():
        where = _path(notes, known[earlier])
        yield Fault("contradiction", _path(notes, known[later]), f"{text[:_SHOWN]!r} goes against {where}")
    for path, uid in notes.others:
        if uid and any(each.uid == uid for each in notes.current):
            yield Fault("copy", path, f"has the uid of {notes.places.get(uid, uid)}: yours, left alone")


def _stale(notes: Notes) -> Iterator[Fault]:
    for each in notes.current:
        if each.live:
            gone = [key for key in each.article.sections if key not in notes.sections]
            if gone:
                yield Fault("stale-source", _path(notes, each), f"{', '.join(gone)} is no longer there")


def _files(notes: Notes) -> Iterator[Fault]:
    for each in notes.current:
        path = notes.places.get(each.uid)
        state = notes.states.get(each.uid)
        if path is None:
            continue
        if state == "question":
            yield Fault("in-question", path, "vanished together with too many others; put it back, or delete it alone")
        text = notes.texts.get(path)
        if text is None:
            continue
        if read_matter(text.encode()) is None:
            yield Fault("front-matter", path, "cannot be read as YAML; nothing is changed in this note until it can")
        if len(text.encode()) > MAX_BYTES:
            yield Fault("large", path, f"{len(text.encode()) >> 10} KiB")
        if merging(text.encode()):
            yield Fault("conflict", path, "holds the markers of a merge")
        names = Counter(part.name for part in layout(text.encode()).parts)
        for name, count in names.items():
            if count > 1 and name != "head":
                yield Fault("twice", path, f"has {count} sections {name!r}")
    for name in notes.texts:
        if copy_of(name.rpartition("/")[2]) and name.startswith((f"{notes.knowledge}/", f"{notes.daily}/")):
            yield Fault("conflict", name, "is a sync tool's copy of a note in conflict")


def _budgets(notes: Notes) -> Iterator[Fault]:
    for name, text in notes.texts.items():
        if "/lessons/agents/" in f"/{name}":
            lines, size = text.count("\n") + 1, len(text.encode())
            if lines > AGENT_LINES or size > AGENT_BYTES:
                yield Fault("budget", name, f"{lines:,} lines, {size >> 10} KiB: an agent loads 200 lines, 25 KiB")


def _path(notes: Notes, each: Current) -> str:
    return notes.places.get(each.uid, each.uid)


CHECKS: Final[tuple[Callable[[Notes], Iterator[Fault]], ...]] = (_broken, _orphans, _doubles, _stale, _files, _budgets)
