"""Where Chroma keeps what it is given: in a folder of ours, or on a server. Light: nothing of Chroma is loaded."""

from urllib.parse import urlsplit

import msgspec

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server. `owner` names the ledger whose collections are ours, so that several machines may share one server;
    `token` is sent in `header` and shown nowhere."""

    url: str
    owner: str = ""
    token: str = ""
    header: str = "authorization"
    ca_file: str = ""
    tenant: str = "default_tenant"
    database: str = "default_database"

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        if not self.token:
            return {}
        bearer = "Bearer " if self.header == "authorization" else ""
        return {self.header: f"{bearer}{self.token}"}

    @property
    def in_the_clear(self) -> bool:
        """Whether what is sent can be read on its way."""
        found = urlsplit(self.url)
        return found.scheme == "http" and found.hostname not in LOOPBACK

    def __repr__(self) -> str:
        return f"Place({self.url!r})"


def problem_of(url: str) -> str:
    """What is wrong with a server's address; empty when nothing is."""
    try:
        found = urlsplit(url)
        _ = found.port
    except ValueError:
        return "is no address"
    if found.scheme not in ("http", "https") or not found.hostname:
        return "is no address of a server"
    if found.username or found.password:
        return "holds a name or password, which belongs into the token"
    if found.path not in ("", "/") or found.query or found.fragment:
        return "has more than host and port"
    return ""
