"""Find out whose token this is, in the same time whether the token exists or not."""

from __future__ import annotations

import hmac
import re
import threading
from datetime import datetime, timedelta

from perdure.domain.namespace import Caller
from perdure.errors import PerdureError, Reason, Unauthenticated, Unavailable
from perdure.ports import Clock, Store, Token
from perdure.usecases.manage_tokens import PREFIX, secret_sha256

USED_PERIOD = timedelta(seconds=60)
"""last_used_at is written at most this often for a token, so that authentication stays a read."""

_TOKEN = re.compile(rf"{PREFIX}_([a-z0-9]{{12}})_([A-Za-z0-9_-]{{43,200}})\Z")
_NO_TOKEN = "0" * 64
"""Compared with where there is no such token: no secret has this digest that anyone could find."""


class Authenticate:
    """Turns a token's text into a caller."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._used: dict[str, datetime] = {}

    def __call__(self, text: str) -> Caller:
        """The caller the token stands for.

        Raises:
            Unauthenticated: TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED or TOKEN_REVOKED; the latter two only to
                whoever holds the right secret.
        """
        if not text:
            raise _refusal("A token is needed.", Reason.TOKEN_MISSING)
        match = _TOKEN.match(text)
        identity, secret = match.groups() if match else ("", text[:256])
        now = self._clock.now()
        with self._store.access() as unit:
            token = unit.token(identity)
        digest = secret_sha256(secret.encode("utf-8", "replace").decode())
        right = hmac.compare_digest(digest, token.secret_sha256 if token else _NO_TOKEN)
        if token is None or not right or match is None:
            raise _refusal("This token is not known.", Reason.TOKEN_INVALID)
        if token.revoked_at is not None:
            raise _refusal("This token was revoked.", Reason.TOKEN_REVOKED)
        if token.expires_at is not None and token.expires_at <= now:
            raise _refusal("This token has expired.", Reason.TOKEN_EXPIRED)
        self._note_use(token, now)
        return Caller(namespace=token.namespace, actor=token.id, scopes=token.scopes)

    def _note_use(self, token: Token, now: datetime) -> None:
        with self._lock:
            last = self._used.get(token.id) or token.last_used_at
            if last is not None and now - last < USED_PERIOD:
                return
            self._used[token.id] = now
        try:
            with self._store.access() as unit:
                unit.use_token(token.id, now)
        except Unavailable:
            return  # a busy store: the next use writes it a minute later


def _refusal(message: str, reason: Reason) -> PerdureError:
    return Unauthenticated(message, reason=reason)
