"""`forget`: what was named is in no byte of ours any more, and stays away, whatever is read, built or put back."""

import json
import random
import re
import shutil
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from decoding import assert_gone
from homes import Home
from transcripts import ClaudeSession, CodexSession

import afterword
from afterword.app import traces
from afterword.store.ledger.ledger import unpack

HISTORY = Path(afterword.__file__).parent / "demo" / "history"
NOW = {"AFTERWORD_NOW": "2026-06-11T12:00:00Z"}
UP = ("up", "--once", "--settle", "0")
EXPLAIN = ("doctor", "--fingerprint", "--explain")
WORD = "booking"


def history(path: Path, *, meaning: bool = False) -> Home:
    home = Home(path, meaning=meaning)
    shutil.copytree(HISTORY, path, dirs_exist_ok=True)
    home.run(*UP, **NOW)
    return home


def holders(home: Home, word: str = WORD) -> list[str]:
    """The files of ours that hold a word in any case: raw, and unpacked where the ledger packs texts."""
    needle = word.lower().encode()
    ours = [path for root in (home.state, home.vault) for path in sorted(root.rglob("*")) if path.is_file()]
    found = [str(path.relative_to(home.path)) for path in ours if needle in path.read_bytes().lower()]
    with closing(sqlite3.connect(home.state / "ledger.db")) as db:
        for blob, packed in db.execute("SELECT text, packed FROM item WHERE packed = 1"):
            if word.lower() in unpack(blob, packed).lower():
                found.append("a packed item")
        pending = db.execute("SELECT count(*) FROM text_pending").fetchone()[0]
    return found + ["text_pending"] * bool(pending)


def captured(home: Home) -> list[str]:
    """The lines of the fingerprint but those of articles: to an older ledger the newer notes look edited."""
    return [line for line in home.run(*EXPLAIN).stdout.splitlines() if not line.startswith("article")]


def write(home: Home, session: ClaudeSession | CodexSession) -> Path:
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))
    return path


def talk(number: int, *pairs: tuple[str, str], cwd: str = "/srv/orchard-api") -> ClaudeSession:
    made = ClaudeSession(random.Random(number), session=f"0000{number:04}-talk", cwd=cwd)
    for prompt, reply in pairs:
        made.prompt(prompt)
        made.reply(reply)
    return made


def texts(home: Home, session: str) -> list[str]:
    found = home.json("show", session, **NOW)
    return [item["text"] for item in found["messages"]]


def test_it_is_dry_by_default(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    before = home.vault_bytes()
    with closing(sqlite3.connect(home.state / "ledger.db")) as db:
        rows = list(db.iterdump())
    said = home.json("forget", "--match", WORD, **NOW)
    assert said["dry"] is True
    assert said["items"] >= 10
    assert {one["project"] for one in said["sessions"]} == {"harbor-api"}
    assert said["notes"]
    assert any(one["points_lost"] for one in said["articles"])
    plain = home.run("forget", "--match", WORD, **NOW).stdout
    assert "Say --yes" in plain
    assert home.vault_bytes() == before
    with closing(sqlite3.connect(home.state / "ledger.db")) as db:
        assert list(db.iterdump()) == rows


@pytest.mark.parametrize("words", [("forget",), ("forget", "abc", "--match", "abcd"), ("forget", "--match", "ab")])
def test_what_cannot_be_meant_is_said(tmp_path: Path, words: tuple[str, ...]) -> None:
    home = Home(tmp_path)
    write(home, talk(1, ("the first", "an answer")))
    home.run(*UP, **NOW)
    assert home.json(*words, code=2, **NOW)["error"]["kind"] == "usage"
    assert home.json("forget", "--before", "yesterday", code=2, **NOW)["error"]["kind"] == "usage"
    assert home.json("forget", "--agent", "nobody", code=2, **NOW)["error"]["kind"] == "usage"
    assert home.json("forget", "--match", "not there at all", code=3, **NOW)["error"]["kind"] == "nothing-found"
    assert home.json("forget", "x", "--also-my-text", code=2, **NOW)["error"]["kind"] == "usage"


def test_a_text_is_gone_from_every_byte_and_stays_away(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    assert len(holders(home)) >= 4
    home.run("forget", "--match", WORD, "--yes", **NOW)
    assert holders(home) == []
    wanted = home.run(*EXPLAIN).stdout
    # Read again: the same files, touched, grown, rewritten, renamed, copied; everything made anew.
    for path in sorted((home.path / ".claude/projects").rglob("*.jsonl")):
        path.write_bytes(path.read_bytes())
    home.run(*UP, **NOW)
    assert holders(home) == []
    first = next(p for p in (home.path / ".claude/projects").rglob("*.jsonl") if WORD.encode() in p.read_bytes())
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[:-1]))
    home.run(*UP, **NOW)
    first.write_bytes(b"".join(lines))
    home.run(*UP, **NOW)
    first.rename(first.with_name("another-name.jsonl"))
    home.run(*UP, **NOW)
    shutil.copyfile(first.with_name("another-name.jsonl"), first)
    for name in ("text-0.db", "index.db"):
        (home.state / name).unlink(missing_ok=True)
    home.run(*UP, **NOW)
    home.run("compile", "--all", **NOW)
    assert holders(home) == []
    assert home.run(*EXPLAIN).stdout == wanted
    assert home.json("search", WORD, code=3, **NOW)["results"] == []


def test_it_equals_a_ledger_that_knew_it_before(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    home.run("forget", "--match", WORD, "--yes", **NOW)
    fresh = Home(tmp_path / "fresh")
    shutil.copytree(HISTORY, fresh.path, dirs_exist_ok=True)
    fresh.state.mkdir(parents=True)
    shutil.copyfile(home.state / "forgotten.jsonl", fresh.state / "forgotten.jsonl")
    fresh.run(*UP, **NOW)
    assert holders(fresh) == []
    assert fresh.run(*EXPLAIN).stdout == home.run(*EXPLAIN).stdout


def test_the_file_beside_the_ledger_holds_no_text(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    home.run("forget", "--match", WORD, "--yes", **NOW)
    lines = [json.loads(line) for line in (home.state / "forgotten.jsonl").read_bytes().splitlines()]
    assert {line["kind"] for line in lines} >= {"item"}
    assert all(re.fullmatch(r"[0-9a-f]{32}|l-[0-9a-f]{12}", line["key"]) for line in lines)
    assert (home.state / "forgotten.jsonl").stat().st_mode & 0o777 == 0o600


def test_an_older_ledger_put_back_learns_it_again(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    older = (home.state / "ledger.db").read_bytes()
    home.run("forget", "--match", WORD, "--yes", **NOW)
    wanted = captured(home)
    (home.state / "ledger.db").write_bytes(older)
    home.run("ingest", **NOW)
    assert holders(home) == []
    home.run(*UP, **NOW)
    assert holders(home) == []
    assert captured(home) == wanted


def test_newer_rules_bring_nothing_back(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    home.run("forget", "--match", WORD, "--yes", **NOW)
    extra = {"AFTERWORD_REDACT_EXTRA": "(?i)berth[a-z]*"}
    home.run(*UP, **NOW, **extra)
    for path in sorted((home.path / ".claude/projects").rglob("*.jsonl")):
        shutil.copyfile(path, path.with_name(f"copy-{path.name}"))
    home.run(*UP, **NOW, **extra)
    assert holders(home) == []


def test_forgetting_yes_leaves_every_other_yes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    one = talk(1, ("Shall we use the lock file?", "I would."), ("yes", "Done, one lock file."))
    two = talk(2, ("Shall we drop the cache?", "I would."), ("yes", "The cache is dropped."))
    write(home, one)
    write(home, two)
    home.run(*UP, **NOW)
    home.run("forget", one.session, "--yes", **NOW)
    assert "yes" in texts(home, two.session)
    assert home.run("show", one.session, code=3, **NOW).returncode == 3
    three = talk(3, ("Shall we go on?", "I would."), ("yes", "On it."))
    write(home, three)
    home.run(*UP, **NOW)
    assert texts(home, three.session).count("yes") == 1


def test_a_session_refuses_what_comes_later_and_its_sub_agents(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = talk(1, ("Look at the zebramarker now", "The cause was a stale zebramarker."), cwd="/srv/zebramarker-app")
    path = write(home, made)
    home.run(*UP, **NOW)
    assert holders(home, "zebramarker")
    home.run("forget", made.session, "--yes", **NOW)
    assert holders(home, "zebramarker") == []
    made.prompt("And the zebramarker again")
    made.reply("We decided to keep the zebramarker.")
    write(home, made)
    sub = path.with_suffix("") / "subagents/agent-x1.jsonl"
    sub.parent.mkdir(parents=True)
    row = json.loads(made.lines[0]) | {"isSidechain": True, "agentId": "x1", "uuid": "sub-1"}
    row["message"] = {"role": "user", "content": "Find the zebramarker for me"}
    sub.write_text(json.dumps(row) + "\n")
    home.run(*UP, **NOW)
    home.run("ingest", **NOW)
    assert holders(home, "zebramarker") == []
    assert "zebramarker" not in home.run("status", **NOW).stdout
    assert home.json("status", **NOW)["ledger"]["sessions"] == 0


def test_project_and_day_hold_what_was_there(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = talk(1, ("The quaggamarker fails", "The cause was the quaggamarker."), cwd="/srv/quagga-app")
    other = talk(2, ("Something else fails", "The cause was a lock."), cwd="/srv/other")
    path = write(home, made)
    write(home, other)
    home.run(*UP, **NOW)
    home.run("forget", "--project", "quagga-app", "--yes", **NOW)
    assert holders(home, "quagga") == []
    assert "Something else fails" in texts(home, other.session)
    made.prompt("What is new is kept")
    path.write_bytes(b"".join(made.lines))
    home.run(*UP, **NOW)
    assert holders(home, "quagga") == []
    assert texts(home, made.session) == ["What is new is kept"]
    assert "What is new is kept" in home.daily()


def test_what_came_before_a_day(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    home.run("forget", "--before", "2026-06-09", "--yes", **NOW)
    home.run(*UP, **NOW)
    found = home.json("search", "export", **NOW)["results"]
    assert all(one["time"] is None or one["time"] >= "2026-06-09" for one in found if one["kind"] == "message")
    note = (home.vault / "daily/2026-06-08.md").read_text()
    assert "### Session" not in note
    assert "forgotten %%" in note
    assert "### Session" in (home.vault / "daily/2026-06-10.md").read_text()
    links = home.run("lint", code=None, **NOW)
    assert "broken" not in links.stdout.lower() or "0 broken" in links.stdout.lower(), links.stdout


def test_an_agent(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    home.run("forget", "--agent", "codex", "--yes", **NOW)
    home.run(*UP, **NOW)
    by_harness = {one["harness"]: one["messages"] for one in home.json("sources", **NOW)["sources"]}
    assert by_harness["codex"] == 0
    assert by_harness["claude-code"] > 0


def test_the_rest_of_a_session_is_written_up_anew(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = talk(
        1,
        ("Why does the export fail?", "The cause was a shared folder; we decided on a folder for each job."),
        ("Do not tell anybody of gnumarker", "The lesson is that gnumarker is secret."),
    )
    write(home, made)
    home.run(*UP, **NOW)
    assert "gnumarker" in home.daily()
    home.run("forget", "--match", "gnumarker", "--yes", **NOW)
    assert holders(home, "gnumarker") == []
    daily = home.daily()
    assert daily.count("forgotten %%") == 1
    assert "a folder for each job" in daily
    assert texts(home, made.session)[0] == "Why does the export fail?"


def test_what_a_person_wrote_is_listed_and_stays(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    mine = b"My own line about bookings.\n"
    daily = next(p for p in sorted((home.vault / "daily").glob("*.md")) if WORD.encode() in p.read_bytes().lower())
    note = daily.read_bytes()
    at = note.index(b"**Key Exchanges:**") if b"**Key Exchanges:**" in note else note.index(b"%% /afterword")
    daily.write_bytes(note[:at] + b"- a point of mine, bookings too\n" * 0 + note[at:] + b"\n## Mine\n\n" + mine)
    loose = home.vault / "bookings.md"
    loose.write_bytes(b"first\n" + mine)
    home.run(*UP, **NOW)
    listed = home.json("forget", "--match", WORD, **NOW)["your_text"]
    assert {"path": "bookings.md", "line": 2} in listed
    assert len(listed) == 2
    said = home.json("forget", "--match", WORD, "--yes", **NOW)
    assert said["left"] == []
    assert loose.read_bytes() == b"first\n" + mine
    assert daily.read_bytes().endswith(b"\n## Mine\n\n" + mine) or mine in daily.read_bytes()
    names = sorted(str(path.relative_to(home.path)) for path in (daily, loose))
    assert sorted(name for name in holders(home) if name.startswith("Afterword")) == names
    assert [name for name in holders(home) if not name.startswith("Afterword")] == []


def test_also_my_text(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    loose = home.vault / "mine.md"
    loose.write_bytes(b"A line about Bookings and more.\r\nAnother.\r\n")
    home.run("forget", "--match", WORD, "--yes", "--also-my-text", **NOW)
    assert loose.read_bytes() == b"A line about [forgotten]s and more.\r\nAnother.\r\n"
    assert holders(home) == []


def test_what_a_person_wrote_into_an_article_stays_when_it_goes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    one = talk(
        1,
        ("Why does the tapirmarker export fail?", "The root cause was the tapirmarker: two jobs share one folder."),
        ("What do we do about it?", "Decision: every job of the tapirmarker export gets a folder of its own."),
        ("And what did we learn?", "Lesson learned: a fixed tapirmarker path is a race between two jobs."),
        ("Is the tapirmarker build green?", "Decision: the tapirmarker build runs twice a night from now on."),
    )
    write(home, one)
    home.run(*UP, AFTERWORD_COMPILE_MIN_WORDS="5", **NOW)
    made = sorted((home.vault / "knowledge/concepts").glob("*.md"))
    assert made
    mine = "\n## My notes\n\nI asked Ada about this.\n"
    for path in made:
        path.write_text(path.read_text() + mine)
    home.run(*UP, AFTERWORD_COMPILE_MIN_WORDS="5", **NOW)
    home.run("forget", one.session, "--yes", **NOW)
    assert [name for name in holders(home, "tapirmarker") if "concepts" not in name] == []
    left = sorted((home.vault / "knowledge/concepts").glob("*.md"))
    for path in left:
        said = path.read_text()
        assert said.endswith(mine)
        assert "tapirmarker" not in said
        assert "uid:" not in said
    assert len(left) == len(made)
    assert_gone(home, "tapirmarker")
    assert "tapirmarker" not in (home.vault / "knowledge/index.md").read_text()
    assert "tapirmarker" not in (home.vault / "knowledge/log.md").read_text()
    before = home.vault_bytes()
    home.run(*UP, AFTERWORD_COMPILE_MIN_WORDS="5", **NOW)
    assert home.vault_bytes() == before


def test_also_my_text_where_only_i_wrote_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    write(home, talk(1, ("Why does the export fail?", "The cause was a lock; we decided to wait for the lock.")))
    home.run(*UP, **NOW)
    path = next((home.vault / "daily").glob("*.md"))
    note = path.read_text()
    end = note.index("%% /afterword")
    path.write_text(f"{note[:end]}**Lessons Learned:**\n- Never lend the axolotlmarker to anybody.\n\n{note[end:]}")
    home.run(*UP, **NOW)
    assert "Afterword/daily" in "".join(holders(home, "axolotlmarker"))
    assert any("ledger" in name for name in holders(home, "axolotlmarker"))
    listed = home.json("forget", "--match", "axolotlmarker", **NOW)
    assert listed["items"] == 0
    assert len(listed["your_text"]) == 1
    home.run("forget", "--match", "axolotlmarker", "--yes", code=1, **NOW)
    assert "axolotlmarker" in path.read_text()
    home.run("forget", "--match", "axolotlmarker", "--yes", "--also-my-text", **NOW)
    assert "- Never lend the [forgotten] to anybody." in path.read_text()
    assert_gone(home, "axolotlmarker")
    home.run(*UP, **NOW)
    assert_gone(home, "axolotlmarker")


def test_the_reason_of_a_retraction_is_a_persons_text(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    path = next(iter(sorted((home.vault / "knowledge/concepts").glob("*.md"))))
    said = ("--reason", "the quokkamarker was wrong", "--replacement", "the new quokkamarker", "--yes")
    home.run("retract", path.relative_to(home.vault).as_posix(), *said, **NOW)
    listed = home.json("forget", "--match", "quokkamarker", **NOW)["your_text"]
    lines = path.read_text().splitlines()
    assert [lines[row["line"] - 1].partition(":")[0] for row in listed] == ["retract_reason", "replaced_by"]
    home.run("forget", "--match", "quokkamarker", "--yes", "--also-my-text", **NOW)
    assert_gone(home, "quokkamarker")
    assert 'retract_reason: "the [forgotten] was wrong"' in path.read_text()
    home.run(*UP, **NOW)
    assert_gone(home, "quokkamarker")
    assert "status: retracted" in path.read_text()


def test_what_is_struck_out_of_an_article_leaves_the_catalogue(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    path = next(iter(sorted((home.vault / "knowledge/concepts").glob("*.md"))))
    path.write_text(path.read_text().replace("## Key Points\n", "## Key Points\n- The dodomarker is mine.\n", 1))
    home.run(*UP, **NOW)
    assert "dodomarker" in (home.vault / "knowledge/index.md").read_text()
    home.run("forget", "--match", "dodomarker", "--yes", "--also-my-text", **NOW)
    assert_gone(home, "dodomarker")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_an_accent_is_one_however_it_is_spelled(tmp_path: Path, form: Literal["NFC", "NFD"]) -> None:
    word = "größenmodul"
    other = "NFD" if form == "NFC" else "NFC"
    home = Home(tmp_path)
    write(home, talk(1, (f"Look at the {unicodedata.normalize(other, word)} please", "We decided to keep it.")))
    home.run(*UP, **NOW)
    mine = home.vault / "mine.md"
    mine.write_text(f"My {unicodedata.normalize(other, word)} line\n")
    found = home.json("forget", "--match", unicodedata.normalize(form, word), **NOW)
    assert found["items"] == 1
    assert found["your_text"] == [{"path": "mine.md", "line": 1}]
    home.run("forget", "--match", unicodedata.normalize(form, word), "--yes", "--also-my-text", **NOW)
    assert mine.read_text() == "My [forgotten] line\n"
    assert holders(home, unicodedata.normalize(other, word)) == []


@pytest.mark.parametrize("word", ["zeb", "claude"])
def test_bytes_that_are_so_by_chance_or_ours_are_no_rest(tmp_path: Path, word: str) -> None:
    home = history(tmp_path / "home")
    write(home, talk(1, ("Look at the zebra and the claude please", "We decided to keep it.")))
    home.run(*UP, **NOW)
    (home.state / "packed-zEb-by-chance").write_bytes(b"\x00zEb\x01")
    assert home.json("forget", "--match", word, "--yes", **NOW)["left"] == []


def test_a_note_saved_since_it_was_looked_at_is_not_struck(tmp_path: Path) -> None:
    def find(line: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer("emu", line)]

    for name, now in (("shorter", "one\n"), ("moved", "new\none\nthe emu\n"), ("gone", None)):
        path = tmp_path / f"{name}.md"
        found = [traces.Line(path.name, 2, ((4, 7),))]
        if now is not None:
            path.write_text(now)
        assert traces.strike(tmp_path, found, find) == found
        assert now is None or path.read_text() == now


def test_a_title_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = talk(
        1,
        ("Why does the export fail?", "The root cause was a lock: two jobs share one folder in the build."),
        ("What do we do?", "Decision: every job of the export gets a folder of its own from now on."),
        ("And what did we learn?", "Lesson learned: a fixed path under /tmp is a race between two jobs."),
    )
    title = {"type": "ai-title", "sessionId": made.session, "aiTitle": "About the narwhalmarker export"}
    made.lines.append(json.dumps(title).encode() + b"\n")
    path = write(home, made)
    plenty = {"AFTERWORD_COMPILE_MIN_WORDS": "5"}
    home.run(*UP, **NOW, **plenty)
    assert home.json("show", made.session, **NOW)["session"]["title"] == "About the narwhalmarker export"
    home.run("forget", "--match", "narwhalmarker", "--yes", **NOW, **plenty)
    assert_gone(home, "narwhalmarker")
    made.prompt("Go on then")
    path.write_bytes(b"".join([*made.lines, json.dumps(title).encode() + b"\n"]))
    home.run(*UP, **NOW, **plenty)
    assert_gone(home, "narwhalmarker")
    assert len(texts(home, made.session)) == 7
    assert "a folder of its own" in home.daily()


def test_a_growing_copy_under_new_ids_does_not_grow_into_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    long = (
        "The ibexmarker is what makes the export fail whenever two jobs of one build run at the same time on a runner."
    )
    write(home, talk(1, ("Why does it fail?", long)))
    home.run(*UP, **NOW)
    home.run("forget", "--match", "ibexmarker", "--yes", **NOW)
    copy = talk(2, ("Why does it fail, once more?", "x"))
    answer = json.loads(copy.lines.pop())
    lines = []
    for end in (3, 40, len(long)):
        answer["message"]["content"] = [{"type": "text", "text": long[:end]}]
        answer["uuid"] = f"growing-{end}"
        lines.append(json.dumps(answer).encode() + b"\n")
    path = copy.path(home.path)
    path.write_bytes(b"".join(copy.lines) + lines[0])
    home.run("ingest", **NOW)
    path.write_bytes(b"".join(copy.lines) + b"".join(lines))
    home.run(*UP, **NOW)
    home.run(*UP, **NOW)
    assert_gone(home, "ibexmarker")
    assert texts(home, copy.session) == ["Why does it fail, once more?"]


def test_a_persons_lines_inside_a_section_stay(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = talk(1, ("Look at the okapimarker", "The cause was the okapimarker; we decided to wait."))
    write(home, made)
    home.run(*UP, **NOW)
    path = next((home.vault / "daily").glob("*.md"))
    note = path.read_text()
    end = note.index("%% /afterword")
    added = "- my own point\n  that goes on\n\n| a | table |\n|---|---|\n\n"
    path.write_text(note[:end] + added + note[end:])
    home.run("forget", made.session, "--yes", **NOW)
    after = path.read_text()
    assert holders(home, "okapimarker") == []
    for line in added.splitlines():
        assert line in after
    home.run(*UP, **NOW)
    assert path.read_text() == after


def test_beside_a_running_daemon(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    with home.daemon(AFTERWORD_CAPTURE_SWEEP="1h", **NOW):
        said = home.json("forget", "--match", WORD, "--yes", **NOW)
        assert said["left"] == []
        assert home.json("search", WORD, code=3, **NOW)["results"] == []
        assert holders(home) == []
    home.run(*UP, **NOW)
    assert holders(home) == []


def test_the_index_holds_nothing_of_it(tmp_path: Path) -> None:
    home = history(tmp_path / "home", meaning=True)
    assert any("chroma" in name for name in holders(home))
    home.run("forget", "--match", WORD, "--yes", **NOW)
    assert holders(home) == []
    assert home.json("status", **NOW)["index"]["semantic"] == "ready"
    found = home.json("search", "why do jobs that run at once fail", **NOW)["results"]
    assert found
    assert WORD not in json.dumps(found).lower()


def test_backups_that_hold_it_are_named_and_pruned(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    folder = home.state / "backups"
    folder.mkdir()
    backup(home, folder / "before.db")
    said: dict[str, Any] = home.json("forget", "--match", WORD, "--yes", code=1, **NOW)
    assert said["backups"] == [str(folder / "before.db")]
    home.run("forget", "--match", "berth", "--yes", "--prune-backups", **NOW)
    assert not list(folder.iterdir())
    assert holders(home) == []


def test_a_backup_that_is_restored_brings_nothing_back(tmp_path: Path) -> None:
    home = history(tmp_path / "home")
    path = tmp_path / "elsewhere.db.zst"
    home.run("backup", str(path), **NOW)
    said = home.json("forget", "--match", WORD, "--yes", code=1, **NOW)
    assert said["backups"] == [str(path)]
    home.run("restore", str(path), "--yes", **NOW)
    assert holders(home) == []
    home.run(*UP, **NOW)
    assert holders(home) == []
    assert home.json("search", WORD, code=3, **NOW)["results"] == []


def backup(home: Home, to: Path) -> None:
    with closing(sqlite3.connect(home.state / "ledger.db")) as db, closing(sqlite3.connect(to)) as copy:
        db.backup(copy)
