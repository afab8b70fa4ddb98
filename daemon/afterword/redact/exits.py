"""The registry of exits: every place where text leaves the process or reaches the disk.

A test holds the code against this table: what opens a file for writing, prints, or sends, is a module named here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from afterword.domain.errors import AfterwordError

if TYPE_CHECKING:
    from afterword.redact.redactor import Redactor
    from afterword.redact.text import Redacted

Protection: TypeAlias = Literal["typed", "redacted", "numbers", "shipped"]
"""typed: takes `Redacted` only · redacted: calls `leave` · numbers: ids, times, counts, paths of ours, no text ·
shipped: bytes that came with the program."""


@dataclass(frozen=True, slots=True)
class Exit:
    """A way out. `modules` are the modules, or packages, that use it."""

    name: str
    protection: Protection
    modules: tuple[str, ...]
    what: str


EXITS: Final[tuple[Exit, ...]] = (
    Exit("ledger-item", "typed", ("afterword.store.ledger",), "the text, title, path and model of an item or session"),
    Exit("ledger-register", "typed", ("afterword.store.ledger",), "the value of a register, as a document"),
    Exit(
        "ledger-source",
        "redacted",
        ("afterword.store.ledger", "afterword.capture"),
        "a source's path and its decoder's state",
    ),
    Exit("ledger-backup", "typed", ("afterword.store.ledger",), "a copy of rows that were redacted when written"),
    Exit("text-index", "typed", ("afterword.store", "afterword.index"), "the postings of a text database"),
    Exit("vector-index", "typed", ("afterword.index",), "documents and metadata given to the vector database"),
    Exit("daily-note", "redacted", ("afterword.store.vault", "afterword.compile"), "a day's note"),
    Exit(
        "section", "redacted", ("afterword.store.vault", "afterword.compile"), "a generated block in a note or article"
    ),
    Exit("article", "redacted", ("afterword.store.vault", "afterword.compile"), "a concept, connection or index page"),
    Exit("lesson", "redacted", ("afterword.store.vault", "afterword.memory"), "a lesson's page"),
    Exit("ready-context", "redacted", ("afterword.store", "afterword.memory"), "what a new session is given to read"),
    Exit(
        "kept-text", "redacted", ("afterword.store.vault",), "the copy of a person's text kept beside a replaced note"
    ),
    Exit("vault-template", "shipped", ("afterword.store.vault", "afterword.assets"), "the files of a new vault"),
    Exit("vault-json", "redacted", ("afterword.store.vault",), "the vault's own settings, `.afterword/vault.json`"),
    Exit("state-json", "redacted", ("afterword.store", "afterword.serve"), "state files: status, port, service record"),
    Exit("config", "redacted", ("afterword.app", "afterword.cli"), "a settings file written at the person's word"),
    Exit(
        "spool", "redacted", ("afterword.hook", "afterword.store.spool"), "event, session id, transcript path, folder"
    ),
    Exit("lock", "numbers", ("afterword.store.lock",), "the owner's process number"),
    Exit("temp-file", "redacted", ("afterword.store.atomic",), "the new bytes of a file, before they replace it"),
    Exit(
        "sqlite-copy", "numbers", ("afterword.capture.tail",), "an unlinked copy of an agent's own database, never kept"
    ),
    Exit("model-prompt", "redacted", ("afterword.compile", "afterword.memory"), "what a model is asked"),
    Exit(
        "model-output",
        "redacted",
        ("afterword.compile", "afterword.memory"),
        "what a model answered, before it is used",
    ),
    Exit("sync-batch", "redacted", ("afterword.app", "afterword.serve"), "entries for another machine"),
    Exit("share", "redacted", ("afterword.cli", "afterword.memory"), "a page made for somebody else"),
    Exit("export", "redacted", ("afterword.cli", "afterword.store"), "rows written out at the person's word"),
    Exit("api", "redacted", ("afterword.serve",), "answers of the loopback door"),
    Exit("mcp", "redacted", ("afterword.serve",), "answers to an agent over MCP"),
    Exit("hook-output", "redacted", ("afterword.hook",), "a ready context, printed as it was written"),
    Exit("terminal", "redacted", ("afterword.cli",), "results and messages for a person"),
    Exit("json-output", "redacted", ("afterword.cli",), "results for a script"),
    Exit("progress", "redacted", ("afterword.cli",), "the words beside a bar"),
    Exit("log", "redacted", ("afterword.redact.logs",), "log records, with tracebacks and extra values"),
    Exit("crash", "redacted", ("afterword.cli", "afterword.serve"), "the traceback of a bug"),
    Exit(
        "process-arguments",
        "redacted",
        ("afterword.serve", "afterword.cli"),
        "argument lists and units of programs we start",
    ),
    Exit("desktop-notice", "redacted", ("afterword.serve",), "a message of the desktop or of the service manager"),
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
