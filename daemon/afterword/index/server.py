"""A Chroma server as the child of `keeper` reaches it: looked at by hand first, because Chroma's own client tells
neither a wrong token from a wrong version nor a refused connection from a certificate that nobody trusts."""

from typing import cast
from urllib.parse import urlsplit

import chromadb
import httpx
from chromadb.api.client import Client
from chromadb.errors import ChromaError, NotFoundError

from afterword.index.place import Place

_SPOKEN = "1"
"""The major version of the servers we speak with."""
_LOOK_S = 10.0
PAGE = 300
"""What is asked for, and given, at once: servers for many bound it."""


class Unusable(Exception):
    """The server cannot be used; the message says why, in words of ours."""


def open_server(place: Place) -> Client:
    """A client of the server.

    Raises:
        Unusable: there is none, or not one that we can speak with.
    """
    _look(place)
    found = urlsplit(place.url)
    ssl = found.scheme == "https"
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    if place.ca_file:
        settings.chroma_server_ssl_verify = place.ca_file
    try:
        client = chromadb.HttpClient(
            host=found.hostname or "",
            port=found.port or (443 if ssl else 80),
            ssl=ssl,
            headers=place.headers,
            settings=settings,
            tenant=place.tenant,
            database=place.database,
        )
    except NotFoundError as err:
        raise Unusable(
            f"the Chroma server at {place.url} has no database {place.database!r} in tenant {place.tenant!r}"
        ) from err
    except (ChromaError, ValueError, httpx.HTTPError) as err:
        raise Unusable(said(err, place)) from err
    return cast("Client", client)


def said(err: Exception, place: Place) -> str:
    """What an error of a call means. Never its own words: they may quote what was sent."""
    name = type(err).__name__
    if isinstance(err, httpx.TransportError):
        if "CERTIFICATE" in str(err) or "SSL" in str(err):
            return f"the Chroma server at {place.url} has a certificate that is not trusted"
        return f"the Chroma server at {place.url} does not answer ({name})"
    return f"the Chroma server at {place.url} refused ({name})"


def _look(place: Place) -> None:
    """See that there is a Chroma server that lets us in and speaks as we do."""
    at = f"the Chroma server at {place.url}"
    verify = httpx.create_ssl_context(verify=place.ca_file) if place.ca_file else True
    try:
        with httpx.Client(timeout=_LOOK_S, headers=place.headers, verify=verify) as client:
            answer = client.get(f"{place.url.rstrip('/')}/api/v2/version")
    except httpx.HTTPError as err:
        raise Unusable(said(err, place)) from err
    if answer.status_code in (401, 403):
        raise Unusable(f"{at} does not accept the token ({answer.status_code})")
    if answer.status_code in (404, 405, 410):
        raise Unusable(f"{at} is of another version: it does not know the second API ({answer.status_code})")
    if not answer.is_success:
        raise Unusable(f"{at} is not available ({answer.status_code})")
    try:
        version = answer.json()
    except ValueError:
        version = None
    if not isinstance(version, str):
        raise Unusable(f"what answers at {place.url} is not Chroma")
    if version.partition(".")[0] != _SPOKEN:
        raise Unusable(f"{at} is of another version: {version[:20]!r}, and this program speaks with {_SPOKEN}.x")
