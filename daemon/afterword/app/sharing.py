"""Files that a session was shared into: remembered, and written again when what they say is retracted."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from afterword.app.config import Config
from afterword.app.share import compose, identity, write
from afterword.app.share_page import html_page, markdown
from afterword.domain.errors import AfterwordError
from afterword.domain.ids import SegmentKey
from afterword.redact.redactor import Redactor
from afterword.store.ledger import segments, shares
from afterword.store.ledger.ledger import Ledger, open_beside

State: TypeAlias = Literal["ours", "changed", "gone"]


def remember(config: Config, redactor: Redactor, path: Path, session: str, form: str, now_us: int) -> None:
    """Note that a session was written into this file."""
    ledger = open_beside(config.places.state)
    try:
        made = shares.Share(str(path), session, form, now_us, hashlib.sha256(path.read_bytes()).hexdigest())
        shares.remember(ledger, redactor.redact(str(path)), made)
    finally:
        ledger.close()


def state_of(path: Path, sha256: str) -> State:
    """What became of a file: as we wrote it, changed since, or gone (or not to be read)."""
    try:
        data = path.read_bytes()
    except OSError:
        return "gone"
    return "ours" if hashlib.sha256(data).hexdigest() == sha256 else "changed"


def renew(config: Config, ledger: Ledger, redactor: Redactor, sections: Iterable[str]) -> tuple[list[str], list[str]]:
    """Write the files anew into which the sessions of these sections were shared; (written, left alone because somebody
    changed them, or because they cannot be written)."""
    wanted = {found[1].session for key in sections if (found := segments.section(ledger, SegmentKey(key)))}
    written, left = [], []
    for share in shares.every(ledger):
        path = Path(share.path)
        state = state_of(path, share.sha256) if share.session in wanted else "gone"
        if state == "gone":
            continue
        if state == "changed":
            left.append(share.path)
            continue
        try:
            shared = compose(config, ledger, share.session, identity(config))
            write(path, html_page(shared) if share.form == "html" else markdown(shared), force=True)
        except (OSError, AfterwordError):
            left.append(share.path)
            continue
        made = shares.Share(
            share.path, share.session, share.form, share.made_us, hashlib.sha256(path.read_bytes()).hexdigest()
        )
        shares.remember(ledger, redactor.redact(share.path), made)
        written.append(share.path)
    return written, left
