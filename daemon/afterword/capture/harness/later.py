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
        case "antigravity":
            return _antigravity(overridden(where, "ANTIGRAVITY") or [where.home / ".gemini"])
        case "grok-build":
            return overridden(where, "GROK") or listed(where, "GROK_HOME") or [where.home / ".grok"]
        case _:
            return []


def _antigravity(bases: list[Path]) -> list[Path]:
    return [folder for base in bases for folder in sorted(base.glob("antigravity*")) or [base / "antigravity"]]
