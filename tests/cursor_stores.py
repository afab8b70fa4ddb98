"""Made-up databases of Cursor: written by a real writer, row by row, as its window and its agent do."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from homes import FIXTURES

ONE = "7e100000-0000-4000-8000-0000000000c1"
TWO = "7e100000-0000-4000-8000-0000000000c2"
SECRET = "placeholder-never-read-this-key"


class Window:
    """A `state.vscdb` with a writer's connection."""

    def __init__(self, path: Path | str = ":memory:", *, wal: bool = True) -> None:
        if isinstance(path, Path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self.db = sqlite3.connect(path, isolation_level=None)
        if wal:
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA wal_autocheckpoint = 0")
        for table in ("ItemTable", "cursorDiskKV"):
            self.db.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        self.item("cursorAuth/accessToken", SECRET)

    def put(self, key: str, value: Any) -> None:
        """Write a row as Cursor does: the old one is replaced."""
        text = value if value is None or isinstance(value, str | bytes) else json.dumps(value)
        self.db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, text))

    def update(self, key: str, value: Any) -> None:
        """Change a row in place, which keeps its row id."""
        self.db.execute("UPDATE cursorDiskKV SET value = ? WHERE key = ?", (json.dumps(value), key))

    def item(self, key: str, value: Any) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        self.db.execute("INSERT INTO ItemTable VALUES (?, ?)", (key, text))

    def composer(self, session: str = ONE, bubbles: list[tuple[str, int]] | None = None, **more: Any) -> dict[str, Any]:
        """A conversation's own value: `bubbles` are (id, 1 for a person or 2 for the agent)."""
        value = {
            "composerId": session,
            "createdAt": 1_772_618_400_000,
            "lastUpdatedAt": 1_772_618_408_000,
            "fullConversationHeadersOnly": [{"bubbleId": its_id, "type": kind} for its_id, kind in bubbles or []],
            **more,
        }
        self.put(f"composerData:{session}", value)
        return value

    def bubble(self, its_id: str, kind: int, text: str = "", *, session: str = ONE, **more: Any) -> dict[str, Any]:
        value = {"_v": 3, "type": kind, "bubbleId": its_id, "text": text, **more}
        self.put(f"bubbleId:{session}:{its_id}", value)
        return value

    def talk(self, session: str = ONE, *texts: str, **more: Any) -> None:
        """A conversation of prompts and replies in turn."""
        bubbles = [(f"b{n}", 1 + n % 2) for n in range(len(texts))]
        for (its_id, kind), text in zip(bubbles, texts, strict=True):
            self.bubble(its_id, kind, text, session=session)
        self.composer(session, bubbles, **more)


class Store:
    """A `store.db` of the agent with a writer's connection."""

    def __init__(self, path: Path | str = ":memory:", session: str = ONE, **meta: Any) -> None:
        if isinstance(path, Path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)")
        self.db.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")
        self._meta = {"agentId": session, "name": "New Agent", "createdAt": 1_772_619_600_000, **meta}

    def blob(self, data: bytes) -> str:
        its_id = hashlib.sha256(data).hexdigest()
        self.db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (its_id, data))
        return its_id

    def leaf(self, role: str, content: Any, **more: Any) -> str:
        return self.blob(json.dumps({"role": role, "content": content, **more}).encode())

    def node(self, *children: tuple[str, str]) -> str:
        """A node of ("leaf" or "node", id) in order."""
        tags = {"leaf": b"\x0a\x20", "node": b"\x12\x20"}
        return self.blob(b"".join(tags[kind] + bytes.fromhex(child) for kind, child in children))

    def point(self, root: str, **meta: Any) -> None:
        """Move the root."""
        self._meta |= {"latestRootBlobId": root, **meta}
        text = json.dumps(self._meta).encode().hex()
        self.db.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (text,))


def lay_out(home: Path) -> None:
    """The sample store of Cursor, its databases made from their statements."""
    for source in sorted((FIXTURES / "harness/cursor").rglob("*")):
        target = home / source.relative_to(FIXTURES / "harness/cursor")
        if source.is_dir() or source.name == "expected.json":
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".sql":
            db = sqlite3.connect(target.with_suffix(""))
            db.executescript(source.read_text())
            db.close()
        else:
            target.write_bytes(source.read_bytes())
