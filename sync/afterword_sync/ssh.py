"""A connection to a machine as the user's own `ssh` would make it, by paramiko: through jumps, with checked host keys.

Nothing is asked of anybody: no password, no "are you sure". What would need an answer ends with the sentence that
says what to do.
"""

import contextlib
import logging
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import msgspec
from paramiko import AuthenticationException, BadAuthenticationType, Channel, SSHException, Transport

from afterword_sync.errors import AuthFailed, HostKeyRefused, LinkBroken, SyncError, Unreachable, plain
from afterword_sync.known_hosts import Key, Known, Standing, add, known
from afterword_sync.ssh_config import Target, target
from afterword_sync.ssh_keys import Agent, Keys, Reason

_LOG = "afterword_sync.paramiko"
_MOST_JUMPS = 8
_KEEPALIVE_S = 15
_WRITE_BYTES = 32768

STATUS_S = 3.0
"""How long the exit code of a command that has ended its output is waited for."""

# Faster than the default ones, and none that is weak.
_CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr")
_DIGESTS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512")
_KINDS_OF = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}


class Trust(msgspec.Struct, frozen=True):
    """What is done about keys of machines. `accept_new`: one that nobody knows is remembered, never a changed one."""

    accept_new: bool = False


class Connection:
    """An open connection; use as a context manager. Owns the connections it goes through, and a proxy command."""

    def __init__(self, name: str, environment: Mapping[str, str], trust: Trust) -> None:
        self._environment = environment
        self._trust = trust
        self._close = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            undo.callback(self._close.close)
            self.target = target(name, environment)
            self._transport = self._reach(self.target, 0)
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close.close()

    def session(self) -> Channel:
        """A channel in which a command can be run. Raises `LinkBroken` when the machine gives none."""
        try:
            return self._transport.open_session(timeout=self.target.connect_timeout_s)
        except (SSHException, OSError, EOFError) as err:
            raise LinkBroken(f"{self.target.name} opens no session") from err

    # ---- the way there -----------------------------------------------------------------------------------------------

    def _reach(self, to: Target, depth: int) -> Transport:
        if depth > _MOST_JUMPS:
            raise SyncError(f"{to.name} is reached through too many machines", "look for a circle in ~/.ssh/config")
        if to.jumps:
            *before, last = to.jumps
            through = target(last, self._environment)
            if before:
                # As with ssh: of the machines on the way only the first one's own way counts.
                through = msgspec.structs.replace(through, jumps=tuple(before), proxy_command=None)
            return self._talk(to, self._forwarded(to, self._reach(through, depth + 1)))
        if to.proxy_command is not None:
            return self._talk(to, self._proxied(to.proxy_command))
        try:
            plug = socket.create_connection((to.host, to.port), timeout=to.connect_timeout_s)
        except socket.gaierror as err:
            raise Unreachable(
                f"{to.name}: no machine is called {to.host}", "is it on this network? is the name right?"
            ) from err
        except TimeoutError as err:
            raise Unreachable(
                f"{to.name} did not answer within {to.connect_timeout_s:g} s", "asleep, or on another network?"
            ) from err
        except ConnectionRefusedError as err:
            raise Unreachable(
                f"{to.name} answers, but nothing listens at port {to.port}",
                "turn on its SSH server (macOS: Settings, General, Sharing, Remote Login)",
            ) from err
        except OSError as err:
            raise Unreachable(f"{to.name} cannot be reached: {err.strerror or 'no way there'}") from err
        self._close.callback(plug.close)
        return self._talk(to, plug)

    def _forwarded(self, to: Target, through: Transport) -> Channel:
        try:
            channel = through.open_channel(
                "direct-tcpip", (to.host, to.port), ("127.0.0.1", 0), timeout=to.connect_timeout_s
            )
        except (SSHException, OSError, EOFError) as err:
            raise Unreachable(
                f"{to.name} cannot be reached through {', '.join(to.jumps)}", "try: ssh " + to.name
            ) from err
        self._close.callback(channel.close)
        return channel

    def _proxied(self, command: str) -> socket.socket:
        ours, its = socket.socketpair()
        self._close.callback(ours.close)
        with its:
            process = subprocess.Popen(  # noqa: S602 - a line of the user's own configuration, as ssh runs it
                f"exec {command}",
                shell=True,
                stdin=its.fileno(),
                stdout=its.fileno(),
                stderr=subprocess.DEVNULL,
                env=dict(self._environment),
                start_new_session=True,
            )
        self._close.callback(_end, process)
        return ours

    # ---- what is said first ------------------------------------------------------------------------------------------

    def _talk(self, to: Target, plug: socket.socket | Channel) -> Transport:
        """Agree on keys with whoever is at the other end, find out that it is `to`, and be let in."""
        known_keys = known(to.known_as, (*to.known_hosts, *to.system_known_hosts))
        try:
            transport = Transport(plug)
        except (SSHException, OSError, EOFError) as err:
            raise Unreachable(f"{to.name} cannot be reached") from err
        transport.daemon = True
        self._close.callback(_close, transport)
        transport.set_log_channel(_LOG)
        logging.getLogger(_LOG).setLevel(logging.CRITICAL + 1)  # what goes wrong is raised, in our words
        transport.banner_timeout = transport.handshake_timeout = to.connect_timeout_s
        transport.set_keepalive(_KEEPALIVE_S)
        _prefer(transport, known_keys)
        try:
            transport.start_client(timeout=to.connect_timeout_s)
            shown = transport.get_remote_server_key()
        except (SSHException, OSError, EOFError) as err:
            raise Unreachable(f"{to.name} does not speak SSH with us", f"try: ssh {to.name}") from err
        self._check(to, Key(shown.get_name(), shown.asbytes()), known_keys)
        self._enter(to, transport)
        return transport

    def _check(self, to: Target, shown: Key, keys: Known) -> None:
        what = f"{shown.kind} {shown.fingerprint}"
        match keys.standing(shown):
            case Standing.KNOWN:
                return
            case Standing.REVOKED:
                raise HostKeyRefused(
                    f"{to.name} ({to.known_as}) shows a key that is revoked in your known_hosts: {what}",
                    "whoever answers there is not to be trusted; ask who looks after that machine",
                )
            case Standing.CHANGED:
                raise HostKeyRefused(
                    f"{to.name} ({to.known_as}) shows another key than the one known by {keys.where}: {what}",
                    "if the machine was set up again, compare the fingerprint there (ssh-keygen -lf "
                    f"/etc/ssh/ssh_host_ed25519_key.pub) and then: ssh-keygen -R '{to.known_as}'",
                )
            case Standing.UNKNOWN if self._trust.accept_new and to.known_hosts:
                add(to.known_as, shown, to.known_hosts[0], hashed=to.hash_known_hosts)
            case Standing.UNKNOWN:
                raise HostKeyRefused(
                    f"{to.name} ({to.known_as}) is not known yet; it shows the key {what}",
                    "compare the fingerprint there (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then run "
                    f"`ssh {to.name}` once, or the same again with --accept-new",
                )

    def _enter(self, to: Target, transport: Transport) -> None:
        offered: list[str] = []
        with Agent(to.agent) as agent:
            keys = Keys(to, agent)
            for offer in keys.offers():
                offered.append(offer.shown)
                try:
                    more = transport.auth_publickey(to.user, offer.key)
                except BadAuthenticationType as err:
                    raise AuthFailed(
                        f"{to.name} lets nobody in with a key", "allow it there: PubkeyAuthentication yes"
                    ) from err
                except AuthenticationException:
                    continue
                except (SSHException, OSError, EOFError) as err:
                    if transport.is_active():
                        continue  # this key cannot be used, the next one may
                    raise AuthFailed(
                        f"{to.name} hung up after {len(offered)} keys: {_listed(offered)}",
                        "say which one it is to be: IdentityFile and IdentitiesOnly yes in ~/.ssh/config",
                    ) from err
                if more:
                    raise AuthFailed(f"{to.name} also wants: {plain(', '.join(more))}", "a key alone has to be enough")
                return
        raise _not_let_in(to, offered, keys)


def _not_let_in(to: Target, offered: list[str], keys: Keys) -> AuthFailed:
    tried = f"with none of these keys: {_listed(offered)}" if offered else "without a key, and there is none to offer"
    reason = f"{to.name} does not let {to.user} in {tried}"
    if keys.unusable:
        reason += f" (not used: {'; '.join(f'{plain(key, 200)}: {why}' for key, why in keys.unusable)})"
    for key, why in keys.unusable:
        if why is Reason.LOCKED:
            return AuthFailed(reason, f"unlock it for this session: ssh-add {key}")
        if why is Reason.OPEN:
            return AuthFailed(reason, f"chmod 600 {key}")
    return AuthFailed(reason, f"once `ssh {to.name}` works without a question, this does: ssh-copy-id {to.name}")


def _listed(offered: list[str]) -> str:
    return ", ".join(plain(shown, 200) for shown in offered[:6]) + (", …" if len(offered) > 6 else "")


def _prefer(transport: Transport, keys: Known) -> None:
    """Ask for the kind of key that is known first: a machine has several, and another one would look changed."""
    options = transport.get_security_options()
    options.ciphers = [name for name in _CIPHERS if name in options.ciphers]
    options.digests = [name for name in _DIGESTS if name in options.digests]
    wanted = [name for key in keys.keys for name in _KINDS_OF.get(key.kind, (key.kind,))]
    first = [name for name in options.key_types if name in wanted]
    options.key_types = [*first, *(name for name in options.key_types if name not in first)]


def _close(transport: Transport) -> None:
    transport.close()
    transport.join(5)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Session:
    """A command's streams as a `Channel` of ours."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._at_end = False

    def read(self, size: int, timeout_s: float) -> bytes:
        """As `channel.Channel.read`."""
        self._channel.settimeout(timeout_s)
        data = self._channel.recv(size)
        self._at_end = not data
        return data

    def write(self, data: bytes, timeout_s: float) -> None:
        """As `channel.Channel.write`."""
        self._channel.settimeout(timeout_s)
        rest = memoryview(data)
        while rest:
            sent = self._channel.send(bytes(rest[:_WRITE_BYTES]))
            if sent == 0:
                raise BrokenPipeError
            rest = rest[sent:]

    def close(self) -> None:
        """As `channel.Channel.close`. The command's exit code comes after its output, and to an open channel only."""
        if self._at_end:
            self._channel.status_event.wait(STATUS_S)
        self._channel.close()
