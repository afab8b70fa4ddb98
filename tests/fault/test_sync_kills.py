"""SIGKILL while records of another machine are taken in: what was acknowledged stays, the rest comes again."""

import shutil
import signal
from pathlib import Path

from homes import Home
from knowledge import NOW
from peers import a_laptop, a_mini, fingerprint, moved, served, told

POINTS = ("arrivals.commit#1", "arrivals.committed#1", "ledger.commit#1", "ledger.committed#2", "text.commit#1")
FORGETTING = ("arrivals.commit#1", "forget.marked#1", "forget.step#1", "forget.text#1")


def by_folder(one: Home, other: Home, batches: Path) -> None:
    """Both ways, until nothing is new on either."""
    for _ in range(5):
        one.json("sync", "export", str(batches), **NOW)
        there = moved_new(other, batches)
        other.json("sync", "export", str(batches), **NOW)
        if not moved_new(one, batches) and not there:
            return
    raise AssertionError("the exchange does not come to an end")


def moved_new(made: Home, batches: Path) -> int:
    peers = made.json("sync", "import", str(batches), **NOW)["peers"]
    return sum(origin["new"] for peer in peers for origin in peer["origins"])


def killed(made: Home, point: str, *words: str) -> None:
    done = made.run(*words, code=None, AFTERWORD_FAULT=f"kill@{point}", **NOW)
    assert done.returncode == -signal.SIGKILL, (point, done.returncode, done.stderr)


def test_an_import_that_is_killed_anywhere(tmp_path: Path) -> None:
    laptop, mini, batches = a_laptop(tmp_path / "laptop"), a_mini(tmp_path / "mini"), tmp_path / "batches"
    laptop.json("sync", "export", str(batches), **NOW)
    taken = tmp_path / "taken"
    for point in POINTS:
        # Each on a home that has nothing of it yet.
        shutil.copytree(mini.path, taken)
        other = Home(taken)
        other.env["AFTERWORD_MACHINE_NAME"] = "mini"
        killed(other, point, "sync", "import", str(batches))
        by_folder(laptop, other, tmp_path / f"both-{point}")
        assert fingerprint(laptop) == fingerprint(other), point
        assert "tide page lag" in laptop.daily()
        shutil.rmtree(taken)


def test_a_forgetting_from_elsewhere_that_is_killed_anywhere(tmp_path: Path) -> None:
    laptop, mini, batches = a_laptop(tmp_path / "laptop"), a_mini(tmp_path / "mini"), tmp_path / "batches"
    by_folder(laptop, mini, batches)
    native = mini.json("search", "tide page lag", **NOW)["results"][0]["session"]
    laptop.json("forget", native, "--yes", **NOW)
    for point in FORGETTING:
        killed(mini, point, "sync", "import", str(batches))
    by_folder(laptop, mini, batches)
    assert fingerprint(laptop) == fingerprint(mini)
    for made in (laptop, mini):
        assert "tide page" not in made.daily()
        for path in made.state.rglob("*"):
            assert not path.is_file() or b"tide page" not in path.read_bytes(), path


def test_either_side_of_a_connection_is_killed(tmp_path: Path) -> None:
    laptop, mini = a_laptop(tmp_path / "laptop"), a_mini(tmp_path / "server/home")
    for side, point in enumerate(("arrivals.commit#1", "arrivals.committed#1") * 2):
        told(mini if side % 2 else laptop, 50 + side, f"Question {side}?")
        there = {"AFTERWORD_FAULT": f"kill@{point}"} if side > 1 else {}
        with served(tmp_path / "server", laptop, mini, **there):
            if there:
                told(laptop, 60 + side, f"Another {side}?")
                assert "ended" in laptop.run("sync", "mini", code=1, **NOW).stderr
            else:
                told(mini, 60 + side, f"Another {side}?")
                killed(laptop, point, "sync", "mini")
    with served(tmp_path / "server", laptop, mini):
        for _ in range(4):
            if not moved(laptop.json("sync", "mini", **NOW)):
                break
        assert fingerprint(laptop) == fingerprint(mini)
        for made in (laptop, mini):
            assert len(made.json("search", "question another", **NOW)["results"]) >= 0
            for n in range(4):
                for words in (f"Question {n}", f"Another {n}"):
                    assert made.json("search", f'"{words}"', **NOW)["results"], (made.path, words)
            assert made.daily().count("%% afterword s-") == 0
        assert moved(laptop.json("sync", "mini", **NOW)) == 0
