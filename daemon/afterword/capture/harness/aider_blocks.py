"""What stands in an aider history: sessions, and in each the blocks of a person, of the model and of aider itself.

The file is Markdown by prefixes. aider ends every line of its own and of the person's with two blanks and begins a
person's and a model's record with an empty line; a reply is written raw, so what looks like a prompt in it is none.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

Who = Literal["person", "model", "aider"]

_HEADER = re.compile(r"# aider chat started at (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})")
_ANSI = re.compile(r"\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TOKENS = re.compile(r"> Tokens: \S+ sent, .*received\.")
_CHATTER = re.compile(
    r"> (?:Tokens: |Cost: |Applied edit to |Commit [0-9a-f]{7,} |Added |Add |Running |Aider v|Main model: |Model: "
    r"|Models: |Git repo: |Repo-map: |Use /help |You can use /undo |Edit the files\?|Allow edits to |Create new file)"
)
_HEADING = re.compile(r"\d{1,3}[.)]\s|\*\*|.*:\Z")
_PREFIXED = ("#### ", "> ")
_TORN = ("#", ">")
_ENDING = "  "


class Block(msgspec.Struct, gc=False):
    """Lines of one speaker, without prefixes and endings. A tool's message of several lines is one block."""

    who: Who
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


class Session(msgspec.Struct, gc=False):
    """What stands below one header. `started` is its local time as written, empty for lines before any header;
    `n` counts the headers with this very time, from 1."""

    started: str
    n: int
    lines: list[str]

    @property
    def name(self) -> str:
        return f"{self.started or 'no header'}#{self.n}"


def text_of(data: bytes) -> str:
    """The file's text. A last line that is not ended yet counts only as a part of a reply: a torn prompt is none."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    text = _ANSI.sub("", text.replace("\r\n", "\n").replace("\0", ""))
    whole, newline, torn = text.rpartition("\n")
    if torn.startswith(_TORN):
        return whole + newline
    # A character that is cut in two comes with its second half.
    return whole + newline + torn.rstrip("\ufffd")


def sessions(text: str) -> list[Session]:
    """The sessions in the order of the file. A header counts wherever it stands, also behind an open fence."""
    found: list[Session] = []
    seen: dict[str, int] = {}
    current = Session("", 1, [])
    for line in text.split("\n"):
        header = _HEADER.fullmatch(line)
        if header is None:
            current.lines.append(line)
            continue
        found.append(current)
        n = seen[header[1]] = seen.get(header[1], 0) + 1
        current = Session(header[1], n, [])
    found.append(current)
    if not any(line.strip() for line in found[0].lines):
        del found[0]
    return found


def blocks(session: Session) -> list[Block]:
    """The blocks of one session in order."""
    return list(each_block(session))


def each_block(session: Session) -> Iterator[Block]:
    """The blocks of one session, one after the other."""
    return _Reading(session.lines).run()


class _Reading:
    """One session being read, line by line."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        # An editor may have taken the blanks at the ends of all lines.
        self._bare = not any(line.startswith(_PREFIXED) and line.endswith(_ENDING) for line in lines)
        self._block: Block | None = None
        self._last: Block | None = None
        self._fence = ""
        self._open = False
        self._above = ""
        """The line above, within this session."""

    def run(self) -> Iterator[Block]:
        for line in self._lines:
            who, start = self._who(line)
            if start or (self._block and who != self._block.who):
                if self._block and self._block.text:
                    yield self._block
                if self._block:
                    self._last = self._block
                self._block = None
            if who is not None:
                if self._block is None:
                    self._block = Block(who, [])
                self._block.lines.append(self._stripped(line, who))
            self._above = line
        if self._block and self._block.text:
            yield self._block

    def _stripped(self, line: str, who: Who) -> str:
        if who == "model":
            return line
        if who == "person":
            return line[5:].removesuffix(_ENDING)
        return (line[2:] if line.startswith("> ") or line == ">" else line).removesuffix(_ENDING)

    def _who(self, line: str) -> tuple[Who | None, bool]:
        """(whose line it is, whether a new block begins with it); nobody's when it is empty between blocks."""
        current = self._block.who if self._block else None
        if self._open:
            if not self._prompt(line):
                self._open = not line.endswith(_ENDING)
                return "aider", False
            self._open = False
        if self._fence:
            if not (self._blank_above and _TOKENS.match(line)):
                self._close_fence(line)
                return "model", False
            self._fence = ""
        if self._prompt(line):
            goes_on = current == "person" and self._above.startswith("####")
            return "person", not goes_on
        if self._said_by_aider(line):
            self._open = not self._bare and not line.endswith(_ENDING)
            return "aider", True
        if not line.strip() and current != "model":
            return None, False
        self._open_fence(line)
        return "model", current != "model"

    @property
    def _blank_above(self) -> bool:
        return not self._above.strip()

    def _prompt(self, line: str) -> bool:
        if not (line.startswith("#### ") or line == "####"):
            return False
        speaking = self._speaking()
        if speaking == "person" and self._above.startswith("####"):
            return True
        if line.endswith(_ENDING):
            return speaking != "model" or self._blank_above
        if speaking is None or speaking == "aider":
            return self._blank_above or self._bare
        if speaking == "person":
            last = self._block or self._last
            return bool(last and (last.text in ("", "<blank>") or last.text[0] in "/!"))
        return self._bare and self._blank_above and not _HEADING.match(line[5:])

    def _said_by_aider(self, line: str) -> bool:
        if not (line.startswith("> ") or line == ">"):
            return False
        speaking = self._speaking()
        if self._bare:
            return speaking != "model" or (self._blank_above and bool(_CHATTER.match(line)))
        if line.endswith(_ENDING):
            return speaking != "model" or self._blank_above
        # A message of several lines has its prefix on the first and its ending on the last. It follows at once what
        # it is about, where a reply has an empty line before it.
        return speaking is None or (speaking != "model" and not self._blank_above)

    def _speaking(self) -> Who | None:
        """Who spoke last, be the block ended or not."""
        last = self._block or self._last
        return last.who if last else None

    def _open_fence(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            self._fence = fence[1]

    def _close_fence(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence and not fence[2].strip() and fence[1].startswith(self._fence):
            self._fence = ""
