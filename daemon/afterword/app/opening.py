"""Where in the vault a search result was written up."""

import contextlib
from pathlib import Path

from afterword.app.lesson_shown import lesson_named, lesson_place
from afterword.app.show import find
from afterword.domain.errors import NothingFound, UserError
from afterword.domain.note_names import is_note
from afterword.store.files import inside
from afterword.store.ledger import segments, views
from afterword.store.ledger.ledger import Ledger


def note_at(vault: Path, result: str) -> str | None:
    """The path in the vault of the note that is named by its path, with or without `.md`; None where there is none.

    A path that leads out of the vault, by dots or by a link, is no note.
    """
    path = result.removeprefix("./")
    if "\0" in path:
        return None
    for name in (path, f"{path}.md"):
        with contextlib.suppress(UserError, OSError):
            if is_note(name) and (found := inside(vault, name)).is_file():
                return str(found.relative_to(vault.resolve()))
    return None


def written(ledger: Ledger, result: str) -> tuple[str, str | None]:
    """(path in the vault, block) of what an id names: a message, a lesson, a section's key, a
    session.

    Raises:
        NothingFound: it is in no note, or there is nothing of that id.
    """
    item = views.item_row(ledger, result)
    if item is not None:
        found = views.written_in(ledger, item)
        if found is None:
            raise NothingFound(f"{result} is in no note (yet)", "`afterword show` prints its session")
        return found
    if learned := lesson_named(ledger, result):
        at = lesson_place(ledger, learned)
        if at is None:
            raise NothingFound(f"{result} is in no note (yet)", "`afterword show` prints it")
        return at
    placed = views.placed(ledger, result)
    if placed is not None:
        return placed
    session = find(ledger, result)
    keys = [r.key for r, record in segments.sections(ledger, session.id) if not record.withdrawn_by]
    places = [found for key in keys if (found := views.placed(ledger, key)) is not None]
    if not places:
        raise NothingFound(f"session {session.shown_native} is in no note (yet)", "`afterword show` prints it")
    return max(places)
