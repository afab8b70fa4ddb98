"""Broken input gives counted, named problems, and everything around it is read."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from homes import Home, drop_override

SESSION = "4b1f0c2e-0000-4000-8000-00000000000a"


def row(n: int, text: str, **more: Any) -> bytes:
    record = {
        "parentUuid": f"u{n - 1}" if n else None,
        "sessionId": SESSION,
        "cwd": "/srv/orchard-api",
        "uuid": f"u{n}",
        "timestamp": f"2026-03-04T10:{n:02d}:00.000Z",
        "type": "user",
        "message": {"role": "user", "content": text},
        **more,
    }
    return json.dumps(record).encode() + b"\n"


def transcript(home: Home, name: str = f"{SESSION}.jsonl") -> Path:
    folder = home.path / ".claude/projects/-srv-orchard-api"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def prompts(home: Home, session: str = SESSION) -> list[str]:
    return [m["text"] for m in home.json("show", session)["messages"] if m["kind"] == "prompt" and not m["abandoned"]]


def claude(home: Home) -> dict[str, Any]:
    return next(s for s in home.json("sources")["sources"] if s["harness"] == "claude-code")


@pytest.mark.parametrize(
    ("broken", "bad_lines"),
    [
        (b'{"type":"user","message":{"role":"us\n', 1),
        (b"not json at all\n", 1),
        (b"[1, 2, 3]\n", 1),
        (b'"just a string"\n', 1),
        (b"\x00\x00\x00\x00\x00\x00\n", 1),
        (b"\xff\xfe\xfa broken \x80\n", 1),
        (b"{}\n", 0),
        (b"\n   \n\r\n", 0),
        (b"\xef\xbb\xbf", 0),
    ],
)
def test_a_bad_line_is_counted_and_nothing_else_is_lost(broken: bytes, bad_lines: int, tmp_path: Path) -> None:
    home = Home(tmp_path)
    transcript(home).write_bytes(row(0, "before it") + broken + row(1, "after it"))
    home.run("up", "--once", "--settle", "0")
    assert prompts(home) == ["before it", "after it"]
    assert claude(home)["bad_lines"] == bad_lines
    if bad_lines:
        stores = next(c for c in home.json("doctor", code=None)["checks"] if c["name"] == "stores")
        assert f"{SESSION}.jsonl:2: " in stores["message"]


@pytest.mark.parametrize(
    ("glued", "texts"),
    [
        (row(1, "one")[:-1] + row(2, "two"), ["start", "one", "two"]),
        (row(1, "cut off here")[:40] + row(2, "two"), ["start", "two"]),
        (row(1, "one")[:-1] + b"\x00\x00\x00\n" + row(2, "two"), ["start", "one", "two"]),
        (row(1, "caf\u00e9 XX").replace(b"XX", b"\xff\xff"), ["start", "caf\u00e9 \ufffd\ufffd"]),
        (row(1, "bad QQ escape").replace(b"QQ", rb"\ud83d"), ["start", "bad \ufffd escape"]),
        (row(1, "with a tab").replace(b" a ", b"\ta\t"), ["start", "with\ta\ttab"]),
    ],
)
def test_what_can_be_recovered_is(glued: bytes, texts: list[str], tmp_path: Path) -> None:
    home = Home(tmp_path)
    transcript(home).write_bytes(row(0, "start") + glued)
    home.run("ingest")
    assert prompts(home) == texts


def test_a_line_of_sixty_megabytes_leaves_a_note_and_little_memory(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = transcript(home)
    with path.open("wb") as out:
        out.write(row(0, "before the giant"))
        size = out.write(b'{"type":"user","sessionId":"' + SESSION.encode() + b'","message":{"content":"')
        for _ in range(60):
            size += out.write(b"giant " * 166_667)
        size += out.write(b'"}}\n') - 1
        out.write(row(1, "after the giant"))
    # Measured from a small process: a child's peak counts the memory of whoever forked it.
    measure = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode;"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    )
    words = [sys.executable, "-c", measure, sys.executable, "-m", "afterword", "ingest"]
    done = subprocess.run(words, env=home.env, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300_000  # KiB on Linux
    assert prompts(home) == ["before the giant", "after the giant"]
    notes = [m["text"] for m in home.json("show", SESSION)["messages"] if m["kind"] == "meta"]
    assert notes == [f"[left out: a line of {size:,} bytes]"]
    assert claude(home)["skipped"] == 1
    before = home.json("status")["ledger"]
    home.run("ingest")
    assert home.json("status")["ledger"] == before


def test_what_is_no_file_is_named_and_blocks_nobody(tmp_path: Path) -> None:
    home = Home(tmp_path)
    transcript(home).write_bytes(row(0, "the good one"))
    transcript(home, "folder.jsonl").mkdir()
    os.mkfifo(transcript(home, "pipe.jsonl"))
    transcript(home, "loop.jsonl").symlink_to("loop.jsonl")
    transcript(home, "empty.jsonl").write_bytes(b"")
    home.run("up", "--once", "--settle", "0")
    assert prompts(home) == ["the good one"]
    found = claude(home)
    assert found["skipped"] >= 2
    assert "regular file" in found["problem"]
    stores = next(c for c in home.json("doctor", code=None)["checks"] if c["name"] == "stores")
    for name in ("folder.jsonl", "pipe.jsonl", "loop.jsonl"):
        assert name in stores["message"], stores


@pytest.mark.skipif(sys.platform != "linux", reason="drops a Linux capability")
def test_no_permission_is_not_deletion(tmp_path: Path) -> None:
    home = Home(tmp_path)
    good, closed = transcript(home), transcript(home, "closed.jsonl")
    good.write_bytes(row(0, "readable"))
    closed.write_bytes(row(0, "closed later", sessionId="closed", uuid="c0"))
    home.run("up", "--once", "--settle", "0")
    vault = home.vault_bytes()
    closed.write_bytes(closed.read_bytes() + row(1, "not seen yet", sessionId="closed", uuid="c1", parentUuid="c0"))
    closed.chmod(0)

    def up() -> None:
        done = subprocess.run(
            [sys.executable, "-m", "afterword", "up", "--once", "--settle", "0"],
            env=home.env,
            capture_output=True,
            text=True,
            preexec_fn=drop_override,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    up()
    assert prompts(home, "closed") == ["closed later"]
    assert home.vault_bytes() == vault
    assert "Permission denied" in claude(home)["problem"]
    closed.chmod(0o600)
    up()
    assert prompts(home, "closed") == ["closed later", "not seen yet"]
    assert claude(home)["problem"] is None
