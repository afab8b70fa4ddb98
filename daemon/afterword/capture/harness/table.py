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
        """The harness's module."""
        return cast("Agent", importlib.import_module(f"afterword.capture.harness.{self.module}"))


HARNESSES = (
    Harness("claude-code", "Claude Code", "claude_code", reads=True),
    Harness("codex", "Codex CLI", "codex", reads=True),
    Harness("opencode", "opencode", "opencode", reads=True),
    Harness("cursor", "Cursor", "cursor", reads=True),
    Harness("gemini-cli", "Gemini CLI", "gemini_cli", reads=True),
    Harness("aider", "aider", "aider", reads=True),
    Harness("antigravity", "Antigravity", "antigravity", reads=True),
    Harness("grok-build", "Grok Build", "grok_build", reads=True),
    Harness("copilot-cli", "GitHub Copilot CLI", "copilot_cli", reads=True),
    Harness("qwen-code", "Qwen Code", "qwen_code", reads=True),
    Harness("pi", "pi", "pi", reads=True),
)

BY_NAME = {harness.name: harness for harness in HARNESSES}
