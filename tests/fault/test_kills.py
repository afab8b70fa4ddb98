"""Killed at random points while transcripts grow, the program ends up equal to a run nobody disturbed."""

import os
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from homes import Home
from kills import LEDGER, NOTE, Feed, disturb, missing
from transcripts import busy_session

KILLS = int(os.environ.get("AFTERWORD_TEST_KILLS", "30"))
SEED = int(os.environ.get("AFTERWORD_TEST_SEED", "20260301"))

OTHER = ("text.commit", "text.committed", "atomic.write", "atomic.fsync", "atomic.rename")


def fault(rng: random.Random, done: Counter[str]) -> tuple[str, str]:
    """(kind of kill, value of AFTERWORD_FAULT): what there were too few of comes first."""
    wanted = {"ledger": KILLS // 4, "note": KILLS // 4, "other": KILLS // 10, "signal": KILLS // 4}
    short = [kind for kind, count in wanted.items() if done[kind] < count] or list(wanted)
    kind = rng.choice(short)
    if kind == "signal":
        return kind, ""
    point = rng.choice({"ledger": LEDGER, "note": NOTE, "other": OTHER}[kind])
    # ledger.inside is reached once a record, the others once a transaction or append.
    nth = {"ledger.inside": rng.randrange(1, 60)}.get(point, rng.randrange(1, 5 if kind == "ledger" else 3))
    return kind, f"kill@{point}#{nth}"


def test_kills_at_random_points_leave_no_difference(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    home, calm = Home(tmp_path / "disturbed"), Home(tmp_path / "calm")
    feed = Feed(rng, home.path, partial(busy_session, parts=5))
    home.run("init", "--yes")

    done: Counter[str] = Counter()

    def enough() -> bool:
        # On a busy machine many lives end before a note is written: then there are more of them.
        kinds = min(done["ledger"], done["note"])
        return sum(done.values()) >= KILLS and kinds >= KILLS // 5 and sections(home) >= min(30, KILLS)

    while not enough():
        kind, spec = fault(rng, done)
        daemon = home.start("up", "--settle", "2s", **({"AFTERWORD_FAULT": spec} if spec else {}))
        killed = disturb(daemon, feed, rng, wait_s=rng.uniform(0.5, 2.0) if kind == "signal" else 12.0)
        done[kind if killed == "fault" else "signal"] += 1
        assert sum(done.values()) < KILLS * 3, done
    while feed.give(more=False):
        pass
    record_property("kills", f"seed {SEED}: {sum(done.values())} kills, {dict(done)}, {len(feed.sessions)} sessions")
    home.run("up", "--once", "--settle", "0")

    feed.all_into(calm)
    calm.run("init", "--yes")
    calm.run("up", "--once", "--settle", "0")

    explain = ("doctor", "--fingerprint", "--explain")
    assert home.run(*explain).stdout.splitlines() == calm.run(*explain).stdout.splitlines()
    assert missing(home, calm) == {}
    first = home.vault_bytes()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == first


def sections(home: Home) -> int:
    return len(re.findall(r"^%% afterword s-", home.daily(), re.MULTILINE))
