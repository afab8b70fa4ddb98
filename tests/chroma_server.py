"""A real Chroma server on loopback, and before it a door with TLS and a token, as a person would put one there."""

import contextlib
import http.client
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import chromadb
from chromadb.api import ClientAPI

TOKEN = "loopback-chroma-token"


class ChromaServer:
    """`chroma run`; may be stopped and started again on the same port and folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_how: object) -> None:
        self.stop()

    def start(self) -> None:
        program = Path(sys.executable).parent / "chroma"
        command = [str(program), "run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            assert self._process.poll() is None
            assert time.monotonic() < end
            with contextlib.suppress(OSError):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                with contextlib.closing(connection):
                    connection.request("GET", "/api/v2/heartbeat")
                    if connection.getresponse().status == 200:
                        return
            time.sleep(0.05)

    @contextlib.contextmanager
    def client(self) -> Iterator[ClientAPI]:
        """Chroma's own client, closed after the block."""
        made = chromadb.HttpClient(host="127.0.0.1", port=self.port)
        try:
            yield made
        finally:
            # It has two, and its own `close` leaves their connections open.
            for api in (made._server, made._admin_client._server):  # type: ignore[attr-defined]
                api._session.close()
            made.close()

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(30)
            self._process = None


class Door:
    """Before a server: answers only who knows the token; over TLS with a certificate. `answer` (status, body) is given
    to everybody instead, when it is set; `silent` gives nobody any."""

    def __init__(
        self, port: int, header: str = "authorization", token: str = f"Bearer {TOKEN}", cert: Path | None = None
    ) -> None:
        self.answer: tuple[int, bytes] | None = None
        self.silent = threading.Event()
        self.seen: list[str] = []
        door = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                door.seen.append(self.path)
                if door.silent.is_set():
                    time.sleep(5)
                    self.close_connection = True
                    return
                status, data = door.answer or (401, b'{"error":"Unauthorized","message":"no"}')
                if door.answer is None and self.headers.get(header) == token:
                    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as inner:
                        inner.request(self.command, self.path, body, {"content-type": "application/json"})
                        got = inner.getresponse()
                        status, data = got.status, got.read()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = do_PUT = pass_on  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        if cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self.url = f"{'https' if cert else 'http'}://localhost:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_how: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def certificate(folder: Path) -> Path:
    """Key and certificate of `localhost` in one file, signed by itself."""
    key, cert, both = folder / "key.pem", folder / "cert.pem", folder / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert), "-days",
         "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
