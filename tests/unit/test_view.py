"""Results on a terminal: where lines break, what is set off, and what a terminal is told that can show nothing."""

import io
import re

import pytest

from afterword.cli.view import Screen, cells, spans, terms_of, wrapped


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(text: str, width: int) -> list[str]:
    return [text[first:last] for first, last in wrapped(text, width)]


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("one two three", 8, ["one two", "three"]), ("one two", 7, ["one two"]),
        ("onetwothree", 4, ["onet", "woth", "ree"]),
        ("接続プール", 4, ["接続", "プー", "ル"]), ("a\n\nb", 5, ["a", "b"]),
        ("", 5, []), ("接", 1, ["接"]), ("ab  cd", 3, ["ab ", "cd"]),
    ],
)  # fmt: skip
def test_lines_break_at_spaces_and_never_exceed_the_width(text: str, width: int, wanted: list[str]) -> None:
    assert lines(text, width) == wanted
    for line in lines(text, max(2, width)):
        assert sum(map(cells, line)) <= max(2, width)


@pytest.mark.parametrize(
    ("query", "text", "wanted"),
    [
        ("retries", "we retry and retried it", ["retry", "retried"]),
        ("the pool", "the pool of the day", ["pool"]),
        ("--force-with-lease", "git push --force-with-lease now", ["--force-with-lease"]),
        ("プール", "接続プールを確認", ["プール"]),
        ("enc*", "the encoder encodes", ["encoder", "encodes"]),
        ("encoded", "resolveEncodedPath fails", ["resolveEncodedPath"]),
        ("повторы", "Повтор уведомления", ["Повтор"]),
        ('"connection pool"', "Connection  pool", ["Connection", "pool"]),
        ("zażółć", "ZAŻÓŁĆ gęślą", ["ZAŻÓŁĆ"]),
        ("***", "nothing to see", []),
    ],
)
def test_what_was_looked_for_is_set_off(query: str, text: str, wanted: list[str]) -> None:
    found = [text[first:last] for first, last in spans(text, terms_of(query))]
    assert [word for piece in found for word in piece.split("  ")] == wanted


def row(**fields: object) -> dict[str, object]:
    return {"snippet": "the pool is full", "path": "daily/2026-06-10.md", "block": "s-1", **fields}


def test_a_place_is_a_link_where_the_terminal_can() -> None:
    shown = Screen({"TERM": "xterm"}, Terminal(), "My Vault")
    text = "\n".join(shown.result("heading", row(), terms_of("pool")))
    assert "\x1b]8;;obsidian://open?vault=My%20Vault&file=daily%2F2026-06-10%23%5Es-1\x1b\\" in text
    assert "the \x1b[1mpool\x1b[0m is full" in text
    assert "\x1b]8" not in "\n".join(Screen({"TERM": "xterm"}, Terminal(), None).result("h", row(), []))


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_no_escapes_where_they_are_not_wanted(env: dict[str, str]) -> None:
    for stream in (Terminal(), io.StringIO()):
        text = "\n".join(Screen(env, stream, "V").result("heading", row(), terms_of("pool")))
        assert "\x1b" not in text
    assert "\x1b" not in "\n".join(Screen({"TERM": "xterm"}, io.StringIO(), "V").result("h", row(), terms_of("pool")))


def test_no_text_of_others_drives_the_terminal() -> None:
    evil = row(snippet="a\x1b]0;owned\x07 pool\x1b[2J \x9b31m", path="x\x1b[2J.md", block=None)
    text = "\n".join(Screen({"TERM": "xterm"}, Terminal(), "V\x1b[2J").result("h\x1b[2J", evil, terms_of("pool")))
    assert "\x1b]0" not in text
    assert "\x1b[2J" not in text
    assert "\x9b" not in text
    assert "\x1b" not in re.sub(r"\x1b\[[012]m|\x1b\]8;;[^\x1b]*\x1b\\", "", text)
