"""Which folders are left out: patterns of the settings, ignore files, links, worktrees, case."""

import subprocess
from pathlib import Path

import pytest

from afterword.capture.exclusion import Exclusions


class Kept:
    """Remembers in memory."""

    def __init__(self) -> None:
        self.out: set[str] = set()

    def knows(self, folder: str) -> bool:
        return folder in self.out

    def note(self, folder: str, *, out: bool) -> None:
        (self.out.add if out else self.out.discard)(folder)

    def any(self) -> bool:
        return bool(self.out)


HOME = Path("/home/somebody")


@pytest.mark.parametrize(
    ("pattern", "cwd", "out"),
    [
        ("~/clients/acme", "/home/somebody/clients/acme", True),
        ("~/clients/acme/", "/home/somebody/clients/acme/src/api", True),
        ("~/clients/acme", "/home/somebody/clients/acme-two", False),
        ("~/clients/*", "/home/somebody/clients/other/deep", True),
        ("~/clients/*", "/home/somebody/clients", False),
        ("~/*/acme", "/home/somebody/a/b/acme", False),
        ("~/**/acme", "/home/somebody/a/b/acme", True),
        ("/srv/Secret", "/srv/secret", True),
        ("/SRV/secret/", "/srv/secret/x/", True),
        ("clients/acme", "/opt/clients/acme/x", True),
        ("secret-*", "/srv/secret-plans", True),
        ("secret-*", "/srv/secret-plans/sub", True),
        ("secret-*", "/srv/public", False),
        ("somebody", "/home/somebody/api", False),
        ("api", "/home/somebody/api/tools", True),
        ("Naïve", "/srv/nai\u0308ve", True),
        ("~", "/home/somebody/anything", True),
        ("~/clients/acme", "~/clients/acme", True),
        ("/srv/secret", "/srv/x/../secret", True),
        ("/srv/secret", "-srv-secret", True),
        ("/srv/secret", "-srv-secret-sub", True),
        ("/srv/secret", "-srv-secretary", False),
        ("secret", "-srv-secret", True),
        ("/srv/secret", "/srv/sec\0ret", False),
        ("", "/srv/secret", False),
        ("/srv/secret", "", False),
    ],
)
def test_patterns(pattern: str, cwd: str, out: bool) -> None:  # a table
    assert Exclusions([pattern], HOME).excludes(cwd) is out


def test_a_store_that_names_projects_by_a_hash() -> None:
    import hashlib

    rules = Exclusions(["/srv/secret"], HOME)
    assert rules.excludes(hashlib.sha256(b"/srv/secret").hexdigest())
    assert rules.excludes(hashlib.md5(b"/srv/secret").hexdigest())  # a store's way
    assert not rules.excludes(hashlib.sha256(b"/srv/other").hexdigest())


@pytest.mark.parametrize(
    ("text", "below", "out"),
    [
        ("", "", True),
        ("# nothing but words\n\n", "sub", True),
        ("*\n", "sub/deep", True),
        (".\n", "", True),
        ("private\n", "private", True),
        ("private/\n", "a/private/deep", True),
        ("/private\n", "a/private", False),
        ("a/private\n", "a/private/x", True),
        ("private\n", "", False),
        ("private\n", "public", False),
        ("exp-*\n", "exp-1/x", True),
        ("**/keys\n", "a/b/keys", True),
    ],
)
def test_an_ignore_file(tmp_path: Path, text: str, below: str, out: bool) -> None:  # a table
    folder = tmp_path / "project" / below
    folder.mkdir(parents=True)
    (tmp_path / "project/.afterwordignore").write_text(text)
    assert Exclusions([], tmp_path).excludes(str(folder)) is out
    assert Exclusions([], tmp_path).excludes(f"{folder}/") is out


def test_links_are_followed_on_both_sides(tmp_path: Path) -> None:
    real = tmp_path / "real/secret"
    (real / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Exclusions([str(tmp_path / "link/secret")], HOME).excludes(str(real))
    assert Exclusions([str(real)], HOME).excludes(str(tmp_path / "link/secret/sub"))
    (real / ".afterwordignore").touch()
    assert Exclusions([], HOME).excludes(str(tmp_path / "link/secret/sub"))


def test_a_worktree_is_what_its_main_checkout_is(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "elsewhere/tree"
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-C", str(main))
    main.mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    (tree / "private").mkdir()
    (tree / "public").mkdir()
    assert Exclusions([str(main)], HOME).excludes(str(tree / "private"))
    assert Exclusions(["main"], HOME).excludes(str(tree))
    assert not Exclusions([], HOME).excludes(str(tree))
    (main / ".afterwordignore").write_text("private\n")
    assert Exclusions([], HOME).excludes(str(tree / "private"))
    assert not Exclusions([], HOME).excludes(str(tree / "public"))


def test_an_ignore_file_is_remembered_when_its_folder_is_gone(tmp_path: Path) -> None:
    kept = Kept()
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".afterwordignore").touch()
    rules = Exclusions([], HOME, kept)
    assert not rules.active
    assert rules.excludes(str(folder))
    assert rules.active
    (folder / ".afterwordignore").unlink()
    folder.rmdir()
    rules.refresh()
    assert rules.excludes(str(folder))
    # It is there again, without the file: let in, and that is remembered as well.
    folder.mkdir()
    rules.refresh()
    assert not rules.excludes(str(folder))
    assert not kept.out


def test_an_ignore_file_nobody_can_read_leaves_out_everything(tmp_path: Path) -> None:
    (tmp_path / ".afterwordignore").symlink_to(tmp_path / "loop")
    assert not Exclusions([], HOME).excludes(str(tmp_path))  # leads nowhere: as good as none
    (tmp_path / ".afterwordignore").unlink()
    (tmp_path / ".afterwordignore").mkdir()
    assert Exclusions([], HOME).excludes(str(tmp_path))
