"""The forms that a known secret takes in other text: percent-encoded, escaped, in base64, in hex."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

_ENCODED_MIN = 6
"""From so many characters on a secret is looked for in base64 and hex; a shorter one's might be any number or word."""

_LONG = 12
_STRONG = 8

# what encodeURIComponent and encodeURI leave alone, beside what Python does
_SAFE = ("", "/", "!*'()", ";,/?:@&=+$#!*'()")
_PERCENT = re.compile(r"%[0-9A-F]{2}")


def forms_of(value: str) -> tuple[str, ...]:
    """``value`` and its other forms, each once, itself first."""
    percent = [quote(value, safe=safe) for safe in _SAFE]
    percent += [quote_plus(value), *(one.replace("%20", "+") for one in percent)]
    percent += [_PERCENT.sub(lambda match: match[0].lower(), one) for one in percent]
    markup = [html.escape(value, quote=False), html.escape(value)]
    markup += [markup[1].replace("&#x27;", other) for other in ("&#39;", "&apos;")]
    markup.append(html.escape(value, quote=False).replace('"', "&quot;"))
    text = [json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]]
    text += [one.replace("/", "\\/") for one in text]
    encoded: list[str] = []
    if len(value) >= _ENCODED_MIN:
        data = value.encode()
        padded = [base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()]
        encoded = [*padded, *(one.rstrip("=") for one in padded), data.hex(), data.hex().upper()]
    return tuple(dict.fromkeys((value, *percent, *markup, *text, *encoded)))


def is_strong(value: str) -> bool:
    """Whether ``value`` is no part of a word by chance, so that it needs no end of a word beside it."""
    kinds = (any(map(str.isalpha, value)), any(map(str.isdigit, value)), not value.isalnum())
    return len(value) >= _LONG or (len(value) >= _STRONG and sum(kinds) >= 2)
