"""Texts to be found in bytes, in whatever form bytes hold them; many at once, in one pass over the bytes."""

import base64
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

_PIECE_BYTES = 8 << 20
_HALF = 10
"""A half of a text is looked for when it has this many characters: fewer are no evidence."""
_BITS = 22
_GRAM = 4


class Match(NamedTuple):
    """A text that is there, and in which form."""

    text: str
    how: str


class _Forms:
    """Byte strings, found through one of their 4-byte pieces each."""

    def __init__(self, forms: dict[bytes, Match]) -> None:
        self._table = np.zeros(1 << _BITS, dtype=bool)
        self._longest = max(map(len, forms), default=0)
        self._rows: dict[int, list[tuple[int, bytes, Match]]] = defaultdict(list)
        for form, match in forms.items():
            if len(form) < _GRAM:
                raise ValueError(f"{match.text!r} is too short to be looked for")
            # The end of a secret tells it from others: what a provider issues begins alike.
            at = len(form) - _GRAM
            gram = form[at : at + _GRAM]
            self._rows[int.from_bytes(gram, "little")].append((at, form, match))
            self._table[_hashed(np.frombuffer(gram, dtype="<u4"))] = True

    def found(self, data: bytes) -> Iterator[Match]:
        for start in range(0, len(data), _PIECE_BYTES):
            piece = np.frombuffer(data[start : start + _PIECE_BYTES + self._longest], dtype=np.uint8).astype(np.uint32)
            if len(piece) < _GRAM:
                return
            grams = piece[:-3] | piece[1:-2] << 8 | piece[2:-1] << 16 | piece[3:] << 24
            for place in np.flatnonzero(self._table[_hashed(grams)]):
                for at, form, match in self._rows.get(int(grams[place]), ()):
                    begin = start + int(place) - at
                    if begin >= 0 and data.startswith(form, begin):
                        yield match


def _hashed(grams: "np.ndarray") -> "np.ndarray":
    return (grams * np.uint32(2654435761)) >> np.uint32(32 - _BITS)


class Needles:
    """Texts that are looked for: as they are, in any case, in halves, as words of an index, as part of a file's name,
    in UTF-16, hex and base64. Containers and escapes are undone by who calls (`unwrapping`)."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        exact: dict[bytes, Match] = {}
        any_case: dict[bytes, Match] = {}
        for text in self.texts:
            for form, how in _of_any_case(text):
                any_case.setdefault(form.lower(), Match(text, how))
            for form, how in _as_it_is(text):
                exact.setdefault(form, Match(text, how))
        self._exact, self._any_case = _Forms(exact), _Forms(any_case)

    def found(self, data: bytes) -> set[Match]:
        """What is in the bytes."""
        return set(self._exact.found(data)) | set(self._any_case.found(data.lower()))

    def indexed(self, terms: dict[str, set[int]]) -> set[Match]:
        """What is in an inverted index: term → documents. A text of several words is there when one document has all
        of them; what stands at its ends may be part of a longer word."""
        joined = "\0" + "\0".join(term for term in terms if "\0" not in term) + "\0"
        return {
            Match(text, "index")
            for text in self.texts
            if any(_in_one(form, joined, terms) for form in (words(text), words(text, r"[^\W_]+")))
        }


def words(text: str, word: str = r"\w+") -> list[str]:
    """The words of a text as an index has them."""
    return re.findall(word, text.lower())


def _in_one(wanted: list[str], joined: str, terms: dict[str, set[int]]) -> bool:
    documents: set[int] | None = None
    for number, word in enumerate(wanted):
        ends = ("" if number == 0 else "\0", "" if number == len(wanted) - 1 else "\0")
        holding: set[int] = set()
        for match in re.finditer(re.escape(f"{ends[0]}{word}{ends[1]}"), joined):
            middle = match.start() + len(ends[0])
            holding |= terms[joined[joined.rfind("\0", 0, middle) + 1 : joined.find("\0", middle)]]
        documents = holding if documents is None else documents & holding
        if not documents:
            return False
    return bool(documents)


def _of_any_case(text: str) -> Iterator[tuple[bytes, str]]:
    raw = text.encode()
    yield raw, "plain"
    yield text.lower().encode(), "plain"
    middle = len(text) // 2
    if middle >= _HALF:
        # Whatever cuts a text once, a page of a database or a chunk of a stream, leaves one half of it whole.
        yield text[:middle].encode(), "half"
        yield text[middle:].encode(), "half"
    slug = re.sub(r"[\W_]+", "-", text.lower()).strip("-")
    if len(slug) >= _HALF:
        yield slug.encode(), "name"
    for word in words(text):
        # An index stores only what differs from the word before.
        if len(word) >= 2 * _HALF:
            yield word[_HALF:].encode(), "end of a word"
    yield text.encode("utf-16-le"), "utf-16"
    yield text.encode("utf-16-be"), "utf-16"
    yield raw.hex().encode(), "hex"


def _as_it_is(text: str) -> Iterator[tuple[bytes, str]]:
    raw = text.encode()
    for shift in range(3):
        # The first and last characters depend on the neighbours.
        whole = base64.b64encode(b"\0" * shift + raw)
        lead = (shift * 8 + 5) // 6
        sure = (shift + len(raw)) * 8 // 6
        form = whole[lead:sure]
        if len(form) >= _HALF:
            yield form, "base64"
            yield form.translate(bytes.maketrans(b"+/", b"-_")), "base64"
