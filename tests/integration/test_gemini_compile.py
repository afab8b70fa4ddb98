"""Days compiled with loopback Gemini: what it does wrong leaves everything as it was, what it does right is kept."""

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gemini_server import GeminiServer, spent_twice
from gemini_world import DAYS, World, opened, settled_home
from homes import Home
from knowledge import later

from afterword.app.linting import examine
from afterword.domain.articles import LIVE
from afterword.domain.errors import UserError
from afterword.store.ledger import articles, model_calls
from afterword.store.ledger.ledger import unpack

FULL = "2026-06-10"


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return settled_home(tmp_path_factory.mktemp("settled") / "home", monkeypatch)


@pytest.fixture
def home(settled: Path, tmp_path: Path) -> Path:
    shutil.copytree(settled, tmp_path / "home")
    config = tmp_path / "home/.config/afterword/config.toml"
    config.write_text(config.read_text().replace(str(settled), str(tmp_path / "home")))
    return tmp_path / "home"


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


@pytest.fixture
def world(home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_DEADLINE="20s") as made:
        yield made


# What is no answer: (behaviour, of every call, or of the first of a day; what the reason says)
NO_ANSWER = {
    "429-day": "quota for the day",
    "401": "does not accept the key",
    "400-key": "does not accept the key",
    "404": "has no model 'gemini-3.8-flash'",
    "400": "refused the question",
    "500": "not available",
    "503": "not available",
    "reset": "cannot be reached",
    "200-html": "cannot be read",
    "502-html": "not available",
    "cut-off-body": "cannot be reached",
    "429-retry-info": "quota for the minute",
    "400-long": "too long for the model",
    "none-text": "empty",
    "no-candidates": "gave no answer",
    "thinking-ate-it": "cut off",
    "max-tokens": "cut off",
    "half-json": "not the form",
    "wrong-schema": "not the form",
    "safety": "safety filter",
    "prompt-blocked": "would not read it",
    "0-articles": "no article",
    "placeholders": "no article",
    "no-quotes": "no article",
    "false-quotes": "no article",
    "unknown-section": "no article",
    "made-up-facts": "no article",
    "injected": "no article",
    "echo": "no article",
}


@pytest.mark.parametrize("behaviour", NO_ANSWER)
def test_a_failure_changes_nothing_and_the_next_run_succeeds(
    world: World, server: GeminiServer, behaviour: str
) -> None:
    server.always = behaviour
    before = world.state()
    failed = world.day(FULL, engine="gemini")
    assert failed.state == "failed"
    assert NO_ANSWER[behaviour] in failed.reason
    assert world.state() == before
    assert FULL in world.program.compiling.days()  # it is still due
    server.always = ""
    done = world.day(FULL, engine="gemini")
    assert (done.state, done.reason) == ("compiled", "")
    assert 3 <= len(done.created) <= 7
    booked = [row for row in world.calls() if row[1] == "answered"]
    assert len(booked) >= 1
    asked = len(server.calls)
    again = world.day(FULL, engine="gemini")
    assert again.state == "unchanged"
    assert len(server.calls) == asked


@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_a_server_that_holds_on_is_given_up(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    server.always = behaviour
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_DEADLINE="0.3s") as world:
        before = world.state()
        failed = world.day(FULL, engine="gemini")
        assert (failed.state, failed.reason) == ("failed", "Gemini did not answer within 0.3 s")
        assert world.state() == before


@pytest.mark.parametrize("script", [["429-retry-info"], ["429-retry-after", "503"], ["thoughts-first"], ["reset"]])
def test_what_a_second_try_mends_is_no_failure(world: World, server: GeminiServer, script: list[str]) -> None:
    server.script = list(script)
    assert world.day(FULL, engine="gemini").state == "compiled"
    assert world.slept[:1] == {"429-retry-info": [47.0], "429-retry-after": [7.0], "reset": [2.0]}.get(script[0], [])


@pytest.mark.parametrize(("behaviour", "amount"), [("8-articles", 7), ("15-articles", 7)])
def test_of_too_many_the_best_seven_stay(world: World, server: GeminiServer, behaviour: str, amount: int) -> None:
    server.script = [behaviour]
    done = world.day(FULL, engine="gemini")
    assert (done.state, len(server.asked())) == ("compiled", 1)
    [record] = [record for _, record in articles.builds(world.program.ledger).values()]
    assert len(record.proposals) <= amount
    assert max(len(p.points) for p in record.proposals) == 8  # the one with the most evidence is among them


@pytest.mark.parametrize(("behaviour", "amount"), [("1-articles", 1), ("2-articles", 2)])
def test_too_few_are_asked_for_once_more_and_then_taken_as_thin(
    world: World, server: GeminiServer, behaviour: str, amount: int
) -> None:
    server.always = behaviour
    done = world.day(FULL, engine="gemini")
    assert (done.state, done.reason, len(done.created)) == ("compiled", "thin", amount)
    first, second = server.asked()
    assert not [row for row in first.rows if "fault" in row]
    [fault] = [row["fault"] for row in second.rows if "fault" in row]
    assert fault.startswith(f"{amount} articles, 3 to 7 are wanted")


def test_a_fault_that_the_second_round_mends_leaves_no_trace(world: World, server: GeminiServer) -> None:
    server.script = ["false-quotes"]
    done = world.day(FULL, engine="gemini")
    assert (done.state, done.reason) == ("compiled", "")
    assert len(server.asked()) == 2


def test_no_title_leads_out_of_the_vault(world: World, server: GeminiServer) -> None:
    server.always = "traversal"
    outside = {path for path in world.home.parent.rglob("*") if "Afterword/knowledge" not in str(path)}
    done = world.day(FULL, engine="gemini")
    assert done.state == "compiled"
    assert done.created
    new = {path for path in world.home.parent.rglob("*") if "Afterword/knowledge" not in str(path)} - outside
    assert {path.name for path in new} <= {"ledger.db-wal", "ledger.db-shm", "lock"}
    for current in articles.current(world.program.ledger):
        assert not set(current.article.slug) & set("/.\\")


def test_links_lead_to_articles_that_are_there(world: World, server: GeminiServer) -> None:
    server.always = "links-to-nowhere"
    assert world.day(FULL, engine="gemini").state == "compiled"
    there = {each.uid for each in articles.current(world.program.ledger) if each.article.status in LIVE}
    for each in articles.current(world.program.ledger):
        linked = {related.uid for related in each.article.related}
        assert linked <= there - {each.uid}
        assert len(linked) >= min(2, len(there) - 1)


def test_what_is_cut_off_is_asked_for_in_smaller_parts(world: World, server: GeminiServer) -> None:
    server.script = ["max-tokens"]
    done = world.day(FULL, engine="gemini")
    assert (done.state, done.reason) == ("compiled", "")
    whole, *parts = server.asked()
    assert [row["points"] for row in whole.sections] == [row["points"] for part in parts for row in part.sections]
    # The next build of the day does not try the whole again.
    assert world.calls()[0][1:] == ("failed", "cut")


def test_a_day_over_the_bound_is_asked_for_in_parts(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_PROMPT_MAX="12K") as world:
        assert world.day(FULL, engine="gemini").state == "compiled"
    assert len(server.asked()) > 1
    for call in server.asked():
        sent = call.text + "".join(part["text"] for part in call.body["systemInstruction"]["parts"])
        assert len(sent.encode()) < 12 << 10


def test_half_a_day_is_no_day(world: World, server: GeminiServer) -> None:
    """One part is refused for good: nothing of the day is written, and what was answered is not asked for again."""
    server.script = ["max-tokens", "honest", "safety", "safety", "safety", "safety"]
    before = world.state()
    failed = world.day(FULL, engine="gemini")
    assert (failed.state, "safety" in failed.reason) == ("failed", True)
    assert world.state() == before
    server.script = []
    assert world.day(FULL, engine="gemini").state == "compiled"
    assert len(spent_twice(server)) == 1  # only what had failed was asked again
    rows = world.program.ledger.db.execute("SELECT count(*) FROM model_call WHERE state = 'answered' GROUP BY key")
    assert {count for (count,) in rows} == {1}


def test_the_whole_history_three_times(world: World, server: GeminiServer) -> None:
    done = world.compile(*DAYS, engine="gemini")
    assert [day.state for day in done.days] == ["compiled"] * 3
    for _, record in articles.builds(world.program.ledger).values():
        assert record.engine == "gemini"
        assert 3 <= len(record.proposals) <= 7
    made, asked = world.state(), len(server.calls)
    for _ in range(2):
        again = world.compile(*world.program.compiling.days(everything=True), again=True, engine="gemini")
        assert {day.state for day in again.days} == {"unchanged"}
        assert world.state() == made
    assert len(server.calls) == asked == len(world.calls())
    assert world.spent().tokens == server.tokens
    assert examine(world.program.config, world.program.ledger) == []


def test_only_what_is_new_in_a_day_is_sent(world: World, server: GeminiServer) -> None:
    assert world.day(FULL, engine="gemini").state == "compiled"
    first = {point["quote"] for row in server.asked()[0].sections for point in row["points"]}
    before = {each.uid: each.article for each in articles.current(world.program.ledger)}

    later(
        Home(world.home),
        "Why does the outbox repeat mails?",
        "The root cause is that the outbox marks mails as sent too early. Decision: the outbox marks a mail after the"
        " server took it, because a crash in between repeats nothing. Lesson learned: mark work as done only after it"
        " is done. Next we still have to clean the old outbox rows.",
    )
    world.program.ingest(thorough=True)
    world.program.write_up(settle_us=0)
    done = world.day(FULL)
    assert done.state == "compiled"
    [_, *more] = server.asked()
    for call in more:
        assert not first & {point["quote"] for row in call.sections for point in row["points"]}
        assert "The day has articles already" in call.text
    after = {each.uid: each.article for each in articles.current(world.program.ledger)}
    assert set(before) <= set(after)
    assert any("outbox" in article.title.lower() for article in after.values())


# Spend.


def test_no_call_that_could_go_over_the_cap_is_made(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server, AFTERWORD_GEMINI_DAILY_TOKENS="30000") as world:
        done = world.compile(*DAYS, engine="gemini")
        states = [day.state for day in done.days]
        assert states[0] == "compiled"
        assert states[-1] == "failed"
        assert "the day's tokens are spent" in done.days[-1].reason
        assert server.tokens == world.spent().tokens <= 30_000
        before = world.state()
        asked = len(server.calls)
        assert world.day(DAYS[-1], engine="gemini").state == "failed"
        assert (world.state(), len(server.calls)) == (before, asked)
    # The next day goes on.
    with opened(
        home, monkeypatch, server, AFTERWORD_GEMINI_DAILY_TOKENS="30000", AFTERWORD_NOW="2026-06-12T12:00:00Z"
    ) as world:
        assert world.day(DAYS[-1], engine="gemini").state == "compiled"


def test_beyond_the_cap_the_extractive_engine_goes_on_where_that_is_wanted(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(
        home, monkeypatch, server, AFTERWORD_GEMINI_DAILY_TOKENS="20", AFTERWORD_GEMINI_BEYOND="extractive"
    ) as world:
        assert world.day(FULL, engine="gemini").state == "compiled"
        [(_, record)] = articles.builds(world.program.ledger).values()
        assert record.engine == "extractive"
        assert server.calls == []


def test_a_call_cut_short_by_a_kill_is_booked_at_its_most(world: World) -> None:
    ledger = world.program.ledger
    before = model_calls.spent(ledger).tokens
    model_calls.begin(
        ledger, key="k", step="compile", subject=FULL, model="m", version=1, estimate=(900, 100), day=FULL, now_us=1,
        request=world.program.redactor.redact("x"),
    )  # fmt: skip
    assert model_calls.spent(ledger).tokens == before + 1_000
    assert model_calls.last(ledger, "k") is None


def test_the_server_counts_what_failed_too(world: World, server: GeminiServer) -> None:
    server.script = ["safety", "503"]
    world.day(DAYS[0], engine="gemini")
    assert world.spent().tokens == server.tokens > 0


# Who writes what.


def test_the_past_is_extractive_and_from_the_first_day_on_it_is_gemini(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-10T23:30:00Z") as world:
        done = world.compile(*DAYS)
        assert [day.state for day in done.days] == ["compiled"] * 3
        found = {day: record.engine for day, (_, record) in articles.builds(world.program.ledger).items()}
        assert found == {"2026-06-08": "extractive", "2026-06-09": "extractive", "2026-06-10": "gemini"}
        # What was extractive is written again when a person asks for it.
        more = world.compile(*DAYS, engine="gemini", again=True)
        assert [day.state for day in more.days] == ["compiled", "compiled", "unchanged"]
        assert {record.engine for _, record in articles.builds(world.program.ledger).values()} == {"gemini"}


def test_without_a_key_gemini_says_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(home, monkeypatch) as world:
        with pytest.raises(UserError) as caught:
            world.day(FULL, engine="gemini")
        assert "GEMINI_API_KEY" in caught.value.hint
        assert world.program.engines.name == "extractive"
        assert world.day(FULL).state == "compiled"


def test_what_gemini_wrote_is_never_replaced_without_a_word(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def more(n: int) -> None:
        later(
            Home(home),
            f"Why does the outbox {n} repeat mails?",
            f"The root cause is that outbox {n} marks mails as sent too early. Decision: outbox {n} marks a mail after"
            " the server took it. Lesson learned: mark work as done only after it is done, never before that.",
            name=f"f{n}",
        )
        world.program.ingest(thorough=True)
        world.program.write_up(settle_us=0)

    with opened(home, monkeypatch, server) as world:
        assert world.day(FULL, engine="gemini").state == "compiled"
    with opened(home, monkeypatch) as world:  # the key is gone
        more(1)
        before = world.files()
        failed = world.day(FULL)
        assert (failed.state, "no key for Gemini" in failed.reason) == ("failed", True)
        assert world.files() == before
        assert world.day(DAYS[0]).state == "compiled"
    with opened(
        home, monkeypatch, server, AFTERWORD_GEMINI_DAILY_TOKENS="20", AFTERWORD_GEMINI_BEYOND="extractive"
    ) as world:
        failed = world.day(FULL)
        assert (failed.state, "tokens are spent" in failed.reason) == ("failed", True)
        assert world.files().keys() >= before.keys()
    with opened(home, monkeypatch, AFTERWORD_COMPILE_ENGINE="extractive") as world:  # a person wants it so
        assert world.day(FULL).state == "compiled"
        assert {record.engine for _, record in articles.builds(world.program.ledger).values()} == {"extractive"}


@pytest.mark.parametrize(("mode", "there"), [(0o600, True), (0o400, True), (0o644, False), (0o640, False)])
def test_a_key_file_is_the_owners_alone(home: Path, monkeypatch: pytest.MonkeyPatch, mode: int, there: bool) -> None:
    path = home / ".config/afterword/gemini.key"
    path.write_text("AIza-not-a-real-one\n")
    path.chmod(mode)
    with opened(home, monkeypatch) as world:
        found = world.program.engines.found
        assert found.there is there
        assert ("chmod 600" in found.problem) is not there
        assert "AIza" not in repr(found)
        assert world.program.engines.name == ("gemini" if there else "extractive")


def test_a_night_that_failed_is_made_up_for_before_the_next(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tended(world: World) -> None:
        """As the daemon goes on when an answer came."""
        while world.program.tend().waits:
            assert came.wait(60)
            came.clear()
            world.program.take_answers()

    night = {"AFTERWORD_COMPILE_AT": "03:30"}
    came = threading.Event()
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-09T00:00:00Z") as world:
        assert world.program.engines.since() == "2026-06-09"
    server.always = "safety"
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-12T04:00:00Z", **night) as world:
        world.program.begin_in_background(came.set)
        tended(world)
        assert {day: record.engine for day, (_, record) in articles.builds(world.program.ledger).items()} == {
            DAYS[0]: "extractive"
        }
        assert not world.program.compiling.nightly_due()
    server.always = ""
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-12T04:05:00Z", **night) as world:
        assert not world.program.compiling.nightly_due()
    with opened(home, monkeypatch, server, AFTERWORD_NOW="2026-06-12T04:11:00Z", **night) as world:
        assert world.program.compiling.nightly_due()
        world.program.begin_in_background(came.set)
        tended(world)
        assert sorted(articles.builds(world.program.ledger)) == list(DAYS)
        assert not world.program.compiling.nightly_due()


# What leaves, and what comes back.


def test_no_secret_leaves_and_none_comes_in(home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-ant-" + "api03-" + "Zx9Kq2Lm8Np4Rt6Vw1Yb3Cd5Ef7Gh0Jk" * 2
    with opened(home, monkeypatch, server) as world:
        ledger = world.program.ledger
        # As if the rules had been narrower when it was stored.
        for row, facts in ledger.db.execute("SELECT row, facts FROM session").fetchall():
            said = json.loads(facts) | {"title": f"use {secret}", "title_rank": 9}
            ledger.db.execute("UPDATE session SET facts = ? WHERE row = ?", (json.dumps(said), row))
        assert world.day(FULL, engine="gemini").state == "compiled"
        assert server.asked()
        for call in server.calls:
            assert secret not in str(call.body)
            assert "[redacted:" in call.text
        rows = ledger.db.execute("SELECT request, request_packed, reply, reply_packed FROM model_call").fetchall()
        assert rows
        for row in rows:
            assert secret not in unpack(*row[:2]) + unpack(*row[2:])


def test_texts_of_calls_are_emptied_after_a_while_and_the_booking_stays(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server, AFTERWORD_COMPILE_KEEP_BUILDS="5") as world:
        world.day(DAYS[0], engine="gemini")
    with opened(
        home, monkeypatch, server, AFTERWORD_COMPILE_KEEP_BUILDS="5", AFTERWORD_NOW="2026-06-20T12:00:00Z"
    ) as world:
        world.day(DAYS[1], engine="gemini")
        rows = world.program.ledger.db.execute(
            "SELECT subject, length(request), length(reply) FROM model_call"
        ).fetchall()
        assert {(subject, bool(request), bool(reply)) for subject, request, reply in rows} == {
            (DAYS[0], False, False),
            (DAYS[1], True, True),
        }
        assert world.spent().tokens == server.tokens
