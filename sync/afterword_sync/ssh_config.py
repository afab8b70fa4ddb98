"""What the user's own `ssh HOST` would do: host, port, user, keys, jumps, as the configuration says.

`ssh -G` knows it best, with `Include`, `Match` and everything else; where there is no `ssh`, paramiko's reader does it,
for as much as it understands.
"""

import getpass
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from afterword_sync.errors import SyncError

_NAME = re.compile(r"[A-Za-z0-9_.:%@\[\]-]{1,255}")
_KEYS = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk")
_ASK_S = 20
_MOST_INCLUDES = 16
_OFF = ("none", "/dev/null")

Options = Mapping[str, list[str]]
"""Keywords in lower case, each with its values."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """How one machine is reached. Paths are absolute."""

    name: str  # as the user calls it
    host: str
    port: int
    user: str
    identity_files: tuple[Path, ...]
    identities_only: bool
    agent: str | None  # the socket of the agent, None without one
    jumps: tuple[str, ...]  # [user@]host[:port], the first one first
    proxy_command: str | None
    alias: str | None  # under which its key is known
    known_hosts: tuple[Path, ...]  # the user's; a new key goes into the first one
    system_known_hosts: tuple[Path, ...]
    hash_known_hosts: bool
    connect_timeout_s: float

    @property
    def known_as(self) -> str:
        """The name in `known_hosts`."""
        if self.alias is not None:
            return self.alias
        return self.host if self.port == 22 else f"[{self.host}]:{self.port}"


def target(name: str, environment: Mapping[str, str], *, ask_ssh: bool = True) -> Target:
    """How `ssh NAME` would go; `name` is `[user@]host[:port]`, a host or an alias. HOME of `environment` counts.

    Raises:
        SyncError: the name cannot be one, or the configuration cannot be read.
    """
    user, host, port = _split(name)
    home = Path(environment.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)
    ssh = shutil.which("ssh", path=environment.get("PATH")) if ask_ssh else None
    options = _asked(ssh, host, home, environment) if ssh else _read(host, home)
    return _target(name, user, host, port, options, home, environment)


def _split(name: str) -> tuple[str | None, str, int | None]:
    user, at, rest = name.rpartition("@")
    host, port = rest, None
    bracketed = re.fullmatch(r"\[([^\[\]]+)\](?::(\d+))?", rest)
    if bracketed:
        host, port = bracketed[1], bracketed[2]
    elif rest.count(":") == 1:
        host, port = rest.split(":")
    good = _NAME.fullmatch(name) and host and not host.startswith("-") and not user.startswith("-")
    if not good or (at and not user) or (port is not None and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise SyncError(
            f"{name!r} is not the name of a machine", "give it as you would give it to ssh: host or user@host"
        )
    return user or None, host, int(port) if port is not None else None


# ---- from ssh --------------------------------------------------------------------------------------------------------


def _asked(ssh: str, host: str, home: Path, environment: Mapping[str, str]) -> Options:
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    # ssh takes the home from the list of users, whatever HOME says.
    config = home / ".ssh/config"
    elsewhere = [] if home == own else ["-F", str(config) if config.exists() else os.devnull]
    try:
        asked = subprocess.run(
            [ssh, *elsewhere, "-G", "--", host],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env=dict(environment),
        )
    except subprocess.TimeoutExpired as err:
        raise SyncError(f"ssh did not say within {_ASK_S} s how {host} is reached", f"try: ssh -G {host}") from err
    if asked.returncode != 0:
        raise SyncError(f"the configuration of ssh cannot be read, see: ssh -G {host}", "correct ~/.ssh/config")
    options: dict[str, list[str]] = {}
    for line in asked.stdout.splitlines():
        key, _, value = line.partition(" ")
        if key == "userknownhostsfile" and elsewhere:
            value = " ".join(word.replace(f"{own}/", f"{home}/", 1) for word in value.split())
        options.setdefault(key.lower(), []).append(value)
    return options


# ---- without ssh -----------------------------------------------------------------------------------------------------


def _read(host: str, home: Path) -> Options:
    from paramiko import SSHConfig, SSHException  # noqa: PLC0415 - takes a third of a second

    lines: list[str] = []
    for config in (home / ".ssh/config", Path("/etc/ssh/ssh_config")):
        if config.exists():
            # Each file begins without a host, whatever block the one before ended in.
            lines += ["Host *", *_lines(config, home, "Host *", 0)]
    try:
        found = SSHConfig.from_text("\n".join(lines)).lookup(host)
    except (SSHException, ValueError) as err:
        raise SyncError("~/.ssh/config cannot be read", "correct it; `ssh -G HOST` tells where it is wrong") from err
    return {key: value if isinstance(value, list) else [value] for key, value in found.items() if value is not None}


def _lines(config: Path, home: Path, block: str, depth: int) -> Iterator[str]:
    """The lines of a file, with the files it includes in their place."""
    if depth > _MOST_INCLUDES:
        raise SyncError("~/.ssh/config includes itself", "correct it")
    for raw in config.read_text(encoding="utf-8", errors="replace").splitlines():
        line = raw.strip()
        words = line.replace("=", " ", 1).split()
        keyword = words[0].lower() if words else ""
        if keyword in ("host", "match"):
            block = line
        if keyword != "include":
            # paramiko would take the home from elsewhere than we do.
            yield line.replace("~/", f"{home}/", 1) if keyword == "identityfile" else line
            continue
        for pattern in words[1:]:
            path = _expanded(pattern.strip('"'), {}, home)
            for file in sorted(path.parent.glob(path.name) if path.is_absolute() else (home / ".ssh").glob(str(path))):
                if file.is_file():
                    yield from _lines(file, home, block, depth + 1)
        yield block  # what follows belongs to the block that the line stands in


# ---- both ------------------------------------------------------------------------------------------------------------


def _target(
    name: str,
    user: str | None,
    given: str,
    port: int | None,
    options: Options,
    home: Path,
    environment: Mapping[str, str],
) -> Target:
    def one(key: str) -> str | None:
        value = options.get(key, [""])[0].strip()
        return value or None

    host = one("hostname") or given
    user = user or one("user") or getpass.getuser()
    port = port or _number(one("port"), 22)
    alias = one("hostkeyalias")
    tokens = {
        "h": host,
        "n": given,
        "p": str(port),
        "r": user,
        "u": getpass.getuser(),
        "d": str(home),
        "k": alias or given,
        "%": "%",
    }
    files = options.get("identityfile") or [f"~/.ssh/{key}" for key in _KEYS]
    jump, command = one("proxyjump"), one("proxycommand")
    timeout = one("connecttimeout")
    return Target(
        name=name,
        host=host,
        port=port,
        user=user,
        identity_files=tuple(_expanded(file, tokens, home) for file in files if file.lower() != "none"),
        identities_only=(one("identitiesonly") or "no").lower() == "yes",
        agent=_agent(one("identityagent"), tokens, home, environment),
        jumps=tuple(part.strip() for part in jump.split(",")) if jump and jump.lower() != "none" else (),
        proxy_command=_filled(command, tokens) if command and command.lower() != "none" else None,
        alias=alias,
        known_hosts=_files(one("userknownhostsfile") or "~/.ssh/known_hosts ~/.ssh/known_hosts2", tokens, home),
        system_known_hosts=_files(one("globalknownhostsfile") or "/etc/ssh/ssh_known_hosts", tokens, home),
        hash_known_hosts=(one("hashknownhosts") or "no").lower() == "yes",
        connect_timeout_s=float(_number(timeout, 15)),
    )


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else otherwise


def _agent(said: str | None, tokens: Mapping[str, str], home: Path, environment: Mapping[str, str]) -> str | None:
    if said is None or said == "SSH_AUTH_SOCK":
        return environment.get("SSH_AUTH_SOCK") or None
    if said.lower() == "none":
        return None
    if said.startswith("$") and not said.startswith("${"):
        return environment.get(said[1:]) or None
    return str(_expanded(said.strip('"'), tokens, home))


def _files(said: str, tokens: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    return tuple(_expanded(word.strip('"'), tokens, home) for word in said.split() if word.lower() not in _OFF)


def _expanded(text: str, tokens: Mapping[str, str], home: Path) -> Path:
    text = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], ""), _filled(text, tokens))
    return home / text[2:] if text.startswith("~/") else Path(text)


def _filled(text: str, tokens: Mapping[str, str]) -> str:
    return re.sub(r"%(.)", lambda match: tokens.get(match[1], match[0]), text)
