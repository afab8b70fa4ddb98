"""Tells the service manager how it goes: ready, still alive, stopping. Without one it says nothing."""

import contextlib
import os
import socket
from collections.abc import Mapping


class Notifier:
    """Speaks to the socket systemd names in `NOTIFY_SOCKET`, and knows how often it wants a sign of life."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._address = env.get("NOTIFY_SOCKET", "")
        watched_us = env.get("WATCHDOG_USEC", "")
        ours = env.get("WATCHDOG_PID", "") in ("", str(os.getpid()))
        self.pause_s: float | None = int(watched_us) / 3e6 if self._address and ours and watched_us.isdigit() else None
        """At most so long between two calls of `alive`; None when nobody watches."""

    def ready(self, status: str) -> None:
        self._say(f"READY=1\nSTATUS={status}")

    def alive(self) -> None:
        if self.pause_s is not None:
            self._say("WATCHDOG=1")

    def stopping(self) -> None:
        self._say("STOPPING=1")

    def _say(self, text: str) -> None:
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.connect(address)
            out.sendall(text.encode())
