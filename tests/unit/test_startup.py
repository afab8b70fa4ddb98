"""What is imported at start: counting modules is steady where milliseconds are not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from homes import Home

HEAVY = {
    "asyncio", "chromadb", "google", "httpx", "hyperscan", "mcp", "multiprocessing", "numpy", "paramiko", "pydantic",
    "re2", "rich", "ruamel", "starlette", "tzlocal", "uvicorn", "watchdog", "yaml",
}  # fmt: skip


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_help_imports_no_command() -> None:
    found = loaded("import afterword.cli.main, afterword.cli.group")
    assert {name for name in found if name.startswith("afterword.")} == {
        "afterword.cli", "afterword.cli.commands", "afterword.cli.group", "afterword.cli.main", "afterword.cli.quick",
        "afterword.domain", "afterword.domain.errors",
    }  # fmt: skip
    assert not found & HEAVY


def test_the_domain_is_light() -> None:
    import pkgutil

    import afterword.domain

    names = [f"afterword.domain.{module.name}" for module in pkgutil.iter_modules(afterword.domain.__path__)]
    found = loaded("import " + ", ".join(names))
    assert not found & (HEAVY | {"click", "sqlite3", "zstandard"})


def test_reading_commands_load_neither_model_nor_watcher() -> None:
    found = loaded("import afterword.cli.look, afterword.index.search, afterword.app.reading, afterword.app.show")
    assert not found & HEAVY
    assert not {
        name for name in found if name.startswith(("afterword.compile", "afterword.serve", "afterword.capture"))
    }


def test_the_hook_loads_next_to_nothing() -> None:
    bare = loaded("pass")
    found = loaded("import afterword.hook") - bare
    assert found <= {"afterword", "afterword.hook", "_json", "time"}, found


def test_the_hook_at_work_loads_no_more_than_it_needs() -> None:
    bare = loaded("pass")
    code = (
        "import os, tempfile; home = tempfile.mkdtemp(); os.environ['HOME'] = home\n"
        "import sys; before = set(sys.modules)\n"
        "from afterword import hook\n"
        "hook.run(['session-start'], dict(os.environ), os.open('/dev/null', 0), 1)\n"
        "for name in set(before) - {'os', 'sys'}: sys.modules.pop(name, None)"
    )
    found = loaded(code) - bare
    assert found <= {"afterword", "afterword.hook", "_json", "time", "select", "_sha2", "_sha256"}, found


def test_asking_the_daemon_loads_no_more_than_http_client() -> None:
    found = loaded("import afterword.cli.remote, afterword.app.client")
    assert not found & (HEAVY | {"http.client", "http.server", "email", "ssl"})


def test_only_the_mcp_server_loads_its_sdk() -> None:
    found = loaded("import afterword.cli.mcp, afterword.cli.up, afterword.serve.loop, afterword.app.program")
    assert not found & {"mcp", "mcp_types", "anyio", "asyncio", "pydantic", "starlette"}


def at_work(home: Home, *words: str) -> tuple[set[str], int, int]:
    """(modules, patterns, exit code) of a command that did its work in a process of its own."""
    code = (
        "import json, re, sys\nfrom afterword.cli.main import main\n"
        f"sys.argv = {['afterword', *words]!r}\n"
        "try:\n    main()\nexcept SystemExit as err:\n"
        "    print(json.dumps([list(sys.modules), len(re._cache), int(err.code)]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=home.env, capture_output=True, text=True, check=True)
    modules, patterns, left = json.loads(done.stderr.splitlines()[-1])
    return set(modules), patterns, left


@pytest.fixture
def told(tmp_path: Path) -> Home:
    """A home in which something was taken in."""
    home = Home(tmp_path / "home")
    home.sample("claude-code")
    home.run("init", str(home.vault), "--zone", "Europe/Vienna", "--yes")
    home.run("ingest")
    return home


def test_a_search_loads_and_compiles_what_it_needs(told: Home) -> None:
    bare = loaded("pass")
    modules, patterns, code = at_work(told, "search", "test_the_answer")
    assert code in (0, 3)
    # The engine of the redactor is looked for, and not made.
    heavy = HEAVY - {"hyperscan"}
    assert not modules & (heavy | {"click", "dataclasses", "inspect", "logging", "platformdirs", "typing_extensions"})
    assert not {n for n in modules if n.startswith(("afterword.compile", "afterword.serve", "afterword.capture"))}
    # Each module is a fifth to half of a millisecond, each pattern of the redactor's as much.
    assert len(modules - bare) <= 185, sorted(modules - bare)
    assert patterns <= 76


def test_status_loads_no_model_and_no_vector_store(told: Home) -> None:
    modules, _, code = at_work(told, "status")
    assert code == 0
    assert not modules & (HEAVY - {"hyperscan", "numpy"})
    assert len(modules) <= 470, sorted(modules)


@pytest.mark.parametrize(
    "words",
    [
        "search a", "search a b --json", "search --exact a", "search -n 5 a", "search --limit 100000 a",
        "search a -- -n", "search -- --force-with-lease", "search --json -- --json",
    ],
)  # fmt: skip
def test_a_plain_search_is_read_as_click_reads_it(words: str) -> None:
    from afterword.cli.look import search
    from afterword.cli.quick import plain_search

    asked = plain_search(words.split())
    assert asked is not None
    read = search.make_context("search", words.split()[1:]).params
    assert (read["query"], read["as_json"], read["limit"], read["mode"]) == tuple(asked)
    assert not [name for name in ("project", "harness", "since", "until", "kind", "role", "machine") if read[name]]


@pytest.mark.parametrize(
    "words",
    [
        "", "searc a", "search", "search --", "search -n", "search -n 0 a", "search -n 100001 a", "search -n x a",
        "search -n ² a", "search --help", "search -h", "search a --kind prompt", "search --since 2026-01-01 a",
        "search -n5 a", "search --limit=5 a", "search --semantic a", "search --config x a", "search --unknown a",
        "status",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_click(words: str) -> None:
    from afterword.cli.quick import plain_search

    assert plain_search(words.split()) is None


def test_both_ways_to_search_answer_alike(told: Home) -> None:
    from afterword.cli.look import search

    quick = told.json("search", "the", code=None)
    env = {name: "" for name in os.environ if name.startswith(("XDG_", "AFTERWORD_"))} | told.env
    slow = CliRunner(env=env).invoke(search, ["the", "--json"], standalone_mode=False)
    assert json.loads(slow.stdout) == quick
    assert quick["results"]
    wrong = told.run("search", "the", "-n", "0", code=2)
    assert "is not in the range" in wrong.stderr
    assert told.json("search", "--json", "---", code=2)["error"]["kind"] == "usage"


def test_flags_are_words_unless_they_look_like_ours() -> None:
    import click

    from afterword.cli.look import search

    def words(*given: str) -> tuple[str, ...]:
        return tuple(search.make_context("search", list(given)).params["query"])

    assert words("--force-with-lease") == ("--force-with-lease",)
    assert words("-rf", "--no-verify=1", "--json") == ("-rf", "--no-verify=1")
    assert words("--", "--project") == ("--project",)
    assert words("--json", "--", "--projct") == ("--projct",)
    for wrong in ("--projct", "--sinse=2026-01-01", "--kinds"):
        with pytest.raises(click.UsageError, match="Did you mean --"):
            words("cache", wrong)
    with pytest.raises(click.UsageError):
        words("cache", "--kind", "outptu")
