"""Namespaces, tokens, audit, authentication."""

from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.domain.namespace import Caller, NamespaceName
from perdure.errors import AlreadyExists, InvalidArgument, NotFound, PermissionDenied, Reason, Unauthenticated
from perdure.usecases.authenticate import Authenticate
from perdure.usecases.manage_namespaces import ManageNamespaces
from perdure.usecases.manage_tokens import ManageTokens
from support.memory_world import MemoryWorld, caller


class Access:
    def __init__(self, world: MemoryWorld) -> None:
        self.world = world
        self.operator = caller()
        self.namespaces = ManageNamespaces(world.store, world.clock)
        self.tokens = ManageTokens(world.store, world.clock, world.ids)
        self.authenticate = Authenticate(world.store, world.clock)


@pytest.fixture
def access(world: MemoryWorld) -> Access:
    made = Access(world)
    made.namespaces.create(made.operator, "acme")
    return made


@pytest.mark.requirement("ACCESS-04")
def test_a_token_stands_for_its_namespace_and_scopes(access: Access) -> None:
    token, secret = access.tokens.create(access.operator, "acme", "laptop")
    assert secret.startswith(f"pdr_{token.id}_")
    assert secret.removeprefix(f"pdr_{token.id}_") not in repr(token)
    who = access.authenticate(secret)
    assert (who.namespace, who.actor, who.scopes) == ("acme", token.id, {"read", "write"})


@pytest.mark.parametrize("text", ["pdr_000000000009_" + "x" * 43, "nonsense", "pdr__", "a" * 10_000, "pdr_\ud800_x"])
def test_an_unknown_token_is_invalid(access: Access, text: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        access.authenticate(text)
    assert caught.value.reason is Reason.TOKEN_INVALID


@pytest.mark.requirement("ACCESS-03")
def test_a_known_id_with_a_wrong_secret_is_as_invalid_as_an_unknown_one(access: Access) -> None:
    token, secret = access.tokens.create(access.operator, "acme", "laptop")
    with pytest.raises(Unauthenticated) as known:
        access.authenticate(secret[:-1] + ("0" if secret[-1] != "0" else "1"))
    with pytest.raises(Unauthenticated) as unknown:
        access.authenticate("pdr_zzzzzzzzzzzz_" + "x" * 43)
    assert (known.value.reason, known.value.message) == (unknown.value.reason, unknown.value.message)
    assert token.id not in known.value.message


def test_no_token_is_missing(access: Access) -> None:
    with pytest.raises(Unauthenticated) as caught:
        access.authenticate("")
    assert caught.value.reason is Reason.TOKEN_MISSING


@pytest.mark.requirement("ACCESS-04")
def test_an_expired_token_says_so(access: Access) -> None:
    soon = access.world.clock.now() + timedelta(hours=1)
    _, secret = access.tokens.create(access.operator, "acme", "laptop", expires_at=soon)
    access.authenticate(secret)
    access.world.clock.advance(hours=1)
    with pytest.raises(Unauthenticated) as caught:
        access.authenticate(secret)
    assert caught.value.reason is Reason.TOKEN_EXPIRED


@pytest.mark.requirement("ACCESS-04")
def test_a_revoked_token_ends_at_once_and_revoking_again_changes_nothing(access: Access) -> None:
    token, secret = access.tokens.create(access.operator, "acme", "laptop")
    first = access.tokens.revoke(access.operator, token.id)
    access.world.clock.advance(hours=1)
    assert access.tokens.revoke(access.operator, token.id).revoked_at == first.revoked_at
    with pytest.raises(Unauthenticated) as caught:
        access.authenticate(secret)
    assert caught.value.reason is Reason.TOKEN_REVOKED
    with pytest.raises(NotFound):
        access.tokens.revoke(access.operator, "zzzzzzzzzzzz")


@pytest.mark.requirement("ACCESS-04")
def test_last_used_moves_at_most_once_a_minute(access: Access) -> None:
    _, secret = access.tokens.create(access.operator, "acme", "laptop")

    def last() -> object:
        return access.tokens.all(access.operator, "acme")[0].last_used_at

    access.authenticate(secret)
    first = last()
    access.world.clock.advance(seconds=59)
    access.authenticate(secret)
    assert last() == first == access.world.clock.now() - timedelta(seconds=59)
    access.world.clock.advance(seconds=1)
    access.authenticate(secret)
    assert last() == access.world.clock.now()


def test_an_administrators_token_stays_in_its_namespace(access: Access) -> None:
    theirs, _ = access.tokens.create(access.operator, "default", "other")
    admin = Caller(namespace=NamespaceName("acme"), actor="abcdefghijkl", scopes=frozenset({"admin"}))
    own, _ = access.tokens.create(admin, "acme", "mine")
    assert [token.id for token in access.tokens.all(admin)] == [own.id]
    assert [namespace.name for namespace in access.namespaces.all(admin)] == ["acme"]
    with pytest.raises(NotFound):
        access.tokens.create(admin, "default", "widen")
    with pytest.raises(NotFound):
        access.tokens.all(admin, "default")
    with pytest.raises(NotFound):
        access.tokens.revoke(admin, theirs.id)
    with pytest.raises(NotFound):
        access.tokens.trail(admin, "default")
    with pytest.raises(PermissionDenied):
        access.namespaces.create(admin, "mine-too")
    with pytest.raises(NotFound):
        access.tokens.create(admin, "mine-too", "x", create_namespace=True)


def test_who_is_no_administrator_manages_nothing(access: Access) -> None:
    user = Caller(namespace=NamespaceName("acme"), actor="local", scopes=frozenset({"read", "write"}))
    for act in (
        lambda: access.namespaces.create(user, "x"),
        lambda: access.namespaces.all(user),
        lambda: access.tokens.create(user, "acme", "x"),
        lambda: access.tokens.all(user),
        lambda: access.tokens.revoke(user, "x"),
        lambda: access.tokens.trail(user),
    ):
        with pytest.raises(PermissionDenied):
            act()


def test_every_act_is_in_the_trail_without_a_secret(access: Access) -> None:
    token, secret = access.tokens.create(access.operator, "fresh", "laptop", create_namespace=True)
    access.tokens.revoke(access.operator, token.id)
    events = access.tokens.trail(access.operator)
    assert [(e.act, e.namespace, e.subject) for e in events] == [
        ("token.revoked", "fresh", token.id),
        ("token.created", "fresh", token.id),
        ("namespace.created", "fresh", "fresh"),
        ("namespace.created", "acme", "acme"),
    ]
    assert secret.rsplit("_", 1)[-1] not in repr(events)


def test_names_scopes_and_expiry_are_checked(access: Access) -> None:
    past = access.world.clock.now()
    for act in (
        lambda: access.namespaces.create(access.operator, "Not A Name"),
        lambda: access.tokens.create(access.operator, "acme", ""),
        lambda: access.tokens.create(access.operator, "acme", "x", scopes=("root",)),
        lambda: access.tokens.create(access.operator, "acme", "x", expires_at=past),
    ):
        with pytest.raises(InvalidArgument):
            act()
    with pytest.raises(AlreadyExists):
        access.namespaces.create(access.operator, "acme")
    with pytest.raises(NotFound):
        access.tokens.create(access.operator, "nowhere", "x")
