"""Forgetting, everywhere: first what holds at once, then the ledger's rows, then what was made from them, then bytes.

The plan is in the ledger before anything is done. Killed anywhere it goes on at the next start of a writer, before
anything is served; each part may be done twice. What only a vault can be done with waits for a vault that is away.
"""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from afterword.capture.decoding import SAID
from afterword.domain.errors import TransientError
from afterword.domain.ids import SegmentKey
from afterword.store import backups_holding, faults, forgotten_file, forgotten_notes, spool
from afterword.store.ledger import article_files, articles, compile_on, erasing, forgetting, sessions, tombstones
from afterword.store.vault_card import read_card

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

_log = logging.getLogger(__name__)
_COUNTED: Final[tuple[forgetting.Kind, ...]] = ("item", "section", "day", "article", "lesson")
_TRIES: Final = 40
_PAUSE_S: Final = 0.25
"""How often, and after how long, it is tried to empty a log that a reader holds."""


def due(program: "Program") -> bool:
    """Whether a forgetting was begun and not finished, or an older ledger was put in the place of the one that knew."""
    _know(program)
    return forgetting.owed(program.ledger, vault=_vault_there(program))


def _know(program: "Program") -> None:
    """Make the tombstones beside the ledger and those in it the same."""
    state, ledger = program.config.places.state, program.ledger
    there = forgotten_file.read(state)
    if len(there) == tombstones.count(ledger):
        return
    with ledger.transaction(durable=True):
        new = forgetting.apply(ledger, there)
    if new:
        _log.info("this ledger is older than what was forgotten", extra={"tombstones": new})
    forgotten_file.keep(state, tombstones.every(ledger))


def run(
    program: "Program",
    tell: "Tell",
    stop: Callable[[], bool] = lambda: False,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Do what is planned; what was done, in numbers, and the notes that could not be changed.

    Raises:
        TransientError: a reader holds bytes for longer than we wait; the rest is done, and this is tried again.
    """
    del stop  # half a forgetting is none: it ends in minutes at worst, and goes on after a kill
    ledger = program.ledger
    backups_holding.sweep(program.config.places.state)
    with ledger.erasing():
        if program.notes:
            # An append that a kill left is finished by what it was planned as.
            program.notes.recover()
        program.compiling.look()
        program.lessons.take_in()
        with ledger.transaction(durable=True):
            forgetting.mark(ledger, program.redactor)
        forgotten_file.keep(program.config.places.state, tombstones.every(ledger))
        faults.hit("forget.marked")
        touched = forgetting.rows(ledger, "session")
        again = [int(row) for row, value in forgetting.planned(ledger, "session").items() if value == forgetting.AGAIN]
        counts = {kind: len(forgetting.planned(ledger, kind)) for kind in _COUNTED}
        erasing.rows(
            ledger, program.redactor, SAID, lambda done, all_: tell("Forgetting", "items", done, all_, "erased")
        )
        faults.hit("forget.rows")
        left = _notes(program)
        _write_up(program, again)
        left += _articles(program, tell)
        left += _lessons(program)
        program.compiling.review_page()
        faults.hit("forget.articles")
        program.text.forget_replaced()
        program.text.pack()
        faults.hit("forget.text")
        program.ready.sync()
        _spool(program)
        heads = sessions.heads(ledger, touched)
        program.index.begin_again([head.id for head in heads.values()])
        faults.hit("forget.index")
        left += _exported(program)
        _pack(program, sleep)
        faults.hit("forget.packed")
        with ledger.transaction(durable=True):
            forgetting.done(ledger, "session", touched)
            forgetting.done(ledger, "look", [""])
            forgetting.done(ledger, "day", forgetting.planned(ledger, "day"))
            if _vault_there(program) or program.vault is None:
                for kind in forgetting.VAULT_KINDS:
                    forgetting.done(ledger, kind, forgetting.planned(ledger, kind))
    _log.info("forgotten", extra={"items": counts["item"], "sessions": len(touched)})
    waits = forgetting.owed(ledger, vault=True)
    return {
        "items": counts["item"],
        "sessions": len(touched),
        "sections": counts["section"],
        "articles": counts["article"],
        "lessons": counts["lesson"],
        "left": sorted(set(left)),
        "vault_away": waits,
    }


def _vault_there(program: "Program") -> bool:
    return program.vault is not None and read_card(program.vault) is not None


def _notes(program: "Program") -> list[str]:
    """Our sections out of the daily notes."""
    planned = forgetting.planned(program.ledger, "section")
    if not planned or program.vault is None or not _vault_there(program):
        return []
    hashes = {key: frozenset(value.split()) for key, value in planned.items()}

    def theirs(key: SegmentKey, text: str) -> bool:
        return forgetting.line_hash(program.ledger, program.redactor, text) in hashes[key]

    return forgotten_notes.relieve_notes(program.vault, program.config.settings.vault.daily, planned, theirs)


def _write_up(program: "Program", touched: list[int]) -> None:
    """What is left of the sessions is written up anew."""
    with program.ledger.transaction():
        for session in touched:
            sessions.mark_dirty(program.ledger, session, 0)
    program.flush.run(program.clock(), ended=set(touched))
    if program.notes:
        program.notes.sync()


def _articles(program: "Program", tell: "Tell") -> list[str]:
    """Articles without the quotes that are gone: in the ledger, and as files."""
    ledger, folders = program.ledger, program.config.settings.vault
    built = articles.builds(ledger)
    days = [day for day in forgetting.planned(ledger, "day") if day in built]
    if forgetting.planned(ledger, "look"):
        # What a person struck out of a section may have become a point of an article.
        days = sorted({*days, *(day for day in program.compiling.days() if day in built)})
    if days and compile_on.here(ledger):
        program.compiling.run(
            days, on_progress=lambda done, all_: tell("Compiling", "days", done, all_, "without what is forgotten")
        )
    slugs = forgetting.planned(ledger, "article")
    if not slugs:
        if forgetting.planned(ledger, "look"):
            # A line they struck out of an article stands in the catalogue, which no day's build brings up to date.
            program.compiling.render()
        return []
    with ledger.transaction(durable=True):
        found = erasing.drop_articles(ledger)
    if program.vault is None or not _vault_there(program):
        return []
    left = []
    known = article_files.every(ledger)
    for uid, stands in found.items():
        file = known.get(uid)
        if file is None:
            continue
        if stands:
            _rename(program, file, slugs[uid])
        elif forgotten_notes.relieve_article(program.vault, file, slugs[uid]):
            with ledger.transaction():
                article_files.drop(ledger, uid)
        else:
            left.append(file.path)
    program.compiling.render()
    titles = {each.uid: each.article.title for each in articles.current(ledger) if each.article.title}
    if not forgotten_notes.relieve_log(program.vault, folders.knowledge, titles, found):
        left.append(f"{folders.knowledge}/log.md")
    return left


def _lessons(program: "Program") -> list[str]:
    """Entries of the journal, and what topics and agents' files have of them."""
    gone = forgetting.planned(program.ledger, "lesson")
    if not gone or (program.vault is not None and not _vault_there(program)):
        return []
    left = program.lessons.journal.forget(gone)
    program.lessons.settled()
    pages = program.lessons.pages
    return left + (list(pages.problems) if pages else [])


def _rename(program: "Program", file: article_files.ArticleFile, slug: str) -> None:
    """An article that is called otherwise now gives up a file name that was made from its title as it was."""
    assert program.vault is not None
    article = articles.stored(program.ledger)[file.uid]
    place = forgotten_notes.renamed(program.vault, file, slug, article.slug)
    if place:
        path, at = place
        with program.ledger.transaction():
            article_files.save(
                program.ledger, program.redactor, msgspec.structs.replace(file, path=path, at=at, made="")
            )


def _spool(program: "Program") -> None:
    """What hooks said of sessions that are forgotten."""
    state = program.config.places.state
    gone = []
    for name, event in spool.read(state, program.clock()).events.items():
        native = program.redactor.plain(event.session)
        found = sessions.load(program.ledger, "WHERE s.native = ?", (native,)) if native else []
        if any(tombstones.session_forgotten(program.ledger, session.id) for session in found):
            gone.append(name)
    spool.remove(state, gone)


def _exported(program: "Program") -> list[str]:
    """What was forgotten out of the folders of batches that were exported from here."""
    if program.ledger.meta("exported") is None:
        return []
    from afterword.app import sync_folders  # noqa: PLC0415  # most never export

    return sync_folders.renew(program)


def _pack(program: "Program", sleep: Callable[[float], None]) -> None:
    for _ in range(_TRIES):
        if program.ledger.vacuum():
            return
        sleep(_PAUSE_S)
    raise TransientError(
        "a reader holds the ledger's log, which may still have bytes of what is forgotten",
        "end other `afterword` commands and run `afterword up --once`",
    )
