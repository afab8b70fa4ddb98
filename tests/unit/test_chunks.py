"""Where documents are cut, and what a change in one place changes."""

import itertools
import random

import pytest

from afterword.index.chunks import AIM_WORDS, MAX_WORDS, cut, words
from afterword.index.documents import Document, Part


def message(*texts: str) -> Document:
    parts = tuple(Part(text, item=f"{number:032x}") for number, text in enumerate(texts))
    return Document("message", "a" * 32, "1", "Title", "", 1, "api", "codex", "a" * 32, parts)


def article(*parts: tuple[str, str]) -> Document:
    return Document(
        "article", "knowledge/concepts/x.md", "1", "Retries", "", 1, "", "", "", tuple(Part(t, h) for h, t in parts)
    )


def prose(seed: int, count: int) -> str:
    rng = random.Random(seed)
    return " ".join("".join(rng.choices("abcdefghij", k=5)) for _ in range(count)) + "."


def test_short_messages_stand_together_and_neighbours_share_one() -> None:
    chunks = cut(message(*(prose(n, 30) for n in range(6))))
    assert all(words(chunk.text) <= AIM_WORDS for chunk in chunks)
    for before, after in itertools.pairwise(chunks):
        assert after.items[0] == before.items[-1]
        assert after.text[: after.shared].strip() in before.text
    assert {item for chunk in chunks for item in chunk.items} == {f"{n:032x}" for n in range(6)}


def test_every_word_is_in_some_chunk_once_of_its_own() -> None:
    texts = [prose(n, size) for n, size in enumerate((3, 400, 12, 90, 1, 250))]
    chunks = cut(message(*texts))
    own = " ".join(chunk.text[chunk.shared :] for chunk in chunks).split()
    assert own == " ".join(texts).split()
    assert all(words(chunk.text) <= MAX_WORDS + AIM_WORDS for chunk in chunks)


def test_a_longer_talk_changes_only_its_last_chunk() -> None:
    texts = [prose(n, 30) for n in range(9)]
    before, after = cut(message(*texts)), cut(message(*texts, prose(99, 30)))
    assert [chunk.id for chunk in after[: len(before) - 1]] == [chunk.id for chunk in before[:-1]]


def test_headings_stand_before_their_paragraphs() -> None:
    chunks = cut(article(("Why", prose(1, 50)), ("Why", prose(2, 60)), ("How", prose(3, 20)), ("How", prose(4, 10))))
    assert [chunk.text.splitlines()[0] for chunk in chunks] == ["Retries › Why", "Retries › Why", "Retries › How"]
    assert prose(3, 20) in chunks[2].text
    assert prose(4, 10) in chunks[2].text


def test_a_changed_paragraph_changes_one_chunk() -> None:
    parts = [("A", prose(n, 70)) for n in range(10)]
    before = {chunk.hash for chunk in cut(article(*parts))}
    parts[4] = ("A", prose(4, 70).replace("a", "z", 1))
    assert len({chunk.hash for chunk in cut(article(*parts))} - before) == 1


@pytest.mark.parametrize(
    "text", ["x" * 50_000, "接" * 3000, "a\n" * 4000, "\n\n \n", "\ud800 broken", "ok\0 then", "🚀" * 900]
)
def test_whatever_stands_in_a_message_chunks_stay_small(text: str) -> None:
    chunks = cut(message(text, "and an answer"))
    assert chunks
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert all(words(chunk.text) <= 2 * MAX_WORDS for chunk in chunks)


def test_a_text_that_stands_twice_has_two_ids_and_one_hash() -> None:
    chunks = cut(article(("A", "same words"), ("B", "x"), ("A", "same words")))
    assert len({chunk.id for chunk in chunks}) == 3
    assert chunks[0].hash == chunks[2].hash
