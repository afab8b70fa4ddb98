"""A managed block in the file that an agent without hooks reads when it starts: AGENTS.md, GEMINI.md and their like.

Only where somebody asked for it. Between two markers stands what a session begins with, kept up to date; every other
byte of the file is the person's and stays, and taking the block out gives the file back as it was.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from afterword.redact.text import Redacted
from afterword.store import files

FILE: Final = "blocks.json"
_BEGIN: Final = b"<!-- afterword: kept up to date, changes between these two lines do not stay -->\n"
_END: Final = b"<!-- /afterword -->\n"
_NAMES: Final = {
    "codex": ("AGENTS.md", ".codex", "CODEX_HOME"),
    "gemini": ("GEMINI.md", ".gemini", ""),
    "opencode": ("AGENTS.md", ".config/opencode", ""),
    "qwen": ("QWEN.md", ".qwen", ""),
    "copilot": ("AGENTS.md", "", ""),
    "cursor": ("AGENTS.md", "", ""),
    "grok": ("AGENTS.md", ".grok", "GROK_HOME"),
}
"""Agent → the file's name, the agent's own folder in the home folder ("" when it reads none there), and the variable
that moves that."""

State: TypeAlias = Literal["put", "there", "taken", "absent", "broken"]


class Block(msgspec.Struct, frozen=True):
    """A file with a block of ours. `folder` is the project's, empty for the agent's own file. `lead` is what we put
    before the block so that it stands on a line of its own; `made`: the file was not there before."""

    agent: str
    file: str
    folder: str
    lead: str = ""
    made: bool = False


class _Blocks(msgspec.Struct, frozen=True):
    version: int = 1
    blocks: tuple[Block, ...] = ()


def file_for(agent: str, home: Path, env: Mapping[str, str], folder: Path | None) -> Path | None:
    """The file that an agent reads when it starts, of its own or in a project; None where it reads none there."""
    if agent not in _NAMES:
        return None
    name, own, variable = _NAMES[agent]
    if folder is not None:
        return folder / name
    if not own:
        return None
    moved = env.get(variable, "") if variable else ""
    return (Path(moved) if moved.startswith("/") else home / own) / name


class Blocks:
    """The blocks of this machine, remembered in the state folder."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE

    def stamp(self) -> tuple[int, int]:
        """Changes whenever one comes or goes."""
        try:
            at = self._path.stat()
        except OSError:
            return 0, 0
        return at.st_mtime_ns, at.st_size

    def every(self) -> tuple[Block, ...]:
        """All of them; none where the list cannot be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Blocks).blocks
        except (OSError, msgspec.MsgspecError):
            return ()

    def put(self, agent: str, path: Path, folder: Path | None, text: Redacted, *, dry: bool = False) -> State:
        """Put a block into a file, or bring the one in it up to date."""
        old = _read(path)
        known = next((one for one in self.every() if Path(one.file) == path), None)
        if old is not None and _span(old) is None and _BEGIN.strip() in old:
            return "broken"  # somebody took one of the two lines away: nobody can say where ours ends
        there = old is not None and _span(old) is not None
        if dry:
            return "there" if there else "put"
        if there and known:
            self.renew(known, text)
            return "there"
        lead = "" if not old else "\n" if old.endswith(b"\n") else "\n\n"
        block = Block(agent, str(path), str(folder or ""), lead, made=old is None)
        if not there:
            data = (old or b"") + lead.encode() + _block(text)
            if old is None:
                path.parent.mkdir(parents=True, exist_ok=True)
                good = files.create(path, data, 0o644)
            else:
                good = files.swap(path, old, data)
            if not good:
                return "broken"
        self._save((*(one for one in self.every() if Path(one.file) != path), block))
        if there:
            self.renew(block, text)
        return "there" if there else "put"

    def renew(self, block: Block, text: Redacted) -> int:
        """Bring the block in a file up to date; 1 when that changed it. Where somebody took it out it stays out."""
        path = Path(block.file)
        old = _read(path)
        span = _span(old) if old is not None else None
        if old is None or span is None:
            return 0
        new = old[: span[0]] + _block(text) + old[span[1] :]
        try:
            return int(new != old and files.swap(path, old, new))
        except OSError:
            return 0

    def take(self, block: Block) -> State:
        """Take a block out of its file, and the file away where it was ours alone."""
        path = Path(block.file)
        old = _read(path)
        span = _span(old) if old is not None else None
        if old is not None and span is not None:
            start, end = span
            lead = block.lead.encode()
            if lead and old[:start].endswith(lead):
                start -= len(lead)
            new = old[:start] + old[end:]
            try:
                if block.made and not new:
                    path.unlink()
                elif not files.swap(path, old, new):
                    return "broken"
            except OSError:
                return "broken"
        self._save(tuple(one for one in self.every() if one.file != block.file))
        return "taken" if span else "absent"

    def _save(self, blocks: tuple[Block, ...]) -> None:
        files.private_folder(self._path.parent)
        files.replace(self._path, msgspec.json.encode(_Blocks(blocks=blocks)))


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _span(data: bytes) -> tuple[int, int] | None:
    """Where our block stands; None when there is none, or it is not whole."""
    start = data.find(_BEGIN)
    end = data.find(_END, start) if start >= 0 else -1
    return (start, end + len(_END)) if end >= 0 else None


def _block(text: Redacted) -> bytes:
    return _BEGIN + text.encode("utf-8", "replace").rstrip(b"\n") + b"\n" + _END
