"""What every measurement shares: the machine it ran on, what a process costs, and how results are shown.

CPU seconds are user + system; a ratio is taken within one run, both sides by turns. Where the machine is shared, wall
times are upper bounds.
"""

import argparse
import json
import os
import platform
import resource
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.targets import TARGETS

_SCALE = 1024 if sys.platform == "linux" else 1024 * 1024
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "system": platform.platform(terse=True),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load": round(os.getloadavg()[0], 1),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


class Cost(msgspec.Struct, frozen=True):
    """What a program cost from its start to its end, with the children it waited for."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def run(words: Sequence[str], env: Mapping[str, str], *, codes: Sequence[int] = (0,)) -> Cost:
    """Run a program to its end; its output is thrown away.

    Raises:
        SystemExit: it ended with another code than these.
    """
    began = time.monotonic()
    child = subprocess.Popen(list(words), env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        sys.exit(f"{' '.join(words)} ended with {child.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / _SCALE)


class Each(msgspec.Struct):
    """What one process cost, by /proc as it was last seen. `what` is the end of its command."""

    what: str
    cpu_s: float = 0.0
    peak_mb: float = 0.0


def watched(
    words: Sequence[str], env: Mapping[str, str], every_s: float, look_at: Callable[[float], None]
) -> tuple[Cost, list[Each]]:
    """Run a program to its end; what it cost in all, and each of its processes. `look_at` is called all the while with
    the seconds since the start. Processes are told apart on Linux only.

    Raises:
        SystemExit: it ended with another code than 0.
    """
    began = time.monotonic()
    child = subprocess.Popen(list(words), env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen: dict[int, Each] = {}
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        for each in [child.pid, *children(child.pid)] if sys.platform == "linux" else []:
            _see(each, seen)
        look_at(time.monotonic() - began)
        time.sleep(every_s)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(words)} ended with {child.returncode}")
    peak = max([usage.ru_maxrss / _SCALE, *(each.peak_mb for each in seen.values())])
    # Processes that were ended, not waited for, are in the second of the two only.
    cpu_s = max(usage.ru_utime + usage.ru_stime, sum(each.cpu_s for each in seen.values()))
    return Cost(cpu_s, time.monotonic() - began, peak), list(seen.values())


def _see(pid: int, seen: dict[int, Each]) -> None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        found = seen.setdefault(pid, Each("?"))
        found.what = next((word for word in words if word.startswith("afterword")), found.what)
        found.cpu_s = (int(fields[11]) + int(fields[12])) * _TICK_S
        found.peak_mb = max(found.peak_mb, peak_mb(pid))
    except (OSError, StopIteration):
        return  # it ended while we looked


class Moment(msgspec.Struct, frozen=True):
    """A running process and its children at one moment, from /proc. `woken`: how often its threads were switched to."""

    cpu_s: float
    woken: int
    rss_mb: float
    handles: int
    threads: int
    at_s: float


def look(pid: int) -> Moment:
    """How it stands with a process and its children. Linux only.

    Raises:
        SystemExit: this system has no /proc.
    """
    if sys.platform != "linux":
        sys.exit("only Linux says in /proc what a running process costs")
    cpu_s = rss_mb = 0.0
    woken = handles = threads = 0
    for each in [pid, *children(pid)]:
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            cpu_s += (int(fields[11]) + int(fields[12])) * _TICK_S
            rss_mb += _own_mb(each)
            handles += len(os.listdir(f"/proc/{each}/fd"))
            for task in os.listdir(f"/proc/{each}/task"):
                threads += 1
                said = Path(f"/proc/{each}/task/{task}/status").read_text()
                woken += sum(int(line.split()[1]) for line in said.splitlines() if "ctxt_switches" in line)
        except OSError:
            continue  # it ended while we looked
    return Moment(cpu_s, woken, rss_mb, handles, threads, time.monotonic())


def _own_mb(pid: int) -> float:
    """The memory a process holds; of what it shares with others (libraries, what a fork left alike) its share."""
    said = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in said.splitlines() if line.startswith("Pss:"))


def children(pid: int) -> list[int]:
    """The processes below one. Linux only."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in map(int, task.read_text().split()):
                found += [child, *children(child)]
        except OSError:
            continue
    return found


def peak_mb(pid: int) -> float:
    """The most memory a running process had so far. Linux only."""
    said = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in said.splitlines() if line.startswith("VmHWM"))


def own_cpu_s() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def medians(step: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median milliseconds of a step in this thread: wall and CPU."""
    wall, cpu = [], []
    for _ in range(rounds):
        began, used = time.perf_counter(), time.thread_time()
        step()
        cpu.append((time.thread_time() - used) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
    return statistics.median(wall), statistics.median(cpu)


def options(description: str | None, *, size_mb: int | None = None) -> argparse.ArgumentParser:
    """The options that every command here has."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object, for `python -m bench.report`")
    if size_mb is not None:
        parser.add_argument("--size-mb", type=int, default=size_mb, help=f"of the corpus (default {size_mb})")
        parser.add_argument("--seed", type=int, default=1, help="of the corpus (default 1)")
    return parser


def show(bench: str, found: dict[str, Any], *, as_json: bool) -> None:
    """Print what was found, each figure beside its target."""
    found = {"bench": bench, "on": machine(), **found}
    if as_json:
        print(json.dumps(found))
        return
    targets = {target.field: target for target in TARGETS if target.bench == bench}
    print(f"{bench}: " + ", ".join(f"{name} {value}" for name, value in found["on"].items()))
    for name, value in found.items():
        if name in ("bench", "on"):
            continue
        shown = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
        beside = targets[name].verdict(value, found) if name in targets else ""
        print(f"  {name:34}{shown:>14}  {beside}".rstrip())
