"""Times in a question: which days it speaks of, and how near a day is to them."""

import datetime as dt
import re

import msgspec

_MONTHS = tuple(
    re.compile(rf"(?<!\w)(?:{names})(?!\w)")
    for names in (
        r"january|januar|jan\.|styczeń|stycznia|styczniu|январ[ьяе]|ב?ינואר",
        r"february|februar|feb\.|luty|lutego|lutym|феврал[ьяе]|ב?פברואר",
        r"march|märz|mar\.|marzec|marca|marcu|март[ае]?|ב?מרץ|ב?מרס",
        r"april|apr\.|kwiecień|kwietnia|kwietniu|апрел[ьяе]|ב?אפריל",
        r"may|mai|maj|maja|maju|ма[йяе]|ב?מאי",
        r"june|juni|jun\.|czerwiec|czerwca|czerwcu|июн[ьяе]|ב?יוני",
        r"july|juli|jul\.|lipiec|lipca|lipcu|июл[ьяе]|ב?יולי",
        r"august|aug\.|sierpień|sierpnia|sierpniu|август[ае]?|ב?אוגוסט",
        r"september|sept?\.|wrzesień|września|wrześniu|сентябр[ьяе]|ב?ספטמבר",
        r"october|oktober|oct\.|październik|października|październiku|октябр[ьяе]|ב?אוקטובר",
        r"november|nov\.|listopad|listopada|listopadzie|ноябр[ьяе]|ב?נובמבר",
        r"december|dezember|dec\.|grudzień|grudnia|grudniu|декабр[ьяе]|ב?דצמבר",
    )
)
_MAY = re.compile(
    r"(?<!\w)(?:in|of|on|during|since|until|by|last|this|early|late|mid|\d+(?:st|nd|rd|th)?)[\s-]+may(?!\w)"
    r"|(?<!\w)may,?\s+\d|(?<!\w)(?:mai|maj|maja|maju|ма[йяе]|ב?מאי)(?!\w)"
)
"""`may` alone is a verb more often than a month."""
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MAY_MONTH = 5
_NEAR_DAYS = 7
_AGO: tuple[tuple[str, int, int], ...] = (
    ("today|this morning|heute|dzisiaj|dziś|сегодня|היום", 0, 0),
    ("yesterday|last night|gestern|wczoraj|вчера|אתמול", 1, 1),
    ("this week|diese woche|w tym tygodniu|на этой неделе|השבוע", 0, 7),
    ("last week|letzte woche|w (?:zeszłym|ubiegłym|poprzednim) tygodniu|на прошлой неделе|בשבוע שעבר|שבוע שעבר", 1, 14),
    ("earlier this month|this month|diesen monat|w tym miesiącu|в этом месяце|החודש", 0, 31),
    (
        "last month|letzten monat|w (?:zeszłym|ubiegłym|poprzednim) miesiącu|в прошлом месяце|בחודש שעבר|חודש שעבר",
        14, 62,
    ),
    ("recently|lately|the other day|neulich|ostatnio|niedawno|недавно|לאחרונה", 0, 21),
)  # fmt: skip
"""Words → the least and the most days ago they may mean: people are not exact about weeks."""
_UNITS = (
    (1, "days?|tage?n?|dni|dzień|дн(?:я|ей|ь)|ימים|יום"),
    (7, "weeks?|wochen?|tygodnie?|tydzień|недел[юиь]|שבועות|שבוע"),
    (30, "months?|monate?n?|miesiąc(?:e|y)?|месяц(?:а|ев)?|חודשים|חודש"),
)
_NUMBERS = {
    number: value
    for value, numbers in enumerate(
        ("a an one ein einer einem jeden один одну", "two couple zwei dwa dwie два две", "three few drei trzy три",
         "four vier cztery четыре", "five fünf pięć пять", "six sechs sześć шесть"),
        1,
    )
    for number in numbers.split()
}  # fmt: skip
_BACK = tuple(
    (
        days,
        re.compile(rf"(?<!\w)(?:(?:vor|לפני)\s+)?(?:(\d{{1,3}}|\w+)\s+)?(?:{names})(?:\s+(?:ago|temu|назад))?(?!\w)"),
    )
    for days, names in _UNITS
)
_AGO_WORDS = re.compile(r"(?<!\w)(?:ago|temu|назад|vor|לפני)(?!\w)")


class Spoken(msgspec.Struct, frozen=True):
    """The months and days a question names, and spans of days; empty when it names none."""

    months: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    years: tuple[int, ...] = ()
    spans: tuple[tuple[dt.date, dt.date], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.months or self.spans)


def spoken(question: str, today: dt.date) -> Spoken:
    """The times in a question, in English, German, Polish, Russian or Hebrew words, or written 2026-06-10."""
    low = question.lower()
    spans = []
    for year, month, day in _ISO.findall(low):
        try:
            at = dt.date(int(year), int(month), int(day))
        except ValueError:
            continue
        spans.append((at, at))
    for words, least, most in _AGO:
        if re.search(rf"(?<!\w)(?:{words})(?!\w)", low):
            spans.append((today - dt.timedelta(days=most), today - dt.timedelta(days=least)))
            break
    if _AGO_WORDS.search(low):
        spans += _back(low, today)
    months = {number for number, name in enumerate(_MONTHS, 1) if name.search(low)}
    if _MAY_MONTH in months and not _MAY.search(low):
        months.discard(_MAY_MONTH)
    if not months:
        return Spoken(spans=tuple(spans))
    days = {int(day) for day in _DAY.findall(_ISO.sub(" ", low)) if 0 < int(day) < 32}
    years = {int(year) for year in _YEAR.findall(low)}
    return Spoken(tuple(sorted(months)), tuple(sorted(days)), tuple(sorted(years)), tuple(spans))


def without_times(question: str) -> str:
    """A question without the times it speaks of: they are in the calendar, not in what was said."""
    low = question.lower()
    for words, _, _ in _AGO:
        low = re.sub(rf"(?<!\w)(?:{words})(?!\w)", " ", low)
    if _AGO_WORDS.search(low):
        for _, unit in _BACK:
            low = unit.sub(" ", low)
        low = _AGO_WORDS.sub(" ", low)
    for number, name in enumerate(_MONTHS, 1):
        if number != _MAY_MONTH or _MAY.search(low):
            low = name.sub(" ", low)
    return low if re.search(r"\w", low) else question


def _back(low: str, today: dt.date) -> list[tuple[dt.date, dt.date]]:
    """`three weeks ago`: from a quarter nearer to a half further than it says, a day at least."""
    for unit_days, unit in _BACK:
        found = unit.search(low)
        if found is None:
            continue
        said = found[1] or "1"
        count = int(said) if said.isdigit() else _NUMBERS.get(said, 1)
        days = min(count * unit_days, 36_500)
        return [
            (today - dt.timedelta(days=days + max(1, days // 2)), today - dt.timedelta(days=days - max(1, days // 4)))
        ]
    return []


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
