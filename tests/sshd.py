"""A real OpenSSH server on loopback, on a port, keys and a home of its own, as the user who runs the tests.

`.ci/sshd` brings the program. Where it cannot, tests that need it are skipped, but not in CI.
"""

import contextlib
import grp
import os
import pwd
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_PLACE = ROOT / ".tools/sshd"
_PRIVILEGES = Path("/run/sshd")  # an empty folder, which a server of root's insists on


def program():
    """Where the server is; without one the test is skipped, and fails in CI."""
    found = _PLACE / "usr/sbin/sshd"
    if not found.exists():
        with contextlib.suppress(OSError):
            subprocess.run([ROOT / ".ci/sshd"], capture_output=True, check=False)
    if found.exists():
        return found
    if os.environ.get("CI"):
        pytest.fail("no OpenSSH server: .ci/sshd says why")
    pytest.skip("no OpenSSH server: .ci/sshd brings one on Debian and Ubuntu")


def keygen(path, *words, passphrase=""):
    """A new key pair; returns the path of the private half."""
    kind = words or ("-t", "ed25519")
    subprocess.run(["ssh-keygen", "-q", *kind, "-N", passphrase, "-C", path.name, "-f", path], check=True)
    return path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@dataclass
class Sshd:
    """A server. `home` is the HOME of whoever logs in; `key` opens it; `known_hosts` knows it."""

    folder: Path
    options: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    host_key_kind: tuple = ("-t", "ed25519")
    port: int = 0
    process: subprocess.Popen | None = None

    def __post_init__(self):
        self.server = program()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700, exist_ok=True)
        self.key = self.folder / "client_key"
        if not self.key.exists():
            keygen(self.key)
        self.host_key = self.folder / "host_key"
        if not self.host_key.exists():
            keygen(self.host_key, *self.host_key_kind)
        self.authorize(self.key)
        self.port = self.port or free_port()
        self.log = self.folder / "sshd.log"
        self.path = "/usr/local/bin:/usr/bin:/bin"

    def authorize(self, key, options=""):
        """Let this key in, with options as in `authorized_keys`; nobody else any more."""
        public = Path(f"{key}.pub").read_text()
        (self.folder / "authorized_keys").write_text(f"{options} {public}".lstrip())

    @property
    def user(self):
        return pwd.getpwuid(os.getuid()).pw_name

    @property
    def known_hosts(self):
        """The line of a `known_hosts` file that has this server."""
        kind, key = Path(f"{self.host_key}.pub").read_text().split()[:2]
        return f"[127.0.0.1]:{self.port} {kind} {key}\n"

    def start(self):
        environment = {"HOME": str(self.home), "PATH": self.path} | self.environment
        lines = [
            *self.options,
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {self.host_key}",
            f"AuthorizedKeysFile {self.folder / 'authorized_keys'}",
            "PidFile none",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password",
            "PrintMotd no",
            "MaxStartups 100",
            "SetEnv " + " ".join(f'"{name}={value}"' for name, value in environment.items()),
        ]
        for name in ("session", "auth"):  # newer servers are several programs
            part = _PLACE / f"usr/lib/openssh/sshd-{name}"
            if part.exists():
                lines.append(f"Sshd{name.capitalize()}Path {part}")
        config = self.folder / "sshd_config"
        config.write_text("\n".join(lines) + "\n")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [self.server, "-D", "-e", "-f", config], stdout=log, stderr=log, env=self._environment()
            )
        self._wait()
        return self

    def _environment(self):
        libraries = next(_PLACE.rglob("libnss_wrapper.so")).parent
        variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_LIBRARY_PATH": str(libraries)}
        if os.getuid() == 0:
            _PRIVILEGES.mkdir(mode=0o755, exist_ok=True)
            users = Path("/etc/passwd").read_text()
            if not any(entry.pw_name == "sshd" for entry in pwd.getpwall()):
                users += f"sshd:x:65533:{grp.getgrgid(os.getgid()).gr_gid}::{_PRIVILEGES}:/usr/sbin/nologin\n"
            (self.folder / "passwd").write_text(users)
            shutil.copy("/etc/group", self.folder / "group")
            variables |= {
                "LD_PRELOAD": str(libraries / "libnss_wrapper.so"),
                "NSS_WRAPPER_PASSWD": str(self.folder / "passwd"),
                "NSS_WRAPPER_GROUP": str(self.folder / "group"),
            }
        return variables

    def _wait(self):
        for _ in range(200):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as answered:
                answered.recv(16)
                return
            time.sleep(0.05)
        pytest.fail(f"the SSH server did not start: {self.log.read_text()}")

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


@dataclass
class Client:
    """A home with an `.ssh` of its own, from which a server is reached."""

    home: Path

    def __post_init__(self):
        self.ssh = self.home / ".ssh"
        self.ssh.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.config = self.ssh / "config"
        self.known_hosts = self.ssh / "known_hosts"

    def knows(self, *servers):
        self.known_hosts.write_text("".join(server.known_hosts for server in servers))

    def host(self, alias, server, *lines, key=True):
        """An entry in the configuration: `alias` is `server`, opened by its key."""
        entry = [
            f"Host {alias}",
            "HostName 127.0.0.1",
            f"Port {server.port}",
            f"User {server.user}",
            *([f"IdentityFile {server.key}"] if key else []),
            *lines,
        ]
        with self.config.open("a") as file:
            file.write("\n  ".join(entry) + "\n\n")

    @property
    def environment(self):
        """What a program has to have to find this home, and no agent."""
        kept = {name: value for name, value in os.environ.items() if name not in ("SSH_AUTH_SOCK", "SSH_AGENT_PID")}
        return kept | {"HOME": str(self.home)}


@contextlib.contextmanager
def agent(*keys):
    """An `ssh-agent` with these keys (path, passphrase); yields its socket."""
    process = subprocess.Popen(["ssh-agent", "-D"], stdout=subprocess.PIPE, text=True)
    try:
        place = process.stdout.readline().split("=", 1)[1].split(";")[0]
        for key, passphrase in keys:
            asked = key.parent / f"{key.name}.askpass"
            asked.write_text(f"#!/bin/sh\necho '{passphrase}'\n")
            asked.chmod(0o700)
            subprocess.run(
                ["ssh-add", "-q", key],
                env=os.environ
                | {"SSH_AUTH_SOCK": place, "SSH_ASKPASS": str(asked), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"},
                stdin=subprocess.DEVNULL,
                check=True,
            )
        yield place
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def command(folder, script, name="afterword"):
    """A program called `name` in this folder, a line or more of shell."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / name
    made.write_text(f"#!/bin/sh\n{script}\n")
    made.chmod(0o755)
    return made
