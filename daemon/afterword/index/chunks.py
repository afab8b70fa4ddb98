"""Where documents are cut: by heading and paragraph, into stretches of 60 to 120 words.

Everything an embedder was tried with lost 10 to 20 points of recall on longer stretches. What was said is packed
across messages, because half of them are shorter than a line, and neighbours share one message: a question and its
answer then stand together in at least one chunk (measured: `bench.retrieval --locomo`).
"""

import hashlib
import re
from collections.abc import Callable, Iterator

import msgspec

from afterword.index.documents import Document, Part
from afterword.store.fulltext import spaced

AIM_WORDS = 90
MAX_WORDS = 130
_MIN_WORDS = 40
PART_CHARS = 24_000
"""What of one message is cut into chunks: the rest of a pasted dump is found by its exact words."""
_PARAGRAPHS = re.compile(r"\n\s*\n")
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n")


class Chunk(msgspec.Struct, frozen=True):
    """A stretch of a document. `id` is made of everything in it and of its place, `hash` of its text alone.

    The first `shared` characters of `text` stand in another chunk of the document too, or are no text of it (the
    heading). `items` are the ids of the messages in it.
    """

    id: str
    hash: bytes
    seq: int
    text: str
    shared: int
    heading: str
    items: tuple[str, ...]


def cut(document: Document, redact: Callable[[str], str] = lambda text: text) -> list[Chunk]:
    """The chunks of a document, in order. A change in one paragraph changes the chunks that hold it.

    `redact` goes over every chunk: two harmless pieces side by side may make a secret.
    """
    stretches = _windows(document) if document.kind == "message" else _sections(document)
    chunks: list[Chunk] = []
    seen: dict[bytes, int] = {}
    about = (document.kind, document.ref, document.title, document.day, str(document.time_us), document.project,
             document.harness, document.session)  # fmt: skip
    for seq, (text, shared, heading, items) in enumerate(stretches):
        text = str(redact(text))  # noqa: PLW2901  # nothing may use it as it was
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        # A text that stands twice in a document gets two ids; which is which does not matter.
        seen[digest] = nth = seen.get(digest, 0) + 1
        named = "\0".join((*about, heading, *items, str(nth))).encode("utf-8", "replace")
        its_id = hashlib.blake2b(named + digest, digest_size=16, person=b"afterword-chunk").hexdigest()
        chunks.append(Chunk(its_id, digest, seq, text, shared, heading, items))
    return chunks


def words(text: str) -> int:
    """About how many words a text has; signs of scripts without spaces count as words, and so do long lines."""
    return max(len(spaced(text).split()), len(text) // 12)


def _windows(document: Document) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
    """Messages packed to AIM_WORDS; a window begins with the last message of the one before, if that is short."""
    pieces = [(piece, part.item) for part in document.parts for piece in _pieces(part.text[:PART_CHARS])]
    sizes = [words(piece) for piece, _ in pieces]
    start = upto = 0
    while upto < len(pieces):
        end, total = start, 0
        while end < len(pieces) and (end <= upto or total + sizes[end] <= AIM_WORDS):
            total += sizes[end]
            end += 1
        shared = "".join(piece + "\n" for piece, _ in pieces[start:upto])
        own = "\n".join(piece for piece, _ in pieces[upto:end])
        items = tuple(dict.fromkeys(item for _, item in pieces[start:end]))
        yield shared + own, len(shared), "", items
        start = end - 1 if end - 1 > start and sizes[end - 1] <= _MIN_WORDS else end
        upto = end


def _sections(document: Document) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
    """Paragraphs packed within their heading, with the title and the heading's path before them."""
    group: list[Part] = []
    for part in (*document.parts, None):
        if group and (part is None or part.heading != group[0].heading):
            yield from _packed(document.title, group)
            group = []
        if part is not None:
            group.append(part)


def _packed(title: str, group: list[Part]) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
    heading = group[0].heading
    prefix = " › ".join(part for part in (title, heading) if part)
    prefix += "\n" if prefix else ""
    taken: list[str] = []
    for piece in [piece for part in group for piece in _pieces(part.text)] + [""]:
        full = words("\n".join(taken)) >= _MIN_WORDS or words("\n".join([*taken, piece])) > MAX_WORDS
        if taken and (not piece or full):
            yield prefix + "\n".join(taken), len(prefix), heading, ()
            taken = []
        taken.append(piece)


def _pieces(text: str) -> Iterator[str]:
    """The paragraphs of a text; long ones in parts of whole sentences, and longer sentences in parts of words."""
    for paragraph in _PARAGRAPHS.split(text.strip()):
        if words(paragraph) <= MAX_WORDS:
            if paragraph.strip():
                yield paragraph.strip()
            continue
        taken = ""
        for sentence in _SENTENCES.split(paragraph):
            for piece in _hard(sentence):
                if taken and words(f"{taken} {piece}") > AIM_WORDS:
                    yield taken
                    taken = ""
                taken = f"{taken} {piece}" if taken else piece
        if taken:
            yield taken


def _hard(sentence: str) -> Iterator[str]:
    """A sentence in parts of at most MAX_WORDS; one without end (a dump, a log) is cut by characters."""
    while (count := words(sentence)) > MAX_WORDS:
        limit = max(2, len(sentence) * MAX_WORDS // count)
        cut_at = sentence.rfind(" ", limit // 2, limit)
        cut_at = cut_at if cut_at > 0 else limit
        yield sentence[:cut_at].strip()
        sentence = sentence[cut_at:]
    if sentence.strip():
        yield sentence.strip()
