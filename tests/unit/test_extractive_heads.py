import pytest

from afterword.compile.heads import affirms, capital, headed, leans, unanswered, unlabelled
from afterword.compile.matter import overlap, stems, substance


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("I keep it.", "en", "I keep it."),
        ("I don't want another one.", "en", "I don't want another one."),
        ("Sounds good, but keep the column.", "en", "Keep the column."),
        ("makes sense to me. a missing title is left out", "en", "a missing title is left out"),
        ("I zostawmy stary format.", "pl", "Zostawmy stary format."),
        ("Also nehmen wir die Datei.", "de", "Nehmen wir die Datei."),
        ("OK, fine.", "en", "OK, fine."),
    ],
)
def test_headed(text: str, language: str, expected: str) -> None:
    assert headed(text, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("offsetMs stays", "offsetMs stays"),
        ("nightly.yml has it", "nightly.yml has it"),
        ("column stays", "Column stays"),
        ("a day is long", "A day is long"),
        ("żaden plik", "Żaden plik"),
        ("`x` is set", "`x` is set"),
    ],
)
def test_capital(text: str, expected: str) -> None:
    assert capital(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Then the day is never assumed.", "en", True),
        ("It links to check_paths.sh.", "en", True),
        ("And it is slow.", "en", True),
        ("But never older than 12 hours.", "en", True),
        ("Not before the audit, though.", "en", True),
        ("That means two requests.", "en", True),
        ("This lock is held for an hour.", "en", False),
        ("It turned out that the pool is small.", "en", False),
        ("Sorting the rows is slow.", "en", False),
        ("Italy uses a comma.", "en", False),
        ("Button colours are wrong.", "en", False),
        ("Dlatego część plików jest zepsuta.", "pl", True),
        ("Поэтому там всё хорошо.", "ru", True),
        ("בגלל זה כל הודעה נשלחת פעמיים.", "he", True),
        ("Das ist der Grund.", "de", True),
        ("Das Testgerät ist alt.", "de", False),
        ("Es fehlt noch ein Test.", "de", False),
        ("Il faut un verrou.", "fr", False),
        ("C'est la deuxième fois.", "fr", True),
        ("そのため欠番になります。", "ja", True),
        ("所以会重复。", "zh", True),
    ],
)
def test_leans(text: str, language: str, expected: bool) -> None:
    assert leans(text, language) is expected


def test_labels_and_yes() -> None:
    assert unlabelled("Decision: no lock.", "decision") == "No lock."
    assert unlabelled("Decision: no lock.", "lesson") == "Decision: no lock."
    assert unlabelled("Nextcloud: off.", "action") == "Nextcloud: off."
    assert unlabelled("TODO：表示を確認する。", "action") == "表示を確認する。"
    assert unanswered("Yes: the call ends only that session.", "en") == "The call ends only that session."
    assert unanswered("Yes, it is the same cause as there.", "en") == "Yes, it is the same cause as there."
    assert affirms("Yes, do that.")
    assert not affirms("Yesterday was fine.")


@pytest.mark.parametrize(
    "text",
    [
        "Options?",
        "How far are we?",
        "Why does it still happen?",
        "Is it the same thing?",
        "Find the bug, test first please.",
        "Write it.",
        "Popraw to, proszę, ale bez zgadywania.",
        "Посмотри и почини, пожалуйста.",
        "תבדוק ותתקן בבקשה.",
        "Finde bitte heraus, woran es liegt.",
        "Revisa y corrige esto.",
        "調べて直してもらえますか。",
        "方法は？",
        "现在怎么办？",
    ],
)
def test_a_text_without_substance(text: str) -> None:
    assert substance(text) < 2


@pytest.mark.parametrize(
    "text",
    [
        "The export loses rows.",
        "Eksport gubi wiersze.",
        "テーブルロックは使いません。",
        "日志格式统一成 JSON",
        "fix tests/a.py in CI",
    ],
)
def test_a_text_with_substance(text: str) -> None:
    assert substance(text) >= 2


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("repair the 31 invoices", "31 invoices are repaired", True),
        ("przeliczyć raporty od marca", "Przeliczyłem 78 raportów od marca", True),
        ("den alten Zwischenspeicher löschen", "Der alte Zwischenspeicher ist gelöscht", True),
        ("add own-tempdir to nightly.yml", "nightly.yml has own-tempdir now", True),
        ("repair the invoices", "repair the lock", False),
    ],
)
def test_overlap_of_stems(one: str, other: str, expected: bool) -> None:
    assert (overlap(stems(one), stems(other)) >= 0.65) is expected
