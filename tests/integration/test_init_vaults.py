"""`init` on vaults as people have them, twice, and `uninstall --vault`: the tree is as it was, byte for byte."""

import json
import random
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from homes import Home, drop_override
from knowledge import HISTORY, NOW
from ruamel.yaml import YAML
from transcripts import ClaudeSession
from vaults import GOLDEN

from afterword.app.vault_template import Layout, files_for
from afterword.assets import asset
from afterword.domain.day_names import DayNames


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, every folder, and links as links."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))
    }


def talk(home: Home, seed: int = 1, at: str = "2026-03-04T10:00:00+00:00") -> None:
    session = ClaudeSession(random.Random(seed), session=f"session-{seed}")
    session.clock = datetime.fromisoformat(at)
    session.prompt("Please look into the cache, it fails since yesterday.")
    session.reply("The root cause of the cache was a missing lock. We decided to add one.")
    path = session.path(home.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(session.lines))


@pytest.mark.parametrize("name", [*GOLDEN, "empty", "new"])
def test_twice_is_once_and_uninstall_puts_everything_back(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "home")
    vault = tmp_path / "My Vault"
    if name != "new":
        vault.mkdir()
    lay(vault, GOLDEN.get(name, {}))
    before = tree(vault)
    shown = home.json("init", str(vault), "--dry-run")
    assert tree(vault) == before
    made = home.json("init", str(vault), "--yes")
    assert made["steps"] == shown["steps"]
    after = tree(vault)
    # Nothing of the person's is another one, but for settings that got keys of ours.
    added = {step["path"] for step in made["steps"] if step["does"] == "add"}
    assert {path for path, data in before.items() if after[path] != data} == added
    assert added <= {path for path in before if path.endswith(".json")}
    for path in after.keys() - before.keys():
        if path.endswith(".json"):
            json.loads(after[path] or b"")
        if path.endswith(".base"):
            assert YAML(typ="safe", pure=True).load(after[path])["views"]
    assert home.json("init", str(vault), "--yes")["created"] is False
    assert tree(vault) == after
    home.run("uninstall", "--vault", "--dry-run")
    assert tree(vault) == after
    home.run("uninstall", "--vault", "--yes")
    assert tree(vault) == before
    assert vault.exists() is (name != "new")
    home.run("uninstall", "--vault", str(vault), "--yes", code=1)
    assert home.json("init", str(vault), "--yes")["created"] is True
    assert tree(vault).keys() == after.keys()


EXPECTED = {
    "periodic-notes": ("Journal/2026/03/2026-03-04.md", "Memory"),
    "own-format": ("Diary/Wednesday, March 4th 2026.md", "Memory"),
    "capital-daily": ("Daily/2026-03-04.md", "Memory"),
    "days-at-the-top": ("2026-03-04.md", "Memory"),
    "decomposed-names": ("Ta\u0308gliche Notizen/2026-03-04.md", "Memory"),
    "odd-format": ("Memory/daily/2026-03-04.md", "Memory"),
    "polish-words": ("Memory/daily/2026-03-04.md", "Memory"),
    "plain": ("Memory/daily/2026-03-04.md", "Memory"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_persons_own_daily_note_is_the_daily_note_and_keeps_every_byte(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN[name])
    home.run("init", str(vault), "--yes")
    note, prefix = EXPECTED[name]
    theirs = (vault / note).read_bytes() if (vault / note).exists() else b""
    talk(home)
    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW="2026-03-05T12:00:00Z")
    text = (vault / note).read_bytes()
    assert text.startswith(theirs)
    assert text.count(b"%% afterword s-") == 1
    assert (b"\r\n" in text) is (b"\r\n" in theirs)
    assert text.count(b"\n") == text.count(b"\r\n") or b"\r\n" not in theirs
    notes = {path for path in tree(vault) if path.endswith(".md")} - GOLDEN[name].keys() - {note}
    assert all(path.startswith(f"{prefix}/") for path in notes)
    day = home.json("compile", "--file", note, AFTERWORD_NOW="2026-03-05T12:00:00Z")["days"][0]
    assert day["note"] == note
    home.run("lint", code=None)
    before = tree(vault)
    home.run("up", "--once", "--settle", "0", AFTERWORD_NOW="2026-03-05T12:00:00Z")
    assert tree(vault) == before
    # Notes stay when the rest is taken out.
    home.run("uninstall", "--vault", "--yes")
    left = tree(vault)
    assert left[note] == text
    assert not [path for path in left if path.endswith((".base", "Home.md", "vault.json"))]


def test_only_absent_keys_are_added_and_what_is_off_stays_off(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["plain"])
    home.run("init", str(vault), "--yes")
    read = {p.name: json.loads(p.read_text()) for p in (vault / ".obsidian").glob("*.json")}
    assert read["core-plugins.json"]["graph"] is False
    assert read["core-plugins.json"]["bases"] is True
    assert read["appearance.json"]["enabledCssSnippets"] == ["mine", "afterword"]
    assert list(read["appearance.json"]) == ["accentColor", "enabledCssSnippets"]
    assert (vault / ".obsidian/app.json").read_text() == GOLDEN["plain"][".obsidian/app.json"]
    assert list(read["graph.json"]) == ["colorGroups"], "how the rest of the graph looks is the person's"


def test_what_cannot_be_added_to_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["broken-json"])
    said = {step["path"]: (step["does"], step["why"]) for step in home.json("init", str(vault), "--yes")["steps"]}
    for name in ("core-plugins", "types", "graph", "bookmarks", "appearance"):
        does, why = said[f".obsidian/{name}.json"]
        assert does == "leave"
        assert why
    other = lay(tmp_path / "W", GOLDEN["type-clashes"])
    steps = {s["path"]: s["why"] for s in home.json("init", str(other), "--dry-run")["steps"]}
    assert "status is of type multitext here, not text" in steps[".obsidian/types.json"]
    odd = home.json("init", str(lay(tmp_path / "O", GOLDEN["odd-format"])), "--dry-run")
    assert any("gggg" in remark for remark in odd["remarks"])


def test_months_in_another_language_are_refused_with_a_sentence_that_helps(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    there = home.json("init", str(lay(tmp_path / "V", GOLDEN["polish-words"])), "--dry-run")
    assert there["daily"] == "Memory/daily/2026-06-10.md"
    (said,) = there["remarks"]
    assert "'Dziennik/4 marca 2026.md'" in said
    assert "YYYY-MM-DD" in said
    # Where no note tells it, the system does.
    files = {".obsidian/daily-notes.json": '{"folder": "D", "format": "D MMMM YYYY"}', "N.md": "x"}
    empty = lay(tmp_path / "E", files)
    assert home.json("init", str(empty), "--dry-run", LC_ALL="en_GB.UTF-8")["daily"] == "D/10 June 2026.md"
    polish = home.json("init", str(empty), "--dry-run", LC_ALL="pl_PL.UTF-8")
    assert polish["daily"] == "Memory/daily/2026-06-10.md"
    assert "'pl'" in polish["remarks"][0]
    lay(empty, {"D/4 March 2026.md": "up early\n"})
    assert home.json("init", str(empty), "--dry-run", LC_ALL="pl_PL.UTF-8")["daily"] == "D/10 June 2026.md"


def test_properties_get_the_types_the_vault_gives_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["type-clashes"])
    shutil.copytree(HISTORY, home.path, dirs_exist_ok=True)
    home.run("init", str(vault), "--yes")
    home.run("up", "--once", "--settle", "0", **NOW)
    path = next((vault / "Memory/knowledge/concepts").glob("never-print*.md"))
    text = path.read_text()
    assert "\nstatus: [active]\n" in text
    assert '\ncreated: "2026-06-08T00:00:00"\n' in text
    assert '\nuse_count: "0"\n' in text
    assert '\ndate: "2026-06-08T00:00:00"\ntags: [memory/daily]\n' in (vault / "Memory/daily/2026-06-08.md").read_text()
    assert "\nupdated: 2026-06-" in text
    before = tree(vault)
    home.run("up", "--once", "--settle", "0", **NOW)
    assert tree(vault) == before
    path.write_text(text.replace("status: [active]", "status: [retracted]"))
    home.run("up", "--once", "--settle", "0", **NOW)
    assert "> [!warning] Retracted on 2026-06-11" in path.read_text()
    assert "edited" not in path.read_text()
    assert home.json("lint", code=None)["faults"] == []


def test_what_a_person_changed_since_stays(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["plain"])
    home.run("init", str(vault), "--yes")
    page = vault / "Memory/Home.md"
    page.write_text(page.read_text() + "\nmine\n")
    settings = vault / ".obsidian/appearance.json"
    settings.write_text('{"enabledCssSnippets":["afterword","mine"],"theme":"moonstone"}')
    (vault / "Memory/maps/Mine.md").write_text("my own map\n")
    said = home.json("uninstall", "--vault", "--yes")
    assert said["kept"] == ["Memory/Home.md"]
    assert page.read_text().endswith("\nmine\n")
    assert json.loads(settings.read_text()) == {"enabledCssSnippets": ["mine"], "theme": "moonstone"}
    assert (vault / "Memory/maps/Mine.md").read_text() == "my own map\n"
    assert not (vault / "Memory/bases").exists()


@pytest.mark.parametrize("fault", ["init.manifest#1", "init.step#1", "init.step#6", "init.card#1", "atomic.rename#4"])
@pytest.mark.parametrize("name", ["plain", "empty"])
def test_killed_anywhere_it_goes_on(tmp_path: Path, name: str, fault: str) -> None:
    calm, home = Home(tmp_path / "calm"), Home(tmp_path / "home")
    wanted = lay(tmp_path / "calm-vault", GOLDEN.get(name, {}))
    wanted.mkdir(exist_ok=True)
    calm.run("init", str(wanted), "--yes")
    vault = lay(tmp_path / "vault", GOLDEN.get(name, {}))
    vault.mkdir(exist_ok=True)
    before = tree(vault)
    home.run("init", str(vault), "--yes", code=None, AFTERWORD_FAULT=f"kill@{fault}")
    home.run("init", str(vault), "--yes")

    def settled(root: Path) -> dict[str, bytes | None]:
        return {path: data for path, data in tree(root).items() if not path.endswith("vault.json")}

    assert settled(vault) == settled(wanted)
    home.run("uninstall", "--vault", "--yes")
    assert tree(vault) == before


def test_folders_that_are_no_vault_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    code = lay(tmp_path / "code", {"main.py": "x"})
    assert "no vault" in home.run("init", str(code), "--yes", code=1).stderr
    inner = lay(tmp_path / "V", GOLDEN["plain"]) / "Projects"
    assert "inside the vault" in home.run("init", str(inner), "--yes", code=1).stderr
    link = tmp_path / "link"
    link.symlink_to(inner)
    assert "inside the vault" in home.run("init", str(link), "--yes", code=1).stderr
    assert "is not a folder" in home.run("init", str(code / "main.py"), "--yes", code=1).stderr
    for prefix in ("../out", "a|b", ".hidden", "a/../../b"):
        home.run("init", str(tmp_path / "V"), "--prefix", prefix, "--yes", code=1)
    # Nobody to ask, and nobody said yes.
    before = tree(tmp_path / "V")
    assert "--dry-run" in home.run("init", str(tmp_path / "V"), code=2).stderr
    assert tree(tmp_path / "V") == before


def test_a_read_only_vault_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["plain"])
    before = tree(vault)
    vault.chmod(0o555)
    words = [sys.executable, "-m", "afterword", "init", str(vault), "--yes"]
    done = subprocess.run(
        words, env=home.env, capture_output=True, text=True, check=False, preexec_fn=drop_override
    )  # fmt: skip
    vault.chmod(0o755)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert tree(vault) == before
    assert not (home.path / ".config/afterword/config.toml").exists()


def test_a_vault_behind_a_link_stays_behind_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "real", GOLDEN["plain"])
    elsewhere = lay(tmp_path / "dotfiles", {"appearance.json": '{"theme": "x"}'})
    (vault / ".obsidian/appearance.json").unlink()
    (vault / ".obsidian/appearance.json").symlink_to(elsewhere / "appearance.json")
    link = tmp_path / "Vault"
    link.symlink_to(vault)
    before = tree(vault)
    home.run("init", str(link), "--yes")
    assert link.is_symlink()
    assert (vault / ".obsidian/appearance.json").is_symlink()
    assert "afterword" in (elsewhere / "appearance.json").read_text()
    talk(home)
    home.run("up", "--once", "--settle", "0")
    assert (vault / "Memory/daily/2026-03-04.md").exists()
    (vault / "Memory/daily/2026-03-04.md").unlink()
    for folder in ("knowledge", "lessons"):
        for path in (vault / "Memory" / folder).rglob("*.md"):
            path.unlink()
    home.run("uninstall", "--vault", "--yes")
    assert tree(vault) == before


def test_one_machine_writes_a_vault(tmp_path: Path) -> None:
    first, second = Home(tmp_path / "a"), Home(tmp_path / "b")
    second.env["AFTERWORD_MACHINE_NAME"] = "laptop"
    vault = tmp_path / "V"
    first.run("init", str(vault), "--yes")
    talk(first)
    first.run("up", "--once", "--settle", "0")
    before = tree(vault)
    assert "is written by box" in second.run("init", str(vault), "--yes").stdout
    talk(second, 2)
    said = second.json("up", "--once", "--settle", "0")
    assert "box writes this vault" in said["vault_problem"]
    assert said["new"] > 0
    assert tree(vault) == before
    assert second.json("search", "missing lock")["total"] >= 1
    doctor = second.json("doctor", code=None)
    (found,) = [check for check in doctor["checks"] if check["name"] == "vault"]
    assert found["level"] == "trouble"
    assert "--take-over" in found["hint"]
    second.run("init", str(vault), "--take-over")
    second.run("up", "--once", "--settle", "0")
    assert (vault / "daily/2026-03-04.md").read_text().count("%% afterword s-") == 2
    assert "laptop writes this vault" in first.json("up", "--once", "--settle", "0")["vault_problem"]


def test_another_vault_gets_everything_anew(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("init", str(tmp_path / "one"), "--yes")
    talk(home)
    home.run("up", "--once", "--settle", "0")
    home.run("init", str(tmp_path / "two"), "--yes")
    home.run("up", "--once", "--settle", "0")
    for name in ("daily/2026-03-04.md",):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_the_template_is_itself_in_a_vault_of_its_own_and_leads_nowhere_else_below_a_prefix() -> None:
    root = asset("vault_template")
    plain = files_for(Layout(DayNames("daily")))
    assert plain == {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    made = files_for(Layout(DayNames("Diary/days", "YYYY/YYYY-MM-DD"), "Deep/Memory", ".other"))
    for name, data in made.items():
        text = data.decode()
        if name.startswith(".other/"):
            continue
        for link in [part.partition("]]")[0] for part in text.split("[[")[1:]]:
            target = link.partition("|")[0].partition("#")[0]
            assert {target, f"{target}.md"} & made.keys(), (name, link)
        assert 'inFolder("daily")' not in text
        assert 'path:"daily"' not in text
