"""What a place among results is made of, and how much each counts: one value, so that each can be measured alone.

Weights were chosen on LoCoMo's development half and on the development half of `bench/own`, and the rest is reported
by `python -m bench.retrieval --own --held-out`. `docs/benchmarks.md` shows what search is without each of them.
"""

import msgspec


class Signals(msgspec.Struct, frozen=True):
    """Weights. Scores are about 0 … 2; 0 turns a signal off, `stale` and `abandoned` take away."""

    near: float = 0.8
    """The cosine of the nearest chunk."""
    words: float = 0.7
    """BM25 of the best chunk, as a share of what there could be."""
    words_of_group: float = 0.3
    """The same over a whole session or article."""
    time: float = 0.3
    """The times a question speaks of."""
    project: float = 0.1
    """The question names the project."""
    here: float = 0.05
    """It is asked in the project's folder."""
    article: float = 0.05
    lesson: float = 0.05
    diary: float = 0.02
    decisions: float = 0.1
    """The question asks what was decided or learned, and the passage is a decision or lesson."""
    recency: float = 0.02
    """What is new, at most so much; half of it after 90 days."""
    use: float = 0.05
    """An article was opened or cited: at most so much, half of it after four times."""
    stale: float = 0.1
    """The article may be out of date."""


DEFAULT = Signals()
