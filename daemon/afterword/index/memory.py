"""The index in memory: every vector and every word of it, compared with a question without leaving anything out.

Up to 50,000 chunks the exact product is as quick as Chroma's approximate search and finds everything; it also gives
the vectors that the words are weighed with. It is read from `index.db`, so no lock is needed and no Chroma loaded.
"""

import numpy as np
import numpy.typing as npt

from afterword.domain.sections import PARTS
from afterword.index.embedder import Floats, Matrix
from afterword.index.manifest import Build, Manifest

Ints = npt.NDArray[np.int64]

_K1, _B = 1.2, 0.75
_BLOCK = 1_000
_DECISIVE = tuple(label for field, label in PARTS if field in ("decisions", "lessons"))


class Memory:
    """A build as it was at `changes`. A *group* is what is found together: a session with its diary, an article, or a
    lesson."""

    def __init__(self, manifest: Manifest, build: Build, dim: int) -> None:
        self.changes = build.changes
        rows, halves, words = _read(manifest, build)
        docs = manifest.db.execute(
            "SELECT row, kind, ref, day, time_us, project, harness, session FROM doc WHERE build = ?", (build.row,)
        ).fetchall()
        self.docs = docs
        """(row, kind, ref, day, time, project, harness, session)."""
        place = {doc[0]: at for at, doc in enumerate(docs)}
        groups: dict[str, int] = {}
        group_of = [groups.setdefault(doc[7] or doc[2], len(groups)) for doc in docs]
        count = len(rows)
        self.rows: Ints = np.array([row[0] for row in rows], np.int64)
        self.doc: Ints = np.array([place[row[1]] for row in rows], np.int64)
        self.group: Ints = np.array([group_of[at] for at in self.doc], np.int64)
        self.group_of_doc: Ints = np.array(group_of, np.int64)
        self.groups = len(groups)
        self.vectors: Matrix = np.empty((count, dim), np.float32)
        at = 0
        for block in reversed(halves):
            halves.pop()
            end = count - at
            self.vectors[end - len(block) // dim : end] = block.reshape(-1, dim)
            at += len(block) // dim
        counts = np.array([row[2] for row in rows], np.int32)
        shared = np.array([row[3] for row in rows], np.int32)
        decisions = np.array([row[4] for row in rows], bool)
        del rows
        self._words = np.concatenate([np.zeros(0, np.uint32), *words])
        self._chunk_of: npt.NDArray[np.int32] = np.repeat(np.arange(count, dtype=np.int32), counts)
        # Words that a neighbour shares count once in a group, and so does what its diary says again.
        first = (np.cumsum(counts) - counts + shared).astype(np.int32)
        own = np.arange(len(self._words), dtype=np.int32) >= np.repeat(first, counts)
        diary = np.array([doc[1] == "diary" for doc in docs], bool)
        said = np.zeros(self.groups, bool)
        said[self.group_of_doc[np.array([doc[1] == "message" for doc in docs], bool)]] = True
        self.again = diary[self.doc] & said[self.group] if count else np.zeros(0, bool)
        """Chunks of a diary whose session's own words are here too: the same said twice, one time out of its place."""
        self._own = own & ~self.again[self._chunk_of]
        self.decisions: npt.NDArray[np.bool_] = decisions
        """Chunks that are decisions or lessons of a diary."""
        self._lengths = counts.astype(np.float64)
        self._group_lengths: Floats = np.bincount(self.group[self._chunk_of[self._own]], minlength=self.groups).astype(
            np.float64
        )

    def __len__(self) -> int:
        return len(self.rows)

    def words(self, asked: list[int]) -> tuple[Floats, Floats]:
        """How well every chunk, and every group, holds the words of a question: BM25 as a share of what there could be.

        A word that is nowhere counts as the rarest, so what holds the common half of a question stays low.
        """
        chunks = np.zeros(len(self.rows))
        groups = np.zeros(self.groups)
        whole = whole_groups = 1e-9
        for word in asked:
            hits = np.flatnonzero(self._words == word)
            in_chunks = np.bincount(self._chunk_of[hits], minlength=len(self.rows)).astype(np.float64)
            own = self._chunk_of[hits[self._own[hits]]]
            in_groups = np.bincount(self.group[own], minlength=self.groups).astype(np.float64)
            score, weight = _bm25(in_chunks, self._lengths)
            chunks += score
            whole += weight
            score, weight = _bm25(in_groups, self._group_lengths)
            groups += score
            whole_groups += weight
        return chunks / whole, groups / whole_groups

    def best(self, values: Floats, weighed: npt.NDArray[np.bool_]) -> Floats:
        """The highest value of the weighed chunks of each group; -1 without any."""
        found: Floats = np.full(self.groups, -1.0)
        np.maximum.at(found, self.group[weighed], values[weighed])
        return found


def _read(
    manifest: Manifest, build: Build
) -> tuple[list[tuple[int, int, int, int, bool]], list[npt.NDArray[np.float16]], list[npt.NDArray[np.uint32]]]:
    """(row, document, how many words, how many of them a neighbour shares, whether it is a decision or lesson) of every
    chunk; vectors and words in blocks.

    Thousands of small pieces would stay in the process's memory long after they are joined.
    """
    found = manifest.db.execute(
        "SELECT c.row, c.doc, c.terms, c.shared, c.heading IN (?, ?), v.half FROM chunk c JOIN vector v"
        " ON v.hash = c.hash AND v.embedder = ? WHERE c.build = ? ORDER BY c.row",
        (*_DECISIVE, build.embedder, build.row),
    )
    rows: list[tuple[int, int, int, int, bool]] = []
    halves: list[npt.NDArray[np.float16]] = []
    words: list[npt.NDArray[np.uint32]] = []
    while piece := found.fetchmany(_BLOCK):
        rows += [(row, doc, len(terms) // 4, shared, bool(told)) for row, doc, terms, shared, told, _ in piece]
        halves.append(np.frombuffer(b"".join(row[5] for row in piece), np.float16))
        words.append(np.frombuffer(b"".join(row[2] for row in piece), np.uint32))
    return rows, halves, words


def _bm25(counts: Floats, lengths: Floats) -> tuple[Floats, float]:
    """(score, highest score there could be) of one word."""
    holding = np.count_nonzero(counts)
    weight = float(np.log1p((len(counts) - holding + 0.5) / (holding + 0.5)))
    mean = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
    score = weight * counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * lengths / mean))
    return score, weight * (_K1 + 1)
