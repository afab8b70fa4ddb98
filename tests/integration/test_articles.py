"""Articles through the program: the sample history, people's edits, renames, deletions, and any order of arrival."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from homes import Home
from knowledge import HISTORY, NOW, concept, concepts, history, later, titles


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return history(tmp_path / "home")


RACE_AGAIN = (
    "The nightly job of harbor-api fails again with a shared temp directory, please find out why and fix it properly.",
    """The root cause is a race on a shared temp directory again: two jobs write to a fixed path under /tmp.

Decision: every job gets a temp directory of its own, and tests use tmp_path.

Lesson learned: a fixed path under /tmp is a race when two nightly jobs share a runner; it runs check_paths.sh too.""",
)
"""What a person asks, and what the agent answers."""


def test_the_fix_told_three_times_is_one_article(home: Home) -> None:
    race = [
        text
        for text in concepts(home).values()
        if re.search(r"^# .*(temp directory|Snapshot|manifest)", text, re.MULTILINE)
    ]
    assert len(race) == 1
    assert all(f"[[daily/2026-06-{day}#^s-" in race[0] for day in ("08", "09", "10"))
    assert '"Snapshot tests collide in CI"' in race[0]
    assert 3 <= len(concepts(home)) <= 21
    assert home.json("lint")["faults"] == []


def test_a_second_run_writes_nothing(home: Home) -> None:
    before = home.vault_bytes()
    home.run("up", "--once", "--settle", "0", **NOW)
    assert home.json("compile")["days"] == []
    assert home.vault_bytes() == before


def test_a_dry_run_shows_the_notes_and_writes_none(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", AFTERWORD_COMPILE_MIN_WORDS="100000", **NOW)
    before = home.vault_bytes(), home.run("doctor", "--fingerprint").stdout
    said = home.json("compile", "--all", "--dry-run", **NOW)
    assert "+# Flaky export test: jobs share one temp directory" in said["diff"]
    assert [day["state"] for day in said["days"]] == ["compiled"] * 3
    assert (home.vault_bytes(), home.run("doctor", "--fingerprint").stdout) == before


def test_json_says_what_became_of_each_day(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", AFTERWORD_COMPILE_MIN_WORDS="100000", **NOW)
    assert not list((home.vault / "knowledge").rglob("*.md"))
    days = home.json("compile", "--all", **NOW)["days"]
    assert [(day["note"], day["state"]) for day in days] == [
        (f"daily/2026-06-{d}.md", "compiled") for d in ("08", "09", "10")
    ]
    assert all(len(day["created"]) + len(day["updated"]) >= 3 for day in days)
    assert home.json("compile", "--file", "daily/2026-06-09.md")["days"][0]["state"] == "unchanged"
    assert home.run("compile", "--file", "notes.md", code=2)
    assert [d["note"] for d in home.json("compile", "--since", "2026-06-10")["days"]] == ["daily/2026-06-10.md"]


def test_a_persons_bytes_stay_and_new_facts_are_offered_beside(home: Home) -> None:
    path = concept(home, "flaky-export")
    note = path.read_bytes()
    note = b"\xef\xbb\xbf" + note.replace(b"tags:", b'mine: "kept"  # why\ntags:', 1)
    note = note.replace(b"- The root cause is", b"- I say: the root cause is", 1)
    note = (
        note.replace(b"\n", b"\r\n")
        + b"\r\n## My notes\r\n\r\n| a | b |\r\n|---|---|\r\n\r\n```dataview\r\nLIST\r\n```\r\n"
    )
    path.write_bytes(note)
    points = note[note.index(b"## Key Points") : note.index(b"## Details")]
    home.run("up", "--once", "--settle", "0", **NOW)
    assert path.read_bytes().replace(b"edited: true\r\n", b"") == note
    assert b"edited: true" in path.read_bytes()

    later(home, *RACE_AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)
    after = path.read_bytes()
    assert points in after
    assert after.startswith(b"\xef\xbb\xbf---\r\n")
    assert b'mine: "kept"  # why\r\n' in after
    assert after.endswith(note[note.index(b"## My notes") :])
    assert b"\n" not in after.replace(b"\r\n", b"")
    evidence = after[after.index(b"## New evidence") : after.index(b"## My notes")]
    assert b"nightly" in evidence
    first = home.vault_bytes()
    home.run("up", "--once", "--settle", "0", **NOW)
    assert home.vault_bytes() == first


def test_a_locked_note_is_frozen(home: Home) -> None:
    path = concept(home, "flaky-export")
    path.write_bytes(path.read_bytes().replace(b"status: active", b"status: active\nlocked: true", 1))
    before = path.read_bytes()
    later(home, *RACE_AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert path.read_bytes() == before


def test_broken_front_matter_is_left_alone_and_reported(home: Home) -> None:
    path = concept(home, "flaky-export")
    path.write_bytes(path.read_bytes().replace(b'title: "', b"title: Auth: the fix [", 1))
    before = path.read_bytes()
    later(home, *RACE_AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert path.read_bytes() == before
    assert "front-matter" in {fault["kind"] for fault in home.json("lint", code=1)["faults"]}
    assert sum("temp-directory" in p.name for p in (home.vault / "knowledge").rglob("*.md")) == 1


def test_retracted_in_obsidian_says_so_and_is_linked_from_nowhere_new(home: Home) -> None:
    path = concept(home, "never-print")
    path.write_text(
        path.read_text().replace("status: active", 'status: retracted\nretract_reason: "we print it masked now"', 1)
    )
    home.run("up", "--once", "--settle", "0", **NOW)
    text = path.read_text()
    assert "> [!warning] Retracted" in text
    assert "> we print it masked now" in text
    assert text.count("retract_reason") == 1
    assert "never-print" not in (home.vault / "knowledge/index.md").read_text()
    for name, other in concepts(home).items():
        if "never-print" not in name and "never-print" in other:
            # What led to it says when and why it does not hold any more, and leads to it nowhere else.
            assert other.count("never-print") == 1
            assert re.search(
                r"> \[!warning\] Retracted on 2026-06-11\n> \[\[\S*never-print.*we print it masked now", other
            )
    assert home.json("status")["ledger"]["articles"] == len(concepts(home)) - 1


def test_renames_moves_and_changes_of_case_are_followed(home: Home) -> None:
    old = concept(home, "flaky-export")
    new = home.vault / "knowledge/mine/Shared Temp.md"
    new.parent.mkdir()
    old.rename(new)
    cased = concept(home, "never-print")
    cased = cased.rename(cased.with_name("Never-Print.md"))
    later(home, *RACE_AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert not old.exists()
    assert cased.exists()
    assert "nightly" in new.read_text()
    assert "[[knowledge/mine/Shared Temp|" in (home.vault / "knowledge/index.md").read_text()
    assert home.json("lint")["faults"] == []


def test_a_copy_is_the_persons(home: Home) -> None:
    path = concept(home, "flaky-export")
    copy = path.with_name("my copy.md")
    shutil.copyfile(path, copy)
    before = copy.read_bytes()
    later(home, *RACE_AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert copy.read_bytes() == before
    assert "nightly" in path.read_text()
    assert ("copy", "knowledge/concepts/my copy.md") in {
        (f["kind"], f["path"]) for f in home.json("lint", code=1)["faults"]
    }


def test_a_deleted_article_stays_away(home: Home) -> None:
    path = concept(home, "flaky-export")
    path.unlink()
    home.run("up", "--once", "--settle", "0", **NOW)
    assert not path.exists()
    later(home, *RACE_AGAIN)
    home.run("up", "--once", "--settle", "0", **NOW)
    home.run("compile", "--all", **NOW)
    assert not path.exists()
    assert "temp directory" not in (home.vault / "knowledge/index.md").read_text()
    assert home.json("lint")["faults"] == []


def test_many_deleted_at_once_are_in_question(home: Home) -> None:
    paths = sorted((home.vault / "knowledge/concepts").glob("*.md"))[:4]
    kept = {path: path.read_bytes() for path in paths}
    before = home.vault_bytes()
    for path in paths:
        path.unlink()
    home.run("up", "--once", "--settle", "0", **NOW)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert not any(path.exists() for path in paths)
    assert home.json("status")["ledger"]["articles"] == len(concepts(home)) + len(paths)
    kinds = [fault["kind"] for fault in home.json("lint", code=1)["faults"]]
    assert kinds.count("in-question") == len(paths)
    assert "broken-link" not in kinds, "nothing leads to what is not there"
    assert len(home.json("status")["in_question"]) == len(paths)
    assert " and 1 more: vanished with too many others" in home.run("status").stdout
    for path, data in kept.items():
        path.write_bytes(data)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert home.json("lint")["faults"] == []
    assert home.json("status")["in_question"] == []
    assert home.vault_bytes() == before


def test_without_its_card_a_vault_is_not_there(home: Home) -> None:
    card = home.vault / ".afterword/vault.json"
    away = home.path / "vault.json"
    card.rename(away)
    shutil.rmtree(home.vault / "knowledge")
    before = home.vault_bytes()
    home.run("compile", "--all", **NOW, code=None)
    assert home.vault_bytes() == before
    assert home.json("status")["ledger"]["articles"] > 0


def test_a_foreign_file_in_the_way_is_not_written_over(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("init", "--yes")
    never = "concepts/Never-Print-the-Environment-in-a-CI-job.md"
    for name in ("index.md", "log.md", "concepts/flaky-export-test-jobs-share-one-temp-directory.md", never):
        path = home.vault / "knowledge" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert (home.vault / "knowledge/index.md").read_text() == "mine\n"
    assert (home.vault / "knowledge/log.md").read_text().startswith("mine\n")
    assert concept(home, "flaky-export-test-jobs-share-one-temp-directory.md").read_text() == "mine\n"
    assert any(re.match(r"flaky-export-test-jobs-share-one-temp-directory-\w{4}$", name) for name in concepts(home))
    # On a file system that takes both cases for one it would be the same file.
    assert (home.vault / "knowledge" / never).read_text() == "mine\n"
    names = [path.name.casefold() for path in (home.vault / "knowledge/concepts").iterdir()]
    assert len(names) == len(set(names))


def test_any_order_of_arrival_gives_the_same_articles(home: Home, tmp_path: Path) -> None:
    slow = Home(tmp_path / "slow")
    files = sorted(path for path in HISTORY.rglob("*") if path.is_file())
    for path in sorted(files, key=lambda path: path.name[::-1]):
        target = slow.path / path.relative_to(HISTORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        slow.run("up", "--once", "--settle", "0", **NOW)
    explain = ("doctor", "--fingerprint", "--explain")
    mine = [line for line in home.run(*explain).stdout.splitlines() if line.startswith("article")]
    theirs = [line for line in slow.run(*explain).stdout.splitlines() if line.startswith("article")]
    assert theirs == mine
    assert slow.json("lint")["faults"] == []
    assert titles(slow) == titles(home)


def test_two_days_with_nothing_new_change_nothing(home: Home) -> None:
    before = home.vault_bytes()
    for day in ("12", "13"):
        home.run("up", "--once", "--settle", "0", AFTERWORD_NOW=f"2026-06-{day}T12:00:00Z")
    assert home.vault_bytes() == before


def test_a_day_with_next_to_nothing_is_skipped(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    later(home, "Please rename the variable in main.py", "Renamed.")
    home.run("up", "--once", "--settle", "0", AFTERWORD_COMPILE_MIN_WORDS="60", **NOW)
    assert not list((home.vault / "knowledge").rglob("*.md"))
    day = home.json("compile", "--all", **NOW)["days"][0]
    assert day["state"] == "skipped"
    assert "fewer than 60" in day["reason"]
    assert os.listdir(home.vault / "knowledge/concepts") == []


def test_a_changed_paragraph_leaves_the_other_texts_of_its_article_as_they_were(home: Home) -> None:
    from afterword.app.articles import LedgerArticles
    from afterword.domain.clock import Zones
    from afterword.index.chunks import cut
    from afterword.store.ledger.ledger import open_reader

    def chunks(ref: str) -> set[bytes]:
        ledger = open_reader(home.state)
        document = LedgerArticles(ledger, Zones([])).load(ref)
        ledger.close()
        assert document is not None
        return {chunk.hash for chunk in cut(document)}

    path = concept(home, "works-on-a-boat")
    ref = str(path.relative_to(home.vault))
    before = chunks(ref)
    text = path.read_text()
    assert "Two calls in a row" in text
    assert "\\`tidepool forecast\\`" in text
    path.write_text(text.replace("Two calls in a row", "Two calls in one minute"))
    home.run("compile", **NOW)
    after = chunks(ref)
    assert (len(after - before), len(before - after)) == (1, 1)
    path.write_text(path.read_text().replace("so it needs no new dependency", "so it needs nothing new", 1))
    home.run("compile", **NOW)
    assert (len(chunks(ref) - after), len(after - chunks(ref))) == (1, 1)


def test_words_that_name_no_day_are_refused(home: Home) -> None:
    for words in (["--since", "2026-99-99"], ["--since", "yesterday"], ["--file", "daily/2026-02-30.md"]):
        assert home.json("compile", *words, code=2)["error"]["hint"].startswith("write it like")


def test_nothing_new_names_the_days_that_were_skipped(home: Home) -> None:
    assert home.run("compile", **NOW).stdout == "Nothing is new.\n"
    strict = NOW | {"AFTERWORD_COMPILE_MIN_WORDS": "100000"}
    home.run("compile", "--all", **strict)
    notes = [f"daily/2026-06-{day}.md" for day in ("08", "09", "10")]
    assert home.json("compile", **strict)["skipped"] == notes
    assert home.run("compile", **strict).stdout == f"Nothing is new. Skipped for want of words: {', '.join(notes)}.\n"


def test_a_section_is_found_as_a_search_result_names_it(home: Home) -> None:
    row = next(r for r in home.json("search", "TMPDIR")["results"] if r["block"])
    by_block = home.json("open", "--print", f"^{row['block']}")
    assert by_block["block"] == row["block"]
    assert home.json("show", f"^{row['block']}")["session"]["native_id"].endswith(row["session"])


def test_an_ambiguous_beginning_lists_ids_that_begin_so(home: Home) -> None:
    found = home.json("search", "--limit", "500", "--kind", "message", "the")["results"]
    natives = {row["session"] for row in found}
    first = next(one[0] for one in natives if sum(other[0] == one[0] for other in natives) > 1)
    said = home.json("show", first, code=2)["error"]["message"]
    named = re.findall(r"([0-9a-z-]+) \(", said)
    assert len(named) > 1
    assert all(one.startswith(first) for one in named), said


def test_a_closed_pipe_is_no_fault_of_the_file(home: Home) -> None:
    file = next(home.path.glob(".claude/projects/*/*.jsonl"))
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m afterword sources --explain '{file}' | head -1"],
        env=home.env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
