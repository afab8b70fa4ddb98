"""The daemon as a service: the templates of `systemd/`, filled in for this machine."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from afterword.app.config import Config
from afterword.assets import asset
from afterword.domain.errors import UserError

KEPT: Final = (
    "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_DB",
    "COPILOT_HOME", "GROK_HOME",
)  # fmt: skip
"""Variables that decide where things are: a service starts with none of a shell's, so these are written down, and
every `AFTERWORD_<AGENT>_ROOT`."""
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def command(config: Config, *, named: bool) -> list[str]:
    """The daemon's command line: this interpreter by its absolute path, and the settings file if it was named."""
    words = [str(Path(sys.executable).absolute()), "-P", "-m", "afterword", "run"]
    return [*words, "--config", str(config.places.config_file.absolute())] if named else words


def _kept(env: Mapping[str, str]) -> dict[str, str]:
    roots = sorted(name for name in env if name.startswith("AFTERWORD_") and name.endswith("_ROOT"))
    return {name: env[name] for name in (*KEPT, *roots) if env.get(name)}


def systemd(words: list[str], env: Mapping[str, str]) -> str:
    """The user unit."""
    variables = [f"Environment={_quoted(f'{name}={value}', dollar=False)}" for name, value in _kept(env).items()]
    text = asset("systemd/afterword.service").read_text("utf-8")
    text = text.replace("@COMMAND@", " ".join(_quoted(word, dollar=True) for word in words))
    return text.replace("@ENVIRONMENT@\n", "".join(f"{line}\n" for line in variables))


def launchd(words: list[str], env: Mapping[str, str], config: Config) -> str:
    """The launchd agent."""
    variables = {"PATH": f"{Path(words[0]).parent}:/opt/homebrew/bin:{_PATH}", "HOME": str(config.places.home)}
    variables |= _kept(env)
    text = asset("systemd/com.afterword.daemon.plist").read_text("utf-8")
    text = text.replace("@COMMAND@", "\n".join(f"    <string>{escape(_line(word))}</string>" for word in words))
    text = text.replace("@LOG@", escape(str(config.places.state / "daemon.log")))
    return text.replace(
        "@ENVIRONMENT@",
        "\n".join(
            f"    <key>{name}</key>\n    <string>{escape(_line(value))}</string>" for name, value in variables.items()
        ),
    )


def _quoted(word: str, *, dollar: bool) -> str:
    """A word of a unit file as systemd reads it back: specifiers, quotes and, in commands, variables made harmless."""
    text = _line(word).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    text = text.replace("$", "$$") if dollar else text
    plain = text.replace("%%", "").replace("/", "").replace("-", "").replace(".", "").replace("_", "")
    return text if plain.isalnum() and plain.isascii() else f'"{text}"'


def _line(word: str) -> str:
    if not word.isprintable():
        raise UserError(f"{word!r} cannot stand in a service file", "use a path without control characters")
    return word
