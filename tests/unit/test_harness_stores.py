"""Where stores are and what in them is a source."""

import os
from pathlib import Path
from typing import cast

import pytest

from afterword.capture.harness.table import BY_NAME, HARNESSES
from afterword.domain.events import Decoder, Where

from .harness_model import load

SESSION = "5e55104e-0000-4000-8000-000000000001"


def where(platform: str = "linux", **env: str) -> Where:
    return Where(env=env, home=Path("/h"), platform=platform)


def roots(harness: str, platform: str = "linux", **env: str) -> list[str]:
    return [str(root) for root in BY_NAME[harness].load().roots(where(platform, **env))]


def test_the_table_names_eleven_and_loads_each() -> None:
    names = ["claude-code", "codex", "opencode", "cursor", "gemini-cli", "aider", "antigravity", "grok-build"]
    names += ["copilot-cli", "qwen-code", "pi"]
    assert [harness.name for harness in HARNESSES] == names
    for harness in HARNESSES:
        agent = harness.load()
        assert (agent.name, agent.label) == (harness.name, harness.label)
        assert hasattr(agent, "decode") or hasattr(agent, "parts")
        if hasattr(agent, "decode"):
            decoder = cast("Decoder", agent)
            assert isinstance(decoder.start(Path("/x/y.jsonl")), decoder.state_type)


@pytest.mark.parametrize(
    ("harness", "env", "found"),
    [
        ("claude-code", {}, ["/h/.claude", "/h/.config/claude"]),
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/a, ~/b"}, ["/a", "/h/b"]),
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/a", "AFTERWORD_CLAUDE_ROOT": "/c:/d"}, ["/c", "/d"]),
        ("claude-code", {"AFTERWORD_CLAUDE_ROOT": ""}, ["/h/.claude", "/h/.config/claude"]),
        ("codex", {}, ["/h/.codex"]),
        ("codex", {"CODEX_HOME": "/a"}, ["/a"]),
        ("codex", {"CODEX_HOME": "/a", "AFTERWORD_CODEX_ROOT": "/b"}, ["/b"]),
        ("opencode", {"XDG_DATA_HOME": "/a"}, ["/a/opencode"]),
        ("opencode", {}, ["/h/.local/share/opencode"]),
        ("opencode", {"AFTERWORD_OPENCODE_ROOT": "/o"}, ["/o"]),
        ("cursor", {}, ["/h/.config/Cursor/User", "/h/.cursor"]),
        ("cursor", {"AFTERWORD_CURSOR_ROOT": "/u", "AFTERWORD_CURSOR_CLI_ROOT": "/c"}, ["/u", "/c"]),
        ("gemini-cli", {"GEMINI_CLI_HOME": "/g"}, ["/g/.gemini"]),
        ("gemini-cli", {"AFTERWORD_GEMINI_ROOT": "/g"}, ["/g"]),
        ("aider", {}, []),
        ("aider", {"AFTERWORD_AIDER_ROOT": "/a:/b"}, ["/a", "/b"]),
        ("antigravity", {}, ["/h/.gemini/antigravity"]),
        ("grok-build", {"GROK_HOME": "/g"}, ["/g"]),
        ("grok-build", {"AFTERWORD_GROK_ROOT": "/r"}, ["/r"]),
        ("copilot-cli", {}, ["/h/.copilot"]),
        ("copilot-cli", {"COPILOT_HOME": "~/c"}, ["/h/c"]),
        ("copilot-cli", {"COPILOT_HOME": "/c", "AFTERWORD_COPILOT_ROOT": "/r"}, ["/r"]),
        ("qwen-code", {}, ["/h/.qwen"]),
        ("qwen-code", {"QWEN_HOME": "/q"}, ["/q"]),
        ("qwen-code", {"QWEN_RUNTIME_DIR": "/run"}, ["/run", "/h/.qwen"]),
        ("qwen-code", {"QWEN_RUNTIME_DIR": "/run", "AFTERWORD_QWEN_ROOT": "/r"}, ["/r"]),
        ("pi", {}, ["/h/.pi/agent"]),
        ("pi", {"PI_CODING_AGENT_DIR": "/p"}, ["/p"]),
        ("pi", {"PI_CODING_AGENT_SESSION_DIR": "/s"}, ["/h/.pi/agent", "/s"]),
        ("pi", {"PI_CODING_AGENT_DIR": "/p", "AFTERWORD_PI_ROOT": "/r"}, ["/r"]),
    ],
)
def test_roots(harness: str, env: dict[str, str], found: list[str]) -> None:
    assert roots(harness, **env) == found


def test_roots_on_macos() -> None:
    support = "/h/Library/Application Support"
    assert roots("claude-code", "darwin")[-1] == f"{support}/Claude/local-agent-mode-sessions"
    assert roots("cursor", "darwin")[0] == f"{support}/Cursor/User"
    assert roots("opencode", "darwin") == ["/h/.local/share/opencode"]
    assert roots("claude-code", "darwin", AFTERWORD_CLAUDE_ROOT="/a") == ["/a"]


def _touch(path: Path, at: int = 1_700_000_000) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    os.utime(path, (at, at))


def _listed(module: str, root: Path) -> list[tuple[str, str]]:
    return [(str(found.path.relative_to(root)), found.problem) for found in load(module).sources(root)]


def test_claude_sources(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-srv-x"
    for n, name in enumerate(["b.jsonl", "a.jsonl", f"{SESSION}.jsonl"]):
        _touch(project / name, 1_700_000_000 + 10 * n)
    _touch(project / "agent-old.jsonl", 1_600_000_000)
    agents = project / SESSION / "subagents"
    _touch(agents / "agent-1.jsonl")
    _touch(agents / "agent-1.meta.json")
    _touch(agents / "workflows" / "run" / "agent-2.jsonl")
    _touch(agents / "workflows" / "run" / "journal.jsonl")
    _touch(project / SESSION / "tool-results" / "x.txt")
    _touch(project / "sessions-index.json")
    _touch(project / "memory" / "MEMORY.md")
    _touch(tmp_path / "history.jsonl")
    (project / "loop").symlink_to(project)
    (project / "folder.jsonl").mkdir()
    os.mkfifo(project / "pipe.jsonl")
    (project / "gone.jsonl").symlink_to("/nowhere/x.jsonl")
    problems = [(f"projects/-srv-x/{name}.jsonl", "not a regular file") for name in ("folder", "gone", "pipe")]
    found = _listed("claude_code", tmp_path)
    assert sorted(entry for entry in found if entry[1]) == problems
    assert [name.removeprefix("projects/-srv-x/") for name, problem in found if not problem] == [
        "b.jsonl",
        "a.jsonl",
        f"{SESSION}.jsonl",
        "agent-old.jsonl",
        f"{SESSION}/subagents/agent-1.jsonl",
        f"{SESSION}/subagents/workflows/run/agent-2.jsonl",
    ]


def test_cowork_sources(tmp_path: Path) -> None:
    root = tmp_path / "local-agent-mode-sessions"
    log = root / "org" / "user" / "local_1" / ".claude" / "projects" / "-srv-x" / f"{SESSION}.jsonl"
    _touch(log)
    _touch(root / "org" / "user" / "local_1.json")
    assert [found.path for found in load("claude_code").sources(root) if not found.problem] == [log]


def test_sub_agents_of_every_age_know_their_session() -> None:
    decoder = load("claude_code")
    base = Path("/h/.claude/projects/-srv-x")
    paths = {
        base / f"{SESSION}.jsonl": SESSION,
        base / SESSION / "subagents" / "agent-1.jsonl": f"{SESSION}/1",
        base / SESSION / "subagents" / "workflows" / "run" / "agent-2.jsonl": f"{SESSION}/2",
    }
    for path, session in paths.items():
        assert decoder.session_of(decoder.start(path)) == session


def test_codex_sources(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "03" / "04"
    for name in (
        "rollout-2026-03-04T12-00-00-b.jsonl",
        "rollout-2026-03-04T10-00-00-a.jsonl",
        "rollout-2026-03-04T10-00-00-a.jsonl.zst",
        "rollout-2026-03-04T11-00-00-c.jsonl.zst",
        "rollout-2026-03-04T11-00-00-c.jsonl.zst.tmp",
        "notes.txt",
    ):
        _touch(day / name)
    _touch(tmp_path / "sessions" / "rollout-2025-01-01-x.json")
    for name in ("rollout-2026-03-04T12-00-00-b.jsonl", "rollout-2026-01-01T00-00-00-d.jsonl"):
        _touch(tmp_path / "archived_sessions" / name)
    _touch(tmp_path / "session_index.jsonl")
    _touch(tmp_path / "history.jsonl")
    assert _listed("codex", tmp_path) == [
        ("sessions/rollout-2025-01-01-x.json", ""),
        ("sessions/2026/03/04/rollout-2026-03-04T10-00-00-a.jsonl", ""),
        ("sessions/2026/03/04/rollout-2026-03-04T11-00-00-c.jsonl.zst", ""),
        ("sessions/2026/03/04/rollout-2026-03-04T12-00-00-b.jsonl", ""),
        ("archived_sessions/rollout-2026-01-01T00-00-00-d.jsonl", ""),
        ("history.jsonl", ""),
        ("session_index.jsonl", ""),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_may_not_be_listed_is_named(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-srv-x"
    _touch(project / "a.jsonl")
    project.chmod(0)
    try:
        assert _listed("claude_code", tmp_path) == [("projects/-srv-x", "the folder cannot be listed")]
    finally:
        project.chmod(0o700)


def test_missing_stores_are_empty(tmp_path: Path) -> None:
    for module in ("claude_code", "codex"):
        assert _listed(module, tmp_path / "none") == []


def test_copilot_sources(tmp_path: Path) -> None:
    state = tmp_path / "session-state"
    _touch(state / "a" / "workspace.yaml", 1_700_000_000)
    _touch(state / "a" / "events.jsonl", 1_700_000_000)
    _touch(state / "a" / "checkpoints" / "index.md")
    _touch(state / "b" / "workspace.yaml")
    _touch(state / "old.jsonl", 1_600_000_000)
    _touch(tmp_path / "logs" / "x.jsonl")
    found = _listed("copilot_cli", tmp_path)
    wanted = ["old.jsonl", "a/events.jsonl", "a/workspace.yaml"]
    assert found == [(f"session-state/{name}", "") for name in wanted]


def test_qwen_sources(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-srv-x"
    _touch(project / "chats" / "b.jsonl", 1_700_000_000)
    _touch(project / "chats" / "a.jsonl", 1_700_000_010)
    _touch(project / "chats" / "archive" / "c.jsonl")
    _touch(project / "subagents" / "a" / "agent-1.jsonl")
    _touch(project / "subagents" / "a" / "agent-1.jsonl.stream")
    _touch(project / "subagents" / "a" / "agent-1.meta.json")
    _touch(tmp_path / "tmp" / "0123" / "chats" / "session-2025.json")
    old = ("tmp/0123/chats/session-2025.json", "sessions of Qwen Code's first builds are not read")
    names = ["chats/b.jsonl", "chats/a.jsonl", "chats/archive/c.jsonl", "subagents/a/agent-1.jsonl"]
    assert _listed("qwen_code", tmp_path) == [*((f"projects/-srv-x/{name}", "") for name in names), old]


def test_pi_sources(tmp_path: Path) -> None:
    """A folder of sessions alone may be named too."""
    _touch(tmp_path / "agent" / "sessions" / "--srv-x--" / "b.jsonl", 1_700_000_000)
    _touch(tmp_path / "agent" / "sessions" / "--srv-x--" / "a.jsonl", 1_700_000_010)
    _touch(tmp_path / "agent" / "other.jsonl")
    _touch(tmp_path / "own" / "c.jsonl")
    assert _listed("pi", tmp_path / "agent") == [(f"sessions/--srv-x--/{name}.jsonl", "") for name in "ba"]
    assert _listed("pi", tmp_path / "own") == [("c.jsonl", "")]
