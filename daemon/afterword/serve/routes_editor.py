"""What the door answers an editor: the second half of the table of routes, and the whole of it."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final, Literal

import msgspec

from afterword.app import near as nearness
from afterword.app import using
from afterword.app.opening import note_at, written
from afterword.app.pulse import pulse as pulse_of
from afterword.app.reading import zones_of
from afterword.app.retract_asking import Back, back
from afterword.app.review import as_json, candidates, one
from afterword.domain.errors import NothingFound, NotSetUp, UsageError
from afterword.serve.pairing import CHOICE, LIFE_S, SCOPES, BadCode
from afterword.serve.room import Room
from afterword.serve.routes import OWN, Answer, Named, Nothing, Route, Wanted, submit
from afterword.store import doorfile, pairs
from afterword.store.ledger import jobs
from afterword.store.ledger.reviews import Verdict
from afterword.store.vault_card import read_card

_LOOK_S: Final = 2.0
_BEAT_EVERY: Final = 5
_NAME_MOST: Final = 80


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Asked where something stands: the id of a result, a session, a section's key, or the path of a note."""

    result: str


class Decided(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person says of a candidate."""

    id: str
    verdict: Verdict


class CodeWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pairing code is wanted, for these scopes; for the usual ones where none are named."""

    scopes: tuple[Literal["search", "related", "status", "sync", "review", "mcp"], ...] = ()


class Code(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pairing code, and what the program that says it calls itself."""

    code: str
    name: str = "Obsidian"


class Hello(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Asked to show that this door knows the token of a paired program; `nonce` is made up by the asker."""

    id: str
    nonce: str


def pulse(room: Room, _asked: Nothing) -> Answer:
    with closing(room.ledger()) as ledger:
        return pulse_of(room.config, ledger, room.searcher.state(), room.waiting.count)


def events(room: Room, _asked: Nothing) -> Answer:
    return _changes(room)


def _changes(room: Room) -> Iterator[dict[str, Any]]:
    """The pulse, now and whenever it changes; a beat in between."""
    told: Any = None
    quiet = 0
    while not room.lines.closed:
        now = pulse(room, Nothing())
        if now != told:
            assert isinstance(now, dict)
            yield now
            told, quiet = now, 0
        else:
            quiet += 1
            if quiet % _BEAT_EVERY == 0:
                yield {"beat": True}
        _rest(room)


def _rest(room: Room) -> None:
    end = time.monotonic() + _LOOK_S
    while not room.lines.closed and time.monotonic() < end:
        time.sleep(0.25)


def related(room: Room, asked: nearness.Asked) -> Answer:
    with closing(room.ledger()) as ledger:
        return nearness.near(room.config, ledger, asked, room.searcher)


def open_(room: Room, asked: Place) -> Answer:
    """Where something stands in the vault; a note that is opened counts as such."""
    vault = room.config.vault
    if vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword init VAULT`")
    result = asked.result.removeprefix("^")
    path, block = note_at(vault, result), None
    with closing(room.ledger()) as ledger:
        if path is None:
            path, block = written(ledger, result)
    if block is None:
        using.opened(room.config, path, room.clock())
    return {"path": path, "block": block}


def restore(room: Room, asked: Back) -> Answer:
    """Say what would hold again, and with the word that confirms it queue the job that takes the retraction back."""
    with closing(room.ledger()) as ledger:
        fields, job = back(ledger, zones_of(room.config, ledger).day(room.clock()), asked)
    return fields if job is None else fields | _queued(room, "undo", msgspec.to_builtins(job))


def review(room: Room, _asked: Nothing) -> Answer:
    with closing(room.ledger()) as ledger:
        return {"candidates": [as_json(each) for each in candidates(ledger)]}


def decide(room: Room, asked: Decided) -> Answer:
    with closing(room.ledger()) as ledger:
        candidate = one(ledger, asked.id)
    return _queued(room, "review", {"id": candidate.id, "verdict": asked.verdict})


def sync_now(room: Room, _asked: Nothing) -> Answer:
    """Read what is new, and exchange with every machine of the settings."""
    return {"peers": room.exchange(), **_queued(room, "ingest", {})}


def job(room: Room, asked: Named) -> Answer:
    with closing(room.ledger()) as ledger:
        found = jobs.get(ledger, asked.id)
    if found is None:
        raise NothingFound(f"there is no job {asked.id!r}")
    return {
        "id": found.id,
        "name": found.name,
        "state": found.state,
        "result": msgspec.json.decode(found.result.encode()) if found.result else None,
        "error": msgspec.json.decode(found.error.encode()) if found.error else None,
    }


def code(room: Room, asked: CodeWanted) -> Answer:
    scopes = tuple(each for each in CHOICE if each in asked.scopes) or SCOPES
    card = doorfile.read(room.config.places.state)
    return {"code": room.codes.make(scopes), "seconds": int(LIFE_S), "port": card.port if card else 0, "scopes": scopes}


def pair(room: Room, asked: Code) -> Answer:
    """A token for a code. It is said once, and kept nowhere but as a hash."""
    name = " ".join("".join(sign if sign.isprintable() else " " for sign in asked.name).split())
    if not name or len(name) > _NAME_MOST:
        raise UsageError("name: say in some words what is paired", f"at most {_NAME_MOST} characters")
    scopes = room.codes.take(asked.code)
    made, token = pairs.make(room.config.places.state, room.redactor.redact(name), scopes, room.clock())
    vault = room.config.vault
    card = read_card(vault) if vault else None
    return {
        "token": token,
        "id": made.id,
        "name": made.name,
        "scopes": list(scopes),
        "vault": {"id": card.id if card else None, "name": vault.name if vault else None},
    }


def hello(room: Room, asked: Hello) -> Answer:
    state = room.config.places.state
    found = pairs.one(state, asked.id)
    card = doorfile.read(state)
    if found is None or card is None or not 16 <= len(asked.nonce) <= 128 or not asked.nonce.isascii():
        raise BadCode("no program of this id is paired here", "pair again: `afterword pair`")
    return {"proof": pairs.proof(found, asked.nonce, card.port)}


def _queued(room: Room, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return dict(submit(room, Wanted(name, arguments)))  # type: ignore[arg-type]  # it answers an object


EDITOR: Final = (
    Route("GET", "/v1/pulse", Nothing, pulse, "status"),
    Route("GET", "/v1/events", Nothing, events, "status", lines="text/event-stream"),
    Route("POST", "/v1/related", nearness.Asked, related, "related"),
    Route("POST", "/v1/open", Place, open_, "search"),
    Route("POST", "/v1/restore", Back, restore, "review"),
    Route("GET", "/v1/review", Nothing, review, "review"),
    Route("POST", "/v1/review/{id}", Decided, decide, "review"),
    Route("POST", "/v1/sync/now", Nothing, sync_now, "sync"),
    Route("GET", "/v1/jobs/{id}", Named, job, "review"),
    Route("POST", "/v1/pair/codes", CodeWanted, code, "own", bare=("code",)),
    Route("POST", "/v1/pair", Code, pair, "", bare=("token", "id")),
    Route("POST", "/v1/hello", Hello, hello, "", bare=("proof",)),
)
ROUTES: Final = (*OWN, *EDITOR)
