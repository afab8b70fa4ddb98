"""Written anew on demand, and looked into: `compile --redo`, `explain`; and what people do while the model thinks."""

import io
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gemini_server import Call, GeminiServer
from gemini_world import DAYS, NOW, World, opened, settled_home
from homes import Home

from afterword.app import passes
from afterword.app.provenance import days_of, find
from afterword.cli.output import say_diff
from afterword.domain.articles import Current
from afterword.domain.errors import NothingFound, UsageError
from afterword.serve.jobs import Lines, Runner
from afterword.store.ledger import articles, jobs, model_calls

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
    with opened(home, monkeypatch, server) as made:
        made.compile(*DAYS, engine="gemini")
        yield made


def some_of(world: World, day: str) -> Current:
    """An article of this day alone."""
    ledger = world.program.ledger
    return next(each for each in articles.current(ledger) if each.live and days_of(ledger, each) == [day])


def redo(world: World, what: str, **more: Any) -> dict[str, Any]:
    asked = passes.CompileDays(redo=what, upto=model_calls.newest(world.program.ledger), **more)
    return passes.compile_days(world.program, asked, lambda *_: None, lambda: False)


def test_redo_asks_anew_about_the_articles_days_and_no_other(world: World, server: GeminiServer) -> None:
    article = some_of(world, FULL)
    before, asked = world.state(), len(server.calls)
    same = redo(world, article.uid)
    assert [(day["note"], day["state"]) for day in same["days"]] == [(f"daily/{FULL}.md", "compiled")]
    assert len(server.calls) == asked + 1
    assert all(FULL in call.text for call in server.calls[asked:])
    assert world.state() == before  # it said the same again
    # What it says now is kept in place of what it said before, and asked for no more.
    world.compile(*DAYS, again=True, engine="gemini")
    assert len(server.calls) == asked + 1
    assert server.tokens == world.spent().tokens


def test_a_redo_that_fails_leaves_everything_as_it_was(world: World, server: GeminiServer) -> None:
    article = some_of(world, FULL)
    before = world.state()
    server.always = "safety"
    failed = redo(world, article.article.title)
    assert [day["state"] for day in failed["days"]] == ["failed"]
    assert world.state() == before
    server.always = ""
    assert world.compile(*world.program.compiling.days()).days == ()  # what stands is not due


def test_redo_by_the_other_engine_and_as_a_diff(world: World, server: GeminiServer) -> None:
    article = some_of(world, FULL)
    before, asked = world.files(), len(server.calls)
    look = redo(world, article.uid, engine="extractive", dry=True)
    assert look["diff"].startswith("--- ")
    assert "\n+++ knowledge/" in look["diff"]
    assert "\n+engine: extractive" in look["diff"] or "+engine: extractive" in look["diff"]
    assert (world.files(), len(server.calls)) == (before, asked)
    # It says of every file what becomes of it: made, changed, taken away.
    named = re.findall(r"^--- (\S+)\n\+\+\+ (\S+)$", look["diff"], re.MULTILINE)
    redo(world, article.uid, engine="extractive")
    after = world.files()
    notes = {
        name for name in {*before, *after} if re.match("knowledge/con", name) and before.get(name) != after.get(name)
    }
    assert {name for pair in named for name in pair} - {"/dev/null"} == notes
    assert {old for old, new in named if new == "/dev/null"} == {name for name in notes if name not in after}
    assert {new for old, new in named if old == "/dev/null"} == {name for name in notes if name not in before}
    assert articles.builds(world.program.ledger)[FULL][1].engine == "extractive"
    assert len(server.calls) == asked


def test_a_diff_is_in_colours_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown: list[str] = []
    monkeypatch.delenv("NO_COLOR", raising=False)
    for out in (Screen(), io.StringIO(), Screen()):
        monkeypatch.setattr(sys, "stdout", out)
        say_diff("@@ -1 +1 @@\n-old\n+new \x1b[2J\n same")
        shown.append(out.getvalue())
        monkeypatch.setenv("NO_COLOR", "1")
    plain = "@@ -1 +1 @@\n-old\n+new \ufffd[2J\n same\n"
    assert shown[1:] == [plain, plain]
    assert "\x1b[31m-old\x1b[0m\n\x1b[32m+new \ufffd[2J\x1b[0m\n same\n" in shown[0]


def test_a_redo_in_the_daemon_asks_once(home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    came = threading.Event()
    with opened(home, monkeypatch, server) as world:
        world.compile(*DAYS, engine="gemini")
        program, asked = world.program, len(server.calls)
        before = world.state()
        program.begin_in_background(came.set)
        runner = Runner(program, Lines(), lambda: False)
        given = {"redo": some_of(world, FULL).uid, "upto": model_calls.newest(program.ledger)}
        job = jobs.submit(program.ledger, "compile", program.redactor.document(given), program.clock())
        for _ in range(20):
            runner.step()
            ended = jobs.get(program.ledger, job)
            assert ended is not None
            if ended.state in ("done", "failed"):
                break
            assert came.wait(60)
            came.clear()
            program.take_answers()
            runner.answered()
        assert (ended.state, ended.error) == ("done", "")
        assert len(server.calls) == asked + 1
        assert world.state() == before


def test_an_article_is_found_by_what_people_call_it(world: World) -> None:
    ledger = world.program.ledger
    each = some_of(world, FULL)
    path = f"knowledge/concepts/{each.article.slug}.md"
    for name in (each.uid, each.uid[:8], each.article.title, each.article.title.upper(), each.article.slug, path):
        assert find(ledger, name).uid == each.uid
    assert find(ledger, path.removesuffix(".md")).uid == each.uid
    with pytest.raises(NothingFound):
        find(ledger, "nothing is called this")
    with pytest.raises((NothingFound, UsageError)):
        find(ledger, "a-")


def test_explain_says_where_an_article_comes_from(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server) as world:
        world.compile(*DAYS[:2])
        world.day(FULL, engine="gemini")
        theirs, ours = some_of(world, FULL), some_of(world, DAYS[0])
        spent = world.spent()
    outside = Home(home)
    outside.env |= {"AFTERWORD_NOW": NOW}
    found = outside.json("explain", theirs.uid, "--texts")
    [build] = found["builds"]
    assert (build["day"], build["engine"]) == (FULL, "gemini")
    [call] = build["calls"]
    assert (call["model"], call["prompt_version"], call["state"], call["at"]) == (
        "gemini-3.8-flash", 1, "answered", "2026-06-11T12:00:00Z",
    )  # fmt: skip
    # Whether two articles are one was asked as well: of the two, not of this one.
    assert 0 < call["tokens_in"] < spent.tokens_in
    assert 0 < call["tokens_out"] < spent.tokens_out
    assert server.asked()[0].text in call["request"]
    assert theirs.article.points[0].quote in call["reply"]
    assert {section["key"] for section in found["sections"]} == set(theirs.article.sections)
    assert all(section["standing"] and section["path"] for section in found["sections"])
    assert [point["quote"] for point in found["points"]] == [claim.quote for claim in theirs.article.points]
    assert "request" not in outside.json("explain", theirs.uid)["builds"][0]["calls"][0]
    said = outside.run("explain", theirs.uid).stdout
    for word in (
        theirs.uid,
        "gemini-3.8-flash",
        "prompt 1",
        f"{call['tokens_in'] + call['tokens_out']:,} tokens",
        theirs.article.points[0].quote,
    ):
        assert word in said
    mine = outside.json("explain", ours.uid)
    assert [(build["engine"], build["calls"]) for build in mine["builds"]] == [("extractive", [])]
    assert mine["cost"]["calls"] == 0
    assert outside.json("explain", "no such thing", code=3)["error"]["kind"] == "nothing-found"


def test_texts_are_kept_as_long_as_the_settings_say_and_no_longer(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server) as world:
        world.day(FULL, engine="gemini")
        uid = some_of(world, FULL).uid
    # No further call is made, and still the night empties them.
    with opened(home, monkeypatch, AFTERWORD_NOW="2026-07-20T04:00:00Z") as world:
        while world.program.tend().more:
            pass
    call = Home(home).json("explain", uid, "--texts")["builds"][0]["calls"][0]
    assert (call["kept"], call["request"], call["reply"]) == (False, None, None)
    assert call["tokens_in"] > 0


def test_what_is_forgotten_is_in_no_kept_question_or_answer(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, monkeypatch, server) as world:
        world.compile(*DAYS, engine="gemini")
        each = some_of(world, FULL)
        quote = each.article.points[0].quote
    outside = Home(home)
    outside.run("forget", "--match", quote, "--yes")
    with opened(home, monkeypatch) as world:
        for day in DAYS:
            for call in model_calls.about(world.program.ledger, "compile", day):
                assert (call.request, call.reply) == ("", "")


# While the model thinks.


def test_what_a_person_writes_into_a_section_meanwhile_is_not_lost(
    home: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "The harbour master wants the export before six, every single day."
    note = home / "Afterword/daily" / f"{FULL}.md"

    def write(_call: Call) -> None:
        server.meanwhile = lambda _call: None
        text = note.read_text()
        at = text.index("**Lessons Learned:**\n") + len("**Lessons Learned:**\n")
        note.write_text(f"{text[:at]}- {said}\n{text[at:]}")

    server.meanwhile = write
    with opened(home, monkeypatch, server) as world:
        assert world.day(FULL, engine="gemini").state == "compiled"
        assert said not in server.asked()[0].text
        asked = len(server.calls)
        assert world.program.compiling.days() == [*DAYS[:2], FULL]  # what was sent is older than the note
        assert world.day(FULL).state == "compiled"
        # Only the section they wrote into is sent again.
        assert [said in call.text for call in server.calls[asked:]] == [True] * (len(server.calls) - asked)
        assert {len(call.sections) for call in server.asked()[1:]} == {1}
        assert said in note.read_text()
        assert world.program.compiling.days() == list(DAYS[:2])


def test_what_a_person_writes_into_an_article_meanwhile_stays_byte_for_byte(world: World, server: GeminiServer) -> None:
    each = some_of(world, FULL)
    path = world.home / "Afterword/knowledge/concepts" / f"{each.article.slug}.md"
    mine = "- Mine alone: the berth is paid in advance.\n"

    def write(_call: Call) -> None:
        server.meanwhile = lambda _call: None
        head, points, rest = path.read_text().partition("## Key Points\n")
        path.write_text(head + points + mine + rest + "\n## Notes\n\nkept\n")

    for behaviour in ("", "2-articles"):
        server.meanwhile = write if not behaviour else server.meanwhile
        server.always = behaviour
        redo(world, each.uid)
        assert mine in path.read_text()
        assert path.read_text().endswith("## Notes\n\nkept\n")
        world.program.compiling.run([])
        assert mine in path.read_text()
        assert "edited: true" in path.read_text()
