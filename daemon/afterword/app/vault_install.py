"""A plan carried out in a vault, and taken out again, byte for byte.

What was put in is in a manifest in the state folder before the first byte of it is in the vault, with a copy of every
settings file that is added to. So a run that was cut short goes on where it was, and what is ours is known later.
"""

import contextlib
import hashlib
import shutil
from pathlib import Path
from typing import Final, Literal

import msgspec

from afterword.app.vault_plan import PENDING, Step
from afterword.domain.errors import UserError
from afterword.domain.obsidian_settings import Added, parse, without, written
from afterword.store import faults, files
from afterword.store.vault_card import CARD, VaultCard, read_card

_FOLDER: Final = "vaults"
_FILE: Final = "manifest.json"


class Put(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of ours: the hash of what we wrote, and of a file that was there before, of what it held.

    `earlier` are the hashes of what older versions wrote there.
    """

    after: str
    before: str = ""
    added: tuple[Added, ...] = ()
    earlier: tuple[str, ...] = ()


class Manifest(msgspec.Struct, frozen=True):
    """What was put into a vault: files by their path, folders in the order they were made."""

    version: int
    vault: str
    id: str
    state: Literal["pending", "complete"]
    prefix: str
    files: dict[str, Put]
    folders: list[str]


class Taken(msgspec.Struct, frozen=True):
    """What `uninstall --vault` did or would do. `kept` are files of ours that a person changed since."""

    vault: Path
    removed: list[str]
    restored: list[str]
    kept: list[str]


def find(state: Path, vault: Path) -> tuple[Path, Manifest] | None:
    """The manifest of what was put into this vault from this machine, and the folder it lies in."""
    card = read_card(vault)
    for path in sorted((state / _FOLDER).glob(f"*/{_FILE}")):
        try:
            found = msgspec.json.decode(path.read_bytes(), type=Manifest)
        except (OSError, msgspec.MsgspecError):
            continue
        if (card is not None and found.id == card.id) or (card is None and Path(found.vault) == vault):
            return path.parent, found
    return None


def put(
    state: Path, vault: Path, steps: list[Step], folders: list[str], prefix: str, card: VaultCard, *, fresh: bool
) -> None:
    """Carry out a plan; the vault's card is written last. What an earlier run began is gone on with.

    A `fresh` vault gets a mark at first: with it, what lies there is ours and the next run knows it.

    Raises:
        UserError: something cannot be written there; running it again goes on.
    """
    before = find(state, vault)
    if before and before[1].state == "pending":
        # The card may be there already: it names the vault, for good.
        card = msgspec.structs.replace(card, id=before[1].id)
    home = before[0] if before else state / _FOLDER / card.id
    known = before[1] if before else None
    files.private_folder(home)
    made = list(known.folders) if known else []
    for folder in folders:
        made += [name for name in missing(vault, folder) if name not in made]
    for step in steps:
        if step.does in ("make", "add"):
            made += [name for name in missing(vault, step.path.rpartition("/")[0]) if name not in made]
    rows = dict(known.files) if known else {}
    for step in steps:
        if step.does == "make" and step.old is None:
            rows[step.path] = Put(digest(step.new))
        elif step.does == "add" and step.old is not None:
            earlier = rows.get(step.path)
            first = earlier if earlier and earlier.before else None
            if first is None:
                keep(home / "backup" / step.path, step.old)
            # With a person's changes in it, what was there before is no longer what to put back.
            untouched = first is None or digest(step.old) in (first.before, first.after)
            rows[step.path] = Put(
                digest(step.new) if untouched else "",
                first.before if first else digest(step.old),
                (*(first.added if first else ()), *step.added),
            )
        elif step.does == "keep" and step.new:
            keep(home / "incoming" / step.path, step.new)
    manifest = Manifest(1, str(vault), card.id, "pending", prefix, rows, made)
    save(home, manifest)
    faults.hit("init.manifest")
    try:
        if fresh:
            (vault / PENDING).parent.mkdir(parents=True, exist_ok=True)
            files.replace(vault / PENDING, b"", mode=0o644)
        for folder in sorted({*folders, *(step.path.rpartition("/")[0] for step in steps), ".afterword"}):
            files.sweep_temporaries(vault / folder)
        for folder in folders:
            (vault / folder).mkdir(parents=True, exist_ok=True)
        for step in steps:
            do(vault, step)
            faults.hit("init.step")
        (vault / CARD).parent.mkdir(parents=True, exist_ok=True)
        files.replace(vault / CARD, msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n", mode=0o644)
        (vault / PENDING).unlink(missing_ok=True)
    except OSError as err:
        raise UserError(
            f"{err.filename or vault} cannot be written: {err.strerror or err}",
            "allow this program to write there and run `afterword init` again: it goes on where it was",
        ) from err
    faults.hit("init.card")
    save(home, msgspec.structs.replace(manifest, state="complete"))


def take_out(state: Path, vault: Path, *, dry: bool = False) -> Taken:
    """Take out of the vault what `put` put in, as far as it is still as it was; notes stay.

    Raises:
        UserError: nothing was put into this vault from this machine.
    """
    found = find(state, vault)
    if found is None:
        raise UserError(f"nothing is known to have been put into {vault}", "name the vault that `init` was run on")
    home, manifest = found
    taken = Taken(vault, [], [], [])
    for path, row in sorted(manifest.files.items()):
        _take(home, vault, path, row, taken, dry=dry)
    gone = [CARD, PENDING]
    for folder in sorted({*manifest.folders, ".afterword"}, key=lambda name: name.count("/"), reverse=True):
        here = vault / folder
        left = {entry.relative_to(vault).as_posix() for entry in here.iterdir()} if here.is_dir() else set()
        if here.is_dir() and left <= {*taken.removed, *gone}:
            taken.removed.append(folder)
    if dry:
        return taken
    for name in gone:
        (vault / name).unlink(missing_ok=True)
    for folder in sorted({*manifest.folders, ".afterword"}, key=lambda name: name.count("/"), reverse=True):
        with contextlib.suppress(OSError):
            (vault / folder).rmdir()
    if "" in manifest.folders:
        with contextlib.suppress(OSError):
            vault.rmdir()
    shutil.rmtree(home)
    return taken


def _take(home: Path, vault: Path, path: str, row: Put, taken: Taken, *, dry: bool) -> None:
    file = vault / path
    try:
        now = file.read_bytes()
    except OSError:
        return
    if digest(now) in (row.after, *row.earlier):
        if not row.before:
            taken.removed.append(path)
            if not dry:
                file.unlink()
            return
        back: bytes | None = (home / "backup" / path).read_bytes()
    elif row.before and digest(now) != row.before:
        back = _without(now, row.added)
    else:
        back = None if row.before else b""
    if back == b"":
        taken.kept.append(path)
    elif back is not None and back != now:
        taken.restored.append(path)
        if not dry:
            files.replace(file, back)


def _without(now: bytes, added: tuple[Added, ...]) -> bytes | None:
    """Settings that changed since, without what is still ours; None when nothing of it is."""
    try:
        value = parse(now)
    except (ValueError, RecursionError):
        return None
    less = without(value, added)
    return written(less) if less != value else None


def do(vault: Path, step: Step) -> None:
    """Carry out one step, unless what it was decided on is another by now."""
    path = vault / step.path
    if step.does == "make" and step.old is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.create(path, step.new)
    elif step.does in ("add", "renew") and step.old is not None:
        files.swap(path, step.old, step.new)


def missing(vault: Path, folder: str) -> list[str]:
    """The folders that have to be made for this one, outermost first; the vault itself is the empty name."""
    parts = folder.split("/") if folder else []
    names = ["", *("/".join(parts[: n + 1]) for n in range(len(parts)))]
    return [name for name in names if not (vault / name).exists()]


def keep(path: Path, data: bytes) -> None:
    """Write a file of the state folder, with the folders above it."""
    files.private_folder(path.parent)
    files.replace(path, data)


def save(home: Path, manifest: Manifest) -> None:
    """Write the manifest."""
    files.replace(home / _FILE, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def digest(data: bytes) -> str:
    """The hash by which the manifest knows a file."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()
