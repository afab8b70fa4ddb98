"""Search as a reader asks it: exact, and by meaning where there is an index. What is heavy loads when it is needed."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from afterword.app.config import Config
from afterword.app.reading import redactor, zones_of
from afterword.domain.clock import Clock, Zones, clock_from
from afterword.index import hybrid
from afterword.index.hybrid import Found, Mode, Results
from afterword.index.narrowing import Filters
from afterword.index.signals import DEFAULT, Signals
from afterword.index.standing import SIGNATURES, DocumentKind, Semantic, signature_of, standing
from afterword.store.ledger import sessions
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.index.embedder import Embedder
    from afterword.index.meaning import Meaning


class Searcher:
    """Answers questions; a daemon keeps one for all its callers, a command makes one. One question at a time."""

    def __init__(
        self,
        config: Config,
        env: Mapping[str, str],
        embedder: "Callable[[], Embedder] | None" = None,
        signals: Signals = DEFAULT,
    ) -> None:
        """`embedder` gives one of this process that is shared; without it a searcher loads its own when it needs it.
        `signals` are what a place among results is made of: a measurement turns each of them off."""
        self._signals = signals
        self._env = env
        self._config = config
        self._embedder = embedder
        self._turn = threading.Lock()
        self._clock: Clock = clock_from(dict(env))
        self._meaning: Meaning | None = None
        self._ledger: Ledger | None = None

    def search(
        self, ledger: Ledger, query: str, filters: Filters, *, limit: int, mode: Mode = "both", page: int = 1
    ) -> Results:
        """What holds the words of `query`, and what means the same; `limit` results a page."""
        with self._turn:
            self._ledger = ledger
            return hybrid.search(
                ledger,
                self._config.places.state,
                query,
                filters,
                limit=limit,
                now_us=self._clock(),
                meaning=None if mode == "exact" or self._config.settings.index.embedder == "off" else self,
                mode=mode,
                page=page,
                signals=self._signals,
            )

    @property
    def now_us(self) -> int:
        """The clock's, UTC microseconds."""
        return self._clock()

    def state(self) -> Semantic:
        """ready, building or off."""
        if self._config.settings.index.embedder == "off":
            return "off"
        return standing(self._config.places.state, signature_of(self._config.settings.index))

    def passages(self, query: str, filters: Filters, kinds: frozenset[DocumentKind], limit: int) -> list[Found]:
        """The nearest passages, best first."""
        from afterword.index.meaning import Wanted  # noqa: PLC0415

        assert self._ledger is not None
        session = sessions.load(self._ledger, "WHERE s.row = ?", (filters.session,)) if filters.session else []
        wanted = Wanted(
            kinds=kinds,
            project=filters.project,
            harness=filters.harness,
            session=session[0].id if session else None,
            since_us=filters.since_us,
            until_us=filters.until_us,
            here=filters.here,
            sessions=sessions.named(self._ledger, agent=filters.agent, machine=filters.machine),
        )
        zones = zones_of(self._config, self._ledger)
        return list(self._opened(zones).ask(query, wanted, limit=limit, day_of=zones.day, now_us=self._clock()))

    def close(self) -> None:
        if self._meaning:
            self._meaning.close()

    def _opened(self, zones: Zones) -> "Meaning":
        from afterword.app import embedders  # noqa: PLC0415
        from afterword.index.meaning import Meaning  # noqa: PLC0415
        from afterword.index.scripts import KNOWN  # noqa: PLC0415

        if self._meaning is None:
            wanted = self._config.settings.index.embedder
            shared = self._embedder if wanted in SIGNATURES else None
            made = (
                shared()
                if shared
                else embedders.for_questions(
                    self._config, self._env, redactor(self._config), self._clock, zones.day, self._booked
                )
            )
            self._meaning = Meaning(self._config.places.state, made, self._signals, KNOWN.get(wanted))
        return self._meaning

    def _booked(self, day: str) -> int:
        """The tokens of a day in the ledger."""
        from afterword.store.ledger import model_calls  # noqa: PLC0415  # with a model only

        assert self._ledger is not None
        return model_calls.spent(self._ledger, day).tokens
