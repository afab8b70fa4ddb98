"""The passes over everything that commands and jobs do alike, with the summary both print."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from afterword.app import excluded, forgetting, lessons, provenance
from afterword.compile.engine import Waiting
from afterword.compile.gemini import articles
from afterword.domain.errors import UsageError
from afterword.store.ledger import compile_on, model_calls
from afterword.store.ledger.articles import unfolded
from afterword.store.ledger.views import counts, pending
from afterword.store.vault_card import card_problem, may_write, read_card

if TYPE_CHECKING:
    from afterword.app.compiling import Compiled
    from afterword.app.program import Program
    from afterword.capture.sweep import Progress, Sum
    from afterword.domain.ids import ArticleUid
    from afterword.index.building import Done
    from afterword.index.building import Progress as Indexed

Tell: TypeAlias = Callable[[str, str, int, int, str], None]
"""Told how far it is: the phase (what a bar is called), its unit, done, all, a word beside the bar."""


class Ingest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `ingest` can be told."""

    harness: str | None = None


class WriteUp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `up --once` can be told; without `settle_us` the settings' holds."""

    settle_us: int | None = None


class Reindex(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `index` can be told."""

    rebuild: bool = False


class CompileDays(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `compile` can be told. Without words for days: every day that is new or changed.

    `redo` names an article whose days are to be written anew; of what a model answered up to the call `upto` about
    them nothing is used again.
    """

    files: tuple[str, ...] = ()
    since: str | None = None
    everything: bool = False
    dry: bool = False
    engine: str | None = None
    redo: str | None = None
    upto: int = 0
    take_over: bool = False


class Forget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be forgotten is in the ledger's plan by now."""


def forget(program: "Program", _given: Forget, tell: Tell, stop: Callable[[], bool]) -> dict[str, Any]:
    """Do what is planned to be forgotten; the numbers of `forget --json`."""
    return forgetting.run(program, tell, stop)


def ingest(program: "Program", given: Ingest, tell: Tell, stop: Callable[[], bool]) -> dict[str, Any]:
    """Read what is new in all stores, or one agent's; the fields of `ingest --json`."""
    done = take_in(program, tell, stop, thorough=True, only=given.harness)
    return {"files": done.files, "new": done.new_items, "problems": done.problems}


def write_up(program: "Program", given: WriteUp, tell: Tell, stop: Callable[[], bool]) -> dict[str, Any]:
    """One whole pass: read, write up, place; the fields of `up --json`."""
    return whole(program, tell, stop, thorough=True, settle_us=given.settle_us)


def whole(
    program: "Program", tell: Tell, stop: Callable[[], bool], *, thorough: bool, settle_us: int | None = None
) -> dict[str, Any]:
    """A pass over everything; the fields of `up --json`."""
    done = take_in(program, tell, stop, thorough=thorough)
    words = {"digest": "sessions looked at", "notes": "sections placed"}
    made, appended = program.write_up(
        settle_us=settle_us,
        on_progress=lambda what, done, all_: tell("Writing", "sections", done, all_, words[what]),
        stop=stop,
    )
    if thorough and not stop():
        compiled = program.compiling.run(
            aging=True, on_progress=lambda done, all_: tell("Compiling", "days", done, all_, ""), stop=stop
        )
        _unless_waiting(program, compiled, stop)
        lessons.whole(program, tell, stop)
    program.ready.sync()
    if thorough:
        # In one whole pass the index is part of it; a daemon builds it while it watches.
        catch_up(program, tell, stop)
    return {
        "vault": str(program.vault),
        "files": done.files,
        "new": done.new_items,
        "problems": done.problems,
        "excluded": excluded.stored(program.config, program.ledger),
        "sections": {"made": made, "appended": appended},
        "vault_problem": vault_problem(program),
        "pending": msgspec.to_builtins(pending(program.ledger)),
        "ledger": msgspec.to_builtins(counts(program.ledger)),
    }


def index(program: "Program", given: Reindex, tell: Tell, stop: Callable[[], bool]) -> dict[str, Any]:
    """Compare the whole index with the ledger and take in what is missing; the fields of `index --json`."""
    from afterword.app.indexing import index_status  # noqa: PLC0415  # numpy

    done = catch_up(program, tell, stop, thorough=True, rebuild=given.rebuild)
    return {"done": msgspec.to_builtins(done), "index": index_status(program.config, program.ledger)}


def catch_up(
    program: "Program", tell: Tell, stop: Callable[[], bool], *, thorough: bool = False, rebuild: bool = False
) -> "Done | None":
    """Bring the index up to date."""

    def progress(now: "Indexed") -> None:
        tell("Indexing", "documents", now.documents, now.of, f"documents, {now.embedded:,} passages new")

    return program.index.catch_up(on_progress=progress, stop=stop, thorough=thorough, rebuild=rebuild)


def compile_days(program: "Program", given: CompileDays, tell: Tell, stop: Callable[[], bool]) -> dict[str, Any]:
    """Days into articles; the fields of `compile --json`.

    Raises:
        UserError: another machine compiles.
    """
    if given.take_over:
        with program.ledger.transaction(durable=True):
            if compile_on.take_over(program.ledger, program.redactor):
                unfolded(program.ledger)
    compile_on.must_be_here(program.ledger)
    if given.redo is None:
        days = program.compiling.days(files=given.files, since=given.since, everything=given.everything)
    else:
        days = provenance.days_of(program.ledger, provenance.find(program.ledger, given.redo))
        for day in days:
            model_calls.set_aside(program.ledger, articles.STEP, day, given.upto)
    done = program.compiling.run(
        days,
        # A day that is named with an engine is meant to be written by it, new or not.
        again=given.everything or (given.engine is not None and bool(given.files or given.since)),
        redo=given.redo is not None,
        dry=given.dry,
        engine=given.engine,
        aging=True,
        on_progress=lambda n, all_: tell("Compiling", "days", n, all_, ""),
        stop=stop,
    )
    program.ready.sync()
    _unless_waiting(program, done, stop)

    def named(uids: tuple["ArticleUid", ...]) -> list[dict[str, str]]:
        return [{"uid": uid, "title": done.titles.get(uid, "")} for uid in uids]

    return {
        "days": [
            {
                "note": program.config.days.name(day.day),
                # A run that was stopped while a model was at a day left that as it was.
                "state": "unchanged" if day.state == "waiting" else day.state,
                "reason": day.reason or None,
                "created": named(day.created),
                "updated": named(day.updated),
                "merged": named(day.merged),
            }
            for day in done.days
        ],
        "files": done.files,
        "question": done.seen.question,
        "skipped": [program.config.days.name(day) for day in program.compiling.skipped()],
        "vault_problem": None if given.dry else vault_problem(program),
        "dry_run": given.dry,
        **({"diff": done.diff} if given.dry else {}),
    }


def _unless_waiting(program: "Program", done: "Compiled", stop: Callable[[], bool]) -> None:
    """A pass that waits for a model is no pass yet: the daemon makes it again when there is an answer."""
    if not stop() and (program.flush.waits or any(day.state == "waiting" for day in done.days)):
        raise Waiting("a model has not answered yet")


def vault_problem(program: "Program") -> str | None:
    """Why notes are not, or not all, in the vault; None when they are."""
    if program.vault is None or program.notes is None:
        return None
    problem, hint = card_problem(program.vault)
    if problem:
        return f"{problem}; {hint}"
    if not may_write(program.vault, program.ledger):
        card = read_card(program.vault)
        return f"{card.writer if card else 'another machine'} writes this vault, this machine only takes in"
    problems = program.notes.problems | program.compiling.problems
    row = [f"{note}: {why}" for note, why in problems.items()]
    more = [f"and {len(row) - 3} more"] if len(row) > 3 else []
    return "; ".join(row[:3] + more) or None


def take_in(
    program: "Program", tell: Tell, stop: Callable[[], bool], *, thorough: bool, only: str | None = None
) -> "Sum":
    """Read what is new in the stores."""
    if only is not None and only not in (known := program.capture.harnesses):
        raise UsageError(f"there is no agent {only!r} that is read", "use one of " + ", ".join(known))

    def progress(now: "Progress") -> None:
        tell("Reading", "bytes", now.bytes_done, now.bytes_all, f"· {now.files_done:,} of {now.files_all:,} files")

    def text(done: int, every: int) -> None:
        tell("Indexing", "items", done, every, "· what agents said is found already")

    def ahead(done: int, every: int) -> None:
        tell("Looking through", "files", done, every, "· what was said is found soon")

    return program.ingest(thorough=thorough, only=only, on_progress=progress, on_text=text, on_preview=ahead, stop=stop)
