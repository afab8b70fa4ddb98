"""Times in a question: which days it speaks of, and how near a day is to them."""

import datetime as dt
import re

import msgspec

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH = re.compile(r"\b(" + "|".join(_MONTHS) + r")\b")
_MAY = re.compile(r"\b(?:in|of|on|during|since|until|by|last|\d+(?:st|nd|rd|th)?)\s+may\b|\bmay,?\s+\d")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_NEAR_DAYS = 7
_AGO = {"today": (0, 0), "yesterday": (1, 1), "this week": (0, 7), "last week": (1, 14), "last month": (14, 62)}


class Spoken(msgspec.Struct, frozen=True):
    """The months and days a question names, and spans of days; empty when it names none."""

    months: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    years: tuple[int, ...] = ()
    spans: tuple[tuple[dt.date, dt.date], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.months or self.spans)


def spoken(question: str, today: dt.date) -> Spoken:
    """The times in a question, in English words or written 2026-06-10."""
    low = question.lower()
    spans = []
    for year, month, day in _ISO.findall(low):
        try:
            at = dt.date(int(year), int(month), int(day))
        except ValueError:
            continue
        spans.append((at, at))
    for words, (least, most) in _AGO.items():
        if re.search(rf"\b{words}\b", low):
            spans.append((today - dt.timedelta(days=most), today - dt.timedelta(days=least)))
    months = {_MONTHS.index(name) + 1 for name in _MONTH.findall(low)}
    if 5 in months and not _MAY.search(low):
        months.discard(5)
    if not months:
        return Spoken(spans=tuple(spans))
    days = {int(day) for day in _DAY.findall(_ISO.sub(" ", low)) if 0 < int(day) < 32}
    years = {int(year) for year in _YEAR.findall(low)}
    return Spoken(tuple(sorted(months)), tuple(sorted(days)), tuple(sorted(years)), tuple(spans))


def nearness(asked: Spoken, day: dt.date) -> float:
    """0 … 2: the month is the one spoken of (1), the day within a week of it (up to 2), the month before was (0.4)."""
    found = max((2.0 for first, last in asked.spans if first <= day <= last), default=0.0)
    for month in asked.months:
        passed = (day.month - month) % 12
        year = day.year - (1 if passed and day.month < month else 0)
        if asked.years and year not in asked.years:
            continue
        if passed == 0:
            closest = min((abs(day.day - other) for other in asked.days), default=_NEAR_DAYS)
            found = max(found, 1.0 + max(0.0, 1.0 - closest / _NEAR_DAYS))
        elif passed == 1:
            found = max(found, 0.4)
    return found
