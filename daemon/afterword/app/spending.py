"""The way to Gemini as the settings and the environment have it, and what its calls cost. Light: `status` asks it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from afterword.app.config import Config
from afterword.domain.clock import DAY_US, Zones, format_rfc3339
from afterword.store.ledger import backfill, model_calls
from afterword.store.ledger.ledger import Ledger

Name: TypeAlias = Literal["gemini", "extractive"]

KEY_FILE: Final = "gemini.key"
VARIABLES: Final = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
RUNNING: Final = "engine_running"
"""The small fact who writes up in the daemon that runs, or ran last."""
_FAILING_DAYS: Final = 7


class Found(msgspec.Struct, frozen=True):
    """The way to Gemini, or why there is none; `by` names what gave it. The key goes to nobody but the server."""

    by: str = ""
    key: str = ""
    base_url: str = ""
    project: str = ""
    location: str = ""
    problem: str = ""

    @property
    def there(self) -> bool:
        return bool(self.by)

    def __repr__(self) -> str:
        return f"Found(by={self.by!r}, problem={self.problem!r})"


def way(config: Config, env: Mapping[str, str]) -> Found:
    """How Gemini can be reached: with a key from the environment or its file, or through Google Cloud."""
    wanted = config.settings.gemini
    base_url = wanted.base_url or env.get("GOOGLE_GEMINI_BASE_URL", "")
    if wanted.vertex:
        return Found("gemini.vertex", "", wanted.base_url, wanted.project, wanted.location)
    for name in VARIABLES:
        if env.get(name, "").strip():
            return Found(name, env[name].strip(), base_url)
    path = Path(wanted.key_file).expanduser() if wanted.key_file else config.places.config_file.parent / KEY_FILE
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(4096).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return Found(problem=f"{path} does not exist" if wanted.key_file else "")
    except OSError as err:
        return Found(problem=f"{path}: {err.strerror or err}")
    if stat.S_IMODE(mode) & 0o077:
        return Found(problem=f"{path} can be read by others: `chmod 600 {path}`")
    if not key or not key.isprintable() or " " in key:
        return Found(problem=f"{path} does not hold a key alone")
    return Found(str(path), key, base_url)


def in_force(config: Config, found: Found) -> Name:
    """Who writes up from now on."""
    wanted = config.settings.compile.engine
    if wanted == "auto":
        return "gemini" if found.there else "extractive"
    return "gemini" if wanted == "gemini" else "extractive"


def spend(
    config: Config, env: Mapping[str, str], ledger: Ledger, zones: Zones, now_us: int, *, running: bool
) -> dict[str, Any]:
    """The field `spend` of `status --json`: who writes up, today's tokens, and what cannot be had. A `running` daemon
    may have another environment than who asks: it said itself who writes."""
    found = way(config, env)
    today, ever = model_calls.spent(ledger, zones.day(now_us)), model_calls.spent(ledger)
    pause = model_calls.pause(ledger)
    past = backfill.asked(ledger)
    return {
        "engine": (running and ledger.meta(RUNNING)) or in_force(config, found),
        "model": config.settings.gemini.model if found.there else None,
        "key": found.by or None,
        "problem": found.problem or None,
        "today": {**msgspec.to_builtins(today), "tokens": today.tokens},
        "ever": {**msgspec.to_builtins(ever), "tokens": ever.tokens},
        "daily_tokens": config.settings.gemini.daily_tokens,
        "paused": {"until": format_rfc3339(pause.until_us), "reason": pause.reason}
        if pause and pause.until_us > now_us
        else None,
        "backfill": {"until": format_rfc3339(past.until_us), "reason": past.reason or None} if past else None,
        "failing": [
            {
                "step": call.step,
                "subject": call.subject,
                "why": call.why,
                "reason": str(call.reason),
                "again": format_rfc3339(call.again_us) if call.again_us else None,
            }
            for call in model_calls.failing(ledger, now_us - _FAILING_DAYS * DAY_US)
        ],
    }
