"""SIGKILL while records of another machine are taken in: what was acknowledged stays, the rest comes again."""

import re
import shutil
import signal
from pathlib import Path

from homes import Home
from knowledge import NOW
from peers import a_mini, fingerprint, home, moved, served, told

POINTS = ("arrivals.commit#1", "arrivals.committed#1", "ledger.committed#1")
FORGETTING = ("arrivals.commit#1", "forget.step#1")


def a_laptop(path: Path) -> Home:
    """With little on it: what is killed is started often."""
    made = home(path, "laptop")
    told(made, 7, "Why is the forecast a day late?")
    return made


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
    wanted = set()
    for point in ("", *POINTS):
        # Each on a home of its own, at the same place, that has nothing of it yet.
        kept = shutil.copytree(mini.path, tmp_path / "kept")
        if point:
            killed(mini, point, "sync", "import", str(batches))
        mini.json("sync", "import", str(batches), **NOW)
        assert "forecast" in mini.daily(), point
        wanted.add((fingerprint(mini), mini.daily()))
        shutil.rmtree(mini.path)
        kept.rename(mini.path)
    assert len(wanted) == 1


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
    for side, point in enumerate(("arrivals.commit#1", "arrivals.committed#1")):
        # The one that is killed gets something.
        told(laptop if side else mini, 50 + side, f"Question {side}?")
        there = {"AFTERWORD_FAULT": f"kill@{point}"} if side else {}
        with served(tmp_path / "server", laptop, mini, **there):
            if there:
                assert "ended" in laptop.run("sync", "mini", code=1, **NOW).stderr
            else:
                killed(laptop, point, "sync", "mini")
    with served(tmp_path / "server", laptop, mini):
        for _ in range(4):
            if not moved(laptop.json("sync", "mini", **NOW)):
                break
        assert fingerprint(laptop) == fingerprint(mini)
        for made in (laptop, mini):
            for n in range(2):
                assert made.json("search", f'"Question {n}"', **NOW)["results"], (made.path, n)
            keys = re.findall(r"%% afterword (s-\w+)", made.daily())
            assert len(keys) == len(set(keys))
        assert moved(laptop.json("sync", "mini", **NOW)) == 0
