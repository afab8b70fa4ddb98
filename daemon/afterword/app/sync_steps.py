"""What a writer does for an exchange, one step at a time: what came from a peer goes in, and what follows from it is
done. The same for a command that holds the lock and for the daemon, which is asked by the command that talks.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from afterword.app import forgetting, setup, sync_folders, sync_holds
from afterword.app.sync_holds import Met
from afterword.app.sync_log import LedgerLog
from afterword.app.sync_step import Step
from afterword.domain.errors import UserError
from afterword.store.ledger import arrivals, compile_on
from afterword_sync.log import Refused
from afterword_sync.record import RecordError, decode

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program


def do(program: "Program", step: Step, tell: "Tell") -> dict[str, Any]:
    """Do a step; what came of it.

    Raises:
        UserError: records cannot be taken; nothing of them was.
    """
    log = LedgerLog(program.ledger, program.redactor, program.config.settings.peers)
    if step.do == "begin":
        compile_on.claim(program.ledger, program.redactor)
        return {}
    if step.do == "hold":
        log.hold(step.peer)
        return {}
    if step.do == "reborn":
        return {"origin": log.reborn(step.known)}
    if step.do == "exported":
        with program.ledger.transaction():
            sync_folders.remember(program.ledger, program.redactor, Path(step.folder))
        return {}
    if step.do in ("take", "early"):
        try:
            records = [decode(line.encode()) for line in step.lines.split("\n") if line]
            insert = log.insert if step.do == "take" else log.insert_early
            done: dict[str, Any] = msgspec.to_builtins(insert(records, step.peer))
            return done | {"stones": log.stones}
        except Refused as err:
            raise UserError(err.reason, err.hint) from err
        except RecordError as err:
            raise UserError(str(err)) from err
    remember(program, step)
    if step.do == "done":
        follow(program, tell)
    return {}


def remember(program: "Program", step: Step) -> None:
    """Note how an exchange went."""
    if not (step.name or step.peer):
        return  # a folder: nobody was met
    name = step.name or sync_holds.name_of(program.ledger, program.config.settings.peers, step.peer)
    before = sync_holds.met(program.ledger, name)
    now_us = program.clock()
    if step.do == "done":
        lacking = sync_holds.lacking(program.ledger)
        found = Met(step.peer or before.origin, now_us, dict(step.vector), now_us, lacking=lacking)
    else:
        found = msgspec.structs.replace(
            before,
            tried_us=now_us,
            failures=before.failures + 1,
            problem=step.problem,
            origin=step.peer or before.origin,
        )
    with program.ledger.transaction():
        sync_holds.remember(program.ledger, program.redactor, name, found)


def follow(program: "Program", tell: "Tell") -> None:
    """What follows from what came: what is forgotten elsewhere goes here, texts are found, days end where they do on
    the other machine."""
    setup.follow_zone(program.ledger, program.redactor, program.vault, program.zones)
    if forgetting.due(program):
        forgetting.run(program, tell)
    if unseen(program):
        program.text.catch_up(lambda: False)
        program.ready.sync()


def unseen(program: "Program") -> bool:
    """Whether something came of which not everything is made yet: now, or before a kill."""
    return program.ledger.meta(arrivals.UNSEEN) == 1


def seen(program: "Program") -> None:
    """All of it is made, or will be by whoever runs on."""
    if unseen(program):
        with program.ledger.transaction():
            program.ledger.set_meta(arrivals.UNSEEN, 0)
