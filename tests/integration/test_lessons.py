"""Lessons from where they are learned to what agents load, in one vault."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from homes import Home
from lessons import Notebook
from transcripts import ClaudeSession

from afterword.app import retract as retracting
from afterword.app.passes import WriteUp, write_up
from afterword.app.retract import Retract, Undo
from afterword.domain.errors import UsageError, UserError
from afterword.domain.registers import Rank
from afterword.memory.agent_file import BUDGET_BYTES
from afterword.store import faults, files
from afterword.store.ledger import compile_on, registers
from afterword.store.ledger.ledger import RecordKind


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    made = Notebook(tmp_path)
    made.make_vault()
    return made


def saved(path: Path, text: str) -> None:
    """Somebody saves a note, an hour after we wrote it."""
    at = path.stat().st_mtime + 3600
    path.write_text(text)
    os.utime(path, (at, at))


def quiet(*_words: object) -> None:
    """Nobody looks."""


def test_learn_needs_neither_vault_nor_ledger(tmp_path: Path) -> None:
    book = Notebook(tmp_path)
    uid = book.learn("The NAS runs fnos")
    (waiting,) = (tmp_path / "state/lessons").glob("*.md")
    assert uid.removeprefix("l-") in waiting.name
    assert not (tmp_path / "state/ledger.db").exists()
    assert waiting.stat().st_mode & 0o777 == 0o600
    book.make_vault()
    assert book.distil().seen.new == 1
    assert not waiting.exists()
    assert [uid in text for text in book.files("journal").values()] == [True]
    assert "The NAS runs fnos" in book.files("agents")["claude.md"]


def test_the_same_journal_gives_the_same_bytes(book: Notebook) -> None:
    for n in range(30):
        book.learn(f"Step number {n} of the release needs approval by team-{n}", topic="release")
    book.distil()
    before = book.bytes()
    stats = {path: path.stat().st_mtime_ns for path in (book.vault / "lessons").rglob("*.md")}
    for _ in range(2):
        done = book.distil()
        assert (done.files, done.folded.placed if done.folded else None) == (0, 0)
    assert book.bytes() == before
    assert {path: path.stat().st_mtime_ns for path in (book.vault / "lessons").rglob("*.md")} == stats


def test_what_says_the_same_is_one_fact_however_many_said_it(book: Notebook) -> None:
    for agent in ("claude", "codex", "gemini"):
        book.learn("The upload test needs the redis container to be running", by=agent, topic="testing")
    book.distil()
    assert book.facts() == {"The upload test needs the redis container to be running": "active"}
    assert book.told().count("redis container") == 2  # the topic, and one agent's file
    assert len(book.files("journal")) == 3


def test_of_two_that_cannot_both_hold_the_newer_stands_and_the_loser_is_listed(book: Notebook) -> None:
    book.learn("The NAS is Synology", topic="nas")
    book.learn("The NAS runs fnos, not Synology", topic="nas")
    book.distil()
    assert book.facts() == {"The NAS is Synology": "superseded", "The NAS runs fnos, not Synology": "active"}
    topic = book.files("topics")["nas.md"]
    facts, _, lost = topic.partition("## No longer held")
    assert "fnos" in facts
    assert "The NAS is Synology" not in facts
    assert "~~The NAS is Synology~~" in lost
    assert "The NAS is Synology" not in book.files("agents")["claude.md"]
    # Whoever says the older one again, later, is believed.
    book.learn("The NAS is Synology", topic="nas")
    book.distil()
    assert book.facts() == {"The NAS is Synology": "active", "The NAS runs fnos, not Synology": "superseded"}


def test_a_lesson_names_what_it_takes_the_place_of(book: Notebook) -> None:
    uid = book.learn("Deploy with the old script")
    book.distil()
    fact = book.fact_id("old script")
    book.learn("Deploy through the pipeline alone", supersedes=(fact[:8],))
    book.learn("The pipeline needs an approval", supersedes=(uid,))
    book.distil()
    assert book.facts()["Deploy with the old script"] == "superseded"
    book.learn("Deploy with the old script")
    book.distil()
    assert book.facts()["Deploy with the old script"] == "superseded", "what somebody replaced on purpose stays so"
    with pytest.raises(UsageError):
        book.learn("x y z", supersedes=("the-old-one",))


def test_a_fact_concerns_whom_it_is_for(book: Notebook) -> None:
    book.learn("Claude must ask before it deletes a branch", only_agents=("claude-code",), topic="git")
    book.learn("Codex runs in a sandbox without network", only_agents=("codex",), topic="sandbox")
    book.learn("The tunnel to staging listens on port 8022", kind="local-fact", topic="staging")
    book.learn("Raising the timeout did not cure the flaky test", kind="dead-end", project="api", everywhere=False)
    book.distil()
    agents = book.files("agents")
    assert sorted(agents) == ["claude.md", "codex.md"]
    assert "asks before" not in agents["codex.md"]
    assert "deletes a branch" not in agents["codex.md"]
    assert "deletes a branch" in agents["claude.md"]
    assert "sandbox without network" in agents["codex.md"]
    for text in agents.values():
        assert "## On this machine\n\n- The tunnel to staging" in text
        assert re.search(r"## Tried, and does not work\n\n- Raising the timeout .* \(api\) \^f-", text)


def test_what_another_machine_found_of_itself_is_not_told_here(tmp_path: Path) -> None:
    book = Notebook(tmp_path)
    book.make_vault()
    (book.vault / "lessons/journal").mkdir(parents=True, exist_ok=True)
    (book.vault / "lessons/journal/other.md").write_text(
        "---\nkind: local-fact\nmachine: attic\ntopic: ports\n---\nPort 8022 is the tunnel\n"
    )
    book.distil()
    assert "on attic" in book.files("topics")["ports.md"]
    assert "Port 8022" not in book.files("agents")["claude.md"]


def test_an_agents_file_keeps_its_budget_and_says_what_is_left_out(book: Notebook) -> None:
    pinned = book.learn("The oldest fact of all is pinned: never force-push", pinned=True, topic="git")
    for n in range(250):
        book.now_us += 1_000_000
        tail = "y" * (n % 7) * 20
        book.learn(f"Service svc-{n} keeps its secrets in vault path team/{n}/{tail}", topic=f"topic-{n % 9}")
    book.distil()
    text = book.files("agents")["claude.md"]
    assert text.count("\n") <= 200
    assert len(text.encode()) <= BUDGET_BYTES
    assert "never force-push" in text
    assert pinned.replace("l-", "f-") in text
    assert "svc-249 " in text
    assert "svc-0 " not in text
    shown = len(re.findall(r" \^f-", text))
    found = re.search(r"_(\d+) more facts are left out here: \[\[lessons/topics/topic-\d", text)
    assert found
    assert int(found[1]) + shown == 251
    assert len(set(re.findall(r"\^(f-[0-9a-f]{12})", "".join(book.files("topics").values())))) == 251


def test_bad_files_are_named_and_left(book: Notebook) -> None:
    folder = book.vault / "lessons/journal"
    folder.mkdir(parents=True, exist_ok=True)
    bad = {
        "kind.md": b"---\nkind: opinion\n---\nA thing.\n",
        "yaml.md": b"---\nkind: [\n---\nA thing.\n",
        "binary.md": b"\xff\xfe\x00",
        "empty.md": b"\n\n",
        "large.md": b"x" * 70_000,
        "copy.md": b"---\nuid: l-0123456789ab\n---\nTwice.\n",
    }
    for name, data in bad.items():
        (folder / name).write_bytes(data)
    (folder / "good.md").write_text("---\nuid: l-0123456789ab\n---\nOnce and well.\n")
    (folder / "link.md").symlink_to(folder / "good.md")
    (folder / "note.txt").write_text("not looked at")
    with book.program() as program:
        program.lessons.distil()
        named = {Path(name).name: problem for name, problem in program.lessons.journal.bad.items()}
    # Of two with one uid the first by name is it.
    assert named.keys() == {"kind.md", "yaml.md", "binary.md", "empty.md", "large.md", "good.md", "link.md"}
    assert "opinion" in named["kind.md"]
    for name, data in bad.items():
        assert (folder / name).read_bytes() == data
    assert book.facts() == {"Twice.": "active"}
    (folder / "kind.md").write_text("---\nkind: dead-end\n---\nA thing that does not work.\n")
    book.distil()
    assert book.facts()["A thing that does not work."] == "active"


def test_what_a_person_does_to_entries_is_taken_in(book: Notebook) -> None:
    book.learn("Alpha runs on port 1111 of the gateway", topic="gateway")
    book.learn("Beta needs the feature flag CANARY_ON", topic="flags")
    book.distil()
    by_text = {text.rstrip().rpartition("\n")[2]: name for name, text in book.files("journal").items()}
    alpha, beta = sorted(by_text.items())
    folder = book.vault / "lessons/journal"
    old = (folder / alpha[1]).read_text()
    (folder / alpha[1]).write_text(old.replace("port 1111", "port 2222"))
    old = (folder / beta[1]).read_text()
    (folder / beta[1]).write_text(old.replace("status: active", "status: retracted\nretract_reason: the flag is gone"))
    book.distil()
    assert book.facts() == {
        "Alpha runs on port 2222 of the gateway": "active", "Beta needs the feature flag CANARY_ON": "retracted",
    }  # fmt: skip
    assert "CANARY_ON" not in book.told()
    assert "the flag is gone" in book.files("topics")["flags.md"]
    (folder / alpha[1]).unlink()
    with book.program() as program:
        program.lessons.take_in()
        assert program.lessons.take_in()[0].gone == 1
    book.distil()
    assert "port 2222" not in book.told()
    (folder / beta[1]).write_text((folder / beta[1]).read_text().replace("status: retracted", "status: active"))
    book.distil()
    assert "CANARY_ON" in book.told()


def test_a_journal_that_vanishes_is_no_deletion(book: Notebook) -> None:
    for n in range(8):
        book.learn(f"Fact number {n} about server-{n}", topic="servers")
    book.distil()
    before = book.bytes()
    folder = book.vault / "lessons/journal"
    folder.rename(book.home / "away")
    with book.program() as program:
        for _ in range(3):
            seen = program.lessons.take_in()[0]
            assert (seen.gone, seen.question) == (0, 8)
        program.lessons.render()
    assert all(status == "active" for status in book.facts().values())
    if folder.exists():
        assert not list(folder.glob("*.md"))
        folder.rmdir()
    (book.home / "away").rename(folder)
    book.distil()
    assert book.bytes() == before


def test_an_agents_edit_of_its_file_is_neither_lost_nor_obeyed(book: Notebook) -> None:
    book.learn("The NAS runs fnos", topic="nas")
    book.learn("Use uv for this repo, always", topic="python")
    book.distil()
    path = book.vault / "lessons/agents/claude.md"
    made = path.read_bytes()
    path.write_bytes(made + b"\n- The printer lives on 10.0.0.9\n\nA paragraph that an agent wrote\nover two lines.\n")
    done = book.distil()
    assert done.taken.entries == 2
    text = path.read_text()
    assert text.count("The printer lives on 10.0.0.9") == 1
    assert "A paragraph that an agent wrote over two lines." in text
    entry = next(text for text in book.files("journal").values() if "printer" in text)
    assert "source: edit" in entry
    assert 'by: "claude"' in entry
    # Emptied by a stale session: nothing is lost, and that somebody did it is on record.
    before = path.read_bytes()
    saved(path, "- only this\n")
    done = book.distil()
    assert set(before.splitlines()) <= set(path.read_bytes().splitlines())
    drafts = [text for text in book.files("journal").values() if "status: draft" in text]
    assert len(drafts) == 1
    assert "4 facts were taken out of the file of claude by hand" in drafts[0]
    saved(path, path.read_text().replace("- The NAS runs fnos ^", "- "))
    book.distil()
    drafts = [text for text in book.files("journal").values() if "status: draft" in text]
    assert sum("Taken out of the file of claude by hand: The NAS runs fnos" in text for text in drafts) == 1
    kept = book.bytes()
    book.distil()
    assert book.bytes() == kept


def test_six_copies_of_a_wrong_line_are_corrected_once(book: Notebook) -> None:
    names = ["claude", "codex", "cursor", "gemini", "opencode", "qwen"]
    folder = book.vault / "lessons/agents"
    folder.mkdir(parents=True, exist_ok=True)
    for n, name in enumerate(names):
        (folder / f"{name}.md").write_text(
            f"# Memory of {name}\n\n- The NAS is a Synology DS920\n- {name} likes short answers, number {n}\n"
        )
    book.distil()
    # What was there is kept aside, whole, and lives on as one fact.
    assert sorted(path.stem for path in (folder / "before").glob("*.md")) == names
    (fact,) = [text for text in book.facts() if "Synology" in text]
    assert all("The NAS is a Synology DS920" in text for text in book.files("agents").values())
    topics = "".join(book.files("topics").values())
    assert topics.count("Synology") == 1
    its_id = book.fact_id("Synology")
    with book.program() as program:
        asked = Retract((its_id,), "it was replaced in May", "The NAS runs fnos")
        assert retracting.retract(program, asked, quiet, lambda: False)["retracted"] == [its_id]
    assert sorted(book.files("agents")) == sorted(f"{name}.md" for name in names)
    for name, text in book.files("agents").items():
        assert "Synology" not in text, name
        assert "The NAS runs fnos" in text, name
        assert f"{name[:-3]} likes short answers" in text
    assert "Synology" not in "".join(book.files("topics").values())
    assert "it was replaced in May" in "".join(book.files("topics").values())
    # An agent that still believes it writes it down again: nothing comes of it.
    path = folder / "codex.md"
    path.write_text(path.read_text() + "- The NAS is a Synology DS920\n")
    book.learn("The NAS is a Synology DS920.", by="gemini")
    book.distil()
    assert "Synology" not in book.told()
    assert [status for text, status in book.facts().items() if fact in text] == ["retracted"]


def test_a_retraction_is_taken_back(book: Notebook) -> None:
    book.learn("The cache lives in Redis", topic="cache")
    book.distil()
    before = {name: data for name, data in book.bytes().items() if "journal" not in name}
    fact = book.fact_id("Redis")
    with book.program() as program:
        retracting.retract(program, Retract((fact,), "no", None), quiet, lambda: False)
        assert "Redis" not in book.told()
        assert "status: retracted" in next(iter(book.files("journal").values()))
        assert [place.uid for place in retracting.retracted(program.ledger, "2026-08-13")] == [fact]
        retracting.undo(program, Undo(fact[:9]), quiet, lambda: False)
    assert {name: data for name, data in book.bytes().items() if "journal" not in name} == before


def test_a_persons_words_in_a_topic_stay_and_hold(book: Notebook) -> None:
    for text in ("Alpha needs flag A1", "Beta needs flag B2", "Gamma needs flag C3", "Delta needs flag D4"):
        book.learn(text, topic="flags")
    book.distil()
    path = book.vault / "lessons/topics/flags.md"
    rows = path.read_text().splitlines()
    alpha = next(n for n, row in enumerate(rows) if "Alpha" in row)
    rows[alpha] = rows[alpha].replace("Alpha needs flag A1", "**Alpha** needs A1 *and* A2")
    rows = [row for row in rows if "Beta" not in row]
    rows.insert(alpha + 1, "- Epsilon needs flag E5, says Maya")
    rows.insert(alpha + 1, "> a quotation of mine")
    rows += ["", "## My notes", "", "```dataview", "list", "```", "", "- Gamma is fine"]
    mine = "\n".join(rows) + "\n"
    saved(path, mine)
    done = book.distil()
    assert (done.taken.entries, done.taken.edited, done.taken.removed) == (1, 1, 1)
    told = path.read_text()
    epsilon = book.fact_id("Epsilon")
    assert told == mine.replace("says Maya\n", f"says Maya ^{epsilon}\n")
    agent = book.files("agents")["claude.md"]
    assert "Beta" not in agent
    assert "Epsilon needs flag E5, says Maya" in agent
    assert "\\*\\*Alpha\\*\\* needs A1" in agent
    book.learn("Zeta needs flag Z9", topic="flags")
    book.distil()
    rows = path.read_text().splitlines()
    assert [row for row in rows if "Zeta" not in row] == told.splitlines()
    assert rows.index(next(row for row in rows if "Zeta" in row)) < rows.index("## My notes")


def test_too_many_lines_gone_at_once_come_back(book: Notebook) -> None:
    for n in range(10):
        book.learn(f"Host h{n} answers on 10.0.0.{n}", topic="hosts")
    book.distil()
    path = book.vault / "lessons/topics/hosts.md"
    whole = path.read_text()
    saved(path, re.sub(r"(?m)^- Host h[1-8].*\n", "", whole))
    assert book.distil().taken.question == 8
    assert sorted(path.read_text().splitlines()) == sorted(whole.splitlines())
    path.unlink()
    book.distil()
    assert path.read_text() == whole


def test_a_renamed_topic_is_followed(book: Notebook) -> None:
    book.learn("Alpha needs flag A1", topic="flags")
    book.distil()
    path = book.vault / "lessons/topics/flags.md"
    path.rename(path.with_name("Feature switches.md"))
    book.learn("Beta needs flag B2", topic="flags")
    book.distil()
    assert sorted(book.files("topics")) == ["Feature switches.md"]
    assert "Beta" in book.files("topics")["Feature switches.md"]


def test_a_file_of_somebodys_in_the_way_of_a_topic_stays(book: Notebook) -> None:
    folder = book.vault / "lessons/topics"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nas.md").write_text("my own page\n")
    book.learn("The NAS runs fnos", topic="nas")
    book.distil()
    assert (folder / "nas.md").read_text() == "my own page\n"
    assert len(book.files("topics")) == 2


def test_a_failed_run_keeps_the_old_files(book: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    book.learn("The NAS runs fnos", topic="nas")
    book.distil()
    before = book.bytes()
    book.learn("The printer is a LaserJet 400", topic="printer")
    real = files.create

    def full(path: Path, data: bytes, mode: int = 0o600) -> bool:
        if "topics" in path.parts:
            raise OSError(28, "No space left on device")
        return real(path, data, mode)

    monkeypatch.setattr(files, "create", full)
    with book.program() as program:
        program.lessons.distil()
        assert program.lessons.pages
        assert list(program.lessons.pages.problems) == ["lessons/topics/printer.md"]
        assert program.lessons.owed()
    assert book.bytes().items() >= {n: d for n, d in before.items() if "topics" in n}.items()
    monkeypatch.undo()
    book.distil()
    assert "LaserJet" in book.told()


def test_sessions_lessons_become_entries_at_their_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0")
    sections = home.daily()
    said = [row for part in sections.split("**Lessons Learned:**")[1:] for row in part.split("\n\n")[1].splitlines()]
    journal = [path.read_text() for path in (home.vault / "lessons/journal").glob("*.md")]
    assert said
    assert len(journal) == len(said)
    assert all("source: digest" in text and 'by: "claude"' in text and 'evidence: "s-' in text for text in journal)
    agent = (home.vault / "lessons/agents/claude.md").read_text()
    assert agent.count(" ^f-") > 0
    before = {path: path.read_bytes() for path in (home.vault / "lessons").rglob("*.md")}
    home.run("up", "--once", "--settle", "0")
    assert {path: path.read_bytes() for path in (home.vault / "lessons").rglob("*.md")} == before


@pytest.mark.parametrize(("auto", "status"), [("review", "draft"), ("no", None)])
def test_what_goes_in_by_itself_is_a_persons_choice(tmp_path: Path, auto: str, status: str | None) -> None:
    home = Home(tmp_path)
    home.sample("claude-code")
    home.run("up", "--once", "--settle", "0", AFTERWORD_LESSONS_AUTO=auto)
    journal = [path.read_text() for path in (home.vault / "lessons/journal").glob("*.md")]
    assert all(f"status: {status}\n" in text for text in journal)
    assert bool(journal) == (status is not None)
    assert not list((home.vault / "lessons/topics").glob("*.md"))


def test_a_worktrees_lesson_is_the_main_checkouts(tmp_path: Path, book: Notebook) -> None:
    main, tree = tmp_path / "src/harbor-api", tmp_path / "src/harbor-fix"
    main.mkdir(parents=True)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-C", str(main)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
    (tree / "deep/er").mkdir(parents=True)
    book.learn("Harbor needs node 22", folder=tree / "deep/er", everywhere=False)
    book.learn("A thing of no project", folder=tmp_path / "state", everywhere=False)
    texts = sorted(book.files("journal").values())
    assert 'projects: ["harbor-api"]' in next(text for text in texts if "node 22" in text)
    assert "projects" not in next(text for text in texts if "of no project" in text)
    (main / ".afterwordignore").write_text("*\n")
    with pytest.raises(UserError, match="left out"):
        book.learn("Nothing of this is kept", folder=tree, everywhere=False)


def test_one_machine_distils(tmp_path: Path) -> None:
    book = Notebook(tmp_path)
    book.make_vault()
    book.learn("The NAS runs fnos")
    with book.program() as program:
        with program.ledger.transaction():
            value = program.redactor.document("0" * 32, plain=("",))
            registers.put(program.ledger, RecordKind.SETTING, compile_on.KEY, value, Rank.PERSON)
        done = program.lessons.distil()
    assert done.folded is None
    assert done.elsewhere == "0" * 32
    assert book.facts() == {}


def test_secrets_go_nowhere(book: Notebook) -> None:
    secret = "sk-proj-" + "A1b2C3d4" * 6
    book.learn(f"The key is {secret}", evidence=f"token={secret}", topic="keys")
    folder = book.vault / "lessons/agents"
    book.distil()
    (folder / "claude.md").write_text((folder / "claude.md").read_text() + f"- another {secret}\n")
    book.distil()
    held = [path for path in book.home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert held == []


def test_the_command_line(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("init", str(home.vault), "--yes")
    said = home.json("learn", "The NAS runs fnos", "--topic", "NAS", "--agent", "codex", "--kind", "local-fact")
    assert (said["command"], said["kind"], said["topic"], said["agents"]) == ("learn", "local-fact", "nas", ["codex"])
    assert Path(said["path"]).is_file()
    assert home.run("learn", "", code=2).stderr.startswith("afterword: ")
    home.run("learn", "x y z", "--supersedes", "abc", code=2)
    done = home.json("distill")
    assert (done["facts"], done["placed"], len(done["created"]), done["bad"]) == (1, 1, 1, [])
    found = home.json("retract", said["id"], "--reason", "wrong")
    assert found["facts"] == [{"id": done["created"][0], "text": "The NAS runs fnos"}]
    home.run("retract", done["created"][0], "--reason", "wrong", "--yes")
    assert home.json("undo")["retracted"][0]["uid"] == done["created"][0]
    home.run("undo", done["created"][0])
    assert "fnos" in (home.vault / "lessons/agents/codex.md").read_text()


def test_a_running_daemon_distils(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("init", str(home.vault), "--yes")
    with home.daemon():
        home.run("learn", "The NAS runs fnos")
        done = home.json("distill")
        assert done["facts"] == 1
    assert "fnos" in (home.vault / "lessons/agents/claude.md").read_text()


def test_recall_in_a_transcript_adds_no_fact(tmp_path: Path) -> None:
    """What we told an agent comes back in its transcript, ten rounds long: as a block, and in the agent's own words."""
    book = Notebook(tmp_path)
    book.make_vault()
    book.learn("Lesson learned: the flaky upload test needs the redis container running", topic="testing")
    book.learn("The NAS runs fnos, not Synology", topic="nas")
    book.distil()
    known = book.facts()
    for n in range(10):
        told = book.files("agents")["claude.md"]
        session = ClaudeSession(random.Random(n), session=f"round-{n}")
        session.prompt(f'<afterword-context id="{n:08x}">\n{told}\n</afterword-context>\nFix the upload test.')
        session.command("afterword recall", told)
        session.reply("Lesson learned: the flaky upload test needs the redis container running.")
        session.reply("Done, the upload test passes.")
        path = session.path(tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(session.lines))
        with book.program() as program:
            write_up(program, WriteUp(0), quiet, lambda: False)
        assert book.facts().keys() == known.keys(), n
    assert len(book.files("journal")) > 2, "the rounds were read"


def test_lint_and_a_git_hook_hold_the_vault_to_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("init", str(home.vault), "--yes")
    home.run("learn", "The NAS runs fnos", "--topic", "nas", "--everywhere")
    home.run("distill")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(home.vault)]
    home.run("lint", "--git-hook", code=4)
    subprocess.run([*git, "init", "-q"], check=True)
    assert home.json("lint", "--git-hook")["installed"] is True
    assert home.json("lint", "--git-hook")["installed"] is False
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "fine"], check=True, env=home.env)
    agent = home.vault / "lessons/agents/claude.md"
    topic = home.vault / "lessons/topics/nas.md"
    entry = home.vault / "lessons/journal/mine.md"
    agent.write_text(agent.read_text() + "- by hand\n" * 210)
    (topic.parent / "other.md").write_text(topic.read_text())
    entry.write_text("---\nkind: opinion\n---\nA thing.\n")
    found = {(fault["kind"], Path(fault["path"]).name) for fault in home.json("lint", "--lessons", code=1)["faults"]}
    assert found == {
        ("by-hand", "claude.md"), ("budget", "claude.md"), ("fact-twice", "other.md"), ("bad-entry", "mine.md"),
    }  # fmt: skip
    done = subprocess.run(
        [*git, "commit", "-q", "-a", "-m", "not fine"], env=home.env, capture_output=True, check=False
    )
    assert done.returncode != 0
    assert b"edited by hand" in done.stdout + done.stderr
    (topic.parent / "other.md").unlink()
    entry.unlink()
    home.run("distill")
    assert home.json("lint", "--lessons")["ok"] is True
    hook = home.vault / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 0\n")
    assert "add this line" in home.run("lint", "--git-hook", code=1).stderr
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"


def test_newer_rules_reach_the_journal_and_all_that_is_made_of_it(book: Notebook) -> None:
    book.learn("Project Zebra deploys from the attic", topic="zebra", evidence="Zebra's wiki")
    (book.vault / "lessons/journal").mkdir(parents=True, exist_ok=True)
    mine = book.vault / "lessons/journal/mine.md"
    mine.write_text("---\ntopic: plans\n---\nZebra is my own word.\n")
    book.distil()
    book.env["AFTERWORD_REDACT_EXTRA"] = '["(?i)zebra"]'
    with book.program() as program:
        program.lessons.distil()
    held = {
        path.relative_to(book.home).as_posix()
        for path in book.home.rglob("*")
        if path.is_file() and b"zebra" in path.read_bytes().lower()
    }
    assert held == {"Afterword/lessons/journal/mine.md"}
    assert not list((book.vault / "lessons").rglob("*zebra*"))
    assert sorted(book.facts()) == [
        "Project [redacted:extra] deploys from the attic",
        "[redacted:extra] is my own word.",
    ]
    before = book.bytes()
    book.distil()
    assert book.bytes() == before


def test_a_fact_that_a_kill_kept_from_a_topic_was_not_taken_out(
    book: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.learn("Alpha needs flag A1", topic="flags")
    book.distil()
    book.learn("Beta needs flag B2", topic="flags")

    def killed(point: str) -> None:
        if point == "lesson.plan":
            raise KeyboardInterrupt

    monkeypatch.setattr(faults, "hit", killed)
    with pytest.raises(KeyboardInterrupt):
        book.distil()
    monkeypatch.undo()
    path = book.vault / "lessons/topics/flags.md"
    path.write_text(path.read_text() + "\n## My notes\n\nA thought.\n")
    book.distil()
    assert book.facts() == {"Alpha needs flag A1": "active", "Beta needs flag B2": "active"}
    assert "Beta" in path.read_text()


def test_who_saves_an_older_copy_of_a_topic_took_nothing_out(book: Notebook) -> None:
    book.learn("Alpha needs flag A1", topic="flags")
    book.distil()
    path = book.vault / "lessons/topics/flags.md"
    old = path.read_text()
    book.learn("Beta needs flag B2", topic="flags")
    book.distil()
    path.write_text(old + "\n## My notes\n\nA thought.\n")
    book.distil()
    assert book.facts() == {"Alpha needs flag A1": "active", "Beta needs flag B2": "active"}
    assert "Beta" in path.read_text()
    assert "A thought." in path.read_text()


def test_a_vault_that_takes_no_entry_keeps_it_in_the_spool(book: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(_old: object, _new: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    real = os.link
    monkeypatch.setattr(os, "link", lambda old, new: no_links(old, new) if "journal" in str(new) else real(old, new))
    book.learn("The NAS runs fnos", topic="nas")
    assert len(list((book.home / "state/lessons").glob("*.md"))) == 1
    with book.program() as program:
        program.lessons.distil()
        assert list(program.lessons.journal.bad.values()) == ["Operation not permitted"]
    assert "fnos" in book.told()
    monkeypatch.undo()
    book.distil()
    assert len(book.files("journal")) == 1
