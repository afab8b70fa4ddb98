"""The transcripts that Cursor's agent writes beside its databases: no ids, no results, no times but of the prompts."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from afterword.capture.harness import cursor_messages as messages
from afterword.capture.harness import cursor_places as places
from afterword.capture.harness import cursor_tools as tools
from afterword.capture.harness.cursor_speech import spoken
from afterword.capture.harness.lenient import records
from afterword.capture.harness.stores import entries, is_folder
from afterword.domain.events import BadLine, Decoded, Facts, Item, Skipped
from afterword.domain.items import Kind, SaidBy

FOLDER = "agent-transcripts"
AGENTS = "subagents"
_QUIET = frozenset({"turn_ended", "turn_started"})


class State(Struct):
    """Where in its transcript a reading is. `cwd` is the folder as far as it is known: `placed` says that it is.

    `chat` is the name of the session's folder among the chats: a hash of the folder it worked in.
    """

    session: str
    parent: str = ""
    cwd: str = ""
    placed: bool = False
    chat: str = ""
    begun: bool = False
    n: int = 0


class Line(Struct, gc=False):
    """A line: a message, or a mark between turns."""

    role: str | None = None
    type: str | None = None
    message: messages.Message | None = None
    content: str | list[messages.Block] | None = None


LINES = msgspec.json.Decoder(Line)


def start(path: Path) -> State:
    """The state before the first line. The folder it worked in is looked for in what lies around the transcript."""
    parent = path.parent.parent.name if path.parent.name == AGENTS else ""
    state = State(path.stem, parent)
    above = next((folder for folder in path.parents if folder.name == FOLDER), None)
    if above is None:
        return state
    slug = above.parent.name
    if slug == places.NO_FOLDER or slug.isdigit():
        state.placed = True
        return state
    for chat in _chats(above.parent.parent.parent / "chats"):
        store = chat / (parent or path.stem)
        if store.is_dir():
            state.chat = chat.name
            cwd = places.side(store).cwd
            if cwd:
                state.cwd, state.placed = cwd, True
                return state
    found = places.existing(slug)
    state.cwd, state.placed = found or slug, bool(found)
    return state


def _chats(folder: Path) -> Iterator[Path]:
    try:
        yield from (Path(entry.path) for entry in entries(folder) if is_folder(entry))
    except PermissionError:
        return


def whole(line: Line) -> bool:
    """Whether what was found behind a broken half is a line."""
    return bool(line.role and line.message) or line.type in _QUIET


def decode(line: bytes, state: State) -> list[Decoded]:
    """Decode one complete line, changing `state`."""
    out: list[Decoded] = []
    for record in records(line, LINES, whole):
        if isinstance(record, BadLine):
            out.append(record)
        elif record.role:
            content = record.message.content if record.message else record.content
            out += message(record.role, messages.Message(record.role, content), state)
        elif record.type not in _QUIET:
            out.append(Skipped(record.type or "a line without a role"))
    return out


def message(role: str, found: messages.Message, state: State) -> list[Decoded]:
    """The items of one message; what is no message does not count, since rewriting leaves it out."""
    out: list[Decoded] = []
    if not state.begun:
        state.begun = True
        out.append(Facts(state.session, parent=state.parent or None, cwd=state.cwd or None))
    blocks = messages.blocks(found)
    match role:
        case "user":
            text, at = messages.asked(blocks)
            if text:
                said_by = SaidBy.AGENT if state.parent else SaidBy.PERSON
                out.append(_item(state, 0, Kind.PROMPT, text, said_by, time_us=at))
        case "assistant" | "tool":
            for n, block in enumerate(blocks):
                out += _block(state, n, block)
        case "system":
            pass
        case _:
            out.append(Skipped(f"message/{role}"))
    state.n += 1
    return out


def _block(state: State, n: int, block: messages.Block) -> Iterator[Decoded]:
    match block.type:
        case "text" | "reasoning" | "thinking":
            text = spoken(block.text or "")
            if text:
                kind = Kind.REPLY if block.type == "text" else Kind.THINKING
                yield _item(state, n, kind, text, SaidBy.AGENT)
        case "tool_use" | "tool-call":
            calls = messages.call(block)
            yield from _placed(state, tools.paths(calls))
            for more, call in enumerate(calls):
                yield _item(state, n, call.kind, call.text, SaidBy.AGENT, call.path, more)
        case "tool_result" | "tool-result":
            ended = messages.result(block)
            if ended.text:
                yield _item(state, n, Kind.OUTPUT, ended.text, SaidBy.MACHINE)
        case "image" | "file" | "redacted-reasoning":
            pass
        case other:
            yield Skipped(f"block/{other}")


def _placed(state: State, paths: list[str]) -> Iterator[Facts]:
    """The folder a call's files prove to be the one worked in."""
    if state.placed or not paths or not state.cwd:
        return
    found = (state.chat and places.hashed(paths, state.chat)) or places.confirmed(paths, state.cwd)
    if found:
        state.cwd, state.placed = found, True
        yield Facts(state.session, cwd=found)


def _item(
    state: State,
    n: int,
    kind: Kind,
    text: str,
    said_by: SaidBy,
    path: str | None = None,
    more: int = 0,
    *,
    time_us: int | None = None,
) -> Item:
    key = (state.session, state.n, n, more) if more else (state.session, state.n, n)
    return Item(state.session, key, kind, text, time_us, said_by, path, positional=True)
