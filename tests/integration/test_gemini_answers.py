"""Questions while nobody waits for their answers, with a clock that is moved: what is asked when, and what is kept."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gemini_server import GeminiServer

from afterword.compile.engine import Waiting
from afterword.compile.gemini import digests
from afterword.compile.gemini.answers import Answers, Question
from afterword.compile.gemini.faults import ModelFault
from afterword.compile.gemini.transport import Transport, Way
from afterword.domain.clock import Zones, parse_rfc3339
from afterword.domain.digest import DigestInput, Passage
from afterword.domain.ids import SegmentKey
from afterword.domain.items import Kind, SaidBy
from afterword.redact.redactor import Redactor
from afterword.store.ledger import backfill, erasing, model_calls
from afterword.store.ledger.ledger import Ledger, open_writer
from afterword.store.ledger.rescrub import Rescrub

MINUTE_US = 60_000_000
MORNING = parse_rfc3339("2026-06-10T08:00:00Z") or 0


class Desk:
    """Answers over a ledger of their own, as the daemon has them."""

    def __init__(self, path: Path, server: GeminiServer) -> None:
        self.now_us = MORNING
        self.ledger: Ledger = open_writer(path, "box")
        self.came = threading.Event()
        self.redactor = Redactor("python")
        self.answers = Answers(
            self.ledger,
            self.redactor,
            Transport(Way("k", server.url), 20.0, lambda _s: None),
            lambda: self.now_us,
            Zones([("", "UTC")]),
            daily_tokens=100_000,
            keep_us=30 * 24 * 60 * MINUTE_US,
        )
        self.answers.wake = self.came.set

    def ask(self, question: Question) -> str | ModelFault | None:
        """The answer, the fault, or None while it waits."""
        try:
            return self.answers.get(question)
        except Waiting:
            return None
        except ModelFault as fault:
            return fault

    def wait(self) -> int:
        """Until an answer came and was taken."""
        assert self.came.wait(60)
        self.came.clear()
        return self.answers.take()

    def asked(self, question: Question) -> str | ModelFault:
        """What becomes of a question that is asked until there is something."""
        assert self.ask(question) is None
        self.wait()
        found = self.ask(question)
        assert found is not None
        return found


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, server: GeminiServer) -> Iterator[Desk]:
    made = Desk(tmp_path, server)
    yield made
    made.ledger.close()


def question(n: int = 1, text: str = "") -> Question:
    said = f"We decided to keep cache number {n}. {text}"
    passage = Passage(f"{n:032x}", Kind.REPLY, said, SaidBy.AGENT)
    return digests.question(DigestInput(SegmentKey(f"s-{n}"), "codex", "harbor", "", (passage,)), "gemini-3.8-flash")


def test_nobody_waits_and_what_came_is_kept(desk: Desk, server: GeminiServer) -> None:
    server.hold.clear()
    assert desk.ask(question()) is None
    assert desk.ask(question()) is None
    assert desk.answers.take() == 0
    server.hold.set()
    desk.wait()
    first = desk.ask(question())
    assert isinstance(first, str)
    assert desk.ask(question()) == first
    assert len(server.calls) == 1


def test_no_more_than_two_are_asked_at_once(desk: Desk, server: GeminiServer) -> None:
    server.hold.clear()
    for n in range(5):
        assert desk.ask(question(n)) is None
    server.hold.set()
    while desk.wait() < 1:
        pass
    answered = 0
    while answered < 5:
        answered = sum(isinstance(desk.ask(question(n)), str) for n in range(5))
        if answered < 5:
            desk.came.wait(0.5)
            desk.answers.take()
    assert len(server.calls) == 5


def test_a_question_that_fails_is_asked_again_later_each_time(desk: Desk, server: GeminiServer) -> None:
    server.always = "safety"
    for pause_min in (10, 20, 40, 80):
        found = desk.asked(question())
        assert isinstance(found, ModelFault)
        asked = len(server.calls)
        desk.now_us += (pause_min - 1) * MINUTE_US
        assert isinstance(desk.ask(question()), ModelFault)
        assert len(server.calls) == asked
        desk.now_us += 2 * MINUTE_US
    # Others are not held up by it.
    server.always = ""
    assert isinstance(desk.asked(question(2)), str)
    assert isinstance(desk.asked(question()), str)
    assert model_calls.failures(desk.ledger, question().key) == 0


@pytest.mark.parametrize("behaviour", ["503", "401", "404", "reset"])
def test_a_fault_that_all_would_meet_holds_all_up(desk: Desk, server: GeminiServer, behaviour: str) -> None:
    server.always = behaviour
    assert isinstance(desk.asked(question()), ModelFault)
    asked = len(server.calls)
    other = desk.ask(question(2))
    assert isinstance(other, ModelFault)
    assert other.why == "paused"
    assert len(server.calls) == asked
    desk.now_us += 11 * MINUTE_US
    assert isinstance(desk.asked(question(2)), ModelFault)
    # The second pause is twice as long; the first answer ends it.
    desk.now_us += 11 * MINUTE_US
    assert isinstance(desk.ask(question(3)), ModelFault)
    server.always = ""
    desk.now_us += 11 * MINUTE_US
    assert isinstance(desk.asked(question(3)), str)
    assert model_calls.pause(desk.ledger) is None
    assert isinstance(desk.asked(question(4)), str)


def test_a_days_quota_waits_for_the_servers_next_day(desk: Desk, server: GeminiServer) -> None:
    server.script = ["429-day"]
    assert isinstance(desk.asked(question()), ModelFault)
    pause = model_calls.pause(desk.ledger)
    assert pause is not None
    # 08:00 UTC is 01:00 in California: the day there has 23 hours left.
    assert pause.until_us == parse_rfc3339("2026-06-11T07:00:00Z")
    desk.now_us = pause.until_us - MINUTE_US
    assert isinstance(desk.ask(question(2)), ModelFault)
    desk.now_us = pause.until_us + MINUTE_US
    assert isinstance(desk.asked(question(2)), str)


def test_tokens_are_counted_by_the_local_day(desk: Desk, server: GeminiServer) -> None:
    desk.asked(question())
    desk.now_us += 24 * 60 * MINUTE_US
    desk.asked(question(2))
    first, second = (model_calls.spent(desk.ledger, day) for day in ("2026-06-10", "2026-06-11"))
    assert first.calls == second.calls == 1
    assert first.tokens + second.tokens == server.tokens


def test_a_call_whose_process_died_is_asked_again(desk: Desk, server: GeminiServer, tmp_path: Path) -> None:
    server.hold.clear()
    assert desk.ask(question()) is None
    desk.ledger.close()
    later = Desk(tmp_path, server)
    before = model_calls.spent(later.ledger).tokens
    assert before >= digests.MAX_OUTPUT
    server.hold.set()
    assert isinstance(later.asked(question()), str)
    assert model_calls.spent(later.ledger).calls == 2
    desk.ledger = later.ledger


def test_what_was_kept_goes_through_newer_rules(desk: Desk, server: GeminiServer) -> None:
    word = "quetzalcoatl-fresh"
    assert isinstance(desk.asked(question(text=f"We will name it {word}.")), str)
    row = "SELECT request, request_packed, reply, reply_packed FROM model_call"
    unpack = model_calls.unpack
    stored = desk.ledger.db.execute(row).fetchone()
    assert word in unpack(*stored[:2])
    assert word in unpack(*stored[2:])
    Rescrub(desk.ledger, Redactor("python", extra=[word]), ()).rows()
    stored = desk.ledger.db.execute(row).fetchone()
    assert word not in unpack(*stored[:2]) + unpack(*stored[2:])
    assert isinstance(desk.ask(question(text=f"We will name it {word}.")), str)  # still of its form
    with desk.ledger.erasing():
        erasing.rows(desk.ledger, desk.redactor, (), lambda _done, _all: None)
    assert desk.ledger.db.execute("SELECT length(request) + length(reply) FROM model_call").fetchone() == (0,)
    assert model_calls.spent(desk.ledger).tokens == server.tokens


def test_what_a_server_said_of_a_pause_is_forgotten_and_the_pause_is_kept(desk: Desk) -> None:
    model_calls.set_pause(desk.ledger, desk.redactor, model_calls.Pause(MORNING + 1, "not quetzalcoatl again", "quota"))
    backfill.note(desk.ledger, desk.redactor, backfill.Asked(3, 2, MORNING + 1, "not quetzalcoatl again"))
    with desk.ledger.erasing():
        erasing.rows(desk.ledger, desk.redactor, (), lambda _done, _all: None)
    pause, asked = model_calls.pause(desk.ledger), backfill.asked(desk.ledger)
    assert pause is not None
    assert asked is not None
    assert (pause.until_us, pause.reason, pause.why) == (MORNING + 1, "forgotten", "quota")
    assert (asked.sections, asked.until_us, asked.reason) == (3, MORNING + 1, "forgotten")
    rows = desk.ledger.db.execute("SELECT value FROM meta WHERE typeof(value) = 'text'").fetchall()
    assert not [value for (value,) in rows if "quetzalcoatl" in value]


def test_an_answer_that_was_under_way_during_a_forgetting_is_not_kept(desk: Desk, server: GeminiServer) -> None:
    server.hold.clear()
    assert desk.ask(question()) is None
    with desk.ledger.erasing():
        erasing.rows(desk.ledger, desk.redactor, (), lambda _done, _all: None)
    server.hold.set()
    desk.wait()
    (call,) = model_calls.about(desk.ledger, digests.STEP, "s-1")
    assert (call.state, call.request, call.reply, call.reason) == ("answered", "", "", "")
    assert call.tokens_out > 0
    assert not call.estimated
    assert isinstance(desk.asked(question()), str)
    assert len(server.calls) == 2
