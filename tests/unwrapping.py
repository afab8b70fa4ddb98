"""What bytes hold beneath the surface: compressed parts, archives, escapes. Every function yields further bytes."""

import base64
import binascii
import html
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

import zstandard

ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b\x08"
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_ZIP = b"PK\x03\x04"
_MOST_BYTES = 64 << 20
_STEP_BYTES = 4096
_DEEPEST = 4
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{32,}={0,2}")
_ESCAPE = re.compile(rb"\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{3}|[\"'/nrtbf\\])")
_PAIR = re.compile(rb"\\+u([dD][89abAB][0-9a-fA-F]{2})\\+u([dD][c-fC-F][0-9a-fA-F]{2})")
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_ENTITY = re.compile(rb"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def layers(data: bytes, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """The bytes themselves and everything in them, with how each was come by."""
    yield "", data
    yield from ((how, clear) for how, clear in unescaped(data))
    if depth < _DEEPEST:
        for how, inner in unpacked(data):
            for more, deeper in layers(inner, depth + 1):
                yield f"{how} {more}".strip(), deeper


def unpacked(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What is compressed, archived or in base64 somewhere in the bytes."""
    for at in _places(data, ZSTD):
        if inner := unzstd(data, at)[0]:
            yield "zstd", inner
    for at in _places(data, _GZIP):
        if inner := _inflated(data, at, 31):
            yield "gzip", inner
    for match in _ZLIB.finditer(data):
        if len(inner := _inflated(data, match.start(), 15)) >= 8:
            yield "zlib", inner
    if data.startswith(_ZIP):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    yield f"zip {name}", archive.read(name)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
            pass
    for match in _BASE64.finditer(data):
        yield from _in_base64(match[0])


def _in_base64(run: bytes) -> Iterator[tuple[str, bytes]]:
    """Compressed bytes in base64; plain text in base64 is looked for as it stands there."""
    run = run.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    if not run.startswith((b"KLUv/", b"H4sI", b"eJ", b"eN", b"eA", b"eF", b"UEsDB", b"U1FMaXRl")):
        return
    try:
        inner = base64.b64decode(run[: len(run) - (len(run) % 4 == 1)] + b"=" * (-len(run) % 4))
    except binascii.Error:
        return
    yield "base64", inner


def unzstd(data: bytes, at: int = 0) -> tuple[bytes, bool]:
    """As much as comes out of a zstd frame that begins at `at`, whatever follows it, and whether that is all of it."""
    reader = zstandard.ZstdDecompressor().decompressobj()
    whole = bytearray()
    try:
        for start in range(at, len(data), _STEP_BYTES):
            whole += reader.decompress(data[start : start + _STEP_BYTES])
            if reader.eof or len(whole) > _MOST_BYTES:
                break
    except zstandard.ZstdError:
        pass
    return bytes(whole), reader.eof


def _inflated(data: bytes, at: int, window: int) -> bytes:
    inflate = zlib.decompressobj(window)
    whole = bytearray()
    try:
        for start in range(at, len(data), _STEP_BYTES):
            whole += inflate.decompress(data[start : start + _STEP_BYTES])
            if inflate.eof or len(whole) > _MOST_BYTES:
                break
    except zlib.error:
        pass
    return bytes(whole)


def unescaped(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The bytes without their escapes, those of JSON, Python, addresses and HTML, up to three deep."""
    for _ in range(3):
        clear = data
        if b"\\" in clear:
            clear = _ESCAPE.sub(_plain, _PAIR.sub(_joined, clear))
        if b"%" in clear:
            clear = _PERCENT.sub(lambda match: unquote_to_bytes(match[0]), clear)
        if b"&" in clear:
            clear = _ENTITY.sub(lambda match: html.unescape(match[0].decode()).encode(errors="replace"), clear)
        if clear == data:
            return
        yield "escaped", clear
        data = clear


def _joined(match: re.Match[bytes]) -> bytes:
    return (bytes.fromhex(match[1].decode()) + bytes.fromhex(match[2].decode())).decode("utf-16-be").encode()


def _plain(match: re.Match[bytes]) -> bytes:
    word = match[0].lstrip(b"\\") or b"\\"
    if word[:1] == b"u" and len(word) == 5:
        return chr(int(word[1:], 16)).encode(errors="replace")
    if word[:1] == b"x" and len(word) == 3:
        return bytes([int(word[1:], 16)])
    if len(word) == 3 and word.isdigit():
        return bytes([int(word, 8) & 255])
    return _SIMPLE.get(word, word)


def _places(data: bytes, sign: bytes) -> Iterator[int]:
    at = data.find(sign)
    while at >= 0:
        yield at
        at = data.find(sign, at + 1)
