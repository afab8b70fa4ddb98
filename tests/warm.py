"""The program, started as often as tests start it: modules are loaded once, and each start is a fork of that process.

A start is a process of its own, with its own arguments, environment, folder, umask and standard streams, and it ends as
any other does; what it spares is loading the same modules a thousand times. It is not used where the way a process
starts is what counts: daemons, faults, test builds, another locale. Linux only; elsewhere `run` starts Python.
"""

import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SEEDS = 2
"""Processes that starts are forked from, in turn: each has a hash seed of its own, so an order that depends on one
differs between one command and the next."""
_LEFT_ALONE = ("AFTERWORD_FAULT", "CANARY_BUILD", "COVERAGE_PROCESS_START")
_STREAMS = 4


def fits(env: Mapping[str, str]) -> bool:
    """Whether a start with this environment is like one of a process that was begun with ours."""
    if sys.platform != "linux" or any(name in env for name in _LEFT_ALONE):
        return False
    if any(name.startswith("PYTHON") for name in env.keys() - {"PYTHONHASHSEED"}):
        return False
    same = all(env.get(name) == os.environ.get(name) for name in ("LANG", "LC_ALL", "LC_CTYPE"))
    return same and env.get("PYTHONHASHSEED", "random") == "random"


class Warm:
    """The processes that are forked; begun by the first start."""

    def __init__(self) -> None:
        self._servers: list[tuple[subprocess.Popen[bytes], socket.socket]] = []
        self._starts = 0

    def run(
        self, words: Sequence[str], env: Mapping[str, str], timeout_s: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """`python -m afterword WORDS`, run to its end.

        Raises:
            subprocess.TimeoutExpired: it was killed because it did not end.
        """
        ends = [os.pipe() for _ in range(3)]  # its output, its errors, how it ended
        request = {"words": list(words), "env": dict(env), "cwd": str(Path.cwd()), "umask": _umask()}
        with open(os.devnull, "rb") as nothing:
            given = [nothing.fileno(), *(out for _, out in ends)]
            try:
                socket.send_fds(self._server(), [json.dumps(request).encode()], given)
            finally:
                for _, out in ends:
                    os.close(out)
        said = {source: bytearray() for source, _ in ends}
        end = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as waiting:
            for source in said:
                waiting.register(source, selectors.EVENT_READ)
            while waiting.get_map():
                for key, _ in waiting.select(max(0.0, end - time.monotonic())):
                    data = os.read(key.fd, 1 << 16)
                    said[key.fd] += data
                    if not data:
                        waiting.unregister(key.fd)
                        os.close(key.fd)
                if time.monotonic() > end:
                    _kill(bytes(said[ends[2][0]]))
                    for source in list(waiting.get_map()):
                        waiting.unregister(source)
                        os.close(int(source))
                    raise subprocess.TimeoutExpired(list(words), timeout_s)
        out, err, ended = (bytes(said[source]) for source, _ in ends)
        _, code = ended.split()
        return subprocess.CompletedProcess(
            [sys.executable, "-m", "afterword", *words], int(code), _text(out), _text(err)
        )

    def _server(self) -> socket.socket:
        self._starts += 1
        if len(self._servers) < SEEDS:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "HOME")
                env = {name: os.environ[name] for name in kept if name in os.environ}
                process = subprocess.Popen(
                    [sys.executable, "-P", __file__, str(theirs.fileno())],
                    env=env | {"PYTHONHASHSEED": "random"},
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            self._servers.append((process, ours))
            return ours
        return self._servers[self._starts % SEEDS][1]

    def close(self) -> None:
        """End the processes; starts that run are not theirs to end."""
        for process, link in self._servers:
            link.close()
            process.communicate(timeout=60)
        self._servers.clear()


def _umask() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("Umask:")).split()[1], 8)


def _kill(ended: bytes) -> None:
    if ended:
        os.kill(int(ended.split()[0]), signal.SIGKILL)


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def _load() -> None:
    """What commands load, but for what is large and seldom: the vector store, models, the web."""
    import importlib
    import pkgutil

    import afterword

    apart = {"afterword.__main__", "afterword.hook", "afterword.serve.mcp"}
    for module in pkgutil.walk_packages(afterword.__path__, "afterword."):
        if module.name not in apart and not module.name.startswith("afterword.index."):
            importlib.import_module(module.name)
    # The rules compiled: every redactor of these processes has them from here.
    redactor = importlib.import_module("afterword.redact.redactor")
    redactor.Redactor().warm()


def _serve(link: socket.socket) -> int:
    """Fork one process for each request; what is returned is the exit code of the process it is returned in."""
    running: dict[int, tuple[int, int]] = {}
    poll = select.poll()
    poll.register(link, select.POLLIN)
    while True:
        for handle, _ in poll.poll():
            if handle in running:
                pid, told = running.pop(handle)
                _, status = os.waitpid(pid, 0)
                os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(told)
                poll.unregister(handle)
                os.close(handle)
                continue
            data, streams, _, _ = socket.recv_fds(link, 1 << 20, _STREAMS)
            if not data:
                return 0
            pid = os.fork()
            if pid == 0:
                link.close()
                for other, (_, told) in running.items():
                    os.close(other)
                    os.close(told)
                return _start(json.loads(data), streams)
            *rest, told = streams
            for each in rest:
                os.close(each)
            os.write(told, f"{pid} ".encode())
            process = os.pidfd_open(pid)
            running[process] = (pid, told)
            poll.register(process, select.POLLIN)


def _start(request: dict[str, object], streams: list[int]) -> int:
    from afterword.cli.main import main

    *standard, told = streams
    for number, each in enumerate(standard):
        os.dup2(each, number)
        os.close(each)
    os.close(told)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    time.tzset()
    os.umask(request["umask"])  # type: ignore[arg-type]
    os.chdir(request["cwd"])  # type: ignore[arg-type]
    sys.argv = ["afterword", *request["words"]]  # type: ignore[misc]
    main()
    return 0


if __name__ == "__main__":
    import gc

    _load()
    gc.collect()
    gc.freeze()
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
