"""`agents`: entries in agents' settings are merged in place, and taken out so that nothing is left of them."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from homes import Home

from afterword.domain import jsonc

CLAUDE = """{
\t// mine
\t"hooks": {
\t\t"SessionStart": [
\t\t\t{"matcher": "startup", "hooks": [{"type": "command", "command": "echo hi"}]},
\t\t],
\t},
\t"env": {"SOME_KEY": "made-up-value"}, // stays
}
"""
CODEX = (
    'model = "gpt-5"   # as it was\n\n[mcp_servers.other]\ncommand = "npx"\n\n# about the profile\n[profiles.a]\nx = 1'
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    files = {
        ".claude/settings.json": CLAUDE,
        ".claude.json": '{"numStartups": 3, "projects": {}}',
        ".codex/config.toml": CODEX,
        ".gemini/settings.json": '{"mcpServers": {}}\r\n',
        ".config/opencode/opencode.jsonc": "{ /* nothing */ }",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (tmp_path / ".cursor").mkdir()
    return made


def bytes_of(home: Home) -> dict[str, bytes]:
    return {
        str(path.relative_to(home.path)): path.read_bytes()
        for path in home.path.rglob("*")
        if path.is_file() and not path.is_relative_to(home.path / ".local")
    }


def states(home: Home, *words: str, code: int = 0) -> dict[tuple[str, str], str]:
    found: dict[str, Any] = home.json("agents", *words, code=code)
    return {(entry["agent"], entry["what"]): entry["state"] for entry in found["entries"]}


def test_entries_are_merged_and_taken_out_to_the_byte(home: Home) -> None:
    before = bytes_of(home)
    assert set(states(home, "install", "--dry-run").values()) == {"would"}
    assert bytes_of(home) == before
    assert set(states(home, "install").values()) == {"put"}
    claude = (home.path / ".claude/settings.json").read_text()
    assert "// mine" in claude
    assert "// stays" in claude
    assert claude.count("afterword-hook") == 3
    start = "session-start --agent claude"
    assert claude.index("echo hi") < claude.index(start)
    servers = json.loads((home.path / ".claude.json").read_text())["mcpServers"]
    assert servers["afterword"]["args"] == ["mcp"]
    assert os.access(servers["afterword"]["command"], os.X_OK)
    codex = tomllib.loads((home.path / ".codex/config.toml").read_text())
    assert codex["mcp_servers"].keys() == {"other", "afterword"}
    assert codex["profiles"] == {"a": {"x": 1}}
    assert "afterword" in json.loads((home.path / ".cursor/mcp.json").read_text())["mcpServers"]
    installed = bytes_of(home)
    assert set(states(home, "install").values()) == {"there"}
    assert set(states(home, "status").values()) == {"there"}
    assert bytes_of(home) == installed
    assert set(states(home, "uninstall").values()) == {"taken"}
    assert bytes_of(home) == before
    assert set(states(home, "status").values()) == {"absent"}
    assert states(home, "uninstall") == {}


def test_in_two_steps_it_still_comes_out_to_the_byte(home: Home) -> None:
    before = bytes_of(home)
    home.run("agents", "install", "--no-mcp")
    assert "mcpServers" not in (home.path / ".claude.json").read_text()
    home.run("agents", "install")
    home.run("agents", "uninstall")
    assert bytes_of(home) == before


def test_what_somebody_changed_since_stays(home: Home) -> None:
    home.run("agents", "install")
    settings = home.path / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"env"', '"model": "opus",\n\t"env"'))
    codex = home.path / ".codex/config.toml"
    codex.write_text(codex.read_text() + "\n# later\n[tools]\nweb = true\n")
    home.run("agents", "uninstall")
    left = settings.read_text()
    changed = CLAUDE.replace('"env"', '"model": "opus",\n\t"env"')
    assert jsonc.parse(left).value == jsonc.parse(changed).value
    # A comma behind the last element may go with ours; nothing else does.
    assert left.replace(",", "") == changed.replace(",", "")
    assert "afterword" not in codex.read_text()
    assert "# later\n[tools]" in codex.read_text()
    assert tomllib.loads(codex.read_text()).keys() == {"model", "mcp_servers", "profiles", "tools"}


def test_a_hook_somebody_put_beside_ours_stays(home: Home) -> None:
    home.run("agents", "install", "claude")
    settings = home.path / ".claude/settings.json"
    mine = '{"type": "command", "command": "say bye"}, '
    ours = settings.read_text()
    at = ours.index("{", ours.index("hooks", ours.index("SessionEnd")) + 6)
    settings.write_text(ours[:at] + mine + ours[at:])
    home.run("agents", "uninstall", "claude")
    assert "afterword-hook" not in settings.read_text()
    assert "say bye" in settings.read_text()


def test_an_entry_of_another_installation_is_replaced(home: Home) -> None:
    claude = home.path / ".claude.json"
    claude.write_text('{"mcpServers": {"afterword": {"type": "stdio", "command": "/gone/afterword", "args": ["mcp"]}}}')
    assert states(home, "status")["claude", "MCP server"] == "outdated"
    home.run("agents", "install", "claude")
    assert "/gone" not in claude.read_text()
    assert states(home, "status")["claude", "MCP server"] == "there"


def test_settings_that_cannot_be_read_are_left_alone(home: Home) -> None:
    broken = home.path / ".claude/settings.json"
    broken.write_text('{\n  "hooks": {\n')
    (home.path / ".codex/config.toml").write_text("[mcp_servers\n")
    (home.path / ".claude.json").write_text('{"mcpServers": []}')
    before = bytes_of(home)
    done = home.run("agents", "install", "claude", "codex", code=1)
    assert "line 3" in done.stdout
    assert "mcpServers is no object" in done.stdout
    assert "by hand" in done.stdout
    assert bytes_of(home) == before
    assert "there is no agent" in home.run("agents", "install", "clod", code=2).stderr
    assert "not here" in home.run("agents", "install", "grok", code=2).stderr


def test_a_link_stays_a_link_and_its_mode_too(home: Home) -> None:
    real = home.path / "dotfiles/claude.json"
    real.parent.mkdir()
    link = home.path / ".claude/settings.json"
    link.rename(real)
    real.chmod(0o640)
    link.symlink_to(real)
    home.run("agents", "install", "claude")
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "afterword-hook" in real.read_text()
    assert "made-up-value" not in (home.state / "agents.json").read_text()
