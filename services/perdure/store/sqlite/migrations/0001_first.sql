-- Times are microseconds since 1970 UTC. Lists are JSON arrays. `seq` counts the changes of a namespace that a resident
-- matrix must follow.

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE namespace (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  seq INTEGER NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 0,
  memories INTEGER NOT NULL DEFAULT 0 CHECK (memories >= 0)
) STRICT;

-- AUTOINCREMENT: a purged memory's number is never given to another, so nothing kept by number can mean the wrong one.
CREATE TABLE memory (
  "row" INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL CHECK (length(id) = 36),
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  project TEXT NOT NULL,
  "key" TEXT,
  type TEXT NOT NULL CHECK (type IN ('fact', 'decision', 'preference', 'task', 'context')),
  content TEXT NOT NULL,
  summary TEXT NOT NULL,
  problem TEXT,
  solution TEXT,
  concepts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(concepts)),
  files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
  tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
  provenance TEXT NOT NULL
    CHECK (provenance IN ('save', 'checkpoint', 'debate', 'human', 'consolidation', 'import')),
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  tier TEXT NOT NULL CHECK (tier IN ('regular', 'core')),
  importance REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
  status TEXT NOT NULL CHECK (status IN ('active', 'archived', 'superseded', 'consolidated')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_accessed_at INTEGER NOT NULL,
  expires_at INTEGER,
  access_count INTEGER NOT NULL DEFAULT 0 CHECK (access_count >= 0),
  shown_count INTEGER NOT NULL DEFAULT 0 CHECK (shown_count >= 0),
  revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1),
  origin_host TEXT NOT NULL DEFAULT '',
  origin_agent TEXT NOT NULL DEFAULT '',
  origin_session TEXT NOT NULL DEFAULT '',
  origin_actor TEXT NOT NULL DEFAULT '',
  stub TEXT,
  text_sha256 TEXT NOT NULL,
  seq INTEGER NOT NULL,
  UNIQUE (namespace, id)
) STRICT;

CREATE UNIQUE INDEX memory_key ON memory (namespace, project, "key") WHERE status = 'active' AND "key" IS NOT NULL;
CREATE UNIQUE INDEX memory_text ON memory (namespace, project, type, text_sha256) WHERE status = 'active';
CREATE INDEX memory_seq ON memory (namespace, seq);
CREATE INDEX memory_created ON memory (namespace, created_at, id);
CREATE INDEX memory_project ON memory (namespace, status, project, type);
CREATE INDEX memory_recent ON memory (namespace, last_accessed_at, id) WHERE status = 'active';

CREATE TABLE label (
  namespace INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('tag', 'concept', 'file')),
  value TEXT NOT NULL,
  memory INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  PRIMARY KEY (namespace, kind, value, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_memory ON label (memory);

CREATE TABLE revision (
  memory INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  why TEXT NOT NULL,
  before TEXT NOT NULL CHECK (json_valid(before)),
  PRIMARY KEY (memory, revision)
) STRICT;

CREATE TABLE link (
  kind TEXT NOT NULL CHECK (kind IN ('supersedes', 'consolidated_from', 'related')),
  source INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  PRIMARY KEY (source, kind, target),
  CHECK (source <> target)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_target ON link (target);

CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

-- e: little-endian float32, unit length. zero: the text had no direction; never a neighbour of anything.
CREATE TABLE vector (
  "row" INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  space INTEGER NOT NULL REFERENCES space (id),
  namespace INTEGER NOT NULL,
  zero INTEGER NOT NULL CHECK (zero IN (0, 1)),
  e BLOB NOT NULL,
  UNIQUE (memory, space)
) STRICT;
CREATE INDEX vector_namespace ON vector (namespace, space);
CREATE INDEX vector_space ON vector (space);

-- External content, not contentless: only the old words let 'secure-delete' erase a purged memory's tokens.
CREATE TABLE document (
  "row" INTEGER PRIMARY KEY REFERENCES memory ("row") ON DELETE RESTRICT,
  words TEXT NOT NULL,
  parts TEXT NOT NULL,
  scope TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE full_text USING fts5 (
  words, parts, scope, content = 'document', content_rowid = 'row', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO full_text (full_text, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (full_text, 'row');

-- waiting 1: wants a vector. 0: has one of another space than the active one and waits for re-embedding.
CREATE TABLE embedding_queue (
  memory INTEGER PRIMARY KEY REFERENCES memory ("row") ON DELETE CASCADE,
  namespace INTEGER NOT NULL,
  waiting INTEGER NOT NULL CHECK (waiting IN (0, 1)),
  attempts INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX embedding_queue_namespace ON embedding_queue (namespace);

CREATE TABLE tombstone (
  memory INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;
CREATE INDEX tombstone_seq ON tombstone (namespace, seq);

CREATE TABLE idempotency (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  "key" TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  answer BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, "key")
) STRICT;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE job (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  created_at INTEGER NOT NULL,
  parameters TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(parameters)),
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  started_at INTEGER,
  finished_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT NOT NULL DEFAULT '',
  lease_until INTEGER,
  cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX job_unfinished ON job (kind) WHERE state IN ('queued', 'running');
CREATE INDEX job_created ON job (created_at);

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  topic TEXT NOT NULL,
  job TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE token (
  id TEXT PRIMARY KEY,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  name TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  namespace TEXT NOT NULL,
  act TEXT NOT NULL,
  subject TEXT NOT NULL
) STRICT;
CREATE INDEX audit_namespace ON audit (namespace, id);
