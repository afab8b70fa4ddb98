"""Settings and places, read once at the edge: config.toml, `AFTERWORD_*`, the platform's folders."""

import difflib
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from afterword.domain.errors import UserError
from afterword.domain.settings import Settings, duration_us

_RESERVED = ("AFTERWORD_NOW", "AFTERWORD_FAULT", "AFTERWORD_CONFIG")


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


def places(env: Mapping[str, str], config_file: Path | None) -> Places:
    """The platform's folders, XDG variables honoured."""
    from platformdirs import PlatformDirs  # noqa: PLC0415  # 4 ms that the hook and --help do not pay

    dirs = PlatformDirs("afterword", appauthor=False)
    home = Path(env.get("HOME") or Path.home())
    return Places(home, config_file or Path(dirs.user_config_dir) / "config.toml", Path(dirs.user_state_dir))


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
    for name in ("capture.quiet", "capture.sweep", "segment.gap", "segment.settle"):
        section, key = name.split(".")
        duration_us(getattr(getattr(settings, section), key), f"{given.get(name, name)}: {name}")
    day_starts_at_min(settings)
    return Config(settings, where, given)


def day_starts_at_min(settings: Settings) -> int:
    """Minutes after midnight at which a day begins."""
    hours, _, minutes = settings.vault.day_starts_at.partition(":")
    if not (hours.isdigit() and minutes.isdigit() and int(hours) < 24 and int(minutes) < 60):
        raise UserError(f"vault.day_starts_at: {settings.vault.day_starts_at!r} is not a time", "write it like 04:00")
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
    return found


def _convert(raw: dict[str, Any], given: dict[str, str], path: Path, text: str) -> Settings:
    for name in ("extra", "allow"):
        value = raw.get("redact", {}).get(name)
        if isinstance(value, str):
            raw["redact"][name] = [value]
    try:
        return msgspec.convert(raw, Settings)
    except msgspec.ValidationError as err:
        said = str(err)
        name = said.rpartition("`$.")[2].rstrip("`") if "`$." in said else ""
        where = given.get(name, str(path))
        line = next(
            (n for n, row in enumerate(text.splitlines(), 1) if row.split("=")[0].strip() == name.rpartition(".")[2]), 0
        )
        place = f"{where}:{line}" if line and where == str(path) else where
        raise UserError(f"{place}: {name}: {said.partition(' - at')[0]}", "see `afterword config show`") from err


def write_vault(path: Path, vault: Path) -> None:
    """Set `[vault] path` in the config file, keeping every other byte of it."""
    from afterword.store.files import private_folder, replace  # noqa: PLC0415

    line = f"path = {_quoted(str(vault))}"
    text = path.read_text("utf-8") if path.exists() else ""
    rows = text.splitlines()
    section = next((n for n, row in enumerate(rows) if row.strip() == "[vault]"), None)
    if section is None:
        rows += [*([""] if rows else []), "[vault]", line]
    else:
        end = next((n for n in range(section + 1, len(rows)) if rows[n].lstrip().startswith("[")), len(rows))
        old = next((n for n in range(section + 1, end) if rows[n].split("=")[0].strip() == "path"), None)
        if old is None:
            rows.insert(section + 1, line)
        else:
            rows[old] = line
    private_folder(path.parent)
    replace(path, ("\n".join(rows) + "\n").encode())


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


PLATFORM_PROBLEM = "afterword runs on Linux and macOS" if sys.platform == "win32" else ""
