"""`review` at a terminal: one key decides, and the terminal is given back."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from knowledge import HISTORY, NOW
from seats import Seat

KEYS = "a yes · r no · p pin · s later · q leave"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert len(waiting(home)) >= 2
    return home


@pytest.fixture
def seats() -> Iterator[list[Seat]]:
    taken: list[Seat] = []
    yield taken
    for seat in taken:
        seat.close()


def waiting(home: Home) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = home.json("review", code=None, **NOW)["candidates"]
    return rows


def press(seat: Seat, key: str) -> None:
    """A key, once it is waited for: what is typed ahead is dropped, so that nothing is decided by accident."""
    time.sleep(1)
    seat.press(key)


def test_keys_decide_put_off_and_leave(home: Home, seats: list[Seat]) -> None:
    before = [row["id"] for row in waiting(home)]
    seats.append(seat := Seat(home, "review", **NOW))
    shown = seat.see(KEYS)
    assert f"1 of {len(before)}" in shown
    assert before[0] in shown
    for key in ("x", "\x1b[A", "p"):  # no key of ours, an arrow, then pin
        press(seat, key)
    assert before[1] in seat.see(KEYS)
    press(seat, "s" if len(before) > 2 else "q")
    if len(before) > 2:
        seat.see(KEYS)
        press(seat, "q")
    seat.end()
    assert seat.process.returncode == 0
    assert [row["id"] for row in waiting(home)] == before[1:]
    seats.append(seat := Seat(home, "review", **NOW))
    seat.see(KEYS)
    press(seat, "r")
    if len(before) > 2:
        seat.see(KEYS)
        press(seat, "q")
    seat.end()
    assert before[1] not in [row["id"] for row in waiting(home)]


@pytest.mark.parametrize("key", ["q", "\x1b", "\x03", "\x04"])
def test_every_way_out_decides_nothing(home: Home, seats: list[Seat], key: str) -> None:
    before = waiting(home)
    seats.append(seat := Seat(home, "review", columns=24, **NOW))
    seat.see("q leave")
    press(seat, key)
    seat.end()
    assert seat.process.returncode in (0, 1)
    assert waiting(home) == before


def test_what_was_decided_meanwhile_is_passed_over(home: Home, seats: list[Seat]) -> None:
    first, second = (row["id"] for row in waiting(home)[:2])
    seats.append(seat := Seat(home, "review", **NOW))
    seat.see(KEYS)
    home.run("review", "--pin", first, **NOW)
    press(seat, "a")
    assert second in seat.see(KEYS)
    press(seat, "q")
    seat.end()
    assert seat.process.returncode == 0
