"""`afterword sync serve` on another machine: found, started, talked with; and when it does not run, why."""

import os
import shlex
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from afterword_sync.conversation import exchange
from afterword_sync.errors import LinkBroken, NeverGreeted, RemoteFailed, plain
from afterword_sync.link import Deadlines
from afterword_sync.log import Log
from afterword_sync.report import Exchanged, Progress, silent

if TYPE_CHECKING:
    from paramiko import Channel

WORDS = "sync serve"
_NOT_FOUND = "afterword-sync: not found"
_PLACES = (
    "afterword",
    '"$HOME/.local/bin/afterword"',
    "/opt/homebrew/bin/afterword",
    "/usr/local/bin/afterword",
    "/home/linuxbrew/.linuxbrew/bin/afterword",
)
_TAIL_BYTES = 4096
_NOT_SET_UP = 4


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A machine to exchange with. `host` as one would give it to ssh; `command` where afterword is there, if said."""

    host: str
    command: str | None = None
    accept_new: bool = False


def exchange_with(
    peer: Peer,
    log: Log,
    *,
    program: str = "",
    progress: Progress = silent,
    deadlines: Deadlines | None = None,
    dry_run: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Exchanged:
    """Exchange with this machine over one SSH connection, closed afterwards. HOME in `environment` says whose `.ssh`.

    Raises:
        Unreachable: nobody there; later it may be.
        HostKeyRefused, AuthFailed, RemoteFailed: somebody has to do what the hint says.
        SyncError: as `exchange`, and for a name or configuration that cannot be.
    """
    from afterword_sync.ssh import Connection, Session, Trust  # noqa: PLC0415 - paramiko takes a third of a second

    with Connection(peer.host, environment or os.environ, Trust(accept_new=peer.accept_new)) as connection:
        channel = connection.session()
        said = _Said(channel, remote_command(peer.command))
        try:
            return exchange(
                Session(channel), log, program=program, progress=progress, deadlines=deadlines, dry_run=dry_run
            )
        except NeverGreeted as err:
            raise said.why(peer.host, err) from err
        finally:
            said.end()


def remote_command(command: str | None) -> str:
    """What is run there, for any login shell: a named program, or the first place where afterword is found."""
    if command is not None:
        named = command if command.rstrip().endswith(WORDS) else f"{command} {WORDS}"
        return f"/bin/sh -c {shlex.quote('exec ' + named)}"
    found = f'for each in {" ".join(_PLACES)}; do command -v "$each" >/dev/null 2>&1 && exec "$each" {WORDS}; done'
    return f"/bin/sh -c {shlex.quote(f'{found}; echo {shlex.quote(_NOT_FOUND)} >&2; exit 127')}"


class _Said:
    """What the command prints on standard error, read on so that it never waits for us; the end of it is kept."""

    def __init__(self, channel: "Channel", command: str) -> None:
        self._channel = channel
        self._tail = b""
        channel.exec_command(command)
        self._reader = threading.Thread(target=self._read_on, name="afterword-sync-stderr", daemon=True)
        self._reader.start()

    def end(self) -> None:
        """After the channel is closed."""
        self._channel.close()
        self._reader.join()

    def why(self, host: str, err: LinkBroken) -> RemoteFailed | LinkBroken:
        """Why afterword never said anything there."""
        status = self._channel.recv_exit_status() if self._channel.status_event.is_set() else -1
        self._reader.join()  # the channel is closed
        text = self._tail.decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        last = plain(lines[-1], 200) if lines else ""
        said = f": {last}" if last else ""
        if _NOT_FOUND in text or status == 127:
            looked = "on PATH, in ~/.local/bin and where Homebrew puts it"
            return RemoteFailed(
                f"afterword is not found on {host}" + (f" (looked {looked})" if _NOT_FOUND in text else said),
                'install it there, or say where it is: [peers.NAME] command = "/path/to/afterword"',
            )
        if status == 126:
            return RemoteFailed(
                f"afterword cannot be run on {host}{said}", "see what `ssh HOST afterword version` says"
            )
        if status == 2 and "sync" in text:
            return RemoteFailed(f"the afterword on {host} is too old to exchange", f"upgrade afterword on {host}")
        if status == _NOT_SET_UP:
            return RemoteFailed(
                f"afterword on {host} is not set up yet{said}", f"run there: ssh {host} afterword init VAULT"
            )
        if status < 0:  # it did not end by itself
            return NeverGreeted(f"{host}: {err.reason}{said}")
        return RemoteFailed(
            f"{host} ended the session (exit code {status}) before afterword said anything{said}",
            f"see what this says: ssh {host} afterword sync serve </dev/null",
        )

    def _read_on(self) -> None:
        while True:
            try:
                data = self._channel.recv_stderr(65536)
            except TimeoutError:
                if self._channel.closed:
                    return
                continue
            except OSError:
                return
            if not data:
                return
            self._tail = (self._tail + data)[-_TAIL_BYTES:]
