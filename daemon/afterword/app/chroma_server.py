"""The Chroma server of the settings, with its token from the environment or a private file."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from afterword.app.config import Config
from afterword.domain.errors import UserError
from afterword.index.place import Place

TOKEN: Final = "AFTERWORD_CHROMA_TOKEN"  # noqa: S105  # a variable's name


def place(config: Config, env: Mapping[str, str], ledger_id: str) -> Place | None:
    """Where the server is and how to get in; None when Chroma keeps to its folder. `ledger_id` names what is ours.

    Raises:
        UserError: a file that the settings name is not there, or its token could be read by others.
    """
    wanted = config.settings.chroma
    if not wanted.url:
        return None
    ca_file = Path(wanted.ca_file).expanduser() if wanted.ca_file else None
    if ca_file and not ca_file.is_file():
        raise UserError(f"[chroma] ca_file: {ca_file} does not exist", "name a file in PEM form")
    return Place(
        url=wanted.url.rstrip("/"),
        owner=ledger_id[:16],
        token=env.get(TOKEN, "").strip() or _from_file(wanted.token_file),
        header=wanted.token_header,
        ca_file=str(ca_file or ""),
        tenant=wanted.tenant,
        database=wanted.database,
    )


def _from_file(name: str) -> str:
    if not name:
        return ""
    path = Path(name).expanduser()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            token = file.read(4096).decode("ascii", "replace").strip()
    except OSError as err:
        raise UserError(f"[chroma] token_file: {path}: {err.strerror or err}", f"set {TOKEN}, or write it") from err
    if stat.S_IMODE(mode) & 0o077:
        raise UserError(f"[chroma] token_file: {path} can be read by others", f"chmod 600 {path}")
    if not token or not token.isprintable() or " " in token:
        raise UserError(f"[chroma] token_file: {path} does not hold a token alone", "write the token and nothing else")
    return token
