"""The daemon follows Cursor's write-ahead log and aider's history while they are written."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from cursor_stores import ONE, Window
from homes import Home

from afterword.capture.stores import survey
from afterword.capture.watch import Watcher
from afterword.domain.events import Where

STARTED = "2026-03-04 11:00:00"


def wait_for(what: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.2)


def said(home: Home, session: str) -> list[str]:
    shown = home.run("show", session, "--json", code=None)
    if shown.returncode:
        return []
    return [item["text"] for item in json.loads(shown.stdout)["messages"] if not item["abandoned"]]


def test_rows_in_a_log_and_lines_in_a_history_come_while_the_daemon_runs(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writer = Window(tmp_path / ".config/Cursor/User/globalStorage/state.vscdb")
    writer.talk(ONE, "Why?")
    history = tmp_path / "srv/orchard/.aider.chat.history.md"
    (history.parent / "app/deep/folders").mkdir(parents=True)
    history.write_text(f"\n# aider chat started at {STARTED}\n\n> Aider v0.86.2  \n\n#### One?  \n")
    env = {"AFTERWORD_AIDER_ROOT": str(tmp_path / "srv"), "AFTERWORD_CAPTURE_SWEEP": "1h"}
    home.run("init", str(home.vault), "--yes")
    with home.daemon(**env):
        wait_for(lambda: said(home, ONE) == ["Why?"] and said(home, f"{STARTED}#1") == ["One?"])
        writer.talk(ONE, "Why?", "So.")
        with history.open("a") as out:
            out.write("\nYes.\n\n")
        # The next sweep is an hour away: the events of the files alone bring this.
        wait_for(lambda: said(home, ONE) == ["Why?", "So."] and said(home, f"{STARTED}#1") == ["One?", "Yes."])
        roots = {root["path"]: root["mode"] for root in home.json("status")["roots"]}
    assert roots[str(history.parent)] == "watched"


def test_a_project_is_not_watched_for_the_history_in_it(tmp_path: Path) -> None:
    history = tmp_path / "srv/orchard/.aider.chat.history.md"
    (history.parent / "app/deep/folders").mkdir(parents=True)
    history.write_text(f"\n# aider chat started at {STARTED}\n\n")
    watcher = Watcher()
    try:
        watcher.arm(survey(Where({"AFTERWORD_AIDER_ROOT": str(tmp_path / "srv")}, tmp_path, "linux")))
        assert watcher._watched == {tmp_path / "srv": False, history.parent: False}
    finally:
        watcher.stop()
