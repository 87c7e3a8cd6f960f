"""Make and list namespaces."""

from __future__ import annotations

from perdure.domain.namespace import Caller, TokenScope, namespace_name
from perdure.errors import PermissionDenied, Reason
from perdure.ports import AuditEvent, Clock, Namespace, Store
from perdure.usecases.permission import is_operator, require


class ManageNamespaces:
    """Namespaces are the operator's; an administrator's token sees its own and no other."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create(self, caller: Caller, name: str) -> Namespace:
        """A new namespace.

        Raises:
            InvalidArgument: ``name`` is not a namespace's name.
            AlreadyExists: it is taken (NAMESPACE_EXISTS).
            PermissionDenied: the caller is not the operator.
        """
        require_operator(caller)
        checked, now = namespace_name(name), self._clock.now()
        with self._store.access() as unit:
            made = unit.create_namespace(checked, now)
            unit.audit(
                AuditEvent(at=now, actor=caller.actor, namespace=checked, act="namespace.created", subject=checked)
            )
        return made

    def all(self, caller: Caller) -> tuple[Namespace, ...]:
        """The namespaces this administrator may know of, by name, with their counts.

        Raises:
            PermissionDenied: the caller is no administrator.
        """
        require(caller, TokenScope.ADMIN)
        with self._store.access() as unit:
            if is_operator(caller):
                return unit.namespaces()
            own = unit.namespace(caller.namespace)
        return () if own is None else (own,)


def require_operator(caller: Caller) -> None:
    """Pass for the operator alone.

    Raises:
        PermissionDenied: another caller (SCOPE_MISSING).
    """
    if not is_operator(caller):
        raise PermissionDenied(
            "Only the operator at the machine may do that; a token stays in its namespace.",
            reason=Reason.SCOPE_MISSING,
            details={"scope": "operator"},
        )
