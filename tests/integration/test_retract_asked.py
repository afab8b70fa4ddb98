"""Retracting over the door and over MCP: shown first, and done with the word that confirms just what was shown."""

import asyncio
import http.client
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from homelab import CLAIM, INSTEAD, REASON, homelab, notes
from homes import Home
from knowledge import NOW


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return homelab(tmp_path / "home")


def ask(home: Home, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool says to an agent."""
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def run() -> dict[str, Any]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "afterword", "mcp"], env=home.env | NOW)
        async with stdio_client(server) as (inward, outward), ClientSession(inward, outward) as client:
            await client.initialize()
            answer = await client.call_tool(tool, given)
            found: dict[str, Any] = json.loads(answer.content[0].text)
            return found

    return asyncio.run(asyncio.wait_for(run(), 60))


def door(home: Home, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    card = json.loads((home.state / "door.json").read_bytes())
    connection = http.client.HTTPConnection("127.0.0.1", card["port"], timeout=60)
    try:
        headers = {"Authorization": f"Bearer {card['token']}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def told(home: Home) -> str:
    return "".join([*notes(home, "knowledge/concepts").values(), *notes(home, "lessons/agents").values()])


def test_an_agent_shows_first_and_confirms_after(home: Home) -> None:
    before = home.vault_bytes()
    shown = ask(home, "retract", what=CLAIM, reason=REASON)
    assert shown["dry"] is True
    assert len(shown["articles"]) == 3
    assert len(shown["facts"]) == 2
    assert home.vault_bytes() == before
    wrong = ask(home, "retract", what=CLAIM, reason="another reason", confirm=shown["confirm"])
    assert "does not confirm" in wrong["error"]
    assert home.vault_bytes() == before
    assert "reason" in ask(home, "retract", what=CLAIM, reason=" ")["error"]
    assert ask(home, "retract", what="nothing of the kind was said", reason="x")["results"] == []
    done = ask(home, "retract", what=CLAIM, reason=REASON, replacement=INSTEAD, confirm=shown["confirm"])
    assert len(done["retracted"]) == 5
    assert "- The NAS is a Synology" not in told(home)
    assert INSTEAD in told(home)
    home.run("undo", done["id"], **NOW)
    assert "- The NAS is a Synology" in told(home)


def test_through_the_door_of_a_running_daemon(home: Home) -> None:
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW):
        code, shown = door(home, "/v1/retract", {"what": CLAIM, "reason": REASON})
        assert (code, shown["dry"]) == (200, True)
        code, said = door(home, "/v1/retract", {"what": CLAIM, "reason": REASON, "confirm": "0" * 12})
        assert code == 400
        assert "does not confirm" in said["error"]["message"]
        done = ask(home, "retract", what=CLAIM, reason=REASON, confirm=shown["confirm"])
        assert len(done["retracted"]) == 5
        assert "- The NAS is a Synology" not in told(home)
        path = next(iter(notes(home, "knowledge/concepts")))
        code, said = door(home, "/v1/useful", {"id": f"knowledge/concepts/{path}"})
        assert (code, said["path"]) == (200, f"knowledge/concepts/{path}")


def test_an_article_is_read_over_mcp_and_counts_as_opened(home: Home) -> None:
    rows = ask(home, "recall", folder=str(home.path / "src/homelab"), agent="codex")["results"]
    assert {row["kind"] for row in rows} == {"lesson", "article"}
    assert all(row["why"] for row in rows)
    path = next(row["note"] for row in rows if row["kind"] == "article")
    shown = ask(home, "show", id=path)
    assert shown["kind"] == "article"
    assert shown["title"] in shown["text"]
    assert ask(home, "show", id=shown["id"])["text"] == shown["text"]
    home.run("compile", **NOW)
    used = {row["uid"]: row for row in home.json("report", **NOW)["most_used"]}
    assert used[shown["id"]]["opened"] == 2
    assert used[shown["id"]]["returned"] == 1
    assert "Articles that were used most" in home.run("report", "--format", "md", **NOW).stdout
