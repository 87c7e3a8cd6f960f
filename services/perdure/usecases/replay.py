"""Answers remembered under an idempotency key, so that a repeated request has one effect.

A key belongs to one namespace and one verb. The answer is written in the transaction of the effect itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from perdure.domain.memory import MemoryId
from perdure.domain.saving import Checkpoint, Draft, Failure, Outcome, SaveResult
from perdure.errors import Conflict, InvalidArgument, Reason
from perdure.ports import MemoryReader, MemoryUnit, Replay

KEY_CHARS_MAX = 255

Item = SaveResult | Failure


class Memo:
    """One request under one key: looks for its earlier answer and keeps the new one."""

    def __init__(self, verb: str, key: str, request: object, lifetime: timedelta) -> None:
        """Takes the verb, the caller's key, the request (dataclasses and tuples of them) and how long answers keep.

        Raises:
            InvalidArgument: the key is longer than 255 characters (TOO_LARGE).
        """
        if len(key) > KEY_CHARS_MAX:
            raise InvalidArgument(
                f"An idempotency key has at most {KEY_CHARS_MAX} characters.",
                reason=Reason.TOO_LARGE,
                details={"field": "idempotency_key"},
            )
        self._key_sha256 = _sha256(f"{verb}\n{key}")
        self._request_sha256 = _sha256(json.dumps(_plain(request), sort_keys=True, ensure_ascii=True))
        self._lifetime = lifetime

    def earlier(self, reader: MemoryReader) -> tuple[Item, ...] | None:
        """The answer given before, each result marked ``replayed``; None where there is none.

        Raises:
            Conflict: the key was used for another request (IDEMPOTENCY_MISMATCH).
        """
        kept = reader.replay(self._key_sha256)
        if kept is None:
            return None
        if kept.request_sha256 != self._request_sha256:
            raise Conflict(
                "This idempotency key was used for a different request; use a new key.",
                reason=Reason.IDEMPOTENCY_MISMATCH,
            )
        return tuple(_item(entry) for entry in json.loads(kept.answer))

    def keep(self, unit: MemoryUnit, answer: Sequence[Item], now: datetime) -> None:
        """Remember ``answer`` with the transaction that made it true."""
        data = json.dumps([dataclasses.asdict(item) for item in answer], ensure_ascii=True).encode()
        unit.remember(
            self._key_sha256,
            Replay(request_sha256=self._request_sha256, answer=data),
            expires_at=now + self._lifetime,
        )


def memo(
    verb: str, key: str | None, request: Draft | Checkpoint | Sequence[object], lifetime: timedelta
) -> Memo | None:
    """The memo of a request, or None where it came without a key."""
    return Memo(verb, key, request, lifetime) if key else None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _item(entry: dict[str, object]) -> Item:
    if "outcome" not in entry:
        return Failure(code=str(entry["code"]), reason=str(entry["reason"]), message=str(entry["message"]))
    fields = dict(entry)
    fields["outcome"] = Outcome(str(fields["outcome"]))
    fields["id"] = MemoryId(str(fields["id"]))
    for name in ("superseded", "related", "redacted"):
        fields[name] = tuple(fields[name])  # type: ignore[arg-type]  # lists of strings by construction
    fields["replayed"] = True
    return SaveResult(**fields)  # type: ignore[arg-type]  # the fields are the dataclass's own
