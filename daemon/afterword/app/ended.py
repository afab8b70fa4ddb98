"""What hooks said of sessions: which ended or are about to be compacted, so that they are written up at once."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.domain.ids import session_id
from afterword.store import spool
from afterword.store.ledger import sessions
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.app.program import Program

_log = logging.getLogger(__name__)


@contextmanager
def ended(program: "Program", stop: Callable[[], bool]) -> Iterator[set[int]]:
    """The rows of the sessions that ended, their transcripts read to the end.

    The spool is emptied when the block is left well; a kill, an error or a stop inside leaves it as it was.
    """
    state = program.config.places.state
    found = spool.read(state, program.clock())
    over = [event for event in found.events.values() if event.event != "session-start"]
    if any(map(partial(_unseen, program), over)):
        # A session may end before anybody saw its file: without a look its end would be lost.
        program.ingest(thorough=False, stop=stop)
    rows: set[int] = set()
    for event in over:
        rows |= _rows(program, event)
    yield rows
    if stop() or not (found.events or found.malformed):
        return
    with program.ledger.transaction():
        if found.events:
            program.ledger.set_meta("last_hook_us", program.clock())
        if found.malformed:
            program.ledger.set_meta("hooks_malformed", malformed(program.ledger) + len(found.malformed))
    spool.remove(state, [*found.events, *found.malformed])
    if found.malformed:
        _log.warning("files in the spool held no event and were removed", extra={"count": len(found.malformed)})


def malformed(ledger: Ledger) -> int:
    """How many spool files held no event so far."""
    said = ledger.meta("hooks_malformed")
    return said if isinstance(said, int) else 0


def _unseen(program: "Program", event: spool.Spooled) -> bool:
    """Whether an event is about a file that may be a source, and no look has shown it yet."""
    path = Path(event.transcript)
    return bool(
        event.transcript
        and program.capture.belongs(path) is None
        and program.capture.may_be_new(path)
        and path.is_file()
    )


def _rows(program: "Program", event: spool.Spooled) -> set[int]:
    """The session an event is about, by the store its transcript lies in, else by its id alone."""
    path = Path(event.transcript)
    found = program.capture.belongs(path) if event.transcript else None
    harness = found[0] if found else None
    if found and program.capture.read(*found):
        program.text.catch_up()
        program.note_capture()
    native = program.redactor.redact(event.session)
    if not native:
        return set()
    if harness is not None:
        rows = {s.row for s in sessions.load(program.ledger, "WHERE s.id = ?", (session_id(harness, native),))}
        if rows:
            return rows
    return {s.row for s in sessions.load(program.ledger, "WHERE s.native = ?", (native,))}
