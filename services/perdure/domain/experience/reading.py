"""Documents of JSON taken apart: each part is checked, and named in the error where it is wrong.

Knows JSON and limits; knows no episode, skill or run. A refused value is never repeated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from perdure.domain.experience.episode import Json
from perdure.errors import Detail, InvalidArgument, Reason

DOCUMENT_BYTES_MAX = 2 * 1024 * 1024
"""Of a whole new document as UTF-8 JSON."""

STRING_BYTES_MAX = 32 * 1024
"""Of any one string in it, as UTF-8."""

GROWTH = 4
"""How much larger than a new document one may be that Perdure wrote: marks stand where secrets were, a skill names its
parameters, a run has a trail."""

NAME_CHARS_MAX = 300
"""Of what people name: episodes, skills, parameters."""

DEPTH_MAX = 40
"""Objects and lists inside each other."""

ITEMS_MAX = 20_000
"""Entries of any one list or object."""

ID_CHARS_MAX = 64

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_SURROGATES = re.compile("[\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MS_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999, which is what a time can hold."""


def invalid(path: str, message: str, reason: Reason = Reason.FIELD_INVALID, **details: Detail) -> InvalidArgument:
    """The error for the part of a document at ``path``."""
    return InvalidArgument(message, reason=reason, details={"field": path, **details})


def document(value: object, path: str, *, growth: int = GROWTH) -> dict[str, Json]:
    """``value`` as a document that can be stored: an object within the limits, of finite numbers and whole characters.

    Halves of surrogate pairs are joined where they belong together and become U+FFFD where they are alone.

    Args:
        value: What JSON gave.
        path: What to call it in an error.
        growth: What the limits of bytes are multiplied by.

    Raises:
        InvalidArgument: it is none (FIELD_INVALID, TOO_LARGE, OUT_OF_RANGE).
    """
    if not isinstance(value, Mapping):
        raise invalid(path, f"'{path}' has to be an object.")
    sound = _Soundness(STRING_BYTES_MAX * growth).mapping(value, path, 0)
    _sized(json.dumps(sound, ensure_ascii=False, separators=(",", ":")), path, DOCUMENT_BYTES_MAX * growth)
    return sound


def mapping(value: Json, path: str) -> dict[str, Json]:
    """``value`` as an object.

    Raises:
        InvalidArgument: it is none.
    """
    if value is None:
        raise missing(path)
    if not isinstance(value, dict):
        raise invalid(path, f"'{path}' has to be an object.")
    return value


def items(value: Json, path: str, most: int = ITEMS_MAX) -> list[Json]:
    """``value`` as a list of at most ``most`` entries.

    Raises:
        InvalidArgument: it is none, or longer.
    """
    if value is None:
        raise missing(path)
    if not isinstance(value, list):
        raise invalid(path, f"'{path}' has to be a list.")
    if len(value) > most:
        raise invalid(path, f"'{path}' has more than {most} entries.", Reason.OUT_OF_RANGE, limit=most)
    return value


def text(value: Json, path: str, *, most: int | None = None, empty: bool = False) -> str:
    """``value`` as a string of at most ``most`` characters; not empty or blank unless ``empty``.

    Raises:
        InvalidArgument: it is none.
    """
    if value is None:
        raise missing(path)
    if not isinstance(value, str):
        raise invalid(path, f"'{path}' has to be a string.")
    if not empty and not value.strip():
        raise invalid(path, f"'{path}' is empty.", Reason.FIELD_MISSING)
    if most is not None and len(value) > most:
        raise invalid(path, f"'{path}' has more than {most} characters.", Reason.OUT_OF_RANGE, limit=most)
    return value


def optional_text(value: Json, path: str, *, most: int | None = None) -> str:
    """``value`` as a string; "" where it is absent.

    Raises:
        InvalidArgument: it is something else.
    """
    return "" if value is None else text(value, path, most=most, empty=True)


def identifier(value: Json, path: str) -> str:
    """``value`` as an id: 1 to 64 letters, digits, ``_`` and ``-``.

    Raises:
        InvalidArgument: it is none.
    """
    found = text(value, path)
    if not _ID.match(found):
        raise invalid(path, f"'{path}' has to have 1 to {ID_CHARS_MAX} of the characters A-Z a-z 0-9 _ -.")
    return found


def flag(value: Json, path: str, default: bool = False) -> bool:
    """``value`` as true or false; ``default`` where it is absent.

    Raises:
        InvalidArgument: it is something else.
    """
    if value is None:
        return default
    if not isinstance(value, bool):
        raise invalid(path, f"'{path}' has to be true or false.")
    return value


def number(value: Json, path: str) -> float:
    """``value`` as a number, whole where it came so.

    Raises:
        InvalidArgument: it is none.
    """
    if value is None:
        raise missing(path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(path, f"'{path}' has to be a number.")
    return value


def whole(value: Json, path: str, least: int, most: int) -> int:
    """``value`` as a whole number from ``least`` to ``most``.

    Raises:
        InvalidArgument: it is none.
    """
    found = number(value, path)
    if found != int(found):
        raise invalid(path, f"'{path}' has to be a whole number.")
    if not least <= found <= most:
        raise invalid(path, f"'{path}' has to be from {least} to {most}.", Reason.OUT_OF_RANGE, least=least, most=most)
    return int(found)


def moment(value: Json, path: str) -> datetime:
    """``value``, milliseconds since 1970, as a time in UTC.

    Raises:
        InvalidArgument: it is none.
    """
    found = number(value, path)
    if not 0 <= found <= _MS_MAX:
        raise invalid(path, f"'{path}' has to be milliseconds since 1970.", Reason.OUT_OF_RANGE)
    return _EPOCH + int(found) * _MILLISECOND


def optional_moment(value: Json, path: str) -> datetime | None:
    """``value`` as a time; None where it is absent.

    Raises:
        InvalidArgument: it is something else.
    """
    return None if value is None else moment(value, path)


def milliseconds(at: datetime) -> int:
    """What ``moment`` is told; microseconds are cut off."""
    return (at - _EPOCH) // _MILLISECOND


def optional_milliseconds(at: datetime | None) -> int | None:
    """What ``optional_moment`` is told."""
    return None if at is None else milliseconds(at)


def rest(found: Mapping[str, Json], written: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Json]:
    """What is to be kept as it came, beside the fields that are always ``written``.

    These are fields that nobody knows, and ``optional`` ones that say nothing ("", false, null): they are not written
    on their own account. Whoever writes the document lets its own fields win.
    """
    always, sometimes = frozenset(written), frozenset(optional)
    return {
        name: value
        for name, value in found.items()
        if name not in always and (name not in sometimes or _is_nothing(value))
    }


def only(found: Mapping[str, Json], known: Sequence[str], path: str) -> None:
    """Pass where ``found`` has no field but the ``known`` ones.

    Raises:
        InvalidArgument: it has another (FIELD_UNKNOWN).
    """
    for name in found:
        if name not in known:
            raise invalid(
                path, f"'{path}' has a field that nobody knows; it has {', '.join(known)}.", Reason.FIELD_UNKNOWN
            )


def missing(path: str) -> InvalidArgument:
    """The error for a part that is not there."""
    return invalid(path, f"'{path}' is missing.", Reason.FIELD_MISSING)


def _is_nothing(value: Json) -> bool:
    return value is None or value is False or value == "" or value == []


@dataclass(frozen=True, slots=True)
class _Soundness:
    """Makes values sound, whose strings are of at most ``string_bytes``."""

    string_bytes: int

    def value(self, value: object, path: str, depth: int) -> Json:
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                raise invalid(path, f"'{path}' is not a finite number.")
            return value
        if isinstance(value, str):
            return self.text(value, path)
        if depth >= DEPTH_MAX:
            raise invalid(path, f"'{path}' is nested deeper than {DEPTH_MAX}.", Reason.OUT_OF_RANGE, limit=DEPTH_MAX)
        if isinstance(value, Mapping):
            return self.mapping(value, path, depth)
        if isinstance(value, list | tuple):
            _counted(len(value), path)
            return [self.value(entry, f"{path}[{at}]", depth + 1) for at, entry in enumerate(value)]
        raise invalid(path, f"'{path}' is nothing that JSON knows.")

    def mapping(self, value: Mapping[object, object], path: str, depth: int) -> dict[str, Json]:
        _counted(len(value), path)
        sound: dict[str, Json] = {}
        for name, entry in value.items():
            if not isinstance(name, str):
                raise invalid(path, f"'{path}' has a name that is no string.")
            sound[self.text(name, path)] = self.value(entry, _under(path, name), depth + 1)
        return sound

    def text(self, value: str, path: str) -> str:
        if not value.isascii() and _SURROGATES.search(value):
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        _sized(value, path, self.string_bytes)
        return value


def _counted(entries: int, path: str) -> None:
    if entries > ITEMS_MAX:
        raise invalid(path, f"'{path}' has more than {ITEMS_MAX} entries.", Reason.OUT_OF_RANGE, limit=ITEMS_MAX)


def _sized(value: str, path: str, most: int) -> None:
    # a character has at most 4 bytes
    size = len(value) if len(value) * 4 <= most else len(value.encode())
    if size > most:
        raise invalid(path, f"'{path}' is longer than {most} bytes.", Reason.TOO_LARGE, bytes=size, limit_bytes=most)


def _under(path: str, name: str) -> str:
    """The path of a field; a name that is none of ours may be anything, so a strange one is not repeated."""
    return f"{path}.{name}" if len(name) <= ID_CHARS_MAX and name.isidentifier() else f"{path}.*"
