-- Experience: how things are done. Documents are the canonical JSON of domain/experience/documents.py; the times of a row
-- are beside its document, in microseconds.

CREATE TABLE episode (
  "row" INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 64),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  document TEXT NOT NULL CHECK (json_valid(document)),
  UNIQUE (namespace, id)
) STRICT;
CREATE INDEX episode_started ON episode (namespace, started_at, id);

-- Pictures themselves are files, named by their content.
CREATE TABLE screenshot (
  episode INTEGER NOT NULL REFERENCES episode ("row") ON DELETE CASCADE,
  name TEXT NOT NULL,
  namespace INTEGER NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (episode, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX screenshot_content ON screenshot (namespace, sha256);

-- version, source: of the newest version. A skill outlives the episode it was compiled from.
CREATE TABLE skill (
  "row" INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 64),
  version INTEGER NOT NULL CHECK (version >= 1),
  created_at INTEGER NOT NULL,
  source TEXT,
  UNIQUE (namespace, id)
) STRICT;
CREATE INDEX skill_created ON skill (namespace, created_at, id);
CREATE INDEX skill_source ON skill (namespace, source) WHERE source IS NOT NULL;

CREATE TABLE skill_version (
  skill INTEGER NOT NULL REFERENCES skill ("row") ON DELETE CASCADE,
  version INTEGER NOT NULL CHECK (version >= 1),
  compiled_at INTEGER,
  document TEXT NOT NULL CHECK (json_valid(document)),
  PRIMARY KEY (skill, version)
) STRICT;

-- The lease: who runs it now, and until when nobody else may.
CREATE TABLE routine (
  skill INTEGER PRIMARY KEY REFERENCES skill ("row") ON DELETE CASCADE,
  namespace INTEGER NOT NULL,
  schedule TEXT NOT NULL CHECK (json_valid(schedule)),
  "values" TEXT NOT NULL CHECK (json_valid("values")),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  since INTEGER,
  last_run_at INTEGER,
  due_at INTEGER,
  lease_holder TEXT,
  lease_until INTEGER
) STRICT;
CREATE INDEX routine_last_run ON routine (namespace, last_run_at) WHERE enabled = 1;

-- skill is its id: runs outlive their skill.
CREATE TABLE skill_run (
  "row" INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 64),
  skill TEXT NOT NULL,
  skill_version INTEGER NOT NULL,
  skill_name TEXT NOT NULL,
  "trigger" TEXT NOT NULL CHECK ("trigger" IN ('manual', 'routine')),
  status TEXT NOT NULL
    CHECK (status IN ('running', 'waiting_for_approval', 'succeeded', 'failed', 'stopped', 'denied')),
  started_at INTEGER NOT NULL,
  heard_at INTEGER NOT NULL,
  ended_at INTEGER,
  error TEXT,
  holder TEXT NOT NULL,
  model TEXT,
  tokens INTEGER,
  cost REAL,
  UNIQUE (namespace, id)
) STRICT;
CREATE INDEX skill_run_started ON skill_run (namespace, started_at, id);
CREATE INDEX skill_run_skill ON skill_run (namespace, skill, started_at, id);
CREATE INDEX skill_run_open ON skill_run (namespace, heard_at) WHERE status IN ('running', 'waiting_for_approval');

-- The audit trail. A line is never changed, and goes only with its run.
CREATE TABLE skill_run_step (
  "row" INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES skill_run ("row") ON DELETE CASCADE,
  idx INTEGER NOT NULL CHECK (idx >= 0),
  step TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'fallback', 'failed', 'approved', 'denied', 'waiting')),
  at INTEGER NOT NULL,
  detail TEXT,
  actor TEXT NOT NULL
) STRICT;
CREATE INDEX skill_run_step_run ON skill_run_step (run);
CREATE TRIGGER skill_run_step_stays BEFORE UPDATE ON skill_run_step
BEGIN
  SELECT raise(ABORT, 'the trail of a run is never changed');
END;
CREATE TRIGGER skill_run_step_goes_with_its_run BEFORE DELETE ON skill_run_step
WHEN EXISTS (SELECT 1 FROM skill_run WHERE "row" = OLD.run)
BEGIN
  SELECT raise(ABORT, 'the trail of a run goes with its run');
END;

-- A skill or an episode as text.
CREATE TABLE procedure (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  kind TEXT NOT NULL CHECK (kind IN ('skill', 'episode')),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (namespace, kind, id)
) STRICT;

-- stamp: another whenever procedures, their vectors, or what was learned of them change.
CREATE TABLE shelf (
  namespace INTEGER PRIMARY KEY REFERENCES namespace (id),
  stamp TEXT NOT NULL
) STRICT;

-- space: its fingerprint, here and below; a space can be known here before a memory has a vector in it.
CREATE TABLE procedure_vector (
  namespace INTEGER NOT NULL,
  space TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  chunk INTEGER NOT NULL CHECK (chunk >= 0),
  e BLOB NOT NULL,
  PRIMARY KEY (namespace, space, kind, id, chunk),
  FOREIGN KEY (namespace, kind, id) REFERENCES procedure (namespace, kind, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX procedure_vector_procedure ON procedure_vector (namespace, kind, id);

-- The vector of a question, and the memory that was then read in full. The question is not kept.
CREATE TABLE used_query (
  "row" INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL,
  space TEXT NOT NULL,
  memory INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  at INTEGER NOT NULL,
  e BLOB NOT NULL
) STRICT;
CREATE INDEX used_query_at ON used_query (namespace, at);
CREATE INDEX used_query_memory ON used_query (memory);

-- The private model, its newest generations; the highest number is the one in use. down: A, float32 (rank, dimension).
-- up: B, float32 (dimension, rank). Both little-endian, row by row. stamp: a number may be used again after a rollback;
-- this tells the two apart.
CREATE TABLE adapter (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  space TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 1),
  version TEXT NOT NULL,
  stamp TEXT NOT NULL,
  rank INTEGER NOT NULL CHECK (rank >= 1),
  dimension INTEGER NOT NULL CHECK (dimension >= 1),
  down BLOB NOT NULL,
  up BLOB NOT NULL,
  PRIMARY KEY (namespace, space, number),
  CHECK (length(down) = 4 * rank * dimension AND length(up) = 4 * rank * dimension)
) STRICT;

CREATE TABLE adaptation (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  space TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 1),
  version TEXT NOT NULL,
  at INTEGER NOT NULL,
  learned TEXT NOT NULL CHECK (json_valid(learned)),
  passes INTEGER NOT NULL,
  loss REAL NOT NULL,
  pairs INTEGER NOT NULL,
  recall_before REAL,
  recall_after REAL,
  replay_before REAL,
  replay_after REAL,
  PRIMARY KEY (namespace, space, number)
) STRICT;

-- Which version first learned which text of a procedure.
CREATE TABLE learned (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  space TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('skill', 'episode')),
  id TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  number INTEGER NOT NULL CHECK (number >= 1),
  PRIMARY KEY (namespace, space, kind, id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX learned_number ON learned (namespace, space, number);

-- What clients were served, in tokens; day: YYYY-MM-DD, UTC.
CREATE TABLE usage (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  day TEXT NOT NULL CHECK (length(day) = 10),
  client TEXT NOT NULL,
  calls INTEGER NOT NULL CHECK (calls >= 0),
  tokens_served INTEGER NOT NULL CHECK (tokens_served >= 0),
  tokens_whole INTEGER NOT NULL CHECK (tokens_whole >= 0),
  PRIMARY KEY (namespace, day, client)
) STRICT, WITHOUT ROWID;

-- What an imported experience.json says about a model that is not ours; goes out again as it came in.
CREATE TABLE experience_head (
  namespace INTEGER PRIMARY KEY REFERENCES namespace (id),
  document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
