"""The semantic index for a writer: made or opened when there is something to do, brought up to date in slices."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from afterword.app.config import Config
from afterword.domain.clock import Clock, Zones
from afterword.domain.errors import AfterwordError, Busy
from afterword.index.nearness import FILE as NEARNESS
from afterword.index.standing import FILE, SIGNATURES, collection_name, signature_of, standing
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store.ledger import views
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.index.building import Done, Index, Progress
    from afterword.index.documents import ArticleSource
    from afterword.index.embedder import Embedder
    from afterword.index.nearness import Nearness
    from afterword.index.place import Place

_log = logging.getLogger(__name__)


TROUBLE = "index_trouble"
"""The small fact why the index cannot be brought up to date."""
_AGAIN_S = 5.0
_AGAIN_MAX_S = 300.0


class Indexing:
    """The index as a part of the program. Held open between slices, so that Chroma is opened once."""

    def __init__(
        self,
        config: Config,
        env: Mapping[str, str],
        ledger: Ledger,
        redactor: Redactor,
        clock: Clock,
        zones: Zones,
        articles: "ArticleSource | None" = None,
    ) -> None:
        self._config = config
        self._env = env
        self._clock = clock
        self._zones = zones
        self._redactor = redactor
        self._ledger = ledger
        self._articles = articles
        self._open = ExitStack()
        self._index: Index | None = None
        self._local: Embedder | None = None
        self._embedder: Embedder | None = None
        self._making = threading.Lock()
        self._failures = 0
        self._again_s = 0.0

    @property
    def on(self) -> bool:
        """Whether the settings want an index."""
        return self._config.settings.index.embedder != "off"

    def local(self) -> "Embedder":
        """The local embedder, one for everybody in this process: it takes 150 MB."""
        from afterword.app import embedders  # noqa: PLC0415  # `status` starts without the ways to a model

        if self._local is None:
            self._local = embedders.local(self._config.places.state)
        return self._local

    def embedder(self) -> "Embedder":
        """The embedder of the settings, for the writer.

        Raises:
            UserError: it is Gemini, and there is no way to it, or a model that is not installed.
        """
        wanted = self._config.settings.index.embedder
        if wanted == "local":
            return self.local()
        from afterword.app import embedders  # noqa: PLC0415  # the same

        with self._making:  # a question may come meanwhile
            if self._embedder is None and wanted == "minilm":
                self._embedder = embedders.minilm(self.local())
            elif self._embedder is None:
                self._embedder = embedders.for_index(
                    self._config, self._env, self._ledger, self._redactor, self._clock, self._zones
                )
            return self._embedder

    def nearness(self) -> "Nearness | None":
        """How near texts are by meaning, for compile; None when the settings want no embedder. Always by the local
        model: what is compared are many short texts, and nobody waits for a network."""
        if not self.on:
            return None
        from afterword.index.nearness import Nearness  # noqa: PLC0415

        return Nearness(self._config.places.state, SIGNATURES["local"], self.local)

    def step(self, budget_s: float = 0.25, wake: Callable[[], None] | None = None) -> bool:
        """Work for about so long; whether to call it again at once. Never waits for another process that has the index
        open, nor, with `wake`, for what takes seconds to load or to answer: that is called in another thread when it is
        there. A server or service that does not answer is asked again later, by itself."""
        if not self.on or (wake is not None and time.monotonic() < self._again_s):
            return False
        try:
            more = self._opened().step(budget_s, wake)
        except Busy:
            _log.info("another process has the index open, it is brought up to date later")
            return False
        except AfterwordError as err:
            self._failed(err)
            if wake is None:
                raise
            return False
        self._failed(None)
        return more

    def _failed(self, err: AfterwordError | None) -> None:
        """Remember for `status` what is wrong, and come back later each time; or that nothing is wrong."""
        said = ". ".join(filter(None, (err.message, err.hint))) if err else ""
        if self._ledger.meta(TROUBLE) != (said or None) and (said or self._ledger.meta(TROUBLE)):
            with self._ledger.transaction():
                self._ledger.set_meta(TROUBLE, self._redactor.redact(said))
            if said:
                _log.warning("the index cannot be brought up to date, it is tried again: %s", said)
        self._failures = self._failures + 1 if err else 0
        asked_s = getattr(err, "again_s", None) or 0.0
        pause_s = min(_AGAIN_MAX_S, _AGAIN_S * 2 ** min(self._failures - 1, 8)) if err else 0.0
        self._again_s = time.monotonic() + max(pause_s, asked_s)

    def catch_up(
        self,
        *,
        on_progress: "Callable[[Progress], None]" = lambda _progress: None,
        stop: Callable[[], bool] = lambda: False,
        thorough: bool = False,
        rebuild: bool = False,
    ) -> "Done | None":
        """Bring the index up to date; None when there is to be none.

        Raises:
            Busy: another process has it open.
            AfterwordError: a server or service that it takes does not answer.
        """
        if not self.on:
            return None
        index = self._opened()
        try:
            if rebuild:
                index.rebuild()
            done = index.catch_up(on_progress=on_progress, stop=stop, thorough=thorough)
        except AfterwordError as err:
            self._failed(err)
            raise
        self._failed(None)
        return done

    def begin_again(self, forgotten: Collection[str] = ()) -> None:
        """Leave no byte of texts that were replaced: the next pass takes everything in anew, with the vectors that are
        known. Also where the settings want no index any more. Of the sessions (ids) in `forgotten` no vector is kept.

        Raises:
            Busy: another process has it open.
        """
        state = self._config.places.state
        self.close()
        for suffix in ("", "-wal", "-shm"):
            (state / (NEARNESS + suffix)).unlink(missing_ok=True)
        if not (state / FILE).exists():
            return
        from afterword.index import keeper, manifest  # noqa: PLC0415  # numpy

        with keeper.lock(state):
            listed = manifest.open_writer(state, self._ledger.origin[0])
            listed.forget_vectors(forgotten)
            for name in listed.builds():
                listed.drop(name)
            listed.pack()
            listed.close()
            keeper.remove(state)
            place = self._place()
            if place:
                from afterword.index.opening import clear  # noqa: PLC0415  # the same

                try:
                    clear(state, place)
                except keeper.StoreFailed as err:
                    # Nothing of it is listed any more: whoever opens it next takes it out.
                    self._failed(err)

    def close(self) -> None:
        self._open.close()
        self._index = None

    def _place(self) -> "Place | None":
        from afterword.app import chroma_server  # noqa: PLC0415  # most have none

        return chroma_server.place(self._config, self._env, self._ledger.origin[0])

    def _opened(self) -> "Index":
        from afterword.index.building import open_index  # noqa: PLC0415  # numpy: what only reads the ledger starts without

        if self._index is None:
            settings = self._config.settings.index
            self._index = self._open.enter_context(
                open_index(
                    self._config.places.state,
                    self._ledger,
                    self.embedder(),
                    max_chunks=settings.max_chunks,
                    redact=lambda text: leave("vector-index", text, self._redactor),
                    articles=self._articles,
                    place=self._place(),
                )
            )
        return self._index


def index_status(config: Config, ledger: Ledger) -> dict[str, Any]:
    """`index` of `status --json`: how much is found by meaning. Loads neither the embedder nor Chroma."""
    from afterword.index import manifest  # noqa: PLC0415

    name = config.settings.index.embedder
    if name == "off":
        return {"semantic": "off", "chunks": 0, "share": 0.0, "embedder": None}
    signature = signature_of(config.settings.index)
    said = ledger.meta(TROUBLE)
    beside: dict[str, Any] = {
        "embedder": signature,
        "chroma": config.settings.chroma.url or None,
        "problem": said if isinstance(said, str) and said else None,
    }
    semantic = standing(config.places.state, signature)
    listed = manifest.open_reader(config.places.state)
    if listed is None:
        return {"semantic": "off", "chunks": 0, "share": 0.0, **beside}
    try:
        build = listed.build(collection_name(signature))
        sizes = listed.sizes(build) if build else manifest.Sizes(0, 0, 0)
    finally:
        listed.close()
    spoken = views.spoken(ledger)
    return {
        "semantic": semantic,
        "chunks": sizes.chunks,
        "documents": sizes.documents,
        "share": round(min(1.0, sizes.messages / spoken), 4) if spoken else 1.0,
        **beside,
    }
