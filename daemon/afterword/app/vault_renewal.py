"""A newer template in a vault that has an older one: what nobody touched is renewed, what somebody changed is named.

What was put in is known by its hashes in the manifest; a copy of each file as the template had it lies beside that, so
that a key a person took out of their settings is told from one that is new. Stopped anywhere, the next run goes on.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from afterword.app import vault_install
from afterword.app.vault_install import Manifest, Put
from afterword.app.vault_plan import Step, from_template
from afterword.app.vault_template import Layout, files_for
from afterword.domain.day_names import DayNames
from afterword.domain.errors import UserError
from afterword.domain.obsidian_settings import MERGED, Json, merge, parse, without, written
from afterword.store import faults, files

_COPIES = "installed"
_ONLY_NEW = ("daily-notes.json", "templates.json")
_WRITES = ("make", "add", "renew")


def steps(state: Path, vault: Path, layout: Layout) -> list[Step]:
    """What a newer template changes in a vault that `init` on this machine made; reads only.

    `keep` are files that a person changed, and each is told once.
    """
    found = vault_install.find(state, vault)
    if found is None or found[1].state != "complete":
        return []
    return list(_steps(vault, *found, layout))


def writes(row: list[Step]) -> int:
    """How many of these change a file."""
    return sum(step.does in _WRITES for step in row)


def carry_out(state: Path, vault: Path, row: list[Step], layout: Layout) -> None:
    """Do what `steps` said, and remember the template as it is now.

    Raises:
        UserError: something cannot be written there; running it again goes on.
    """
    found = vault_install.find(state, vault)
    if found is None:
        return
    home, manifest = found
    for folder in {path.rpartition("/")[0] for path in files_for(_rendered(manifest, layout))}:
        files.sweep_temporaries(vault / folder)
    if row:
        rows, made = dict(manifest.files), list(manifest.folders)
        for step in row:
            if step.does in _WRITES:
                folder = step.path.rpartition("/")[0]
                made += [name for name in vault_install.missing(vault, folder) if name not in made]
                rows[step.path] = _row(home, step, rows.get(step.path))
            elif step.does == "keep" and step.new:
                vault_install.keep(home / "incoming" / step.path, step.new)
        vault_install.save(home, msgspec.structs.replace(manifest, files=rows, folders=made))
        faults.hit("init.manifest")
        try:
            for step in row:
                vault_install.do(vault, step)
                faults.hit("init.step")
        except OSError as err:
            raise UserError(
                f"{err.filename or vault} cannot be written: {err.strerror or err}",
                "allow this program to write there and run `afterword init` again: it goes on where it was",
            ) from err
    remember(state, vault, layout, {step.path for step in row if step.does == "leave"})


def remember(state: Path, vault: Path, layout: Layout, left: set[str]) -> None:
    """Keep a copy of the template as it was put in, but for what was `left` alone."""
    found = vault_install.find(state, vault)
    if found is None:
        return
    home, manifest = found
    for path, new in files_for(_rendered(manifest, layout)).items():
        copy = home / _COPIES / path
        if path not in left and _read(copy) != new:
            vault_install.keep(copy, new)


def _steps(vault: Path, home: Path, manifest: Manifest, layout: Layout) -> Iterator[Step]:
    config = f"{layout.config}/"
    for path, new in files_for(_rendered(manifest, layout)).items():
        row, base = manifest.files.get(path), _read(home / _COPIES / path)
        if base == new or (base is None and row is not None and row.after == vault_install.digest(new)):
            continue  # the template has nothing newer
        name = path.removeprefix(config)
        setting = path.startswith(config) and "/" not in name
        if row is None and base is None:
            # The template has not had it before, or it was left alone. How daily notes are set up is settled.
            if name not in _ONLY_NEW and (step := from_template(vault, path, name if setting else "", new)):
                yield step
            continue
        try:
            old = (vault / path).read_bytes()
        except FileNotFoundError:
            continue  # taken away by the person
        except OSError as err:
            yield Step("leave", path, why=err.strerror or str(err))
            continue
        if old == new:
            continue
        if row and not row.before and vault_install.digest(old) in (row.after, *row.earlier):
            yield Step("renew", path, new, old)
        elif not setting:
            yield Step("keep", path, new, old, why="you changed it, or it is yours; the newer one is kept aside")
        elif name in MERGED and (step := _setting(path, name, old, new, base, row)):
            yield step


def _setting(path: str, name: str, old: bytes, new: bytes, base: bytes | None, row: Put | None) -> Step | None:
    """Keys that are new in the template, into settings that are a person's by now."""
    ours: Json = parse(new)
    try:
        theirs: Json = parse(old)
    except (ValueError, RecursionError) as err:
        return Step("leave", path, why=f"it cannot be read ({err})")
    merged = merge(name, theirs, ours)
    if isinstance(merged, str):
        return Step("leave", path, old=old, why=merged)
    if base is not None:
        since = merge(name, parse(base), ours)
        fresh = tuple(one for one in merged.added if not isinstance(since, str) and one in since.added)
    elif row is not None and row.before:
        fresh = tuple(one for one in merged.added if one not in row.added)
    else:
        return None
    if not fresh:
        return None
    value = without(merged.value, tuple(one for one in merged.added if one not in fresh))
    return Step("add", path, written(value), old, fresh)


def _row(home: Path, step: Step, before: Put | None) -> Put:
    after = vault_install.digest(step.new)
    if before is None:
        if step.old is not None:
            vault_install.keep(home / "backup" / step.path, step.old)
        return Put(after, vault_install.digest(step.old) if step.old is not None else "", step.added)
    was = vault_install.digest(step.old) if step.old is not None else before.after
    untouched = was in (before.after, before.before, *before.earlier)
    earlier = tuple(dict.fromkeys(filter(None, (*before.earlier, before.after))))
    # With a person's changes in it, what was there before is no longer what to put back.
    return Put(after if untouched else "", before.before, (*before.added, *step.added), earlier)


def _rendered(manifest: Manifest, layout: Layout) -> Layout:
    """A vault of its own has the template as it is, whatever the person's settings call its folders since."""
    own = f"{layout.config}/app.json" in manifest.files
    return Layout(DayNames("daily")) if own else layout


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
