"""Exchanging over SSH on loopback: `python -m bench.sync [--size-mb 100] [-n 5] [--json]`.

The same records go by `ssh host cat` as JSONL and by the exchange itself, by turns: coded, cut into batches, packed,
checked line by line at the other end and acknowledged. The ledgers are not the real ones: one reads from memory, the
other counts, so that the exchange is what is measured. Needs the SSH server of the tests (`.ci/sshd`).
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from afterword_sync.record import encode, payload
from afterword_sync.remote import Peer, exchange_with
from afterword_sync.ssh import Connection, Trust
from bench.capture import corpus
from bench.frame import options, own_cpu_s, show
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
    """Seconds of a push both ways, medians of some rounds by turns, and what nothing new costs."""
    payloads = _payloads(size_mb)
    ours = Texts("a" * 32, payloads)
    with tempfile.TemporaryDirectory(prefix="afterword-sync-") as name:
        root = Path(name)
        plain = root / "records.jsonl"
        with plain.open("wb") as file:
            file.writelines(encode(record) + b"\n" for record in ours.read(ours.origin, 1, len(payloads), None))
        with Sshd(root / "sshd") as server:
            client = Client(root / "home")
            client.knows(server)
            client.host("mini", server)
            far = f"cd {Path(__file__).parents[1]} && exec {sys.executable} -m bench.sync_texts"
            command(server.home / ".local/bin", far)
            cat, sync, cpu, connect, nothing = [], [], [], [], []
            ssh = ["ssh", "-F", client.config, "-o", f"UserKnownHostsFile={client.known_hosts}", "mini"]
            for _ in range(rounds):
                began = time.monotonic()
                with plain.open("rb") as file:
                    subprocess.run([*ssh, "cat >/dev/null"], stdin=file, env=client.environment, check=True)
                cat.append(time.monotonic() - began)
                began, used = time.monotonic(), own_cpu_s()
                exchange_with(Peer(host="mini"), ours, environment=client.environment)
                sync.append(time.monotonic() - began)
                cpu.append(own_cpu_s() - used)
                began = time.monotonic()
                with Connection("mini", client.environment, Trust()) as connection:
                    channel = connection.session()
                    channel.exec_command("true")
                    channel.recv_exit_status()
                connect.append(time.monotonic() - began)
                began = time.monotonic()
                exchange_with(Peer(host="mini"), Texts("a" * 32, ()), environment=client.environment)
                nothing.append(time.monotonic() - began)
        mb = plain.stat().st_size / 1e6
    medians = {
        "cat_s": statistics.median(cat),
        "push_s": statistics.median(sync),
        "connect_s": statistics.median(connect),
        "nothing_new_s": statistics.median(nothing),
    }
    return {
        "mb": mb,
        "records": len(payloads),
        **medians,
        "push_cpu_s": statistics.median(cpu),
        "push_mb_per_s": mb / medians["push_s"],
        "cat_per_push": medians["cat_s"] / medians["push_s"],
        "push_per_cat": medians["push_s"] / medians["cat_s"],
        "nothing_beyond_connect_s": medians["nothing_new_s"] - medians["connect_s"],
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--size-mb", type=int, default=100, help="of records to push (default 100)")
    parser.add_argument("-n", type=int, default=5, help="rounds (default 5)")
    given = parser.parse_args()
    show("sync", dict(measure(given.size_mb, given.n)), as_json=given.json)


if __name__ == "__main__":
    main()
