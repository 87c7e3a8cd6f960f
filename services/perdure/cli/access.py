"""``token`` and ``namespace``: the operator's right, by the services' socket or internal token.

Who can open the retrieval service's socket, or knows PERDURE_INTERNAL_TOKEN, runs the system; no token is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.terminal import note, paint, say, say_json, table, when
from perdure.cli.words import json_option, split_list

if TYPE_CHECKING:
    from datetime import datetime

    from perdure.domain.namespace import Caller
    from perdure.ports import Namespace, Token
    from perdure.wire.clients import AccessClient

SCOPES = ("read", "write", "admin", "experience")
OPERATOR = "operator"
"""The actor that perdure.usecases.permission takes for the person at the machine."""
_SPAN = re.compile(r"(\d{1,6})\s*(min|h|d|w|y)\Z")
_MINUTES = {"min": 1, "h": 60, "d": 1440, "w": 10080, "y": 525_600}


@contextmanager
def _access() -> Iterator[tuple[AccessClient, Caller]]:
    """The access service of this home or of PERDURE_RETRIEVAL_TARGET, and who we are to it."""
    from perdure.cli.starting import load_settings
    from perdure.domain.namespace import DEFAULT_NAMESPACE, Caller, TokenScope
    from perdure.errors import Code, PerdureError
    from perdure.wire.clients import AccessClient

    settings = load_settings()
    target = settings.target("retrieval")
    caller = Caller(namespace=DEFAULT_NAMESPACE, actor=OPERATOR, scopes=frozenset({TokenScope.ADMIN.value}))
    try:
        with AccessClient(target, internal_token=settings.internal_token.get_secret_value()) as client:
            yield client, caller
    except PerdureError as error:
        if error.code is not Code.UNAVAILABLE:
            raise
        raise Failure(
            f"The retrieval service does not answer at {target}; start it with: perdure up --detach", Exit.AWAY
        ) from error


@click.group()
def token_command() -> None:
    """Make, list and revoke tokens."""


@token_command.command("create")
@click.option("-n", "--namespace", default="default", show_default=True, metavar="NAME", help="Namespace it opens.")
@click.option("--create-namespace", is_flag=True, help="Make the namespace if it is not there.")
@click.option("--name", default="cli", show_default=True, metavar="TEXT", help="What it is for.")
@click.option("--scopes", "--scope", multiple=True, metavar="A,B", help="read, write, admin, experience.")
@click.option("--expires", metavar="WHEN", help="A time such as 2027-01-31T00:00:00Z, or a span such as 90d.")
@json_option
def _create_token(
    namespace: str, create_namespace: bool, name: str, scopes: tuple[str, ...], expires: str | None, as_json: bool
) -> None:
    """Make a token. Its secret is shown this once."""
    chosen = split_list(scopes) or []
    for scope in chosen:
        if scope not in SCOPES:
            raise Failure(f"{scope!r} is no scope; there are {', '.join(SCOPES)}.", Exit.USAGE)
    ends = moment(expires) if expires else None
    with _access() as (client, caller):
        token, secret = client.create_token(
            caller, namespace, name, scopes=chosen, expires_at=ends, create_namespace=create_namespace
        )
    if as_json:
        say_json({**_token(token), "secret": secret})
        return
    say(secret)
    note(f"Token {token.id} for the namespace {token.namespace}. Keep it now; it is not shown again.")


@token_command.command("list")
@click.option("-n", "--namespace", metavar="NAME", help="Only of this namespace.")
@json_option
def _list_tokens(namespace: str | None, as_json: bool) -> None:
    """List tokens, without their secrets."""
    with _access() as (client, caller):
        tokens = client.tokens(caller, namespace)
    if as_json:
        say_json({"tokens": [_token(token) for token in tokens]})
        return
    if not tokens:
        note("No tokens. Make one: perdure token create")
        return
    table(
        ("id", "namespace", "name", "scopes", "created", "expires", "last used", "state"),
        [
            (
                token.id,
                token.namespace,
                token.name,
                ",".join(sorted(token.scopes)),
                when(token.created_at),
                when(token.expires_at) if token.expires_at else "never",
                when(token.last_used_at) if token.last_used_at else "never",
                _state(token),
            )
            for token in tokens
        ],
    )


@token_command.command("revoke")
@click.argument("id_", metavar="ID")
@json_option
def _revoke_token(id_: str, as_json: bool) -> None:
    """End a token at once. ID is its id, or the whole token."""
    # people paste what they have; only the id between the underscores is sent
    pasted = re.fullmatch(r"pdr_([^_]+)_.+", id_)
    with _access() as (client, caller):
        token = client.revoke_token(caller, pasted[1] if pasted else id_)
    if as_json:
        say_json(_token(token))
    else:
        say(f"{paint('Revoked', fg='green')}: {token.id}")


@click.group()
def namespace_command() -> None:
    """Make and list namespaces."""


@namespace_command.command("create")
@click.argument("name")
@json_option
def _create_namespace(name: str, as_json: bool) -> None:
    """Make a namespace."""
    with _access() as (client, caller):
        namespace = client.create_namespace(caller, name)
    if as_json:
        say_json(_namespace(namespace))
    else:
        say(f"{paint('Made', fg='green')}: {namespace.name}; a token for it: perdure token create -n {namespace.name}")


@namespace_command.command("list")
@json_option
def _list_namespaces(as_json: bool) -> None:
    """List namespaces and how many memories each holds."""
    with _access() as (client, caller):
        namespaces = client.namespaces(caller)
    if as_json:
        say_json({"namespaces": [_namespace(namespace) for namespace in namespaces]})
        return
    table(
        ("namespace", "memories", "created"),
        [(namespace.name, namespace.memories, when(namespace.created_at)) for namespace in namespaces],
    )


def moment(text: str) -> datetime:
    """A time, or a span from now on such as ``90d``, ``12h``, ``30min``, ``1y``.

    Raises:
        Failure: it is neither.
    """
    from datetime import UTC, datetime, timedelta

    if match := _SPAN.fullmatch(text.strip()):
        return datetime.now(UTC) + timedelta(minutes=int(match[1]) * _MINUTES[match[2]])
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise Failure(
            f"{text!r} is no time; write 2027-01-31, 2027-01-31T00:00:00Z or a span such as 90d.", Exit.USAGE
        ) from error
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)


def _token(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "namespace": token.namespace,
        "name": token.name,
        "scopes": sorted(token.scopes),
        "created_at": _iso(token.created_at),
        "expires_at": _iso(token.expires_at),
        "last_used_at": _iso(token.last_used_at),
        "revoked_at": _iso(token.revoked_at),
    }


def _namespace(namespace: Namespace) -> dict[str, Any]:
    return {"name": namespace.name, "memories": namespace.memories, "created_at": _iso(namespace.created_at)}


def _iso(moment_: datetime | None) -> str | None:
    return moment_.isoformat().replace("+00:00", "Z") if moment_ else None


def _state(token: Token) -> str:
    from datetime import UTC, datetime

    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is not None and token.expires_at <= datetime.now(UTC):
        return "expired"
    return "valid"
