"""Processes that fill the files of the full text from the rows of the ledger: one for each file.

They read the ledger and write their file, in steps that are kept; whatever ends them, the rest is filled later.
"""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from afterword.store.fulltext import Range, shard_path
from afterword.store.ledger.ledger import open_reader
from afterword.store.textpart import Part

_NICE = 5
_LOOK_S = 0.1


def filling(state: Path, ranges: Sequence[Range], stop: Callable[[], bool], on_progress: Callable[[], None]) -> bool:
    """Fill the files that hold these ranges, and wait for that; `on_progress` is called all the while.

    Returns:
        Whether somebody said stop.
    """
    processes: list[subprocess.Popen[bytes]] = []
    stopped = False
    try:
        with contextlib.suppress(OSError):  # what no process fills is filled by the caller
            for rows in ranges:
                words = map(str, (state, rows.start, rows.end, rows.shards, rows.shard))
                processes.append(
                    subprocess.Popen(
                        [sys.executable, "-P", "-m", "afterword.store.textfill", *words],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        process_group=0,
                    )
                )
        while not stopped and any(process.poll() is None for process in processes):
            time.sleep(_LOOK_S)
            on_progress()
            stopped = stop()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return stopped


def fill(state: Path, rows: Range) -> None:
    """Fill one file, until the process that waits for it is gone."""
    parent = os.getppid()
    ledger = open_reader(state)
    db = sqlite3.connect(shard_path(state, rows.shard), isolation_level=None, timeout=30)
    try:
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -32768")
        Part(db, "tool", ledger.db, rows).fill(lambda: os.getppid() != parent)
    finally:
        db.close()
        ledger.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    folder, *numbers = sys.argv[1:]
    first, last, count, own = map(int, numbers)
    fill(Path(folder), Range(first, last, count, own))
