"""Faults that people reported about notes in vaults: too large for Obsidian, and written by two machines."""

import random
import re
import shutil
from datetime import datetime
from pathlib import Path

from homes import Home
from transcripts import ClaudeSession, sentence

from afterword.domain.daily import CAP_BYTES

DAY = "2026-03-04"
UP = ("up", "--once", "--settle", "0")


def talk(home: Home, seed: int, *replies: str) -> None:
    session = ClaudeSession(random.Random(seed), session=f"session-{seed}")
    session.clock = datetime.fromisoformat(f"{DAY}T1{seed}:00:00+00:00")
    for reply in replies:
        session.prompt("Please look into the cache, it fails since yesterday.")
        session.reply(reply)
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))


def test_a_note_that_is_full_gets_a_short_section_that_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("init", "--yes")
    note = home.vault / f"daily/{DAY}.md"
    mine = ("My own words of a long day. " * 40 + "\n") * (CAP_BYTES // 1121)
    note.write_text(mine)
    whole = Home(tmp_path / "whole")
    whole.run("init", "--yes")
    for each in (home, whole):
        rng = random.Random(5)
        talk(
            each,
            1,
            *(f"The root cause was {sentence(rng, 12)} We decided to keep {sentence(rng, 12)}" for _ in "123456"),
        )
        each.run(*UP)
    long = len((whole.vault / f"daily/{DAY}.md").read_bytes())
    text = note.read_text()
    assert text.startswith(mine)
    added = text.removeprefix(mine)
    assert "_Shortened: `afterword show s-" in added
    assert len(added.encode()) < min(long, CAP_BYTES - len(mine.encode()) + 800)
    key = re.search(r"`afterword show (s-[0-9a-f]{12})`", added)
    assert key
    assert home.run("show", key[1]).stdout.count("We decided to keep") == 6
    assert "_Shortened" not in (whole.vault / f"daily/{DAY}.md").read_text()


def test_a_mirrored_vault_is_written_by_one_machine_whatever_the_copier_does(tmp_path: Path) -> None:
    first, second = Home(tmp_path / "a"), Home(tmp_path / "b")
    second.env["AFTERWORD_MACHINE_NAME"] = "laptop"
    here, there = tmp_path / "V", tmp_path / "mirror"
    first.run("init", str(here), "--yes")
    talk(first, 1, "The root cause of the cache was a missing lock. We decided to add one.")
    first.run(*UP)
    shutil.copytree(here, there)
    second.run("init", str(there), "--yes")
    talk(second, 2, "The socket was closed too early. We decided to keep it open.")
    second.run(*UP)
    note = Path(f"daily/{DAY}.md")
    older = (there / note).read_bytes()
    assert older == (here / note).read_bytes(), "the other machine only takes in"
    talk(first, 3, "The queue was full. We decided to make it longer.")
    first.run(*UP)
    newer = (here / note).read_bytes()
    assert newer.count(b"%% afterword s-") == 2
    # The last writer wins, and it had the emptier note; then one that makes a copy of a conflict.
    (here / note).write_bytes(older + b"\nfrom the laptop\n")
    copy = here / f"daily/{DAY} (Conflicted copy laptop 202603041200).md"
    copy.write_bytes(newer)
    first.run(*UP)
    text = (here / note).read_bytes()
    assert text.startswith(older + b"\nfrom the laptop\n")
    assert text.count(b"%% afterword s-") == 2
    assert copy.read_bytes() == newer
    before = text
    first.run(*UP)
    assert (here / note).read_bytes() == before
