"""opencode's sample in every combination of its storage eras, read by the real program."""

from pathlib import Path

import opencode
import pytest
from homes import Home, differences

OLD = "v1_db_or_json_or_both"


def lay_out(home: Path, eras: str) -> None:
    for era in eras.split("+"):
        match era:
            case "tree":
                opencode.tree(home)
            case "oldest":
                opencode.oldest_tree(home)
            case _:
                opencode.database(home, era)


def check(home: Home, era: str, only: tuple[str, ...] = (opencode.MAIN, opencode.CHILD)) -> None:
    for wanted in opencode.expected(era):
        if wanted["id"] in only:
            assert differences(home.json("show", wanted["id"]), wanted) == {}


@pytest.mark.parametrize(
    ("eras", "era"),
    [
        ("v1", OLD),
        ("tree+v1", OLD),
        ("oldest+tree+v1", OLD),
        ("v2", "v2_db"),
        ("oldest+tree+v2", "v2_db"),
    ],
)
def test_sample_in_one_pass_twice_and_with_its_source_deleted(eras: str, era: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    lay_out(tmp_path, eras)
    folder = opencode.data_folder(tmp_path)
    files = sorted(folder.rglob("*"))
    home.run("up", "--once", "--settle", "0")
    check(home, era)
    assert sorted(folder.rglob("*")) == files
    vault, status, fingerprint = home.vault_bytes(), home.json("status"), home.run("doctor", "--fingerprint").stdout
    assert status["ledger"]["sections"] > 0

    home.run("up", "--once", "--settle", "0")
    assert (home.vault_bytes(), home.json("status")) == (vault, status)

    for path in files:
        if path.is_file():
            path.unlink()
    home.run("up", "--once", "--settle", "0")
    assert home.vault_bytes() == vault
    assert home.run("doctor", "--fingerprint").stdout == fingerprint
    check(home, era)


@pytest.mark.parametrize("eras", ["tree", "oldest", "oldest+tree"])
def test_sample_of_the_trees_alone(eras: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    lay_out(tmp_path, eras)
    home.run("up", "--once", "--settle", "0")
    check(home, OLD, only=(opencode.MAIN,))
    assert home.json("status")["ledger"]["sessions"] == 1
