"""The door: who is let in, what is asked, and that nobody can make it large or slow."""

import http.client
import json
import socket
import stat
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from house import House
from writer import REDACTOR

from afterword.app.client import NoAnswer, ask_door, door
from afterword.serve import carrier
from afterword.serve.api import AT_ONCE, BODY_MAX_BYTES
from afterword.serve.carrier import CONNECTIONS_MAX
from afterword.serve.jobs import JOBS
from afterword.serve.routes_editor import ROUTES
from afterword.store import doorfile
from afterword.store.ledger import jobs
from afterword.store.lock import writer_lock


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.lines.close()
    made.door.close()
    made.ledger.close()


def test_the_routes_are_those_that_are_promised() -> None:
    assert [(route.method, route.path) for route in ROUTES] == [
        ("GET", "/v1/ping"), ("GET", "/v1/status"), ("POST", "/v1/search"), ("GET", "/v1/show/{id}"),
        ("POST", "/v1/jobs"), ("POST", "/v1/forget"), ("POST", "/v1/retract"), ("POST", "/v1/useful"),
        ("GET", "/v1/jobs/{id}/events"), ("POST", "/v1/sync"),
        ("GET", "/v1/pulse"), ("GET", "/v1/events"), ("POST", "/v1/related"), ("POST", "/v1/open"),
        ("POST", "/v1/restore"), ("GET", "/v1/review"), ("POST", "/v1/review/{id}"), ("POST", "/v1/sync/now"),
        ("GET", "/v1/jobs/{id}"), ("POST", "/v1/pair/codes"), ("POST", "/v1/pair"), ("POST", "/v1/hello"),
    ]  # fmt: skip
    assert {"ingest", "write-up"} <= set(JOBS)


def test_the_card_is_for_its_owner_and_goes_at_a_clean_stop(house: House) -> None:
    path = house.state / doorfile.FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert house.ask("GET", "/v1/ping")[1]["pid"] > 0
    house.door.close()
    assert not path.exists()
    with pytest.raises(ConnectionRefusedError):
        house.ask("GET", "/v1/ping")


def test_the_door_is_on_loopback_alone(house: House) -> None:
    # 127.0.0.2 is this machine too; a door on every address would answer there.
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", house.door.port), timeout=2).close()


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {"Authorization": ""}),
        (401, {"Authorization": "Bearer wrong"}),
        (401, {"Authorization": "Bearer größe".encode().decode("latin-1")}),
        (401, {"Authorization": "Basic {token}"}),
        (401, {"Authorization": "{token}"}),
        (403, {"Host": "evil.example:{port}"}),
        (403, {"Host": "127.0.0.1"}),
        (403, {"Host": "localhost:1"}),
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://127.0.0.1:{port}"}),
        (200, {"Host": "localhost:{port}"}),
        (200, {"Host": "LOCALHOST:{port}"}),
    ],
)
def test_who_is_let_in(house: House, status: int, headers: dict[str, str]) -> None:
    filled = {k: v.format(token=house.token, port=house.door.port) for k, v in headers.items()}
    got, said = house.ask("GET", "/v1/ping", headers=filled)
    assert got == status, said
    assert house.token not in json.dumps(said)


@pytest.mark.parametrize(
    ("status", "method", "path", "body", "headers"),
    [
        (404, "GET", "/", None, {}),
        (404, "GET", "/v2/ping", None, {}),
        (404, "GET", "/v1/show/a/b", None, {}),
        (405, "GET", "/v1/search", None, {}),
        (405, "POST", "/v1/ping", {}, {}),
        (405, "DELETE", "/v1/ping", None, {}),
        (415, "POST", "/v1/search", {"query": "x"}, {"Content-Type": "text/plain"}),
        (415, "POST", "/v1/search", {"query": "x"}, {"Content-Type": "application/x-www-form-urlencoded"}),
        (200, "POST", "/v1/search", {"query": "x"}, {"Content-Type": "application/json; charset=utf-8"}),
        (400, "POST", "/v1/search", b"{", {}),
        (400, "POST", "/v1/search", b"[1]", {}),
        (400, "POST", "/v1/search", b"[" * 100_000, {}),
        (400, "POST", "/v1/search", {}, {}),
        (400, "POST", "/v1/search", {"query": 1}, {}),
        (400, "POST", "/v1/search", {"query": "x", "more": 1}, {}),
        (400, "POST", "/v1/search", {"query": "x", "since": "someday"}, {}),
        (400, "POST", "/v1/search", {"query": "x", "limit": 0}, {}),
        (413, "POST", "/v1/search", b"x" * (BODY_MAX_BYTES + 1), {}),
        (404, "GET", "/v1/show/nothing", None, {}),
        (404, "GET", "/v1/jobs/nothing/events", None, {}),
        (400, "GET", "/v1/jobs/nothing/events?start=x", None, {}),
        (400, "POST", "/v1/jobs", {"name": "rm"}, {}),
        (400, "POST", "/v1/jobs", {"name": "ingest", "arguments": {"path": "/"}}, {}),
        (400, "POST", "/v1/jobs", {"name": "ingest", "arguments": 7}, {}),
    ],
)
def test_what_is_asked_is_checked(
    house: House, status: int, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    got, said = house.ask(method, path, body, headers)
    assert got == status, said
    assert status == 200 or set(said["error"]) == {"kind", "message", "hint", "code"}


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /v1/ping HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
        b"GET /v1/ping HTTP/1.1\r\nX: " + b"y" * 300_000 + b"\r\n\r\n",
        b"POST /v1/search HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/search HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n",
        b"POST /v1/search HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\r\n\r\n",
        b"hello\r\n",
    ],
)
def test_odd_requests_are_refused_or_hung_up_on(house: House, request_bytes: bytes) -> None:
    try:
        said = house.raw(request_bytes + b"\n")
    except ConnectionError:
        said = b""
    assert b" 200 " not in said[:20]
    assert house.ask("GET", "/v1/ping")[0] == 200


def test_slow_callers_are_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "REQUEST_S", 0.5)
    house = House(tmp_path)
    with socket.create_connection(("127.0.0.1", house.door.port), timeout=20) as link:
        began = time.monotonic()
        try:
            while time.monotonic() - began < 15:  # one byte after the other, each in time
                link.sendall(b"G")
                time.sleep(0.05)
            pytest.fail("nobody hung up")
        except ConnectionError:
            pass
    house.door.close()


def test_there_are_only_so_many_connections(house: House) -> None:
    links = [socket.create_connection(("127.0.0.1", house.door.port), timeout=5) for _ in range(CONNECTIONS_MAX)]
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        house.ask("GET", "/v1/ping")
    for link in links:
        link.close()
    end = time.monotonic() + 20
    while True:
        try:
            assert house.ask("GET", "/v1/ping")[0] == 200
            break
        except (ConnectionError, http.client.HTTPException):
            assert time.monotonic() < end
            time.sleep(0.1)


def test_a_crowd_is_let_in_one_by_one(house: House) -> None:
    with ThreadPoolExecutor(4 * AT_ONCE) as crowd:
        answers = list(crowd.map(lambda _: house.ask("GET", "/v1/ping")[0], range(8 * AT_ONCE)))
    assert answers == [200] * (8 * AT_ONCE)


def test_a_job_is_queued_and_its_lines_can_be_taken_up_again(house: House) -> None:
    status, said = house.ask("POST", "/v1/jobs", {"name": "ingest", "arguments": {"harness": "codex"}})
    assert (status, house.woken) == (200, 1)
    job = jobs.first_queued(house.ledger)
    assert job is not None
    assert (job.id, job.name, job.arguments) == (said["job"], "ingest", '{"harness":"codex"}')
    for done in range(3):
        house.lines.add(job.id, {"state": "running", "done": done})
    jobs.finish(house.ledger, job, "done", REDACTOR.document({"new": 1}), 2)
    house.lines.add(job.id, {"state": "done", "result": {"new": 1}})

    def lines(start: int) -> list[dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", house.door.port, timeout=10)
        connection.request(
            "GET", f"/v1/jobs/{job.id}/events?start={start}", headers={"Authorization": f"Bearer {house.token}"}
        )
        said = connection.getresponse().read()
        connection.close()
        return [json.loads(line) for line in said.splitlines()]

    whole = lines(0)
    assert [line["state"] for line in whole] == ["queued", "running", "running", "running", "done"]
    assert lines(3) == whole[3:]
    # A daemon that was started again knows no lines; the ledger knows the end.
    house.lines._of.clear()
    assert [line["result"] for line in lines(3)] == [{"new": 1}]


def test_a_stream_says_that_it_lives(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterword.serve.jobs._BEAT_S", 0.05)
    _, said = house.ask("POST", "/v1/jobs", {"name": "ingest"})
    connection = http.client.HTTPConnection("127.0.0.1", house.door.port, timeout=10)
    connection.request("GET", f"/v1/jobs/{said['job']}/events", headers={"Authorization": f"Bearer {house.token}"})
    response = connection.getresponse()
    assert json.loads(response.readline()) == {"n": 0, "state": "queued"}
    assert json.loads(response.readline()) == {"beat": True}
    house.lines.add(said["job"], {"state": "failed", "error": {"message": "no"}})
    rest = [json.loads(line) for line in response.read().splitlines()]
    connection.close()
    assert [line for line in rest if "n" in line] == [{"n": 1, "state": "failed", "error": {"message": "no"}}]


def test_what_leaves_is_redacted(house: House) -> None:
    canary = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    for method, path, body in (
        ("POST", "/v1/search", {"query": canary}), ("GET", f"/v1/show/{canary}", None),
        ("POST", "/v1/jobs", {"name": canary}),
        ("POST", "/v1/jobs", {"name": "ingest", "arguments": {"harness": canary}}),
    ):  # fmt: skip
        assert canary not in json.dumps(house.ask(method, path, body)[1])
    for path in house.state.rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes()


def test_a_stale_card_is_not_believed(house: House, tmp_path: Path) -> None:
    """A killed daemon leaves its card; its port may be somebody else's by now."""
    assert door(house.state) is None  # nobody holds the lock
    card = doorfile.read(house.state)
    assert card is not None
    with writer_lock(house.state, "ingest"):
        assert door(house.state) == card
        doorfile.write(house.state, msgspec.structs.replace(card, pid=card.pid + 1))
        with pytest.raises(NoAnswer, match="takes no jobs"):
            ask_door(house.state, "/v1/ping")
        doorfile.write(house.state, msgspec.structs.replace(card, port=_free_port()))
        with pytest.raises(NoAnswer, match="does not answer"):
            ask_door(house.state, "/v1/ping")
        (house.state / doorfile.FILE).write_text("{")
        with pytest.raises(NoAnswer):
            ask_door(house.state, "/v1/ping")


def test_something_else_behind_the_port_is_no_daemon(house: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            link, _ = other.accept()
            link.recv(1000)
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            link.close()

        thread = threading.Thread(target=answer)
        thread.start()
        card = doorfile.read(house.state)
        assert card is not None
        with writer_lock(house.state, "run"):
            doorfile.write(house.state, msgspec.structs.replace(card, port=other.getsockname()[1]))
            with pytest.raises(NoAnswer, match="no afterword"):
                ask_door(house.state, "/v1/ping")
        thread.join()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
