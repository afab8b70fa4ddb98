"""aider's histories, rule by rule, on made-up lines."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from afterword.capture.harness import aider, aider_stores
from afterword.capture.harness.aider_blocks import blocks, sessions, text_of
from afterword.capture.harness.aider_edits import spans
from afterword.domain.events import Decoded, Document, Facts, Item, Where
from afterword.domain.items import Kind, SaidBy

from .harness_model import FIXTURES, fingerprint

HISTORY = Path("/srv/orchard-api/.aider.chat.history.md")
START = (
    "\n# aider chat started at 2026-03-04 11:00:00\n\n> Aider v0.86.2  \n> Main model: sonnet with diff edit format  \n"
)


def opened(text: str | bytes, path: Path = HISTORY, elsewhere: Any = lambda _: ()) -> Document:
    data = text if isinstance(text, bytes) else text.encode()
    return Document(path, data, fingerprint=fingerprint, elsewhere=elsewhere)


def read(text: str | bytes) -> dict[str, list[Decoded]]:
    """Session → its events."""
    document = opened(text)
    return {
        part.name.partition("/")[2]: [e for record in aider.events(document, part, fingerprint) for e in record]
        for part in list(aider.parts(document, {}))[1:]
    }


def said(text: str | bytes) -> list[tuple[str, str]]:
    """What was said and done in all sessions, commits and the like left out."""
    return [
        (event.kind.word, event.text)
        for events in read(text).values()
        for event in events
        if isinstance(event, Item) and event.kind is not Kind.OUTPUT
    ]


def who(text: str) -> list[tuple[str, str]]:
    """The blocks of the last session, aider's banner left out."""
    return [(block.who, block.text) for block in blocks(sessions(text_of(text.encode()))[-1])][2:]


# The sample


def test_the_sample() -> None:
    home = FIXTURES / "aider"
    wanted = json.loads((home / "expected.json").read_text())["sessions"]
    found = read((home / "srv/orchard-api/.aider.chat.history.md").read_bytes())
    assert list(found) == [session["key"] for session in wanted]
    roles = {Kind.PROMPT: "user", Kind.REPLY: "assistant"}
    for session, events in zip(wanted, found.values(), strict=True):
        items = [event for event in events if isinstance(event, Item)]
        view: dict[str, Any] = {
            "messages": [[roles[item.kind], item.text.strip()] for item in items if item.kind in roles],
            "commands": [[item.text, item.exit_status] for item in items if item.kind is Kind.COMMAND],
            "edited": [item.path for item in items if item.kind is Kind.EDIT],
            "model": next((event.model for event in events if isinstance(event, Facts)), None),
            "cwd": next((event.cwd for event in events if isinstance(event, Facts)), None),
        }
        assert {name: view[name] for name in view if name in session} == {
            name: value for name, value in session.items() if name in view
        }


def test_keys_hold_no_text_and_count_each_kind() -> None:
    document = opened(START + "\n#### One?  \n\n1.\n\n#### Two?  \n\n2.\n\n")
    parts = list(aider.parts(document, {}))
    items = [e for record in aider.events(document, parts[1], fingerprint) for e in record if isinstance(e, Item)]
    begin = ("orchard-api", "2026-03-04 11:00:00", 1)
    assert [(item.key, item.kind) for item in items] == [
        ((*begin, 0), Kind.PROMPT),
        ((*begin, 0), Kind.REPLY),
        ((*begin, 1), Kind.PROMPT),
        ((*begin, 1), Kind.REPLY),
    ]
    assert all(item.positional for item in items)
    assert {item.session for item in items} == {"orchard-api/2026-03-04 11:00:00#1"}
    assert {item.time_us for item in items} == {None}


# Whose line it is


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # the model's own headings
        (
            "\n#### One?  \n\nSteps:\n\n#### First step\n\nDo it.\n\n",
            [("person", "One?"), ("model", "Steps:\n\n#### First step\n\nDo it.")],
        ),
        ("\n#### One?  \n\n#### Answer\n\nYes.\n\n", [("person", "One?"), ("model", "#### Answer\n\nYes.")]),
        # a reply's own quotation, also one that breaks its lines
        ("\n#### One?  \n\n> a quote\n\nYes.\n\n", [("person", "One?"), ("model", "> a quote\n\nYes.")]),
        (
            "\n#### One?  \n\nSee:\n> a line  \n> another\n\nYes.\n\n",
            [("person", "One?"), ("model", "See:\n> a line  \n> another\n\nYes.")],
        ),
        # several lines, an empty one, one that lost its blanks
        (
            "\n#### One  \n####   \n#### two\n#### three  \n\nYes.\n\n",
            [("person", "One\n\ntwo\nthree"), ("model", "Yes.")],
        ),
        # a prompt that lost its blanks
        (
            "\n#### /add x.py  \n> Added x.py to the chat  \n\n#### Do it\n\nDone.\n\n",
            [("person", "/add x.py"), ("aider", "Added x.py to the chat"), ("person", "Do it"), ("model", "Done.")],
        ),
        (
            "\n#### <blank>  \n\n#### Do it\n\nDone.\n\n",
            [("person", "<blank>"), ("person", "Do it"), ("model", "Done.")],
        ),
        # output of several lines, closed by its last line or by the next prompt
        (
            "\n#### /git status -s  \n> M a.py\n?? b\n\n?? c  \n\n#### Next?  \n\nYes.\n\n",
            [("person", "/git status -s"), ("aider", "M a.py\n?? b\n\n?? c"), ("person", "Next?"), ("model", "Yes.")],
        ),
        (
            "\n#### /git status -s  \n> M a.py\n?? b\n\n#### Next?  \n\nYes.\n\n",
            [("person", "/git status -s"), ("aider", "M a.py\n?? b"), ("person", "Next?"), ("model", "Yes.")],
        ),
        # fences: prefixes in them are text, a longer fence holds shorter ones
        (
            "\n#### One?  \n\n```md\n\n#### not a prompt  \n> not aider  \n```\n\n> Tokens: 2 sent, 3 received.  \n",
            [
                ("person", "One?"),
                ("model", "```md\n\n#### not a prompt  \n> not aider  \n```"),
                ("aider", "Tokens: 2 sent, 3 received."),
            ],
        ),
        (
            "\n#### One?  \n\n````\n```\n\n#### in both  \n```\n````\n\n#### Two?  \n\n",
            [("person", "One?"), ("model", "````\n```\n\n#### in both  \n```\n````"), ("person", "Two?")],
        ),
        # a reply that was cut inside a fence ends where aider counts its tokens
        (
            "\n#### One?  \n\n```py\nx = 1\n\n> Tokens: 2.1k sent, 120 received.  \n\n#### Two?  \n\nYes.\n\n",
            [
                ("person", "One?"),
                ("model", "```py\nx = 1"),
                ("aider", "Tokens: 2.1k sent, 120 received."),
                ("person", "Two?"),
                ("model", "Yes."),
            ],
        ),
        # what is not at the start of a line is no prefix
        ("\n#### One?  \n\n  #### indented\n\n", [("person", "One?"), ("model", "#### indented")]),
    ],
)
def test_blocks(text: str, found: list[tuple[str, str]]) -> None:
    assert who(START + text) == found


def test_a_history_whose_blanks_an_editor_took() -> None:
    text = START + (
        "\n#### One  \n#### more  \n\nSteps:\n\n#### 1. First\n\nDone.\n\n> Tokens: 2 sent, 3 received.  \n"
        "> Applied edit to a.py  \n\n#### Two?  \n\nYes.\n\n#### Three?  \n\nNo.\n\n"
    )
    bare = "\n".join(line.rstrip() for line in text.split("\n"))
    assert who(bare) == [
        ("person", "One\nmore"),
        ("model", "Steps:\n\n#### 1. First\n\nDone."),
        ("aider", "Tokens: 2 sent, 3 received."),
        ("aider", "Applied edit to a.py"),
        ("person", "Two?"),
        ("model", "Yes."),
        ("person", "Three?"),
        ("model", "No."),
    ]


def test_sessions_by_header() -> None:
    text = (
        "> Aider v0.5  \n\n#### Before any header?  \n\nYes.\n\n"
        "\n# aider chat started at 2026-03-04 11:00:00\n\n\n#### A?  \n\n```\nopen\n"
        "# aider chat started at 2026-03-04 09:00:00\n\n\n#### B?  \n"
        "# aider chat started at 2026-03-04 11:00:00\n\n\n#### C?  \n"
        "# aider chat started at 2026-03-04 11:00\n"
    )
    found = read(text)
    assert list(found) == ["no header#1", "2026-03-04 11:00:00#1", "2026-03-04 09:00:00#1", "2026-03-04 11:00:00#2"]
    prompts = [[e.text for e in events if isinstance(e, Item) and e.kind is Kind.PROMPT] for events in found.values()]
    assert prompts == [["Before any header?"], ["A?"], ["B?"], ["C?"]]
    starts = [next(e.started_us for e in events if isinstance(e, Facts)) for events in found.values()]
    assert starts[0] is None
    assert starts[1] == starts[3] != starts[2]


def test_escapes_crlf_bom_nul_and_broken_characters() -> None:
    text = "\ufeff" + START.replace("\n", "\r\n") + "\r\n#### \x1b[32mGrün?\x1b[0m  \r\n\r\nJa\0.\r\n\r\n"
    assert said(text) == [("prompt", "Grün?"), ("reply", "Ja.")]
    assert said(START.encode() + b"\n#### caf\xe9?  \n\nYes.\n\n") == [("prompt", "caf\ufffd?"), ("reply", "Yes.")]


@pytest.mark.parametrize("torn", ["#### te", "#### a prompt  ", "> Tok", "# aider chat started at 2026-03-04 11:00:0"])
def test_a_torn_line_of_aiders_is_not_read(torn: str) -> None:
    whole = START + "\n#### One?  \n\nYes.\n\n"
    assert said(whole + torn) == said(whole)


def test_a_torn_reply_is_its_beginning() -> None:
    data = (START + "\n#### One?  \n\nJa, größer").encode()
    cut = data[: data.index("ß".encode()) + 1]
    assert said(cut) == [("prompt", "One?"), ("reply", "Ja, grö")]


# What was said and done


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("Fix it.", [("prompt", "Fix it.", SaidBy.PERSON)]),
        ("/ask Why?", [("prompt", "Why?", SaidBy.PERSON)]),
        ("/architect Plan it.", [("prompt", "Plan it.", SaidBy.PERSON)]),
        ("/ask", [("call", "/ask", SaidBy.PERSON)]),
        ("/run pytest -q", [("command", "pytest -q", SaidBy.PERSON)]),
        ("!ls -l", [("command", "ls -l", SaidBy.PERSON)]),
        ("/test pytest", [("command", "pytest", SaidBy.PERSON)]),
        ("/git diff", [("command", "git diff", SaidBy.PERSON)]),
        ("/add a.py b.py", [("call", "/add a.py b.py", SaidBy.PERSON)]),
        ("/usr/bin/env is missing", [("call", "/usr/bin/env is missing", SaidBy.PERSON)]),
        ("<blank>", []),
    ],
)
def test_what_a_person_types(typed: str, found: list[tuple[str, str, SaidBy]]) -> None:
    events = next(iter(read(f"{START}\n#### {typed}  \n").values()))
    assert [(e.kind.word, e.text, e.said_by) for e in events if isinstance(e, Item)] == found


def test_what_aider_notes() -> None:
    text = START + (
        "\n#### Do it.  \n\na.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n\n```bash\nmake\n```\n\n"
        "> Tokens: 2 sent, 3 received.  \n> Applied edit to a.py  \n> Commit 1a2b3c4 feat: y  \n"
        "> You can use /undo to undo and discard each aider commit.  \n> make  \n"
        "> Run shell command? (Y)es/(N)o [Yes]: y  \n> Running make  \n"
        "> Add command output to the chat? (Y)es/(N)o [Yes]: y  \n> Added 2 lines of output to the chat.  \n"
        "> Added b.py to the chat  \n> The LLM did not conform to the edit format.  \n"
    )
    events = next(iter(read(text).values()))
    items = [event for event in events if isinstance(event, Item)][2:]
    assert [(item.kind.word, item.text, item.path, item.said_by) for item in items] == [
        ("edit", "-x\n+y", "a.py", SaidBy.AGENT),
        ("output", "Commit 1a2b3c4 feat: y", None, SaidBy.MACHINE),
        ("output", "make", None, SaidBy.MACHINE),
        ("command", "make", None, SaidBy.AGENT),
        ("read", "b.py", "b.py", SaidBy.AGENT),
        ("output", "The LLM did not conform to the edit format.", None, SaidBy.MACHINE),
    ]


@pytest.mark.parametrize(
    ("banner", "model"),
    [
        ("Main model: sonnet with diff edit format", "sonnet"),
        ("Main model: anthropic/claude with architect edit format, prompt cache", "anthropic/claude"),
        ("Model: gpt-4o with diff edit format", "gpt-4o"),
        ("Models: gpt-4o with diff edit format, weak model gpt-4o-mini", "gpt-4o"),
        ("Model: gpt-4", "gpt-4"),
    ],
)
def test_models(banner: str, model: str) -> None:
    text = f"\n# aider chat started at 2026-03-04 11:00:00\n\n> Aider v0.86.2  \n> {banner}  \n\n#### x  \n"
    events = next(iter(read(text).values()))
    assert [event.model for event in events if isinstance(event, Facts)] == [model]


BLOCK = "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n"


@pytest.mark.parametrize(
    ("reply", "path", "span"),
    [
        (f"app/x.py\n```python\n{BLOCK.format('a', 'b')}```\n", "app/x.py", "-a\n+b"),
        (f"**`x.py`**:\n```python\n{BLOCK.format('a', 'b')}```\n", "app/x.py", "-a\n+b"),
        (f"```python\napp/x.py\n{BLOCK.format('a', 'b')}```\n", "app/x.py", "-a\n+b"),
        (f"```app/x.py\n{BLOCK.format('a', 'b')}```\n", "app/x.py", "-a\n+b"),
        (f"x.py\n```\n{BLOCK.format('a', 'b')}{BLOCK.format('c', '')}```\n", "x.py", "-a\n+b\n@@\n-c"),
        (f"x.py\n```\n{BLOCK.format('a', 'b')}```\ny.py\n```\n{BLOCK.format('c', 'd')}```\n", "y.py", "-c\n+d"),
        ("```diff\n--- a/x.py\n+++ b/x.py\n@@ @@\n-a\n+b\n```\n", "x.py", "@@ @@\n-a\n+b"),
        ("x.py\n```python\nwhole = 1\n```\n", "x.py", "whole = 1"),
        ("Nothing here.", "x.py", ""),
        ("x.py\n```\n<<<<<<< SEARCH\nnever ended\n", "x.py", ""),
    ],
)
def test_what_a_reply_changes(reply: str, path: str, span: str) -> None:
    assert spans(reply, path) == span


# Where it belongs


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.test", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_the_first_commit_names_a_history_in_every_worktree(tmp_path: Path) -> None:
    repository = tmp_path / "orchard"
    (repository / "app").mkdir(parents=True)
    assert aider_stores.identity(repository) == "orchard"
    git(repository, "init", "-q")
    assert aider_stores.identity(repository) == "orchard"
    git(repository, "commit", "-q", "--allow-empty", "-m", "first")
    first = aider_stores.identity(repository)
    assert len(first) == 40
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    assert aider_stores.identity(repository) == aider_stores.identity(tmp_path / "tree") == first
    assert aider_stores.identity(tmp_path / "shallow") == "shallow"


def test_where_a_history_belongs_is_settled_at_first_sight() -> None:
    document = opened(START + "\n#### One?  \n")
    first = list(aider.parts(document, {}))
    assert first[0].name == ".repository"
    known = {".repository": first[0].version.replace("orchard-api", "0123456789" * 4)}
    again = list(aider.parts(document, known))
    assert [part.name.partition("/")[0] for part in again] == [".repository", "0123456789" * 4]


def test_a_copy_of_a_known_history_is_that_history() -> None:
    text = START + "\n#### One?  \n\nYes.\n\n"
    first = next(iter(aider.parts(opened(text), {})))
    later = START.replace("11:00:00", "12:00:00") + "\n#### Two?  \n"
    copy = opened(text + later, Path("/elsewhere/copied/.aider.chat.history.md"), lambda _: ["other|0", first.version])
    assert {part.name.partition("/")[0] for part in list(aider.parts(copy, {}))[1:]} == {"orchard-api"}
    other = opened(text.replace("One?", "Else?"), Path("/elsewhere/copied/x.md"), lambda _: [first.version])
    assert {part.name.partition("/")[0] for part in list(aider.parts(other, {}))[1:]} == {"copied"}


def test_nothing_in_a_version_is_text() -> None:
    version = next(iter(aider.parts(opened(START + "\n#### Something secret?  \n"), {}))).version
    assert "secret" not in version


def test_an_empty_history_has_no_parts() -> None:
    assert list(aider.parts(opened(""), {})) == []
    assert list(aider.parts(opened("\n\n"), {})) == []


def where(home: Path, *folders: Path, **env: str) -> Where:
    return Where(env, home, "linux", folders)


def test_roots(tmp_path: Path) -> None:
    for folder in ("a/b/c", "a/node_modules/x", "a/.hidden/x", "deep/1/2/3/4/5/6", "repo/sub/dir", "worked", "bare"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    for folder in ("a", "a/b/c", "a/node_modules/x", "a/.hidden/x", "deep/1/2/3/4/5/6", "repo", "worked"):
        (tmp_path / folder / ".aider.chat.history.md").write_text(START)
    (tmp_path / "bare" / ".aider.chat.history.md").mkdir()
    known = [tmp_path / name for name in ("repo/sub/dir", "worked", "bare", "gone")]
    found = aider.roots(where(tmp_path, *known, AFTERWORD_AIDER_ROOT=f"{tmp_path}/a:{tmp_path}/deep:{tmp_path}/none"))
    names = [str(root.relative_to(tmp_path)) for root in found]
    assert names == ["a", "deep", "none", "a/b/c", "repo", "worked"]
    files = [source.path for root in found for source in aider.sources(root)]
    assert [str(path.parent.relative_to(tmp_path)) for path in files] == ["a", "a/b/c", "repo", "worked"]
    assert aider.roots(where(tmp_path)) == []
