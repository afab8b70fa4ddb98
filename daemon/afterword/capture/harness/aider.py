"""aider: one Markdown history in each working folder, many sessions in it, by header.

The sessions' ids begin with the repository's first commit, or the folder's name, as it was when the history was seen
first: kept as the version of a part that has no conversation. A copy of a known history takes its id over.
"""

import itertools
from collections.abc import Iterator, Mapping

from afterword.capture.harness.aider_blocks import Session, sessions, text_of
from afterword.capture.harness.aider_reading import Reading, first_prompt
from afterword.capture.harness.aider_stores import identity, is_commit, roots, sources
from afterword.domain.events import Decoded, Document, Fingerprint, Opened, Part

__all__ = ["events", "label", "name", "parts", "roots", "sources"]

name = "aider"
label = "aider"

_REPOSITORY = ".repository"
_MARKS = 16


def parts(opened: Opened, known: Mapping[str, str]) -> Iterator[Part]:
    """Where the history belongs, then its sessions."""
    assert isinstance(opened, Document)
    found = _sessions(opened)
    if not found:
        return
    its_id = _settled(known) or _copied(opened, list(_marks(opened, found))) or _new(opened)
    marks = itertools.islice(_marks(opened, found), _MARKS)
    yield Part(_REPOSITORY, "|".join((its_id, *marks)))
    for session in found:
        yield Part(f"{its_id}/{session.name}", opened.fingerprint("\n".join(session.lines)))


def _marks(opened: Document, found: list[Session]) -> Iterator[str]:
    """What tells the sessions in which somebody spoke from all others, in the order of the file."""
    for session in found:
        said = first_prompt(session)
        if said:
            yield opened.fingerprint(f"{session.name}\0{said}")


def _settled(known: Mapping[str, str]) -> str:
    """The id that was chosen when the history was seen first; its sessions' names keep it as well.

    A folder's name that looks like a secret is not kept as it was: such an id is made again.
    """
    named = (name.rpartition("/")[0] for name in known if name != _REPOSITORY)
    its_id = known.get(_REPOSITORY, "").partition("|")[0] or next(named, "")
    return "" if "[redacted" in its_id else its_id


def _new(opened: Document) -> str:
    """The id of a history nobody knew: the first commit, else the folder's name, numbered where it is another's."""
    its_id = identity(opened.path.parent)
    others = {version.partition("|")[0] for version in opened.elsewhere(_REPOSITORY)}
    if its_id not in others or is_commit(its_id):
        return its_id
    return next(name for n in itertools.count(2) if (name := f"{its_id}-{n}") not in others)


def _copied(opened: Document, marks: list[str]) -> str | None:
    """The id of another history that holds one of these sessions: this one is a copy of it, or the other way."""
    for version in opened.elsewhere(_REPOSITORY):
        its_id, *theirs = version.split("|")
        if its_id and not set(theirs).isdisjoint(marks):
            return its_id
    return None


def events(opened: Opened, part: Part, fingerprint: Fingerprint) -> Iterator[list[Decoded]]:
    """One session, whole."""
    del fingerprint
    assert isinstance(opened, Document)
    repository, _, name_in_file = part.name.rpartition("/")
    session = next((one for one in _sessions(opened) if one.name == name_in_file), None)
    if session is not None and repository:
        yield from Reading(repository, session).run(str(opened.path.parent))


def _sessions(opened: Document) -> list[Session]:
    """The sessions of the file, taken apart once."""
    if "sessions" not in opened.notes:
        opened.notes["sessions"] = sessions(text_of(opened.data))
    found: list[Session] = opened.notes["sessions"]
    return found
