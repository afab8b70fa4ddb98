"""Use: counted once for each time, whatever is killed in between, on each machine for itself, and bounded in effect."""

import os
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from writer import REDACTOR

from afterword.domain.articles import Use
from afterword.domain.ids import ArticleUid
from afterword.store import use_log
from afterword.store.ledger import registers, uses
from afterword.store.ledger.ledger import Ledger, RecordKind, open_writer

ONE, OTHER = ArticleUid("a-0123456789ab"), ArticleUid("a-ba9876543210")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:  # type: ignore[misc]  # a generator
    made = open_writer(tmp_path / "state", "box")
    yield made
    made.close()


def add(ledger: Ledger, taken: str, noted: Counter[tuple[str, use_log.Kind, str]]) -> int:
    with ledger.transaction():
        return uses.add(ledger, REDACTOR, taken, noted)


def test_what_is_noted_is_counted_once(tmp_path: Path, ledger: Ledger) -> None:
    state = tmp_path / "state"
    use_log.note(state, "returned", [ONE, OTHER], "2026-06-10")
    use_log.note(state, "returned", [ONE], "2026-06-11")
    use_log.note(state, "opened", [ONE], "2026-06-12")
    taken, noted = use_log.take(state)
    assert add(ledger, taken, noted) == 2
    # Killed before the file went: it is taken again, and not counted again.
    again, same = use_log.take(state)
    assert (again, same) == (taken, noted)
    assert add(ledger, again, same) == 0
    use_log.done(state)
    assert use_log.take(state) == ("", Counter())
    assert uses.every(ledger) == {ONE: Use(2, 1, 0, "2026-06-12"), OTHER: Use(1, 0, 0, "2026-06-10")}
    assert uses.of(ledger, ONE) == Use(2, 1, 0, "2026-06-12")
    use_log.note(state, "cited", [ONE], "2026-06-13")
    taken, noted = use_log.take(state)
    assert add(ledger, taken, noted) == 1
    assert uses.of(ledger, ONE) == Use(2, 1, 1, "2026-06-13")


def test_a_broken_line_and_a_full_or_foreign_file_harm_nothing(tmp_path: Path, ledger: Ledger) -> None:
    state = tmp_path / "state"
    (state / use_log.FILE).write_bytes(b"o " + ONE.encode() + b" 2026-06-10\nr a-01\nx\n\xff\no " + ONE.encode()[:6])
    assert use_log.take(state)[1] == Counter({(ONE, "opened", "2026-06-10"): 1})
    use_log.done(state)
    os.mkfifo(state / use_log.FILE)
    use_log.note(state, "opened", [ONE], "2026-06-10")  # nobody waits for a reader
    (state / use_log.FILE).unlink()
    use_log.note(tmp_path / "nowhere", "opened", [ONE], "2026-06-10")
    assert add(ledger, *use_log.take(state)) == 0


def test_machines_add_up_and_what_follows_from_builds_counts_once(ledger: Ledger) -> None:
    add(ledger, "", Counter({(ONE, "opened", "2026-06-10"): 3}))
    with ledger.transaction():
        ledger.db.execute("INSERT INTO origin (row, id, name) VALUES (2, ?, 'other')", ("f" * 32,))
        value = REDACTOR.document(msgspec.to_builtins(Use(4, 2, 0, "2026-06-11")), plain=("",))
        registers.put(ledger, RecordKind.SETTING, f"use/{'f' * 32}/{ONE}", value)
        uses.cited(ledger, REDACTOR, {ONE: Use(cited=2, last="2026-06-09")})
        uses.cited(ledger, REDACTOR, {ONE: Use(cited=2, last="2026-06-09")})
    assert uses.every(ledger) == {ONE: Use(4, 5, 2, "2026-06-11")}
    assert uses.of(ledger, ONE) == Use(4, 5, 2, "2026-06-11")


def test_its_weight_is_bounded_and_what_is_returned_weighs_nothing() -> None:
    assert Use(returned=1000).weight == 0
    assert Use(opened=2, cited=2).weight == 0.5
    assert 0.99 < Use(opened=1000).weight <= 1.0
    weights = [Use(opened=n).weight for n in range(20)]
    assert weights == sorted(weights)
