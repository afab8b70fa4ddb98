"""What people did inside the sections of daily notes → registers, so that it holds without the vault.

Only reads notes. Each note that changed is compared with what the ledger would have written there; a section that
lacks its end marker may be cut short, so nothing counts as taken out of it.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from afterword.domain.daily import spans
from afterword.domain.escape import plain
from afterword.domain.section_edits import SectionEdits, edits_of
from afterword.domain.sections import PARTS, Parsed, Section, Texts, parse_section, render, texts_of
from afterword.redact.redactor import Redactor
from afterword.store import files
from afterword.store.ledger import section_edits, segments
from afterword.store.ledger.ledger import Ledger
from afterword.store.notes import read_card

if TYPE_CHECKING:
    from afterword.domain.ids import SegmentKey

_DAY_NOTE = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
_SEEN = "sections_seen:"
_CONFLICT = re.compile(rb"^(?:<{7} |>{7} )", re.MULTILINE)


class SectionWatch:
    """Looks over the sections of a vault's daily notes."""

    def __init__(self, vault: Path, daily: str, ledger: Ledger, redactor: Redactor) -> None:
        self._vault = vault
        self._daily = daily
        self._ledger = ledger
        self._redactor = redactor

    def look(self) -> int:
        """Take in what changed since the last look; how many sections. Nothing is done without the vault."""
        folder = files.inside(self._vault, self._daily)
        if read_card(self._vault) is None or not folder.is_dir():
            return 0
        changed = 0
        for path in sorted(folder.iterdir()):
            if not _DAY_NOTE.fullmatch(path.name):
                continue
            try:
                at = path.stat()
                seen = f"{at.st_size}:{at.st_mtime_ns}:{at.st_ino}"
                if self._ledger.meta(_SEEN + path.name) == seen:
                    continue
                note = path.read_bytes()
            except OSError:
                continue
            changed += self._read(path.name, note, seen)
        return changed

    def _read(self, name: str, note: bytes, seen: str) -> int:
        """Store the edits that a note shows, together with how it was seen."""
        found: dict[SegmentKey, SectionEdits] = {}
        for span in () if _CONFLICT.search(note) else spans(note):
            held = segments.section(self._ledger, span.key)
            if held is None or held[0].rev != span.rev or held[1].withdrawn_by:
                continue  # An older revision: what was changed there is known already.
            if not segments.is_placed(self._ledger, span.key, span.rev):
                continue  # Half of an append of ours, which is made whole before it counts.
            section = Section(span.key, span.rev, "x", "x", "x", "00:00", texts_of(held[1].digest))
            ours = self._clean(parse_section(render(section).encode()))
            now = self._clean(parse_section(note[span.start : span.end].replace(b"\r\n", b"\n")))
            old = section_edits.get(self._ledger, span.key)
            new = edits_of(now, ours.texts, span.rev, old, whole=span.closed)
            if new != old and not (new.empty and old.empty):
                found[span.key] = new
        with self._ledger.transaction():
            for key, edits in found.items():
                section_edits.put(self._ledger, self._redactor, key, edits)
            self._ledger.set_meta(_SEEN + name, self._redactor.redact(seen))
        return len(found)

    def _clean(self, parsed: Parsed) -> Parsed:
        """Both sides by the rules of today: a rule that is newer than a note is no edit."""

        def out(text: str) -> str:
            return plain(self._redactor.redact(text))

        texts = Texts(
            out(parsed.texts.context), **{part: tuple(map(out, getattr(parsed.texts, part))) for part, _ in PARTS}
        )
        return msgspec.structs.replace(parsed, texts=texts, extra=tuple(map(out, parsed.extra)))
