"""The parts that messages are made of: texts, ids, numbers, times, enums.

Each reader checks form and names the field it refuses; knows no message.
"""

from __future__ import annotations

import enum
import math
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Generic, Protocol, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from perdure.domain.memory import MemoryId
from perdure.errors import InvalidArgument, Reason

INT64_MAX = 2**63 - 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# datetime.min and max as seconds since the epoch
_SECONDS_MIN = -62_135_596_800
_SECONDS_MAX = 253_402_300_799

_E = TypeVar("_E", bound=enum.Enum)


class Message(Protocol):
    """The part of a protobuf message that is needed here."""

    def HasField(self, name: str) -> bool:  # noqa: N802 - protobuf's name
        """True where the field is present."""


def invalid(field: str, message: str, reason: Reason = Reason.FIELD_INVALID) -> InvalidArgument:
    """The error for a field that cannot be read."""
    return InvalidArgument(message, reason=reason, details={"field": field})


def text(value: str) -> str:
    """``value`` as UTF-8 can carry it.

    Halves of surrogate pairs are joined where they belong together and become U+FFFD where they are alone, as
    ``domain.text.clean`` has it.
    """
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def texts(values: Iterable[str]) -> list[str]:
    """Each of ``values`` as UTF-8 can carry it."""
    return [text(value) for value in values]


def optional_text(value: str | None) -> str | None:
    """``value`` as UTF-8 can carry it; None stays absent."""
    return None if value is None else text(value)


def memory_id(value: str, field: str = "id") -> MemoryId:
    """``value`` as a memory's id, in lower case.

    Raises:
        InvalidArgument: it is not a UUID with dashes (FIELD_MISSING where it is empty).
    """
    if not value:
        raise invalid(field, "A memory's id is missing.", Reason.FIELD_MISSING)
    try:
        parsed = str(uuid.UUID(value))
    except ValueError:
        parsed = ""
    # UUID() also takes braces, a urn: and no dashes
    if parsed != value.lower():
        raise invalid(field, "A memory's id is a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057.")
    return MemoryId(parsed)


def memory_ids(values: Iterable[str], field: str) -> tuple[MemoryId, ...]:
    """Each of ``values`` as a memory's id."""
    return tuple(memory_id(value, field) for value in values)


def present(message: Message, field: str) -> None:
    """Nothing, where ``field`` is there.

    Raises:
        InvalidArgument: it is absent (FIELD_MISSING).
    """
    if not message.HasField(field):
        raise invalid(field, f"The field {field} is missing.", Reason.FIELD_MISSING)


def number(value: float, field: str, low: float, high: float) -> float:
    """``value`` where it lies in [low, high].

    Raises:
        InvalidArgument: it does not, or is NaN (OUT_OF_RANGE).
    """
    # NaN fails every comparison
    if not low <= value <= high:
        raise invalid(field, f"{field} lies between {low:g} and {high:g}.", Reason.OUT_OF_RANGE)
    return value


def finite(value: float, field: str) -> float:
    """``value`` where it is a number and finite.

    Raises:
        InvalidArgument: it is not (OUT_OF_RANGE).
    """
    if not math.isfinite(value):
        raise invalid(field, f"{field} is not a finite number.", Reason.OUT_OF_RANGE)
    return value


def whole(value: int, field: str, low: int, high: int = INT64_MAX) -> int:
    """``value`` where it lies in [low, high].

    Raises:
        InvalidArgument: it does not (OUT_OF_RANGE).
    """
    if not low <= value <= high:
        raise invalid(field, f"{field} lies between {low} and {high}.", Reason.OUT_OF_RANGE)
    return value


def timestamp(value: datetime, field: str = "time") -> Timestamp:
    """``value`` as protobuf has it, exact to the microsecond.

    Raises:
        InvalidArgument: it has no time zone.
    """
    if value.utcoffset() is None:
        raise invalid(field, f"{field} has no time zone.")
    seconds, micros = divmod((value - _EPOCH) // _MICROSECOND, 1_000_000)
    return Timestamp(seconds=seconds, nanos=micros * 1000)


def optional_timestamp(value: datetime | None, field: str = "time") -> Timestamp | None:
    """``value`` as protobuf has it; None stays absent."""
    return None if value is None else timestamp(value, field)


def moment(value: Timestamp, field: str) -> datetime:
    """``value`` in aware UTC; what is finer than a microsecond is cut.

    Raises:
        InvalidArgument: it lies outside the years 1 to 9999, or its nanos outside a second (OUT_OF_RANGE).
    """
    if not (_SECONDS_MIN <= value.seconds <= _SECONDS_MAX and 0 <= value.nanos < 1_000_000_000):
        raise invalid(field, f"{field} is no time of the years 1 to 9999.", Reason.OUT_OF_RANGE)
    return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)


class Names(Generic[_E]):
    """One of our enums and the protobuf enum that says the same.

    Args:
        kind: Our enum.
        numbers: Number of each name of the protobuf enum.
        prefix: What protobuf puts before each name.
    """

    def __init__(self, kind: type[_E], numbers: Iterable[tuple[str, int]], prefix: str) -> None:
        by_name = dict(numbers)
        self._numbers = {member: by_name[f"{prefix}_{member.name}"] for member in kind}
        self._members = {number: member for member, number in self._numbers.items()}
        self._choices = ", ".join(str(member.value) for member in kind)

    def number(self, member: _E) -> int:
        """The protobuf number of ``member``."""
        return self._numbers[member]

    def member(self, number: int, field: str) -> _E:
        """The member of ``number``.

        Raises:
            InvalidArgument: it is unspecified (FIELD_MISSING) or none of ours (FIELD_INVALID).
        """
        found = self._members.get(number)
        if found is None:
            reason = Reason.FIELD_INVALID if number else Reason.FIELD_MISSING
            raise invalid(field, f"{field} is one of: {self._choices}.", reason)
        return found


def word(kind: type[_E], value: str, field: str) -> _E:
    """The member of ``kind`` whose value is ``value``, for enums that travel as words.

    Raises:
        InvalidArgument: there is none.
    """
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(str(member.value) for member in kind)
        raise invalid(field, f"{field} is one of: {choices}.") from None
