-- subject: what an unfinished job is the only one of its kind for; a namespace, or '' for the whole store.
-- turn: of the jobs that name the same one, at most one runs at a time; '' waits for nobody.
ALTER TABLE job ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN turn TEXT NOT NULL DEFAULT '';
DROP INDEX job_unfinished;
CREATE UNIQUE INDEX job_unfinished ON job (kind, subject) WHERE state IN ('queued', 'running');
CREATE INDEX job_turn ON job (turn, created_at) WHERE turn <> '';

-- One row a namespace that was ever saved to. saves: since the last whole run began. cleaned_seq: pairs of memories that
-- were both last changed before it have been compared already.
CREATE TABLE lifecycle (
  namespace INTEGER PRIMARY KEY REFERENCES namespace (id),
  saves INTEGER NOT NULL DEFAULT 0 CHECK (saves >= 0),
  last_run_at INTEGER NOT NULL,
  cleaned_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX lifecycle_due ON lifecycle (last_run_at);
INSERT INTO lifecycle (namespace, last_run_at)
  SELECT namespace, max(updated_at) FROM memory GROUP BY namespace;

-- What a run of maintenance did; its id is its job's.
CREATE TABLE run (
  id TEXT PRIMARY KEY,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  actor TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  ended_at INTEGER,
  saves INTEGER NOT NULL DEFAULT 0,
  counts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(counts)),
  plan TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(plan)),
  undone_at INTEGER,
  undone_by TEXT
) STRICT;
CREATE INDEX run_namespace ON run (namespace, began_at);

-- One row a memory that a run changed or made; revision is the one it left behind (0: the run made the memory). What was
-- before stands in the history under that number.
CREATE TABLE run_item (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  memory INTEGER NOT NULL REFERENCES memory ("row") ON DELETE CASCADE,
  act TEXT NOT NULL,
  revision INTEGER NOT NULL,
  winner INTEGER REFERENCES memory ("row") ON DELETE SET NULL,
  PRIMARY KEY (run, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_item_memory ON run_item (memory);
CREATE INDEX run_item_winner ON run_item (winner) WHERE winner IS NOT NULL;
