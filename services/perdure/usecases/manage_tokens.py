"""Make, list and revoke tokens; read the audit trail.

A token is ``pdr_<id>_<secret>``. The secret is in the answer of ``create`` and nowhere else: the store holds its
SHA-256, which is enough for a secret of 256 random bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime

from perdure.domain.namespace import Caller, NamespaceName, TokenScope, namespace_name
from perdure.domain.text import clean
from perdure.errors import InvalidArgument, NotFound, Reason
from perdure.ports import AccessUnit, AuditEvent, Clock, Ids, Store, Token
from perdure.usecases.manage_namespaces import require_operator
from perdure.usecases.permission import is_operator, require

PREFIX = "pdr"
NAME_CHARS_MAX = 200
TRAIL_MAX = 500
DEFAULT_SCOPES = frozenset({TokenScope.READ.value, TokenScope.WRITE.value})


def secret_sha256(secret: str) -> str:
    """Hex digest under which a token's secret is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


class ManageTokens:
    """An administrator's token manages the tokens of its own namespace; the operator those of every one."""

    def __init__(self, store: Store, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def create(
        self,
        caller: Caller,
        namespace: str,
        name: str,
        *,
        scopes: Collection[str] = (),
        expires_at: datetime | None = None,
        create_namespace: bool = False,
    ) -> tuple[Token, str]:
        """The token and its secret text, shown this once. No scopes means read and write.

        Raises:
            InvalidArgument: namespace, name, scopes or expiry are malformed.
            NotFound: there is no such namespace (NAMESPACE_NOT_FOUND), or it is another than the caller's own.
            PermissionDenied: the caller is no administrator.
        """
        require(caller, TokenScope.ADMIN)
        now = self._clock.now()
        bound = namespace_name(namespace)
        self._within(caller, bound)
        identity, secret = self._ids.token()
        token = Token(
            id=identity,
            namespace=bound,
            name=_name(name),
            secret_sha256=secret_sha256(secret),
            scopes=_scopes(scopes),
            created_at=now,
            expires_at=_expiry(expires_at, now),
        )
        with self._store.access() as unit:
            if unit.namespace(bound) is None:
                if not create_namespace:
                    raise _no_namespace()
                require_operator(caller)
                unit.create_namespace(bound, now)
                _audit(unit, caller, bound, "namespace.created", bound, now)
            unit.add_token(token)
            _audit(unit, caller, bound, "token.created", identity, now)
        return token, f"{PREFIX}_{identity}_{secret}"

    def all(self, caller: Caller, namespace: str | None = None) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all that the caller may know of; newest first, without secrets.

        Raises:
            InvalidArgument: ``namespace`` is not a namespace's name.
            NotFound: it is another than the caller's own.
            PermissionDenied: the caller is no administrator.
        """
        require(caller, TokenScope.ADMIN)
        with self._store.access() as unit:
            return unit.tokens(self._seen(caller, namespace))

    def revoke(self, caller: Caller, token_id: str) -> Token:
        """The token, ended at once; revoking it again changes nothing.

        Raises:
            NotFound: there is no such token, or it is of another namespace than the caller's (TOKEN_NOT_FOUND).
            PermissionDenied: the caller is no administrator.
        """
        require(caller, TokenScope.ADMIN)
        now = self._clock.now()
        with self._store.access() as unit:
            token = unit.token(token_id)
            if token is None or not (is_operator(caller) or token.namespace == caller.namespace):
                raise NotFound("There is no token with this id.", reason=Reason.TOKEN_NOT_FOUND)
            if token.revoked_at is not None:
                return token
            ended = unit.revoke_token(token_id, now) or token
            _audit(unit, caller, token.namespace, "token.revoked", token_id, now)
        return ended

    def trail(self, caller: Caller, namespace: str | None = None, *, limit: int = 100) -> tuple[AuditEvent, ...]:
        """What was done with namespaces and tokens, newest first; ``limit`` is 1 to 500.

        Raises:
            InvalidArgument: the limit or the namespace's name is malformed.
            NotFound: the namespace is another than the caller's own.
            PermissionDenied: the caller is no administrator.
        """
        require(caller, TokenScope.ADMIN)
        if not 1 <= limit <= TRAIL_MAX:
            raise InvalidArgument(
                f"The trail shows 1 to {TRAIL_MAX} events.", reason=Reason.OUT_OF_RANGE, details={"field": "limit"}
            )
        with self._store.access() as unit:
            return unit.trail(self._seen(caller, namespace), limit)

    def _seen(self, caller: Caller, namespace: str | None) -> NamespaceName | None:
        if not namespace:
            return None if is_operator(caller) else caller.namespace
        bound = namespace_name(namespace)
        self._within(caller, bound)
        return bound

    @staticmethod
    def _within(caller: Caller, namespace: NamespaceName) -> None:
        if not is_operator(caller) and namespace != caller.namespace:
            raise _no_namespace()


def _no_namespace() -> NotFound:
    return NotFound("There is no namespace of this name.", reason=Reason.NAMESPACE_NOT_FOUND)


def _name(text: str) -> str:
    name = clean(text).strip()
    if not 1 <= len(name) <= NAME_CHARS_MAX:
        raise InvalidArgument(
            f"A token's name has 1 to {NAME_CHARS_MAX} characters.",
            reason=Reason.FIELD_INVALID,
            details={"field": "name"},
        )
    return name


def _scopes(scopes: Collection[str]) -> frozenset[str]:
    known = {scope.value for scope in TokenScope}
    unknown = sorted(set(scopes) - known)
    if unknown:
        raise InvalidArgument(
            f"A scope is one of {', '.join(sorted(known))}.", reason=Reason.FIELD_INVALID, details={"field": "scopes"}
        )
    return frozenset(scopes) or DEFAULT_SCOPES


def _expiry(expires_at: datetime | None, now: datetime) -> datetime | None:
    if expires_at is not None and expires_at <= now:
        raise InvalidArgument(
            "A token's expiry lies in the future.", reason=Reason.OUT_OF_RANGE, details={"field": "expires_at"}
        )
    return expires_at


def _audit(unit: AccessUnit, caller: Caller, namespace: NamespaceName, act: str, subject: str, now: datetime) -> None:
    unit.audit(AuditEvent(at=now, actor=caller.actor, namespace=namespace, act=act, subject=subject))
