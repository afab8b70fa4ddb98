"""The blocks of one aider session as events."""

import re
import time
from collections.abc import Iterator

from afterword.capture.harness.aider_blocks import Block, Session, blocks, each_block
from afterword.capture.harness.aider_edits import spans
from afterword.capture.harness.texts import tidy
from afterword.domain.events import Decoded, Facts, Item, Key
from afterword.domain.items import ExitStatus, Kind, SaidBy

_SLASH = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?", re.DOTALL)
_ASKING = frozenset({"ask", "code", "architect", "context"})
_RUNNING = frozenset({"run", "test"})
_MODEL = re.compile(r"(?:Main model|Models?): (\S+?)(?:,| with |\Z)")
_EDITED = re.compile(r"Applied edit to (.+)")

_RAN = re.compile(r"Running (.+)", re.DOTALL)
_ADDED = re.compile(r"Added (.+?) to (?:the chat|read-only files)\.?")
_LINES = re.compile(r"\d[\d,]* lines? of .*")
_QUIET = re.compile(
    r"Aider v|Main model: |Weak model: |Editor model: |Models?: |Git repo: |Repo-map: |Use /help |Tokens: |Cost: |"
    r"You can use /undo |Added \d|Restored previous conversation history|.*\(Y\)es/\(N\)o"
)


class Reading:
    """One session being read. The n-th item of a kind is that kind's n-th key."""

    def __init__(self, repository: str, session: Session) -> None:
        self.native = f"{repository}/{session.name}"
        self._session = session
        self._first: Key = (repository, session.started, session.n)
        self._used: dict[Kind, int] = {}
        self._reply = ""

    def run(self, cwd: str) -> Iterator[list[Decoded]]:
        """The session's facts, then its items, one list for each block."""
        found = blocks(self._session)
        models = (_MODEL.match(block.text) for block in found if block.who == "aider")
        model = next((named[1] for named in models if named), None)
        yield [Facts(self.native, cwd=cwd, model=model, started_us=_local(self._session.started))]
        for block in found:
            yield list(self._block(block))

    def _block(self, block: Block) -> Iterator[Decoded]:
        text = tidy(block.text)
        match block.who:
            case "person":
                self._reply = ""
                yield from self._typed(text)
            case "model":
                self._reply = f"{self._reply}\n{block.text}"
                yield self._item(Kind.REPLY, text, SaidBy.AGENT)
            case "aider":
                yield from self._noted(text)

    def _typed(self, text: str) -> Iterator[Decoded]:
        if text == "<blank>":
            return
        if text.startswith("!"):
            if text[1:].strip():
                yield self._item(Kind.COMMAND, text[1:].strip(), SaidBy.PERSON)
            return
        slash = _SLASH.fullmatch(text)
        if slash is None and not text.startswith("/"):
            yield self._item(Kind.PROMPT, text, SaidBy.PERSON)
            return
        name, rest = (slash[1], (slash[2] or "").strip()) if slash else ("", "")
        if name in _ASKING and rest:
            yield self._item(Kind.PROMPT, rest, SaidBy.PERSON)
        elif name in _RUNNING and rest:
            yield self._item(Kind.COMMAND, rest, SaidBy.PERSON)
        elif name == "git" and rest:
            yield self._item(Kind.COMMAND, f"git {rest}", SaidBy.PERSON)
        else:
            yield self._item(Kind.CALL, text, SaidBy.PERSON)

    def _noted(self, text: str) -> Iterator[Decoded]:
        edited, ran, added = _EDITED.fullmatch(text), _RAN.fullmatch(text), _ADDED.fullmatch(text)
        if edited:
            path = edited[1].strip()
            yield self._item(Kind.EDIT, tidy(spans(self._reply, path)), SaidBy.AGENT, path, "ok")
        elif ran:
            yield self._item(Kind.COMMAND, ran[1].strip(), SaidBy.AGENT)
        elif added and not _LINES.fullmatch(added[1]):
            yield self._item(Kind.READ, added[1], SaidBy.AGENT, added[1])
        elif not _QUIET.match(text):
            yield self._item(Kind.OUTPUT, text, SaidBy.MACHINE)

    def _item(self, kind: Kind, text: str, said_by: SaidBy, path: str | None = None, status: ExitStatus = None) -> Item:
        n = self._used.get(kind, 0)
        self._used[kind] = n + 1
        return Item(self.native, (*self._first, n), kind, text, None, said_by, path, status, positional=True)


def first_prompt(session: Session) -> str:
    """What a person said first in a session, to tell copies by; empty when nothing was said yet."""
    return next((block.text for block in each_block(session) if block.who == "person"), "")


def _local(started: str) -> int | None:
    """UTC microseconds of a local time without a zone: the machine's own zone is the only one there is."""
    try:
        return int(time.mktime(time.strptime(started, "%Y-%m-%d %H:%M:%S"))) * 1_000_000
    except (ValueError, OverflowError):
        return None
