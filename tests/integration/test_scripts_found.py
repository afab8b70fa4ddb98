"""Words of every script are found as they were typed, in prose and in tool output alike."""

import random
from pathlib import Path

import pytest
from homes import Home
from transcripts import ClaudeSession

WORDS = [
    "파일을", "データベース", "接続エラー", "ビルド", "который", "найден", "ещё", "Україна", "Άγγελος", "हिन्दी", "خطأ",
    "m²", "Foo™", "№5", "ＡＰＩ", "ﬁnal", "½", "Größe", "żółw", "straße", "Đặng", "สวัสดี", "שגיאה", "检查缓存", "ÎÎ",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("scripts"))
    session = ClaudeSession(random.Random(1), session="scripts")
    for word in WORDS:
        session.prompt(f"look at {word} please")
        session.command("cat notes.txt", f"line one → {word} ← the end")
    path: Path = session.path(home.path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(session.lines))
    home.run("ingest")
    return home


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_in_prose_and_in_output(word: str, home: Home) -> None:
    results = home.json("search", word)["results"]
    assert {result["item_kind"] for result in results} == {"prompt", "output"}
    assert all(word in result["snippet"] for result in results)


def test_other_case_and_missing_accents_are_the_same_word(home: Home) -> None:
    for word in ("КОТОРЫЙ", "GRÖSSE", "grosse", "αγγελος"):
        assert home.json("search", word)["total"] == 2, word
