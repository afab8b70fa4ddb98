"""What the daily note of a day is called: the vault's folder and date format, there and back.

The format is that of Obsidian's core plugin (moment.js), as far as it names a day and depends on no language: names of
months and weekdays are English.
"""

import datetime as dt
import re
from collections.abc import Callable
from typing import Final

from afterword.domain.errors import UserError

USUAL: Final = "YYYY-MM-DD"

_TOKEN = re.compile(
    r"\[([^\]]*)\]|(YYYY|YY|MMMM|MMM|MM|M|DDDD|DD|Do|D|dddd|ddd|GGGG|WW|W|Q)|([A-Za-z]+)|(.)", re.DOTALL
)
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKENS: Final[dict[str, tuple[str, str, Callable[[dt.date], str]]]] = {
    # token: (what of a date it is, its shape, its text)
    "YYYY": ("year", r"\d{4}", lambda day: f"{day.year:04}"),
    "YY": ("year", r"\d{2}", lambda day: f"{day.year % 100:02}"),
    "MMMM": ("month", "|".join(_MONTHS), lambda day: _MONTHS[day.month - 1]),
    "MMM": ("month", "|".join(name[:3] for name in _MONTHS), lambda day: _MONTHS[day.month - 1][:3]),
    "MM": ("month", r"\d{2}", lambda day: f"{day.month:02}"),
    "M": ("month", r"\d{1,2}", lambda day: str(day.month)),
    "DDDD": ("yearday", r"\d{3}", lambda day: f"{day.timetuple().tm_yday:03}"),
    "DD": ("day", r"\d{2}", lambda day: f"{day.day:02}"),
    "Do": ("day", r"\d{1,2}(?:st|nd|rd|th)", lambda day: f"{day.day}{_ordinal(day.day)}"),
    "D": ("day", r"\d{1,2}", lambda day: str(day.day)),
    "dddd": ("", "|".join(_DAYS), lambda day: _DAYS[day.weekday()]),
    "ddd": ("", "|".join(name[:3] for name in _DAYS), lambda day: _DAYS[day.weekday()][:3]),
    "GGGG": ("", r"\d{4}", lambda day: f"{day.isocalendar().year:04}"),
    "WW": ("", r"\d{2}", lambda day: f"{day.isocalendar().week:02}"),
    "W": ("", r"\d{1,2}", lambda day: str(day.isocalendar().week)),
    "Q": ("", r"[1-4]", lambda day: str((day.month + 2) // 3)),
}


_SPOKEN: Final = dict.fromkeys(("MMMM", "MMM", "dddd", "ddd"), r"[^/0-9]+[0-9]{0,2}") | {"Do": r"[0-9]{1,2}[^/0-9 ]*"}
"""The tokens whose text depends on a language, and how it may look in any."""


class DayNames:
    """Names of daily notes in `folder` (relative to the vault; empty is the vault itself)."""

    def __init__(self, folder: str, form: str = USUAL) -> None:
        """Raises:
        UserError: the format names no day, or has something that depends on a language.
        """
        self.folder = folder.strip("/")
        self.form = form
        self._two = False
        self._write: list[str | Callable[[dt.date], str]] = []
        shape, wide, found = "", "", set[str]()
        for literal, token, odd, sign in _TOKEN.findall(form):
            if odd:
                raise UserError(
                    f"the date format {form!r} has {odd!r}", "use YYYY, MM, DD and what stands in [brackets]"
                )
            if token:
                part, pattern, text = _TOKENS[token]
                self._write.append(text)
                shape += f"(?P<{part}>{pattern})" if part and part not in found else f"(?:{pattern})"
                wide += _SPOKEN.get(token, f"(?:{pattern})")
                if part == "year" and part not in found:
                    self._two = token == "YY"  # noqa: S105  # of a date
                found.add(part)
            else:
                self._write.append(literal + sign)
                shape += re.escape(literal + sign)
                wide += re.escape(literal + sign)
        if not ({"year", "month", "day"} <= found or {"year", "yearday"} <= found):
            raise UserError(f"the date format {form!r} names no day", "it needs a year, a month and a day")
        self.deep: Final = "/" in self._stem(dt.date(2026, 6, 10))
        """Whether notes lie in folders below the folder."""
        self.spoken: Final = any(token in _SPOKEN for _, token, _, _ in _TOKEN.findall(form))
        """Whether the names hold words, which Obsidian writes in its own language: here they are English."""
        self._shape = re.compile(shape)
        self._wide = re.compile(wide)

    def name(self, day: str) -> str:
        """The path of a day's note in the vault; `day` is `YYYY-MM-DD`."""
        stem = self._stem(dt.date.fromisoformat(day))
        return f"{self.folder}/{stem}.md" if self.folder else f"{stem}.md"

    def day_of(self, name: str) -> str | None:
        """The day whose note has this path; None of any other path."""
        prefix = f"{self.folder}/" if self.folder else ""
        found = self._shape.fullmatch(name.removeprefix(prefix).removesuffix(".md"))
        if not (found and name.startswith(prefix) and name.endswith(".md")):
            return None
        parts = found.groupdict()
        year = int(parts["year"]) + (2000 if self._two else 0)
        try:
            if "yearday" in parts and "day" not in parts:
                day = dt.date(year, 1, 1) + dt.timedelta(days=int(parts["yearday"]) - 1)
            else:
                day = dt.date(year, _month(parts["month"]), int(parts["day"].rstrip("stndrh")))
        except (ValueError, OverflowError):
            return None
        return day.isoformat() if self.name(day.isoformat()) == name else None

    def alike(self, name: str) -> bool:
        """Whether a path could be that of a day's note if its words were of any language."""
        prefix = f"{self.folder}/" if self.folder else ""
        stem = name.removeprefix(prefix).removesuffix(".md")
        return name.startswith(prefix) and name.endswith(".md") and self._wide.fullmatch(stem) is not None

    def _stem(self, day: dt.date) -> str:
        return "".join(part if isinstance(part, str) else part(day) for part in self._write)


def _month(text: str) -> int:
    return int(text) if text.isdigit() else [name[:3] for name in _MONTHS].index(text[:3]) + 1


def _ordinal(number: int) -> str:
    return "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
