"""The daemon under the system's service manager: put in, taken out, asked how it does. systemd (user) or launchd."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from afterword.app import units
from afterword.app.config import Config
from afterword.domain.errors import Busy, NothingFound, NotSetUp, UserError
from afterword.store import lock
from afterword.store.files import create, replace

Manager: TypeAlias = Literal["systemd", "launchd"]

UNIT: Final = "afterword.service"
LABEL: Final = "com.afterword.daemon"
_WAIT_S: Final = 90


class State(msgspec.Struct, frozen=True):
    """How the service does. `state` is the manager's own word (active, failed, …), `pid` 0 when none runs."""

    manager: Manager
    file: str
    installed: bool
    enabled: bool
    state: str
    pid: int
    restarts: int
    problem: str
    hint: str


class Service(Protocol):
    """What both managers do."""

    manager: Manager
    file: Path

    def text(self, words: list[str]) -> str:
        """The unit for a command line."""

    def start(self) -> None:
        """Make the manager take the file as it is now, start it now and at every login."""

    def end(self) -> None:
        """Stop it and forget it."""

    def asked(self) -> dict[str, str]:
        """What the manager says of it."""

    def log_command(self, lines: int, *, follow: bool) -> list[str]:
        """What prints its log."""


class Systemd:
    """A user unit."""

    manager: Manager = "systemd"

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        given = env.get("XDG_CONFIG_HOME", "")
        folder = Path(given) if given.startswith("/") else config.places.home / ".config"
        self.file = folder / "systemd/user" / UNIT
        self._env = env

    def text(self, words: list[str]) -> str:
        return units.systemd(words, self._env)

    def start(self) -> None:
        _call(["systemctl", "--user", "daemon-reload"])
        _call(["systemctl", "--user", "enable", UNIT])
        _call(["systemctl", "--user", "restart", UNIT])

    def end(self) -> None:
        _call(["systemctl", "--user", "disable", "--now", UNIT])

    def asked(self) -> dict[str, str]:
        wanted = "ActiveState,SubState,MainPID,NRestarts,UnitFileState,Result"
        said = _call(["systemctl", "--user", "show", UNIT, f"--property={wanted}"])
        return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)

    def log_command(self, lines: int, *, follow: bool) -> list[str]:
        return ["journalctl", "--user", "--unit", UNIT, "--lines", str(lines), *(["--follow"] if follow else [])]


class Launchd:
    """A launchd agent."""

    manager: Manager = "launchd"

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        self.file = config.places.home / "Library/LaunchAgents" / f"{LABEL}.plist"
        self._config = config
        self._env = env
        self._target = f"gui/{os.getuid()}"

    def text(self, words: list[str]) -> str:
        return units.launchd(words, self._env, self._config)

    def start(self) -> None:
        _call(["launchctl", "bootout", f"{self._target}/{LABEL}"], may_fail=True)
        _call(["launchctl", "bootstrap", self._target, str(self.file)])

    def end(self) -> None:
        _call(["launchctl", "bootout", f"{self._target}/{LABEL}"], may_fail=True)

    def asked(self) -> dict[str, str]:
        said = _call(["launchctl", "print", f"{self._target}/{LABEL}"], may_fail=True)
        rows = dict(line.strip().split(" = ", 1) for line in said.splitlines() if " = " in line)
        state = "active" if rows.get("state") == "running" else rows.get("state", "inactive")
        return {"ActiveState": state, "MainPID": rows.get("pid", "0"), "UnitFileState": "enabled" if rows else ""}

    def log_command(self, lines: int, *, follow: bool) -> list[str]:
        return ["tail", "-n", str(lines), *(["-F"] if follow else []), str(self._config.places.state / "daemon.log")]


def service(config: Config, env: Mapping[str, str]) -> Service:
    """The one for this system."""
    return Launchd(config, env) if sys.platform == "darwin" else Systemd(config, env)


def install(config: Config, at: Service, *, named: bool) -> bool:
    """Write the unit and start it; True when the file changed.

    Raises:
        NotSetUp: there is no vault; the daemon would only leave.
        Busy: another daemon runs outside of the service manager.
        UserError: the file is somebody else's, or the manager refused.
    """
    if config.vault is None:
        raise NotSetUp("there is no vault yet", "run `afterword up --once` or `afterword init VAULT` first")
    running = lock.holder(config.places.state)
    if running is not None and at.file.exists() is False:
        raise Busy(
            f"a daemon runs already (pid {running.get('pid', 'unknown')})",
            "end it with `afterword stop`, then try again",
        )
    data = at.text(units.command(config, named=named)).encode()
    old = at.file.read_bytes() if at.file.exists() else None
    if old is not None and b"fterword" not in old:
        raise UserError(f"{at.file} is not ours", "move it away")
    if old is None:
        at.file.parent.mkdir(parents=True, exist_ok=True)
        create(at.file, data, mode=0o600)
    elif old != data:
        replace(at.file, data)
    at.start()
    return old != data


def uninstall(at: Service) -> None:
    """Stop it and remove its unit; what it wrote stays.

    Raises:
        NothingFound: it is not installed.
    """
    if not at.file.exists():
        raise NothingFound("the service is not installed", "`afterword service install` installs it")
    problem: UserError | None = None
    try:
        at.end()
    except UserError as err:
        problem = err  # without a manager to ask nothing runs under it
    at.file.unlink()
    if at.manager == "systemd" and problem is None:
        _call(["systemctl", "--user", "daemon-reload"])


def state(at: Service) -> State:
    """How the service does."""
    installed = at.file.exists()
    problem, hint = _wrong(at) if installed else ("", "")
    said: dict[str, str] = {}
    if installed:
        try:
            said = at.asked()
        except UserError as err:
            problem, hint = problem or err.message, hint or err.hint
    active = said.get("ActiveState", "unknown" if installed else "not installed")
    if active == "failed" and not problem:
        problem, hint = f"it failed ({said.get('Result', 'unknown')})", "`afterword service logs` says why"
    return State(
        manager=at.manager,
        file=str(at.file),
        installed=installed,
        enabled=said.get("UnitFileState") == "enabled",
        state=active,
        pid=int(said.get("MainPID", "0") or 0),
        restarts=int(said.get("NRestarts", "0") or 0),
        problem=problem,
        hint=hint,
    )


def lingers(env: Mapping[str, str]) -> bool:
    """Whether the user's services go on without anybody logged in; True where nobody can say."""
    if sys.platform != "linux" or shutil.which("loginctl") is None:
        return True
    try:
        said = _call(["loginctl", "show-user", env.get("USER", "") or str(os.getuid()), "--property=Linger", "--value"])
    except UserError:
        return True
    return said.strip() != "no"


def _wrong(at: Service) -> tuple[str, str]:
    """What is wrong with an installed unit: an interpreter that went away with an upgrade."""
    text = at.file.read_text("utf-8", errors="replace")
    if at.manager == "systemd":
        line = next((row for row in text.splitlines() if row.startswith("ExecStart=")), "ExecStart=")
        words = shlex.split(line.removeprefix("ExecStart="))
    else:
        import plistlib  # noqa: PLC0415  # only where launchd is

        words = plistlib.loads(text.encode()).get("ProgramArguments", [])
    program = words[0].replace("%%", "%").replace("$$", "$") if words else ""
    if not program or not os.access(program, os.X_OK):
        return f"the program named in it is gone: {program or 'none'}", "run `afterword service install` again"
    return "", ""


def _call(words: Sequence[str], *, may_fail: bool = False) -> str:
    """Ask the service manager; what it prints.

    Raises:
        UserError: it is not there, or refused.
    """
    if shutil.which(words[0]) is None:
        raise UserError(
            f"there is no {words[0]} here", "let something else start `afterword run`, or keep `afterword up` running"
        )
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_WAIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        raise UserError(f"`{' '.join(words)}` did not answer: {err}", "try again") from err
    if done.returncode and not may_fail:
        reason = " ".join((done.stderr or done.stdout).split())[:300] or f"exit code {done.returncode}"
        away = "connect to bus" in reason or "No medium found" in reason or "not been booted" in reason
        raise UserError(
            f"`{' '.join(words)}` failed: {reason}",
            "there is no session for this user: log in, or run `sudo loginctl enable-linger $USER` and log in again"
            if away
            else "`afterword service status` says more",
        )
    return done.stdout
