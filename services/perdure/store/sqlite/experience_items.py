"""Procedures: the text of each skill and episode, with the vectors and the ledger that hang on it."""

from __future__ import annotations

from perdure.domain.experience.learning import ItemKind, Procedure
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.rows import micros

VISIBLE = "(p.kind = 'skill' OR NOT EXISTS (SELECT 1 FROM skill s WHERE s.namespace = p.namespace AND s.source = p.id))"
"""Of ``procedure p``: a skill, or an episode that none was compiled from."""


def put_procedure(db: Connection, namespace: int, procedure: Procedure) -> None:
    """Stores or replaces the text; vectors of another text go."""
    item = (namespace, procedure.kind.value, procedure.id)
    db.execute(
        "DELETE FROM procedure_vector WHERE namespace = ?1 AND kind = ?2 AND id = ?3 AND NOT EXISTS "
        "(SELECT 1 FROM procedure WHERE namespace = ?1 AND kind = ?2 AND id = ?3 AND sha256 = ?4)",
        (*item, procedure.sha256),
    )
    db.execute(
        "INSERT INTO procedure (namespace, kind, id, name, text, sha256, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (namespace, kind, id) DO UPDATE SET name = excluded.name, text = excluded.text, "
        "sha256 = excluded.sha256, updated_at = excluded.updated_at",
        (*item, procedure.name, procedure.text, procedure.sha256, micros(procedure.updated_at)),
    )
    shelf_changed(db, namespace)


def forget_procedure(db: Connection, namespace: int, kind: ItemKind, id_: str) -> None:
    """Erases the text, its vectors, and that it was ever learned."""
    item = (namespace, kind.value, id_)
    db.execute("DELETE FROM procedure WHERE namespace = ? AND kind = ? AND id = ?", item)
    db.execute("DELETE FROM learned WHERE namespace = ? AND kind = ? AND id = ?", item)
    shelf_changed(db, namespace)


def shelf_changed(db: Connection, namespace: int) -> None:
    """Says that procedures, their vectors or their ledger are others now. A stamp undone is never given again."""
    db.execute(
        "INSERT OR REPLACE INTO shelf (namespace, stamp) VALUES (?, lower(hex(randomblob(8))))",
        (namespace,),
    )
