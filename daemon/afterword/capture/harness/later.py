"""Where the stores of the harnesses that are not read yet lie, so that they can be named."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from afterword.capture.harness.stores import listed, overridden
from afterword.domain.events import Decoded, Fingerprint, Found, Where


class Nothing(Struct):
    """The state of a decoder that reads nothing."""


class Later(Struct, frozen=True):
    """A harness that is only looked for."""

    name: str
    label: str
    state_type: type[Nothing] = Nothing

    def roots(self, where: Where) -> list[Path]:
        return roots(self.name, where)

    def sources(self, root: Path) -> Iterator[Found]:  # noqa: ARG002  # the protocol's
        return iter(())

    def start(self, path: Path) -> Nothing:  # noqa: ARG002
        return Nothing()

    def decode(self, line: bytes, state: Nothing, fingerprint: Fingerprint) -> list[Decoded]:  # noqa: ARG002
        return []

    def session_of(self, state: Nothing) -> str:  # noqa: ARG002
        return ""


def roots(harness: str, where: Where) -> list[Path]:
    """The folders of a harness without a decoder; they need not exist."""
    match harness:
        case "cursor":
            return _cursor(where)
        case "aider":
            return overridden(where, "AIDER")
        case _:
            return []


def _cursor(where: Where) -> list[Path]:
    user = overridden(where, "CURSOR")
    if not user:
        if where.platform == "darwin":
            user = [where.home / "Library" / "Application Support" / "Cursor" / "User"]
        else:
            config = [*listed(where, "XDG_CONFIG_HOME"), where.home / ".config"]
            user = list(dict.fromkeys(folder / "Cursor" / "User" for folder in config))
    cli = overridden(where, "CURSOR_CLI") or listed(where, "CURSOR_CONFIG_DIR") or [where.home / ".cursor"]
    return [*user, *cli]
