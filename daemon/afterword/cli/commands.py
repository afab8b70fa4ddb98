"""The literal table of commands. What a row names is imported when it is used, and by its name only."""

import importlib
from typing import Any

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("afterword.cli.up:up", "Set up, take everything in, write it up, then watch."),
    "run": ("afterword.cli.up:run", "The same without first-run talk, for systemd and launchd."),
    "stop": ("afterword.cli.stop:stop", "Ask the running daemon to finish and leave."),
    "init": ("afterword.cli.setup:init", "Make a vault, or add ours to one that is there."),
    "uninstall": ("afterword.cli.setup:uninstall", "Take out of a vault what `init` put in."),
    "ingest": ("afterword.cli.up:ingest", "Read what is new in the stores, write no notes."),
    "index": ("afterword.cli.index:index", "Bring the index for search by meaning up to date."),
    "sources": ("afterword.cli.look:sources", "Which agents were found and what was read of them."),
    "compile": ("afterword.cli.compile:compile_", "Turn daily notes into articles."),
    "backfill": ("afterword.cli.backfill:backfill", "Write the past up with Gemini; says first what it takes."),
    "explain": ("afterword.cli.explain:explain", "What an article was made from, by whom, and at what cost."),
    "lint": ("afterword.cli.lint:lint", "Articles with broken links, doubles, orphans, stale sources."),
    "search": ("afterword.cli.look:search", "Find what was said or done, by exact words and by meaning."),
    "show": ("afterword.cli.look:show", "One session whole."),
    "blame": ("afterword.cli.past:blame", "Which sessions touched a file, and what was decided there."),
    "again": ("afterword.cli.past:again", "What was done about the same error before."),
    "learn": ("afterword.cli.learn:learn", "Put a lesson into the journal."),
    "distill": ("afterword.cli.learn:distill", "Make facts of the journal, for topics and agents."),
    "recall": ("afterword.cli.recall:recall", "What a session in this folder begins with."),
    "open": ("afterword.cli.open:open_", "Open in Obsidian where a result was written up."),
    "useful": ("afterword.cli.useful:useful", "Say that an article helped: it ranks a little higher."),
    "retract": ("afterword.cli.retract:retract", "Mark what proved wrong: nothing tells it any more."),
    "undo": ("afterword.cli.retract:undo", "Take a retraction back; without ID, list what can be."),
    "unmerge": ("afterword.cli.unmerge:unmerge", "Part what was merged by mistake; without ARTICLE, list it."),
    "review": ("afterword.cli.review:review", "Decide what waits for your word: contradictions, doubles, what is old."),
    "report": ("afterword.cli.report:report", "One page with pictures: what there is, what it came to, what it cost."),
    "forget": ("afterword.cli.forget:forget", "Take something out of everything, for good; shows first what goes."),
    "status": ("afterword.cli.state:status", "One screen: what runs, what is pending, how much there is."),
    "doctor": ("afterword.cli.state:doctor", "Every known trouble with its fix."),
    "share": ("afterword.cli.share:share", "A session, scrubbed, as one HTML page or Markdown."),
    "backup": ("afterword.cli.backup:backup", "Copy the ledger into one file, also while a daemon runs."),
    "restore": ("afterword.cli.backup:restore", "Put a backup in the place of the ledger."),
    "sync": ("afterword.cli.sync:sync", "The same memory on several machines: over SSH, or by a folder."),
    "mcp": ("afterword.cli.mcp:mcp", "Answer an agent's searches over MCP (stdio)."),
    "pair": ("afterword.cli.pair:pair", "Let Obsidian, or another program, ask the running daemon."),
    "agents": ("afterword.cli.agents:agents", "Wire Afterword into the agents on this machine."),
    "service": ("afterword.cli.service:service", "The daemon as a service of this system."),
    "config": ("afterword.cli.state:config", "The settings in force and where they come from."),
    "version": ("afterword.cli.state:version", "Which version this is."),
}
"""Command → (module:attribute, one line of help); a module is imported when its command is used."""

WATCH = "afterword.serve.loop:watch"
"""What `up` and `run` hand the program to. The daemon is a layer of its own beside the command line."""

MCP = "afterword.serve.mcp:serve"
"""What `mcp` hands its streams to."""


def imported(name: str) -> Any:
    """What `module:attribute` names."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
