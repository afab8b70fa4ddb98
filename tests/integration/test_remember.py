"""`remember` over MCP: an agent keeps a lesson, by its own name, in its project."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from homes import Home

SECRET = "sk-proj-" + "Q7w8E9r0" * 6


def test_an_agent_remembers_with_no_daemon_and_no_ledger(tmp_path: Path) -> None:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp_types import Implementation

    home = Home(tmp_path)
    home.run("init", str(home.vault), "--yes")
    project = tmp_path / "src/harbor-api"
    project.mkdir(parents=True)
    subprocess.run(["git", "-C", str(project), "init", "-q"], check=True)
    said: list[tuple[bool, dict[str, Any]]] = []

    async def run() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "afterword", "mcp"], env=home.env, cwd=str(project)
        )
        client = Implementation(name="codex-mcp-client", version="1")
        async with (
            stdio_client(server) as (inward, outward),
            ClientSession(inward, outward, client_info=client) as agent,
        ):
            await agent.initialize()
            for arguments in (
                {"text": f"The upload needs chunks of 5 MiB, {SECRET}", "topic": "uploads"},
                {"text": "Codex runs here without network", "only_me": True, "everywhere": True, "kind": "local-fact"},
                {"text": ""},
                {"text": "x", "kind": "opinion"},
                {"text": "x", "supersedes": ["the old one"]},
            ):
                answer = await agent.call_tool("remember", arguments)
                said.append((bool(answer.is_error), json.loads(answer.content[0].text)))

    asyncio.run(asyncio.wait_for(run(), 60))
    assert [wrong for wrong, _ in said] == [False, False, True, True, True]
    assert said[0][1]["project"] == "harbor-api"
    assert not (home.state / "ledger.db").exists()
    first, second = sorted((path.read_text() for path in (home.vault / "lessons/journal").glob("*.md")), reverse=True)
    both = first + second
    assert both.count('by: "codex"') == 2
    assert both.count("source: remember") == 2
    assert SECRET not in both + json.dumps(said)
    home.run("distill")
    agents = {path.stem: path.read_text() for path in (home.vault / "lessons/agents").glob("*.md")}
    assert list(agents) == ["codex"]
    assert "chunks of 5 MiB" in agents["codex"]
    assert "without network" in agents["codex"]
