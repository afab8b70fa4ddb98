"""When the daemon exchanges with which machine. The talking is done by a process of its own, which asks the daemon to
write what comes: a network that hangs, and all that it takes to speak SSH, stay out of this one.
"""

import contextlib
import logging
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from afterword.app import sync_holds, sync_status
from afterword.app.program import Program

_log = logging.getLogger(__name__)

_LOOK_S: Final = 1.0
"""While a process talks, how often it is asked whether it has done."""
_END_S: Final = 5.0


class Peers:
    """Belongs to the loop's thread. One machine at a time; one that does not answer costs a line and waits longer."""

    def __init__(self, program: Program, env: Mapping[str, str]) -> None:
        self._program = program
        self._env = dict(env)
        self._name = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._missed: dict[str, int] = {}
        """Machines of which a process ended without a word, and when."""
        self._wanted: dict[str, None] = {}
        """Machines that somebody wants an exchange with now, whatever their `every` says."""

    @property
    def pause_s(self) -> float:
        """In how long the next turn is due."""
        if self._process is not None:
            return _LOOK_S
        due = [at_us for _, at_us in self._due()]
        return max(0.0, (min(due) - self._program.clock()) / 1e6) if due else float("inf")

    def ask_now(self) -> list[str]:
        """Have an exchange with every machine of the settings at the next turn; called by other threads, too."""
        names = list(self._program.config.settings.peers)
        self._wanted.update(dict.fromkeys(names))
        return names

    def turn(self) -> None:
        """Begin what is due, and see whether what was begun has ended."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            self._ended(code)
        now_us = self._program.clock()
        due = sorted((at_us, name) for name, at_us in self._due() if at_us <= now_us)
        if due:
            self._begin(due[0][1])

    def _due(self) -> list[tuple[str, int]]:
        found = []
        for name, peer in self._program.config.settings.peers.items():
            if name in self._wanted:
                found.append((name, 0))
                continue
            met = sync_holds.met(self._program.ledger, name)
            at_us = sync_status.next_try_us(peer, met)
            if at_us is not None:
                found.append((name, max(at_us, self._missed.get(name, 0))))
        return found

    def _begin(self, name: str) -> None:
        self._wanted.pop(name, None)
        words = [sys.executable, "-P", "-m", "afterword", "sync", name, "--config"]
        file = self._program.config.places.config_file
        try:
            self._process = subprocess.Popen(
                [*words, str(file)] if file.exists() else words[:-1],
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as err:
            _log.info("an exchange could not be begun: %s", err, extra={"peer": name})
            self._miss(name)
            return
        self._name = name

    def _ended(self, code: int) -> None:
        self._process = None
        if code != 0:
            met = sync_holds.met(self._program.ledger, self._name)
            _log.info("no exchange: %s", met.problem or f"exit code {code}", extra={"peer": self._name})
            self._miss(self._name)

    def _miss(self, name: str) -> None:
        """Whatever it was, and whether or not it could still say so: not again at once."""
        self._missed[name] = self._program.clock() + 60_000_000

    def close(self) -> None:
        """End what is under way: it is taken up by the next exchange where it was."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        self._process = None
