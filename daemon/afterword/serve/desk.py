"""What reaches the daemon besides the stores: callers at the door, their jobs, what hooks spooled."""

import logging
import sqlite3
from collections.abc import Callable, Mapping

from afterword.app.program import Program
from afterword.app.searching import Searcher
from afterword.domain.errors import AfterwordError
from afterword.serve.door import Door
from afterword.serve.hand import Hand
from afterword.serve.jobs import Lines, Runner
from afterword.serve.notify import Notifier
from afterword.serve.peers import Peers
from afterword.serve.room import Room
from afterword.store import spool
from afterword.store.files import private_folder

_log = logging.getLogger(__name__)


class Desk:
    """Belongs to the loop's thread. A door that cannot open, or breaks, stops no capture."""

    def __init__(
        self, program: Program, env: Mapping[str, str], wake: Callable[[], None], stop: Callable[[], bool]
    ) -> None:
        self._program = program
        self._env = env
        self._wake = wake
        self._lines = Lines()
        self._runner = Runner(program, self._lines, stop)
        self._notifier = Notifier(env)
        self._door: Door | None = None
        self._searcher = Searcher(program.config, env, program.index.embedder)
        self._seen: set[str] = set()
        self._hand = Hand(wake)
        self._peers = Peers(program, env)
        self.spool = program.config.places.state / spool.FOLDER

    def open(self) -> None:
        """Take up what the last daemon left, open the door, and say so to the service manager."""
        private_folder(self.spool)
        try:
            self._runner.recover()
        except (OSError, sqlite3.Error, AfterwordError) as err:
            _log.error("jobs of the last run could not be taken up: %s", err)
        program = self._program
        room = Room(
            program.config,
            self._env,
            program.clock,
            program.redactor,
            self._lines,
            self._searcher,
            self._wake,
            self._hand,
            self._peers.ask_now,
        )
        try:
            self._door = Door(room)
        except OSError as err:
            _log.error("the door could not be opened, so no other command can ask this daemon: %s", err)
        self._notifier.ready("watching")

    def turn(self) -> bool:
        """Do the next job; whether there is more to do at once: another job, or what a hook said."""
        self._notifier.alive()
        worked = self._hand.turn(self._program)
        self._peers.turn()
        worked |= self._runner.step()
        now = spool.names(self._program.config.places.state)
        fresh = bool(now - self._seen)
        self._seen = now
        return worked or fresh

    def answered(self) -> None:
        """A model answered: jobs that wait for one go on."""
        self._runner.answered()

    def alive(self) -> None:
        """A sign of life in the midst of a long step."""
        self._notifier.alive()

    @property
    def pause_s(self) -> float:
        """The loop turns at least so often."""
        return min(self._notifier.pause_s or float("inf"), self._peers.pause_s)

    def close(self) -> None:
        self._notifier.stopping()
        self._peers.close()
        self._hand.close()
        self._lines.close()
        if self._door is not None:
            self._door.close()
            self._door = None
        self._searcher.close()
