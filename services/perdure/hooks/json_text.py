"""JSON as ``json`` reads and writes it, without the cost of importing ``json``.

``json`` brings ``re`` and ``enum`` along: as much processor time as starting the interpreter, at every prompt. Its C
scanner does not need them. An interpreter without that scanner gets ``json`` itself. Knows no defaults, hooks or
indentation.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACE = " \t\n\r"
_NAMED = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Plainly:
    """How the scanner is to read: as ``json.JSONDecoder()`` does."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _NAMED.__getitem__


try:
    from _json import encode_basestring_ascii, make_scanner

    _scan = make_scanner(_Plainly)  # type: ignore[arg-type]  # typeshed names the result as the argument
except (ImportError, AttributeError, TypeError):
    from json import JSONDecoder
    from json.encoder import encode_basestring_ascii

    _scan = JSONDecoder().scan_once  # type: ignore[attr-defined]  # there, though typeshed leaves it out


def read(data: str | bytes) -> Any:
    """The value of a JSON text; bytes are UTF-8.

    Raises:
        ValueError: it is not JSON, or not UTF-8.
        RecursionError: it is nested too deeply.
    """
    text = (data if isinstance(data, str) else data.decode("utf-8")).strip(_SPACE)
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError):
        end = -1  # the scanner looks for the decoder's error class, and fails where nobody has imported it
    if end != len(text):
        import json

        return json.loads(text)  # says what is wrong
    return value


def written(value: object) -> str:
    """``value`` as JSON in ASCII: texts, numbers, booleans, None, and lists, tuples and dictionaries of them.

    Raises:
        TypeError: something else is in it, or a key that is no text.
    """
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if value is None or value is True or value is False:
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join([written(item) for item in value])}]"
    if isinstance(value, dict):
        return f"{{{', '.join([f'{_key(name)}: {written(item)}' for name, item in value.items()])}}}"
    raise TypeError(f"{type(value).__name__} is nothing that JSON can hold")


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError("a key must be a text")
    return encode_basestring_ascii(name)


def _number(value: float) -> str:
    if isinstance(value, int):
        return int.__repr__(value)
    if value - value != 0.0:
        raise TypeError("JSON has no number for what is infinite or none")
    return float.__repr__(value)
