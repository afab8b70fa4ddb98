"""Where aider's histories lie: there is no list of them, so known working folders and configured ones are looked at."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from afterword.capture.harness import stores
from afterword.domain.events import Found, Where

HISTORY = ".aider.chat.history.md"
_DEPTH = 5
_FOLDERS = 20_000
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
_GIT_SECONDS = 20
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_LEVELS = 40


def roots(where: Where) -> list[Path]:
    """The folders to scan, and every folder with a history: below those, and where other agents worked.

    A history lies in the root of a repository, else where aider was started.
    """
    scanned = stores.overridden(where, "AIDER")
    found = [folder for root in scanned for folder in _holding(root)]
    worked = [folder for known in where.folders for folder in (repository(known), known) if folder]
    return list(dict.fromkeys([*scanned, *found, *(folder for folder in worked if _has_history(folder))]))


def sources(root: Path) -> Iterator[Found]:
    """The history right in the folder."""
    if _has_history(root):
        yield Found(root / HISTORY, "document")


def _has_history(folder: Path) -> bool:
    try:
        return (folder / HISTORY).is_file()
    except OSError:
        return False


def _holding(root: Path) -> Iterator[Path]:
    """Folders with a history, some levels down, on the same file system."""
    try:
        device = root.stat().st_dev
    except OSError:
        return
    level = [root]
    left = _FOLDERS
    for _ in range(_DEPTH + 1):
        below: list[Path] = []
        for folder in level:
            left -= 1
            if left < 0:
                return
            if _has_history(folder):
                yield folder
            below += _inside(folder, device)
        level = below


def _inside(folder: Path, device: int) -> Iterable[Path]:
    try:
        with os.scandir(folder) as found:
            for entry in sorted(found, key=lambda entry: entry.name):
                if entry.name.startswith(".") or entry.name in _SKIPPED or not entry.is_dir(follow_symlinks=False):
                    continue
                if entry.stat(follow_symlinks=False).st_dev == device:
                    yield Path(entry.path)
    except OSError:
        return


def repository(folder: Path) -> Path | None:
    """The root of the repository that a folder is in."""
    for above in (folder, *folder.parents)[:_LEVELS]:
        try:
            if (above / ".git").exists():
                return above
        except OSError:
            return None
    return None


def identity(folder: Path) -> str:
    """The first commit of the repository a history belongs to, else its folder's name.

    The same on every machine and in every worktree. A clone without its beginning does not know its first commit.
    """
    if repository(folder) is not None:
        shallow = _git(folder, "rev-parse", "--is-shallow-repository")
        commits = sorted(_git(folder, "rev-list", "--max-parents=0", "HEAD").split()) if shallow == "false" else []
        if commits and is_commit(commits[0]):
            return commits[0]
    return folder.name.replace("/", "-") or "folder"


def is_commit(its_id: str) -> bool:
    """Whether an id is a commit's, which several checkouts of one repository share."""
    return bool(_COMMIT.fullmatch(its_id))


def _git(folder: Path, *words: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=folder,  # not an argument: those are for everybody to see
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
