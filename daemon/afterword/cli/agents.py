"""`agents`: hooks and our MCP server in the settings of the agents on this machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from afterword.app.config import Config
from afterword.cli.output import config_option, json_option, note, say, say_json, table
from afterword.domain.errors import Exit, UsageError

if TYPE_CHECKING:
    from afterword.app.agents import Agent
    from afterword.app.wiring import Entry, Wiring

_SAID = {
    "there": "is set", "put": "set", "would": "would be set", "taken": "taken out", "absent": "not set",
    "outdated": "names a program that is elsewhere now", "broken": "left alone",
}  # fmt: skip


@click.group(short_help="Wire Afterword into the agents on this machine.")
def agents() -> None:
    """Hooks and the MCP server of Afterword in the settings of your coding agents.

    With a hook a session is written up the moment it ends, and begins with what is known of the project. Over MCP an
    agent searches the past by itself.
    """


@agents.command(short_help="Put hooks and the MCP server into agents' settings.")
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@click.option("--no-hooks", is_flag=True, help="The MCP server only.")
@click.option("--no-mcp", is_flag=True, help="Hooks only.")
@click.option(
    "--memory", is_flag=True, help="Also a block in the file it reads when it starts (AGENTS.md, GEMINI.md …)."
)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --memory: in this project's file instead of the agent's own.",
)
@click.option("--lessons", is_flag=True, help="Also a hook that asks once for `remember` when a session worked.")
@click.option("--dry-run", is_flag=True, help="Say what would be set, change nothing.")
@json_option
@config_option
def install(
    names: tuple[str, ...],
    *,
    no_hooks: bool,
    no_mcp: bool,
    memory: bool,
    lessons: bool,
    project: Path | None,
    dry_run: bool,
    as_json: bool,
    config: Config,
) -> int:
    """Put hooks and the MCP server into the settings of the agents that are here, or of those named.

    An agent without a hook that it could begin a session with reads a file of its own: with --memory a block in that
    holds what sessions begin with, kept up to date. Claude Code has the hook.

    Entries are merged in place: every other byte of a file stays, comments too, and `agents uninstall` puts it back.
    Settings that cannot be read are left alone. Doing it again changes nothing.

    \b
    afterword agents install --dry-run
    afterword agents install claude codex
    afterword agents install codex --memory --project ~/src/harbor-api
    afterword agents install claude --lessons
    """
    if project is not None and not memory:
        raise UsageError("--project says where the block goes", "add --memory")
    wanted = {kind for kind, without in (("hook", no_hooks), ("mcp", no_mcp)) if not without}
    wiring, chosen = _chosen(config, names)
    found = [
        entry
        for agent in chosen
        for entry in wiring.install(
            agent, [p for p in (*agent.pieces, *(agent.lessons if lessons else ())) if p.kind in wanted], dry=dry_run
        )
    ]
    if memory:
        found += _memory(config, chosen, project, dry=dry_run)
    code = _tell("install", chosen, found, as_json=as_json)
    if not as_json:
        for agent in chosen:
            if agent.note and not no_hooks:
                note(f"{agent.label}: {agent.note}")
        if any(entry.state == "put" for entry in found):
            note("agents that run now see it when they start again")
    return code


@agents.command(short_help="Take them out again.")
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@json_option
@config_option
def uninstall(names: tuple[str, ...], *, as_json: bool, config: Config) -> int:
    """Take our entries out of agents' settings, and nothing else."""
    wiring, chosen = _chosen(config, names)
    found = [entry for agent in chosen for entry in wiring.uninstall(agent)]
    found += _blocks(config, chosen, take=True)
    return _tell("uninstall", chosen, found, as_json=as_json)


@agents.command(short_help="What is set in which agent.")
@json_option
@config_option
def status(*, as_json: bool, config: Config) -> int:
    """Which agents are here, and what of ours is in their settings."""
    from afterword.app.agents import AGENTS

    wiring = _wiring(config)
    found = [entry for agent in AGENTS if wiring.present(agent) for entry in wiring.status(agent)]
    found += _blocks(config, [agent for agent in AGENTS if wiring.present(agent)], take=False)
    return _tell("status", [agent for agent in AGENTS if wiring.present(agent)], found, as_json=as_json)


_MEMORY = "memory block"


def _memory(config: Config, chosen: "list[Agent]", project: Path | None, *, dry: bool) -> "list[Entry]":
    """Put the block into the files of the agents that have one."""
    from afterword.app.memory_blocks import Blocks, file_for
    from afterword.app.reading import reader, redactor, zones_of
    from afterword.app.ready import Recalling, project_of
    from afterword.app.wiring import Entry
    from afterword.domain.clock import clock_from
    from afterword.memory.context import rendered
    from afterword.redact.exits import leave

    blocks, own = Blocks(config.places.state), redactor(config)
    found = []
    with reader(config) as ledger:
        said = Recalling(config, ledger, zones_of(config, ledger).day(clock_from(dict(os.environ))()))
        name, folder = project_of(ledger, project.absolute()) if project else ("", None)
        for agent in chosen:
            path = file_for(agent.name, config.places.home, os.environ, folder)
            if path is None:
                if agent.name != "claude":
                    note(f"{agent.label}: it reads no such file{'' if project else ' of its own; name a --project'}")
                continue
            text = leave("context", rendered(said.of(name, agent.name)), own)
            state = blocks.put(agent.name, path, folder, text, dry=dry)
            state_said = "would" if dry and state == "put" else state
            problem = "one of the two lines around our block is gone" if state == "broken" else ""
            found.append(Entry(agent.name, _MEMORY, str(path), state_said, problem))
    return found


def _blocks(config: Config, chosen: "list[Agent]", *, take: bool) -> "list[Entry]":
    """The blocks there are, or what became of them when they were taken out."""
    from afterword.app.memory_blocks import Blocks
    from afterword.app.wiring import Entry

    blocks = Blocks(config.places.state)
    names = {agent.name for agent in chosen}
    mine = [one for one in blocks.every() if one.agent in names]
    return [Entry(one.agent, _MEMORY, one.file, blocks.take(one) if take else "there", "") for one in mine]


def _wiring(config: Config) -> "Wiring":
    from afterword.app.agents import programs
    from afterword.app.wiring import Wiring

    return Wiring(config.places.home, os.environ, config.places.state, programs())


def _chosen(config: Config, names: tuple[str, ...]) -> "tuple[Wiring, list[Agent]]":
    from afterword.app.agents import AGENTS, BY_NAME

    wiring = _wiring(config)
    for name in names:
        if name not in BY_NAME:
            raise UsageError(f"there is no agent {name!r}", f"name some of: {', '.join(BY_NAME)}")
        if not wiring.present(BY_NAME[name]):
            root = BY_NAME[name].root(config.places.home, os.environ)
            raise UsageError(f"{BY_NAME[name].label} is not here: there is no {root}", "start it once, then try again")
    return wiring, [BY_NAME[n] for n in names] if names else [agent for agent in AGENTS if wiring.present(agent)]


def _tell(what: str, chosen: "list[Agent]", found: "list[Entry]", *, as_json: bool) -> int:
    failed = any(entry.state == "broken" for entry in found)
    if as_json:
        import msgspec

        fields: dict[str, Any] = {"action": what, "entries": [msgspec.to_builtins(entry) for entry in found]}
        say_json("agents", fields)
    elif not chosen:
        note("no agent that could be wired is on this machine")
    elif not found:
        note("nothing of ours is in the settings of these agents")
    else:
        labels = {agent.name: agent.label for agent in chosen}
        table(
            [(labels[e.agent], e.what, _SAID[e.state] + (f": {e.problem}" if e.problem else ""), e.file) for e in found]
        )
    if failed and not as_json:
        from afterword.app.agents import programs

        say(f"What was left alone can be set by hand: an MCP server over stdio that starts `{programs().main} mcp`.")
    return Exit.FAILED if failed else Exit.DONE
