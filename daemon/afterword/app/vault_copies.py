"""What tools that copy vaults left in our folders: copies in conflict, unfinished merges, files that are elsewhere."""

import os
from collections.abc import Iterator
from pathlib import Path

from afterword.app.config import Config
from afterword.domain.conflicts import copy_of, maybe_copy_of, merging
from afterword.domain.note_names import is_note
from afterword.store import files


def left_by_copiers(config: Config) -> list[str]:
    """A sentence on each, by path. Nothing of it is compiled or indexed, and nothing is removed by us."""
    if config.vault is None:
        return []
    folders = {config.days.folder, config.settings.vault.knowledge}
    return sorted({said for folder in folders for said in _below(config.vault, config.vault / folder)})


def _below(vault: Path, root: Path) -> Iterator[str]:
    for where, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        beside = set(names)
        for name in names:
            path = Path(where) / name
            shown = path.relative_to(vault).as_posix()
            if name.startswith(".") and name.endswith(".icloud"):
                yield f"{path.with_name(name[1:].removesuffix('.icloud')).relative_to(vault)} is in the cloud only"
            elif not is_note(name) or name.startswith(".") or not path.is_file():
                continue
            elif files.placeholder(path):
                yield f"{shown} is in the cloud only"
            elif note := copy_of(name):
                yield f"{shown} is a copy of {note} in conflict"
            elif note := maybe_copy_of(name, beside):
                yield f"{shown} may be a copy of {note} in conflict"
            elif merging(path.read_bytes()):
                yield f"{shown} holds an unfinished merge"
