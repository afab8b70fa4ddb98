"""Which project a working folder belongs to: its git checkout, and for a worktree the main checkout.

Read from the files git leaves, git itself is never run. A folder may be gone before its session is read, or between two
sessions in it, so what was found once is remembered; so are the worktrees a main checkout names.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from afterword.redact.redactor import Redactor
from afterword.redact.text import Redacted
from afterword.store.ledger import checkouts
from afterword.store.ledger.ledger import Ledger

_GIT_FILE_MAX = 4096
_WORKTREES_MAX = 200
_DEPTH_MAX = 64


class Looked(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was found at a working folder; all paths are redacted.

    `there` says whether the folder is there, `above` names it and, where nothing was found, the folders above it;
    `root` is the main checkout and `worktrees` those that it names.
    """

    there: bool
    above: Sequence[str] = ()
    root: str | None = None
    worktrees: Sequence[str] = ()


def look(redactor: Redactor, cwd: str, home: Path) -> Looked | None:
    """Look for the main checkout that `cwd` lies in; None when that is no path."""
    folder = Path(cwd)
    if not folder.is_absolute():
        return None
    try:
        there = folder.is_dir()
        found = main_checkout(folder, home)
    except (OSError, ValueError, RuntimeError):
        there, found = False, None
    if found is None and there:
        return Looked(there)
    above = [folder, *([] if found else folder.parents)][:_DEPTH_MAX]
    clean = [str(redactor.redact(str(at))) for at in above]
    if found is None:
        return Looked(there, clean)
    trees = [str(redactor.redact(str(tree))) for tree in found.worktrees]
    return Looked(there, clean, str(redactor.redact(str(found.root))), trees)


def remembered(ledger: Ledger, redactor: Redactor, looked: Looked | None) -> Redacted | None:
    """The main checkout that was found, or is remembered for a folder that is gone, as a redacted path; None when
    there is none. What is found is remembered; inside a transaction."""
    if looked is None:
        return None
    if looked.root is None:
        return None if looked.there else checkouts.root_of(ledger, list(map(redactor.redact, looked.above)))
    root = redactor.redact(looked.root)
    for folder in (root, *map(redactor.redact, [looked.above[0], *looked.worktrees])):
        checkouts.remember(ledger, folder, root)
    return root


class Checkout:
    """A main checkout and the worktrees it names."""

    def __init__(self, root: Path, common: Path) -> None:
        self.root = root
        self._common = common

    @property
    def worktrees(self) -> list[Path]:
        """Where the linked worktrees lie, or lay; they need not be there any more."""
        found = []
        try:
            with os.scandir(self._common / "worktrees") as inside:
                names = sorted(entry.name for entry in inside)[:_WORKTREES_MAX]
        except OSError:
            return []
        for name in names:
            said = _said(self._common / "worktrees" / name / "gitdir")
            if said:
                found.append((self._common / "worktrees" / name / said).parent)
        return found


def main_checkout(folder: Path, home: Path) -> Checkout | None:
    """The main checkout around `folder`, which itself need not be there.

    The home folder and `/` are checkouts for what is done right in them only: people keep their settings in git there.
    """
    for at in _upwards(_real(folder)):
        git = at / ".git"
        if git.is_dir():
            found = Checkout(at, git)
        elif git.is_file():
            found = _linked(at, git)
        else:
            continue
        too_wide = found.root in (Path("/"), home, _real(home)) and found.root != _real(folder)
        return None if too_wide else found
    return None


def _upwards(folder: Path) -> list[Path]:
    return [folder, *folder.parents][:_DEPTH_MAX]


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _linked(folder: Path, git: Path) -> Checkout:
    """What a `.git` file leads to: a worktree's main checkout; a submodule is a checkout of its own."""
    said = _said(git)
    own = Checkout(folder, folder / ".git")
    if not said.startswith("gitdir:"):
        return own
    its_dir = _real(folder / said.removeprefix("gitdir:").strip())
    if its_dir.parent.name != "worktrees":
        return own
    named = _said(its_dir / "commondir")
    common = _real(its_dir / named) if named else its_dir.parent.parent
    if common.name.startswith("."):
        return Checkout(common.parent, common)
    return Checkout(common.with_name(common.name.removesuffix(".git") or common.name), common)


def _said(path: Path) -> str:
    """The text of one of git's small files; "" when there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        return os.read(fd, _GIT_FILE_MAX).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""
    finally:
        os.close(fd)
