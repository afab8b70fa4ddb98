"""`search -i`: choose among results, read them, open their notes. The terminal is given back whatever ends it.

Keys: arrows or j and k move, Enter reads the session, o opens the note, / asks anew, n and p turn the page, q leaves.
"""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from afterword.app.asking import answer
from afterword.app.config import Config
from afterword.app.results import Question
from afterword.cli.finding import beside, heading
from afterword.cli.links import Place, uri
from afterword.cli.output import clean
from afterword.cli.view import Screen, screen, terms_of, wrapped
from afterword.domain.errors import AfterwordError, Exit, UsageError

_KEYS: Final = {
    "\x1b[A": "up", "\x1bOA": "up", "k": "up", "\x1b[B": "down", "\x1bOB": "down", "j": "down", "\r": "read",
    "\n": "read", "o": "open", "/": "ask", "n": "next", "p": "before", "q": "leave", "\x1b": "leave", "\x03": "leave",
    "\x04": "leave",
}  # fmt: skip
_HELP: Final = "↑↓ move · Enter read · o open note · / ask anew · n p page · q leave"
_ESCAPE_S: Final = 0.05
"""What belongs to an arrow key comes at once; an Escape alone does not go on."""
_SESSION_LINES: Final = 2_000


def pick(config: Config, query: str, *, limit: int, given: Mapping[str, Any]) -> int:
    """Show results and do with them what a person says; the exit code.

    Raises:
        UsageError: this is no terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("-i needs a terminal", "leave it away, or use --json")
    with _raw():
        return _Picker(config, query, limit, given).run()


class _Picker:
    def __init__(self, config: Config, query: str, limit: int, given: Mapping[str, Any]) -> None:
        self._config = config
        self._limit = min(limit, max(3, os.get_terminal_size().lines // 4))
        self._given = {name: value for name, value in given.items() if name != "page"}
        self._screen: Screen = screen(config.vault.name if config.vault else None)
        self._at = 0
        self._said = ""
        self._ask(query, 1)

    def _ask(self, query: str, page: int) -> None:
        wanted = Question(
            query, **{**self._given, "mode": self._given.get("mode") or "both"}, limit=self._limit, page=page
        )
        try:
            fields = answer(self._config, os.environ, wanted, os.getcwd())  # noqa: PTH109
        except AfterwordError as err:
            self._said = err.message
            if not hasattr(self, "_fields"):
                raise
            return
        if page > 1 and not fields["results"]:
            self._said = "there is no further page"
            return
        self._query, self._page, self._fields, self._at = query, page, fields, 0
        self._said = "; ".join(beside(wanted, fields, self._given))

    def run(self) -> int:
        while True:
            self._draw()
            match _key():
                case "up":
                    self._at = max(0, self._at - 1)
                case "down":
                    self._at = max(0, min(len(self._results) - 1, self._at + 1))
                case "next":
                    self._ask(self._query, self._page + 1)
                case "before" if self._page > 1:
                    self._ask(self._query, self._page - 1)
                case "ask":
                    if typed := _line("search: "):
                        self._ask(typed, 1)
                case "read" if self._results:
                    self._read(self._results[self._at])
                case "open" if self._results:
                    self._open(self._results[self._at])
                case "leave":
                    return Exit.DONE if self._results else Exit.NOTHING

    @property
    def _results(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._fields["results"]
        return found

    def _draw(self) -> None:
        from afterword.app.reading import reader, zones_of

        with reader(self._config) as ledger:
            zones = zones_of(self._config, ledger)
        terms = terms_of(self._fields["instead"] or self._query)
        shown = [self._screen.bold(clean(f"{self._query} · page {self._page}")), ""]
        for number, row in enumerate(self._results):
            lines = list(self._screen.result(heading(row, zones), row, terms))
            shown += [("▸ " if number == self._at else "  ") + line for line in lines[:4]]
        shown += ["", *self._screen.paragraph(clean(self._said), [], 0), self._screen.dim(_HELP)]
        _write("\x1b[2J\x1b[H" + "\r\n".join(shown[: max(4, os.get_terminal_size().lines - 1)]))

    def _read(self, row: dict[str, Any]) -> None:
        """A session from what was found on, or an article's snippet; any key goes on, q back."""
        texts = [str(row["snippet"])]
        if row["session"]:
            from afterword.app.reading import reader
            from afterword.app.show import find, whole

            try:
                with reader(self._config) as ledger:
                    items = whole(ledger, find(ledger, row["session"])).items
            except AfterwordError as err:
                # Forgotten by now, or of a first reading and not in the ledger yet: what was found is still to be read.
                self._said, items = err.message, []
            start = next((at for at, item in enumerate(items) if item.id == row["id"]), 0)
            texts = [f"[{item.kind.word}] {item.text or item.path or ''}" for item in items[start:]] or texts
        width = self._screen.width
        lines: list[str] = []
        for text in texts:
            for part in clean(text).replace("\t", "    ").split("\n"):
                lines += [part[first:last] for first, last in wrapped(part, width)] or [""]
            lines.append("")
            if len(lines) > _SESSION_LINES:
                lines.append("… `afterword show` has the rest")
                break
        height = max(3, os.get_terminal_size().lines - 2)
        for start in range(0, len(lines), height):
            more = " · any key: more" if start + height < len(lines) else ""
            _write("\x1b[2J\x1b[H" + "\r\n".join([*lines[start : start + height], self._screen.dim(f"q: back{more}")]))
            if _key() == "leave":
                return

    def _open(self, row: dict[str, Any]) -> None:
        if not row["path"] or self._config.vault is None:
            self._said = "it is in no note (yet)"
            return
        from afterword.cli.open import start

        address = clean(uri(self._config.vault.name, Place(row["path"], row["block"])))
        try:
            self._said = address
            start(address)
        except AfterwordError as err:
            self._said = err.message


@contextmanager
def _raw() -> Iterator[None]:
    """The terminal key by key, on a screen of its own."""
    was = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        _write("\x1b[?1049h\x1b[?25l")
        yield
    finally:
        _write("\x1b[?25h\x1b[?1049l")
        termios.tcsetattr(0, termios.TCSADRAIN, was)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _pressed() -> str:
    """One key, whole; empty at the end of input."""
    got = os.read(0, 1)
    if got == b"\x1b":
        while select.select([0], [], [], _ESCAPE_S)[0] and len(got) < 3:
            got += os.read(0, 1)
    elif got and got[0] >= 0xC0:
        for _ in range((got[0] >= 0xE0) + (got[0] >= 0xF0) + 1):
            got += os.read(0, 1)
    return got.decode("utf-8", "replace") if got else "\x04"


def _key() -> str:
    return _KEYS.get(_pressed(), "")


def _line(prompt: str) -> str:
    """What a person types up to Enter; empty when it is given up."""
    typed = ""
    while True:
        _write("\x1b[2J\x1b[H" + prompt + clean(typed) + "\x1b[?25h")
        match _pressed():
            case "\r" | "\n":
                _write("\x1b[?25l")
                return typed.strip()
            case "\x1b" | "\x03" | "\x04":
                _write("\x1b[?25l")
                return ""
            case "\x7f" | "\x08":
                typed = typed[:-1]
            case char if char.isprintable():
                typed += char
