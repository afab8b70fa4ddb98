"""Cursor: the databases of its windows, the stores of its agent, and the transcripts that repeat both with less."""

from collections.abc import Iterator, Mapping

from afterword.capture.harness import cursor_composers as composers
from afterword.capture.harness import cursor_store, cursor_texts
from afterword.capture.harness import cursor_transcripts as transcripts
from afterword.capture.harness.cursor_family import Family
from afterword.capture.harness.cursor_stores import DATABASE, roots, sources
from afterword.capture.harness.cursor_transcripts import State, start
from afterword.domain.events import Database, Decoded, Document, Fingerprint, Opened, Part

__all__ = ["decode", "events", "label", "name", "parts", "roots", "session_of", "sources", "start", "state_type"]

name = "cursor"
label = "Cursor"
state_type = State


def decode(line: bytes, state: State, fingerprint: Fingerprint) -> list[Decoded]:  # noqa: ARG001  # the protocol's
    """Decode one complete line of a transcript, changing `state`."""
    return transcripts.decode(line, state)


def session_of(state: State) -> str:
    """The session a transcript is of: its name says it."""
    return state.session


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:
    """Every conversation in a database or a text."""
    if isinstance(opened, Document):
        return cursor_texts.parts(opened)
    if opened.path.name == DATABASE:
        return composers.parts(opened, known, _family(opened), opened.fingerprint)
    return cursor_store.parts(opened, known, opened.fingerprint)


def _family(opened: Database) -> Family:
    family = opened.notes.setdefault("family", Family())
    assert isinstance(family, Family)
    return family


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
    """One conversation, whole."""
    if isinstance(opened, Document):
        return cursor_texts.events(opened)
    if opened.path.name == DATABASE:
        return composers.events(opened, part, _family(opened), fingerprint)
    return cursor_store.events(opened, part, fingerprint)
