"""The tables of `ledger.db`, and the migrations that made them.

Every migration is a function of its own, numbered by `PRAGMA user_version`, append-only: a released one is never
edited. All rows refer to each other by local integers; what leaves the machine is named by ids.
"""

import sqlite3
from collections.abc import Callable

from afterword.domain.errors import DataError
from afterword.store.ledger.tables import FIRST


def _run(db: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)


def _first(db: sqlite3.Connection) -> None:
    _run(db, FIRST)


_V2 = """
-- Work that callers asked the running daemon for. state: queued, running, done, failed. progress, result and error
-- are JSON. `tries` counts starts: a job that takes the daemon down with it is given up in the end.
CREATE TABLE job (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  arguments TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued',
  progress TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  tries INTEGER NOT NULL DEFAULT 0,
  created_us INTEGER NOT NULL,
  started_us INTEGER,
  finished_us INTEGER
);
CREATE INDEX job_waiting ON job (row) WHERE state IN ('queued', 'running');
"""


def _second(db: sqlite3.Connection) -> None:
    _run(db, _V2)


_V3 = """
-- Articles as files, in this machine's vault. fields and parts say what we wrote last (JSON: front matter values,
-- section -> hash), so that a person's change is told from ours. plan is what a write that is not confirmed yet would
-- have made of them. looks counts scans in which the file was missing; state is empty, question, odd or copy.
CREATE TABLE article_file (
  uid TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  size INTEGER NOT NULL DEFAULT -1,
  mtime_ns INTEGER NOT NULL DEFAULT 0,
  inode INTEGER NOT NULL DEFAULT 0,
  made TEXT NOT NULL DEFAULT '',
  fields TEXT NOT NULL DEFAULT '{}',
  parts TEXT NOT NULL DEFAULT '{}',
  plan TEXT NOT NULL DEFAULT '',
  looks INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- Files below knowledge/ that are no article of ours, as last seen.
CREATE TABLE other_file (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, uid TEXT NOT NULL
) WITHOUT ROWID;

-- Builds whose entry is in knowledge/log.md.
CREATE TABLE build_logged (day TEXT PRIMARY KEY, rev INTEGER NOT NULL) WITHOUT ROWID;
"""


def _third(db: sqlite3.Connection) -> None:
    _run(db, _V3)


_V4 = """
-- A conversation inside a document or database is a source of its own, `within` the row of its file. `name` is the
-- reader's name for it, `version` what the reader called its state when it was read last. authority: the kind of
-- source, where a session is read from several.
ALTER TABLE source ADD COLUMN within INTEGER;
ALTER TABLE source ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE source ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE source ADD COLUMN authority INTEGER NOT NULL DEFAULT 0;
CREATE INDEX source_within ON source (within) WHERE within IS NOT NULL;

-- said and authority are what sources say of a membership, and are numbered. state is made from them on each machine:
-- hidden where the session has sources of a higher authority that do not show it, or where it is an alias.
ALTER TABLE membership ADD COLUMN said INTEGER NOT NULL DEFAULT 0;
ALTER TABLE membership ADD COLUMN authority INTEGER NOT NULL DEFAULT 0;
UPDATE membership SET said = state;
CREATE INDEX membership_place ON membership (session, pos, sub);

-- The highest authority among a session's memberships; made from them.
ALTER TABLE session ADD COLUMN authority INTEGER NOT NULL DEFAULT 0;
"""


def _fourth(db: sqlite3.Connection) -> None:
    _run(db, _V4)


_V5 = """
-- Where a message stands in the source that shows it; a membership has one place for all its sources.
ALTER TABLE shown ADD COLUMN at INTEGER;

-- open: shown by lines that are decoded again when the file has grown, so it may prove to be something else.
ALTER TABLE shown ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
CREATE INDEX shown_open ON shown (source) WHERE open = 1;
"""


def _fifth(db: sqlite3.Connection) -> None:
    _run(db, _V5)


_V6 = """
-- Working folders and the main checkout each belongs to (redacted paths), as found while the folders were there.
CREATE TABLE checkout (folder TEXT PRIMARY KEY, root TEXT NOT NULL) WITHOUT ROWID;

-- Record types nobody knows, counted by source and the agent's version: a format that drifts shows here. A source that
-- is read again is counted again.
DROP TABLE drift;
CREATE TABLE drift (
  source INTEGER NOT NULL, version TEXT NOT NULL, record_type TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (source, version, record_type)
) WITHOUT ROWID;

-- The versions of the agent that wrote a source.
CREATE TABLE written_by (
  source INTEGER NOT NULL, version TEXT NOT NULL, PRIMARY KEY (source, version)
) WITHOUT ROWID;
"""


def _sixth(db: sqlite3.Connection) -> None:
    _run(db, _V6)


_V7 = """
-- What a search asks of every hit, without reading its text or its membership's row: thousands of them a question.
CREATE INDEX item_brief ON item (row, kind, time_us, origin);
DROP INDEX membership_item;
CREATE INDEX membership_item ON membership (item, state, session);
CREATE INDEX membership_hidden ON membership (item) WHERE state = 2;
"""


def _seventh(db: sqlite3.Connection) -> None:
    _run(db, _V7)


_V8 = """
-- Which files were read or edited, asked by the end of their path.
CREATE INDEX item_path ON item (path, kind) WHERE path IS NOT NULL AND kind IN (6, 7);
"""


def _eighth(db: sqlite3.Connection) -> None:
    _run(db, _V8)


_V9 = """
-- What a paid model was asked and what it answered. key names the question, subject the day or segment it was about.
-- state: asked, answered, failed. Tokens are those the server counted, or (estimated = 1) at most what the call costs,
-- until they are known. day: the local day the tokens count for. again_us: not before then. The two texts are packed,
-- and emptied after a while.
CREATE TABLE model_call (
  row INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  step TEXT NOT NULL,
  subject TEXT NOT NULL,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  why TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  estimated INTEGER NOT NULL DEFAULT 1,
  day TEXT NOT NULL,
  at_us INTEGER NOT NULL,
  took_ms INTEGER NOT NULL DEFAULT 0,
  again_us INTEGER NOT NULL DEFAULT 0,
  request BLOB NOT NULL DEFAULT x'', request_packed INTEGER NOT NULL DEFAULT 0,
  reply BLOB NOT NULL DEFAULT x'', reply_packed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX model_call_key ON model_call (key);
CREATE INDEX model_call_subject ON model_call (step, subject);
CREATE INDEX model_call_day ON model_call (day);
"""


def _ninth(db: sqlite3.Connection) -> None:
    _run(db, _V9)


_V10 = """
-- Sessions that are left out (keyed hash of harness and native id), and the sources that were read past lines of them:
-- those are read again when the session is let in.
CREATE TABLE left_out (session BLOB NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (session, source)) WITHOUT ROWID;

-- Folders that an ignore file left out when they were last there, as keyed hashes.
CREATE TABLE left_out_folder (folder BLOB PRIMARY KEY) WITHOUT ROWID;

-- Copies of this ledger that we made, where they were put (redacted), and the hash of their bytes.
CREATE TABLE backup (
  path TEXT PRIMARY KEY, made_us INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, origin TEXT NOT NULL
) WITHOUT ROWID;
"""


def _tenth(db: sqlite3.Connection) -> None:
    _run(db, _V10)


_V11 = """
-- Items whose text was forgotten: a keyed hash of it and its length in characters, so that it is known when it is read
-- again. The item's row stays without a text: places in the conversation and keys of segments hang on it.
CREATE TABLE erased (item INTEGER PRIMARY KEY, print BLOB NOT NULL, chars INTEGER NOT NULL);

-- What a forgetting is about, until nothing of it is left. Ids, rows, days and keyed hashes; kind: forgetting.Kind.
CREATE TABLE forgetting (
  kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL DEFAULT '', PRIMARY KEY (kind, key)
) WITHOUT ROWID;

-- What is hidden as a copy (2) or forgotten (3).
DROP INDEX membership_hidden;
CREATE INDEX membership_hidden ON membership (item) WHERE state >= 2;
"""


def _eleventh(db: sqlite3.Connection) -> None:
    _run(db, _V11)


_V12 = """
-- What each revision of a section said when it was written: keyed hashes of its texts, one after the other.
CREATE TABLE told (key TEXT NOT NULL, rev INTEGER NOT NULL, prints BLOB NOT NULL, PRIMARY KEY (key, rev)) WITHOUT ROWID;

-- The keyed hash of a section's bytes as they were appended last: so is told whether anybody touched it.
ALTER TABLE placed ADD COLUMN print BLOB NOT NULL DEFAULT x'';

-- ours: whether a note is as it was after an append of ours, and nobody else saved it since.
ALTER TABLE note ADD COLUMN ours INTEGER NOT NULL DEFAULT 0;

-- Sections whose note got a line that says in which other note their session went on.
CREATE TABLE went_on (key TEXT PRIMARY KEY, next TEXT NOT NULL) WITHOUT ROWID;
"""


def _twelfth(db: sqlite3.Connection) -> None:
    _run(db, _V12)


_V13 = """
-- Entries of the journal, topics and agents' files, in this machine's vault. key: the uid of an entry or topic, or
-- agent/<name>. made, plan and lines are keyed hashes of bytes and lines of ours (see lesson_files); looks counts scans
-- in which the file was missing.
CREATE TABLE lesson_file (
  key TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  size INTEGER NOT NULL DEFAULT -1,
  mtime_ns INTEGER NOT NULL DEFAULT 0,
  inode INTEGER NOT NULL DEFAULT 0,
  made TEXT NOT NULL DEFAULT '',
  plan TEXT NOT NULL DEFAULT '',
  fields TEXT NOT NULL DEFAULT '{}',
  lines TEXT NOT NULL DEFAULT '',
  looks INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""


def _thirteenth(db: sqlite3.Connection) -> None:
    _run(db, _V13)


_V14 = """
-- Sessions that were shared: the file (redacted), html or md, and the hash of the bytes that were written.
CREATE TABLE share (
  path TEXT PRIMARY KEY, session TEXT NOT NULL, form TEXT NOT NULL, made_us INTEGER NOT NULL, sha256 TEXT NOT NULL
) WITHOUT ROWID;
"""


def _fourteenth(db: sqlite3.Connection) -> None:
    _run(db, _V14)


_SYNC = """
-- The revision of a machine's name.
ALTER TABLE origin ADD COLUMN rev INTEGER NOT NULL DEFAULT 1;

-- Who wrote the revision of a session's facts that stands, where that is not the machine it was first seen on.
ALTER TABLE session ADD COLUMN by INTEGER;

-- Numbers of other machines that name nothing here (log.ref is 0), or that came without what they number. why: a word
-- of sync's stubs. body: a membership, as it came, that waits for its session and item.
CREATE TABLE stub (
  origin INTEGER NOT NULL, n INTEGER NOT NULL, kind INTEGER NOT NULL, key TEXT NOT NULL, rev INTEGER NOT NULL,
  why TEXT NOT NULL, body TEXT NOT NULL DEFAULT '', session TEXT, item BLOB, PRIMARY KEY (origin, n)
) WITHOUT ROWID;
CREATE INDEX stub_waits ON stub (item) WHERE body <> '';
CREATE INDEX stub_key ON stub (kind, key);

-- Numbers that say once more what another machine, or an earlier number, said: whose revision it is.
CREATE TABLE issued_again (
  origin INTEGER NOT NULL, n INTEGER NOT NULL, by INTEGER NOT NULL, PRIMARY KEY (origin, n)
) WITHOUT ROWID;

-- Items that something from another machine was made of and that have not come yet.
CREATE TABLE derives (
  item BLOB NOT NULL, dst_kind INTEGER NOT NULL, dst INTEGER NOT NULL, PRIMARY KEY (item, dst_kind, dst)
) WITHOUT ROWID;

-- earlier: an earlier write-up was made of it, the one that stands is not.
ALTER TABLE derivation ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;

-- Forgetting the facts of a session is more than forgetting its title, whichever machine said it first.
UPDATE log SET rev = 7 WHERE kind = 11 AND ref IN
  (SELECT row FROM register WHERE kind = 11 AND key LIKE 'facts:%' AND value LIKE '%cwd%');
UPDATE register SET rev = 7 WHERE kind = 11 AND key LIKE 'facts:%' AND value LIKE '%cwd%';
"""


def _sync(db: sqlite3.Connection) -> None:
    _run(db, _SYNC)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _first, _second, _third, _fourth, _fifth, _sixth, _seventh, _eighth, _ninth, _tenth, _eleventh, _twelfth,
    _thirteenth, _fourteenth, _sync,
)  # fmt: skip


def migrate(db: sqlite3.Connection) -> int:
    """Bring the open database to the newest schema, one transaction a step.

    Returns:
        How many steps were taken.

    Raises:
        DataError: the file was written by a newer afterword.
    """
    found = check_version(db)
    for number, step in enumerate(MIGRATIONS[found:], found + 1):
        db.execute("BEGIN IMMEDIATE")
        try:
            step(db)
            db.execute(f"PRAGMA user_version = {number}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
    return len(MIGRATIONS) - found


def check_version(db: sqlite3.Connection) -> int:
    """The schema version of an open database; refuses one that is newer than this program."""
    found: int = db.execute("PRAGMA user_version").fetchone()[0]
    if found > len(MIGRATIONS):
        raise DataError(
            f"the ledger has schema {found}, this afterword knows {len(MIGRATIONS)}",
            "upgrade afterword on this machine",
        )
    return found
