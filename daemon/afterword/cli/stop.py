"""`stop`: asks the running daemon to finish what it is at and leave."""

import os
import signal
import time

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, say, say_json
from afterword.domain.errors import Busy, NothingFound


@click.command(short_help="Ask the running daemon to finish and leave.")
@click.option("--wait", "wait_s", type=click.IntRange(0, 3600), default=30, show_default=True, help="Seconds to wait.")
@json_option
@config_option
def stop(*, wait_s: int, as_json: bool, config: Config) -> None:
    """Ask the running daemon (`up` or `run`) to finish the transaction at hand and leave. Nothing is lost; queued
    jobs are kept. Exit code 3 when none runs."""
    from afterword.app.client import ask_door
    from afterword.store import lock

    state = config.places.state
    said = ask_door(state, "/v1/ping")
    holder = lock.holder(state)
    if said is None or holder is None:
        raise NothingFound("no daemon runs", "`afterword up` or `afterword run` starts one")
    pid = said.get("pid")
    if not isinstance(pid, int) or pid != holder.get("pid"):
        raise Busy("the daemon changed while it was asked to stop", "try again")
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + wait_s
    while (now := lock.holder(state)) is not None and now.get("pid") == pid:
        if time.monotonic() >= end:
            raise Busy(f"the daemon (pid {pid}) was told to stop and is not done yet", "it stops after this step")
        time.sleep(0.05)
    if as_json:
        say_json("stop", {"pid": pid, "stopped": True})
    else:
        say(f"The daemon (pid {pid}) has stopped.")
