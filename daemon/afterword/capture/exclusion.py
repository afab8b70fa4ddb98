"""Which folders are left out: `[capture] exclude_projects`, and `.afterwordignore` in a folder or above it.

Patterns are compared without regard to case, with `~` expanded and links followed on both sides: a folder that is meant
must not slip through by another spelling. In a git worktree what holds for the main checkout holds too. What an ignore
file said of a folder is remembered, as a keyed hash, for the day when the folder is gone and its transcripts are not.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Protocol

from afterword.capture.project import Checkout, main_checkout

IGNORE_FILE: Final = ".afterwordignore"
_IGNORE_MAX_BYTES: Final = 64 << 10
_WHOLE: Final = frozenset({"", "*", "**", ".", "./", "/", "/*", "/**", "./*", "./**", "**/*"})
_GLOB: Final = re.compile(r"[*?\[]")
_DEPTH_MAX: Final = 64


class Recollection(Protocol):
    """What is remembered of folders that an ignore file left out; kept by the ledger."""

    def knows(self, folder: str) -> bool:
        """Whether this folder was left out when it was last seen."""

    def note(self, folder: str, *, out: bool) -> None:
        """Remember what was found of a folder that is there."""

    def any(self) -> bool:
        """Whether anything is remembered at all."""


class Exclusions:
    """The rules of one machine. Answers are kept until `refresh`: folders and ignore files change."""

    def __init__(self, patterns: Sequence[str], home: Path, recollection: Recollection | None = None) -> None:
        """`patterns` with a slash are folders, such as `~/clients/*`; those without are names, such as `secret-*`."""
        self._home = home
        self._recollection = recollection
        given = [pattern.strip() for pattern in patterns]
        self._names = [_folded(pattern) for pattern in given if pattern and "/" not in pattern and pattern != "~"]
        rooted = [_rooted(pattern, home) for pattern in given if "/" in pattern or pattern == "~"]
        self._folders = [_parts(form) for pattern in rooted for form in _forms(pattern)]
        literal = {form for pattern in rooted if not _GLOB.search(pattern) for form in _forms(pattern)}
        slugs = {_folded(re.sub(r"[^A-Za-z0-9]", "-", form)) for form in literal}
        self._slugs = slugs | {slug.strip("-") for slug in slugs}
        self._hashes = {
            made(form.encode("utf-8", "surrogateescape")).hexdigest() for form in literal for made in _HASHES
        }
        self._answers: dict[str, bool] = {}

    @property
    def active(self) -> bool:
        """Whether anything is left out, as far as is known before a folder is looked at."""
        return bool(self._names or self._folders or (self._recollection and self._recollection.any()))

    def refresh(self) -> None:
        """Look again at folders and ignore files from now on."""
        self._answers.clear()

    def excludes(self, cwd: str, root: str = "") -> bool:
        """Whether work in this folder is left out. `root` is its main checkout where that is known already.

        A name that is no path (a store's own name for a project) is compared as a name.
        """
        key = f"{cwd}\0{root}"
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._excludes(cwd, root)
        return found

    def _excludes(self, cwd: str, root: str) -> bool:
        if not cwd.startswith(("/", "~")):
            return bool(cwd) and self._named(cwd)
        folder = os.path.normpath(_rooted(cwd, self._home))
        known = [os.path.normpath(root)] if root else []
        try:
            places = list(dict.fromkeys([*self._places(folder), *known]))
            return any(map(self._meant, places)) or self._ignored(folder, places)
        except (OSError, ValueError, RuntimeError):
            # No path that this system could have: only its words can be looked at.
            return any(map(self._meant, [folder, *known]))

    def _places(self, folder: str) -> Iterator[str]:
        """The folder, where it really lies, and the same place in its main checkout, with that itself."""
        real = os.path.realpath(folder)
        yield folder
        yield real
        checkout = self._checkout(real)
        if checkout is not None:
            at = Path(real)
            tree = next((each for each in (at, *at.parents)[:_DEPTH_MAX] if os.path.lexists(each / ".git")), at)
            yield str(checkout.root / at.relative_to(tree))
            yield str(checkout.root)

    def _checkout(self, folder: str) -> Checkout | None:
        try:
            return main_checkout(Path(folder), self._home)
        except OSError:
            return None  # somebody else's folder: it is taken for what its path says

    def _meant(self, place: str) -> bool:
        """Whether a pattern of the settings means this folder or one above it."""
        parts = _parts(place)
        if any(_matches(pattern, parts[:n]) for pattern in self._folders for n in range(len(parts) + 1)):
            return True
        # Names of folders above the home folder say nothing of a project.
        above = _parts(str(self._home))
        own = parts[len(above) :] if parts[: len(above)] == above else parts
        return any(fnmatchcase(part, name) for part in own for name in self._names)

    def _named(self, name: str) -> bool:
        folded = _folded(name.rstrip("/"))
        if any(fnmatchcase(folded, pattern) or fnmatchcase(folded, f"*-{pattern}") for pattern in self._names):
            return True
        slugged = any(folded == slug or folded.startswith(f"{slug}-") for slug in self._slugs)
        return slugged or folded in self._hashes

    def looks_excluded(self, path: Path) -> bool:
        """Whether a file's place in a store looks like that of a folder that is left out, before it can be read."""
        return any(map(self._named, path.parts[-4:-1]))

    def _ignored(self, folder: str, places: list[str]) -> bool:
        out = any(_ignored_from_above(place) for place in places)
        if self._recollection is None:
            return out
        there = Path(folder).is_dir()
        if there or out:
            if out or self._recollection.knows(folder):
                self._recollection.note(folder, out=out)
                if out:
                    self._note_worktrees(folder)
            return out
        return self._recollection.knows(folder)

    def _note_worktrees(self, folder: str) -> None:
        """Worktrees go sooner than what was said in them."""
        checkout = self._checkout(folder)
        if checkout and self._recollection and _ignored_from_above(str(checkout.root)):
            for tree in checkout.worktrees:
                self._recollection.note(os.path.normpath(tree), out=True)


_HASHES: Final[tuple[Callable[[bytes], "hashlib._Hash"], ...]] = (
    hashlib.sha256,
    lambda data: hashlib.md5(data, usedforsecurity=False),
)
"""How stores that name projects by a hash make it."""


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _rooted(pattern: str, home: Path) -> str:
    """A pattern or folder as an absolute one; one that begins with neither `/` nor `~` lies anywhere."""
    pattern = pattern.rstrip("/") or "/"
    if pattern == "~" or pattern.startswith("~/"):
        return str(home) + pattern[1:]
    if pattern.startswith("/"):
        return pattern
    return "/**/" + pattern.removeprefix("./")


def _forms(pattern: str) -> set[str]:
    """A pattern as it stands, and with the links in its plain beginning followed."""
    parts = pattern.split("/")
    plain = next((n for n, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    begin = "/".join(parts[:plain]) or "/"
    rest = parts[plain:]
    return {pattern, os.path.normpath("/".join([begin, *rest])), "/".join([os.path.realpath(begin).rstrip("/"), *rest])}


def _parts(path: str) -> tuple[str, ...]:
    return tuple(_folded(part) for part in path.split("/") if part)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a pattern means exactly this path, part by part; `**` is any number of parts."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(pattern[1:], parts[n:]) for n in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])


def _ignored_from_above(folder: str) -> bool:
    at = Path(folder)
    return any(_leaves_out(above, at) for above in (at, *at.parents)[:_DEPTH_MAX])


def _leaves_out(above: Path, folder: Path) -> bool:
    """Whether the ignore file in `above`, if there is one, leaves out `folder`, which is it or lies in it."""
    lines = _lines(above / IGNORE_FILE)
    if lines is None:
        return False
    if not lines or any(line in _WHOLE for line in lines):
        return True
    parts = _parts(str(folder))[len(_parts(str(above))) :]
    for line in lines:
        pattern = _parts(line)
        if "/" not in line.rstrip("/"):
            pattern = ("**", *pattern)
        if any(_matches(pattern, parts[:n]) for n in range(1, len(parts) + 1)):
            return True
    return False


def _lines(path: Path) -> list[str] | None:
    """The patterns in an ignore file; None when there is none. One that cannot be read leaves out everything."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return [] if os.path.lexists(path) else None
    try:
        text = os.read(fd, _IGNORE_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    finally:
        os.close(fd)
    rows = (row.strip() for row in text.lstrip("\ufeff").splitlines())
    return [row for row in rows if row and not row.startswith("#")]
