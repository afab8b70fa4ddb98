"""Where Grok Build's sessions lie, and what the files beside a session's log say of it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec

from afterword.capture.harness import stores
from afterword.capture.harness.grok_lines import SUMMARY, Sidecar, Summary
from afterword.capture.harness.lenient import part
from afterword.capture.harness.times import moment
from afterword.domain.events import Facts, Found, TitleRank, Where

_LOG, _SUMMARY = "updates.jsonl", "summary.json"
_SUMMED_UP: TitleRank = 1
_GENERATED: TitleRank = 3
_NAMED: TitleRank = 4
_SIDECAR = msgspec.json.Decoder(Sidecar)


def roots(where: Where) -> list[Path]:
    """Every folder that holds `sessions`."""
    return stores.overridden(where, "GROK") or stores.listed(where, "GROK_HOME") or [where.home / ".grok"]


def sources(root: Path) -> Iterator[Found]:
    """Each session's log and summary, in the order of session ids, which is that of their making."""
    top = root / "sessions"
    sessions: list[Path] = []
    try:
        groups = [entry for entry in stores.entries(top) if stores.is_folder(entry)]
    except PermissionError:
        yield Found(top, "none", stores.NOT_LISTED)
        return
    for group in groups:
        try:
            sessions += [Path(entry.path) for entry in stores.entries(Path(group.path)) if stores.is_folder(entry)]
        except PermissionError:
            yield Found(Path(group.path), "none", stores.NOT_LISTED)
    for session in sorted(sessions, key=lambda path: (path.name, path)):
        try:
            inside = {entry.name: entry for entry in stores.entries(session)}
        except PermissionError:
            yield Found(session, "none", stores.NOT_LISTED)
            continue
        if _LOG in inside:
            yield stores.line_log(inside[_LOG])
            if _SUMMARY in inside:
                found = stores.line_log(inside[_SUMMARY])
                yield found if found.problem else Found(found.path, "document")


def summary_of(path: Path) -> Summary:
    """The summary beside a session's log; an empty one when there is none to read."""
    return part(stores.side_file(path.with_name(_SUMMARY)), SUMMARY) or Summary()


def folder_of(path: Path, summary: Summary) -> str:
    """The folder a session ran in."""
    group = path.parent.parent
    told = summary.info.cwd or stores.side_file(group / ".cwd").decode("utf-8", "replace").strip()
    decoded = unquote(group.name)
    return told or (decoded if decoded.startswith("/") else "")


def spawned(path: Path, summary: Summary) -> tuple[str, str] | None:
    """(parent, kind of agent) of a session that an agent started; None for any other."""
    told = by_summary(summary)
    if told:
        return told
    session = path.parent.name
    for found in path.parent.parent.glob(f"*/subagents/{session}/meta.json"):
        sidecar = part(stores.side_file(found), _SIDECAR) or Sidecar()
        return sidecar.parent_session_id or found.parents[2].name, sidecar.subagent_type or summary.agent_name or ""
    return None


def by_summary(summary: Summary) -> tuple[str, str] | None:
    """As `spawned`, by the summary alone."""
    if (summary.session_kind or "").startswith("subagent"):
        return summary.parent_session_id or "", summary.agent_name or ""
    return None


def facts(path: Path, summary: Summary, session: str, by_agent: tuple[str, str] | None) -> Facts:
    """What the summary says of a session; `by_agent` as `spawned` says."""
    title, rank = summary.generated_title, _NAMED if summary.title_is_manual else _GENERATED
    if not (title and title.strip()):
        title, rank = summary.session_summary, _SUMMED_UP
    forked = summary.parent_session_id if not by_agent and summary.parent_session_id != session else None
    return Facts(
        session,
        cwd=folder_of(path, summary) or None,
        branch=summary.head_branch,
        model=summary.current_model_id,
        title=" ".join((title or "").split()) or None,
        title_rank=rank,
        parent=(by_agent[0] or None) if by_agent else None,
        agent=(by_agent[1] or None) if by_agent else None,
        forked_from=forked or None,
        started_us=moment(summary.created_at),
    )
