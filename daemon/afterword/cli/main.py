"""The command line: where it begins, and the one place where errors become words and exit codes."""

import gc
import json
import os
import sqlite3
import sys
from typing import Any

from afterword.cli.quick import plain_search
from afterword.domain.errors import AfterwordError, Exit


def main() -> None:
    """Run a command; every error becomes one sentence with its fix and the exit code scripts rely on."""
    if sys.platform == "win32":
        sys.stderr.write("afterword: runs on Linux and macOS only, not on Windows\n")
        sys.exit(Exit.FAILED)
    if sys.argv[1:2] != ["open"]:  # that one starts a program of the person's, which makes files of theirs
        os.umask(0o077)
    # Modules make hundreds of thousands of objects and no garbage: looking for it so often is a tenth of a command.
    gc.set_threshold(30_000, 20, 20)
    as_json = "--json" in sys.argv
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else Exit.DONE)
    except KeyboardInterrupt:
        _fail(as_json, "stopped", "stopped", "", Exit.FAILED)
    except AfterwordError as err:
        _fail(as_json, err.kind, err.message, err.hint, err.code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Exit.FAILED)
    except OSError as err:
        where = f": {err.filename}" if err.filename else ""
        _fail(as_json, "system", f"{err.strerror or err}{where}", "check the disk and the permissions", Exit.FAILED)
    except sqlite3.OperationalError as err:
        _fail(as_json, "system", f"the database could not be used: {err}", "see `afterword doctor`", Exit.FAILED)
    except sqlite3.DatabaseError as err:
        _fail(as_json, "data", f"the ledger is damaged: {err}", "see `afterword doctor`", Exit.FAILED)
    except Exception:  # noqa: BLE001  # a bug keeps its traceback, but not the texts that may be in it
        import traceback

        from afterword.cli.output import clean

        sys.stderr.write(clean(traceback.format_exc()))
        _fail(as_json, "bug", "this is a bug in afterword", "please report it with the lines above", Exit.FAILED)


def _run(words: list[str]) -> Any:
    asked = plain_search(words)
    if asked is not None:
        _msgspec_alone()
        from afterword.cli.finding import find
        from afterword.cli.output import settings

        return find(settings(), asked.query, as_json=asked.as_json, limit=asked.limit, mode=asked.mode)
    from afterword.cli.group import run

    return run()


def _msgspec_alone() -> None:
    """Load msgspec as where there is no typing_extensions, which it uses only if it is there: a tenth of a search."""
    if "msgspec" not in sys.modules and "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # Python's own sign for "not there"
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]


def _fail(as_json: bool, kind: str, message: str, hint: str, code: Exit) -> None:
    # A message may quote a file name or a query, so it leaves like every other text.
    from afterword.cli.output import clean

    message, hint = clean(message), clean(hint)
    if as_json:
        error: dict[str, Any] = {"version": 1, "error": {"kind": kind, "message": message, "hint": hint}}
        sys.stdout.write(json.dumps(error, ensure_ascii=False) + "\n")
    if hint and message.endswith(("?", ".", "!")):
        hint = hint[:1].upper() + hint[1:]
    elif hint:
        message += ":"
    sys.stderr.write(f"afterword: {message}{f' {hint}' if hint else ''}\n")
    sys.exit(code)
