"""The demo: it shows the made-up history and nothing of anybody's own, wherever their variables point."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from homes import FIXTURES, Home


def test_the_demo_reads_nobodys_stores_and_what_it_prints_works(tmp_path: Path) -> None:
    home = Home(tmp_path)
    mine = tmp_path / "mine"
    for harness in ("claude-code", "codex", "gemini-cli", "grok-build", "copilot-cli", "qwen-code", "pi"):
        shutil.copytree(FIXTURES / "harness" / harness, mine, dirs_exist_ok=True)
    env = {
        "CLAUDE_CONFIG_DIR": str(mine / ".claude"),
        "CODEX_HOME": str(mine / ".codex"),
        "GEMINI_CLI_HOME": str(mine),
        "GROK_HOME": str(mine / ".grok"),
        "COPILOT_HOME": str(mine / ".copilot"),
        "QWEN_RUNTIME_DIR": str(mine / ".qwen"),
        "PI_CODING_AGENT_DIR": str(mine / ".pi/agent"),
        "AFTERWORD_GEMINI_ROOT": str(mine / ".gemini"),
        "XDG_STATE_HOME": str(tmp_path / "state of mine"),
        "XDG_DATA_HOME": str(mine / ".local/share"),
    }
    away = tmp_path / "away"
    away.mkdir()
    before = {path for path in tmp_path.rglob("*") if away not in path.parents}
    said = home.run("up", "--demo", TMPDIR=str(away), **env)
    assert {path for path in tmp_path.rglob("*") if away not in path.parents} == before
    searches = [line.strip() for line in said.stdout.splitlines() if " search " in line]
    assert len(searches) == 3
    for line in searches[:2]:
        words = shlex.split(line)
        at = words.index("search")
        command = [*words[: at - 1], sys.executable, "-m", "afterword", *words[at:]]
        done = subprocess.run(
            ["sh", "-c", shlex.join(command)], env=home.env | env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
    demo = next(path for path in away.iterdir() if path.name.startswith("afterword-demo-"))
    found = Home(demo).json("sources")["sources"]
    assert {one["harness"] for one in found if one["messages"]} == {"claude-code", "codex"}
