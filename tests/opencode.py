"""opencode's sample store laid out in its eras, and a writer that puts rows into a database as opencode does."""

import json
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from homes import FIXTURES

SAMPLE = FIXTURES / "harness/opencode/.local/share/opencode"
MAIN, CHILD = "ses_3b0000000001AAAAAAAAAAAAAA", "ses_3b0000000002BBBBBBBBBBBBBB"


def data_folder(home: Path) -> Path:
    return home / ".local/share/opencode"


def statements(era: str) -> list[str]:
    """The SQL of a sample database, one statement each."""
    found = [line for line in (SAMPLE / f"opencode.db.{era}.sql").read_text().splitlines() if line.strip()]
    assert all(line.endswith(";") for line in found)
    return found


def connect(path: Path) -> sqlite3.Connection:
    """A writer's connection that leaves its rows in the write-ahead log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    return db


def database(home: Path, era: str, name: str = "opencode.db") -> Path:
    """A closed database of an era, as opencode leaves it."""
    path = data_folder(home) / name
    db = connect(path)
    for statement in statements(era):
        db.execute(statement)
    db.close()
    return path


def tree(home: Path) -> Path:
    """The JSON tree."""
    target = data_folder(home) / "storage"
    shutil.copytree(SAMPLE / "storage", target, dirs_exist_ok=True)
    return target


def oldest_tree(home: Path) -> Path:
    """The same sessions in the layout of the oldest era."""
    base = data_folder(home) / "project/srv-orchard-api/storage/session"
    source = SAMPLE / "storage"
    for path in source.glob("session/*/*.json"):
        (base / "info").mkdir(parents=True, exist_ok=True)
        info = json.loads(path.read_bytes())
        del info["directory"]
        (base / "info" / path.name).write_text(json.dumps(info))
        shutil.copytree(source / "message" / path.stem, base / "message" / path.stem)
        for message in (source / "message" / path.stem).iterdir():
            shutil.copytree(source / "part" / message.stem, base / "part" / path.stem / message.stem)
    return base


def expected(era: str) -> list[dict[str, Any]]:
    """The sessions of an expectation: "v1_db_or_json_or_both" or "v2_db"."""
    given: dict[str, Any] = json.loads((FIXTURES / "harness/opencode/expected.json").read_text())
    sessions: list[dict[str, Any]] = given[era]["sessions"]
    return sessions


class Writer:
    """Writes sessions as 1.2 does: rows inserted, then changed in place; undone rows deleted."""

    def __init__(self, home: Path, name: str = "opencode.db") -> None:
        self.path = data_folder(home) / name
        self.db = connect(self.path)
        self.now = 1_772_618_400_000
        if not self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in statements("v1"):
                if statement.startswith("CREATE"):
                    self.db.execute(statement)

    def tick(self) -> int:
        self.now += 1000
        return self.now

    def session(self, its_id: str, title: str = "Work", parent: str | None = None) -> None:
        now = self.tick()
        self.db.execute(
            "INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created,"
            " time_updated) VALUES (?, 'global', ?, 'x', '/srv/orchard-api', ?, '1.2.10', ?, ?)",
            (its_id, parent, title, now, now),
        )

    def message(self, session: str, its_id: str, role: str, **data: Any) -> None:
        now = self.tick()
        self.db.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
            (its_id, session, now, now, json.dumps({"role": role, "time": {"created": now}} | data)),
        )

    def part(self, session: str, message: str, its_id: str, **data: Any) -> None:
        now = self.tick()
        self.db.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data,"
            " time_updated = excluded.time_updated",
            (its_id, message, session, now, now, json.dumps(data)),
        )

    def say(self, session: str, n: int, role: str, text: str) -> None:
        """A message of one text."""
        self.message(session, f"msg_{session}_{n:03}", role)
        self.part(session, f"msg_{session}_{n:03}", f"prt_{session}_{n:03}", type="text", text=text)

    def revert(self, session: str, message: str | None, part: str | None = None) -> None:
        mark = None if message is None else json.dumps({"messageID": message} | ({"partID": part} if part else {}))
        self.db.execute("UPDATE session SET revert = ?, time_updated = ? WHERE id = ?", (mark, self.tick(), session))

    def delete(self, messages: Iterable[str]) -> None:
        for message in messages:
            self.db.execute("DELETE FROM part WHERE message_id = ?", (message,))
            self.db.execute("DELETE FROM message WHERE id = ?", (message,))

    def close(self) -> None:
        self.db.close()
