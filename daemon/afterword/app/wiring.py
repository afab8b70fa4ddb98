"""Puts our entries into agents' settings and takes them out again, in place.

Every other byte stays: comments, order, indentation. No copy of a settings file is kept, since there may be keys in it;
what is kept is what we put in, where, and the hashes of the file before and after. A file that nobody changed since is
put back byte for byte; in one that was changed our entries alone are taken out.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from afterword.app.agents import NAME, Agent, Piece, Programs, file_of
from afterword.domain import jsonc
from afterword.domain.errors import AfterwordError, DataError
from afterword.store.files import create, private_folder, replace, swap

RECORD: Final = "agents.json"
State: TypeAlias = Literal["there", "put", "would", "taken", "absent", "outdated", "broken"]


class Insertion(msgspec.Struct, frozen=True):
    """What was put into a text, and at which character."""

    at: int
    text: str


class Wired(msgspec.Struct, frozen=True):
    """A file as we left it: hashes of its bytes before (empty: it was made by us) and after, and what was put in."""

    before: str
    after: str
    insertions: tuple[Insertion, ...]


class Entry(msgspec.Struct, frozen=True):
    """What is the case with one piece, or was done about it."""

    agent: str
    what: str
    file: str
    state: State
    problem: str = ""


class Wiring:
    """The settings of the agents of one home. `state` is our state folder."""

    def __init__(self, home: Path, env: Mapping[str, str], state: Path, programs: Programs) -> None:
        self._home = home
        self._env = env
        self._state = state
        self._programs = programs

    def present(self, agent: Agent) -> bool:
        """Whether the agent is on this machine."""
        return agent.root(self._home, self._env).is_dir()

    def status(self, agent: Agent) -> list[Entry]:
        """What of ours is in an agent's settings; of what is set on request only what is there."""
        asked = {piece.what for piece in agent.lessons}
        return [
            entry
            for file, pieces in self._by_file(agent, (*agent.pieces, *agent.lessons))
            for entry in self._looked(agent, file, pieces)
            if entry.what not in asked or entry.state != "absent"
        ]

    def install(self, agent: Agent, pieces: Iterable[Piece], *, dry: bool = False) -> list[Entry]:
        """Put in what is missing, and again what names programs that are elsewhere now."""
        found: list[Entry] = []
        for file, wanted in self._by_file(agent, pieces):
            try:
                found += self._put(agent, file, wanted, dry=dry)
            except (OSError, ValueError, AfterwordError) as err:
                found.append(Entry(agent.name, "settings", str(file), "broken", _reason(err)))
        return found

    def uninstall(self, agent: Agent) -> list[Entry]:
        """Take out what is ours, and nothing else."""
        found: list[Entry] = []
        for file, pieces in self._by_file(agent, (*agent.pieces, *agent.lessons)):
            try:
                found += self._take(agent, file, pieces)
            except (OSError, ValueError, AfterwordError) as err:
                found.append(Entry(agent.name, "settings", str(file), "broken", _reason(err)))
        return found

    def _by_file(self, agent: Agent, pieces: Iterable[Piece]) -> list[tuple[Path, list[Piece]]]:
        found: dict[Path, list[Piece]] = {}
        for piece in pieces:
            found.setdefault(file_of(agent, piece, self._home, self._env), []).append(piece)
        return list(found.items())

    def _looked(self, agent: Agent, file: Path, pieces: list[Piece]) -> list[Entry]:
        try:
            text = _read(file)
            return [Entry(agent.name, p.what, str(file), self._state_of(text, file, p)) for p in pieces]
        except (OSError, ValueError) as err:
            return [Entry(agent.name, "settings", str(file), "broken", _reason(err))]

    def _state_of(self, text: str | None, file: Path, piece: Piece) -> State:
        ours = _ours(text, file, piece) if text is not None else []
        if not ours:
            return "absent"
        return "there" if ours == [piece.value(self._programs)] else "outdated"

    def _put(self, agent: Agent, file: Path, pieces: list[Piece], *, dry: bool) -> list[Entry]:
        text = _read(file)
        states = {piece.what: self._state_of(text, file, piece) for piece in pieces}
        if any(state == "outdated" for state in states.values()):
            text = _without(text or "", file, [p for p in pieces if states[p.what] == "outdated"])
        missing = [piece for piece in pieces if states[piece.what] != "there"]
        done: State = "would" if dry else "put"
        entries = [Entry(agent.name, p.what, str(file), done if p in missing else "there") for p in pieces]
        if not missing:
            return entries
        new, insertions = text if text is not None else "", []
        for piece in missing:
            new, insertion = _with(new, file, piece, piece.value(self._programs))
            insertions.append(insertion)
        _check(new, file, missing, self._programs)
        if dry:
            return entries
        original = file.read_bytes() if file.exists() else None
        data = new.encode()
        # The record first: what is in the file and not in the record could not be put back byte for byte.
        self._remember(file, self._record(file, original, data, text, states, tuple(insertions)))
        if original is None:
            private_folder(file.parent)
            if not create(file, data, mode=0o600):
                raise DataError(f"{file} was made by somebody else just now", "try again")
        elif not swap(file, original, data):
            raise DataError(f"{file} was changed by somebody else just now", "try again")
        return entries

    def _record(
        self,
        file: Path,
        original: bytes | None,
        data: bytes,
        text: str | None,
        states: Mapping[str, State],
        insertions: tuple[Insertion, ...],
    ) -> Wired | None:
        """What has to be known to put the file back; None when it cannot be, byte for byte."""
        known = self._recorded().get(str(file))
        if known and known.after == _hash(original):
            return Wired(known.before, _hash(data), (*known.insertions, *insertions))
        untouched = all(state == "absent" for state in states.values())
        whole = original is None or (text is not None and original == text.encode())
        return Wired(_hash(original), _hash(data), insertions) if whole and untouched else None

    def _take(self, agent: Agent, file: Path, pieces: list[Piece]) -> list[Entry]:
        text = _read(file)
        states = {piece.what: self._state_of(text, file, piece) for piece in pieces}
        entries = [Entry(agent.name, p.what, str(file), "taken") for p in pieces if states[p.what] != "absent"]
        if text is None or not entries:
            return entries
        original = file.read_bytes()
        wired = self._recorded().get(str(file))
        back = _undone(text, wired) if wired and wired.after == _hash(original) else None
        if back is None:
            back = _without(text, file, pieces)
        if wired and not wired.before and not back.strip():
            file.unlink()
        elif not swap(file, original, back.encode()):
            raise DataError(f"{file} was changed by somebody else just now", "try again")
        self._remember(file, None)
        return entries

    def _recorded(self) -> dict[str, Wired]:
        try:
            return msgspec.json.decode((self._state / RECORD).read_bytes(), type=dict[str, Wired])
        except (OSError, msgspec.MsgspecError):
            return {}

    def _remember(self, file: Path, wired: Wired | None) -> None:
        known = self._recorded()
        known.pop(str(file), None)
        if wired:
            known[str(file)] = wired
        private_folder(self._state)
        replace(self._state / RECORD, msgspec.json.encode(known))


def _read(file: Path) -> str | None:
    """The text of a settings file; None when there is none."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


def _parsed(text: str, file: Path) -> Any:
    if not text.strip():
        return {}
    return tomllib.loads(text) if _is_toml(file) else jsonc.parse(text).value


def _ours(text: str, file: Path, piece: Piece) -> list[Any]:
    """The entries of ours for a piece."""
    at = _parsed(text, file)
    for key in piece.path:
        at = at.get(key) if isinstance(at, dict) else None
    if piece.kind == "mcp":
        return [] if at is None else [at]
    return [entry for entry in at if _is_our_hook(entry)] if isinstance(at, list) else []


def _is_our_hook(entry: Any) -> bool:
    """Whether a group of hooks runs our hook."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    return isinstance(hooks, list) and any(_runs_us(hook) for hook in hooks)


def _runs_us(hook: Any) -> bool:
    return isinstance(hook, dict) and "afterword-hook" in str(hook.get("command", ""))


def _with(text: str, file: Path, piece: Piece, value: Any) -> tuple[str, Insertion]:
    if _is_toml(file):
        added = (
            ("" if not text or text.endswith("\n") else "\n") + ("\n" if text.strip() else "") + _table(piece, value)
        )
        return text + added, Insertion(len(text), added)
    if not text.strip():
        added = json.dumps(_nested(piece, value), indent=2, ensure_ascii=False) + "\n"
        return text + added, Insertion(len(text), added)
    grow = jsonc.put if piece.kind == "mcp" else jsonc.append
    new, at, added = grow(text, piece.path, value)
    return new, Insertion(at, added)


def _nested(piece: Piece, value: Any) -> Any:
    found = [value] if piece.kind == "hook" else value
    for key in reversed(piece.path):
        found = {key: found}
    return found


def _table(piece: Piece, value: dict[str, Any]) -> str:
    rows = [f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in value.items()]
    return "\n".join([f"[{'.'.join(piece.path)}]", *rows]) + "\n"


def _check(text: str, file: Path, pieces: list[Piece], programs: Programs) -> None:
    """Read back what would be written."""
    for piece in pieces:
        if _ours(text, file, piece) != [piece.value(programs)]:
            raise ValueError(f"{piece.what} would not be read back as written; nothing was changed")


def _undone(text: str, wired: Wired) -> str | None:
    """The text before the insertions; None when they do not lead back to it."""
    for insertion in reversed(wired.insertions):
        end = insertion.at + len(insertion.text)
        if text[insertion.at : end] != insertion.text:
            return None
        text = text[: insertion.at] + text[end:]
    return text if not wired.before or _hash(text.encode()) == wired.before else None


def _without(text: str, file: Path, pieces: list[Piece]) -> str:
    """The text without our entries, and without the containers that are empty then."""
    for piece in pieces:
        text = _without_table(text, piece) if _is_toml(file) else _without_entry(text, piece)
    return text


def _without_entry(text: str, piece: Piece) -> str:
    if piece.kind == "mcp":
        return _pruned(jsonc.remove(text, piece.path), piece.path[:-1])
    while True:
        node = jsonc.find(jsonc.parse(text), piece.path)
        mixed = next((p for p in (node.parts if node else []) if _is_our_hook(p.node.value)), None)
        if mixed is None:
            return _pruned(text, piece.path)
        inner = jsonc.find(mixed.node, ("hooks",))
        assert inner is not None
        if all(_runs_us(part.node.value) for part in inner.parts):
            text = jsonc.remove(text, piece.path, mixed)
            continue
        # Somebody put their own hook into our group.
        ours = next(n for n, part in enumerate(inner.parts) if _runs_us(part.node.value))
        start = inner.parts[ours - 1].node.end if ours else inner.parts[0].start
        end = inner.parts[ours].node.end if ours else inner.parts[1].start
        text = text[:start] + text[end:]


def _pruned(text: str, path: tuple[str, ...]) -> str:
    for depth in range(len(path), 0, -1):
        node = jsonc.find(jsonc.parse(text), path[:depth])
        if node is None or node.parts or node.kind == "scalar":
            break
        text = jsonc.remove(text, path[:depth])
    return text


def _without_table(text: str, piece: Piece) -> str:
    head = f"[{'.'.join(piece.path)}]"
    before = tomllib.loads(text)
    lines = text.splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if line.strip() == head), None)
    if at is None:
        raise ValueError(f"{NAME} stands in another form in it; take it out by hand")
    end = next((n for n in range(at + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    while end > at + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1  # what stands before the next table belongs to it
    start = at - 1 if at and not lines[at - 1].strip() else at
    after = "".join(lines[:start] + lines[end:])
    holder = before
    for key in piece.path[:-1]:
        holder = holder[key]
    holder.pop(piece.path[-1])
    kept = tomllib.loads(after)
    if kept != before and kept != {key: value for key, value in before.items() if value != {}}:
        raise ValueError("it could not be taken out alone; take it out by hand")
    return after


def _reason(err: Exception) -> str:
    if isinstance(err, OSError):
        return err.strerror or str(err)
    return getattr(err, "message", "") or str(err)
