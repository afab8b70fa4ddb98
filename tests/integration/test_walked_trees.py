"""Logs in which the way from the root to the last line is what lives, read by the real capture."""

import json
from pathlib import Path
from typing import Any

from writer import Reading

SESSION = "5e55104e-0000-4000-8000-000000000001"
LOG = f".pi/agent/sessions/--srv-x--/2026-03-04T10-00-00-000Z_{SESSION}.jsonl"


def entry(its_id: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    base = {"type": "message", "id": its_id, "parentId": parent, "timestamp": "2026-03-04T10:00:01.000Z"}
    return base | {"message": message}


def fed(home: Path, *pieces: list[bytes]) -> list[tuple[str, str]]:
    """(text, state) of all that was said, after the pieces were appended and read one after the other."""
    path = home / LOG
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"type": "session", "version": 3, "id": SESSION, "cwd": "/srv/x"}) + "\n")
    reading = Reading(home)
    for piece in pieces:
        with path.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in piece))
        reading.sweep(thorough=True)
    found = [(text, state) for _, text, state in reading.speech(SESSION)]
    reading.close()
    return found


def lines(*entries: dict[str, Any]) -> list[bytes]:
    return [json.dumps(each).encode() for each in entries]


def test_a_branch_that_is_come_back_to_lives_again(tmp_path: Path) -> None:
    first = lines(entry("a", None, "A"), entry("b", "a", "B"), entry("c", "b", "C"))
    second = lines(entry("d", "a", "D"))
    there = fed(tmp_path / "there", first, second)
    assert there == [("A", "live"), ("B", "abandoned"), ("C", "abandoned"), ("D", "live")]
    back = fed(tmp_path / "back", first, second, lines(entry("e", "b", "E")))
    assert back == [("A", "live"), ("B", "live"), ("C", "abandoned"), ("D", "abandoned"), ("E", "live")]


def test_a_lost_line_undoes_nothing(tmp_path: Path) -> None:
    """What hangs from a line that could not be read goes on from the line before it."""
    piece = [*lines(entry("a", None, "A"), entry("b", "a", "B")), b'{"type":"message","id":"c","par']
    found = fed(tmp_path, piece, lines(entry("d", "c", "D"), entry("e", "d", "E"), entry("f", "a", "F")))
    assert found == [("A", "live"), ("B", "abandoned"), ("D", "abandoned"), ("E", "abandoned"), ("F", "live")]
    kept = fed(tmp_path / "kept", piece, lines(entry("d", "c", "D"), entry("e", "d", "E")))
    assert kept == [(text, "live") for text in "ABDE"]
