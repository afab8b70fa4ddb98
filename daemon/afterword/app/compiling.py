"""The compile use case: which days, the people's edits first, the articles, then the files."""

import datetime as dt
import difflib
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from afterword.app import aging as aging_
from afterword.app import retract_spread, using
from afterword.app.config import Config
from afterword.app.engines import Engines
from afterword.capture.section_watch import SectionWatch
from afterword.capture.vault_watch import Seen, VaultWatch
from afterword.compile.build import Compile, DayResult
from afterword.compile.engine import Choose
from afterword.compile.folding import unsettle
from afterword.compile.same import texts_compared
from afterword.domain.articles import Article, Current, Edits, laid_over
from afterword.domain.clock import DAY_US, Clock, Zones
from afterword.domain.errors import UsageError
from afterword.domain.ids import ArticleUid
from afterword.domain.settings import period_us
from afterword.redact.redactor import Redactor
from afterword.store.article_notes import ArticleNotes
from afterword.store.knowledge_pages import KnowledgePages
from afterword.store.ledger import article_files, articles, compile_on
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import may_write

if TYPE_CHECKING:
    from afterword.index.nearness import Nearness

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOOK_AGAIN_S = 2.0
_QUIET_US = 60_000_000
_DAYS_AT_ONCE = 4
"""The daemon compiles so many, then looks after the stores before the next."""


class Compiled(msgspec.Struct, frozen=True):
    """What a run did. `diff` is only there for a dry one."""

    days: tuple[DayResult, ...]
    files: int
    seen: Seen
    titles: dict[ArticleUid, str]
    diff: str = ""


class Tended(msgspec.Struct, frozen=True):
    """How many files a look of the daemon wrote, and whether more days wait to be compiled."""

    files: int
    more: bool
    waits: bool = False
    """Whether a model was asked that has not answered yet."""


class Compiling:
    """Compiles days into the vault. Without a vault the articles are in the ledger alone."""

    def __init__(
        self,
        config: Config,
        ledger: Ledger,
        redactor: Redactor,
        engines: Engines,
        zones: Zones,
        clock: Clock,
        nearness: "Nearness | None" = None,
    ) -> None:
        settings = config.settings
        self._ledger = ledger
        self._redactor = redactor
        unused_us = period_us(settings.compile.stale_after, "compile.stale_after")
        self._unused_days = None if unused_us is None else unused_us // DAY_US
        self._state = config.places.state
        self._zones = zones
        self._clock = clock
        self._at = settings.compile.at
        self._daily = config.days
        self._vault = config.vault
        self._nearness = nearness
        self._engines = engines
        self._compile = Compile(
            ledger,
            redactor,
            engines.extractive,
            min_words=settings.compile.min_words,
            meaning=nearness,
            choose=engines.choose,
        )
        knowledge = settings.vault.knowledge
        self.problems: dict[str, str] = {}
        """What of the vault could not be written last, and why."""
        self._again_us = min(engines.next_tries_us(), default=0)
        """When the days that a model did not answer for have another try; 0 when there are none."""
        self._upto = ""
        self._heads: dict[int, int] | None = None
        self._watch = self._sections = self._notes = self._pages = None
        if self._vault:
            self._watch = VaultWatch(self._vault, knowledge, ledger, redactor)
            self._sections = SectionWatch(self._vault, self._daily, ledger, redactor)
            self._notes = ArticleNotes(self._vault, self._daily, knowledge, ledger, redactor)
            self._pages = KnowledgePages(self._vault, knowledge, ledger, redactor, self._notes)

    def look(self, *, again: bool = False, sleep: Callable[[float], None] = time.sleep) -> Seen:
        """Take in what people did to sections and articles. With `again`, what vanished is looked for once more."""
        if self._watch is None or self._notes is None:
            return Seen()
        self._notes.recover()
        self.look_at_sections()
        seen = self._watch.look(self._today())
        if seen.waiting and again:
            sleep(_LOOK_AGAIN_S)
            later = self._watch.look(self._today())
            seen = msgspec.structs.replace(later, edited=seen.edited + later.edited, moved=seen.moved + later.moved)
        return seen

    def look_at_sections(self) -> int:
        """Take in what people changed inside the sections of daily notes: those days are due again."""
        return self._sections.look() if self._sections else 0

    def days(self, *, files: Sequence[str] = (), since: str | None = None, everything: bool = False) -> list[str]:
        """The days that are meant by the words of a command; all that are new or changed when there are none.

        Raises:
            UsageError: a word names no day.
        """
        if files:
            return sorted({self._day_of(name) for name in files})
        self.look_at_sections()
        every = self._compile.all_days() if everything or since else self._compile.due()
        if since is None:
            return every
        if not _is_day(since):
            raise UsageError(f"--since: {since!r} is not a day", "write it like 2026-06-10")
        return [day for day in every if day >= since]

    def _day_of(self, name: str) -> str:
        stem = Path(name).name.removesuffix(".md")
        if _is_day(stem):
            return stem
        relative = name.removeprefix(f"{self._vault}/") if self._vault else name
        if day := self._daily.day_of(relative):
            return day
        shown = self._daily.name("2026-06-10")
        raise UsageError(f"--file: {name!r} names no daily note", f"write it like {shown}")

    def skipped(self) -> list[str]:
        """The days that had too little in them for articles."""
        return [day for day, (_, record) in articles.builds(self._ledger).items() if record.state == "skipped"]

    def run(
        self,
        days: Sequence[str] | None = None,
        *,
        again: bool = False,
        redo: bool = False,
        dry: bool = False,
        patient: bool = False,
        engine: str | None = None,
        choose: Choose | None = None,
        aging: bool = False,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Compiled:
        """Compile these days (by default what is new or changed) and bring the vault up to date. With `aging` it is
        looked at what may be out of date.

        `engine`: who writes in this run, or `choose` says it. `redo`: also what a model wrote is asked for anew.
        `patient`: files somebody saved within the last minute are left for the next run, as the daemon does.
        """
        seen = Seen() if dry else self.look(again=not patient)
        if not compile_on.here(self._ledger):
            # What the other machine makes of it comes by sync; what people did here goes there.
            return Compiled((), 0 if dry else self.render(patient=patient), seen, {})
        wanted = self._compile.due() if days is None else list(days)
        self._engines.begin(stop)
        done = self._compile.run(
            wanted,
            again=again,
            redo=redo,
            dry=dry,
            choose=choose or self._engines.chooser(engine),
            on_progress=on_progress,
            stop=stop,
        )
        if self._nearness and not dry and any(day.state != "unchanged" for day in done.days):
            self._nearness.keep(texts_compared(articles.stored(self._ledger).values()))
        titles = {each.uid: each.article.title for each in articles.current(self._ledger)}
        titles |= {uid: article.title for uid, article in done.changed.items() if uid not in titles}
        if dry:
            return Compiled(done.days, 0, seen, titles, self._diff(done.changed))
        retract_spread.spread(self._ledger, self._redactor)
        using.settle(self._ledger, self._redactor, self._state, self._vault, self._zones)
        if aging and not stop():
            aging_.mark(
                self._ledger, self._redactor, self._zones, self._today(), unused_days=self._unused_days, stop=stop
            )
        written = self.render(patient=patient)
        if aging and not stop():
            written += self.review_page()
        if any(day.state not in ("unchanged", "waiting") for day in done.days):
            self._remember("last_compile_us")
        return Compiled(done.days, written, seen, titles)

    def review_page(self) -> int:
        """Bring the page of what waits for a person's word up to date; 1 when it was written."""
        if self._pages is None:
            return 0
        from afterword.app import review  # noqa: PLC0415  # it acts through what is here

        try:
            return self._pages.put_review(review.page(review.candidates(self._ledger)))
        except OSError as err:
            self.problems["the page of what waits for you"] = err.strerror or str(err)
            return 0

    def render(self, *, patient: bool = False) -> int:
        """Bring the vault's files up to date with the ledger; how many were written."""
        if self._notes is None or self._pages is None:
            return 0
        left = False

        def busy(path: Path) -> bool:
            nonlocal left
            found = patient and self._busy(path)
            left = left or found
            return found

        written = self._notes.sync(quiet=busy)
        self.problems = dict(self._notes.problems)
        try:
            written += self._pages.sync()
        except OSError as err:
            self.problems["the catalogue"] = err.strerror or str(err)
        if self.owed() and not left and not self.problems and self._vault and may_write(self._vault, self._ledger):
            with self._ledger.transaction():
                self._ledger.set_meta(articles.OWED, 0)
        return written

    def mend(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Fold all articles anew, so that links lead to what is there now, and write what is not as it should be; how
        many files were written."""
        with self._ledger.transaction():
            unsettle(self._ledger)
        files = self.run([], stop=stop).files
        return files + (self.render() if self.owed() else 0)

    def owed(self) -> bool:
        """Whether the vault is behind the ledger."""
        return self._ledger.meta(articles.OWED) == 1

    def nightly_due(self) -> bool:
        """Whether the moment of `compile.at` has passed since the last run, also while the machine slept, or that of
        another try."""
        if not re.fullmatch(r"[0-2]\d:[0-5]\d", self._at):
            return False
        now_us = self._clock()
        if 0 < self._again_us <= now_us:
            return True
        local = self._zones.local(now_us)
        hours, minutes = map(int, self._at.split(":"))
        moment = local.replace(hour=hours, minute=minutes, second=0, microsecond=0)
        ago = (local - moment) / dt.timedelta(microseconds=1)
        last_due_us = now_us - int(ago if ago >= 0 else ago + DAY_US)
        last = self._ledger.meta("nightly_us")
        return not isinstance(last, int) or last < last_due_us

    def some(self, *, today: bool, stop: Callable[[], bool] = lambda: False) -> Tended:
        """Compile the first few of the new or changed days that this run has not come to yet; those that are over, or
        with `today` all. A day that fails does not keep the later ones from their turn."""
        self.look_at_sections()
        heads = {row: self._ledger.head(row) for row in self._ledger.origins()}
        grown = heads != self._heads
        due = self._compile.due() if grown else []
        left = [day for day in due if day > self._upto and (today or day < self._today())]
        days, left = left[:_DAYS_AT_ONCE], left[_DAYS_AT_ONCE:]
        night = not (left or today)
        if days or night or (grown and not due):
            # What a person retracted lets articles be folded anew though no day is due.
            done = self.run(days, patient=True, aging=night, stop=stop)
            files = done.files
            if any(day.state == "waiting" for day in done.days):
                return Tended(files, more=False, waits=True)
        else:
            files = self.refresh()
        if stop():
            return Tended(files, more=False)
        self._upto = days[-1] if left else ""
        now_us = self._clock()
        self._again_us = min((at_us for at_us in self._engines.next_tries_us() if at_us > now_us), default=0)
        if night:
            self._remember("nightly_us")
            self._engines.empty_old()
        # What was due is in the log: while that does not grow, nothing new is due.
        self._heads = heads if today and not due else None
        return Tended(files, bool(left))

    def refresh(self) -> int:
        """Take in what people did to the articles, and bring the files up to date if that or the ledger asks for it."""
        seen = self.look()
        news = seen.edited or seen.moved or seen.deleted or seen.restored
        if not (news or self.owed()):
            return 0
        retract_spread.spread(self._ledger, self._redactor)
        # What the page of what waits leads to may have been renamed or taken away.
        return self.render(patient=True) + (self.review_page() if news else 0)

    def _remember(self, what: str) -> None:
        with self._ledger.transaction():
            self._ledger.set_meta(what, self._clock())

    def _busy(self, path: Path) -> bool:
        return 0 <= self._clock() - path.stat().st_mtime_ns // 1000 < _QUIET_US

    def _today(self) -> str:
        return self._zones.day(self._clock())

    def _diff(self, changed: dict[ArticleUid, Article]) -> str:
        """What would be written, as a unified diff of the notes."""
        if self._notes is None or self._vault is None:
            return ""
        now = {each.uid: each for each in articles.current(self._ledger)}
        for uid, article in changed.items():
            edits = now[uid].edits if uid in now else Edits()
            now[uid] = Current(uid, laid_over(article, edits), edits)
        row = [now[uid] for uid in sorted(now)]
        gone = {uid: (path, note) for uid, path, note in self._notes.withdrawn(row)}
        changes = self._notes.changes(row, article_files.every(self._ledger), leaving=gone)
        notes = [(change.path, change.old or b"", change.new) for change in changes]
        # A note may take the name of one that goes: then its file is changed.
        named = {change.path for change in changes}
        notes += [(path, note, b"") for path, note in gone.values() if path not in named]
        rows: list[str] = []
        for path, old, new in notes:
            before, after = (side.decode("utf-8", "replace").splitlines(keepends=True) for side in (old, new))
            rows += difflib.unified_diff(before, after, path if old else "/dev/null", path if new else "/dev/null")
        return "".join(row if row.endswith("\n") else f"{row}\n" for row in rows)


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text)) and bool(dt.date.fromisoformat(text))
    except ValueError:
        return False
