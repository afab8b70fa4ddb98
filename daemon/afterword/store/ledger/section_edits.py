"""A person's edits of sections: a register beside the section's own, by `key/edits`."""

import msgspec

from afterword.domain.ids import SegmentKey
from afterword.domain.registers import Rank
from afterword.domain.section_edits import SectionEdits
from afterword.redact.redactor import Redactor
from afterword.store.ledger import registers, segments
from afterword.store.ledger.ledger import Ledger, RecordKind

_EDITS = "/edits"


def key_of(key: SegmentKey) -> str:
    """The key of the register that holds a person's edits of a section."""
    return key + _EDITS


def get(ledger: Ledger, key: SegmentKey) -> SectionEdits:
    """What a person changed in a section."""
    found = registers.get(ledger, RecordKind.SEGMENT, key + _EDITS)
    return found.read(SectionEdits) if found else SectionEdits(0)


def every(ledger: Ledger) -> dict[SegmentKey, SectionEdits]:
    """Every section a person changed."""
    return {
        SegmentKey(found.key.removesuffix(_EDITS)): found.read(SectionEdits)
        for found in registers.every(ledger, RecordKind.SEGMENT)
        if found.key.endswith(_EDITS)
    }


def revs(ledger: Ledger) -> dict[SegmentKey, int]:
    """Of every section a person changed: the revision of what they changed."""
    rows = ledger.db.execute(
        "SELECT key, rev FROM register WHERE kind = ? AND key LIKE ? AND forgotten = 0",
        (RecordKind.SEGMENT, f"%{_EDITS}"),
    )
    return {SegmentKey(key.removesuffix(_EDITS)): rev for key, rev in rows}


def put(ledger: Ledger, redactor: Redactor, key: SegmentKey, edits: SectionEdits) -> None:
    """Store them; inside a transaction."""
    document = redactor.document(msgspec.to_builtins(edits))
    register = registers.put(ledger, RecordKind.SEGMENT, key + _EDITS, document, Rank.PERSON)
    section = segments.section(ledger, key)
    if section:
        ledger.derive((RecordKind.SEGMENT, register.row), [(RecordKind.SECTION, section[0].row)])
