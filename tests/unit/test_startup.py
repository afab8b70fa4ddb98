"""What is imported at start: counting modules is steady where milliseconds are not."""

import subprocess
import sys

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
    found = loaded("import afterword.cli.main")
    assert {name for name in found if name.startswith("afterword.")} == {
        "afterword.cli", "afterword.cli.commands", "afterword.cli.main", "afterword.domain", "afterword.domain.errors",
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
