"""May this caller do this?

The gateway checks first; this is the second wall, so that a wrong route never becomes a leak. ``admin`` includes
reading and writing. What reaches beyond the caller's own namespace is the operator's alone.
"""

from __future__ import annotations

from perdure.domain.namespace import Caller, TokenScope
from perdure.errors import PermissionDenied, Reason

OPERATORS = frozenset({"local", "operator"})
"""Actors that are people at the machine; every other actor is a token and stays in its namespace."""


def require(caller: Caller, scope: TokenScope) -> None:
    """Pass where the caller holds ``scope``.

    Raises:
        PermissionDenied: it does not (SCOPE_MISSING).
    """
    if holds(caller, scope):
        return
    raise PermissionDenied(
        f"This token may not do that; it lacks the scope '{scope.value}'.",
        reason=Reason.SCOPE_MISSING,
        details={"scope": scope.value},
    )


def holds(caller: Caller, scope: TokenScope) -> bool:
    """True where the caller holds ``scope``."""
    return scope.value in caller.scopes or TokenScope.ADMIN.value in caller.scopes


def is_operator(caller: Caller) -> bool:
    """True for an administrator at the machine, who may act on every namespace."""
    return caller.actor in OPERATORS and TokenScope.ADMIN.value in caller.scopes
