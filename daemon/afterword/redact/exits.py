"""The registry of exits: every place where text leaves the process or reaches the disk.

A test holds the code against this table: what opens a file for writing, prints, or sends, is a module named here.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from afterword.domain.errors import AfterwordError

if TYPE_CHECKING:
    from afterword.redact.redactor import Redactor
    from afterword.redact.text import Redacted

Protection: TypeAlias = Literal["typed", "redacted", "numbers", "shipped", "unlinked"]
"""typed: takes `Redacted` only · redacted: calls `leave` · numbers: ids, times, counts, paths of ours, no text ·
shipped: bytes that came with the program · unlinked: somebody else's file copied into a private folder, nameless before
a conversation in it is read."""


class Exit(msgspec.Struct, frozen=True):
    """A way out. `modules` are the modules, or packages, that use it."""

    name: str
    protection: Protection
    modules: tuple[str, ...]
    what: str


EXITS: Final[tuple[Exit, ...]] = (
    Exit("ledger-item", "typed", ("afterword.store.ledger",), "the text, title, path and model of an item or session"),
    Exit("ledger-register", "typed", ("afterword.store.ledger",), "the value of a register, as a document"),
    Exit("ledger-source", "typed", ("afterword.store.ledger",), "a source's path and its decoder's state"),
    Exit("ledger-job", "typed", ("afterword.store.ledger",), "arguments, progress and result of a job, as documents"),
    Exit(
        "text-index",
        "typed",
        ("afterword.store.textwriter", "afterword.store.textpart", "afterword.store.textfill"),
        "the postings of a text database",
    ),
    Exit(
        "preview",
        "typed",
        ("afterword.store.preview",),
        "what was said, with the facts of its session, found before a large history is read; removed after that",
    ),
    Exit(
        "reading-pipe",
        "typed",
        ("afterword.capture.cold.worker", "afterword.capture.cold.glance", "afterword.capture.cold.outbox"),
        "events made ready, from a worker to the one writer: redacted texts, ids and numbers, over a pipe of ours",
    ),
    Exit(
        "reading-orders",
        "numbers",
        ("afterword.capture.cold.feed",),
        "which files to read, the ledger's key and a person's patterns, from the writer to its workers, over a pipe",
    ),
    Exit("daily-note", "redacted", ("afterword.store.notes",), "a section in a day's note, before its bytes are made"),
    Exit(
        "article",
        "redacted",
        ("afterword.store.article_notes", "afterword.store.knowledge_pages"),
        "an article, the catalogue and the build log, before their bytes are made",
    ),
    Exit(
        "lesson",
        "redacted",
        ("afterword.memory",),
        "entries of the journal, topics and agents' files, before their bytes",
    ),
    Exit("note-append", "redacted", ("afterword.store.files",), "bytes of `daily-note` on their way into the file"),
    Exit("replaced-file", "redacted", ("afterword.store.files",), "the new bytes of a file, before they replace it"),
    Exit("vault-template", "shipped", ("afterword.app.setup",), "the files of a new vault"),
    Exit("vault-card", "numbers", ("afterword.app.setup",), "`.afterword/vault.json`: ids and zones"),
    Exit("config", "numbers", ("afterword.app.config",), "the vault's path, written into the settings at init"),
    Exit("model-rows", "shipped", ("afterword.index.rows",), "the local model's table, in a file without a name"),
    Exit("demo-home", "shipped", ("afterword.app.demo",), "the made-up history in a throw-away home"),
    Exit(
        "vector-index",
        "redacted",
        ("afterword.index.keeper", "afterword.index.keeping", "afterword.index.server", "afterword.index.manifest"),
        "stretches of text, their headings and their vectors, given to the index, in a folder or on a server",
    ),
    Exit("question-spend", "numbers", ("afterword.app.embedders",), "tokens that questions took, by day; no text"),
    Exit("merge-vectors", "numbers", ("afterword.index.nearness",), "hashes of redacted texts, and their vectors"),
    Exit("database-copy", "unlinked", ("afterword.capture.database",), "a database whose log has no index, to be read"),
    Exit("backup-look", "unlinked", ("afterword.store.backups_holding",), "a backup unpacked into a private folder"),
    Exit("person-line", "numbers", ("afterword.app.traces",), "a word of ours in the place of what a person struck"),
    Exit("use-note", "numbers", ("afterword.store.use_log",), "ids of articles that were made use of, and the day"),
    Exit("tombstones", "numbers", ("afterword.store.forgotten_file",), "ids and hashes of what was forgotten"),
    # Bytes of the ledger as they are, and of the file they come from: every text in them was redacted before.
    Exit("backup", "redacted", ("afterword.store.backup_file",), "a copy of the ledger, packed"),
    Exit("restore", "redacted", ("afterword.app.backing",), "a backup of the ledger, put in its place"),
    Exit(
        "share",
        "redacted",
        ("afterword.app.share", "afterword.app.sharing"),
        "a session for somebody else, as a page or Markdown",
    ),
    Exit(
        "sync-batch",
        "redacted",
        ("afterword.app.sync_log",),
        "records for another machine, over SSH or in a folder of batches",
    ),
    Exit("peer-process", "numbers", ("afterword.serve.peers",), "which machine our own program is to exchange with"),
    Exit("numbered", "numbers", ("afterword.store.ledger.restored",), "how far this machine has numbered"),
    Exit("report", "redacted", ("afterword.app.report",), "titles, projects and reasons in the report's page"),
    Exit("private-file", "numbers", ("afterword.store.privacy",), "an empty file, for a database to be made in"),
    Exit("lock", "numbers", ("afterword.store.lock",), "the owner's process number and command"),
    Exit("door-card", "numbers", ("afterword.store.doorfile",), "the door's port, process number and token"),
    # The one row of foreign words without redaction: the hook knows no rules and must be quick. A spool file holds four
    # fields of the agent's own bookkeeping, readable by the owner alone, and lives until the daemon has acted on it,
    # which looks things up by them and stores them redacted or not at all. A path may hold a secret; no text of a
    # session is in it.
    Exit("spool", "numbers", ("afterword.hook",), "event, session id, transcript path, folder"),
    Exit("context", "redacted", ("afterword.store.contexts",), "what a hook prints when a session starts, kept ready"),
    Exit(
        "memory-block",
        "redacted",
        ("afterword.app.memory_blocks",),
        "the same, in a block of a file that an agent reads when it starts",
    ),
    Exit("hook-output", "redacted", ("afterword.hook",), "a ready context, printed as it was written"),
    Exit("door-question", "redacted", ("afterword.app.client",), "what a command asks the running daemon"),
    # A new token, a pairing code and a proof leave bare, by the name of their field: the answer is for them.
    Exit(
        "api",
        "redacted",
        ("afterword.serve.api", "afterword.serve.carrier", "afterword.serve.door"),
        "answers of the loopback door",
    ),
    Exit(
        "paired", "redacted", ("afterword.store.pairs",), "what a paired program calls itself, beside its token's hash"
    ),
    Exit("mcp", "redacted", ("afterword.serve.mcp", "afterword.serve.mcp_http"), "answers to an agent over MCP"),
    Exit("service-manager", "numbers", ("afterword.serve.notify",), "ready, alive, stopping"),
    Exit("git-hook", "numbers", ("afterword.app.git_hook",), "our program's path, in a hook of the vault's repository"),
    Exit(
        "agent-settings",
        "numbers",
        ("afterword.app.wiring",),
        "our programs' paths, into agents' settings; what was put in",
    ),
    Exit(
        "unit",
        "numbers",
        ("afterword.cli.service", "afterword.app.service"),
        "paths of ours in a unit for the service manager",
    ),
    Exit("opener", "redacted", ("afterword.cli.open",), "an obsidian:// address given to the system's opener"),
    Exit("model-request", "redacted", ("afterword.compile.gemini",), "what a model is asked, sent over the network"),
    Exit("explain", "redacted", ("afterword.app.provenance",), "what a model was asked and answered, shown again"),
    Exit("terminal", "redacted", ("afterword.cli",), "results and messages for a person"),
    Exit("json-output", "redacted", ("afterword.cli",), "results for a script"),
    Exit("log", "redacted", ("afterword.redact.logs",), "log records, with tracebacks and extra values"),
    Exit("crash", "redacted", ("afterword.cli",), "the traceback of a bug"),
)

_BY_NAME: Final = {row.name: row for row in EXITS}


class UnknownExit(AfterwordError):
    """Text was about to leave by a way that is not in the table: a bug, and nothing left."""

    kind = "unknown-exit"


def exit_named(name: str) -> Exit:
    """The row of this exit.

    Raises:
        UnknownExit: there is none.
    """
    row = _BY_NAME.get(name)
    if row is None:
        raise UnknownExit(f"{name!r} is not a registered exit", "add a row to afterword.redact.exits.EXITS")
    return row


class Tally:
    """How many texts left by each exit, and how many of them still held something."""

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()
        self.caught: Counter[str] = Counter()


def leave(exit_name: str, text: str, redactor: Redactor, tally: Tally | None = None) -> Redacted:
    """`text`, redacted once more on its way out.

    Raises:
        UnknownExit: the exit has no row.
    """
    exit_named(exit_name)
    clean = redactor.redact(text)
    counts = tally or redactor.exits
    counts.left[exit_name] += 1
    if clean != text:
        counts.caught[exit_name] += 1
    return clean


def leave_tree(exit_name: str, value: Any, redactor: Redactor) -> Any:
    """A JSON value with every text in it redacted once more on its way out; keys are names of ours."""
    match value:
        case str():
            return str(leave(exit_name, value, redactor))
        case dict():
            return {key: leave_tree(exit_name, inner, redactor) for key, inner in value.items()}
        case list() | tuple():
            return [leave_tree(exit_name, inner, redactor) for inner in value]
        case _:
            return value
