"""Our own lines in the vault under newer redaction rules, in place: the one change to what was written before.

Only what stands between our markers in a daily note, and our entries of the build log, is looked at. Everything else
in a note stays byte for byte, whatever it holds.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from afterword.domain.daily import spans
from afterword.domain.day_names import DayNames
from afterword.domain.escape import prose, unescape
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store import faults, files
from afterword.store.day_files import day_notes
from afterword.store.vault_card import read_card

_POINT: Final = re.compile(
    rb"( {0,3}(?:[-*+][ \t]+(?:\[.\][ \t]+)?|\*\*Context(?::\*\*|\*\*:)[ \t]*))(.*?)"
    rb"((?:[ \t]+\^s-[0-9a-f]{12}(?:-r[0-9]+)?)?[ \t]*\r?)"
)
_ENTRY: Final = re.compile(rb"(- (?:created|updated|added to): )(.*)( \(a-[0-9a-f]{12}\)\r?)")


def mask_vault(vault: Path, days: DayNames, knowledge: str, redactor: Redactor) -> list[str]:
    """Mask what the rules find in our own lines of daily notes and the build log.

    Returns:
        The notes that were changed, relative to the vault. A note that somebody saves at that very moment is left for
        the next run; nothing is done while the vault is not there.
    """
    if read_card(vault) is None:
        return []
    changed = []
    for name, path in day_notes(vault, days):
        if _mask(path, lambda note: mask_note(note, lambda text: leave("daily-note", text, redactor))):
            changed.append(name)
            faults.hit("rescrub.note")
    log = files.inside(vault, f"{knowledge}/log.md")
    if log.is_file() and _mask(log, lambda note: mask_log(note, lambda text: leave("article", text, redactor))):
        changed.append(f"{knowledge}/log.md")
    return changed


def mask_note(note: bytes, out: Callable[[str], str]) -> bytes:
    """A daily note with the texts of our sections put through `out`."""
    for span in reversed(spans(note)):
        block = note[span.start : span.end]
        note = note[: span.start] + _masked(block, _POINT, out) + note[span.end :]
    return note


def mask_log(note: bytes, out: Callable[[str], str]) -> bytes:
    """The build log with the titles of its entries put through `out`."""
    return _masked(note, _ENTRY, out)


def _masked(block: bytes, shape: re.Pattern[bytes], out: Callable[[str], str]) -> bytes:
    lines = block.split(b"\n")
    for number, line in enumerate(lines):
        if found := shape.fullmatch(line):
            said = unescape(found[2].decode("utf-8", "surrogateescape"))
            clean = out(said)
            if clean != said:
                lines[number] = found[1] + prose(clean).encode() + found[3]
    return b"\n".join(lines)


def _mask(path: Path, change: Callable[[bytes], bytes]) -> bool:
    files.sweep_temporaries(path.parent)
    old = path.read_bytes()
    new = change(old)
    return new != old and files.swap(path, old, new)
