"""What a person at a terminal sees, in a terminal: results, the picker, and that it is given back as it was."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Home
from seats import Seat
from transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    for number in range(5):
        session = ClaudeSession(random.Random(number), session=f"picked-{number}")
        session.prompt(f"Why is the connection pool number {number} empty?")
        session.reply(f"Retrying took every connection of pool {number}. " + "It went on and on. " * 12)
        path = session.path(tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
    made.run("up", "--once", "--settle", "0")
    return made


@pytest.fixture
def seats() -> Iterator[list[Seat]]:
    taken: list[Seat] = []
    yield taken
    for seat in taken:
        seat.close()


def test_results_are_wrapped_marked_and_linked(home: Home, seats: list[Seat]) -> None:
    seats.append(seat := Seat(home, "search", "retried connections", "-n", "2"))
    text = seat.end()
    assert seat.process.returncode == 0
    assert "\x1b[1mRetrying\x1b[0m" in text
    assert "\x1b]8;;obsidian://open?vault=Afterword&file=daily%2F" in text
    assert max(map(len, text.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()[1:4])) <= 60
    seats.append(plain := Seat(home, "search", "retried connections", NO_COLOR="1"))
    assert "\x1b" not in plain.end()


def test_a_person_picks_reads_asks_anew_and_leaves(home: Home, seats: list[Seat]) -> None:
    seats.append(seat := Seat(home, "search", "-i", "connection pool"))
    first = seat.see("q leave")
    assert "\x1b[?1049h" in first
    assert first.count("▸") >= 1
    seat.press("j\x1b[B")
    seat.see("q leave")
    seat.press("k\r")
    assert "connection pool" in seat.see("q: back")
    seat.press("q")
    seat.see("q leave")
    seat.press("n")
    seat.see("page 2")
    seat.press("/")
    seat.see("search: ")
    seat.press("number 3x\x7f\r")
    assert "number 3 · page 1" in seat.see("q leave")
    seat.press("o")
    seat.see("obsidian://")
    seat.press("q")
    assert "\x1b[?1049l" in seat.end()
    assert seat.process.returncode == 0


def test_a_session_that_is_gone_by_now_does_not_end_the_picker(home: Home, seats: list[Seat]) -> None:
    seats.append(seat := Seat(home, "search", "-i", "connection pool"))
    seat.see("q leave")
    for number in range(5):
        home.run("forget", f"picked-{number}", "--yes")
    seat.press("\r")
    seat.see("q: back")
    seat.press("q")
    seat.see("q leave")
    seat.press("q")
    assert "\x1b[?1049l" in seat.end()
    assert seat.process.returncode == 0


@pytest.mark.parametrize("key", ["\x03", "\x1b", "q", "\x04"])
def test_every_way_out_gives_the_terminal_back(home: Home, seats: list[Seat], key: str) -> None:
    seats.append(seat := Seat(home, "search", "-i", "connection pool"))
    seat.see("q leave")
    seat.press(key)
    assert "\x1b[?1049l" in seat.end()


def test_without_a_terminal_there_is_nothing_to_pick_on(home: Home) -> None:
    assert "needs a terminal" in home.run("search", "-i", "connection", code=2).stderr


def test_filters_and_pages_of_the_commands(home: Home) -> None:
    every = [row["id"] for row in home.json("search", "connection", "-n", "10")["results"]]
    pages = [home.json("search", "connection", "-n", "4", "--page", str(n))["results"] for n in (1, 2, 3)]
    assert [row["id"] for page in pages for row in page] == every
    assert home.json("search", "connection", "--page", "9", code=3)["results"] == []
    assert "--page 2" in home.run("search", "connection", "-n", "4").stderr
    assert home.json("search", "connection", "--agent", "reviewer", code=3)["results"] == []
    said = home.run("search", "connection", "--kind", "diary", "--exact", code=3)
    assert "leave --exact away" in said.stderr
    said = home.run("search", "connection", "--exact", "--semantic", code=2)
    assert "shut each other out" in said.stderr
    shown = home.json("show", "picked-1")["messages"]
    assert home.json("show", "picked-1", "--role", "user")["messages"] == [m for m in shown if m["role"] == "user"]
    second = home.json("show", "picked-1", "-n", "1", "--page", "2")
    assert (second["messages"], second["total"]) == (shown[1:2], 2)
    assert home.json("search", "connection", "--since", "0d", code=3)["results"] == []
    assert home.json("search", "connection", "--since", "9999w")["results"]
    assert home.json("search", "connection", "--since", "soon", code=2)["error"]["kind"] == "usage"
