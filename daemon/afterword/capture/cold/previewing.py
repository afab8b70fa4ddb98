"""Takes what the workers said ahead of a first reading into the preview.

Of a project that is left out nothing may be written, and a glance does not see all that tells: so where anything is
left out or was forgotten nothing is previewed, and where a folder turns up that is left out, that is the end of it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from afterword.capture.cold import wire
from afterword.capture.cold.feed import Feed
from afterword.capture.cold.orders import Task
from afterword.capture.intake import sane
from afterword.capture.prepared import ReadyFacts
from afterword.capture.project import look
from afterword.domain.ids import item_id
from afterword.domain.items import Kind, SaidBy
from afterword.redact.redactor import Redactor
from afterword.store import faults, preview
from afterword.store.ledger.sessions import PLAIN, SessionFacts, title_of


class Previewing:
    """Belongs to one first reading."""

    def __init__(
        self,
        state: Path,
        tasks: Sequence[Task],
        redactor: Redactor,
        now_us: int,
        excludes: Callable[[str], bool],
    ) -> None:
        """`excludes` says whether work in a folder is left out."""
        self._state = state
        self._tasks = tasks
        self._redactor = redactor
        self._now_us = now_us
        self._excludes = excludes
        self._into: preview.Preview | None = preview.Preview(state)
        self._facts: dict[tuple[str, str], SessionFacts] = {}
        self._roots: dict[str, str] = {}
        self._rows: dict[tuple[str, str], int] = {}
        self._last_us: dict[tuple[str, str], int] = {}
        self._waiting: dict[tuple[str, str], list[wire.Sent]] = {}
        """What was said in sessions whose folder is not known yet."""

    def run(self, feed: Feed, on_file: Callable[[int], None]) -> None:
        """Take in all there is."""
        try:
            feed.preview(self._notice, on_file)
        except BaseException:
            if self._into:
                self._into.abandon()
            raise
        if self._into:
            self._into.close()
        faults.hit("preview.whole")

    def _notice(self, task: int, events: Sequence[wire.SentEvent]) -> None:
        harness = self._tasks[task].harness
        for event in events:
            if self._into is None:
                return
            if isinstance(event, ReadyFacts):
                self._learn(self._into, harness, event)
            elif isinstance(event, wire.Sent):
                session = harness, event.event.session
                if session in self._facts:
                    self._say(self._into, session, event)
                else:
                    self._waiting.setdefault(session, []).append(event)

    def _learn(self, into: preview.Preview, harness: str, event: ReadyFacts) -> None:
        said = event.facts
        if said.cwd and self._excludes(said.cwd):
            into.close()
            preview.remove(self._state)
            self._into = None
            return
        session = harness, said.session
        facts = self._facts.get(session)
        if facts is None:
            if not said.cwd:
                return
            facts = self._facts[session] = SessionFacts(cwd=said.cwd, root=self._root(said.cwd))
        if said.title and said.title_rank >= facts.title_rank:
            facts.title, facts.title_rank = said.title, said.title_rank
        for name in ("branch", "agent", "parent"):
            setattr(facts, name, getattr(said, name) or getattr(facts, name))
        self._rows[session] = self._put(into, session)
        for waiting in self._waiting.pop(session, ()):
            self._say(into, session, waiting)

    def _root(self, cwd: str) -> str:
        """The main checkout of a folder, "" when there is none; a worktree that is gone is known by one that named it.
        The ledger, which remembers more, says it when the file is read."""
        looked = look(self._redactor, cwd, Path.home())
        if looked is None or (looked.root is None and looked.there):
            return ""
        if looked.root is None:
            return next((self._roots[at] for at in looked.above if at in self._roots), "")
        for folder in (looked.root, looked.above[0], *looked.worktrees):
            self._roots[folder] = looked.root
        return looked.root

    def _say(self, into: preview.Preview, session: tuple[str, str], sent: wire.Sent) -> None:
        event, said = sent.event, wire.body_of(sent)
        time_us = self._last_us.get(session) if not sane(event.time_us, self._now_us) else event.time_us
        if time_us is None:
            return
        self._last_us[session] = time_us
        facts = self._facts[session]
        if event.kind is Kind.PROMPT and event.said_by is SaidBy.PERSON and not facts.title:
            facts.title = title_of(said.text)
            self._put(into, session)
        # An item without a key has an id that counts; the first of its kind at its time is most often it.
        key = event.key if event.key is not None else (event.session, event.kind.word, time_us, 0)
        into.say(self._rows[session], item_id(session[0], event.kind.word, key), event.kind, time_us, said)

    def _put(self, into: preview.Preview, session: tuple[str, str]) -> int:
        facts = self._redactor.document(msgspec.to_builtins(self._facts[session]), plain=PLAIN)
        return into.session(session[0], self._redactor.plain(session[1]), facts)
