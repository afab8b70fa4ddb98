"""What of a section goes into a note: as the person left it, without what the note says already, redacted once more."""

from collections.abc import Container
from typing import Final

from afterword.domain.daily import CAP_BYTES, Mark, find_markers, spans
from afterword.domain.day_names import DayNames
from afterword.domain.escape import plain
from afterword.domain.ids import SegmentKey
from afterword.domain.section_edits import laid_over
from afterword.domain.sections import PARTS, Section, Texts, link, parse_section, ref, render, texts_of, withdrawn_line
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store.ledger import neighbours, section_edits, told
from afterword.store.ledger.ledger import Ledger
from afterword.store.ledger.segments import SectionRecord

_ROOM_MIN_BYTES: Final = 700


class SectionText:
    """Makes sections for the daily notes of a vault."""

    def __init__(self, days: DayNames, ledger: Ledger, redactor: Redactor) -> None:
        self._days = days
        self._ledger = ledger
        self._redactor = redactor

    def section(self, key: SegmentKey, rev: int, record: SectionRecord, note: bytes) -> Section:
        """A section as it goes into this note: as the person left it, without what its revisions there say already."""
        here = keys_in(note)
        edits = section_edits.get(self._ledger, key)
        digest, _ = laid_over(record.digest, edits)
        texts = self._texts(texts_of(digest))
        earlier = [old for old in range(1, rev) if ref(key, old) in here]
        return Section(
            key=key,
            rev=rev,
            harness=record.harness,
            project=record.project,
            origin=record.origin,
            time=record.time,
            texts=self._new_in(texts, key, earlier, note) if earlier else texts,
            replaces=max(earlier, default=0),
            done=tuple(edits.done),
            before=self._link_before(record),
        )

    def _link_before(self, record: SectionRecord) -> str:
        """A link to the section its session went on from; empty where it begins with this one."""
        last = neighbours.before(self._ledger, record.session, record.start_us)
        if last is None:
            return ""
        same = last.path == self._days.name(record.day)
        note = "" if same else last.path.removesuffix(".md")
        shown = last.time if same else f"{last.day} {last.time}"
        return link(note, ref(last.key, last.rev), shown) or ""

    def _new_in(self, texts: Texts, key: SegmentKey, earlier: Container[int], note: bytes) -> Texts:
        """What of the texts the earlier revisions in this note do not say, nor said when they were written."""
        were = [was for rev, was in told.of(self._ledger, key).items() if rev in earlier]
        are: dict[str, set[str]] = {part: set() for part, _ in PARTS}
        for span in spans(note):
            if span.key == key and span.rev in earlier:
                standing = parse_section(note[span.start : span.end].replace(b"\r\n", b"\n")).texts
                for part, _ in PARTS:
                    are[part].update(getattr(standing, part))

        def new(part: str) -> tuple[str, ...]:
            return tuple(
                text
                for text in getattr(texts, part)
                if plain(text) not in are[part] and not any(was(part, text) for was in were)
            )

        return Texts(texts.context, **{part: new(part) for part, _ in PARTS})

    def _texts(self, texts: Texts) -> Texts:
        """Every text once more through the redactor, by itself: in the whole block a marker could pass for a value."""

        def out(text: str) -> str:
            return leave("daily-note", text, self._redactor)

        return Texts(out(texts.context), *(tuple(map(out, getattr(texts, part))) for part, _ in PARTS))


def block_of(key: SegmentKey, record: SectionRecord, said: Section | None, note: bytes) -> str:
    """The bytes of a section, or the line that withdraws it, as far as they fit into this note."""
    if said is None:
        return withdrawn_line(key, SegmentKey(record.withdrawn_by))
    return render(said, max(_ROOM_MIN_BYTES, CAP_BYTES - len(note)))


def shared(said: Texts, ours: Texts) -> Texts:
    """What of a section's texts is ours, and no person's."""
    kept = {part: set(map(plain, getattr(ours, part))) for part, _ in PARTS}
    return Texts(
        said.context if plain(said.context) == plain(ours.context) else "",
        **{part: tuple(text for text in getattr(said, part) if plain(text) in kept[part]) for part, _ in PARTS},
    )


def keys_in(note: bytes) -> list[str]:
    """The revisions whose start, end or block id stands in the note, and withdrawn or forgotten keys with a `!`."""
    found: dict[str, None] = {}
    for mark in find_markers(note, fenced=True):
        gone = mark.mark in (Mark.WITHDRAWN, Mark.FORGOTTEN)
        found[f"{mark.key}!" if gone else ref(mark.key, mark.rev)] = None
    return list(found)
