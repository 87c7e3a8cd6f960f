"""Namespaces, tokens and audit."""

from __future__ import annotations

import json
from datetime import datetime

import apsw

from perdure.domain.namespace import NamespaceName
from perdure.errors import AlreadyExists, NotFound, Reason
from perdure.ports import AuditEvent, Namespace, Token
from perdure.store.sqlite.driver import Connection, translated
from perdure.store.sqlite.rows import Row, maybe_micros, maybe_moment, micros, moment
from perdure.store.sqlite.transaction import Transaction

_TOKEN = (
    "SELECT t.id, n.name, t.name, t.secret_sha256, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.revoked_at "  # noqa: S105 - SQL
    "FROM token t JOIN namespace n ON n.id = t.namespace "
)


class SqliteAccess:
    """One transaction on namespaces, tokens and audit."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def create_namespace(self, name: NamespaceName, now: datetime) -> Namespace:
        """A new namespace.

        Raises:
            AlreadyExists: the name is taken.
        """
        with translated():
            try:
                self._transaction.writing.execute(
                    "INSERT INTO namespace (name, created_at) VALUES (?, ?)", (name, micros(now))
                )
            except apsw.ConstraintError as error:
                raise AlreadyExists("There is a namespace of that name.", reason=Reason.NAMESPACE_EXISTS) from error
        return Namespace(name=name, created_at=now)

    def namespace(self, name: NamespaceName) -> Namespace | None:
        """The namespace, or None."""
        with translated():
            rows = self._transaction.reading.execute(
                "SELECT name, created_at, memories FROM namespace WHERE name = ?", (name,)
            ).fetchall()
        return _namespace(rows[0]) if rows else None

    def namespaces(self) -> tuple[Namespace, ...]:
        """All, by name, with their counts."""
        with translated():
            rows = self._transaction.reading.execute("SELECT name, created_at, memories FROM namespace ORDER BY name")
            return tuple(_namespace(row) for row in rows.fetchall())

    def add_token(self, token: Token) -> None:
        """Stores a new token.

        Raises:
            NotFound: there is no such namespace.
            AlreadyExists: its id is taken.
        """
        with translated():
            db = self._transaction.writing
            namespace = db.execute("SELECT id FROM namespace WHERE name = ?", (token.namespace,)).get
            if namespace is None:
                raise NotFound("There is no such namespace.", reason=Reason.NAMESPACE_NOT_FOUND)
            try:
                db.execute(
                    "INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        token.id,
                        namespace,
                        token.name,
                        token.secret_sha256,
                        json.dumps(sorted(token.scopes)),
                        micros(token.created_at),
                        maybe_micros(token.expires_at),
                        maybe_micros(token.last_used_at),
                        maybe_micros(token.revoked_at),
                    ),
                )
            except apsw.ConstraintError as error:
                raise AlreadyExists("There is a token of that id.", reason=Reason.KEY_TAKEN) from error

    def token(self, token_id: str) -> Token | None:
        """The token of that id, also when expired or revoked."""
        with translated():
            return _find_token(self._transaction.reading, token_id)

    def tokens(self, namespace: NamespaceName | None) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all; newest first."""
        with translated():
            rows = self._transaction.reading.execute(
                _TOKEN + "WHERE ?1 IS NULL OR n.name = ?1 ORDER BY t.created_at DESC, t.id DESC", (namespace,)
            )
            return tuple(_token(row) for row in rows.fetchall())

    def revoke_token(self, token_id: str, now: datetime) -> Token | None:
        """The token, revoked (at its first revocation's time); None where there is none."""
        with translated():
            db = self._transaction.writing
            db.execute("UPDATE token SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", (micros(now), token_id))
            return _find_token(db, token_id)

    def use_token(self, token_id: str, now: datetime) -> None:
        """Moves last_used_at, never back."""
        with translated():
            self._transaction.writing.execute(
                "UPDATE token SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?",
                (micros(now), token_id),
            )

    def audit(self, event: AuditEvent) -> None:
        """Adds an event to the trail."""
        with translated():
            self._transaction.writing.execute(
                "INSERT INTO audit (at, actor, namespace, act, subject) VALUES (?, ?, ?, ?, ?)",
                (micros(event.at), event.actor, event.namespace, event.act, event.subject),
            )

    def trail(self, namespace: NamespaceName | None, limit: int) -> tuple[AuditEvent, ...]:
        """Events, newest first."""
        with translated():
            rows = self._transaction.reading.execute(
                "SELECT at, actor, namespace, act, subject FROM audit WHERE ?1 IS NULL OR namespace = ?1 "
                "ORDER BY id DESC LIMIT ?2",
                (namespace, limit),
            ).fetchall()
        return tuple(
            AuditEvent(at=moment(at), actor=actor, namespace=name, act=act, subject=subject)
            for at, actor, name, act, subject in rows
        )


def _namespace(row: Row) -> Namespace:
    return Namespace(name=NamespaceName(row[0]), created_at=moment(row[1]), memories=row[2])


def _find_token(db: Connection, token_id: str) -> Token | None:
    rows = db.execute(_TOKEN + "WHERE t.id = ?", (token_id,)).fetchall()
    return _token(rows[0]) if rows else None


def _token(row: Row) -> Token:
    return Token(
        id=row[0],
        namespace=NamespaceName(row[1]),
        name=row[2],
        secret_sha256=row[3],
        scopes=frozenset(json.loads(row[4])),
        created_at=moment(row[5]),
        expires_at=maybe_moment(row[6]),
        last_used_at=maybe_moment(row[7]),
        revoked_at=maybe_moment(row[8]),
    )
