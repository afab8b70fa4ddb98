"""The line-log reader against a model file: whatever happens to a transcript, what was complete is there once."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from writer import NOW_US, Reading

SESSION = "4b1f0c2e-0000-4000-8000-0000000000f1"


def line(n: int, text: str) -> bytes:
    row = {
        "type": "user",
        "uuid": f"u{n}",
        "parentUuid": f"u{n - 1}" if n else None,
        "sessionId": SESSION,
        "cwd": "/srv/x",
        "timestamp": f"2026-03-04T10:{n // 60 % 60:02d}:{n % 60:02d}.000Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


texts = st.text(st.sampled_from('abc żółw 🚀 \\ " {}'), min_size=1, max_size=30).map(lambda t: "t" + t.strip())


class TailMachine(RuleBasedStateMachine):
    """Appends in any pieces, truncations with regrowth, rewrites of equal size, renames, vanishing, restarts."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / ".claude/projects/p" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True)
        self.reading = Reading(self.folder)
        self.content = b""  # what the writer has in mind, a prefix of which is on the disk
        self.written = 0
        self.rows: list[tuple[int, str]] = []
        self.next = 0
        self.tick = 0
        self.ever: dict[int, str] = {}  # every row a sweep has seen complete, with its last text

    @initialize()
    def begin(self) -> None:
        self._flush()

    def _flush(self) -> None:
        self.path.write_bytes(self.content[: self.written])
        self._touch()

    def _touch(self) -> None:
        # Every change has a time of its own, and all lie too near to the clock for the file to be quiet.
        self.tick += 1
        at = (NOW_US - 10_000_000 + self.tick) * 1000
        os.utime(self.path, ns=(at, at))

    @rule(text=texts, part=st.floats(0, 1))
    def append(self, text: str, part: float) -> None:
        """A new row is written, all of it or a part; what was torn before is completed first."""
        self.written = len(self.content)
        self.content += line(self.next, text)
        self.rows.append((self.next, text))
        self.next += 1
        self.written += round((len(self.content) - self.written) * part)
        with self.path.open("ab") as out:
            have = self.path.stat().st_size
            out.write(self.content[have : self.written])
        self._touch()

    @rule(keep=st.floats(0, 1), text=texts)
    def rewind_and_regrow(self, keep: float, text: str) -> None:
        """The file is cut at a row and other rows are written."""
        kept = int(len(self.rows) * keep)
        self.rows = [*self.rows[:kept], (self.next, text)]
        self.next += 1
        self._rewrite()

    @precondition(lambda self: self.rows)
    @rule(which=st.floats(0, 0.999), char=st.sampled_from("xyz"))
    def rewrite_same_size(self, which: float, char: str) -> None:
        """A row in the middle gets another text of the same length."""
        at = int(len(self.rows) * which)
        n, text = self.rows[at]
        new = char * len(text.encode())
        if len(line(n, new)) == len(line(n, text)):
            self.rows[at] = (n, new)
            self._rewrite()

    def _rewrite(self) -> None:
        self.content = b"".join(line(n, text) for n, text in self.rows)
        self.written = len(self.content)
        self._flush()

    @rule()
    def rename(self) -> None:
        self.sweep()
        new = self.path.with_name(f"moved-{self.tick}.jsonl")
        self.tick += 1
        self.path.rename(new)
        self.path = new
        # Renamed and rewritten between two looks, it would be another file: nothing tells that it is not.
        self.sweep()

    @rule()
    def vanish_for_a_while(self) -> None:
        away = self.folder / "away"
        self.path.rename(away)
        self.reading.sweep(thorough=True)
        away.rename(self.path)

    @rule()
    def restart(self) -> None:
        self.reading.restart()

    @rule()
    def sweep(self) -> None:
        self.reading.sweep(thorough=True)
        complete = self.content[: self.written].count(b"\n")
        live = self.rows[:complete]
        for n, text in live:
            self.ever[n] = text
        found = self.reading.speech(SESSION)
        assert [text for _, text, state in found if state == "live"] == [text for _, text in live]
        gone = {text for n, text in self.ever.items() if (n, text) not in live}
        # Where the same words were written again at the same place, the new row stands for the old one.
        assert {text for _, text, state in found if state == "abandoned"} <= gone
        assert {text for _, text, state in found if state != "live"} == gone
        assert len(found) == len(self.ever)

    @invariant()
    def ids_are_single(self) -> None:
        count, distinct = self.reading.ledger.db.execute("SELECT count(*), count(DISTINCT id) FROM item").fetchone()
        assert count == distinct

    def teardown(self) -> None:
        self.sweep()
        again = self.reading.ledger.db.execute("SELECT count(*) FROM log").fetchone()
        self.reading.sweep(thorough=True)
        self.reading.restart()
        self.reading.sweep(thorough=True)
        assert self.reading.ledger.db.execute("SELECT count(*) FROM log").fetchone() == again
        self.reading.close()
        shutil.rmtree(self.folder)


TailMachine.TestCase.settings = settings(
    max_examples=settings().max_examples // 4, stateful_step_count=25, deadline=None
)
TestTail = TailMachine.TestCase
