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
