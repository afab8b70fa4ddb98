"""What daily notes are called: a vault's date format, there and back."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.domain.day_names import DayNames
from afterword.domain.errors import UserError

FORMATS = {
    "YYYY-MM-DD": "2026-06-01",
    "YYYY/MM/YYYY-MM-DD": "2026/06/2026-06-01",
    "dddd, MMMM Do YYYY": "Monday, June 1st 2026",
    "D.M.YY": "1.6.26",
    "[Day] DD MMM YYYY": "Day 01 Jun 2026",
    "YYYY-[Q]Q/DD.MM.YY": "2026-Q2/01.06.26",
    "YYYY-DDDD": "2026-152",
    "GGGG-[W]WW/ddd YYYYMMDD": "2026-W23/Mon 20260601",
}


@pytest.mark.parametrize("form", FORMATS)
def test_as_obsidian_names_them(form: str) -> None:
    days = DayNames("My days", form)
    assert days.name("2026-06-01") == f"My days/{FORMATS[form]}.md"
    assert DayNames("", form).name("2026-06-01") == f"{FORMATS[form]}.md"
    assert days.deep == ("/" in form)


@pytest.mark.parametrize("form", FORMATS)
@given(day=st.dates(dt.date(2000, 1, 1), dt.date(2099, 12, 31)))
def test_there_and_back(form: str, day: dt.date) -> None:
    days = DayNames("d", form)
    assert days.day_of(days.name(day.isoformat())) == day.isoformat()


@pytest.mark.parametrize(
    "name",
    ["daily/2026-06-31.md", "daily/2026-6-1.md", "2026-06-01.md", "daily/2026-06-01", "daily/2026-06-01 2.md",
     "daily/x/2026-06-01.md", "daily/2026-06-01 (Conflicted copy Mac 202606011200).md", "Daily/2026-06-01.md"],
)  # fmt: skip
def test_other_names_are_no_days(name: str) -> None:
    assert DayNames("daily").day_of(name) is None


def test_a_weekday_that_is_wrong_names_no_day() -> None:
    assert DayNames("", "dddd YYYY-MM-DD").day_of("Friday 2026-06-01.md") is None


@pytest.mark.parametrize("form", ["YYYY-MM", "gggg-[W]ww", "dddd", "YYYY-MM-DD HH:mm", "YYYY-MM-DDTZ", "MM-DD", ""])
def test_what_names_no_day_is_refused(form: str) -> None:
    with pytest.raises(UserError, match="date format"):
        DayNames("daily", form)


@pytest.mark.parametrize(
    ("form", "name", "alike"),
    [
        ("D MMMM YYYY", "4 marca 2026", True),
        ("D MMMM YYYY", "4 tháng 3 2026", True),
        ("dddd, MMMM Do YYYY", "mercredi, mars 4 2026", True),
        ("dddd, MMMM Do YYYY", "środa, marzec 4. 2026", True),
        ("YYYY年M月D日 dddd", "2026年3月4日 星期三", True),
        ("D MMMM YYYY", "Shopping", False),
        ("D MMMM YYYY", "4 marca 26", False),
        ("D MMMM YYYY", "4 marca/2026", False),
    ],
)
def test_names_in_other_languages_are_known_for_what_they_are(form: str, name: str, alike: bool) -> None:
    days = DayNames("d", form)
    assert days.spoken
    assert days.alike(f"d/{name}.md") is alike
    assert days.day_of(f"d/{name}.md") is None


@pytest.mark.parametrize("form", ["YYYY-MM-DD", "[May] D.M.YY", "YYYY/MM/YYYY-MM-DD", "GGGG-[W]WW/YYYYMMDD"])
def test_numbers_are_the_same_everywhere(form: str) -> None:
    assert not DayNames("", form).spoken
