"""The literal table of harnesses; a module is imported when its harness is used."""

import importlib
from pathlib import Path
from typing import cast

import msgspec

from afterword.capture.harness import later
from afterword.domain.events import Decoder, Where


class Harness(msgspec.Struct, frozen=True):
    name: str
    label: str
    module: str
    reads: bool


HARNESSES = (
    Harness("claude-code", "Claude Code", "claude_code", reads=True),
    Harness("codex", "Codex CLI", "codex", reads=True),
    Harness("opencode", "opencode", "later", reads=False),
    Harness("cursor", "Cursor", "later", reads=False),
    Harness("gemini-cli", "Gemini CLI", "later", reads=False),
    Harness("aider", "aider", "later", reads=False),
    Harness("antigravity", "Antigravity", "later", reads=False),
    Harness("grok-build", "Grok Build", "later", reads=False),
)

BY_NAME = {harness.name: harness for harness in HARNESSES}


def decoder(harness: Harness) -> Decoder:
    """The decoder of a harness that is read.

    Raises:
        LookupError: the harness is not read yet.
    """
    if not harness.reads:
        raise LookupError(f"{harness.label} is not read yet")
    return cast("Decoder", importlib.import_module(f"afterword.capture.harness.{harness.module}"))


def roots(harness: Harness, where: Where) -> list[Path]:
    """Every folder the harness's stores may lie in, also of one that is not read yet."""
    return decoder(harness).roots(where) if harness.reads else later.roots(harness.name, where)
