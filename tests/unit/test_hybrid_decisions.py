"""Which queries exact search answers alone, which times a question speaks of, and how two lists become one."""

import datetime as dt

import msgspec
import pytest

from afterword.index.dates import nearness, spoken, without_times
from afterword.index.hybrid import Result, _joined, only_exact
from afterword.index.scripts import KNOWN, foreign
from afterword.index.stemming import asks_decision, stems
from afterword.index.terms import asked, number
from afterword.store.ledger.sessions import Session, SessionFacts

TODAY = dt.date(2026, 6, 10)


@pytest.mark.parametrize(
    "query",
    [
        "SSL_ERROR_SYSCALL", "--force-with-lease", "resolveEncodedPath", "src/app.py", '"temp directory" race', "40P01",
        "needlea0x0012", "ERR_MODULE_NOT_FOUND exit=1", "std::move", "max.poll.interval.ms",
    ],
)  # fmt: skip
def test_names_and_phrases_are_for_exact_search_alone(query: str) -> None:
    assert only_exact(query)


@pytest.mark.parametrize(
    "query",
    [
        "that thing with auth", "why did SSL_ERROR_SYSCALL come back", "deadlock", "what's up?",
        'what did we decide about "Summer Sounds"?',
    ],
)  # fmt: skip
def test_questions_are_for_both(query: str) -> None:
    assert not only_exact(query)


@pytest.mark.parametrize(
    ("question", "day", "least", "most"),
    [
        ("what did we decide in May 2026", dt.date(2026, 5, 3), 1.0, 1.0),
        ("what did we decide in May 2026", dt.date(2025, 5, 3), 0.0, 0.0),
        ("on 7 May", dt.date(2026, 5, 8), 1.5, 2.0),
        ("may we drop the table", dt.date(2026, 5, 8), 0.0, 0.0),
        ("in december 2025", dt.date(2026, 1, 4), 0.4, 0.4),
        ("what broke yesterday", dt.date(2026, 6, 9), 2.0, 2.0),
        ("what broke yesterday", dt.date(2026, 6, 7), 0.0, 0.0),
        ("notes of 2026-06-01", dt.date(2026, 6, 1), 2.0, 2.0),
        ("notes of 2026-19-41", dt.date(2026, 6, 1), 0.0, 0.0),
        ("co ustaliliśmy w maju", dt.date(2026, 5, 3), 1.0, 1.0),
        ("co mają na liście", dt.date(2026, 5, 3), 0.0, 0.0),
        ("итоги спринта в марте", dt.date(2026, 3, 9), 1.0, 1.0),
        ("מה היה בחודש מרץ", dt.date(2026, 3, 9), 1.0, 1.0),
        ("was war im März", dt.date(2026, 3, 9), 1.0, 1.0),
        ("co zrobiliśmy w zeszłym tygodniu", dt.date(2026, 6, 3), 2.0, 2.0),
        ("что сделали на прошлой неделе", dt.date(2026, 4, 3), 0.0, 0.0),
        ("what broke three weeks ago", dt.date(2026, 5, 20), 2.0, 2.0),
        ("what broke three weeks ago", dt.date(2026, 6, 9), 0.0, 0.0),
        ("dwa tygodnie temu", dt.date(2026, 5, 27), 2.0, 2.0),
        ("2 месяца назад", dt.date(2026, 4, 11), 2.0, 2.0),
        ("לפני שבוע", dt.date(2026, 6, 3), 2.0, 2.0),
        ("9999999 days ago", dt.date(2026, 6, 3), 0.0, 0.0),
    ],
)
def test_times_in_a_question(question: str, day: dt.date, least: float, most: float) -> None:
    assert least <= nearness(spoken(question, TODAY), day) <= most


def test_the_times_of_a_question_are_not_words_of_it() -> None:
    assert without_times("what came of the load test in March").split() == [
        "what",
        "came",
        "of",
        "the",
        "load",
        "test",
        "in",
    ]
    assert without_times("may we drop it") == "may we drop it"
    assert "tygodnie" not in without_times("co było dwa tygodnie temu")
    assert without_times("yesterday") == "yesterday"


@pytest.mark.parametrize(
    "forms",
    [
        ("wyszukiwarka", "wyszukiwarkę", "wyszukiwarki"), ("kopie", "kopia"),
        ("уведомление", "уведомления", "уведомлений"),
        ("повтор", "повторы", "повторами"), ("סיסמה", "הסיסמאות"), ("תור", "בתורים"), ("retry", "retries", "retried"),
        ("queue", "queues"), ("policy", "policies"), ("cache", "cached", "caching"),
    ],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem for form in forms for stem in stems(form)}) == 1


def test_a_question_for_decisions_is_known_by_its_words() -> None:
    assert asks_decision("What did we decide?")
    assert asks_decision("co ustaliliśmy w sprawie kopii")
    assert not asks_decision("what broke")


def test_a_script_the_embedder_does_not_know_is_foreign() -> None:
    assert foreign("מה עם הקובץ app.py", KNOWN["local"])
    assert not foreign("почему упал app.py", KNOWN["local"])
    assert not foreign("12 34", KNOWN["local"])


def test_words_are_counted_by_their_stems() -> None:
    assert stems("Retries retried, RETRY-ing zażółć") == ["retr", "retr", "retr", "ing", "zazołc"]
    assert asked("what did the cache do") == [number("cach")]
    assert asked("what did he do")


def result(name: str, session: int | None, why: str) -> Result:
    held = (
        Session(session, "0" * 32, "codex", "native", SessionFacts(), 1, None, None, 0)  # type: ignore[arg-type]
        if session is not None
        else None
    )
    return Result(name, "message", None, "", "", None, None, held, "", 0, abandoned=False, score=1.0, why=(why,))  # type: ignore[arg-type]


def test_exact_hits_come_first_and_meaning_has_the_last_third() -> None:
    hits = [result(f"e{n}", n, "exact") for n in range(9)]
    found = [result("m1", 3, "meaning"), *(result(f"m{n}", 100 + n, "meaning") for n in range(2, 9))]
    joined = _joined(hits, found, 9)
    assert [r.id for r in joined] == ["e0", "e1", "e2", "e3", "e4", "e5", "m2", "m3", "m4"]
    assert [r.id for r in _joined(hits, found, 9, 2)] == ["e6", "e7", "e8", "m5", "m6", "m7", "m8"]
    assert joined[3].why == ("exact", "meaning")
    assert [r.id for r in _joined(hits[:2], found, 9)][:3] == ["e0", "e1", "m1"]
    assert [r.id for r in _joined(hits, [], 9)] == [f"e{n}" for n in range(9)]
    assert [msgspec.structs.replace(r, why=()) for r in _joined(hits, [], 3)] == [
        msgspec.structs.replace(r, why=()) for r in hits[:3]
    ]
