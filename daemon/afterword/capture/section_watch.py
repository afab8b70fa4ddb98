"""What people did inside the sections of daily notes → registers, so that it holds without the vault.

Only reads notes. Each note that changed is compared with what was written there; a section that lacks its end marker
may be cut short, so nothing counts as taken out of it. Notes that hold two sides of a conflict are left alone.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from afterword.domain.conflicts import merging
from afterword.domain.daily import Span, spans
from afterword.domain.day_names import DayNames
from afterword.domain.escape import plain
from afterword.domain.section_edits import SectionEdits, Standing, edits_of
from afterword.domain.sections import PARTS, Parsed, Texts, parse_section, texts_of
from afterword.redact.redactor import Redactor
from afterword.store.day_files import day_notes
from afterword.store.ledger import section_edits, segments, told
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import may_write

if TYPE_CHECKING:
    from afterword.domain.ids import SegmentKey

_SEEN = "sections_seen:"


class SectionWatch:
    """Looks over the sections of a vault's daily notes."""

    def __init__(self, vault: Path, days: DayNames, ledger: Ledger, redactor: Redactor) -> None:
        self._vault = vault
        self._days = days
        self._ledger = ledger
        self._redactor = redactor

    def look(self) -> int:
        """Take in what changed since the last look; how many sections. Nothing is done without the vault."""
        if not may_write(self._vault, self._ledger):
            return 0
        changed = 0
        for name, path in day_notes(self._vault, self._days):
            # By its day, so that a note in another folder is not taken for a new one.
            day = self._days.day_of(name) or path.stem
            try:
                at = path.stat()
                seen = f"{at.st_size}:{at.st_mtime_ns}:{at.st_ino}"
                if self._ledger.meta(f"{_SEEN}{day}.md") == seen:
                    continue
                note = path.read_bytes()
            except OSError:
                continue
            changed += self._read(f"{day}.md", note, seen)
        return changed

    def _read(self, name: str, note: bytes, seen: str) -> int:
        """Store the edits that a note shows, together with how it was seen."""
        standing: dict[SegmentKey, list[Span]] = {}
        for span in () if merging(note) else spans(note):
            standing.setdefault(span.key, []).append(span)
        found: dict[SegmentKey, SectionEdits] = {}
        for key, row in standing.items():
            held = segments.section(self._ledger, key)
            if held is None or held[1].withdrawn_by or all(span.rev != held[0].rev for span in row):
                continue  # Only older revisions: what was changed there is known already.
            if not segments.is_placed(self._ledger, key, held[0].rev):
                continue  # Half of an append of ours, which is made whole before it counts.
            wrote = told.of(self._ledger, key)
            here = [
                Standing(span.rev, self._parsed(note, span), span.closed, wrote.get(span.rev))
                for span in row
                if span.rev <= held[0].rev
            ]
            old = section_edits.get(self._ledger, key)
            new = edits_of(here, self._clean(texts_of(held[1].digest)), held[0].rev, old, wrote)
            if new != old and not (new.empty and old.empty):
                found[key] = new
        with self._ledger.transaction():
            for key, edits in found.items():
                section_edits.put(self._ledger, self._redactor, key, edits)
            self._ledger.set_meta(_SEEN + name, self._redactor.redact(seen))
        return len(found)

    def _parsed(self, note: bytes, span: Span) -> Parsed:
        """Both sides by the rules of today: a rule that is newer than a note is no edit."""
        parsed = parse_section(note[span.start : span.end].replace(b"\r\n", b"\n"))
        texts, extra = self._clean(parsed.texts), tuple(map(self._out, parsed.extra))
        return msgspec.structs.replace(parsed, texts=texts, extra=extra)

    def _clean(self, texts: Texts) -> Texts:
        parts = {part: tuple(map(self._out, getattr(texts, part))) for part, _ in PARTS}
        return Texts(self._out(texts.context), **parts)

    def _out(self, text: str) -> str:
        return plain(self._redactor.redact(text))
