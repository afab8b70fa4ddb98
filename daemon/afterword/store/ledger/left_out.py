"""What was left out of the capture, as keyed hashes: nothing here can be read back."""

from afterword.store.ledger.ledger import Ledger


def session_key(ledger: Ledger, harness: str, native: str) -> bytes:
    """What finds an excluded session without storing its id."""
    return ledger.keyed_hash(f"left-out\0{harness}\0{native}".encode("utf-8", "surrogatepass"), 16)


def passed_over(ledger: Ledger, source: int, session: bytes) -> None:
    """A source told of a session that is left out, and was read past it; inside a transaction."""
    ledger.db.execute("INSERT OR IGNORE INTO left_out VALUES (?, ?)", (session, source))


def sources_with(ledger: Ledger, session: bytes) -> list[int]:
    """The sources that were read past something of this session."""
    return [row for (row,) in ledger.db.execute("SELECT source FROM left_out WHERE session = ?", (session,))]


def taken_back(ledger: Ledger, session: bytes) -> None:
    """The session is not left out any more; inside a transaction."""
    ledger.db.execute("DELETE FROM left_out WHERE session = ?", (session,))


class Folders:
    """Folders that an ignore file left out when they were last seen. What is noted is stored by `flush`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._noted: dict[bytes, bool] = {}

    def knows(self, folder: str) -> bool:
        key = self._key(folder)
        if key in self._noted:
            return self._noted[key]
        return self._ledger.db.execute("SELECT 1 FROM left_out_folder WHERE folder = ?", (key,)).fetchone() is not None

    def note(self, folder: str, *, out: bool) -> None:
        key = self._key(folder)
        if self.knows(folder) != out:
            self._noted[key] = out

    def any(self) -> bool:
        return any(self._noted.values()) or bool(
            self._ledger.db.execute("SELECT 1 FROM left_out_folder LIMIT 1").fetchone()
        )

    def flush(self) -> None:
        """Store what was noted, in a transaction of its own."""
        if not self._noted:
            return
        with self._ledger.transaction():
            for key, out in self._noted.items():
                if out:
                    self._ledger.db.execute("INSERT OR IGNORE INTO left_out_folder VALUES (?)", (key,))
                else:
                    self._ledger.db.execute("DELETE FROM left_out_folder WHERE folder = ?", (key,))
        self._noted.clear()

    def _key(self, folder: str) -> bytes:
        return self._ledger.keyed_hash(b"folder\0" + folder.encode("utf-8", "surrogateescape"), 16)
