"""The tables that `ledger.db` began with. Later changes are migrations of `schema`; this text is never edited."""

FIRST = """
-- Small facts of this ledger: the hash key, our origin, the version of the redaction rules the rows went through.
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- A machine. Row 1 is this one.
CREATE TABLE origin (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL);

-- The numbered log: one row for each revision a machine made; a reference, no copy. kind: ledger.RecordKind.
CREATE TABLE log (
  origin INTEGER NOT NULL, n INTEGER NOT NULL, kind INTEGER NOT NULL, ref INTEGER NOT NULL, rev INTEGER NOT NULL,
  PRIMARY KEY (origin, n)
) WITHOUT ROWID;

-- A file in a store and how far it was read. The raw path is only in path_key (keyed hash); `path` is redacted.
CREATE TABLE source (
  row INTEGER PRIMARY KEY,
  harness TEXT NOT NULL,
  path_key BLOB NOT NULL UNIQUE,
  path TEXT NOT NULL,
  device INTEGER NOT NULL DEFAULT 0,
  inode INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT -1,
  mtime_ns INTEGER NOT NULL DEFAULT 0,
  offset INTEGER NOT NULL DEFAULT 0,
  lines INTEGER NOT NULL DEFAULT 0,
  head BLOB NOT NULL DEFAULT x'',
  tail BLOB NOT NULL DEFAULT x'',
  chain BLOB NOT NULL DEFAULT x'',
  part BLOB NOT NULL DEFAULT x'',
  state TEXT NOT NULL DEFAULT '',
  generation INTEGER NOT NULL DEFAULT 1,
  open_tail INTEGER NOT NULL DEFAULT -1,
  open_hash BLOB NOT NULL DEFAULT x'',
  verified_ns INTEGER NOT NULL DEFAULT -1,
  first_us INTEGER NOT NULL DEFAULT 0,
  bad INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  problem TEXT NOT NULL DEFAULT ''
);

-- Lines that could not be read, by number; the first few of each source.
CREATE TABLE trouble (
  source INTEGER NOT NULL, line INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (source, line, reason)
) WITHOUT ROWID;

-- Record types nobody knows, counted: a format that drifts shows here.
CREATE TABLE drift (
  harness TEXT NOT NULL, record_type TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (harness, record_type)
) WITHOUT ROWID;

-- A conversation. What transcripts say of it is a register; started, updated, changed and dirty are derived here.
CREATE TABLE session (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  harness TEXT NOT NULL,
  native TEXT NOT NULL,
  facts TEXT NOT NULL DEFAULT '{}',
  rev INTEGER NOT NULL DEFAULT 1,
  rank INTEGER NOT NULL DEFAULT 3,
  origin INTEGER NOT NULL,
  changed_us INTEGER NOT NULL DEFAULT 0,
  dirty INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX session_native ON session (native);
CREATE INDEX session_parent ON session (harness, json_extract(facts, '$.parent'));
CREATE INDEX session_dirty ON session (dirty) WHERE dirty > 0;

-- One thing somebody said or did. id and home (the session it was first seen in) are fixed at first sight.
-- packed: 1 = zstd.
CREATE TABLE item (
  row INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  said_by INTEGER NOT NULL,
  time_us INTEGER NOT NULL,
  time_flag INTEGER NOT NULL,
  given_us INTEGER,
  path TEXT,
  exit_status,
  text BLOB NOT NULL,
  packed INTEGER NOT NULL,
  chars INTEGER NOT NULL,
  shard INTEGER NOT NULL DEFAULT 0,
  home INTEGER NOT NULL,
  rev INTEGER NOT NULL DEFAULT 1,
  rank INTEGER NOT NULL DEFAULT 3,
  origin INTEGER NOT NULL
);

-- An item in a session: its place there and whether it is live (0), abandoned (1) or hidden as a copy (2).
-- rolled: the position of the roll-back that abandoned it, so that reading that line twice rolls back once.
CREATE TABLE membership (
  row INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  item INTEGER NOT NULL,
  pos INTEGER NOT NULL,
  sub INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  rolled INTEGER,
  rev INTEGER NOT NULL DEFAULT 1,
  rank INTEGER NOT NULL DEFAULT 3,
  origin INTEGER NOT NULL,
  UNIQUE (session, item)
);
CREATE INDEX membership_item ON membership (item);

-- Which source shows which membership, in which reading of it, and in which turn of its tree. A membership is live
-- while any source shows it.
CREATE TABLE shown (
  source INTEGER NOT NULL, membership INTEGER NOT NULL, generation INTEGER NOT NULL, turn INTEGER,
  PRIMARY KEY (source, membership)
) WITHOUT ROWID;
CREATE INDEX shown_turn ON shown (turn) WHERE turn IS NOT NULL;
CREATE INDEX shown_membership ON shown (membership);

-- The conversation tree of a source: each line's node, and the turn (the nearest prompt above) it belongs to.
CREATE TABLE node (
  source INTEGER NOT NULL, node INTEGER NOT NULL, pos INTEGER NOT NULL, turn INTEGER, PRIMARY KEY (source, node)
) WITHOUT ROWID;
-- AUTOINCREMENT: a tree read again must not reuse the number of a turn that a membership still names.
CREATE TABLE turn (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  source INTEGER NOT NULL,
  parent_node INTEGER,
  parent_turn INTEGER,
  dead INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX turn_parent_node ON turn (source, parent_node);
CREATE INDEX turn_parent_turn ON turn (parent_turn);

-- Items of formats without a key: the keyed hash of the raw item finds its row.
CREATE TABLE keyless (
  session INTEGER NOT NULL, print BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (session, print)
) WITHOUT ROWID;

-- Everything else that can change: settings, digests, sections … (kind: ledger.RecordKind). Only the winner is kept.
CREATE TABLE register (
  row INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  key TEXT NOT NULL,
  rev INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  forgotten INTEGER NOT NULL DEFAULT 0,
  value TEXT NOT NULL,
  UNIQUE (kind, key)
);
-- 8 is RecordKind.SECTION.
CREATE INDEX section_session ON register (json_extract(value, '$.session')) WHERE kind = 8;

-- What was made from what: (dst_kind, dst) was derived from (src_kind, src); kinds and rows as in the log.
CREATE TABLE derivation (
  dst_kind INTEGER NOT NULL, dst INTEGER NOT NULL, src_kind INTEGER NOT NULL, src INTEGER NOT NULL,
  PRIMARY KEY (dst_kind, dst, src_kind, src)
) WITHOUT ROWID;
CREATE INDEX derivation_src ON derivation (src_kind, src);

-- Bytes on their way into a note: stored before they are written, gone when confirmed. path is relative to the vault.
CREATE TABLE append (
  row INTEGER PRIMARY KEY, path TEXT NOT NULL, offset INTEGER NOT NULL, bytes BLOB NOT NULL, sections TEXT NOT NULL
);

-- Which revision of a section is confirmed to be in the vault, and in which note.
CREATE TABLE placed (key TEXT PRIMARY KEY, rev INTEGER NOT NULL, path TEXT NOT NULL) WITHOUT ROWID;

-- Daily notes as last seen: a changed stat means their markers are read again.
CREATE TABLE note (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, keys TEXT NOT NULL
) WITHOUT ROWID;

-- What the full text still has to take in; old is the packed text to be taken out first.
CREATE TABLE text_pending (seq INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, old BLOB, old_packed INTEGER);
"""
