"""Exchanging over SSH on loopback: `python -m bench.sync [--size-mb 100] [-n 5] [--json]`.

The same records go three ways by turns: as JSONL by `ssh host cat`; as a stream of packed batches that the other end
unpacks and acknowledges; and by the whole exchange, which codes, cuts, packs, and checks every line at the other end.
The ledgers are not the real ones: one reads from memory, the other counts. What it takes to connect and to start is
measured by itself and taken off the rates. Needs the SSH server of the tests (`.ci/sshd`).
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from afterword_sync.batch import batches
from afterword_sync.frame import Kind
from afterword_sync.link import WINDOW_BYTES, Deadlines, Link
from afterword_sync.record import payload
from afterword_sync.remote import Peer, exchange_with
from afterword_sync.ssh import Connection, Session, Trust
from bench.capture import corpus
from bench.frame import options, show
from bench.sync_texts import Texts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sshd import Client, Sshd, command

_CORPUS_MB = 20


def _payloads(size_mb: int) -> list[bytes]:
    """Payloads of records: what is in the transcripts of the small corpus, as often as it takes."""
    wanted = size_mb * 1_000_000
    found: list[bytes] = []
    size = 0
    while size < wanted:
        for file in sorted(corpus(_CORPUS_MB, 1).rglob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                made = payload({"text": line, "role": "assistant", "at_us": 1_700_000_000_000_000 + len(found)}).json
                found.append(made)
                size += len(made)
                if size >= wanted:
                    return found
    return found


def measure(size_mb: int, rounds: int) -> dict[str, float | int]:
    """Seconds of a push each way, medians of some rounds by turns, and what nothing new costs."""
    payloads = _payloads(size_mb)
    ours = Texts("a" * 32, payloads)
    cut = [batch.data for batch in batches(ours.read(ours.origin, 1, len(payloads), None), ours.rules())]
    took: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="afterword-sync-") as name, Sshd(Path(name) / "sshd") as server:
        plain = Path(name) / "records.jsonl"
        plain.write_bytes(b"".join(cut))
        mb = plain.stat().st_size / 1e6
        client = Client(Path(name) / "home")
        client.knows(server)
        client.host("mini", server)
        far = f"cd {Path(__file__).parents[1]} && exec {sys.executable} -m bench.sync_texts"
        command(server.home / ".local/bin", far)
        env = client.environment
        ssh = ["ssh", "-F", str(client.config), "-o", f"UserKnownHostsFile={client.known_hosts}", "mini"]

        def cat() -> None:
            with plain.open("rb") as file:
                subprocess.run([*ssh, "cat >/dev/null"], stdin=file, env=env, check=True)

        steps: dict[str, Callable[[], object]] = {
            "ssh_start": lambda: subprocess.run([*ssh, "true"], env=env, check=True),
            "cat": cat,
            "connect": lambda: _stream(env, "true", []),
            "stream_start": lambda: _stream(env, f"{far} frames", cut[:1]),
            "stream": lambda: _stream(env, f"{far} frames", cut),
            "nothing_new": lambda: exchange_with(Peer(host="mini"), Texts("a" * 32, ()), environment=env),
            "push": lambda: exchange_with(Peer(host="mini"), ours, environment=env),
        }
        for turn in range(rounds + 1):
            for what, step in steps.items():
                began = time.monotonic()
                step()
                if turn:  # the first one imports
                    took.setdefault(what, []).append(time.monotonic() - began)
    found = {what: statistics.median(times) for what, times in took.items()}
    cat_s, stream_s = found["cat"] - found["ssh_start"], found["stream"] - found["stream_start"]
    push_s = found["push"] - found["nothing_new"]
    return {
        "mb": mb,
        "records": len(payloads),
        **{f"{what}_s": seconds for what, seconds in found.items()},
        "cat_mb_per_s": mb / cat_s,
        "stream_mb_per_s": mb / stream_s,
        "push_mb_per_s": mb / push_s,
        "stream_per_cat": stream_s / cat_s,
        "push_per_cat": push_s / cat_s,
        "nothing_beyond_connect_s": found["nothing_new"] - found["connect"],
    }


def _stream(env: Mapping[str, str], far: str, cut: Sequence[bytes]) -> None:
    """Connect, run a command there, and send it these batches, as many ahead as an exchange does."""
    with Connection("mini", env, Trust()) as connection:
        channel = connection.session()
        channel.exec_command(far)
        if not cut:
            channel.recv_exit_status()
            return
        with Link(Session(channel), Deadlines()) as link:
            ahead = 0
            for batch in cut:
                if ahead and (ahead + 1) * len(batch) > WINDOW_BYTES:
                    link.take(wait=True)
                    ahead -= 1
                link.send(Kind.BATCH, batch)
                ahead += 1
            link.send(Kind.DONE)
            for _ in range(ahead + 1):
                link.take(wait=True)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--size-mb", type=int, default=100, help="of records to push (default 100)")
    parser.add_argument("-n", type=int, default=5, help="rounds (default 5)")
    given = parser.parse_args()
    show("sync", dict(measure(given.size_mb, given.n)), as_json=given.json)


if __name__ == "__main__":
    main()
