"""The index is made behind everything else, the newest first."""

import os
from pathlib import Path

from index_world import World

from afterword.index import keeper
from afterword.index.keeper import Keeper


def test_the_vector_store_works_behind_everybody(tmp_path: Path) -> None:
    with keeper.lock(tmp_path) as lock_fd:
        store = Keeper(tmp_path, lock_fd)
        try:
            ours = os.getpriority(os.PRIO_PROCESS, 0)
            assert os.getpriority(os.PRIO_PROCESS, store._child.pid) == min(19, ours + 10)
        finally:
            store.close()


def test_what_was_said_last_is_embedded_first_and_a_stopped_pass_goes_on(tmp_path: Path) -> None:
    world = World(tmp_path)
    said = [f"{word} is what this session is about, and nothing else " * 8 for word in ("first", "second", "third")]
    last = {world.talk(text).clock: text.split()[0] for text in said}
    with world.open() as index:
        index.step(0.0)  # one document at most
    begun = [text.split()[0] for text in world.embedder.embedded]
    world.embedder.embedded.clear()
    assert world.catch_up().complete
    then = [text.split()[0] for text in world.embedder.embedded]
    assert len(set(begun)) == 1
    assert not set(begun) & set(then)
    assert set(begun) | set(then) == {"first", "second", "third"}
    assert begun[0] == last[max(last)]
