"""Afterword: what coding agents did, written up in an Obsidian vault."""

__version__ = "0.1.0"
