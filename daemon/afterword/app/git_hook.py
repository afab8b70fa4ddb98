"""The git hook of a vault: no commit with an agent's file edited by hand or over budget, or a fact in two places."""

import shlex
from pathlib import Path
from typing import Final

from afterword.app.agents import programs
from afterword.domain.errors import NotSetUp, UserError
from afterword.store import files

NAME: Final = "pre-commit"
_MARK: Final = "# afterword: lessons are held to what they promise"


def script() -> bytes:
    """What the hook runs."""
    return f"#!/bin/sh\n{_MARK}\nexec {shlex.quote(programs().main)} lint --lessons\n".encode()


def install(vault: Path) -> tuple[Path, bool]:
    """Put the hook into the repository that the vault lies in; its path, and whether it was not there before.

    Raises:
        NotSetUp: the vault is in no repository.
        UserError: there is another hook, which is left alone.
    """
    hooks = _hooks(vault)
    path = hooks / NAME
    wanted = script()
    if path.exists():
        held = path.read_bytes()
        if held == wanted:
            return path, False
        if _MARK.encode() not in held:
            raise UserError(
                f"{path} is there already",
                f"add this line to it: {shlex.quote(programs().main)} lint --lessons || exit 1",
            )
        files.replace(path, wanted, mode=0o700, keep=False)
        return path, True
    hooks.mkdir(parents=True, exist_ok=True)
    files.create(path, wanted, mode=0o700)
    return path, True


def _hooks(vault: Path) -> Path:
    for folder in (vault.resolve(), *vault.resolve().parents):
        git = folder / ".git"
        if git.is_dir():
            return git / "hooks"
        if git.is_file():
            said = git.read_text("utf-8", "replace").strip()
            named = (folder / said.removeprefix("gitdir:").strip()).resolve()
            # The hooks of a worktree are those of its main checkout.
            return (named.parent.parent if named.parent.name == "worktrees" else named) / "hooks"
    raise NotSetUp(f"{vault} is in no git repository", "make one with `git init`, then run this again")
