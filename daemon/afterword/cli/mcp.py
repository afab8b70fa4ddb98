"""`mcp`: answers an agent over MCP on stdin and stdout."""

import os

import click


@click.command(short_help="Answer an agent's searches over MCP (stdio).")
@click.option("--config", "config_file", type=click.Path(), help="Use this config.toml instead of the usual one.")
def mcp(*, config_file: str | None) -> None:
    """Answer an agent over MCP: it can search what was said and done in earlier sessions.

    An agent starts this itself, from its settings. It speaks the protocol on stdin and stdout, and ends with the
    agent. Results come from the running daemon, or straight from the ledger when none runs.
    """
    parent = os.getppid()
    # Stdout carries protocol only: whatever prints from here on, in any library, prints to stderr.
    wire = os.dup(1)
    os.dup2(2, 1)
    from pathlib import Path

    from afterword.cli.commands import MCP, imported

    imported(MCP)(0, wire, Path(config_file) if config_file else None, parent)
