"""A newer version brings newer pages: `init` renews what nobody touched, names the rest, goes on where it stopped."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from vaults import GOLDEN


def lay(root: Path, files: dict[str, str]) -> Path:
    root.mkdir()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class Older:
    """A vault as an older version set it up: other texts, and the state folder knows them as what was put in."""

    def __init__(self, home: Home, vault: Path) -> None:
        self.vault = vault
        (self.file,) = (home.state / "vaults").glob("*/manifest.json")
        self.manifest: dict[str, Any] = json.loads(self.file.read_text())

    def had(self, path: str, text: str, *, copies: bool = True) -> None:
        (self.vault / path).write_text(text)
        self.manifest["files"][path]["after"] = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        self._copy(path, text, copies=copies)

    def lacked(self, path: str) -> None:
        (self.vault / path).unlink()
        del self.manifest["files"][path]
        self._copy(path, None, copies=True)

    def settings_lacked(self, path: str, key: str, name: str) -> None:
        copy = self.file.parent / "installed" / path
        for each in (copy, self.vault / path):
            value = json.loads(each.read_text())
            del (value[key] if key else value)[name]
            each.write_text(json.dumps(value))

    def _copy(self, path: str, text: str | None, *, copies: bool) -> None:
        copy = self.file.parent / "installed" / path
        assert copy.exists()
        if text is not None and copies:
            copy.write_text(text)
        else:
            copy.unlink()

    def done(self) -> None:
        self.file.write_text(json.dumps(self.manifest))


@pytest.mark.parametrize(("name", "copies"), [("plain", True), ("empty", False)])
def test_untouched_pages_are_renewed_and_touched_ones_named_once(tmp_path: Path, name: str, copies: bool) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN.get(name, {}))
    before = tree(vault)
    home.run("init", str(vault), "--yes")
    at = "Memory/" if name == "plain" else ""
    now = tree(vault)
    older = Older(home, vault)
    older.had(f"{at}maps/Days.md", "# An older map\n", copies=copies)
    older.had(f"{at}bases/days.base", "views: []\n", copies=copies)
    older.had(f"{at}Home.md", "# An older home\n", copies=copies)
    older.had(".obsidian/snippets/afterword.css", "/* older */\n", copies=copies)
    older.lacked(f"{at}maps/Review.md")
    older.done()
    (vault / f"{at}Home.md").write_text("# An older home, and mine\n")
    (vault / f"{at}maps/Days.md").unlink()
    (check,) = [c for c in home.json("doctor", code=None)["checks"] if c["name"] == "template"]
    assert check["level"] == "note"
    assert "3 pages" in check["message"]
    kept = tree(vault)
    said = {step["path"]: step["does"] for step in home.json("init", str(vault), "--dry-run")["steps"]}
    assert tree(vault) == kept
    assert said == {
        f"{at}bases/days.base": "renew",
        f"{at}Home.md": "keep",
        ".obsidian/snippets/afterword.css": "renew",
        f"{at}maps/Review.md": "make",
    }
    shown = home.run("init", str(vault), "--yes")
    assert f"{at}Home.md stays" in shown.stderr
    assert "3 files of it brought up to date" in shown.stdout
    wanted = {path: data for path, data in now.items() if path != f"{at}maps/Days.md"}
    wanted[f"{at}Home.md"] = b"# An older home, and mine\n"
    assert tree(vault) == wanted
    assert (older.file.parent / "incoming" / f"{at}Home.md").read_bytes() == now[f"{at}Home.md"]
    again = home.json("init", str(vault), "--yes")
    assert again["steps"] == []
    assert tree(vault) == wanted
    assert home.json("uninstall", "--vault", "--yes")["kept"] == [f"{at}Home.md"]
    (vault / f"{at}Home.md").unlink()
    assert tree(vault) == before


def test_settings_get_the_keys_that_are_new_and_none_that_a_person_took_out(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["plain"])
    home.run("init", str(vault), "--yes")
    older = Older(home, vault)
    types, core = ".obsidian/types.json", ".obsidian/core-plugins.json"
    older.settings_lacked(types, "types", "pinned")
    older.settings_lacked(core, "", "bases")
    theirs = json.loads((vault / core).read_text())
    del theirs["file-recovery"]  # taken out by the person since
    theirs["word-count"] = True
    (vault / core).write_text(json.dumps(theirs))
    steps = {step["path"]: step for step in home.json("init", str(vault), "--yes")["steps"]}
    assert {path: step["added"] for path, step in steps.items()} == {types: ["types/pinned"], core: ["bases"]}
    assert json.loads((vault / core).read_text()) == theirs | {"bases": True}
    assert json.loads((vault / types).read_text())["types"]["pinned"] == "checkbox"
    kept = tree(vault)
    assert home.json("init", str(vault), "--yes")["steps"] == []
    assert tree(vault) == kept
    home.run("uninstall", "--vault", "--yes")
    assert json.loads((vault / core).read_text()) == {"graph": False, "daily-notes": True, "word-count": True}


@pytest.mark.parametrize("fault", ["init.manifest#1", "init.step#1", "atomic.rename#3"])
def test_a_renewal_that_was_killed_goes_on(tmp_path: Path, fault: str) -> None:
    home = Home(tmp_path / "home")
    vault = lay(tmp_path / "V", GOLDEN["plain"])
    before = tree(vault)
    home.run("init", str(vault), "--yes")
    now = tree(vault)
    older = Older(home, vault)
    older.had("Memory/maps/Days.md", "# An older map\n")
    older.had("Memory/bases/days.base", "views: []\n")
    older.settings_lacked(".obsidian/core-plugins.json", "", "bases")
    older.done()
    killed = home.run("init", str(vault), "--yes", code=None, AFTERWORD_FAULT=f"kill@{fault}")
    assert killed.returncode == -9
    home.run("init", str(vault), "--yes")

    def read(files: dict[str, bytes]) -> dict[str, Any]:
        return {path: json.loads(data) if path.endswith(".json") else data for path, data in files.items()}

    assert read(tree(vault)) == read(now)
    assert home.json("init", str(vault), "--yes")["steps"] == []
    home.run("uninstall", "--vault", "--yes")
    assert tree(vault).keys() == before.keys()


def test_a_machine_that_does_not_write_the_vault_renews_nothing(tmp_path: Path) -> None:
    home, other = Home(tmp_path / "home"), Home(tmp_path / "other")
    other.env["AFTERWORD_MACHINE_NAME"] = "laptop"
    vault = tmp_path / "V"
    home.run("init", str(vault), "--yes")
    older = Older(home, vault)
    older.had("maps/Days.md", "# An older map\n")
    older.done()
    kept = tree(vault)
    assert other.json("init", str(vault), "--yes")["steps"] == []
    assert tree(vault) == kept
