"""Real ledgers on a few machines, whatever happens to them in whatever order: in the end all know the same."""

import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_world import STEPS, World

EXAMPLES = int(os.environ.get("AFTERWORD_TEST_SYNC_EXAMPLES", "3"))
WALKS = int(os.environ.get("AFTERWORD_TEST_SYNC_WALKS", "0"))


def play(steps: list[str], machines: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), machines, seed)
        try:
            for step in steps:
                world.do(step)
            world.end()
        finally:
            world.close()


@settings(max_examples=EXAMPLES)
@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=4, max_size=12),
    machines=st.integers(2, 3),
    seed=st.integers(0, 10_000),
)
def test_all_know_the_same(steps: list[str], machines: int, seed: int) -> None:
    play(steps, machines, seed)


@pytest.mark.parametrize(
    ("machines", "seed", "steps"),
    [
        # What one machine forgot while the other wrote an article of it.
        (2, 438, "talk,compile,stream,talk,compile,forget item,stream"),
        # Lifted while the other machine had the numbers without the words.
        (2, 7, "talk,talk,withhold,stream,lift,stream"),
        # Set back by a tool that knows nothing of us, then on.
        (2, 3, "talk,restore,talk,stream,restore,talk,stream"),
        # A copied home goes on beside its original.
        (2, 5, "talk,clone,talk,talk,stream,stream"),
        # A fact made of an entry that the other machine had forgotten.
        (
            2,
            2000,
            "talk,folder,clock,learn,forget lesson,undo,clock,edit section,correct,correct,rename,compile,restart",
        ),
        # An article of which nothing was left, in the file of a person who had worked on it.
        (2, 3092, "talk,compile,forget lesson,lift,folder,restore,correct,rewind,correct,forget session,edit,folder"),
        # Old batches after a forgetting.
        (2, 11, "talk,talk,folder,folder,forget session,forget item,old batches,folder,old batches"),
    ],
)
def test_what_went_wrong_once(machines: int, seed: int, steps: str) -> None:
    play(steps.split(","), machines, seed)


@pytest.mark.skipif(not WALKS, reason="long walks are for `make prove`")
@pytest.mark.slow
def test_long_walks(record_property: Callable[[str, object], None]) -> None:
    first = int(os.environ.get("AFTERWORD_TEST_SYNC_FIRST", "0"))
    done: Counter[str] = Counter()
    for seed in range(first, first + WALKS):
        rng = random.Random(seed)
        steps = [rng.choice(STEPS) for _ in range(20)]
        done.update(steps)
        try:
            play(steps, 2 + seed % 2, seed)
        except Exception as err:
            raise AssertionError(f"seed {seed}: {steps}") from err
    counted = ", ".join(f"{count} {what}" for what, count in sorted(done.items()))
    record_property("seed", f"seeds {first} to {first + WALKS - 1}, {20 * WALKS} steps: {counted}")
