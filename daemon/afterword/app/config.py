"""Settings and places, read once at the edge: config.toml, `AFTERWORD_*`, the platform's folders."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from afterword.domain.clock import SECOND_US
from afterword.domain.day_names import DayNames
from afterword.domain.errors import UsageError, UserError
from afterword.domain.settings import Settings, duration_us, period_us, size_bytes
from afterword.store.files import private_folder, replace

_RESERVED = ("AFTERWORD_NOW", "AFTERWORD_FAULT", "AFTERWORD_CONFIG", "AFTERWORD_CHROMA_TOKEN")


class Places(msgspec.Struct, frozen=True):
    """Where things are on this machine."""

    home: Path
    config_file: Path
    state: Path


class Config(msgspec.Struct, frozen=True):
    """Settings in force, where each that is not the default came from, and the places."""

    settings: Settings
    places: Places
    given: dict[str, str]
    """`section.key` → the file or the variable that set it."""

    @property
    def vault(self) -> Path | None:
        """The vault's folder, when there is one."""
        path = self.settings.vault.path
        return Path(path).expanduser() if path else None

    @property
    def days(self) -> DayNames:
        """What daily notes are called in the vault."""
        return DayNames(self.settings.vault.daily, self.settings.vault.daily_format)

    @property
    def lessons(self) -> str:
        """The folder of the lessons in the vault: beside the articles', unless it is set."""
        above, slash, _ = self.settings.vault.knowledge.rpartition("/")
        return self.settings.vault.lessons or f"{above}{slash}lessons"


def places(env: Mapping[str, str], config_file: Path | None) -> Places:
    """The platform's folders, XDG variables honoured."""
    home = Path(env.get("HOME") or Path.home())
    if sys.platform == "linux":
        config, state = _xdg("XDG_CONFIG_HOME", ".config"), _xdg("XDG_STATE_HOME", ".local/state")
    else:
        from platformdirs import PlatformDirs  # noqa: PLC0415  # 4 ms that most commands do not have

        dirs = PlatformDirs("afterword", appauthor=False)
        config, state = Path(dirs.user_config_dir), Path(dirs.user_state_dir)
    return Places(home, config_file or config / "config.toml", state)


def _xdg(name: str, usual: str) -> Path:
    """Where Linux keeps our files of a kind; in this process's environment, as everywhere else."""
    given = Path(os.environ.get(name, ""))
    return (given if given.is_absolute() else Path.home() / usual) / "afterword"


def load(config_file: Path | None = None, env: Mapping[str, str] | None = None) -> Config:
    """Read the settings.

    Raises:
        UserError: a file or a variable says something that cannot be; the message has the line and what is allowed.
    """
    env = os.environ if env is None else env
    where = places(env, config_file)
    raw: dict[str, Any] = {}
    given: dict[str, str] = {}
    text = ""
    if where.config_file.exists():
        import tomllib  # noqa: PLC0415  # its patterns take some milliseconds, for nothing where there is no file

        try:
            text = where.config_file.read_text("utf-8")
            raw = tomllib.loads(text)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as err:
            raise UserError(f"{where.config_file}: {err}", "correct the file, or move it away") from err
    elif config_file is not None:
        raise UserError(f"{config_file} does not exist", "name an existing config.toml")
    _check_names(raw, where.config_file, text)
    for section, values in raw.items():
        given.update({f"{section}.{key}": str(where.config_file) for key in values})
    for section, key, name, value in _variables(env):
        raw.setdefault(section, {})[key] = _read(section, key, value)
        given[f"{section}.{key}"] = name
    settings = _convert(raw, given, where.config_file, text)
    _check(settings, {name: _place(name, source, where.config_file, text) for name, source in given.items()})
    return Config(settings, where, given)


def _check(settings: Settings, places_of: Mapping[str, str]) -> None:
    """What the types cannot say; a message names where the value stands."""

    def named(name: str) -> str:
        return f"{places_of[name]}: {name}" if name in places_of else name

    for name in ("capture.quiet", "capture.sweep", "segment.gap", "segment.settle"):
        section, key = name.split(".")
        length_us = duration_us(getattr(getattr(settings, section), key), named(name))
        if name == "capture.sweep" and length_us < SECOND_US:
            raise UsageError(f"{named(name)} is under a second", "write it like 60s")
    for name in ("document_max", "copy_max"):
        at = f"capture.{name}"
        size_bytes(getattr(settings.capture, name), named(at))
    try:
        DayNames(settings.vault.daily, settings.vault.daily_format)
    except UserError as err:
        raise UsageError(
            f"{places_of.get('vault.daily_format', 'vault.daily_format')}: {err.message}", err.hint
        ) from err
    for name, read in (("deadline", duration_us), ("prompt_max", size_bytes)):
        at = f"gemini.{name}"
        if read(getattr(settings.gemini, name), named(at)) < 1:
            raise UsageError(f"{named(at)} is nothing", "write it like 2m, or 96K")
    if settings.gemini.vertex and not (settings.gemini.project and settings.gemini.location):
        raise UsageError(
            f"{named('gemini.vertex')} needs project and location", "set gemini.project and gemini.location"
        )
    if settings.chroma.url:
        from afterword.index.place import problem_of  # noqa: PLC0415  # most have none

        if said := problem_of(settings.chroma.url):
            raise UsageError(f"{named('chroma.url')} {said}", "write it like https://chroma.example:8000")
    period_us(settings.compile.every, named("compile.every"))
    period_us(settings.lessons.every, named("lessons.every"))
    day_starts_at_min(settings, places_of.get("vault.day_starts_at", ""))


def _place(name: str, source: str, path: Path, text: str) -> str:
    """Where a setting stands: a variable, or file and line."""
    if source != str(path):
        return source
    key = name.rpartition(".")[2]
    line = next((n for n, row in enumerate(text.splitlines(), 1) if row.split("=")[0].strip() == key), 0)
    return f"{path}:{line}" if line else str(path)


def day_starts_at_min(settings: Settings, place: str = "") -> int:
    """Minutes after midnight at which a day begins."""
    hours, _, minutes = settings.vault.day_starts_at.partition(":")
    if not (hours.isdigit() and minutes.isdigit() and int(hours) < 24 and int(minutes) < 60):
        named = f"{place}: vault.day_starts_at" if place else "vault.day_starts_at"
        raise UserError(f"{named}: {settings.vault.day_starts_at!r} is not a time", "write it like 04:00")
    return int(hours) * 60 + int(minutes)


def _sections() -> dict[str, tuple[str, ...]]:
    return {
        field.name: tuple(inner.name for inner in msgspec.structs.fields(field.type))
        for field in msgspec.structs.fields(Settings)
    }


def _read(section: str, key: str, value: str) -> Any:
    """A variable's text as its setting's type wants it; the text itself where it cannot be that."""
    types = {
        (outer.name, inner.name): inner.type
        for outer in msgspec.structs.fields(Settings)
        for inner in msgspec.structs.fields(outer.type)
    }
    try:
        return msgspec.convert(value, types[section, key], strict=False)
    except msgspec.ValidationError:
        return value


def _check_names(raw: dict[str, Any], path: Path, text: str) -> None:
    known = _sections()
    for section, values in raw.items():
        if section not in known:
            _unknown(path, text, section, list(known), "section")
        if not isinstance(values, dict):
            raise UserError(f"{path}: {section} must be a [section]", f"write [{section}] and its keys below")
        for key in values:
            if key not in known[section]:
                _unknown(path, text, key, list(known[section]), f"key in [{section}]")


def _unknown(path: Path, text: str, name: str, known: list[str], what: str) -> None:
    import difflib  # noqa: PLC0415  # only for a word that is wrong

    near = difflib.get_close_matches(name, known, 1)
    line = next((n for n, row in enumerate(text.splitlines(), 1) if name in row.split("#")[0]), 1)
    meant = f'; did you mean "{near[0]}"?' if near else ""
    raise UserError(f'{path}:{line}: unknown {what} "{name}"{meant}', f"known are: {', '.join(known)}")


def _variables(env: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """(section, key, variable, value) of `AFTERWORD_<SECTION>_<KEY>`; `…_ROOT` names stores, not settings."""
    found = []
    known = _sections()
    for name, value in sorted(env.items()):
        if not name.startswith("AFTERWORD_") or name.endswith("_ROOT") or name in _RESERVED:
            continue
        section, _, key = name.removeprefix("AFTERWORD_").lower().partition("_")
        if section in known and key in known[section]:
            found.append((section, key, name, value))
        elif section in known:
            import difflib  # noqa: PLC0415  # only for a word that is wrong

            near = difflib.get_close_matches(key, known[section], 1)
            meant = f"; did you mean AFTERWORD_{section.upper()}_{near[0].upper()}?" if near else ""
            raise UsageError(f"{name} names no setting{meant}", f"[{section}] has: {', '.join(known[section])}")
    return found


def _listed(value: str, name: str, place: str) -> list[str]:
    """The values of a setting that holds several, given as one text: a list as in the file, or a single one; patterns
    of projects also with commas between them."""
    import tomllib  # noqa: PLC0415

    text = value.strip()
    if text.startswith("[") and text.endswith("]") and ('"' in text or "'" in text):
        try:
            found = tomllib.loads(f"x = {text}")["x"]
        except tomllib.TOMLDecodeError as err:
            raise UserError(f"{place}: {value!r} is no list: {err}", 'write it like ["one", "two"]') from err
        return [str(each) for each in found]
    if name == "exclude_projects":
        return [part.strip() for part in value.split(",") if part.strip()]
    return [value]


def _convert(raw: dict[str, Any], given: dict[str, str], path: Path, text: str) -> Settings:
    for section, name in (("redact", "extra"), ("redact", "allow"), ("capture", "exclude_projects")):
        value = raw.get(section, {}).get(name)
        if isinstance(value, str):
            raw[section][name] = _listed(value, name, given.get(f"{section}.{name}", str(path)))
    try:
        return msgspec.convert(raw, Settings)
    except msgspec.ValidationError as err:
        said = str(err)
        name = said.rpartition("`$.")[2].rstrip("`") if "`$." in said else ""
        place = _place(name, given.get(name, str(path)), path, text)
        raise UserError(f"{place}: {name}: {said.partition(' - at')[0]}", "see `afterword config show`") from err


def write(path: Path, section: str, key: str, value: object) -> None:
    """Set one key in the config file, keeping every other byte of it, and prove that it can be read back.

    Raises:
        UserError: the value cannot stand in the file, or the file has a form in which the key cannot be set.
    """
    import tomlkit  # noqa: PLC0415  # only where the file is changed
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    import tomllib  # noqa: PLC0415

    try:
        document = tomlkit.parse(text)
        if section not in document:
            if text and not text.endswith("\n"):
                text += "\r\n" if "\r\n" in text else "\n"
                document = tomlkit.parse(text)
            document.add(section, tomlkit.table())
        document[section][key] = value
        changed = tomlkit.dumps(document)
        back = tomllib.loads(changed)[section][key]
        data = changed.encode()
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, KeyError, TypeError) as err:
        raise UserError(f"{path}: {section}.{key} cannot be set: {err}", "write it into the file by hand") from err
    if back != value:
        raise UserError(f"{path}: {section}.{key} would not be read back as written", "write it in by hand")
    private_folder(path.parent)
    replace(path, data)


def write_vault(path: Path, vault: Path) -> None:
    """Set `[vault] path`; nothing is written when it stands there already."""
    name = str(vault)
    if not name.isprintable() or "\udc80" <= max(name, default="") <= "\udfff":
        raise UserError(f"{name!r} cannot be a vault's folder", "use a name of ordinary characters")
    write(path, "vault", "path", name)


def set_value(config: Config, name: str, text: str) -> None:
    """Set `section.key` from the words of a command line, checked like the file itself."""
    section, _, key = name.partition(".")
    known = _sections()
    if section not in known or key not in known[section]:
        import difflib  # noqa: PLC0415  # only for a word that is wrong

        near = difflib.get_close_matches(name, [f"{s}.{k}" for s, keys in known.items() for k in keys], 1)
        meant = f'; did you mean "{near[0]}"?' if near else ""
        raise UsageError(f'there is no setting "{name}"{meant}', "see `afterword config show`")
    value: Any = _read(section, key, text)
    if isinstance(getattr(getattr(Settings(), section), key), tuple):
        value = _listed(text, key, name)
    _check(_convert({section: {key: value}}, {f"{section}.{key}": name}, config.places.config_file, ""), {})
    write(config.places.config_file, section, key, value)
