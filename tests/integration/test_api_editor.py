"""What an editor asks of a running daemon: search, related, open, wrong and right again, review, sync, the pulse."""

import asyncio
import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from homelab import homelab, notes
from homes import Home
from knowledge import NOW, later

PATH = "knowledge/concepts/"


class Editor:
    """Somebody with a token of its own."""

    def __init__(self, home: Home, *scopes: str) -> None:
        self.home = home
        words = [word for scope in scopes for word in ("--scope", scope)]
        said = home.json("pair", *words)
        assert said["address"].startswith("obsidian://afterword?")
        self.port = said["port"]
        self.token = ""
        _, made = self.ask("/v1/pair", {"code": said["code"], "name": "Obsidian"})
        self.token, self.id, self.vault = made["token"], made["id"], made["vault"]

    def ask(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            if body is None:
                connection.request("GET", path, headers=sent | headers)
            else:
                sent["Content-Type"] = "application/json"
                connection.request("POST", path, json.dumps(body), sent | headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def done(self, job: str) -> dict[str, Any]:
        """The job, when it has ended."""
        while True:
            status, said = self.ask(f"/v1/jobs/{job}")
            assert status == 200, said
            if said["state"] in ("done", "failed"):
                return said
            time.sleep(0.1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = homelab(tmp_path_factory.mktemp("home") / "home")
    story = "Decision: the berth map is drawn from the north, as pilots read it that way on their screens at night."
    later(made, "How is the berth map drawn, and who says so?", story, day="2026-06-10T10:00:00", name="thin")
    made.run("up", "--once", "--settle", "0", **NOW)
    with made.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW):
        yield made


@pytest.fixture(scope="module")
def editor(home: Home) -> Editor:
    return Editor(home)


def article(home: Home, part: str) -> str:
    return PATH + next(name for name, text in notes(home, PATH).items() if part in text)


def test_search_says_where_to_open_it(editor: Editor) -> None:
    status, said = editor.ask("/v1/search", {"query": "Synology"})
    assert status == 200
    assert said["results"]
    row = next(row for row in said["results"] if row["kind"] == "message")
    status, place = editor.ask("/v1/open", {"result": row["id"]})
    assert status == 200
    note = (editor.home.vault / place["path"]).read_text()
    assert f"^{place['block']}" in note


@pytest.mark.parametrize(
    "trick",
    ["../../.local/state/afterword/door.json", "/etc/passwd", "daily/../../x.md", ".obsidian/app.json", "..", "", "/",
     "daily", "C:\\x", "\0", "daily/\0.md", "link-out.md", "%2e%2e/x", "a" * 5000],
)  # fmt: skip
def test_open_does_not_lead_out_of_the_vault(editor: Editor, trick: str) -> None:
    out = editor.home.vault / "link-out.md"
    if not out.is_symlink():
        (editor.home.path / "secret.md").write_text("not in the vault")
        out.symlink_to(editor.home.path / "secret.md")
    status, said = editor.ask("/v1/open", {"result": trick})
    assert status in (400, 404, 409), said
    assert "path" not in said


def test_related_notes_and_sessions(editor: Editor) -> None:
    status, said = editor.ask("/v1/related", {"path": article(editor.home, "nightly backup")})
    assert status == 200
    assert said["article"]["status"] == "active"
    assert said["notes"]
    assert all((editor.home.vault / row["path"]).is_file() for row in said["notes"])
    (session, *_) = said["sessions"]
    assert f"^{session['block']}" in (editor.home.vault / session["path"]).read_text()
    status, day = editor.ask("/v1/related", {"path": session["path"]})
    assert {row["why"] for row in day["notes"]} == {"written here"}
    assert editor.ask("/v1/related", {"path": "my own.md"})[1]["notes"] == []


def test_wrong_and_right_again(editor: Editor) -> None:
    path = article(editor.home, "nightly backup")
    status, shown = editor.ask("/v1/retract", {"what": path, "reason": "we looked"})
    assert (status, shown["dry"]) == (200, True)
    assert editor.ask("/v1/retract", {"what": path, "reason": "we looked", "confirm": "0" * 12})[0] == 400
    asked = {"what": path, "reason": "we looked", "confirm": shown["confirm"]}
    said = editor.ask("/v1/retract", asked)[1]
    assert editor.done(said["job"])["state"] == "done"
    assert "status: retracted" in (editor.home.vault / path).read_text()
    assert editor.ask("/v1/related", {"path": path})[1]["article"]["reason"] == "we looked"
    found = editor.ask("/v1/search", {"query": "nightly backup", "kind": "article"})[1]["results"]
    assert path not in {row["path"] for row in found}
    status, shown = editor.ask("/v1/restore", {"what": path})
    assert (status, shown["restores"][0]["path"]) == (200, path)
    assert editor.ask("/v1/restore", {"what": path, "confirm": "0" * 12})[0] == 400
    said = editor.ask("/v1/restore", {"what": path, "confirm": shown["confirm"]})[1]
    assert editor.done(said["job"])["state"] == "done"
    assert "status: active" in (editor.home.vault / path).read_text()
    assert editor.ask("/v1/restore", {"what": path})[0] == 404
    assert editor.ask("/v1/useful", {"id": path})[1]["path"] == path


def test_review_is_decided(editor: Editor) -> None:
    row = editor.ask("/v1/review")[1]["candidates"]
    assert editor.ask("/v1/pulse")[1]["review"] == len(row) > 0
    its_id = row[0]["id"]
    assert editor.ask("/v1/review/v-none", {"verdict": "pin"})[0] == 404
    assert editor.ask(f"/v1/review/{its_id}", {"verdict": "maybe"})[0] == 400
    said = editor.ask(f"/v1/review/{its_id}", {"verdict": "reject"})[1]
    assert editor.done(said["job"])["state"] == "done"
    assert its_id not in {each["id"] for each in editor.ask("/v1/review")[1]["candidates"]}
    assert editor.ask("/v1/pulse")[1]["review"] < len(row)


def test_sync_now_reads_what_is_new(editor: Editor) -> None:
    said = editor.ask("/v1/sync/now", {})[1]
    assert said["peers"] == []
    assert editor.done(said["job"])["state"] == "done"


def test_the_pulse_is_streamed_when_it_changes(editor: Editor) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", editor.port, timeout=60)
    connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {editor.token}"})
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")

    def event() -> dict[str, Any]:
        while not (line := answer.readline()).startswith(b"data: "):
            assert line
        found: dict[str, Any] = json.loads(line[6:])
        return found

    assert event()["state"] in ("idle", "review", "working")
    card = editor.home.vault / ".afterword/vault.json"
    moved = card.rename(card.with_name("away.json"))
    try:
        assert event()["state"] == "error"
    finally:
        moved.rename(card)
    while event()["state"] == "error":
        pass
    connection.close()


def test_a_revoked_token_opens_nothing(home: Home) -> None:
    made = Editor(home, "status")
    assert made.ask("/v1/pulse", **{"X-Afterword-Vault": made.vault["id"]})[0] == 200
    assert made.ask("/v1/search", {"query": "x"})[0] == 403
    rows = {row["id"]: row for row in home.json("pair", "list")["paired"]}
    assert rows[made.id]["scopes"] == ["status"]
    assert made.token not in home.run("pair", "list").stdout
    home.run("pair", "revoke", made.id)
    status, said = made.ask("/v1/pulse")
    assert (status, said["error"]["kind"]) == (401, "unauthorized")
    home.run("pair", "revoke", made.id, code=3)


def test_mcp_over_the_api_with_the_clients_of_the_sdk(home: Home) -> None:
    import httpx2
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    made = Editor(home, "mcp", "status")
    url = f"http://127.0.0.1:{made.port}/mcp"

    async def run() -> list[str]:
        headers = {"Authorization": f"Bearer {made.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as web,
            streamable_http_client(url, http_client=web) as streams,
            ClientSession(*streams[:2]) as client,
        ):
            await client.initialize()
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("search", {"query": "Synology"})
            assert json.loads(answer.content[0].text)["results"]
            return [tool.name for tool in tools]

    assert {"search", "show", "recall"} <= set(asyncio.run(asyncio.wait_for(run(), 120)))
    other = Editor(home, "search")
    assert other.ask("/mcp", {})[0] == 403
    other.token = "x"
    assert other.ask("/mcp", {})[0] == 401
