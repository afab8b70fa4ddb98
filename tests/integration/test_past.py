"""`blame` and `again`, on the command line and over MCP: what earlier sessions did to a file, and about an error."""

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from transcripts import ClaudeSession

from afterword.app.again import attempts

ERROR = "psycopg.errors.TooManyConnections: remaining connection slots are reserved, 97 of 100 used"


def edit(session: ClaudeSession, path: str, tool: str = "Edit") -> None:
    given = {"file_path": path, "old_string": "a = 1", "new_string": "a = 2"} if tool == "Edit" else {"file_path": path}
    call = f"toolu_{len(session.lines):08d}{session.session[:4]}"
    session.row(
        "assistant",
        message={
            "id": f"msg_{call}", "type": "message", "role": "assistant", "model": "made-up",
            "content": [{"type": "tool_use", "id": call, "name": tool, "input": given}],
        },
    )  # fmt: skip
    session.row(
        "user",
        message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "done"}]},
    )


def fixed(root: str) -> ClaudeSession:
    session = ClaudeSession(random.Random(1), session="fixed-1", cwd=root)
    session.prompt("The pool tests fail since yesterday, find out why.")
    session.command("pytest -q tests/test_pool.py", f"E   {ERROR}\n1 failed", failed=True)
    edit(session, f"{root}/orders/pool.py")
    session.command("pytest -q tests/test_pool.py", f"E   {ERROR.replace('97', '99')}\n1 failed", failed=True)
    session.command("pip install psycopg-pool==3.2.1", "Successfully installed psycopg-pool-3.2.1")
    edit(session, f"{root}/orders/pool.py")
    edit(session, f"{root}/orders/settings.py", "Read")
    session.command("pytest -q tests/test_pool.py", "12 passed")
    session.reply(
        "All green.\n\nRoot cause: every request opened a pool of its own, which is why the slots ran out.\n\n"
        "Decision: we keep one pool per process, and settings.py stays as it is."
    )
    return session


def unsolved(root: str) -> ClaudeSession:
    session = ClaudeSession(random.Random(2), session="unsolved-1", cwd=root)
    session.prompt("Run the migration.")
    session.command("make migrate", f"{ERROR}\nmake: *** [migrate] Error 1", failed=True)
    return session


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    for session in (fixed("/srv/orchard-api"), unsolved("/srv/orchard-api")):
        path = session.path(tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    other = ClaudeSession(random.Random(3), session="other-1", cwd="/srv/elsewhere")
    other.prompt("Rename the pool here too, please.")
    edit(other, "/srv/elsewhere/orders/pool.py")
    path = tmp_path / ".claude/projects/-srv-elsewhere/other-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(other.lines))
    made.run("up", "--once", "--settle", "0")
    return made


def test_again_tells_what_made_an_error_go_away(home: Home) -> None:
    found = home.json("again", ERROR)
    assert found["total"] == 2
    (one,) = found["results"]  # nothing came of the other
    assert one["session"] == "fixed-1"
    assert one["command"] == "pytest -q tests/test_pool.py"
    assert one["failures"] == 2
    assert one["passed"] == "pytest -q tests/test_pool.py"
    assert one["files"] == ["orders/pool.py"]  # since it was seen last
    assert one["steps"] == ["pip install psycopg-pool==3.2.1"]
    assert "every request opened a pool of its own" in one["said"]
    assert one["path"].startswith("daily/")
    said = home.run("again", ERROR).stdout
    assert "failed 2 times" in said
    assert "passed" in said


def test_again_needs_no_same_numbers(home: Home) -> None:
    other = ERROR.replace("97", "12").replace("100", "500")
    found = home.json("again", f"Traceback (most recent call last):\n  File x.py, line 3\n{other}\n")
    assert [one["session"] for one in found["results"]] == ["fixed-1"]
    assert "12" not in found["words"].split()


def test_again_reads_standard_input_and_says_when_nobody_met_it(home: Home) -> None:
    assert home.json("again", "zzz_never_seen_anywhere", code=3)["results"] == []
    assert "nobody met" in home.run("again", "zzz_never_seen_anywhere", code=3).stderr
    assert "came of it" in home.run("again", "make migrate Error 1", code=3).stderr
    assert "standard input is empty" in home.run("again", "-", code=2).stderr


def test_attempts_end_with_words_that_stay() -> None:
    tried = list(attempts("line one\nKeyError: 'user_4711' in /srv/app/cache.py:44 for request 0xdeadbeef\n"))
    assert tried[0].startswith("KeyError:")
    assert "4711" not in tried[-1]
    assert "cache.py" not in tried[-1]
    assert list(attempts("!!! ???")) == []


def test_blame_names_the_sessions_that_edited_a_file_and_what_they_decided(home: Home) -> None:
    found = home.json("blame", "/srv/orchard-api/orders/pool.py")
    (one,) = found["results"]
    assert one["session"] == "fixed-1"
    assert (one["edits"], one["reads"]) == (2, 0)
    assert any("one pool per process" in text for text in one["decisions"])
    assert any("a pool of its own" in text for text in one["lessons"])
    assert one["path"].startswith("daily/")


def test_blame_takes_the_end_of_a_path_where_no_file_is_that_very_one(home: Home) -> None:
    found = home.json("blame", "orders/pool.py")
    assert {one["session"] for one in found["results"]} == {"fixed-1", "other-1"}
    assert found["paths"] == ["/srv/elsewhere/orders/pool.py", "/srv/orchard-api/orders/pool.py"]
    assert home.json("blame", "pool.py", "--limit", "1")["total"] == 2
    # A name is not the end of a longer one, and no pattern.
    assert home.json("blame", "ool.py", code=3)["results"] == []
    assert home.json("blame", "%.py", code=3)["results"] == []
    assert home.json("blame", "orders/settings.py", code=3)["results"] == []
    assert home.json("blame", "orders/settings.py", "--reads")["results"][0]["reads"] == 1
    assert "--reads" in home.run("blame", "orders/settings.py", code=3).stderr


def test_what_a_person_took_out_of_a_section_is_not_told(home: Home) -> None:
    (note,) = [p for p in (home.vault / "daily").glob("*.md") if "one pool per process" in p.read_text()]
    kept = [line for line in note.read_text().split("\n") if "one pool per process" not in line]
    note.write_text("\n".join(kept))
    home.run("up", "--once", "--settle", "0")
    (one,) = home.json("blame", "/srv/orchard-api/orders/pool.py")["results"]
    assert not any("one pool per process" in text for text in one["decisions"])


def test_agents_ask_over_mcp(home: Home) -> None:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def call(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        said: dict[str, Any] = json.loads(answer.content[0].text)
        return said

    async def talk() -> None:
        server = StdioServerParameters(command=sys.executable, args=["-m", "afterword", "mcp"], env=home.env)
        async with stdio_client(server) as (inward, outward), ClientSession(inward, outward) as client:
            await client.initialize()
            (met,) = (await call(client, "again", error=ERROR))["results"]
            assert met["passed"] == "pytest -q tests/test_pool.py"
            blamed = await call(client, "blame", path="/srv/orchard-api/orders/pool.py")
            assert blamed["results"][0]["session"] == "fixed-1"
            assert (await call(client, "blame", path="nothing.py"))["results"] == []
            session = await call(client, "show", id="fixed-1")
            assert session["session"]["native_id"] == "fixed-1"
            kinds = [message["kind"] for message in session["messages"]]
            assert kinds[0] == "prompt"
            assert "output" not in kinds
            message = await call(client, "show", id=met["id"])
            assert ERROR.replace("97", "99") in message["text"]
            rest = await call(client, "show", id="fixed-1", start=len(kinds) - 1)
            assert [m["kind"] for m in rest["messages"]] == kinds[-1:]
            gone = await call(client, "show", id="zzz")
            assert gone["results"] == []
            assert (await client.call_tool("show", {})).is_error is True

    asyncio.run(asyncio.wait_for(talk(), 60))
