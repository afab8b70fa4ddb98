"""The literal table of commands. What a row names is imported when it is used, and by its name only."""

import importlib
from typing import Any

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("afterword.cli.up:up", "Set up, take everything in, write it up, then watch."),
    "run": ("afterword.cli.up:run", "The same without first-run talk, for systemd and launchd."),
    "init": ("afterword.cli.setup:init", "Make a vault in a new or empty folder."),
    "ingest": ("afterword.cli.up:ingest", "Read what is new in the stores, write no notes."),
    "index": ("afterword.cli.index:index", "Bring the index for search by meaning up to date."),
    "sources": ("afterword.cli.look:sources", "Which agents were found and what was read of them."),
    "search": ("afterword.cli.look:search", "Find what was said or done, by exact words and by meaning."),
    "show": ("afterword.cli.look:show", "One session whole."),
    "status": ("afterword.cli.state:status", "One screen: what runs, what is pending, how much there is."),
    "doctor": ("afterword.cli.state:doctor", "Every known trouble with its fix."),
    "config": ("afterword.cli.state:config", "The settings in force and where they come from."),
    "version": ("afterword.cli.state:version", "Which version this is."),
}
"""Command → (module:attribute, one line of help); a module is imported when its command is used."""

WATCH = "afterword.serve.loop:watch"
"""What `up` and `run` hand the program to. The daemon is a layer of its own beside the command line."""


def imported(name: str) -> Any:
    """What `module:attribute` names."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
