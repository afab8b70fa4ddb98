"""An open door over a ledger, in this process: what the API is tested on."""

import http.client
import json
import socket
from pathlib import Path
from typing import Any

import msgspec
from writer import REDACTOR

from afterword.app.config import load
from afterword.app.searching import Searcher
from afterword.serve.door import Door
from afterword.serve.hand import Hand
from afterword.serve.jobs import Lines
from afterword.serve.room import Room
from afterword.store import doorfile
from afterword.store.ledger.ledger import open_writer


class House:
    """An open door over an empty ledger."""

    def __init__(self, tmp_path: Path, **env: str) -> None:
        config = load(env={"HOME": str(tmp_path), **env})
        self.config = msgspec.structs.replace(
            config, places=msgspec.structs.replace(config.places, home=tmp_path, state=tmp_path / "state")
        )
        self.state = self.config.places.state
        self.ledger = open_writer(self.state, "box")
        self.lines = Lines()
        self.woken = 0
        env = {"HOME": str(tmp_path), **env}
        searcher = Searcher(self.config, env)
        self.room = Room(self.config, env, lambda: 1, REDACTOR, self.lines, searcher, self._wake, Hand(self._wake))
        self.door = Door(self.room)
        card = doorfile.read(self.state)
        assert card is not None
        self.token = card.token

    def _wake(self) -> None:
        self.woken += 1

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **other: str
    ) -> tuple[int, Any]:
        """(status, answer) of a request; the headers are the right ones but for what is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.door.port, timeout=10)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.token}"} | ({"Content-Type": "application/json"} if data else {})
        sent |= (headers or {}) | other
        connection.request(method, path, data, {name: value for name, value in sent.items() if value})
        response = connection.getresponse()
        said = response.read()
        connection.close()
        return response.status, json.loads(said)

    def raw(self, data: bytes, timeout_s: float = 10.0) -> bytes:
        with socket.create_connection(("127.0.0.1", self.door.port), timeout=timeout_s) as link:
            link.sendall(data)
            said = b""
            while piece := link.recv(65536):
                said += piece
            return said

    def pair(self, **code: Any) -> str:
        """A token of somebody who was paired just now."""
        said = self.ask("POST", "/v1/pair/codes", code)[1]
        status, made = self.ask("POST", "/v1/pair", {"code": said["code"], "name": "a test"}, Authorization="")
        assert status == 200, made
        return str(made["token"])

    def close(self) -> None:
        self.lines.close()
        self.door.close()
        self.ledger.close()
