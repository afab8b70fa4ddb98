"""Days that the running daemon compiles: at night those that are over, every so often what is new, today too."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from homes import Home
from transcripts import telling_session

from afterword.app.config import load
from afterword.app.program import Program, writer
from afterword.domain.errors import UsageError
from afterword.store.ledger import articles
from afterword.store.ledger.ledger import open_reader

FIRST = datetime(2026, 6, 1, tzinfo=UTC)
LAST_MORNING = {"AFTERWORD_NOW": "2026-06-07T10:00:00Z"}
LAST_EVENING = {"AFTERWORD_NOW": "2026-06-07T22:00:00Z"}


def days_of(home: Home) -> list[str]:
    reader = open_reader(home.state)
    try:
        return list(articles.builds(reader))
    finally:
        reader.close()


def tell(home: Home, day: int, seed: int | None = None) -> Path:
    session = telling_session(random.Random(day if seed is None else seed), FIRST + timedelta(days=day), 1)
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Seven days, the last of them today."""
    made = Home(tmp_path)
    for day in range(7):
        tell(made, day)
    made.run("init", "--yes")
    made.run("ingest", **LAST_MORNING)
    return made


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def test_at_night_the_days_that_are_over_are_compiled(home: Home) -> None:
    with home.daemon(AFTERWORD_SEGMENT_SETTLE="0", AFTERWORD_CAPTURE_SWEEP="1s", **LAST_EVENING):
        wait_for(lambda: len(days_of(home)) == 6)
        wait_for(lambda: "2026-06-06" in (home.vault / "knowledge/log.md").read_text())
    assert days_of(home) == [f"2026-06-0{day}" for day in range(1, 7)]


def test_every_so_often_what_is_new_is_compiled_today_too(home: Home) -> None:
    often = {"AFTERWORD_COMPILE_EVERY": "1s", "AFTERWORD_COMPILE_AT": "off", "AFTERWORD_SEGMENT_SETTLE": "0"}
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **often, **LAST_EVENING):
        wait_for(lambda: len(days_of(home)) == 7)
        before = (home.vault / "knowledge/log.md").read_text()
        tell(home, 6, seed=99)
        wait_for(lambda: "## 2026-06-07 (again)" in (home.vault / "knowledge/log.md").read_text())
        assert (home.vault / "knowledge/log.md").read_text().startswith(before)
    again = home.json("compile", **LAST_EVENING)
    assert again["days"] == []


def opened(home: Home, monkeypatch: pytest.MonkeyPatch, **env: str):
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home.path))
    env = home.env | env
    return writer(load(None, env), env, "test", settle_us=0)


def test_the_stores_come_between_the_days_of_a_long_run(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> bool:
        nonlocal times
        times += 1
        return False

    program: Program
    with opened(home, monkeypatch, **LAST_EVENING) as program:
        program.ingest(thorough=True)
        program.write_up()
        done, slices = program.compiling.some(today=True), 1
        while done.more:
            done, slices = program.compiling.some(today=True), slices + 1
        assert slices == 2
        assert len(articles.builds(program.ledger)) == 7
        times = 0
        program.compiling.run(["2026-06-01"], again=True, stop=asked)
        assert times > 7  # an older day lets all others be folded again
        before = program.ledger.head(1)
        program.compiling.run(["2026-06-01", "2026-06-02"], again=True, stop=lambda: True)
        assert program.ledger.head(1) == before


def test_what_a_person_just_saved_is_left_alone_and_what_we_wrote_is_not(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def notes() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in (home.vault / "knowledge/concepts").glob("*.md")}

    def compiled(seeds: range) -> bool:
        """Compile six days with more sessions; whether notes that were there changed."""
        before = notes()
        for seed in seeds:
            tell(home, seed % 6, seed)
        program.ingest(thorough=True)
        program.write_up()
        program.compiling.run(patient=True)
        return any(notes()[path] != data for path, data in before.items())

    with opened(home, monkeypatch) as program:  # with the system's clock: the files are new
        compiled(range(0))
        assert compiled(range(100, 106))
        assert not program.compiling.owed()
        for path, data in notes().items():
            path.write_bytes(data + b"\nMine.\n")
        assert not compiled(range(200, 206))
        assert program.compiling.owed()


def test_a_day_that_is_unchanged_keeps_its_articles_when_a_newer_one_is_added(tmp_path: Path) -> None:
    home, calm = Home(tmp_path / "home"), Home(tmp_path / "calm")
    for each in (home, calm):
        each.run("init", "--yes")
        tell(each, 0)
    home.run("up", "--once", "--settle", "0", **LAST_EVENING)
    for each in (home, calm):
        tell(each, 1)
    home.run("up", "--once", "--settle", "0", AFTERWORD_COMPILE_MIN_WORDS="60", AFTERWORD_INDEX_EMBEDDER="off",
             AFTERWORD_FAULT="fail@build.commit#1", code=None, **LAST_EVENING)  # fmt: skip
    both = ("--file", "daily/2026-06-01.md", "--file", "daily/2026-06-02.md")
    states = [day["state"] for day in home.json("compile", *both, **LAST_EVENING)["days"]]
    assert states == ["unchanged", "compiled"]
    calm.run("up", "--once", "--settle", "0", **LAST_EVENING)
    explain = ("doctor", "--fingerprint", "--explain")
    assert home.run(*explain).stdout == calm.run(*explain).stdout


@pytest.mark.parametrize("wrong", ["0", "0.5s", "often", "-1m", ""])
def test_a_period_is_off_or_a_second_or_more(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(UsageError, match="AFTERWORD_COMPILE_EVERY"):
        load(None, {"HOME": str(tmp_path), "AFTERWORD_COMPILE_EVERY": wrong})
    for good in ("off", "1s", "1m", "2h"):
        assert load(None, {"HOME": str(tmp_path), "AFTERWORD_COMPILE_EVERY": good}).settings.compile.every == good
