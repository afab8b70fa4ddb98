"""The report's page and Markdown: nothing in a title executes, and years of days are drawn whole."""

import datetime as dt
import re
from html.parser import HTMLParser

import msgspec
import pytest

from afterword.app.report import Action, Activity, Merged, Report, Row, Trouble
from afterword.app.report_charts import calendars, level, short
from afterword.app.report_page import html_page
from afterword.app.report_text import markdown

HOSTILE = '<img src=x onerror=alert(1)>"]]|<script>alert(2)</script> [x](javascript:alert(3)) `dv` &amp;'


def days_of(first: str, count: int) -> dict[str, dict[str, int]]:
    begin = dt.date.fromisoformat(first)
    return {
        (begin + dt.timedelta(days=n)).isoformat(): {"claude-code": 1 + n % 5, "codex": n % 3}
        for n in range(count)
        if n % 7 < 5
    }


def a_report(days: dict[str, dict[str, int]], title: str = "Jobs share a folder") -> Report:
    last = max(days, default="2026-06-11")
    return Report(
        since=False,
        first=min(days, default=last),
        last=last,
        activity=Activity(days, sum(sum(row.values()) for row in days.values())),
        projects=((title, 4), ("api", 2)),
        growth=tuple((day, n + 1) for n, day in enumerate(days)),
        articles=len(days),
        connections=1,
        most_told=(Row("a-1", title, "knowledge/concepts/x y.md", title, "active", last, 3, 2),),
        stale=(),
        merged=(Merged("a-1", title, "knowledge/concepts/x y.md", ((last, title), (last, title))),),
        merged_tellings=1,
        parted=0,
        replaced=(),
        engines={"extractive": 3},
        spend=tuple((day, 1000, 200, 2) for day in days),
        daily_tokens=1_000,
        actions=(Action(last, title, title, ""),),
        open_actions=3,
        masked={"jwt": 2},
        troubles=(Trouble(title, title),),
        vault='My "vault"',
    )


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("title", [HOSTILE, "javascript:alert(1)", "a\n## b", "%% x %% #tag [[y]]"])
def test_no_text_of_a_session_is_more_than_text(title: str) -> None:
    page = html_page(a_report(days_of("2026-06-01", 10), title))
    seen = Seen()
    seen.feed(page)
    assert title in seen.text
    plain = Seen()
    plain.feed(html_page(a_report(days_of("2026-06-01", 10))))
    assert seen.tags == plain.tags  # the title brings no element of its own
    assert not {"script", "img", "iframe", "link", "object", "form"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "style")]
    assert all(value.startswith("obsidian://open?vault=My%20") for name, value in seen.attributes if name == "href")


def test_the_page_asks_the_network_for_nothing() -> None:
    page = html_page(a_report(days_of("2026-06-01", 10)))
    assert "default-src 'none'" in page
    assert re.findall(r"(?:https?:)?//[^\s\"']+", page.replace("obsidian://", "")) == []
    assert "url(" not in page


def test_markdown_keeps_titles_on_their_line() -> None:
    text = markdown(a_report(days_of("2026-06-01", 10), "a\n# b [[c]] <b>"))
    assert "\n# b" not in text
    assert "[[c]]" not in text.replace("\\[", "")
    assert [line for line in text.splitlines() if line.startswith("# ")] == ["# What the agents did"]


def test_three_years_have_a_calendar_each_and_every_day_in_it() -> None:
    days = days_of("2023-02-01", 3 * 365)
    found = calendars(days, "2023-02-01", max(days), since=False)
    assert [name for name, _ in found] == ["2026", "2025", "2024", "2023"]
    told = re.findall(r"<title>(\d{4}-\d\d-\d\d): (\d+) session", "".join(picture for _, picture in found))
    assert {day: int(count) for day, count in told if int(count)} == {d: sum(r.values()) for d, r in days.items()}
    assert len(told) == (dt.date.fromisoformat(max(days)) - dt.date(2023, 2, 1)).days + 1
    page = html_page(a_report(days))
    assert page.count("<details>") == 2  # the older years are closed
    assert len(page) < 1_500_000


def test_a_report_of_nothing_says_so() -> None:
    empty = msgspec.structs.replace(
        a_report({}),
        projects=(),
        most_told=(),
        merged=(),
        engines={},
        actions=(),
        open_actions=0,
        troubles=(),
        masked={},
    )
    for page in (html_page(empty), markdown(empty)):
        assert "No session was written up yet." in page
        assert "Nothing." in page


@pytest.mark.parametrize(
    ("count", "most", "wanted"), [(0, 9, 0), (1, 100, 1), (25, 100, 1), (26, 100, 2), (100, 100, 4)]
)
def test_levels(count: int, most: int, wanted: int) -> None:
    assert level(count, most) == wanted


def test_numbers_are_short() -> None:
    assert [short(n) for n in (0, 999, 1000, 12_340, 1_400_000)] == ["0", "999", "1k", "12.3k", "1.4M"]
