"""Comparing rows, vectors, full text and links with each other, and rebuilding what can be made from the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import apsw
import numpy as np

from perdure.domain.memory import Memory
from perdure.domain.namespace import NamespaceName
from perdure.domain.recall.lexical import document_text
from perdure.domain.resolution import text_sha256
from perdure.ports import CheckReport, Clock, Finding, Ids, Progress
from perdure.store.sqlite import experience_check as experience
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.lexical import scope_text
from perdure.store.sqlite.queue import ensure_embedding
from perdure.store.sqlite.rows import COLUMNS, NO_LINKS, labels, to_memory

_BATCH = 500
_ROW = COLUMNS.count(",") + 1
_LENGTH_ERROR = 1e-3
_SEARCHED = (
    "EXISTS (SELECT 1 FROM vector v JOIN space s ON s.id = v.space JOIN meta ON meta.value = s.fingerprint "
    "WHERE meta.name = 'active_space' AND v.memory = m.\"row\")"
)
_COUNTS = (
    (
        "rows",
        "a namespace's count of memories is wrong",
        "SELECT count(*) FROM namespace n WHERE n.memories <> (SELECT count(*) FROM memory m WHERE m.namespace = n.id)",
    ),
    (
        "rows",
        "changed after its namespace's last change",
        "SELECT count(*) FROM memory m JOIN namespace n ON n.id = m.namespace WHERE m.seq > n.seq",
    ),
    (
        "vectors",
        "belongs to no memory of its namespace",
        'SELECT count(*) FROM vector v LEFT JOIN memory m ON m."row" = v.memory AND m.namespace = v.namespace '
        'WHERE m."row" IS NULL',
    ),
    (
        "vectors",
        "has not its space's length",
        "SELECT count(*) FROM vector v LEFT JOIN space s ON s.id = v.space "
        "WHERE s.id IS NULL OR length(v.e) <> 4 * s.dimension",
    ),
    (
        "vectors",
        "neither searched by vector nor queued for one",
        f"SELECT count(*) FROM memory m WHERE NOT {_SEARCHED} "
        'AND NOT EXISTS (SELECT 1 FROM embedding_queue q WHERE q.memory = m."row")',
    ),
    (
        "vectors",
        "queued though it is searched by vector",
        f'SELECT count(*) FROM embedding_queue q JOIN memory m ON m."row" = q.memory WHERE {_SEARCHED}',
    ),
    (
        "full_text",
        "has no text",
        'SELECT count(*) FROM memory m WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d."row" = m."row")',
    ),
    (
        "full_text",
        "belongs to no memory",
        'SELECT count(*) FROM document d WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m."row" = d."row")',
    ),
    (
        "full_text",
        "stored and not indexed",
        'SELECT count(*) FROM document d WHERE NOT EXISTS (SELECT 1 FROM full_text_docsize f WHERE f.id = d."row")',
    ),
    (
        "full_text",
        "indexed and not stored",
        'SELECT count(*) FROM full_text_docsize f WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d."row" = f.id)',
    ),
    (
        "links",
        "an end is missing or in another namespace",
        'SELECT count(*) FROM link l LEFT JOIN memory a ON a."row" = l.source LEFT JOIN memory b ON b."row" = l.target '
        "WHERE a.namespace IS NOT b.namespace OR a.namespace IS NULL",
    ),
)


def check(db: Connection, progress: Progress | None) -> CheckReport:
    """Looks at everything inside one transaction of ``db`` and changes nothing."""
    found: Counter[tuple[str, str]] = Counter()
    for (problem,) in db.execute("PRAGMA integrity_check(50)").fetchall():
        if problem != "ok":
            found["full_text" if "fts" in problem.lower() else "file", problem.split("\n")[0][:200]] += 1
    for table, *_ in db.execute("PRAGMA foreign_key_check").fetchall():
        found[_part(table), f"{table}: points to nothing"] += 1
    for part, problem, sql in _COUNTS:
        found[part, problem] += db.execute(sql).get
    experience.count(db, found)
    memories = _check_rows(db, found, progress)
    vectors = _check_vectors(db, found)
    try:
        db.execute("INSERT INTO full_text (full_text, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        found["full_text", "the index differs from the texts"] += 1
    findings = tuple(
        Finding(part=part, problem=problem, count=count) for (part, problem), count in sorted(found.items()) if count
    )
    return CheckReport(memories=memories, vectors=vectors, findings=findings)


def repair(db: Connection, clock: Clock, ids: Ids, progress: Progress | None) -> None:
    """Makes texts, index, labels, queue and counts anew from the rows; drops vectors and links that cannot be right.

    Of experience, what belongs to nothing goes.
    """
    db.execute(
        'DELETE FROM link WHERE (SELECT namespace FROM memory WHERE "row" = source) '
        'IS NOT (SELECT namespace FROM memory WHERE "row" = target)'
    )
    _drop_bad_vectors(db)
    experience.repair(db)
    db.execute("DELETE FROM document")
    db.execute("DELETE FROM label")
    total = db.execute("SELECT count(*) FROM memory").get
    for done, (number, namespace, memory, _, _) in enumerate(_rows(db), 1):
        text = document_text(memory.statement)
        scope = scope_text(namespace, memory.statement.project)
        db.execute("INSERT INTO document VALUES (?, ?, ?, ?)", (number, text.words, text.parts, scope))
        for kind, value in labels(memory.statement):
            db.execute("INSERT INTO label VALUES (?, ?, ?, ?)", (namespace, kind, value, number))
        if progress is not None and done % _BATCH == 0:
            progress(done, total)
    _rebuild_index(db)
    db.execute(f'DELETE FROM embedding_queue WHERE memory IN (SELECT m."row" FROM memory m WHERE {_SEARCHED})')
    db.execute(
        'INSERT OR IGNORE INTO embedding_queue (memory, namespace, waiting) SELECT m."row", m.namespace, '
        f'NOT EXISTS (SELECT 1 FROM vector v WHERE v.memory = m."row") FROM memory m WHERE NOT {_SEARCHED}'
    )
    if db.execute("SELECT 1 FROM embedding_queue WHERE waiting = 1 LIMIT 1").get:
        ensure_embedding(db, ids.job(), clock.now())
    db.execute(
        "UPDATE namespace AS n SET generation = generation + 1, "
        "memories = (SELECT count(*) FROM memory m WHERE m.namespace = n.id), "
        "seq = max(seq, coalesce((SELECT max(m.seq) FROM memory m WHERE m.namespace = n.id), 0))"
    )
    if progress is not None:
        progress(total, total)


def _rows(db: Connection) -> Iterator[tuple[int, int, Memory, str, tuple[str, str] | None]]:
    """Number, namespace, memory, stored hash and stored text of each row."""
    after = 0
    while True:
        rows = db.execute(
            f'SELECT {COLUMNS}, m."row", m.namespace, n.name, m.text_sha256, d.words, d.parts FROM memory m '
            'JOIN namespace n ON n.id = m.namespace LEFT JOIN document d ON d."row" = m."row" '
            'WHERE m."row" > ? ORDER BY m."row" LIMIT ?',
            (after, _BATCH),
        ).fetchall()
        if not rows:
            return
        for row in rows:
            number, namespace, name, sha256, words, parts = row[_ROW:]
            memory = to_memory(row, NamespaceName(name), None, NO_LINKS)
            yield number, namespace, memory, sha256, None if words is None else (words, parts)
        after = rows[-1][_ROW]


def _check_rows(db: Connection, found: Counter[tuple[str, str]], progress: Progress | None) -> int:
    total = db.execute("SELECT count(*) FROM memory").get
    done = 0
    for number, _, memory, sha256, stored in _rows(db):
        done += 1
        if sha256 != text_sha256(memory.statement):
            found["rows", "its text's hash is not its text's"] += 1
        text = document_text(memory.statement)
        if stored is not None and stored != (text.words, text.parts):
            found["full_text", "its searchable text is not its text's"] += 1
        kept = set(db.execute("SELECT kind, value FROM label WHERE memory = ?", (number,)).fetchall())
        if kept != set(labels(memory.statement)):
            found["labels", "its searchable labels are not its own"] += 1
        if progress is not None and done % _BATCH == 0:
            progress(done, total)
    if progress is not None:
        progress(done, total)
    return done


def _bad_vectors(db: Connection) -> Iterator[tuple[int, bool]]:
    """Number of each vector, and whether its values are right."""
    for number, zero, e in db.execute('SELECT "row", zero, e FROM vector'):
        values = np.frombuffer(e, dtype="<f4") if len(e) % 4 == 0 else np.array([np.nan], dtype=np.float32)
        length = float(np.linalg.norm(values))  # NaN where a value is
        yield number, length == 0.0 if zero else abs(length - 1.0) < _LENGTH_ERROR


def _check_vectors(db: Connection, found: Counter[tuple[str, str]]) -> int:
    count = 0
    for _, right in _bad_vectors(db):
        count += 1
        if not right:
            found["vectors", "is not of length 1"] += 1
    return count


def _drop_bad_vectors(db: Connection) -> None:
    wrong = [(number,) for number, right in _bad_vectors(db) if not right]
    db.executemany('DELETE FROM vector WHERE "row" = ?', wrong)
    db.execute(
        'DELETE FROM vector WHERE "row" IN (SELECT v."row" FROM vector v LEFT JOIN space s ON s.id = v.space '
        'LEFT JOIN memory m ON m."row" = v.memory AND m.namespace = v.namespace '
        'WHERE s.id IS NULL OR m."row" IS NULL OR length(v.e) <> 4 * s.dimension)'
    )


def _rebuild_index(db: Connection) -> None:
    try:
        db.execute("INSERT INTO full_text (full_text) VALUES ('rebuild')")
        return
    except apsw.CorruptError:
        pass
    # Too damaged for FTS5 to empty it: made anew under its own definition.
    definition = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'full_text'").get
    db.execute("DROP TABLE full_text")
    db.execute(definition)
    db.execute("INSERT INTO full_text (full_text, rank) VALUES ('secure-delete', 1)")
    db.execute("INSERT INTO full_text (full_text) VALUES ('rebuild')")


def _part(table: str) -> str:
    if table in experience.TABLES:
        return experience.PART
    return {"vector": "vectors", "document": "full_text", "link": "links", "label": "labels"}.get(table, "rows")
