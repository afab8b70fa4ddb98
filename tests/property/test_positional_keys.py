"""Keys that count places: what stands at a place may grow, be replaced and come back, in any way of reading."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from writer import NOW_US, REDACTOR

from afterword.app.fingerprint import lines
from afterword.capture.intake import Intake, Memory
from afterword.domain.events import Finish, Item
from afterword.domain.items import Kind, SaidBy
from afterword.redact.text import stored
from afterword.store.ledger import sessions, sources, views
from afterword.store.ledger.items import State
from afterword.store.ledger.ledger import open_writer

Shown = tuple[int, str]
"""A place and the text that stands there."""


class Log:
    """Files of one session whose lines are places with texts, read by the real intake."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = open_writer(folder, "box")
        self.files: dict[str, list[Shown]] = {}
        self.taken: dict[str, int] = {}
        with self.ledger.transaction():
            for name in ("one", "two"):
                sources.add(self.ledger, "antigravity", name.encode(), stored(name), NOW_US)

    def restart(self) -> None:
        self.ledger.close()
        self.ledger = open_writer(self.folder, "box")

    def _source(self, file: str) -> sources.Source:
        found = sources.find(self.ledger, file.encode())
        assert found is not None
        return found

    def take(self, *shown: Shown, file: str = "one", kill: bool = False) -> None:
        """Lines were appended to a file."""
        self._read(shown, file, again=False, kill=kill)
        self.files[file] = [*self.files.get(file, []), *shown]

    def replace(self, *shown: Shown, file: str = "one", kill: bool = False) -> None:
        """A file has other lines than before."""
        self._read(shown, file, again=True, kill=kill)
        self.files[file] = list(shown)

    def replay(self, file: str = "one") -> None:
        self.replace(*self.files[file], file=file)

    def _read(self, shown: Sequence[Shown], file: str, *, again: bool, kill: bool = False) -> None:
        source = self._source(file)
        if again:
            source = msgspec.structs.replace(
                source, at=msgspec.structs.replace(source.at, generation=source.at.generation + 1)
            )
        offset = 0 if again else len(self.files.get(file, []))
        try:
            with self.ledger.transaction():
                intake = Intake(self.ledger, REDACTOR, source, changed_us=NOW_US, now_us=NOW_US, memory=Memory())
                if again:
                    intake.start_over()
                for n, (place, text) in enumerate(shown, offset):
                    intake.line([prompt(place, text)], n, n + 1)
                intake.close(whole=again)
                sources.save(self.ledger, source.row, source.at, stored(""))
                if kill:
                    raise KeyboardInterrupt  # noqa: TRY301  # as a kill: nothing of the transaction is kept
        except KeyboardInterrupt:
            self.restart()
            self._read(shown, file, again=again)

    def items(self, state: State = State.LIVE) -> list[str]:
        found = sessions.load(self.ledger, "WHERE s.native = 'a'")
        return [item.text for item in views.in_order(self.ledger, found[0].row) if item.state is state]

    def revisions(self) -> int:
        found: int = self.ledger.db.execute("SELECT count(*) FROM log").fetchone()[0]
        return found


def prompt(place: int, text: str) -> Item:
    return Item("a", ("a", place), Kind.PROMPT, text, NOW_US - 10**9, SaidBy.PERSON, positional=True)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_a_text_that_grows_keeps_its_row(log: Log) -> None:
    log.take((0, "Find the"))
    log.take((0, "Find the leak"), (0, "Find the leak."))
    assert log.items() == ["Find the leak."]
    assert log.items(State.ABANDONED) == []


def test_another_text_at_the_place_is_another_row(log: Log) -> None:
    log.take((0, "Find the leak."), (1, "Then test it."))
    log.take((0, "Delete everything."))
    assert log.items() == ["Then test it.", "Delete everything."]
    assert log.items(State.ABANDONED) == ["Find the leak."]


def test_a_shorter_text_is_another_row_too(log: Log) -> None:
    log.take((0, "Fix the parser bug"), (1, "Go."))
    log.replace((0, "Fix the parser"), (1, "Go."))
    assert log.items() == ["Fix the parser", "Go."]
    assert log.items(State.ABANDONED) == ["Fix the parser bug"]
    log.replay()
    log.restart()
    log.replay()
    assert log.items() == ["Fix the parser", "Go."]
    assert log.items(State.ABANDONED) == ["Fix the parser bug"]


def test_a_text_that_comes_back_finds_its_row(log: Log) -> None:
    for text in ("one", "two", "three", "two"):
        log.take((0, text))
    assert log.items() == ["two"]
    assert sorted(log.items(State.ABANDONED)) == ["one", "three"]


def test_early_editions_read_again_change_nothing(log: Log) -> None:
    log.take((0, "I"), (0, "I will"), (1, "x"), (0, "Stop"), (0, "Stop it"))
    before, revisions = lines(log.ledger), log.revisions()
    for _ in range(2):
        log.replay()
        assert lines(log.ledger) == before
    assert log.revisions() == revisions
    assert log.items() == ["x", "Stop it"]
    assert log.items(State.ABANDONED) == ["I will"]


def test_an_early_edition_that_goes_on_otherwise_is_no_beginning(log: Log) -> None:
    log.take((0, "I will time them"))
    log.replace((0, "I will"), (0, "I will not"))
    assert log.items() == ["I will not"]
    assert log.items(State.ABANDONED) == ["I will time them"]


def test_an_early_edition_that_something_else_replaced_is_a_text_of_its_own(log: Log) -> None:
    log.take((0, "I will time them"))
    log.replace((0, "I will"), (0, "Never"))
    assert log.items() == ["Never"]
    assert sorted(log.items(State.ABANDONED)) == ["I will", "I will time them"]


def test_a_second_file_that_holds_less_shortens_nothing(log: Log) -> None:
    log.take((0, "The whole output"), (1, "short"))
    log.take((0, "The whole"), (1, "short and long"), file="two")
    log.replay("two")
    log.replay("one")
    assert log.items() == ["The whole output", "short and long"]
    assert log.items(State.ABANDONED) == []


def test_a_secret_is_compared_as_what_is_kept_of_it(log: Log) -> None:
    log.take((0, "use password=hunter2horse now"))
    log.take((0, "use password=battery9staple now"))
    assert log.items() == ["use password=[redacted:password] now"]
    assert log.items(State.ABANDONED) == []


def test_a_result_goes_to_what_stands_at_its_place_now(log: Log) -> None:
    log.take((0, "one"), (0, "two"))
    source = log._source("one")
    with log.ledger.transaction():
        intake = Intake(log.ledger, REDACTOR, source, changed_us=NOW_US, now_us=NOW_US, memory=Memory())
        intake.line([Finish("a", ("a", 0), Kind.PROMPT, 7, positional=True)], 9, 9)
        intake.close(whole=False)
    found = sessions.load(log.ledger, "WHERE s.native = 'a'")
    assert [(i.text, i.exit_status) for i in views.in_order(log.ledger, found[0].row)] == [("one", None), ("two", 7)]


words = st.sampled_from(["a", "ab", "abc", "abd", "x", "xy", "b"])
shown = st.lists(st.tuples(st.integers(0, 1), words), max_size=8)


def fell_back(shown: list[Shown]) -> bool:
    """Whether a place showed the beginning of what it had shown before."""
    return any(
        place == later and text != shorter and text.startswith(shorter)
        for n, (place, text) in enumerate(shown)
        for later, shorter in shown[n + 1 :]
    )


@example([(1, "a"), (1, "ab"), (1, "abc"), (1, "a")], [])
@given(shown, st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["", "kill", "restart", "replay"])), max_size=8))
def test_pieces_kills_restarts_and_replays_end_as_one_pass_ends(
    shown: list[Shown], steps: list[tuple[int, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        calm, fed = Log(Path(folder) / "calm"), Log(Path(folder) / "fed")
        calm.take(*shown)
        done = 0
        for size, how in [*steps, (len(shown), "")]:
            fed.take(*shown[done : done + size], kill=how == "kill")
            done = min(len(shown), done + size)
            if how == "restart":
                fed.restart()
            elif how == "replay":
                fed.replay()
        if shown:
            # A replay in the middle may have taken a text for its own that only a later line makes a beginning.
            if not any(how == "replay" for _, how in steps):
                assert lines(fed.ledger) == lines(calm.ledger)
            assert sorted(fed.items()) == sorted(calm.items())
            last = dict(shown)
            assert sorted(fed.items()) == sorted(last.values())
            before, revisions = lines(calm.ledger), calm.revisions()
            calm.replay()
            assert sorted(calm.items()) == sorted(last.values())
            # A text that grew and fell back to its beginning may be told from its early edition one reading later only.
            calm.replay()
            settled, revisions = lines(calm.ledger), calm.revisions()
            calm.replay()
            assert (lines(calm.ledger), calm.revisions()) == (settled, revisions)
            if not fell_back(shown):
                assert {line for line in before if line.startswith("item")} <= set(settled)
        calm.ledger.close()
        fed.ledger.close()
