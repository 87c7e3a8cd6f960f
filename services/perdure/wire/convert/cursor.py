"""Where a page ended, as an opaque string."""

from __future__ import annotations

import base64
import binascii
import struct
import uuid
from datetime import UTC, datetime, timedelta

from perdure.domain.memory import MemoryId
from perdure.errors import InvalidArgument, Reason
from perdure.ports import Position

_VERSION = 1
# version, microseconds since the epoch, id
_LAYOUT = struct.Struct(">Bq16s")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def cursor_of(position: Position | None) -> str:
    """``position`` as base64url without padding; empty for None, which is the end of the last page."""
    if position is None:
        return ""
    micros = (position.created_at - _EPOCH) // _MICROSECOND
    packed = _LAYOUT.pack(_VERSION, micros, uuid.UUID(position.id).bytes)
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def position_of(cursor: str) -> Position | None:
    """The position in ``cursor``; None for an empty one, which starts at the newest.

    Raises:
        InvalidArgument: it is not a cursor of ours (CURSOR_INVALID).
    """
    if not cursor:
        return None
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        version, micros, raw = _LAYOUT.unpack(packed)
        position = Position(_EPOCH + timedelta(microseconds=micros), MemoryId(str(uuid.UUID(bytes=raw))))
    except (binascii.Error, struct.error, ValueError, OverflowError):
        raise _invalid() from None
    # one spelling only, so that a cursor is compared by its text
    if version != _VERSION or cursor_of(position) != cursor:
        raise _invalid()
    return position


def _invalid() -> InvalidArgument:
    return InvalidArgument(
        "This cursor is not one Perdure gave out; start again without it.",
        reason=Reason.CURSOR_INVALID,
        details={"field": "cursor"},
    )
