"""Which folder a conversation of Cursor's belongs to, where it does not say so itself.

A transcript's project folder is a path with its separators lost: it only confirms a candidate. Old conversations are
named in the database of the window they were held in.
"""

import contextlib
import hashlib
import os
import posixpath
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from afterword.capture.harness.cursor_kv import CONVERSATION_MAX, value
from afterword.capture.harness.cursor_tools import local
from afterword.capture.harness.cursor_values import CATALOGUES, Workspace
from afterword.capture.harness.lenient import part
from afterword.capture.harness.stores import entries, is_folder, side_file

LISTED = "composer.composerData"
NO_FOLDER = "empty-window"
_WORDS = re.compile(r"[^A-Za-z0-9]+")
_FOLDERS_LOOKED_INTO = 200


class Window(msgspec.Struct, gc=False):
    """`workspace.json`: the folder of a window."""

    folder: str | None = None


class Side(msgspec.Struct, gc=False):
    """`meta.json` beside a session's store."""

    cwd: str | None = None
    created_at: int | float | None = msgspec.field(default=None, name="createdAtMs")
    is_subagent: bool | None = msgspec.field(default=None, name="isSubagent")


_WINDOWS = msgspec.json.Decoder(Window)
_SIDES = msgspec.json.Decoder(Side)


def of_workspace(workspace: Workspace | None) -> str | None:
    """The folder a window's identifier names."""
    uri = workspace.uri if workspace else None
    if uri is None or isinstance(uri, str):
        return local(uri) if uri else None
    if uri.external and uri.external.startswith("file:"):
        return local(uri.external)
    return uri.fs_path or uri.path


def of_windows(user: Path) -> dict[str, str]:
    """Conversation → folder, for what the windows' own databases list."""
    found: dict[str, str] = {}
    with contextlib.suppress(PermissionError):
        for entry in entries(user / "workspaceStorage"):
            if is_folder(entry):
                folder = window(Path(entry.path))
                if folder:
                    found.update(dict.fromkeys(_listed(Path(entry.path) / "state.vscdb"), folder))
    return found


def window(storage: Path) -> str | None:
    """The folder of the window that a storage folder belongs to."""
    found = part(side_file(storage / "workspace.json"), _WINDOWS)
    return local(found.folder) if found and found.folder else None


def _listed(path: Path) -> list[str]:
    """The conversations a window's database lists. Opened so that no file comes into being beside it."""
    if not path.is_file():
        return []
    with contextlib.suppress(sqlite3.Error, OSError):
        uri = f"{path.as_uri()}?immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
            raw = value(db, "ItemTable", LISTED, CONVERSATION_MAX)
        listed = part(raw, CATALOGUES) if isinstance(raw, bytes) else None
        return [composer.composer_id for composer in (listed and listed.all_composers) or [] if composer.composer_id]
    return []


def side(store: Path) -> Side:
    """What `meta.json` says of the session in a folder; nothing when there is none."""
    return part(side_file(store / "meta.json"), _SIDES) or Side()


def hashed(paths: Iterable[str], folder: str) -> str | None:
    """The folder above one of these files whose hash is the name of a session's folder among the chats."""
    for ancestor in _ancestors(paths):
        if hashlib.md5(ancestor.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() == folder:
            return ancestor
    return None


def confirmed(paths: Iterable[str], slug: str) -> str | None:
    """The folder above one of these files that a project's name was made from."""
    return next((ancestor for ancestor in _ancestors(paths) if _words(ancestor) == _words(slug)), None)


def existing(slug: str) -> str | None:
    """The folder on this machine that a project's name was made from; None when there is none, or more than one."""
    found = list(_matching("/", _words(slug), [_FOLDERS_LOOKED_INTO]))
    return found[0] if len(found) == 1 else None


def _matching(folder: str, words: str, left: list[int]) -> Iterator[str]:
    left[0] -= 1
    if left[0] < 0:
        return
    try:
        with os.scandir(folder) as inside:
            named = [(entry.name, entry.path) for entry in inside if _begins(words, _words(entry.name), entry)]
    except OSError:
        return
    for name, path in sorted(named):
        rest = words[len(_words(name)) :].removeprefix("-")
        if rest:
            yield from _matching(path, rest, left)
        else:
            yield path


def _begins(words: str, name: str, entry: "os.DirEntry[str]") -> bool:
    if not name or not (words + "-").startswith(name + "-"):
        return False
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def common(paths: Iterable[str]) -> str | None:
    """The folder that all these files lie in, unless it is the root or a home."""
    folders = {posixpath.dirname(posixpath.normpath(path)) for path in paths}
    if not folders:
        return None
    try:
        found = posixpath.commonpath(folders)
    except ValueError:
        return None
    return found if found.count("/") > 1 else None


def _ancestors(paths: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for path in paths:
        folder = posixpath.dirname(posixpath.normpath(path))
        while folder not in ("", "/") and folder not in seen:
            seen.add(folder)
            yield folder
            folder = posixpath.dirname(folder)


def _words(path: str) -> str:
    return _WORDS.sub("-", path).strip("-")
