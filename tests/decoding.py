"""A search for texts in everything below folders, however it is stored there; and in what a program said.

Files are looked at as bytes and unwrapped (`unwrapping`): zstd, gzip, zlib, zip, escapes. SQLite files are read as
cells, as full texts and as raw pages (`pages`). The texts themselves are known in many forms (`needles`).
"""

import os
import sqlite3
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

import pages
from homes import Home
from needles import Match, Needles
from unwrapping import layers

from afterword.assets import asset

_SHIPPED = {path.read_bytes() for path in asset("vault_template").rglob("plugins/*/*") if path.is_file()}
"""The editor's program as it comes with ours: its words are nobody's."""


class Hit(NamedTuple):
    """A text that was found, where and how."""

    text: str
    where: str
    how: str


def in_bytes(needles: Needles, data: bytes | str, where: str, log: bytes = b"", *, torn: bool = False) -> set[Hit]:
    """What is in some bytes, as what a command printed, or a file. `log` is the write-ahead log of a database; a `torn`
    one may have been read while it was written: then only its bytes are looked at."""
    raw = data.encode(errors="replace") if isinstance(data, str) else data
    found: set[Hit] = set()
    for how, layer in layers(raw):
        found |= _hits(needles.found(layer), where, how)
        if layer.startswith(pages.MAGIC) and "escaped" not in how:
            with suppress(sqlite3.DatabaseError) if torn else nullcontext():
                found |= _in_database(needles, layer, log, where)
    return found


def in_folders(needles: Needles, *folders: Path, but: Iterable[Path] = ()) -> set[Hit]:
    """What is below the folders: in names, targets of links, extended attributes and bytes. `but` is left out."""
    left_out = {path.resolve() for path in but}
    found: set[Hit] = set()
    for folder in folders:
        for path in [folder, *sorted(folder.rglob("*"))]:
            if left_out & {path.resolve(), *path.resolve().parents}:
                continue
            where = str(path.relative_to(folder.parent))
            found |= in_bytes(needles, path.name, f"the name of {where}")
            if path.is_symlink():
                found |= in_bytes(needles, str(path.readlink()), f"the target of {where}")
            elif path.is_file() and path.read_bytes() not in _SHIPPED:
                found |= _in_file(needles, path, where)
    return found


def _in_file(needles: Needles, path: Path, where: str) -> set[Hit]:
    found: set[Hit] = set()
    if hasattr(os, "listxattr"):
        for name in os.listxattr(path):
            found |= in_bytes(needles, os.getxattr(path, name), f"attribute {name} of {where}")
    log = path.with_name(path.name + "-wal")
    return found | in_bytes(needles, path.read_bytes(), where, log.read_bytes() if log.exists() else b"")


def _in_database(needles: Needles, data: bytes, log: bytes, where: str) -> set[Hit]:
    found: set[Hit] = set()
    for cell, value in pages.cells(data, log):
        # A short plain cell stands in its page as it is, and was seen there.
        for how, layer in layers(value):
            found |= _hits(needles.found(layer), f"{where} {cell}", how)
    for table, terms in pages.terms(data, log):
        found |= _hits(needles.indexed(terms), f"{where} {table}", "")
    for table, words in pages.dead_terms(data, log):
        found |= _hits(needles.found("\n".join(words).encode()), f"{where} {table}", "term")
    for inner in pages.chained(data):
        for how, layer in layers(inner):
            found |= _hits(needles.found(layer), where, f"dead pages zstd {how}".strip())
    return found


def _hits(matches: Iterable[Match], where: str, how: str) -> set[Hit]:
    return {Hit(match.text, where, f"{how} {match.how}".strip()) for match in matches}


def ours(home: Home) -> list[Path]:
    """The folders of a home that the program writes."""
    below = (".local/state/afterword", ".config/afterword", ".cache/afterword", ".local/share/afterword")
    return [path for path in (*(home.path / name for name in below), home.vault) if path.exists()]


def assert_gone(home: Home, *markers: str, but: Iterable[Path] = (), also: Iterable[Path] = ()) -> None:
    """Nothing the program wrote in a home holds one of the markers, in any form. `but` are a person's own files,
    `also` further folders to look in."""
    assert in_folders(Needles(markers), *ours(home), *also, but=but) == set()
