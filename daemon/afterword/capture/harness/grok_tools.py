"""Tool calls of Grok Build: the updates of one call put together, and what kind of item it is."""

import re
import shlex
from typing import NamedTuple

import msgspec
from msgspec import Struct

from afterword.capture.harness.grok_lines import Content, Loose, Update
from afterword.capture.harness.lenient import part
from afterword.capture.harness.texts import tidy
from afterword.domain.items import ExitStatus, Kind

_EXIT = re.compile(r"\bexit(?:ed with)? code:? *(-?\d{1,10})\b", re.IGNORECASE)
_TERMINAL = {"completed": "ok", "failed": "failed", "cancelled": "interrupted", "canceled": "interrupted"}
_SAID = 2000


class Input(Struct, gc=False):
    """The arguments of tools whose calls are more than a title."""

    command: str | list[str] | None = None
    path: str | None = None
    file_path: str | None = None
    target_file: str | None = None


class Output(Struct, gc=False):
    exit_code: int | None = None
    output: str | Loose | None = None
    stdout: str | Loose | None = None


class Called(NamedTuple):
    """One item a call makes."""

    kind: Kind
    text: str
    path: str | None = None


_INPUT = msgspec.json.Decoder(Input)
_OUTPUT = msgspec.json.Decoder(Output)
_ANY = msgspec.json.Decoder(dict[str, object])


class Call(Struct):
    """A call as far as its updates go; fields of later ones replace earlier ones."""

    title: str = ""
    tool: str = ""
    status: str = ""
    raw_input: bytes = b""
    raw_output: bytes = b""
    paths: list[str] = []
    pieces: list[Content] = []
    """What the first record or the last terminal one holds: others hold a description."""

    def take(self, update: Update) -> None:
        """Take in the next update of the call."""
        self.title = update.title or self.title
        self.tool = update.tool or self.tool
        self.status = update.status or self.status
        self.raw_input = bytes(update.raw_input) or self.raw_input
        self.raw_output = bytes(update.raw_output) or self.raw_output
        if update.locations is not None:
            self.paths = [location.path for location in update.locations if location.path]
        if isinstance(update.content, list):
            ended = update.status in _TERMINAL
            diffs = any(piece.type == "diff" for piece in update.content)
            if ended or diffs:
                kept = [] if diffs else [piece for piece in self.pieces if piece.type == "diff"]
                self.pieces = [*kept, *update.content]

    @property
    def ended(self) -> ExitStatus:
        """How it ended: a word when it failed, else its number, else a word; None while it runs."""
        word = _TERMINAL.get(self.status)
        if word != "ok":
            return word
        output = self._output()
        if output.exit_code is not None:
            return output.exit_code
        code = _EXIT.search(self.output(), 0, _SAID) if self.tool == "execute" else None
        return int(code[1]) if code else word

    @property
    def named(self) -> bool:
        """Whether anything says what was called; updates may come without their call."""
        return bool(self.tool or self.title or self.raw_input)

    @property
    def has_diffs(self) -> bool:
        return any(piece.type == "diff" and piece.path for piece in self.pieces)

    def _output(self) -> Output:
        return (part(self.raw_output, _OUTPUT) if self.raw_output.startswith(b"{") else None) or Output()

    def output(self) -> str:
        """The text of its result."""
        texts = [piece.content.text for piece in self.pieces if piece.content and piece.content.text]
        if not texts and self.status in _TERMINAL:
            said = self._output()
            texts = [text for text in (said.output, said.stdout) if isinstance(text, str)][:1]
        return tidy("\n".join(texts).strip("\n"))

    def items(self) -> list[Called]:
        """What the call is, its result aside."""
        given = (part(self.raw_input, _INPUT) if self.raw_input.startswith(b"{") else None) or Input()
        if self.tool == "execute" and given.command:
            command = given.command if isinstance(given.command, str) else shlex.join(given.command)
            return [Called(Kind.COMMAND, tidy(command))]
        paths = self.paths or [path for path in (given.path, given.file_path, given.target_file) if path][:1]
        if self.tool in ("edit", "delete", "move"):
            diffs = [piece for piece in self.pieces if piece.type == "diff" and piece.path]
            if diffs:
                return [Called(Kind.EDIT, tidy(_signed(piece)), piece.path) for piece in diffs]
            if paths:
                return [Called(Kind.EDIT, "", path) for path in paths]
        if self.tool == "read" and paths:
            return [Called(Kind.READ, path, path) for path in paths]
        return [Called(Kind.CALL, tidy(" ".join(filter(None, (self.title or self.tool, self._compact())))))]

    def _compact(self) -> str:
        given = part(self.raw_input, _ANY) if self.raw_input.startswith(b"{") else None
        return msgspec.json.encode(given).decode("utf-8", "replace") if given else ""


def _signed(piece: Content) -> str:
    halves = (("-", piece.old_text), ("+", piece.new_text))
    return "\n".join(sign + text.rstrip("\n").replace("\n", "\n" + sign) for sign, text in halves if text)
