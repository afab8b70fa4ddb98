"""The first form of Cursor's transcripts: plain text under headings, read as well as it can be."""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Raw, json

from afterword.capture.harness import cursor_messages as messages
from afterword.capture.harness import cursor_transcripts as transcripts
from afterword.domain.events import Decoded, Document, Part

_HEADING = re.compile(r"^(user|assistant):[ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^\[(Tool call|Tool result|Thinking)\][ \t]*(.*)$", re.MULTILINE)
_ARGUMENT = re.compile(r"^[ \t]+([A-Za-z_]\w*):[ \t]?(.*)$")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def parts(opened: Document) -> Iterator[Part]:
    """The one conversation of the file."""
    yield Part(opened.path.stem, "")


def events(opened: Document) -> Iterator[list[Decoded]]:
    """Its messages in order."""
    state = transcripts.start(opened.path)
    text = opened.data.decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff").replace("\0", "")
    heads = list(_HEADING.finditer(text))
    for n, head in enumerate(heads):
        inside = text[head.end() : heads[n + 1].start() if n + 1 < len(heads) else len(text)]
        role: Literal["user", "assistant"] = "user" if head[1] == "user" else "assistant"
        blocks = [messages.Block("text", inside)] if role == "user" else list(_blocks(inside))
        yield transcripts.message(role, messages.Message(role, blocks), state)


def _blocks(text: str) -> Iterator[messages.Block]:
    sections = list(_SECTION.finditer(text))
    yield messages.Block("text", text[: sections[0].start() if sections else len(text)])
    for n, section in enumerate(sections):
        inside = text[section.end() : sections[n + 1].start() if n + 1 < len(sections) else len(text)]
        match section[1]:
            case "Tool call":
                yield _call(section[2].strip(), inside)
            case "Tool result":
                yield messages.Block("tool-result", result=Raw(json.encode(inside.strip())))
            case _:
                # A thought has no end of its own: it is one paragraph, what follows it is said aloud.
                first, *rest = _PARAGRAPH.split(f"{section[2]}{inside}".lstrip(), maxsplit=1)
                yield messages.Block("thinking", first)
                yield messages.Block("text", "".join(rest))


def _call(name: str, inside: str) -> messages.Block:
    """A call: its arguments stand indented below its name, the lines of a long one below its own."""
    given: dict[str, str] = {}
    last = ""
    for line in inside.strip("\n").split("\n"):
        found = _ARGUMENT.match(line)
        if found:
            last = found[1]
            given[last] = found[2]
        elif last and line.strip():
            given[last] += "\n" + line
    return messages.Block("tool-call", tool_name=name or "unknown tool", args=Raw(json.encode(given)))
