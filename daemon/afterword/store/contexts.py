"""Ready contexts: what a hook prints when a session starts, one file a project and agent, kept by the daemon."""

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from afterword.redact.text import Redacted
from afterword.store import files

FOLDER = "context"


def checkout_of(folder: Path) -> Path:
    """The main checkout that `folder` lies in, or `folder` itself, as a real path. The hook answers the same.

    In a linked worktree `.git` is a file that names `<main>/.git/worktrees/<name>`; in a submodule it names a git
    dir elsewhere, and the folder is its own checkout.
    """
    start = folder.resolve()
    for at in (start, *start.parents):
        git = at / ".git"
        if git.is_dir():
            return at
        if git.is_file():
            return _main_of(at, git)
    return start


def _main_of(folder: Path, git: Path) -> Path:
    said = git.read_bytes()[:4096].decode("utf-8", "replace").strip()
    if not said.startswith("gitdir:"):
        return folder
    named = (folder / said.removeprefix("gitdir:").strip()).resolve()
    if named.parent.name != "worktrees":
        return folder
    main = named.parent.parent
    return main.parent if main.name == ".git" else main


def path_of(state: Path, checkout: Path, agent: str) -> Path:
    """Where the context of a checkout for an agent is kept. `checkout` is a real path."""
    name = hashlib.sha256(os.fsencode(checkout)).hexdigest()[:32]
    return state / FOLDER / f"{name}-{agent}.txt"


def keep(state: Path, texts: Mapping[str, Redacted]) -> int:
    """Make the folder hold exactly these files (name → text); how many were written or removed."""
    folder = files.private_folder(state / FOLDER)
    files.sweep_temporaries(folder)
    changed = 0
    for name, text in texts.items():
        path, data = folder / name, text.encode("utf-8", "replace")
        with contextlib.suppress(FileNotFoundError):
            if path.read_bytes() == data:
                continue
        files.replace(path, data)
        changed += 1
    for path in folder.glob("*.txt"):
        if path.name not in texts:
            path.unlink(missing_ok=True)
            changed += 1
    return changed
