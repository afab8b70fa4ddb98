"""A person at a terminal, for tests of what is drawn there and of the keys it heeds."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

from homes import Home


class Seat:
    """A person at a terminal."""

    def __init__(self, home: Home, *words: str, columns: int = 60, **env: str) -> None:
        self.side, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (30, columns))
        self.was = termios.tcgetattr(theirs)
        self.theirs = theirs
        self.process = subprocess.Popen(
            [sys.executable, "-m", "afterword", *words],
            env={**home.env, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "30", **env},
            stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.seen = ""

    def see(self, text: str) -> str:
        """Wait until a text is on the screen; all that came since the last time."""
        end = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.side], [], [], 0.2)[0]:
                self.seen += os.read(self.side, 65536).decode("utf-8", "replace")
        seen, self.seen = self.seen, ""
        return seen

    def press(self, keys: str) -> None:
        os.write(self.side, keys.encode())

    def end(self) -> str:
        """Wait for the end; the rest of what came, which must leave the terminal as it was."""
        _, said = self.process.communicate(timeout=60)
        while select.select([self.side], [], [], 0)[0]:
            self.seen += os.read(self.side, 65536).decode("utf-8", "replace")
        assert b"Traceback" not in said, said
        assert termios.tcgetattr(self.theirs)[3] == self.was[3]
        return self.seen

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.side)
        os.close(self.theirs)
