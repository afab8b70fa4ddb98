"""What every decoder does to a text before it is an item: size notes for pictures and blobs, injected blocks out."""

import re
from collections.abc import Collection

BLOB_MIN = 4096
"""Base64 runs from this many characters on become a size note."""

_PROBE = 2048
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_RUN_HERE = re.compile(r"[A-Za-z0-9+/]{48}")
_RUN = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_DATA_URL = re.compile(r"data:[\w.+/;=-]{0,80},\Z")

OWN_BLOCKS = ("afterword-context",)
"""What we put into sessions ourselves."""


def tidy(text: str) -> str:
    """The text without our own context blocks and with base64 blobs as size notes."""
    if len(text) >= BLOB_MIN and has_blob(text):
        text = _without_blobs(text)
    if "<afterword-context" in text:
        text = without_blocks(text, OWN_BLOCKS).strip()
    return text


def has_blob(text: str) -> bool:
    """Whether a base64 run long enough for a size note could be in the text (costs almost nothing)."""
    here = _RUN_HERE.match
    return any(here(text, at) for at in range(0, len(text), _PROBE))


def _without_blobs(text: str) -> str:
    kept: list[str] = []
    done = at = 0
    while at < len(text):
        if _RUN_HERE.match(text, at) is None:
            at += _PROBE
            continue
        # A run that began before the last probe would have been met there.
        window = max(done, at - _PROBE)
        start = window + len(text[window:at].rstrip(_BASE64))
        found = _RUN.match(text, at)
        end = found.end() if found else at
        if end - start >= BLOB_MIN:
            url = _DATA_URL.search(text, max(done, start - 100), start)
            kept.append(text[done : url.start() if url else start])
            kept.append(f"[base64: {decoded_size(text[end - 2 : end], end - start):,} bytes]")
            done = end
        at = -(-max(end, at + 1) // _PROBE) * _PROBE
    kept.append(text[done:])
    return "".join(kept)


def decoded_size(tail: str, length: int) -> int:
    """Bytes in `length` base64 characters that end in `tail`."""
    return length * 3 // 4 - tail.count("=")


def image_note(media_type: str | None, size_bytes: int) -> str:
    media = media_type if media_type and re.fullmatch(r"[\w.+/-]{1,60}", media_type) else "unknown"
    return f"[image: {media}, {size_bytes:,} bytes]"


def image_url_note(url: str) -> str:
    """The size note of a picture given as a URL; only data URLs have a size."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma:
        return "[image]"
    return image_note(head[5:].split(";")[0], decoded_size(data[-2:], len(data)))


def without_blocks(text: str, names: Collection[str]) -> str:
    """The text without complete `<name …>…</name>` blocks; a tag that is only mentioned stays.

    A tag at the start of a line opens a block that may hold further tags of its name; one inside a sentence does
    so only when no tag at the start of a line comes before it is closed.
    """
    for name in names:
        if f"<{name}" in text and f"</{name}>" in text:
            text = _without_block(text, name)
    return text


def _without_block(text: str, name: str) -> str:
    spans: list[tuple[int, int]] = []
    start = depth = 0
    at_line = False
    last_close = 0
    for tag in re.finditer(rf"<(/?){re.escape(name)}(?:\s[^<>]*)?>", text):
        if tag[1]:
            if not depth:
                continue
            depth -= 1
            last_close = tag.end()
            if not depth:
                spans.append((start, last_close))
            continue
        opens_line = tag.start() == 0 or text[tag.start() - 1] in "\n>"
        if not depth or (opens_line and not at_line):
            start, depth, at_line, last_close = tag.start(), 1, opens_line, 0
        else:
            depth += 1
    if depth and last_close:
        spans.append((start, last_close))
    kept: list[str] = []
    done = 0
    for begin, end in spans:
        kept.append(text[done:begin])
        done = end
    kept.append(text[done:])
    return "".join(kept)
