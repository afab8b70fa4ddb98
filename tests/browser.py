"""The plugin's built bundle in a headless Chromium, with a stand-in for the app, against whatever daemon there is."""

import contextlib
import http.client
import http.server
import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.sync.client import connect

HERE = Path(__file__).parent / "obsidian"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WAIT_S = 60.0


class Window(http.server.ThreadingHTTPServer):
    """Serves the page, the vault's files, and does its requests as the app's own process does: without an Origin."""

    daemon_threads = True

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        self.delay_s = 0.0
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Window

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        plugin = self.server.vault / ".obsidian/plugins/afterword"
        known = {
            "/": HERE / "page.html", "/obsidian.js": HERE / "obsidian.js", "/main.js": plugin / "main.js",
            "/styles.css": plugin / "styles.css",
        }  # fmt: skip
        path = self._file() if url.path == "/file" else known.get(url.path, self.server.vault / "none")
        kinds = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
        if path.is_file():
            self._say(200, path.read_bytes(), kinds.get(path.suffix, "text/plain"))
        else:
            self._say(404, b"")

    def do_PUT(self) -> None:
        self._file().write_bytes(self._body())
        self._say(200, b"")

    def do_POST(self) -> None:
        asked = json.loads(self._body())
        url = urlsplit(asked["url"])
        assert url.hostname == "127.0.0.1"
        time.sleep(self.server.delay_s)
        connection = http.client.HTTPConnection("127.0.0.1", url.port or 0, timeout=30)
        headers = dict(asked.get("headers") or {})
        if "contentType" in asked:
            headers["Content-Type"] = asked["contentType"]
        try:
            connection.request(asked["method"], url.path, (asked.get("body") or "").encode() or None, headers)
            answer = connection.getresponse()
            said = json.dumps({"status": answer.status, "text": answer.read().decode()}).encode()
        except (OSError, http.client.HTTPException):
            self._say(502, b"")
        else:
            self._say(200, said)
        finally:
            connection.close()

    def _file(self) -> Path:
        return self.server.vault / parse_qs(urlsplit(self.path).query)["path"][0]

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _say(self, status: int, data: bytes, kind: str = "text/plain") -> None:
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        return


class Page:
    """A tab, spoken to over the DevTools protocol."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._n = 0
        self.errors: list[str] = []

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        self._n += 1
        self._socket.send(json.dumps({"id": self._n, "method": method, "params": given}))
        while True:
            said = json.loads(self._socket.recv(timeout=WAIT_S))
            if said.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(said["params"]["exceptionDetails"])[:2000])
            if said.get("id") == self._n:
                assert "error" not in said, said
                found: dict[str, Any] = said["result"]
                return found

    def js(self, words: str) -> Any:
        """What an expression comes to, awaited."""
        said = self.call("Runtime.evaluate", expression=words, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def until(self, words: str) -> Any:
        """The same, when it is true."""
        end = time.monotonic() + WAIT_S
        while not (found := self.js(words)):
            assert time.monotonic() < end, (words, self.js("document.body.innerText"), self.js("window.notices"))
            time.sleep(0.05)
        return found

    def key(self, name: str, modifiers: int = 0) -> None:
        code = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "Escape": 27}[name]
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode=code,
                modifiers=modifiers,
            )

    def text(self, words: str) -> None:
        self.call("Input.insertText", text=words)

    def size(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def shot(self, path: Path) -> None:
        import base64

        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextlib.contextmanager
def browser(url: str) -> Iterator[Page]:
    """A headless Chromium with this page open; ended at the end."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank",
        ]  # fmt: skip
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port_file = Path(folder) / "DevToolsActivePort"
            end = time.monotonic() + WAIT_S
            while not (port_file.exists() and port_file.read_text().count("\n")):
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.05)
            port = int(port_file.read_text().split("\n")[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            connection.request("GET", "/json")
            rows = json.loads(connection.getresponse().read())
            connection.close()
            tab = next(row for row in rows if row["type"] == "page")
            with connect(tab["webSocketDebuggerUrl"], max_size=None, open_timeout=WAIT_S, proxy=None) as socket:
                page = Page(socket)
                page.call("Runtime.enable")
                page.call("Page.enable")
                page.size(420, 800)
                page.call("Page.navigate", url=url)
                page.until("document.readyState === 'complete' && !!window.begin")
                yield page
        finally:
            process.terminate()
            process.wait(20)
