"""The daily notes that are in a vault: files whose name is a day's, and nothing else."""

import os
from collections.abc import Iterator
from pathlib import Path

from afterword.domain.day_names import DayNames
from afterword.store import files


def day_notes(vault: Path, days: DayNames) -> Iterator[tuple[str, Path]]:
    """(path in the vault, path) of every daily note, by name; copies in conflict have other names."""
    root = files.inside(vault, days.folder) if days.folder else vault
    prefix = f"{days.folder}/" if days.folder else ""
    for where, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if days.deep else []
        for name in sorted(names):
            path = Path(where) / name
            relative = prefix + path.relative_to(root).as_posix()
            if days.day_of(relative) and path.is_file():
                yield relative, path
