"""The tenant's wall.

A ``Scope`` is the proof that a request was bound to one namespace. Every read and write of memories takes
one; there is no default and no "all", so forgetting it is a type error and not a leak.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import NewType

from perdure.errors import InvalidArgument, Reason

NamespaceName = NewType("NamespaceName", str)

DEFAULT_NAMESPACE = NamespaceName("default")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}\Z")


def namespace_name(text: str) -> NamespaceName:
    """``text`` as a namespace's name.

    Args:
        text: 1 to 63 characters of ``a-z 0-9 _ . -``, the first a letter or digit.

    Raises:
        InvalidArgument: ``text`` is not such a name.
    """
    if not _NAME.match(text):
        raise InvalidArgument(
            "A namespace's name has 1 to 63 of the characters a-z 0-9 _ . -; the first is a letter or digit.",
            reason=Reason.FIELD_INVALID,
            details={"field": "namespace"},
        )
    return NamespaceName(text)


@dataclass(frozen=True, slots=True)
class Scope:
    """The one namespace a piece of work may touch."""

    namespace: NamespaceName


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who is acting, for history and audit; never used to decide access.

    ``name`` is a token's id, ``local`` or a job's name.
    """

    name: str
    kind: str = "token"


class TokenScope(enum.StrEnum):
    """What a token may do in its namespace; ``admin`` includes namespaces and tokens."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    EXPERIENCE = "experience"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls a service, as the gateway found out: taken from the token alone, never from arguments."""

    namespace: NamespaceName
    actor: str
    scopes: frozenset[str]
    request_id: str = ""

    @property
    def scope(self) -> Scope:
        """The namespace this caller may touch."""
        return Scope(self.namespace)
