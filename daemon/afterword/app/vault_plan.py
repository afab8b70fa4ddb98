"""What `init` would do to a folder, decided before anything is written: what is made, added to, and left."""

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.app.vault_template import CONFIG, Layout, files_for
from afterword.domain.day_names import USUAL, DayNames
from afterword.domain.errors import UserError
from afterword.domain.note_names import NOTES, is_note
from afterword.domain.obsidian_settings import MERGED, Added, merge, parse, written

PREFIX: Final = "Memory"
"""In somebody's vault all but daily notes lies below this folder, unless another is named."""
PENDING: Final = ".afterword/unfinished"
"""Marks a new vault whose making was cut short."""
_NOTHING: Final = {".afterword", ".DS_Store", ".localized", "desktop.ini"}
# A folder that holds nothing but these is empty; our own is there when `init` was killed at its first step.
_SIGNS: Final = ("app.json", "core-plugins.json", "workspace.json", "appearance.json")
_UNFIT: Final = re.compile(r'[\[\]#^|\\:*?"<>\x00-\x1f]|(^|/)\.')
"""What the name of a folder may not hold if links lead into it: nor may it be hidden, or lead out of the vault."""
_NOT_MERGED: Final = ("app.json",)
_GRAPH_ONLY: Final = ("colorGroups",)

Does: TypeAlias = Literal["make", "add", "renew", "keep", "leave"]


class Step(msgspec.Struct, frozen=True):
    """One file: `make` it, `add` to its settings, `renew` what an older version of ours put there, `keep` what lies
    there in place of ours, or `leave` it alone.

    `why` is in words; `old` is what an existing file held when it was read.
    """

    does: Does
    path: str
    new: bytes = b""
    old: bytes | None = None
    added: tuple[Added, ...] = ()
    why: str = ""


class Existing(msgspec.Struct, frozen=True):
    """What was found in somebody's vault: where its things lie, and what is to be told of that."""

    layout: Layout
    daily_template: bool
    """Whether the vault had no daily notes of its own, so that ours may be set up."""
    remarks: tuple[str, ...]


def is_new(vault: Path) -> bool:
    """Whether a vault made here is ours alone: the folder is missing, empty, or a new vault that was cut short."""
    if (vault / PENDING).exists() or not vault.exists():
        return True
    return all(entry.name in _NOTHING for entry in os.scandir(vault))


def is_vault(vault: Path) -> bool:
    """Whether the folder is somebody's vault: Obsidian has its settings there, or it holds Markdown."""
    if _config_folder(vault):
        return True
    for _, folders, names in os.walk(vault):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if any(is_note(name) for name in names):
            return True
    return False


def examine(vault: Path, prefix: str, config: str | None, language: str = "en") -> Existing:
    """Where the daily notes of a vault lie, what they are called, and where ours go beside them. `language` is what
    this system speaks: names of months are English here, and a file of another name would be a second one of its day.

    Raises:
        UserError: the folder named for settings is not there.
    """
    if config and not (vault / config).is_dir():
        raise UserError(f"{vault / config} is not there", "name the folder that Obsidian keeps its settings in")
    config = config or _config_folder(vault) or CONFIG
    if _UNFIT.search(prefix):
        raise UserError(f"{prefix!r} cannot be the folder of notes", "use a name that links can hold, such as Memory")
    prefix = spelling(vault, prefix.strip("/"))
    own = f"{prefix}/daily" if prefix else "daily"
    remarks: list[str] = []
    found = _daily_settings(vault / config)
    if found is not None:
        folder, form, said = found
        try:
            days = DayNames(spelling(vault, folder), form or USUAL)
            _check_words(vault, days, language)
        except UserError as err:
            remarks.append(f"daily notes go to {own}/: {said} cannot be followed, {err.message}")
            return Existing(Layout(DayNames(own), prefix, config), daily_template=False, remarks=tuple(remarks))
        remarks.append(f"daily notes stay where they are: {days.name('2026-06-10')}, as {said} says")
        return Existing(Layout(days, prefix, config), daily_template=False, remarks=tuple(remarks))
    if any(DayNames("").day_of(entry.name) for entry in os.scandir(vault)):
        remarks.append("daily notes stay where they are: at the top of the vault")
        return Existing(Layout(DayNames(""), prefix, config), daily_template=False, remarks=tuple(remarks))
    if (vault / (known := spelling(vault, "daily"))).is_dir():
        remarks.append(f"daily notes go to the folder that is there: {known}/")
        return Existing(Layout(DayNames(known), prefix, config), daily_template=True, remarks=tuple(remarks))
    return Existing(Layout(DayNames(own), prefix, config), daily_template=True, remarks=tuple(remarks))


def _check_words(vault: Path, days: DayNames, language: str) -> None:
    """Refuse a format with words where the daily notes there, or else the system, speak another language.

    Raises:
        UserError: the names of daily notes would be others than Obsidian's.
    """
    if not days.spoken:
        return
    names = [path.relative_to(vault).as_posix() for path in (vault / days.folder).rglob(NOTES)]
    if any(map(days.day_of, names)):
        return
    alike = next((name for name in sorted(names) if days.alike(name)), None)
    if alike or not language.startswith("en"):
        shown = f"notes are called {alike!r} here" if alike else f"this system speaks {language!r}"
        raise UserError(
            f"the date format {days.form!r} has words, and {shown}: only English ones can be written. A format of"
            " numbers, such as YYYY-MM-DD, can be followed"
        )


def spelling(vault: Path, name: str) -> str:
    """A path in the vault as it is spelled there: a folder that differs in case or accents' form alone is the same."""
    here, parts = vault, []
    for part in filter(None, name.split("/")):
        same = {_same(entry.name): entry.name for entry in os.scandir(here)} if here.is_dir() else {}
        names = {entry.name for entry in os.scandir(here)} if here.is_dir() else set()
        parts.append(part if part in names else same.get(_same(part), part))
        here /= parts[-1]
    return "/".join(parts)


def steps(vault: Path, found: Existing | None) -> list[Step]:
    """What is to be done for a vault with these findings; a new one has none."""
    if found is None:
        return [_make(vault, name, new) for name, new in files_for(Layout(DayNames("daily"))).items()]
    return list(_steps(vault, found))


def _steps(vault: Path, found: Existing) -> Iterator[Step]:
    config = f"{found.layout.config}/"
    for path, new in files_for(found.layout).items():
        name = path.removeprefix(config)
        if not path.startswith(config) or "/" in name:
            yield _make(vault, path, new)
        elif name == "daily-notes.json" and not found.daily_template:
            continue
        elif step := from_template(vault, path, name, new):
            yield step


def from_template(vault: Path, path: str, setting: str, new: bytes) -> Step | None:
    """What becomes of a file of the template in somebody's vault; `setting` is its name if it is one of Obsidian's."""
    if not setting:
        return _make(vault, path, new)
    return _settings(vault, path, setting, new) if setting in MERGED and setting not in _NOT_MERGED else None


def _make(vault: Path, path: str, new: bytes) -> Step:
    try:
        old = (vault / path).read_bytes()
    except FileNotFoundError:
        return Step("make", path, new)
    except OSError as err:
        return Step("leave", path, new, why=err.strerror or str(err))
    return Step("make", path, new, old) if old == new else Step("keep", path, new, old, why="yours stays")


def _settings(vault: Path, path: str, name: str, new: bytes) -> Step:
    ours = parse(new)
    try:
        old = (vault / path).read_bytes()
        theirs = parse(old)
    except FileNotFoundError:
        # How the person's graph looks otherwise is theirs to say.
        if name == "graph.json":
            ours = {key: value for key, value in ours.items() if key in _GRAPH_ONLY}
            new = written(ours)
        return Step("make", path, new)
    except (OSError, ValueError, RecursionError) as err:
        return Step("leave", path, why=f"it cannot be read ({getattr(err, 'strerror', None) or err})")
    merged = merge(name, theirs, ours)
    if isinstance(merged, str):
        return Step("leave", path, old=old, why=merged)
    why = "; ".join(merged.clashes)
    if not merged.added:
        return Step("keep", path, old=old, why=why)
    return Step("add", path, written(merged.value), old, merged.added, why)


def _config_folder(vault: Path) -> str | None:
    if not vault.is_dir():
        return None
    names = [entry.name for entry in os.scandir(vault) if entry.name.startswith(".") and entry.is_dir()]
    if CONFIG in names:
        return CONFIG
    signed = [name for name in sorted(names) if any((vault / name / sign).is_file() for sign in _SIGNS)]
    return signed[0] if signed else None


def _daily_settings(config: Path) -> tuple[str, str, str] | None:
    """(folder, date format, where it is said) of a vault's daily notes; None when nothing says it."""
    plugins = _read(config / "community-plugins.json")
    if isinstance(plugins, list) and "periodic-notes" in plugins:
        daily = _get(_read(config / "plugins/periodic-notes/data.json"), "daily")
        if isinstance(daily, dict) and daily.get("enabled", True):
            return _text(daily, "folder"), _text(daily, "format"), "Periodic Notes"
    core = _read(config / "daily-notes.json")
    if isinstance(core, dict):
        return _text(core, "folder"), _text(core, "format"), "daily-notes.json"
    return None


def _read(path: Path) -> object:
    try:
        found: object = parse(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object, key: str) -> str:
    found = _get(value, key)
    return found.strip().strip("/") if isinstance(found, str) else ""


def _same(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
