"""The semantic index for a writer: made or opened when there is something to do, brought up to date in slices."""

import logging
from collections.abc import Callable, Collection
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from afterword.app.config import Config
from afterword.domain.errors import Busy
from afterword.index.nearness import FILE as NEARNESS
from afterword.index.standing import FILE, SIGNATURES, collection_name, standing
from afterword.redact.exits import leave
from afterword.redact.redactor import Redactor
from afterword.store.ledger import views
from afterword.store.ledger.ledger import Ledger

if TYPE_CHECKING:
    from afterword.index.building import Done, Index, Progress
    from afterword.index.documents import ArticleSource
    from afterword.index.embedder import Embedder
    from afterword.index.nearness import Nearness

_log = logging.getLogger(__name__)


class Indexing:
    """The index as a part of the program. Held open between slices, so that Chroma is opened once."""

    def __init__(
        self, config: Config, ledger: Ledger, redactor: Redactor, articles: "ArticleSource | None" = None
    ) -> None:
        self._config = config
        self._redactor = redactor
        self._ledger = ledger
        self._articles = articles
        self._open = ExitStack()
        self._index: Index | None = None
        self._embedder: Embedder | None = None

    @property
    def on(self) -> bool:
        """Whether the settings want an index."""
        return self._config.settings.index.embedder != "off"

    def embedder(self) -> "Embedder":
        """The embedder of the settings, one for writing and for questions: it takes 150 MB."""
        from afterword.index.embedder import EMBEDDERS  # noqa: PLC0415

        if self._embedder is None:
            self._embedder = EMBEDDERS[self._config.settings.index.embedder]()
        return self._embedder

    def nearness(self) -> "Nearness | None":
        """How near texts are by meaning, for compile; None when the settings want no embedder."""
        if not self.on:
            return None
        from afterword.index.nearness import Nearness  # noqa: PLC0415

        return Nearness(self._config.places.state, SIGNATURES[self._config.settings.index.embedder], self.embedder)

    def step(self, budget_s: float = 0.25, wake: Callable[[], None] | None = None) -> bool:
        """Work for about so long; whether to call it again at once. Never waits for another process that has the index
        open, nor, with `wake`, for what takes seconds to load: that is called in another thread when it is there."""
        if not self.on:
            return False
        try:
            return self._opened().step(budget_s, wake)
        except Busy:
            _log.info("another process has the index open, it is brought up to date later")
            return False

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
        """
        if not self.on:
            return None
        index = self._opened()
        if rebuild:
            index.rebuild()
        return index.catch_up(on_progress=on_progress, stop=stop, thorough=thorough)

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

    def close(self) -> None:
        self._open.close()
        self._index = None

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
                )
            )
        return self._index


def index_status(config: Config, ledger: Ledger) -> dict[str, Any]:
    """`index` of `status --json`: how much is found by meaning. Loads neither the embedder nor Chroma."""
    from afterword.index import manifest  # noqa: PLC0415

    name = config.settings.index.embedder
    if name == "off":
        return {"semantic": "off", "chunks": 0, "share": 0.0, "embedder": None}
    signature = SIGNATURES[name]
    semantic = standing(config.places.state, signature)
    listed = manifest.open_reader(config.places.state)
    if listed is None:
        return {"semantic": "off", "chunks": 0, "share": 0.0, "embedder": signature}
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
        "embedder": signature,
    }
