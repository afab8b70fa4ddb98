"""The keys that are offered, in the order in which `ssh` would: those named, out of the agent first, then the rest."""

import binascii
import contextlib
import socket
from base64 import b64decode
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from paramiko import Message, PasswordRequiredException, PKey, SSHException
from paramiko.agent import AgentKey, AgentSSH
from paramiko.pkey import UnknownKeyType

from afterword_sync.ssh_config import Target

_AGENT_S = 60.0  # somebody may have to touch a key
_MOST_KEY_BYTES = 65536
_KINDS = ("ssh-rsa", "ssh-ed25519", "ecdsa-sha2-")  # and their certificates; paramiko signs with no other kind


class Reason(StrEnum):
    """Why a key cannot be used."""

    LOCKED = "it has a passphrase and is not in the agent"
    OPEN = "others may read it"
    UNREADABLE = "it cannot be read"
    KIND = "keys of this kind cannot be used here"


class Offer(msgspec.Struct, frozen=True):
    """A key to try, and how to name it to people."""

    key: PKey
    shown: str


class Agent(AgentSSH):
    """A conversation with an `ssh-agent`; without one, an agent without keys."""

    def __init__(self, place: str | None) -> None:
        super().__init__()
        if place is None:
            return
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(_AGENT_S)
            connection.connect(place)
            self._connect(connection)  # type: ignore[attr-defined] # what its own subclasses use
        except (OSError, SSHException):
            connection.close()  # as with ssh: an agent that is not there is no reason to stop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()  # type: ignore[attr-defined]


class Keys:
    """What can be offered to a machine. `unusable` fills with the keys that cannot be used, as people call them."""

    def __init__(self, target: Target, agent: Agent) -> None:
        self._target = target
        self._agent = agent
        self.unusable: list[tuple[str, Reason]] = []

    def offers(self) -> Iterator[Offer]:
        """Each key once. Files are read when it is their turn."""
        in_agent: dict[bytes, AgentKey] = {}
        for key in self._agent.get_keys():
            if key.get_name().startswith(_KINDS):
                in_agent[key.asbytes()] = key
            else:
                self.unusable.append((_called(key), Reason.KIND))
        named: dict[Path, bytes | None] = {}
        for file in self._target.identity_files:
            if file.is_file():
                named.setdefault(file, _public(file))
        for blob in named.values():
            if blob is not None and (named_key := in_agent.pop(blob, None)) is not None:
                yield Offer(named_key, _called(named_key))
        offered = {blob for blob in named.values() if blob is not None}
        if not self._target.identities_only:
            for key in in_agent.values():
                yield Offer(key, _called(key))
        here = {key.asbytes() for key in self._agent.get_keys()} & offered
        for file, blob in named.items():
            if blob in here or _is_public(file):
                continue
            found = self._read(file)
            if found is not None:
                yield Offer(found, str(file))

    def _read(self, file: Path) -> PKey | None:
        try:
            if file.stat().st_mode & 0o077:
                self.unusable.append((str(file), Reason.OPEN))
                return None
            key: PKey = PKey.from_path(file)
        except (TypeError, PasswordRequiredException):
            self.unusable.append((str(file), Reason.LOCKED))
        except (OSError, ValueError, SSHException, UnknownKeyType, UnsupportedAlgorithm):
            self.unusable.append((str(file), Reason.UNREADABLE))
        else:
            return key
        return None


def _called(key: AgentKey) -> str:
    return f"{key.comment or key.get_name()} (agent)"


def _public(file: Path) -> bytes | None:
    """The public half, from beside the file or out of its unencrypted head, or None."""
    for place in (file, file.with_name(file.name + ".pub")):
        with contextlib.suppress(OSError, ValueError, IndexError, binascii.Error):
            text = place.read_text(encoding="ascii")[:_MOST_KEY_BYTES]
            if not text.startswith("-----"):
                return b64decode(text.split()[1], validate=True)
            if "OPENSSH PRIVATE KEY" in text.splitlines()[0]:
                return _head(b64decode("".join(text.splitlines()[1:-1])))
    return None


def _head(private: bytes) -> bytes | None:
    magic = b"openssh-key-v1\0"
    if not private.startswith(magic):
        return None
    message = Message(private[len(magic) :])
    for _ in range(3):  # cipher, kdf, its options
        message.get_binary()
    return message.get_binary() if message.get_int() == 1 else None


def _is_public(file: Path) -> bool:
    with contextlib.suppress(OSError):
        return not file.read_bytes()[:_MOST_KEY_BYTES].lstrip().startswith(b"-----")
    return False
