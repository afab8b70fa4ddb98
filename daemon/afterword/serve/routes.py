"""What the door answers the command line: a literal table of routes, each with the type of what it is asked."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from afterword import __version__
from afterword.app import results, sync_steps, using
from afterword.app.forget_targets import Selector, resolve
from afterword.app.reading import where, zones_of
from afterword.app.results import Question
from afterword.app.retract_asking import Asked as Retraction
from afterword.app.retract_asking import answer
from afterword.app.show import find, whole
from afterword.app.status import status as status_of
from afterword.app.sync_step import STEP_MAX_BYTES, Step
from afterword.capture.stores import survey
from afterword.domain.errors import NothingFound
from afterword.serve import jobs as work
from afterword.serve.room import Room
from afterword.store.ledger import forgetting, jobs
from afterword.store.ledger.ledger import open_beside

if TYPE_CHECKING:
    from afterword.app.program import Program


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Asked without a word."""


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Asked for one thing by its id."""

    id: str


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job somebody asks for."""

    name: str
    arguments: dict[str, Any] = {}


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lines of a job, from number `start` on."""

    id: str
    start: int = 0


Answer: TypeAlias = "dict[str, Any] | Iterator[dict[str, Any]]"
"""One object, or the lines of a stream."""


def ping(_room: Room, _asked: Nothing) -> Answer:
    return {"afterword": __version__, "pid": os.getpid()}


def status(room: Room, _asked: Nothing) -> Answer:
    with closing(room.ledger()) as ledger:
        return status_of(room.config, room.env, ledger, survey(where(room.config, room.env, ledger)))


def search(room: Room, asked: Question) -> Answer:
    with closing(room.ledger()) as ledger:
        answer = results.ask(room.config, ledger, asked, room.searcher)
        return results.as_json_fields(ledger, asked, answer)


def show(room: Room, asked: Named) -> Answer:
    with closing(room.ledger()) as ledger:
        return results.session_fields(whole(ledger, find(ledger, asked.id)))


def submit(room: Room, asked: Wanted) -> Answer:
    work.checked(asked.name, asked.arguments)
    arguments = room.redactor.document(asked.arguments)
    with closing(open_beside(room.config.places.state)) as ledger:
        job = jobs.submit(ledger, asked.name, arguments, room.clock())
    room.lines.add(job, {"state": "queued"})
    room.wake()
    return {"job": job}


def forget(room: Room, asked: Selector) -> Answer:
    """Note by ids what is to be forgotten, and queue the job that does it: the words are kept nowhere."""
    with closing(open_beside(room.config.places.state)) as ledger:
        found = resolve(ledger, zones_of(room.config, ledger), room.config.settings.vault.daily, asked)
        with ledger.transaction(durable=True):
            forgetting.ask(ledger, found.wanted)
        job = jobs.submit(ledger, "forget", room.redactor.document({}), room.clock())
    room.lines.add(job, {"state": "queued"})
    room.wake()
    return {"job": job}


def retract(room: Room, asked: Retraction) -> Answer:
    """Say where something stands, and with the word that confirms it queue the job that retracts it."""
    with closing(room.ledger()) as ledger:
        fields, job = answer(ledger, asked)
    if job is None:
        return fields
    return {**fields, **dict(submit(room, Wanted("retract", msgspec.to_builtins(job))))}  # type: ignore[arg-type]


def useful(room: Room, asked: Named) -> Answer:
    """Count an article as cited: somebody says that it helped."""
    with closing(room.ledger()) as ledger:
        day = zones_of(room.config, ledger).day(room.clock())
        return using.useful(room.config.places.state, ledger, asked.id, day)


def events(room: Room, asked: Events) -> Answer:
    with closing(room.ledger()) as ledger:
        if jobs.get(ledger, asked.id) is None:
            raise NothingFound(f"there is no job {asked.id!r}")
    return work.follow(room.ledger, room.lines, asked.id, max(0, asked.start))


def sync(room: Room, asked: Step) -> Answer:
    def errand(program: "Program") -> dict[str, Any]:
        done = sync_steps.do(program, asked, lambda *_told: None)
        if asked.do == "done":
            sync_steps.seen(program)  # the loop goes on with it
        return done

    return room.hand.do(errand)


class Route(msgspec.Struct, frozen=True):
    """A row: method, path (`{id}` stands for one part), what is asked, who answers."""

    method: str
    path: str
    asked: type[Any]
    answer: Callable[[Room, Any], Answer]
    scope: str
    """What a token must hold; empty for what is asked without one."""
    body_max: int = 0
    """Bytes of what is asked, where that is more than usual."""
    bare: tuple[str, ...] = ()
    """Fields that leave as they are: secrets this answer is for."""
    slow: bool = False
    """Whether it may take minutes: such callers have a room of their own."""
    lines: str = ""
    """Of a stream, its type: lines of JSON, or events."""


OWN: Final = (
    Route("GET", "/v1/ping", Nothing, ping, "status"),
    Route("GET", "/v1/status", Nothing, status, "own"),
    Route("POST", "/v1/search", Question, search, "search"),
    Route("GET", "/v1/show/{id}", Named, show, "own"),
    Route("POST", "/v1/jobs", Wanted, submit, "own"),
    Route("POST", "/v1/forget", Selector, forget, "own"),
    Route("POST", "/v1/retract", Retraction, retract, "review"),
    Route("POST", "/v1/useful", Named, useful, "review"),
    Route("GET", "/v1/jobs/{id}/events", Events, events, "own", lines="application/x-ndjson"),
    Route("POST", "/v1/sync", Step, sync, "own", STEP_MAX_BYTES, slow=True),
)
"""What the command line asks; `routes_editor` has what an editor asks."""
