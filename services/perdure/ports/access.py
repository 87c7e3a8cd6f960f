"""Namespaces, tokens and their trail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from perdure.domain.namespace import NamespaceName


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace and how many memories it holds."""

    name: NamespaceName
    created_at: datetime
    memories: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as stored: a hash of the secret, never the secret."""

    id: str
    namespace: NamespaceName
    name: str
    secret_sha256: str
    scopes: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who did what to which namespace or token; no text, no secret."""

    at: datetime
    actor: str
    namespace: str
    act: str
    subject: str


class AccessUnit(Protocol):
    """One transaction on namespaces, tokens and audit."""

    def create_namespace(self, name: NamespaceName, now: datetime) -> Namespace:
        """A new namespace.

        Raises:
            AlreadyExists: the name is taken.
        """

    def namespace(self, name: NamespaceName) -> Namespace | None:
        """The namespace, or None."""

    def namespaces(self) -> tuple[Namespace, ...]:
        """All, by name, with their counts."""

    def add_token(self, token: Token) -> None:
        """Stores a new token."""

    def token(self, token_id: str) -> Token | None:
        """The token of that id, also when expired or revoked."""

    def tokens(self, namespace: NamespaceName | None) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all; newest first."""

    def revoke_token(self, token_id: str, now: datetime) -> Token | None:
        """The token, revoked; None where there is none."""

    def use_token(self, token_id: str, now: datetime) -> None:
        """Moves last_used_at."""

    def audit(self, event: AuditEvent) -> None:
        """Adds an event to the trail."""

    def trail(self, namespace: NamespaceName | None, limit: int) -> tuple[AuditEvent, ...]:
        """Events, newest first."""
