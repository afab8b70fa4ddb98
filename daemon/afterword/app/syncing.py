"""The exchange with other machines: over SSH, by a folder, and for whoever calls; as values."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from afterword import __version__
from afterword.app import client
from afterword.app.config import Config
from afterword.app.reading import redactor
from afterword.app.sync_log import LedgerLog, cleaned
from afterword.app.sync_step import Step
from afterword.domain.errors import AfterwordError, NotSetUp, TransientError, UsageError
from afterword.domain.settings import Peer
from afterword.store.ledger import compile_on, holds
from afterword.store.ledger.ledger import FILE, Ledger, open_reader
from afterword_sync import errors
from afterword_sync.folder import Exported, Imported, Pending, export_folder, import_folder
from afterword_sync.log import Inserted, Refused
from afterword_sync.record import Record, encode
from afterword_sync.report import Exchanged, Moved, Progress, Way

if TYPE_CHECKING:
    from afterword.app.passes import Tell
    from afterword.app.program import Program

PROGRAM: Final = f"afterword {__version__}"
DIR: Final = "dir"
_STEP_S: Final = 600.0
Telling = Callable[[], AbstractContextManager["Tell"]]


class SyncFailed(AfterwordError):
    """The exchange did not come to its end; what was committed before stays."""

    kind = "sync"


class SyncLater(TransientError):
    """The same, and trying again later may help."""

    kind = "sync"


class Log(LedgerLog):
    """The ledger's log and what an exchange leaves behind; `step` is done by whoever may write."""

    def __init__(self, ledger: Ledger, config: Config, step: Callable[[Step], dict[str, Any]]) -> None:
        super().__init__(ledger, redactor(config), config.settings.peers)
        self.step = step

    def insert(self, records: Sequence[Record], sender: str) -> Inserted:
        return self._bring("take", records, sender)

    def insert_early(self, records: Sequence[Record], sender: str) -> Inserted:
        return self._bring("early", records, sender)

    def _bring(self, what: str, records: Sequence[Record], sender: str) -> Inserted:
        lines = "\n".join(cleaned("door-question", encode(each), self._redactor).decode() for each in records)
        try:
            done = self.step(msgspec.convert({"do": what, "peer": sender, "lines": lines}, Step))
        except AfterwordError as err:
            raise Refused(err.message, err.hint) from err
        self.stones += done.pop("stones")
        inserted = msgspec.convert(done, Inserted)
        self.news += inserted.new + inserted.filled
        return inserted

    def begin(self) -> None:
        """Before anything is said: see to it that the two know which one compiles when they part."""
        if not compile_on.runs_on(self._ledger):
            self.step(Step("begin"))

    def hold(self, peer: str) -> None:
        self.step(Step("hold", peer=peer))

    def reborn(self, known: int) -> str:
        return str(self.step(Step("reborn", known=known))["origin"])


@contextlib.contextmanager
def opened(config: Config, env: Mapping[str, str], command: str, telling: Telling) -> Iterator[Log]:
    """The log to exchange by: through the running daemon, or with the writer's lock.

    Raises:
        Busy: another command writes.
    """
    state = config.places.state
    if client.door(state) is not None:
        ledger = open_reader(state)
        try:
            yield Log(ledger, config, lambda step: _by_door(state, step))
        finally:
            ledger.close()
        return
    # Half a second: with a daemon nothing of it is needed.
    from afterword.app import sync_steps  # noqa: PLC0415
    from afterword.app.program import writer  # noqa: PLC0415

    with writer(config, env, command, telling=telling) as program:

        def step(given: Step) -> dict[str, Any]:
            with telling() as tell:
                done = sync_steps.do(program, given, tell)
            if given.do == "done" and sync_steps.unseen(program):
                _whole(program, telling)
                sync_steps.seen(program)
            return done

        yield _Own(program, config, step)


class _Own(Log):
    """The same in the process that holds the lock: records need not be written down in between."""

    def __init__(self, program: "Program", config: Config, step: Callable[[Step], dict[str, Any]]) -> None:
        super().__init__(program.ledger, config, step)
        self._redactor = program.redactor

    def insert(self, records: Sequence[Record], sender: str) -> Inserted:
        return LedgerLog.insert(self, records, sender)

    def insert_early(self, records: Sequence[Record], sender: str) -> Inserted:
        return LedgerLog.insert_early(self, records, sender)


def _whole(program: "Program", telling: Telling) -> None:
    """Without a daemon what came is put into the vault and the index at once."""
    from afterword.app import passes  # noqa: PLC0415

    with telling() as tell:
        program.write_up(on_progress=lambda what, done, all_: tell("Writing", "sections", done, all_, what))
        if program.compiling.owed():
            program.compiling.render()
        if program.lessons.owed():
            program.lessons.render()
        passes.catch_up(program, tell, lambda: False)


def _by_door(state: Path, step: Step) -> dict[str, Any]:
    said = client.ask_door(state, "/v1/sync", msgspec.to_builtins(step), timeout_s=_STEP_S, clean=False)
    if said is None:
        raise TransientError("the daemon went away in the midst of it", "try again")
    return {name: value for name, value in said.items() if name != "version"}


def settled(config: Config) -> None:
    """Raise NotSetUp where nothing was taken in yet and there is no vault."""
    if config.vault is None and not (config.places.state / FILE).exists():
        raise NotSetUp("afterword is not set up on this machine", "run `afterword up` here once")


def peer_of(config: Config, name: str) -> tuple[str, Peer]:
    """(name, peer) of a machine of the settings, by its name there or its host; else one that ssh knows."""
    peers = config.settings.peers
    if name in peers:
        return name, peers[name]
    by_host = [(key, peer) for key, peer in peers.items() if peer.host == name]
    return by_host[0] if len(by_host) == 1 else ("", Peer(host=name))


def with_host(
    config: Config,
    env: Mapping[str, str],
    name: str,
    telling: Telling,
    *,
    accept_new: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Exchange with a machine over SSH; the fields of `sync HOST --json`.

    Raises:
        SyncFailed, SyncLater: it came to no end; nothing half is left behind.
        Busy: another command writes.
    """
    from afterword_sync.remote import Peer as Host  # noqa: PLC0415
    from afterword_sync.remote import exchange_with  # noqa: PLC0415

    key, peer = peer_of(config, name)
    host = Host(host=peer.host or key or name, command=peer.command or None, accept_new=accept_new)
    with opened(config, env, "sync", telling) as log, telling() as tell:
        try:
            if not dry_run:
                log.begin()
            done = exchange_with(host, log, program=PROGRAM, progress=_progress(tell), dry_run=dry_run, environment=env)
        except errors.SyncError as err:
            if not dry_run:
                problem = f"{err.reason}; {err.hint}" if err.hint else err.reason
                peer_id = err.done.peer if err.done else ""
                log.step(Step("tried", peer=peer_id, name=key, problem=problem))
                if log.news or log.stones:
                    log.step(Step("done"))
            raise _words(err) from err
        if not dry_run:
            _end(log, done, key)
        return {"peers": _moved(key or name, done), "dry_run": dry_run, "withheld": _held(log, done.peer)}


def _held(log: Log, origin: str) -> int:
    return len(holds.held(log.ledger, origin)) if origin else 0


def _end(log: Log, done: Exchanged, name: str) -> None:
    log.step(Step("done", peer=done.peer, name=name, vector=dict(log.vector())))


def answer(config: Config, env: Mapping[str, str], telling: Telling) -> None:
    """Be the other end of somebody's `sync`, over standard input and output.

    Raises:
        SyncFailed, SyncLater, Busy, NotSetUp: it came to no end.
    """
    from afterword_sync.channel import standard_streams  # noqa: PLC0415
    from afterword_sync.conversation import serve  # noqa: PLC0415

    settled(config)
    with contextlib.closing(standard_streams()) as channel, opened(config, env, "sync serve", telling) as log:
        log.begin()
        try:
            done = serve(channel, log, program=PROGRAM)
        except errors.SyncError as err:
            if log.news or log.stones:
                log.step(Step("done"))
            raise _words(err) from err
        _end(log, done, "")


def export(config: Config, env: Mapping[str, str], folder: Path, telling: Telling) -> dict[str, Any]:
    """Bring a folder of batches up to the ledger; the fields of `sync export --json`."""
    with opened(config, env, "sync export", telling) as log, telling() as tell:
        log.begin()
        # Before anything is there, so that `forget` never misses it.
        log.step(Step("exported", folder=str(folder.absolute())))
        done: Exported = export_folder(folder, log, _progress(tell))
        return {"peers": [_peer(DIR, Way.OUT, done.origins, ())], "written": done.written, "removed": done.removed}


def take(config: Config, env: Mapping[str, str], folder: Path, telling: Telling) -> dict[str, Any]:
    """Take in a folder of batches, as far as it goes; the fields of `sync import --json`.

    Raises:
        UsageError: there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", "name the folder that `afterword sync export` wrote")
    with opened(config, env, "sync import", telling) as log:
        with telling() as tell:
            log.begin()
            done: Imported = import_folder(folder, log, _progress(tell))
        log.step(Step("done"))
        return {"peers": [_peer(DIR, Way.IN, done.origins, done.pending)], "left": list(done.left)}


def _progress(tell: "Tell") -> Progress:
    words = {Way.IN: "Receiving", Way.OUT: "Sending"}
    return lambda step: tell(words[step.way], "records", step.done, step.total, "records")


def _words(err: errors.SyncError) -> AfterwordError:
    return (SyncLater if err.transient else SyncFailed)(err.reason, err.hint)


def _moved(name: str, done: Exchanged) -> list[dict[str, Any]]:
    return [_peer(name, Way.OUT, done.sent, ()), _peer(name, Way.IN, done.received, ())]


def _peer(name: str, way: Way, moved: Sequence[Moved], pending: Sequence[Pending]) -> dict[str, Any]:
    return {
        "peer": name,
        "direction": way.value,
        "origins": [msgspec.to_builtins(each) for each in moved],
        "pending": [msgspec.to_builtins(each) for each in pending],
    }
