"""What `lint` finds in two places: the same fact, the same matter, a decision that was replaced elsewhere."""

from afterword.compile.overlaps import Overlaps
from afterword.compile.rulings import Rulings, marks, ruling
from afterword.domain.articles import Article, Claim, Verdict
from afterword.domain.ids import ArticleUid, SegmentKey

A, B = ArticleUid("a-00000000000a"), ArticleUid("a-00000000000b")


def article(n: int, title: str, *points: str, day: str = "2026-06-10", replaced_by: str = "") -> Article:
    section = SegmentKey(f"s-{n:012x}")
    claims = tuple(Claim(text, section, text) for text in points)
    return Article("concept", title, f"slug-{n}", claims, "", day, day, "extractive", replaced_by=replaced_by)


def both(one: Article, other: Article, verdict: Verdict | None = None) -> Overlaps:
    said = ruling(verdict, marks(other), marks(one)) if verdict else None
    return Overlaps({A: one, B: other}, Rulings([said] if said else []))


SHARED = "The invoice export writes amounts in cents as integers."
ONE = article(1, "Invoice export", SHARED, "The partner reads the file at night from the FTP folder.")
OTHER = article(2, "Rounding of amounts", SHARED, "A float loses a cent in every hundredth booking on the ledger.")


def test_a_fact_in_two_places() -> None:
    assert list(both(ONE, OTHER).facts()) == [((A, B), SHARED)]
    apart = article(2, "Rounding", "The invoice export writes amounts in euros as text.")
    assert list(both(ONE, apart).facts()) == []
    reworded = article(2, "Rounding", "The invoice export now writes amounts in cents, as integers.")
    assert [pair for pair, _ in both(ONE, reworded).facts()] == [(A, B)]


def test_what_was_taken_the_place_of_is_history() -> None:
    assert list(both(article(1, "Old", SHARED, replaced_by=B), OTHER).facts()) == []


def test_doubles_until_somebody_says_they_are_two() -> None:
    told = ("Both jobs write to /tmp/export, so one deletes the files of the other.",)
    again = ("Two jobs write to /tmp/export and one deletes the files of the other job.",)
    one, other = article(1, "Export test fails", *told), article(2, "Flaky export test", *again)
    assert list(both(one, other).doubles()) == [(A, B)]
    assert list(both(one, other, "distinct").doubles()) == []


def test_contradictions() -> None:
    old = article(1, "Cache", "Decision: the forecast cache of the tide table is kept in Redis.", day="2026-06-01")
    new = article(
        2, "Forecast cache", "Decision: the forecast cache of the tide table is kept in SQLite instead of Redis."
    )
    assert [pair for pair, _ in both(old, new).contradictions()] == [(B, A)]
    assert list(both(old, new, "distinct").contradictions()) == []
    assert [pair for pair, _ in both(old, new, "contradicts").contradictions()] == [(B, A)]
