"""The literal table of harnesses; a module is imported when its harness is used."""

import importlib
from typing import cast

from msgspec import Struct

from afterword.domain.events import Agent


class Harness(Struct, frozen=True):
    name: str
    label: str
    module: str
    reads: bool
    """Whether its transcripts are read; the others are only looked for."""

    def load(self) -> Agent:
        """The harness's module; one that is not read yet knows its roots and no sources."""
        module = importlib.import_module(f"afterword.capture.harness.{self.module}")
        if not self.reads:
            return cast("Agent", module.Later(self.name, self.label))
        return cast("Agent", module)


HARNESSES = (
    Harness("claude-code", "Claude Code", "claude_code", reads=True),
    Harness("codex", "Codex CLI", "codex", reads=True),
    Harness("opencode", "opencode", "opencode", reads=True),
    Harness("cursor", "Cursor", "cursor", reads=True),
    Harness("gemini-cli", "Gemini CLI", "gemini_cli", reads=True),
    Harness("aider", "aider", "aider", reads=True),
    Harness("antigravity", "Antigravity", "later", reads=False),
    Harness("grok-build", "Grok Build", "later", reads=False),
)

BY_NAME = {harness.name: harness for harness in HARNESSES}
