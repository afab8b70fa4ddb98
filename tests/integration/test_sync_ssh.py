"""The exchange over a real SSH server on loopback, reached as the user's own `ssh` would reach it."""

import contextlib
import fcntl
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from sshd import Client, Sshd, agent, command, free_port, keygen
from sync_world import FAST, THING, machine

from afterword_sync.errors import AuthFailed, HostKeyRefused, LinkBroken, RemoteFailed, SyncError, Unreachable
from afterword_sync.remote import Peer, exchange_with
from afterword_sync.ssh_config import target

SERVED = Path(__file__).parents[1] / "sync_served.py"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Sshd(tmp_path_factory.mktemp("sshd"), options=["LogLevel VERBOSE"]) as started:
        yield started


@pytest.fixture
def far(server):
    """The machine at the other end; it has one thing. Its program is where `pipx` and `uv` put it."""
    log = machine("mini")
    log.make(THING, "a", text="made on the mini")
    return Far(server, log)


class Far:
    def __init__(self, server, log):
        self.server = server
        self.place = server.folder / "log.pickle"
        self.log = log
        self.bin = server.home / ".local/bin"
        server.authorize(server.key)
        self.runs(f'exec {sys.executable} {SERVED} {self.place} "$@"')

    def runs(self, script):
        command(self.bin, script)

    @contextlib.contextmanager
    def _resting(self):
        """Once nobody who was started serves it any more: what came may be written down after we were through."""
        with self.place.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @property
    def log(self):
        with self._resting():
            return pickle.loads(self.place.read_bytes())

    @log.setter
    def log(self, log):
        with self._resting():
            self.place.write_bytes(pickle.dumps(log))


@pytest.fixture
def near(tmp_path, server):
    client = Client(tmp_path / "home")
    client.knows(server)
    return client


@pytest.fixture
def laptop():
    log = machine("laptop")
    log.make(THING, "b", text="made on the laptop")
    return log


def go(near, log, name="mini", *, named=None, accept_new=False, **options):
    options = {"deadlines": FAST, "environment": near.environment} | options
    return exchange_with(Peer(host=name, command=named, accept_new=accept_new), log, **options)


def counts(done):
    return sum(moved.new for moved in done.sent), sum(moved.new for moved in done.received)


def refused(kind, near, log, *args, **options):
    with pytest.raises(kind) as raised:
        go(near, log, *args, **options)
    assert type(raised.value) is kind
    return raised.value


def test_an_alias_with_a_port_a_user_and_a_key(near, server, far, laptop):
    near.host("mini", server)
    assert counts(go(near, laptop)) == (1, 1)
    assert far.log.equal() == laptop.equal()
    assert counts(go(near, laptop)) == (0, 0)


def test_without_an_alias(near, server, far, laptop):
    (near.ssh / "id_ed25519").write_bytes(server.key.read_bytes())
    (near.ssh / "id_ed25519").chmod(0o600)
    assert counts(go(near, laptop, f"{server.user}@127.0.0.1:{server.port}")) == (1, 1)


def test_only_the_named_key_is_offered_with_identities_only(near, server, far, laptop):
    others = [keygen(near.home / f"other{n}") for n in range(3)]
    near.host("mini", server, "IdentitiesOnly yes")
    near.host("any", server)
    with agent(*((key, "") for key in others), (server.key, "")) as place:
        environment = near.environment | {"SSH_AUTH_SOCK": place}
        before = server.log.read_text().count("Failed publickey")
        go(near, laptop, environment=environment)
        assert server.log.read_text().count("Failed publickey") == before
        # Without it the named key is first as well, when the agent has it.
        go(near, laptop, "any", environment=environment)
        assert server.log.read_text().count("Failed publickey") == before


def test_a_key_with_a_passphrase_out_of_the_agent(near, server, far, laptop):
    locked = keygen(near.home / "locked", passphrase="correct horse")
    server.authorize(locked)
    near.host("mini", server, f"IdentityFile {locked}", "IdentitiesOnly yes", key=False)
    error = refused(AuthFailed, near, laptop)
    assert f"{locked}: it has a passphrase and is not in the agent" in error.reason
    assert error.hint == f"unlock it for this session: ssh-add {locked}"
    (near.home / "locked.pub").unlink()  # what is public of it stands in the file too
    with agent((locked, "correct horse")) as place:
        assert counts(go(near, laptop, environment=near.environment | {"SSH_AUTH_SOCK": place})) == (1, 1)


def test_an_old_rsa_key(near, server, far, laptop):
    key = keygen(near.home / "old_rsa", "-t", "rsa", "-b", "2048", "-m", "PEM")
    server.authorize(key)
    near.host("mini", server, f"IdentityFile {key}", key=False)
    assert counts(go(near, laptop)) == (1, 1)


def test_let_in_with_none_of_the_keys(near, server, far, laptop):
    stranger = keygen(near.home / "stranger")
    near.host("mini", server, f"IdentityFile {stranger}", key=False)
    error = refused(AuthFailed, near, laptop)
    assert error.reason == f"mini does not let {server.user} in with none of these keys: {stranger}"
    assert "ssh-copy-id mini" in error.hint
    stranger.write_text(stranger.read_text()[:200])
    error = refused(AuthFailed, near, laptop)
    assert f"without a key, and there is none to offer (not used: {stranger}: it cannot be read)" in error.reason
    assert "ssh-copy-id mini" in error.hint
    stranger.chmod(0o644)
    error = refused(AuthFailed, near, laptop)
    assert f"{stranger}: others may read it" in error.reason
    assert error.hint == f"chmod 600 {stranger}"


def test_through_another_machine(near, server, far, laptop, tmp_path):
    with Sshd(tmp_path / "gate") as gate:
        near.knows(server, gate)
        near.host("gate", gate)
        near.host("mini", server, "ProxyJump gate")
        near.host(
            "by-command",
            server,
            f"ProxyCommand ssh -F {near.config} -o UserKnownHostsFile={near.known_hosts} -W %h:%p gate",
        )
        assert counts(go(near, laptop)) == (1, 1)
        assert "Accepted publickey" in gate.log.read_text()
        assert counts(go(near, laptop, "by-command")) == (0, 0)
        # The machine in between has to be a known one, too.
        near.knows(server)
        error = refused(HostKeyRefused, near, laptop)
        assert f"gate ([127.0.0.1]:{gate.port}) is not known yet" in error.reason
    near.knows(server, gate)
    assert "nothing listens" in refused(Unreachable, near, laptop).reason


def test_hashed_known_hosts_aliases_and_other_files(near, server, far, laptop):
    near.host("mini", server)
    subprocess.run(["ssh-keygen", "-H", "-f", near.known_hosts], check=True, capture_output=True)
    assert "127.0.0.1" not in near.known_hosts.read_text()
    assert counts(go(near, laptop)) == (1, 1)
    kind, key = server.known_hosts.split()[1:]
    (near.home / "elsewhere").write_text(f"!other,mi*,10.0.0.? {kind} {key}\n")
    near.known_hosts.unlink()
    near.host("again", server, "HostKeyAlias mini", "UserKnownHostsFile ~/nowhere ~/elsewhere")
    assert counts(go(near, laptop, "again")) == (0, 0)


def test_a_machine_that_is_not_known(near, server, far, laptop):
    near.known_hosts.unlink()
    near.host("mini", server)
    shown = subprocess.run(["ssh-keygen", "-lf", server.host_key], check=True, capture_output=True, text=True)
    fingerprint = shown.stdout.split()[1]
    error = refused(HostKeyRefused, near, laptop)
    assert error.reason == (
        f"mini ([127.0.0.1]:{server.port}) is not known yet; it shows the key ssh-ed25519 {fingerprint}"
    )
    assert "--accept-new" in error.hint
    assert not near.known_hosts.exists()
    assert counts(go(near, laptop, accept_new=True)) == (1, 1)
    assert near.known_hosts.read_text() == server.known_hosts
    assert near.known_hosts.stat().st_mode & 0o777 == 0o600
    assert counts(go(near, laptop)) == (0, 0)


def test_a_machine_whose_key_has_changed(near, server, far, laptop):
    near.host("mini", server)
    other = Path(f"{keygen(near.home / 'other')}.pub").read_text().split()[1]
    near.known_hosts.write_text(f"# mine\n[127.0.0.1]:{server.port} ssh-ed25519 {other}\n")
    for accept_new in (False, True):
        error = refused(HostKeyRefused, near, laptop, accept_new=accept_new)
        assert f"shows another key than the one known by {near.known_hosts}:2" in error.reason
        assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in error.hint
    # A key of another kind that is known makes no unknown machine of it.
    rsa = Path(f"{keygen(near.home / 'rsa', '-t', 'ecdsa')}.pub").read_text().split()[:2]
    near.known_hosts.write_text(f"[127.0.0.1]:{server.port} {' '.join(rsa)}\n")
    assert "another key" in refused(HostKeyRefused, near, laptop, accept_new=True).reason


def test_a_machine_whose_key_is_revoked(near, server, far, laptop):
    near.host("mini", server)
    kind, key = server.known_hosts.split()[1:]
    near.known_hosts.write_text(f"{server.known_hosts}@revoked * {kind} {key}\n")
    for accept_new in (False, True):
        error = refused(HostKeyRefused, near, laptop, accept_new=accept_new)
        assert "a key that is revoked" in error.reason


def test_a_server_with_several_keys_is_asked_for_the_known_one(near, far, laptop, tmp_path):
    second = tmp_path / "sshd" / "second"
    with_two = Sshd(tmp_path / "sshd", options=[f"HostKey {keygen_in(second)}"], host_key_kind=("-t", "ecdsa"))
    with with_two:
        command(with_two.home / ".local/bin", f"exec {sys.executable} {SERVED} {far.place}")
        near.knows(with_two)  # knows the ecdsa key; ed25519 would be taken first
        near.host("mini", with_two)
        assert counts(go(near, laptop)) == (1, 1)


def keygen_in(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    return keygen(path)


def test_a_noisy_shell_and_megabytes_on_standard_error(near, server, far, laptop):
    near.host("mini", server)
    far.runs(
        "head -c 900000 /dev/urandom; echo welcome; head -c 6000000 /dev/zero >&2 & "
        f"head -c 6000000 /dev/zero >&2; exec {sys.executable} {SERVED} {far.place}"
    )
    assert counts(go(near, laptop)) == (1, 1)
    far.runs("cat /dev/zero")
    with pytest.raises(SyncError) as raised:
        go(near, laptop)
    assert "not what afterword says" in raised.value.reason


def test_megabytes_both_ways_at_once(near, server, far, laptop):
    near.host("mini", server)
    mini = machine("mini")
    for log, letter in ((mini, "x"), (laptop, "y")):
        for n in range(60):
            log.make(THING, f"{letter}{n}", text=os.urandom(200_000).hex())
    far.log = mini
    assert counts(go(near, laptop)) == (61, 60)
    assert far.log.equal() == laptop.equal()


def test_as_a_forced_command(near, server, far, laptop):
    near.host("mini", server)
    # Whatever is asked for, this is what runs: nothing is found by our own command.
    (far.bin / "afterword").rename(server.folder / "hidden")
    forced = f'command="{sys.executable} {SERVED} {far.place}",restrict'
    server.authorize(server.key, forced)
    assert counts(go(near, laptop)) == (1, 1)


def test_where_afterword_is_not_found(near, server, far, laptop):
    near.host("mini", server)
    (far.bin / "afterword").unlink()
    error = refused(RemoteFailed, near, laptop)
    assert "afterword is not found on mini (looked on PATH" in error.reason
    assert "command =" in error.hint
    odd = command(server.home / "an odd place", f"exec {sys.executable} {SERVED} {far.place}", "afterword-0.1")
    assert counts(go(near, laptop, named=f"'{odd}'")) == (1, 1)
    assert counts(go(near, laptop, named='"$HOME/an odd place/afterword-0.1" sync serve')) == (0, 0)
    error = refused(RemoteFailed, near, laptop, named="/no/such/afterword")
    assert "not found on mini" in error.reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo \"Error: No such command 'sync'.\" >&2; exit 2", "the afterword on mini is too old to exchange"),
        ("echo 'no vault yet' >&2; exit 4", "afterword on mini is not set up yet: no vault yet"),
        (
            "echo; echo 'Traceback'; echo 'ValueError: \033[31mbroken' >&2; exit 70",
            "mini ended the session (exit code 70) before afterword said anything: ValueError: [31mbroken",
        ),
    ],
)
def test_what_does_not_run_there_is_said(near, server, far, laptop, script, reason):
    near.host("mini", server)
    far.runs(script)
    assert refused(RemoteFailed, near, laptop).reason == reason


def test_a_machine_that_says_nothing(near, server, far, laptop):
    near.host("mini", server)
    far.runs("exec sleep 600")
    deadlines = type(FAST)(hello_s=0.5, idle_s=1, ping_s=1, end_s=1)
    with pytest.raises(LinkBroken) as raised:
        go(near, laptop, deadlines=deadlines)
    assert raised.value.reason == "mini: the other side said nothing for 0.5 s"
    assert raised.value.transient


def test_nobody_there(near, server, laptop):
    near.host("mini", server)
    near.config.write_text(
        f"Host mini\n HostName 127.0.0.1\n Port {free_port()}\n\nHost away\n HostName away.invalid\n"
    )
    error = refused(Unreachable, near, laptop)
    assert "nothing listens at port" in error.reason
    assert error.transient
    assert "no machine is called away.invalid" in refused(Unreachable, near, laptop, "away").reason
    for name in ("-oProxyCommand=touch x", "a b", "", "mini;ls", "me@", "mini:0", "mini:99999"):
        with pytest.raises(SyncError) as raised:
            go(near, laptop, name)
        assert "is not the name of a machine" in raised.value.reason


def test_a_dry_run_moves_nothing(near, server, far, laptop):
    near.host("mini", server)
    before = far.log.rows, dict(laptop.rows)
    assert counts(go(near, laptop, dry_run=True)) == (1, 1)
    assert (far.log.rows, laptop.rows) == before


def test_a_machine_that_dies_in_the_middle_and_comes_back(near, server, far, laptop):
    near.host("mini", server)
    for n in range(3500):
        laptop.make(THING, f"k{n}", text="t")
    log = far.log
    log.crash_after = 1
    far.log = log
    with pytest.raises(SyncError) as raised:
        go(near, laptop)
    assert counts(raised.value.done)[0] < 3501
    log = far.log
    assert 0 < len(log.rows) < 3502
    log.crash_after = None
    far.log = log
    sent, _ = counts(go(near, laptop))
    assert sent == 3502 - len(log.rows)
    assert far.log.equal() == laptop.equal()


CONFIG = """
Include one.conf no-such-file more/*.conf
Host gate
  User keeper
Host mini
  HostName mini.local
  Port = 2200
  IdentityFile ~/.ssh/%n_key
  IdentityFile "~/.ssh/spare"
  IdentitiesOnly yes
  Include in-mini.conf
  ConnectTimeout 7
Host old
  ProxyCommand nc -X 5 %h %p
  HostName 10.0.0.9
Host bare
  ProxyCommand none
  IdentityAgent none
Match host mini.local
  HostKeyAlias the-mini
Host *
  User ann
  HashKnownHosts yes
"""


@pytest.mark.parametrize("name", ["mini", "old", "bare", "gate", "somewhere", "bob@mini:2345"])
def test_the_configuration_is_read_as_ssh_reads_it(tmp_path, name):
    client = Client(tmp_path)
    (client.ssh / "more").mkdir()
    (client.ssh / "config").write_text(CONFIG)
    (client.ssh / "one.conf").write_text("Host somewhere\n  Port 2022\n")
    (client.ssh / "more/a.conf").write_text("Host somewhere\n  UserKnownHostsFile ~/.ssh/k1 ~/.ssh/k2\n")
    (client.ssh / "in-mini.conf").write_text("ProxyJump gate:2200,second\n")
    environment = client.environment | {"SSH_AUTH_SOCK": "/run/agent"}
    asked = target(name, environment)
    read = target(name, environment, ask_ssh=False)
    given = asked.identity_files[0].name == "mini_key"
    for field in asked.__struct_fields__:
        if field in ("identity_files", "system_known_hosts") and not given:
            continue  # ssh names more kinds of keys by default than can be read here
        if field != "system_known_hosts":
            assert getattr(read, field) == getattr(asked, field), field
    if name == "mini":
        assert (asked.host, asked.port, asked.user) == ("mini.local", 2200, "ann")
        assert asked.identity_files == (client.ssh / "mini_key", client.ssh / "spare")
        assert (asked.jumps, asked.alias, asked.identities_only) == (("gate:2200", "second"), "the-mini", True)
        assert (asked.connect_timeout_s, asked.hash_known_hosts) == (7, True)
    if name == "bob@mini:2345":
        assert (asked.host, asked.port, asked.user) == ("mini.local", 2345, "bob")
    if name == "old":
        assert asked.proxy_command == "nc -X 5 10.0.0.9 22"
    if name == "bare":
        assert (asked.proxy_command, asked.agent) == (None, None)
    if name == "somewhere":
        assert asked.known_hosts == (client.ssh / "k1", client.ssh / "k2")
        assert asked.agent == "/run/agent"
