"""Who may ask the loopback API, with which token, and what becomes of those who guess or push."""

import contextlib
import hashlib
import hmac
import http.client
import json
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from house import House

from afterword.serve.api import GUESTS_AT_ONCE
from afterword.serve.gate import Bucket
from afterword.serve.pairing import LIFE_S, TRIES, BadCode, Codes
from afterword.serve.routes_editor import ROUTES
from afterword.store import doorfile, pairs


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_code_becomes_a_token_once(house: House) -> None:
    said = house.ask("POST", "/v1/pair/codes", {})[1]
    assert (said["seconds"], said["port"]) == (120, house.door.port)
    asked = {"code": said["code"].lower().replace("-", " "), "name": "Obsidian"}
    status, made = house.ask("POST", "/v1/pair", asked, Authorization="")
    assert status == 200
    token = made["token"]
    assert house.ask("GET", "/v1/pulse", headers=bearer(token))[0] == 200
    again, refused = house.ask("POST", "/v1/pair", asked, Authorization="")
    assert (again, refused["error"]["kind"]) == (403, "bad-code")
    assert "afterword pair" in refused["error"]["hint"]
    # Kept as a hash, and for its owner's eyes alone.
    (file,) = (house.state / pairs.FOLDER).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for path in house.state.rglob("*"):
        if path.is_file():
            assert token.rpartition("_")[2].encode() not in path.read_bytes()
    assert pairs.revoke(house.state, made["id"])
    assert house.ask("GET", "/v1/pulse", headers=bearer(token))[0] == 401


def test_codes_expire_and_guessing_voids_them() -> None:
    now = [0.0]
    codes = Codes(lambda: now[0])
    code = codes.make(("search",))
    now[0] = LIFE_S + 0.1
    with pytest.raises(BadCode):
        codes.take(code)
    code = codes.make(("search",))
    for _ in range(TRIES - 1):
        with pytest.raises(BadCode):
            codes.take("AAAA-AAAA")
    assert codes.take(code) == ("search",)
    code = codes.make(("search",))
    for _ in range(TRIES):
        with pytest.raises(BadCode):
            codes.take("AAAA-AAAA")
    with pytest.raises(BadCode):
        codes.take(code)
    many = [codes.make(("status",)) for _ in range(20)]
    with pytest.raises(BadCode):
        codes.take(many[0])
    assert codes.take(many[-1]) == ("status",)


def test_a_code_is_taken_by_one_of_many() -> None:
    codes = Codes()
    code = codes.make(("search",))
    taken = []
    start = threading.Barrier(8)

    def take() -> None:
        start.wait()
        with contextlib.suppress(BadCode):
            taken.append(codes.take(code))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert taken == [("search",)]


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {"Authorization": ""}),
        (401, {"Authorization": "Bearer "}),
        (401, {"Authorization": "Bearer aw_000000000000_" + "a" * 43}),
        (401, {"Authorization": "Bearer aw_../../door_" + "a" * 43}),
        (401, {"Authorization": "bearer {token}x"}),
        (403, {"Host": "evil.example:{port}"}),
        (403, {"Host": "127.0.0.1.evil.example:{port}"}),
        (403, {"Host": "[::1]:{port}"}),
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "app://obsidian.md.evil.example"}),
        (403, {"Origin": "capacitor://localhost"}),
        (403, {"Origin": "http://localhost:{port}"}),
        (200, {"Origin": "app://obsidian.md"}),
        (200, {}),
    ],
)  # fmt: skip
def test_who_is_let_in_with_a_paired_token(house: House, status: int, headers: dict[str, str]) -> None:
    token = house.pair()
    sent = bearer(token) | {k: v.format(token=token, port=house.door.port) for k, v in headers.items()}
    got, said = house.ask("GET", "/v1/pulse", headers=sent)
    assert got == status, said
    assert token not in json.dumps(said)
    if status != 200:
        assert set(said["error"]) == {"kind", "message", "hint", "code"}
    # Without a token nobody is paired from elsewhere either.
    if status == 403:
        body = {"code": "AAAA-AAAA"}
        assert house.ask("POST", "/v1/pair", body, headers=sent | {"Authorization": ""})[0] == 403


def test_a_token_does_what_its_scopes_say_and_nothing_else(house: House) -> None:
    bodies: dict[str, Any] = {
        "/v1/search": {"query": "x"}, "/v1/retract": {"what": "x", "reason": "y"}, "/v1/related": {"path": "a.md"},
        "/v1/open": {"result": "x"}, "/v1/restore": {"what": "x"}, "/v1/review/x": {"verdict": "pin"},
        "/v1/useful": {"id": "x"}, "/v1/jobs": {"name": "ingest"}, "/v1/forget": {}, "/v1/sync": {},
    }  # fmt: skip
    for scope in ("search", "related", "status", "sync", "review", "mcp"):
        token = house.pair(scopes=[scope])
        for route in ROUTES:
            if not route.scope or route.lines:
                continue
            path = route.path.replace("{id}", "x")
            body = bodies.get(path, {}) if route.method == "POST" else None
            status, said = house.ask(route.method, path, body, bearer(token))
            refused = status == 403 and said["error"]["kind"] == "scope"
            assert refused is (route.scope != scope), (scope, route.path, said)
    assert house.ask("POST", "/v1/pair/codes", {"scopes": ["own"]})[0] == 400
    # What the owner alone may do is open to no token of a pair.
    assert {r.scope for r in ROUTES if r.path in ("/v1/jobs", "/v1/forget", "/v1/pair/codes", "/v1/sync")} == {"own"}


def test_ten_thousand_wrong_tokens_cost_nobody_his_turn(house: House) -> None:
    token = house.pair()
    seen = {b"401": 0, b"429": 0}
    for first in range(0, 10_000, 500):
        with socket.create_connection(("127.0.0.1", house.door.port), timeout=30) as link:
            answers = link.makefile("rb")
            for n in range(first, first + 500):
                link.sendall(
                    b"GET /v1/pulse HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer aw_%012x_%s\r\n\r\n"
                    % (house.door.port, n, b"b" * 43)
                )
                status = answers.readline().split()[1]
                seen[status] += 1
                head = b"".join(iter(answers.readline, b"\r\n")).lower()
                assert (b"retry-after: 5" in head) is (status == b"429")
                answers.read(int(head.partition(b"content-length: ")[2].split()[0]))
        assert house.ask("GET", "/v1/ping", headers=bearer(token))[0] == 200
    assert seen[b"429"] > seen[b"401"] > 0
    assert house.ask("GET", "/v1/ping")[0] == 200


def test_a_paired_program_that_asks_without_end_is_slowed_down(house: House) -> None:
    token = house.pair()
    statuses = {house.ask("GET", "/v1/nothing", headers=bearer(token))[0] for _ in range(400)}
    assert statuses == {404, 429}
    assert house.ask("GET", "/v1/ping")[0] == 200
    now = [0.0]
    bucket = Bucket(2, 1.0, lambda: now[0])
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    now[0] = 1.0
    assert [bucket.take() for _ in range(2)] == [True, False]


def test_guessing_codes_is_slow(house: House) -> None:
    statuses = [house.ask("POST", "/v1/pair", {"code": "AAAA-AAAA"}, Authorization="")[0] for _ in range(60)]
    assert set(statuses) == {403, 429}


def test_a_door_proves_that_it_knows_the_token(house: House) -> None:
    token = house.pair()
    its_id = token.split("_")[1]
    nonce = "n" * 32
    status, said = house.ask("POST", "/v1/hello", {"id": its_id, "nonce": nonce}, Authorization="")
    key = hashlib.sha256(token.encode()).digest()
    wanted = hmac.new(key, f"{nonce}:{house.door.port}".encode(), hashlib.sha256).hexdigest()
    assert (status, said["proof"]) == (200, wanted)
    for asked in ({"id": "0" * 12, "nonce": nonce}, {"id": "../door", "nonce": nonce}, {"id": its_id, "nonce": "x"}):
        assert house.ask("POST", "/v1/hello", asked, Authorization="")[0] == 403


def test_the_next_door_is_where_the_last_one_was(tmp_path: Path) -> None:
    first = House(tmp_path)
    token, port = first.pair(), first.door.port
    first.close()
    again = House(tmp_path)
    assert again.door.port == port
    assert again.ask("GET", "/v1/pulse", headers=bearer(token))[0] == 200
    # A second daemon's door takes another port, and remembers that.
    other = House(tmp_path / "other")
    doorfile.keep_port(other.state, port)
    other.close()
    third = House(tmp_path / "other")
    assert third.door.port != port
    third.close()
    again.close()


def test_a_question_of_another_vault_is_not_answered(house: House) -> None:
    status, said = house.ask("GET", "/v1/pulse", headers={"X-Afterword-Vault": "another"})
    assert (status, said["error"]["kind"]) == (409, "wrong-vault")


def test_names_of_programs_are_short_and_redacted(house: House) -> None:
    canary = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    for name, wanted in ((f"me {canary}", 200), ("", 400), ("x" * 81, 400), ("a\nb\u202e", 200)):
        code = house.ask("POST", "/v1/pair/codes", {})[1]["code"]
        status, said = house.ask("POST", "/v1/pair", {"code": code, "name": name}, Authorization="")
        assert status == wanted, said
        assert canary not in json.dumps(said)
    kept = [pair.name for pair in pairs.every(house.state)]
    assert not any(canary in name for name in kept)
    assert "a b" in kept


def test_without_a_daemon_nothing_is_paired(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("init", str(home.vault), "--zone", "UTC", "--yes")
    assert "afterword up" in home.run("pair", code=75).stderr
    assert home.json("pair", "list")["paired"] == []
    home.run("pair", "revoke", "all", code=3)


def test_the_door_closes_while_somebody_listens(house: House) -> None:
    links = [http.client.HTTPConnection("127.0.0.1", house.door.port, timeout=20) for _ in range(3)]
    answers = []
    for link in links:
        link.request("GET", "/v1/events", headers=bearer(house.token))
        answers.append(link.getresponse())
    assert all(answer.readline().startswith(b"event: pulse") for answer in answers)
    assert house.ask("GET", "/v1/ping")[0] == 200
    house.lines.close()
    house.door.close()
    house.door.close()  # a second time does no harm
    house.door._thread.join(20)
    assert not house.door.alive
    for link in links:
        link.close()


def test_a_paired_program_that_takes_all_streams_leaves_room_for_the_owner(house: House) -> None:
    token = house.pair(scopes=["status"])
    links = [http.client.HTTPConnection("127.0.0.1", house.door.port, timeout=20) for _ in range(GUESTS_AT_ONCE)]
    for link in links:
        link.request("GET", "/v1/events", headers=bearer(token))
        assert link.getresponse().readline().startswith(b"event: pulse")
    status, said = house.ask("GET", "/v1/events", headers=bearer(token))
    assert (status, said["error"]["kind"]) == (503, "busy")
    assert house.ask("GET", "/v1/pulse", headers=bearer(token))[0] == 200
    job = house.ask("POST", "/v1/jobs", {"name": "ingest"})[1]["job"]
    house.lines.add(job, {"state": "failed", "error": {"message": "no"}})
    link = http.client.HTTPConnection("127.0.0.1", house.door.port, timeout=20)
    link.request("GET", f"/v1/jobs/{job}/events", headers=bearer(house.token))
    assert b"failed" in link.getresponse().read()
    for each in (*links, link):
        each.close()
