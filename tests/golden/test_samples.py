"""Every sample store, read by the real program, gives what its `expected.json` says, also when it is read twice, when
the full text is made again, and when the source is gone."""

import shutil
from pathlib import Path

from catalogue import SAMPLES, Entry, check, every_entry
from homes import Home


@every_entry
def test_gold_and_twice_and_with_the_full_text_made_again(entry: Entry, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.env |= entry.variables(tmp_path)
    entry.lay_out(tmp_path)
    home.run("up", "--once", "--settle", "0")
    check(home, entry)
    vault, status = home.vault_bytes(), home.json("status")
    assert status["ledger"]["sections"] > 0
    (sums,) = [one for one in home.json("sources")["sources"] if one["harness"] == entry.harness and one["present"]]
    assert (sums["bad_lines"], sums["drift"], sums["problem"]) == (0, [], entry.problem)
    fingerprint = home.run("doctor", "--fingerprint").stdout

    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == vault
    assert home.json("status") == status

    for path in home.state.glob("text-*"):
        path.unlink()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == vault
    assert home.json("status") == status
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.json("search", entry.word)["total"] > 1


@every_entry
def test_vanish(entry: Entry, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.env |= entry.variables(tmp_path)
    entry.lay_out(tmp_path)
    home.run("up", "--once", "--settle", "0")
    fingerprint, vault = home.run("doctor", "--fingerprint").stdout, home.vault_bytes()
    for store in (SAMPLES / entry.harness).iterdir():
        if store.name in (".local", ".config"):
            for inner in ("share/opencode", "Cursor"):
                shutil.rmtree(tmp_path / store.name / inner, ignore_errors=True)
        elif store.is_dir():
            shutil.rmtree(tmp_path / store.name)
    home.run("up", "--once", "--settle", "0")
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    assert home.vault_bytes() == vault
    check(home, entry)


def test_what_was_undone_and_compacted_is_asked_for_by_the_samples() -> None:
    """T-REWIND and T-COMPACT are held by the samples as long as these ask for them."""
    from catalogue import CATALOGUE

    asked = {entry.name: entry.wanted() for entry in CATALOGUE}
    assert {name for name, wanted in asked.items() if any(session.get("abandoned") for session in wanted)} >= {
        "claude-code", "codex", "gemini-cli", "grok-build",
    }  # fmt: skip
    assert {name for name, wanted in asked.items() if any(session.get("compactions") for session in wanted)} >= {
        "claude-code", "codex",
    }  # fmt: skip
