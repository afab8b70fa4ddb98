"""Search by meaning after people corrected something, and after its index was deleted under a running daemon."""

import shutil
import time
from pathlib import Path

import pytest
from homes import Home
from knowledge import HISTORY, NOW, concept

UP = ("up", "--once", "--settle", "0")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home", meaning=True)
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    return home


def paths(home: Home, *words: str) -> list[str]:
    return [row["path"] for row in home.json("search", *words, code=None)["results"]]


def test_what_was_retracted_or_deleted_is_not_found_though_the_index_lags(home: Home) -> None:
    asked = ("printing all environment variables in continuous integration", "--kind", "article")
    retracted, deleted = concept(home, "never-print"), concept(home, "flaky-export")
    places = [path.relative_to(home.vault).as_posix() for path in (retracted, deleted)]
    assert set(places) <= set(paths(home, *asked))
    retracted.write_text(retracted.read_text().replace("status: active", "status: retracted", 1))
    deleted.unlink()
    home.run("compile", **NOW)
    found = paths(home, *asked)
    assert not set(places) & set(found)
    assert found


def test_a_line_taken_out_of_a_section_is_not_found_in_the_diary(home: Home) -> None:
    note = min((home.vault / "daily").glob("*.md"))
    line = "The root cause is a race on a shared temp directory."
    assert f"- {line}\n" in note.read_text()

    def told() -> list[str]:
        rows = home.json("search", line, "--kind", "diary", code=None)["results"]
        return [row["snippet"] for row in rows if row["path"] == f"daily/{note.name}"]

    assert any(line in text for text in told())
    note.write_text(note.read_text().replace(f"- {line}\n", "", 1))
    home.run(*UP, **NOW)
    assert told()
    assert not any(line in text for text in told())


def test_an_index_deleted_under_the_daemon_is_made_again(home: Home) -> None:
    asked = "tides missing in the evening"
    before = paths(home, asked)
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1s", **NOW):
        assert paths(home, asked) == before
        for path in home.state.glob("index.db*"):
            path.unlink()
        shutil.rmtree(home.state / "chroma")
        end = time.monotonic() + 60
        while home.json("search", asked, code=None)["semantic"] != "ready":
            assert time.monotonic() < end, "it was not made again"
            time.sleep(0.5)
        assert paths(home, asked) == before
    listed = home.json("status")["index"]["chunks"]
    assert home.json("index")["done"]["chunks"] == listed > 0
